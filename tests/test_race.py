"""Races: every competitor on its setting's data with the run's parameters, in this process and in a separate one."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from clocks import until
from small_specs import small

from dsgcore import Spec
from dsgcore.baselines import COMPETITORS
from dsgcore.experiments import load_split
from dsgcore.experiments.plane import Plane
from dsgcore.experiments.race import GRID, MAX_STEPS, Race, RaceError, RaceProgress, begin_race, competitors, run_race
from dsgcore.experiments.race import competitor as named
from dsgcore.experiments.race_parameters import fixed_parameters, free_parameters
from dsgcore.jobs import JobQueue, JobState
from dsgcore.kernels import Laplacian, Matern, OrthogonalGaussian
from dsgcore.solver.diagnostics import exact_optimum

# Kernels at 3600 points of a grid, for every competitor: without the compiler that takes minutes.

SETTINGS = tuple(COMPETITORS)
EVERYBODY = [(setting, kind) for setting in SETTINGS for kind in COMPETITORS[setting]]
NAMES = [kind.__name__ for _, kind in EVERYBODY]
PATIENCE = 60  # seconds, on a busy machine


def parameters(spec, kind):
    split = load_split(spec)
    return fixed_parameters(spec, kind) | {p.name: p.default for p in free_parameters(spec, split, kind)}


def raced(spec, kind, report=lambda progress: None, axes=(None, None), **changes):
    """Run a race in this process."""
    given = parameters(spec, kind) | changes
    plain = {"competitor": kind.__name__, "parameters": given, "memory_limit": 4.0, "axes": axes}
    return run_race(spec.to_json(), plain, None, report=report)


# --- every competitor


@pytest.mark.parametrize(("setting", "kind"), EVERYBODY, ids=NAMES)
def test_every_competitor_is_named_and_runs_with_the_runs_parameters(setting, kind):
    assert kind.title
    assert kind.sentence
    assert kind.citation
    spec, told = small(setting), []
    result = raced(spec, kind, told.append)
    k = len(load_split(spec).class_names)
    assert 0.0 <= result.score <= 1.0
    assert result.seconds > 0
    assert result.memory >= 0
    assert result.surface.shape == ((GRID**2, k) if setting == "multiclass" else (GRID**2,))
    assert np.isfinite(result.surface).all()
    assert set(np.unique(result.classes)) <= set(range(k))
    assert repr(told[0]) == repr(RaceProgress())  # NaN equals nothing, itself included
    assert len(result.steps) == len(result.times) == len(result.objectives) <= MAX_STEPS
    assert result.steps[-1] >= 1
    assert (np.diff(result.times) >= 0).all()


@each("setting, kind", EVERYBODY)
def test_what_may_be_chosen_is_allowed_and_has_a_name(setting, kind):
    spec = small(setting)
    free = free_parameters(spec, load_split(spec), kind)
    assert {p.name for p in free} <= set(kind().get_params())
    for p in free:
        assert p.check(p.default) == p.default
        assert p.sentence
    assert not {p.name for p in free} & set(fixed_parameters(spec, kind))


def test_the_score_and_the_map_are_those_of_the_competitor_fitted_here():
    spec = small("auc")
    kind, split = named("auc", "SAMULT"), load_split(spec)
    result = raced(spec, kind)
    model = kind(**parameters(spec, kind)).fit(split.X_train, split.y_train)
    grid = Plane.through(split.X_train).grid(GRID)
    assert result.score == spec.problem.score(split.y_test, model.decision_function(split.X_test))
    np.testing.assert_allclose(result.surface, model.decision_function(grid), rtol=1e-5, atol=1e-6)  # kept in float32
    np.testing.assert_array_equal(result.classes, model.predict(grid))


def test_the_maps_have_the_axes_that_are_chosen_for_the_runs():
    spec = small("auc", data={"name": "breast_cancer", "noise": None, "n": None})
    kind, split, axes = named("auc", "SAMULT"), load_split(spec), (2, None)
    plane = Plane.through(split.X_train, axes, split.feature_names)
    assert (
        Race(spec, "SAMULT", axes=axes).plane(split).names == plane.names == ("mean perimeter", "second principal axis")
    )
    model = kind(**parameters(spec, kind)).fit(split.X_train, split.y_train)
    expected = model.decision_function(plane.grid(GRID))
    np.testing.assert_allclose(raced(spec, kind, axes=axes).surface, expected, rtol=1e-5, atol=1e-6)


# --- parameters


def test_samult_solves_the_very_problem_of_the_run():
    spec = small("auc", solver={"lam": 0.05}, problem={"gamma": 0.3})
    split, kind = load_split(spec), named("auc", "SAMULT")
    model = kind(**parameters(spec, kind)).fit(split.X_train, split.y_train)
    problem = spec.problem.bind(split.y_train)
    Q, linear = problem.quadratic(problem.rows(split.y_train), len(split.X_train))
    K = spec.kernel.matrix(split.X_train.astype(float), split.X_train.astype(float))
    f = K @ exact_optimum(K, Q, linear, 0.05)
    values = model.decision_function(split.X_train)
    # The threshold is taken off; kernel matrices of float32 points are computed in another order.
    np.testing.assert_allclose(values - values.mean(), f - f.mean(), atol=1e-5 * np.ptp(f))


@pytest.mark.parametrize("lam", [1.0, 0.5])
def test_weights_of_sums_stand_for_the_runs_weights_of_means(lam):
    spec = small("s3vm", problem={"C": 8.0, "C_star": 4.0}, solver={"lam": lam})
    split = load_split(spec)
    n_labeled, n_unlabeled = (split.y_train >= 0).sum(), (split.y_train < 0).sum()
    for name in ("S3VMLight", "BLS3VM"):
        used = parameters(spec, named("s3vm", name))
        assert used["C"] == pytest.approx(8.0 / lam / n_labeled, rel=1e-3)
        assert used["C_star"] == pytest.approx(4.0 / lam / n_unlabeled, rel=1e-3)
    used = parameters(spec, named("s3vm", "QNS3VM"))
    assert used["lam"] == pytest.approx(lam / 16.0, rel=1e-3)
    assert used["lam_u"] == pytest.approx(0.5, rel=1e-3)
    used = parameters(spec, named("s3vm", "BGS3VM"))
    assert (used["C"], used["C_star"], used["step_size"]) == (8.0 / lam, 4.0 / lam, 1.0)


def test_the_prior_is_the_runs_or_the_share_among_its_labels():
    spec = small("similar_unlabeled", problem={"prior": 0.65})
    for kind in competitors("similar_unlabeled"):
        assert parameters(spec, kind)["prior"] == 0.65
    spec = small("auc", data={"imbalance": 0.25})
    assert parameters(spec, named("auc", "PNUAUC"))["prior"] == 0.25
    above = parameters(small("ordinal"), named("ordinal", "MPNUAUC"))["prior"]
    assert above == (0.8, 0.6, 0.4, 0.2)  # four labels in each of five classes


def test_the_kernel_is_the_runs_where_the_competitor_has_it():
    used = parameters(replace(small("auc"), kernel=Matern(length=0.7, nu="5/2")), named("auc", "SAMULT"))
    assert (used["kernel"], used["length"], used["nu"]) == ("matern", 0.7, "5/2")
    assert "sigma" not in used


def test_a_kernel_that_the_competitor_has_not_becomes_the_gaussian_one():
    spec, light = small("s3vm"), named("s3vm", "S3VMLight")
    used = parameters(replace(spec, kernel=OrthogonalGaussian(3.0)), light)
    assert (used["kernel"], used["sigma"]) == ("gaussian", 3.0)  # the same one
    used = parameters(replace(spec, kernel=Laplacian(3.0)), light)
    X = load_split(spec).X_train
    assert used["kernel"] == "gaussian"
    assert used["sigma"] == pytest.approx(1.0 / (X.shape[1] * X.var()), rel=1e-2)


def test_what_the_run_has_by_the_same_name_is_taken_over():
    spec = small("multiclass", solver={"lam": 1e-5, "n_iter": 30}, problem={"tau_I": 1e-4, "is_full_gradient": True})
    used = parameters(spec, named("multiclass", "SSMC"))
    expected = {"lam": 1e-5, "tau_I": 1e-4, "n_iter": 30, "features": "fourier", "radius": 10.0, "batch_size": None}
    assert expected.items() <= used.items()
    cuu = parameters(small("similar_unlabeled"), named("similar_unlabeled", "CUU"))
    assert (cuu["correction"], cuu["n_iter"], cuu["batch_size"]) == ("ReLU", 20, 128)


def test_a_ridge_below_what_the_competitor_allows_becomes_its_smallest():
    spec = small("similar_unlabeled", solver={"lam": 0.0})
    assert 0.0 < parameters(spec, named("similar_unlabeled", "SUDH"))["lam"] <= 1e-6


# --- what can go wrong


def test_a_competitor_of_another_setting_is_refused_in_one_sentence():
    with pytest.raises(
        RaceError, match=r"^the competitors in the setting similar_unlabeled are SUSL, SUDH, CUU, got 'SVOREX'$"
    ):
        named("similar_unlabeled", "SVOREX")


def test_memory_that_runs_out_is_one_sentence(monkeypatch):
    def full(*_, **__):
        raise MemoryError

    kind = named("auc", "SAMULT")
    monkeypatch.setattr(kind, "fit", full)
    with pytest.raises(RaceError, match=r"^SAMULT needs more memory than the limit of 4 GB, and was stopped\.$"):
        raced(small("auc"), kind)


def test_a_fit_that_does_not_converge_says_so_once_and_has_a_result():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = raced(small("s3vm"), named("s3vm", "QNS3VM"), max_iter=1)
    assert not result.converged
    assert len(result.notes) == 1
    assert result.notes[0].startswith("QN-S3VM has not converged: ")
    assert 0.0 <= result.score <= 1.0


# --- in a separate process


@pytest.fixture(scope="module")
def queue():
    with JobQueue(2) as queue:
        yield queue


@pytest.mark.parametrize("name", [COMPETITORS["auc"][-1].__name__])
def test_a_race_in_a_process_of_its_own_gives_the_same_numbers(queue, name):
    spec = small("auc")
    kind, split = named("auc", name), load_split(spec)
    job = begin_race(queue, Race(spec, name, parameters(spec, kind)), split)
    here = raced(spec, kind)
    assert job.wait(PATIENCE)
    assert job.state is JobState.DONE, job.error
    # BLAS may have another number of threads there.
    assert job.result.score == pytest.approx(here.score, abs=1e-6)
    np.testing.assert_allclose(job.result.surface, here.surface, atol=1e-5)
    assert isinstance(job.progress, RaceProgress)


def test_a_race_for_data_from_a_file_takes_them_along():
    """The file may be gone, or have been nowhere but in the session."""

    class Queue:
        def submit(self, function, spec, plain, split, **options):
            return function(spec, plain, split, report=lambda progress: None)

    plain = small("s3vm").to_dict()
    split = load_split(Spec.from_dict(plain))
    plain["data"] |= {"name": "file", "path": "gone.npz", "n": None, "noise": None, "imbalance": None, "convert": None}
    here = begin_race(Queue(), Race(small("s3vm"), "BGS3VM", {"random_state": 0}), split)
    gone = Race(Spec.from_dict(plain), "BGS3VM", {"random_state": 0})
    assert begin_race(Queue(), gone, split).score == here.score


def test_a_race_is_cancelled(queue):
    spec = small("similar_unlabeled")
    split = load_split(spec)
    long = Race(spec, "CUU", parameters(spec, named("similar_unlabeled", "CUU")) | {"n_iter": 100_000})
    job = begin_race(queue, long, split)
    until(lambda: job.progress and job.progress.step > 1)
    assert job.progress.total == 100_000
    assert math.isfinite(job.progress.objective)
    job.cancel()
    assert job.wait(PATIENCE)
    assert job.state is JobState.CANCELLED

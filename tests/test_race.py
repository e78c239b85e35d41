"""Races: every competitor with the run's parameters, in this process and in a separate one, beside its run on a page, and kept."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, tiers
from clocks import until
from naive_problems import exact_optimum, quadratic
from opened_pages import checked, open_auc, run_of
from small_specs import small

from dsgcore import Run, Spec
from dsgcore.__main__ import main
from dsgcore.baselines import COMPETITORS
from dsgcore.core.errors import DSGError
from dsgcore.experiments import load_split
from dsgcore.experiments import race as race_module
from dsgcore.experiments.plane import Plane
from dsgcore.experiments.race import (
    GRID,
    MAX_STEPS,
    Race,
    RaceProgress,
    RaceResult,
    begin_race,
    run_heats,
    run_race,
    smaller,
    summaries,
    usual_sizes,
)
from dsgcore.experiments.rivals import RaceError, competitors, fixed_parameters, free_parameters
from dsgcore.experiments.rivals import competitor as named
from dsgcore.jobs import JobQueue, JobState
from dsgcore.kernels import Laplacian, Matern, OrthogonalGaussian
from dsgcore.studies import Store, keep_race, kept_race, name_of
from pages.race.state import Started, same_data, whose

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
    return run_race(Race(spec, kind.__name__, given, axes=axes), None, report=report)


# --- every competitor


@pytest.mark.parametrize(("setting", "kind"), tiers(EVERYBODY, 10, len(EVERYBODY)), ids=NAMES)
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
    assert len(result.steps) == len(result.objectives) <= MAX_STEPS
    assert result.steps[-1] >= 1
    assert (np.diff(result.steps) >= 0).all()


def test_the_score_and_the_map_are_those_of_the_competitor_fitted_here():
    spec = small("auc")
    kind, split = named("auc", "SAMULT"), load_split(spec)
    result = raced(spec, kind)
    model = kind(**parameters(spec, kind)).fit(split.X_train, split.y_train)
    grid = Plane.through(split.X_train).grid(GRID)
    assert result.score == spec.problem.score(split.y_test, model.decision_function(split.X_test))
    np.testing.assert_allclose(result.surface, model.decision_function(grid), rtol=1e-5, atol=1e-6)  # kept in float32
    np.testing.assert_array_equal(result.classes, model.predict(grid))


# --- parameters


def test_samult_solves_the_very_problem_of_the_run():
    spec = small("auc", solver={"lam": 0.05}, problem={"gamma": 0.3})
    split, kind = load_split(spec), named("auc", "SAMULT")
    model = kind(**parameters(spec, kind)).fit(split.X_train, split.y_train)
    problem = spec.problem.bind(split.y_train)
    Q, linear = quadratic(problem, problem.rows(split.y_train), len(split.X_train))
    K = spec.kernel.matrix(split.X_train.astype(float), split.X_train.astype(float))
    f = K @ exact_optimum(K, Q, linear, 0.05)
    values = model.decision_function(split.X_train)
    # The threshold is taken off; kernel matrices of float32 points are computed in another order.
    np.testing.assert_allclose(values - values.mean(), f - f.mean(), atol=1e-5 * np.ptp(f))


@pytest.mark.parametrize("lam", [1.0, 0.5])
def test_weights_of_sums_stand_for_the_runs_weights_of_means(lam):
    spec = small("s3vm", problem={"labeled_weight": 8.0, "unlabeled_weight": 4.0}, solver={"lam": lam})
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
    assert (used["labeled_weight"], used["unlabeled_weight"], used["step_size"]) == (8.0 / lam, 4.0 / lam, 1.0)


# What a competitor takes over from a run: the same parameters, and the prior, by default the share among the labels.
TAKEN = [
    *(
        ("similar_unlabeled", {"problem": {"prior": 0.65}}, kind.__name__, {"prior": 0.65})
        for kind in competitors("similar_unlabeled")
    ),
    ("similar_unlabeled", {}, "CUU", {"correction": "ReLU", "n_iter": 20, "batch_size": 128}),
    ("auc", {"data": {"imbalance": 0.25}}, "PNUAUC", {"prior": 0.25}),
    ("ordinal", {}, "MPNUAUC", {"prior": (0.8, 0.6, 0.4, 0.2)}),  # four labels in each of five classes
    (
        "multiclass",
        {"solver": {"lam": 1e-5, "n_iter": 30}, "problem": {"tau_I": 1e-4, "is_full_gradient": True}},
        "SSMC",
        {"lam": 1e-5, "tau_I": 1e-4, "n_iter": 30, "feature_map": "fourier", "radius": 10.0, "batch_size": None},
    ),
]


@each("setting, changes, name, expected", TAKEN)
def test_what_the_run_has_by_the_same_name_is_taken_over(setting, changes, name, expected):
    assert expected.items() <= parameters(small(setting, **changes), named(setting, name)).items()


def test_a_ridge_below_what_the_competitor_allows_becomes_its_smallest():
    spec = small("similar_unlabeled", solver={"lam": 0.0})
    assert 0.0 < parameters(spec, named("similar_unlabeled", "SUDH"))["lam"] <= 1e-6


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


# --- charts


def test_a_race_stays_with_the_run_that_it_was_started_for():
    spec = small("auc")
    live, other = SimpleNamespace(run=SimpleNamespace(spec=spec)), SimpleNamespace(run=SimpleNamespace(spec=spec))
    started = Started(Race(spec, "SAMULT"), "SAMULT", live, job=None)
    assert whose(started, live) == "On the data of this run: Two moons, seed 0."
    assert whose(started, other) == "Started for an earlier run on the same data: Two moons, seed 0."
    other.run.spec = replace(spec, seed=3)
    said = "Started for an earlier run on other data, and compared with that one: Two moons, seed 0."
    assert whose(started, other) == said


def test_scores_are_compared_on_the_same_points_only():
    spec = small("auc")
    assert same_data(spec, replace(spec, solver=replace(spec.solver, lam=1.0)))
    assert not same_data(spec, replace(spec, seed=1))
    assert not same_data(spec, replace(spec, data=replace(spec.data, n_labeled=30)))
    assert not same_data(spec, replace(small("s3vm"), data=spec.data))


# --- kept


def result(score=0.9):
    grid = np.arange(GRID * GRID)
    return RaceResult(score, 1.5, 10, ("It stops early",), grid[:3], np.full(3, np.nan), grid / 7, grid % 2)


def assert_same(found, expected):
    for name, value in vars(expected).items():
        assert np.array_equal(vars(found)[name], value, equal_nan=name == "objectives"), name


def test_a_race_is_found_again_as_it_was(store):
    race = Race(small("s3vm"), "S3VMLight", {"C": 2.0, "grid": (1.0, 2.0)}, 4.0, (None, 1))
    keep_race(store, race, result())
    keep_race(store, race, result(0.1))  # what is there stays
    found, reached = kept_race(Store(store.file), name_of(race)[:12])
    assert (found.spec, found.competitor, found.axes) == (race.spec, race.competitor, race.axes)
    assert found.parameters == {"C": 2.0, "grid": [1.0, 2.0]}
    assert_same(reached, result())
    assert kept_race(store, "0" * 12) is None


def test_a_kept_race_is_shown_beside_its_run_with_what_it_gains(store):
    app = open_auc(**{"data.n": "200", "solver.n_iter": "5"}, at="5")
    run = run_of(app)
    for score in (0.9, 0.1):
        race = Race(run.spec, "SAMULT", {"gamma": score})
        keep_race(store, race, result(score))
        app = checked(open_auc(**{"data.n": "200", "solver.n_iter": "5"}, at="5", race=name_of(race)[:16]))
        (own,) = [one for one in app.metric if "SAMULT" in one.label and one.label.startswith("Test AUC")]
        assert (own.value, own.delta) == (f"{score:.4f}", f"{score - run.result_score:+.4f} vs the run at iteration 5")


@pytest.mark.parametrize("change", [{"competitor": "Gone"}, {"spec": {"version": 0}}, {"unknown": 1}])
def test_a_race_that_another_version_has_kept_is_none(store, change):
    race = Race(small("s3vm"), "S3VMLight")
    keep_race(store, race, result())
    text, arrays = store.found("race", name_of(race))
    said, plain = json.loads(text)
    store.keep("race", [("f" * 64, json.dumps([said | change, plain]), arrays)])
    assert kept_race(store, "f" * 12) is None


# Several methods at growing sizes

SEVERAL = {
    "setting": "auc",
    "data": {"name": "two_moons", "n": 200, "n_labeled": 10},
    "solver": {"n_iter": 5, "n_features": 8},
}


def test_a_race_of_several_measures_each_method_at_each_size_and_seed():
    told = []
    spec = Spec.from_dict(SEVERAL)
    heats = run_heats(spec.to_json(), ["SAMULT", "PNUAUC"], (40, 20), 2, report=told.append)
    assert [(h.method, h.n_unlabeled, h.seed) for h in heats] == [
        (method, n, seed) for n in (20, 40) for seed in (0, 1) for method in ("QSG-S2AUC", "SAMULT", "PNU-AUC")
    ]
    assert all(h.seconds > 0 and 0 <= h.score <= 1 and not h.note for h in heats)
    assert [(done, total) for done, total, _ in told] == [(i + 1, 12) for i in range(12)]
    part = smaller(load_split(spec), 20, 0)
    assert ((part.y_train == -1).sum(), len(part.X_train)) == (20, 30)
    assert heats[0].score == pytest.approx(finished(spec, part).result_score)
    one = next(s for s in summaries(heats).itertuples() if (s.method, s.n_unlabeled) == ("SAMULT", 40))
    scores = [h.score for h in heats if (h.method, h.n_unlabeled) == ("SAMULT", 40)]
    assert (one.score, one.low, one.high) == (pytest.approx(np.median(scores)), min(scores), max(scores))
    assert usual_sizes(load_split(spec)) == (10, 13, 43, 130)


def finished(spec, split):
    run = Run(spec, split)
    run.advance(run.n_iter)
    return run


def test_a_method_that_would_take_too_long_or_fails_is_left_out_with_the_reason(monkeypatch):
    spec = Spec.from_dict(SEVERAL).to_json()
    heats = run_heats(spec, ["SAMULT"], (20, 40), 1, seconds=1e-9)
    assert [bool(h.note) for h in heats] == [False, False, False, True]
    assert heats[-1].note.startswith("it would take about ")
    monkeypatch.setattr(race_module, "measured", lambda *_: (_ for _ in ()).throw(MemoryError))
    assert run_heats(spec, ["SAMULT"], (20,), 1)[-1].note == "it needs more memory than the limit"
    with pytest.raises(DSGError, match="got 'Nobody'"):
        run_heats(spec, ["Nobody"], (20,), 1)
    for size, split in ((0, None), (20, replace(load_split(Spec.from_json(spec)), y_train=np.arange(150) % 2))):
        with pytest.raises(RaceError, match=r"^methods race over numbers of unlabeled points"):
            run_heats(spec, ["SAMULT"], (size,), 1, split)


def test_the_command_has_the_scores_of_python_with_the_names_of_commands(tmp_path, capsys):
    file, spec = tmp_path / "spec.json", Spec.from_dict(SEVERAL).to_json()
    file.write_text(spec)
    line = ["race", str(file), "--with", "SAMULT,SVC", "--sizes", "20,10", "--seeds", "2", "--quiet"]
    assert main([*line, "--json", str(tmp_path / "out.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["method", "unlabeled"],
        *([name, n] for n in ("10", "20") for name in ("QSGS2AUC", "SAMULT", "SVC")),
    ]
    expected, plain = run_heats(spec, ["SAMULT", "SVC"], (20, 10), 2), lambda heat: (heat.n_unlabeled, heat.seed)
    made = json.loads((tmp_path / "out.json").read_text())["heats"]
    assert [(one["n_unlabeled"], one["seed"]) for one in made] == list(map(plain, expected))
    assert [one["score"] for one in made] == pytest.approx([heat.score for heat in expected], abs=1e-6)
    medians = summaries(expected)["score"]
    assert [line.split()[3] for line in lines[1:]] == [f"{median:.4f}" for median in medians]

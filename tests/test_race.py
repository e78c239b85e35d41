"""Races: every competitor with the run's parameters, in this process and in a separate one, beside its run on a page, and kept."""

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, tiers
from clocks import until
from naive_problems import exact_optimum, quadratic
from opened_pages import checked, open_auc, run_of, shown
from small_specs import small

from dsgcore import Spec
from dsgcore.baselines import COMPETITORS, Progress
from dsgcore.core.errors import DSGError
from dsgcore.experiments import default_spec, load_split
from dsgcore.experiments import race as module
from dsgcore.experiments.plane import Plane
from dsgcore.experiments.race import GRID, Heat, Race, RaceError, RaceResult, begin_race, run_heats, run_race
from dsgcore.experiments.race import competitor as named
from dsgcore.jobs import Job, JobQueue, JobState
from dsgcore.studies import Store, keep_race, kept_race, name_of
from pages.race.state import Started, same_data, whose
from pages.shell.plain_text import short_number

PATIENCE = 60  # seconds, on a busy machine


def parameters(spec, kind):
    free = module.free_parameters(spec, load_split(spec), kind)
    return module.fixed_parameters(spec, kind) | {p.name: p.default for p in free}


def raced(spec, kind, report=lambda progress: None):
    """Run a race in this process."""
    return run_race(Race(spec, kind.__name__, parameters(spec, kind)), None, report=report)


# --- the run's parameters


def test_samult_solves_the_very_problem_of_the_run_and_score_and_map_are_those_of_a_fit_here():
    spec = small("auc", solver={"lam": 0.05}, problem={"gamma": 0.3})
    split, kind = load_split(spec), named("auc", "SAMULT")
    model = kind(**parameters(spec, kind)).fit(split.X_train, split.y_train)
    problem = spec.problem.bind(split.y_train)
    Q, linear = quadratic(problem, problem.rows(split.y_train), len(split.X_train))
    K = spec.kernel.matrix(split.X_train.astype(float), split.X_train.astype(float))
    f, values = K @ exact_optimum(K, Q, linear, 0.05), model.decision_function(split.X_train)
    # The threshold is taken off; kernel matrices of float32 points are computed in another order.
    np.testing.assert_allclose(values - values.mean(), f - f.mean(), atol=1e-5 * np.ptp(f))
    result, grid = raced(spec, kind), Plane.through(split.X_train).grid(GRID)
    assert result.score == spec.problem.score(split.y_test, model.decision_function(split.X_test))
    np.testing.assert_allclose(result.surface, model.decision_function(grid), rtol=1e-5, atol=1e-6)  # kept in float32
    np.testing.assert_array_equal(result.classes, model.predict(grid))


@each("lam", [1.0, 0.5])
def test_weights_of_sums_stand_for_the_runs_weights_of_means(lam):
    spec = small("s3vm", problem={"labeled_weight": 8.0, "unlabeled_weight": 4.0}, solver={"lam": lam})
    y = load_split(spec).y_train
    used = {kind.__name__: parameters(spec, kind) for kind in COMPETITORS["s3vm"]}
    C, C_star = 8.0 / lam / (y >= 0).sum(), 4.0 / lam / (y < 0).sum()
    for name in ("S3VMLight", "BLS3VM"):
        assert (used[name]["C"], used[name]["C_star"]) == pytest.approx((C, C_star), rel=1e-3)
    assert used["EverydaySVC"]["C"] == pytest.approx(C, rel=1e-3)  # scikit-learn's C weighs a sum, too
    assert (used["QNS3VM"]["lam"], used["QNS3VM"]["lam_u"]) == pytest.approx((lam / 16.0, 0.5), rel=1e-3)
    own = [used["BGS3VM"][name] for name in ("labeled_weight", "unlabeled_weight", "step_size")]
    assert own == [8.0 / lam, 4.0 / lam, 1.0]


def test_memory_that_runs_out_gets_one_sentence(monkeypatch):
    kind = named("auc", "SAMULT")
    monkeypatch.setattr(kind, "fit", lambda *_, **__: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(RaceError, match=r"^SAMULT needs more memory than the limit of 4 GB, and was stopped\.$"):
        raced(small("auc"), kind)


# --- in a separate process


@pytest.fixture(scope="module")
def queue():
    with JobQueue(2) as queue:
        yield queue


@pytest.mark.parametrize("name", [COMPETITORS["auc"][-1].__name__])
def test_a_race_in_a_process_of_its_own_gives_the_same_numbers(queue, name):
    spec, kind = small("auc"), named("auc", name)
    job = begin_race(queue, Race(spec, name, parameters(spec, kind)), load_split(spec))
    here = raced(spec, kind)
    assert job.wait(PATIENCE)
    assert job.state is JobState.DONE, job.error
    # BLAS may have another number of threads there.
    assert job.result.score == pytest.approx(here.score, abs=1e-6)
    np.testing.assert_allclose(job.result.surface, here.surface, atol=1e-5)
    assert isinstance(job.progress, Progress)


def test_a_race_on_a_file_takes_its_points_along_for_the_file_may_be_gone(queue):
    spec = Spec.from_dict({"setting": "s3vm", "data": {"name": "file", "path": "gone.csv"}})
    job = begin_race(queue, Race(spec, "LogisticRegression"), load_split(small("s3vm")))
    assert job.wait(PATIENCE)
    assert job.state is JobState.DONE, job.error


def test_a_competitor_is_cancelled_in_the_midst_of_its_fit_whose_steps_are_told(queue):
    spec, kind = small("similar_unlabeled"), named("similar_unlabeled", "CUU")
    job = begin_race(queue, Race(spec, "CUU", parameters(spec, kind) | {"n_iter": 100_000}), load_split(spec))
    until(lambda: job.is_over or (job.progress and job.progress.step > 1))
    assert job.progress.total == 100_000
    assert math.isfinite(job.progress.objective)
    job.cancel()
    assert job.wait(PATIENCE)
    assert job.state is JobState.CANCELLED


# --- on a page, and kept


def test_a_race_stays_with_its_run_and_scores_are_compared_on_the_same_points_only():
    spec = small("auc")
    live, other = SimpleNamespace(run=SimpleNamespace(spec=spec)), SimpleNamespace(run=SimpleNamespace(spec=spec))
    started = Started(Race(spec, "SAMULT"), "SAMULT", live, job=None)
    assert whose(started, live) == "On the data of this run: Two moons, seed 0."
    assert whose(started, other) == "Started for an earlier run on the same data: Two moons, seed 0."
    other.run.spec = replace(spec, seed=3)
    said = "Started for an earlier run on other data, and compared with that one: Two moons, seed 0."
    assert whose(started, other) == said
    assert same_data(spec, replace(spec, solver=replace(spec.solver, lam=1.0)))
    fewer, another = replace(spec, data=replace(spec.data, n_labeled=30)), replace(small("s3vm"), data=spec.data)
    assert not any(same_data(spec, one) for one in (other.run.spec, fewer, another))


def result(score=0.9):
    grid = np.arange(GRID * GRID)
    return RaceResult(score, 1.5, 10, ("It stops early",), grid[:3], np.full(3, np.nan), grid / 7, grid % 2)


def test_a_race_is_found_again_as_it_was(store):
    race = Race(small("s3vm"), "S3VMLight", {"C": 2.0, "grid": (1.0, 2.0)}, 4.0, (None, 1))
    keep_race(store, race, result())
    keep_race(store, race, result(0.1))  # what is there stays
    found, reached = kept_race(Store(store.file), name_of(race)[:12])
    assert (found.spec, found.competitor, found.axes) == (race.spec, race.competitor, race.axes)
    assert found.parameters == {"C": 2.0, "grid": [1.0, 2.0]}
    for name, value in vars(result()).items():
        assert np.array_equal(vars(reached)[name], value, equal_nan=name == "objectives"), name
    assert kept_race(store, "0" * 12) is None
    text, arrays = store.found("race", name_of(race))
    said, plain = json.loads(text)
    for place, change in enumerate(({"competitor": "Gone"}, {"spec": {"version": 0}}, {"unknown": 1})):
        name = f"{place:x}" * 64  # kept by another version: it is none
        store.keep("race", [(name, json.dumps([said | change, plain]), arrays)])
        assert kept_race(store, name[:12]) is None


def test_a_race_on_a_file_is_found_again_wherever_the_file_is_and_its_folder_is_not_kept(store, tmp_path):
    X, text, races = np.random.default_rng(0).normal(size=(40, 2)), "", []
    text = "a,b,label\n" + "".join(f"{a:.4f},{b:.4f},{i % 2}\n" for i, (a, b) in enumerate(X))
    for folder, content in (("here", text), ("there", text), ("other", text + "0.1,0.2,1\n")):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "own.csv"
        file.write_text(content)
        races.append(
            Race(Spec.from_dict({"setting": "s3vm", "data": {"name": "file", "path": str(file)}}), "S3VMLight")
        )
    here, there, other = map(name_of, races)
    assert here == there != other
    keep_race(store, races[0], result())
    found, _ = kept_race(store, there)
    assert name_of(found) == here
    assert str(tmp_path) not in store.found("race", here)[0]


def test_a_kept_race_is_shown_beside_its_run_with_what_it_gains(store):
    link = {"data.n": "200", "solver.n_iter": "5", "at": "5"}
    run = run_of(open_auc(**link))
    for score in (0.9, 0.1):
        race = Race(run.spec, "SAMULT", {"gamma": score})
        keep_race(store, race, result(score))
        app = checked(open_auc(**link, race=name_of(race)[:16]))
        (own,) = [one for one in app.metric if "SAMULT" in one.label and one.label.startswith("Test AUC")]
        gain = short_number(score - run.result_score, "+.4f")
        assert (own.value, own.delta) == (f"{score:.4f}", f"{gain} vs the run at iteration 5")
        look = (own.proto.direction, own.proto.color)
        assert look == ((own.proto.UP, own.proto.GREEN) if gain[0] == "+" else (own.proto.DOWN, own.proto.RED))
    job = app.session_state["_races"]["auc"].job
    # A fit that goes on; a second click, which the page has not seen yet, starts no other one.
    going = app.session_state["_races"]["auc"].job = Job()
    going.state, going.progress = JobState.RUNNING, Progress(3, 12, 0.12345, 1.0)
    app.button(key="race-start").click().run()
    assert app.session_state["_races"]["auc"].job is going is not job
    assert app.button(key="race-start").disabled
    (progress,) = [one.proto for one in app.get("progress")]
    assert (progress.value, progress.text) == (25, "SAMULT: step 3 of 12 at most, objective 0.1235 · 0.0 s")


# --- several methods at growing sizes

MOONS = {"name": "two_moons", "n": 200, "n_labeled": 10}
SPEC = Spec.from_dict({"setting": "auc", "data": MOONS, "solver": {"n_iter": 5, "n_features": 8}})


@pytest.mark.usefixtures("jobs_here")
def test_a_race_of_several_that_goes_on_says_how_far_it_is_and_what_was_left_out():
    app = open_auc(
        **{"data.name": "two_moons", "data.n": "60", "data.n_labeled": "10", "solver.n_iter": "5", "at": "5"}
    )
    app.multiselect(key="heats-rivals-auc").set_value(["SAMULT"])
    app = checked(app.button(key="heats-start").click().run())
    known, late = app.session_state["_heats"], Heat("SAMULT", 99, 0, note="it would take about 80 s")
    going = Job()
    going.state, going.progress = JobState.RUNNING, (3, 8, (*known["auc"].result, late))
    known["auc"] = going
    app = checked(app.run())
    (progress,) = [one.proto for one in app.get("progress")]
    assert (progress.value, progress.text) == (37, "SAMULT, 99 unlabeled points · 3 of 8 · 0 s")
    assert "SAMULT at 99: it would take about 80 s." in [shown(one.value) for one in app.caption]
    assert app.button(key="heats-start").disabled


def test_a_method_that_would_take_too_long_or_fails_is_left_out_with_the_reason(monkeypatch):
    monkeypatch.setattr(
        module.Run, "training_clock", property(lambda run: [0.5, 2.5], lambda run, _: None), raising=False
    )
    assert run_heats(SPEC, [], (20,), 1)[0].seconds == 2.5  # those of all iterations
    heats = run_heats(SPEC, ["SAMULT"], (20, 40), 1, seconds=1e-9)
    assert [bool(h.note) for h in heats] == [False, False, False, True]
    assert re.fullmatch(r"it would take about \d+ s, and a fit gets 1e-09 s at most", heats[-1].note)
    monkeypatch.setattr(module, "measured", lambda *_: (_ for _ in ()).throw(MemoryError))
    notes = [heat.note for heat in run_heats(SPEC, ["SAMULT"], (20, 40), 1) if heat.note]
    assert notes == ["it needs more memory than the limit", "not tried, because it has no result at the size before"]
    monkeypatch.setattr(module, "measured", lambda *_: (_ for _ in ()).throw(DSGError("it diverges")))
    assert run_heats(SPEC, ["SAMULT"], (20,), 1)[1].note == "it diverges"
    no_unlabeled = replace(load_split(SPEC), y_train=np.arange(150) % 2)
    with pytest.raises(RaceError, match=r"^methods race over numbers of unlabeled points"):
        run_heats(SPEC, ["SAMULT"], (20,), 1, no_unlabeled)


GROW = {  # the power of the number of points
    "auc": {"fixed": 0, "SAMULT": 3, "SVC": 0, "SpreadingRBF": 2},
    "s3vm": {"BLS3VM": 3, "S3VMLight": 3, "BGS3VM": 2, "FRS3VM": 1},
    "similar_unlabeled": {"SUSL": 3, "SUDH": 3, "CUU": 1},
    "ordinal": {"MSAMULT": 3, "SVOREX": 0},
    "multiclass": {"LinearMC": 1, "SSMC": 2},
}


@pytest.mark.parametrize("setting", GROW)
@pytest.mark.parametrize("seconds", [2.0, 0.5])
def test_a_methods_time_at_a_larger_size_grows_as_its_own_does_and_a_short_ones_with_the_square_at_most(
    setting, seconds, monkeypatch
):
    told = []
    base = default_spec(setting)
    base = replace(base, data=replace(base.data, n=300, n_labeled=10), solver=replace(base.solver, n_iter=2))

    def heat(spec, name, split, seed, expected, most):
        told.append((name, expected))
        return Heat(module.title(spec, name), int((split.y_train == -1).sum()), seed, seconds, 0.5)

    monkeypatch.setattr(module, "_heat", heat)
    run_heats(base, list(GROW[setting]), (100, 10), 1)
    n_labeled = len(load_split(base).labeled)
    times = (n_labeled + 100) / (n_labeled + 10)
    powers = {name: power if seconds > 1 else min(power, 2) for name, power in GROW[setting].items()}
    own = len(powers) + 1
    assert dict(told[:own]) == dict.fromkeys(["", *powers], 0.0)
    assert dict(told[own + 1 :]) == {name: pytest.approx(seconds * times**power) for name, power in powers.items()}


def test_a_system_of_all_points_that_took_seconds_is_left_out_at_thrice_the_points(monkeypatch):
    spec = Spec.from_dict({"setting": "s3vm", "data": MOONS})
    took = {"": 0.1, "BLS3VM": 2.8, "FRS3VM": 2.8}
    made = lambda kind, *rest: {"seconds": took[type(kind).__name__], "score": 0.5}  # noqa: E731
    monkeypatch.setattr(module, "measured", made)
    heats = run_heats(spec, ["BLS3VM", "FRS3VM"], (30, 110), 1)
    assert {h.method: bool(h.note) for h in heats if h.n_unlabeled == 110} == {
        "TSGS3VM": False,
        "BLS3VM": True,
        "FRS3VM": False,
    }


EVERYBODY = [(setting, kind) for setting, kinds in COMPETITORS.items() for kind in kinds]
NAMES = [kind.__name__ for _, kind in EVERYBODY]


@pytest.mark.parametrize(("setting", "kind"), tiers(EVERYBODY, 10, len(EVERYBODY)), ids=NAMES)
def test_every_competitor_is_named_and_runs_with_the_runs_parameters(setting, kind):
    assert all((kind.title, kind.sentence, kind.citation))
    spec, told = small(setting), []
    result = raced(spec, kind, told.append)
    k = len(load_split(spec).class_names)
    assert 0.0 <= result.score <= 1.0
    assert result.seconds > 0
    assert result.memory >= 0
    assert result.surface.shape == ((GRID**2, k) if setting == "multiclass" else (GRID**2,))
    assert np.isfinite(result.surface).all()
    assert set(np.unique(result.classes)) <= set(range(k))
    assert told[-1].step >= 1
    assert told[-1].total >= 1
    assert len(result.steps) == len(result.objectives) <= module.MAX_STEPS
    assert result.steps[-1] >= 1
    assert (np.diff(result.steps) >= 0).all()

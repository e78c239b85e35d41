"""Results of a study's runs: means over seeds, paired differences, best first, importance of axes, and Optuna's trials."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

import numpy as np
import pytest
from cases import each, some
from scipy import stats
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from test_studies import SPEC, study_file, sweep_line

from dsgcore import studies
from dsgcore.__main__ import main
from dsgcore.cli import runs as command
from dsgcore.core.metrics import Effect, paired_difference
from dsgcore.experiments import Spec
from dsgcore.studies import StoredRun, Study, StudyError, StudyRuns, importance, response, to_optuna
from dsgcore.studies import store as store_module
from dsgcore.studies.carrying_out import Outcome
from dsgcore.studies.importance import FEWEST_POINTS, HELD_OUT, N_SPLITS, Importance, _forest, _learnable, encoded
from dsgcore.studies.results import evaluations, optuna_name

STEPS, WIDTHS, SEEDS = [0.1, 0.5, 2.0], [0.5, 5.0], [0, 1, 2]
AXES_OF_VALUES = [{"name": "solver.step_size", "values": STEPS}, {"name": "kernel.sigma", "values": WIDTHS}]
STUDY = {"spec": SPEC, "axes": AXES_OF_VALUES, "seeds": SEEDS}


def summary_of(spec, score, state="finished", **more):
    last = {"score_test": score, "objective": 1 - score, "error_mean": 0.1}
    row = {"spec_sha256": spec.sha256, "last": last, "seconds": 0.1, "stop_reason": state, "iterations": 6}
    return row | more


def kept(store, run, score, state="finished"):
    store.put(run.spec.to_json(), summary_of(run.spec, score, state), {"t": np.arange(6.0)})


def test_evaluations_count_features_from_their_change_on_and_what_is_there_is_not_asked_for_again(store):
    spec = Spec.from_dict(SPEC | {"changes": [{"t": 3, "name": "n_features", "value": 16}]})
    batch = spec.solver.batch_size
    assert evaluations(spec, 4).tolist() == [8 * batch, 16 * batch, 32 * batch, 48 * batch]
    made = StudyRuns(Study.from_dict(STUDY))
    made.refresh(store)
    assert made.n_there == 0
    assert not np.isfinite(made.results("score").mean).any()
    for run in made.runs[:2]:
        kept(store, run, 0.5)
    made.refresh(store, {5: "no room"})
    assert made.n_there == 3
    assert [outcome.failed for outcome in made.outcomes()][5] == "no room"
    kept(store, made.runs[5], 0.5)  # made by another process since
    made.refresh(store, {5: "no room"})
    assert (made.n_there, made.failed) == (3, {})


def test_of_very_many_kept_things_the_oldest_are_forgotten(store, monkeypatch):
    monkeypatch.setitem(store_module.MOST_KEPT, "pin", 3)
    for number in range(5):
        store.keep("pin", [(f"{number}", "{}", None)])
        with store.opened() as connection:  # each a second after the other
            connection.execute("UPDATE kept SET kept = ? WHERE key = ?", (f"2026-01-01T00:00:0{number}", f"{number}"))
    store.keep("pin", [("5", "{}", None)])
    assert sorted(store.kept("pin")) == ["3", "4", "5"]
    assert (store.kept("pin", []), sorted(store.kept("pin", ["4", "1"]))) == ({}, ["4"])


def test_a_point_with_one_lucky_seed_does_not_lead(store):
    made = StudyRuns(Study.from_dict(STUDY))
    for run in made.runs:
        if run.values == (STEPS[1], WIDTHS[0]) or (run.values == (STEPS[2], WIDTHS[0]) and run.seed == 0):
            kept(store, run, 0.6 if run.values[0] == STEPS[1] else 0.9)
    made.refresh(store)
    assert made.results("score").ranking()[:2].tolist() == [2, 4]


def test_a_paired_difference_is_students_and_helps_or_hurts_where_the_interval_leaves_zero_out():
    gains = np.array([0.3, 0.25, 0.41])
    difference = paired_difference(gains + 0.5, np.full(3, 0.5))
    low, high = stats.t.interval(0.95, 2, gains.mean(), stats.sem(gains))
    assert (difference.mean, difference.low, difference.high) == pytest.approx((gains.mean(), low, high))
    alone = paired_difference(np.array([np.nan, 1.0]), np.array([1.0, 0.5]))  # one of the two has diverged
    assert (alone.n, np.isnan(alone.low)) == (1, True)
    effects = {(0.2, 0.3, 0.4): Effect.HELPS, (-0.2, -0.3, -0.4): Effect.HURTS, (-0.1, 0.3, 0.0): Effect.TIE}
    for change, effect in {**effects, (1.0, 1.0): None}.items():
        assert paired_difference(np.array(change), np.zeros(len(change))).effect is effect


def test_the_time_to_a_score_is_read_off_the_histories(store):
    made = StudyRuns(Study.from_dict({**STUDY, "axes": STUDY["axes"][:1], "seeds": [0, 1]}))
    sooner_but_alone = [0.9, 0.2, 0.3, 0.9]  # of the second point, whose other seed never gets there
    curves = [[0.1, 0.9, 0.2, 0.9], [0.1, 0.2, 0.3, 0.8], sooner_but_alone, [0.5] * 4, [0.1] * 4, [0.1] * 4]
    for run, scores in zip(made.runs, curves, strict=True):
        row = summary_of(run.spec, scores[-1], seconds=2.0, iterations=4)
        store.put(run.spec.to_json(), row, {"t": np.arange(4.0), "score_test": np.array(scores)})
    made.refresh(store)
    assert studies.usual_target(made.results("score")) == pytest.approx(0.84)
    known = studies.ScoreCurves()
    assert not known.read(store, made.stored, seconds=0)
    assert known.read(store, made.stored)
    results = made.results(studies.time_to(0.8, known))
    # 2 s are spread evenly over four iterations; where one of two seeds never gets there it has no part in the mean.
    assert results.values.tolist()[0] == [1.0, 2.0]
    assert results.mean[1] == 0.5
    assert results.n.tolist() == [2, 1, 0]
    assert results.ranking().tolist() == [0, 1, 2]
    assert studies.time_to(0.05, known).of(made.stored[made.hashes[0]]) == 0.5


# --- importance of axes


OF_SLIDERS = {"setting": "auc", "data": {"name": "two_moons", "n": 100, "n_labeled": 20}, "solver": {"n_iter": 3}}
OF_STEPS = {"name": "solver.step_size", "from": 0.1, "to": 1.0, "n": 6}
OF_WIDTHS = {"name": "kernel.sigma", "from": 0.1, "to": 10.0, "n": 6, "scale": "log"}
WORDS = {"name": "problem.pairing", "values": ["all", "triplets"]}


def results_of(axes, score, *, diverged=lambda point: False, seeds=(0,)):
    """Return results whose score is a function of the point and of the seed."""
    made = StudyRuns(Study.from_dict({"spec": OF_SLIDERS, "axes": axes, "seeds": list(seeds)}))
    for run, key in zip(made.runs, made.hashes, strict=True):
        state = "diverged" if diverged(run.values) else "finished"
        made.stored[key] = StoredRun(key, float(score(*run.values, run.seed)), None, 0.1, state, 3)
    return made.results("score")


def naive_importance(results, n_shuffles=4):
    """Return the mean share of each axis by plain loops over splits, axes and shuffles."""
    X, y = encoded(results)
    shares = []
    for seed in range(N_SPLITS):
        rest, held = train_test_split(np.arange(len(y)), test_size=HELD_OUT, random_state=seed)
        forest, drawn = _forest(seed).fit(X[rest], y[rest]), np.random.default_rng(seed)
        whole = r2_score(y[held], forest.predict(X[held]))
        losses = []
        for column in range(X.shape[1]):
            scores = []
            for _ in range(n_shuffles):
                shuffled = X[held].copy()
                shuffled[:, column] = drawn.permutation(shuffled[:, column])
                scores.append(r2_score(y[held], forest.predict(shuffled)))
            losses.append(max(whole - np.mean(scores), 0.0))
        shares.append(np.array(losses) / sum(losses))
    return np.mean(shares, axis=0)


def test_the_shares_are_those_of_naive_loops_and_the_axis_on_which_the_score_depends_has_nearly_all():
    axes = [OF_STEPS, OF_WIDTHS, WORDS]
    results = results_of(axes, lambda step, width, word, seed: np.log(width) + 2 * step + (word == "all"))
    assert importance(results).mean == pytest.approx(naive_importance(results), abs=0.08)
    found = importance(results_of([OF_STEPS, OF_WIDTHS], lambda step, width, seed: np.log(width)))
    assert found.mean[1] > 0.95
    assert found.mean.sum() == pytest.approx(1.0)
    assert np.all(found.ends[0] <= found.mean)
    assert np.all(found.mean <= found.ends[1])
    assert found.fit > 0.8
    low, high = Importance(np.array([[0.9], [0.2], [0.1], [0.4], [0.3]]), 1.0, 5).ends
    assert (low.tolist(), high.tolist()) == ([0.2], [0.4])  # without the most extreme splits
    results = results_of([OF_STEPS, OF_WIDTHS], lambda s, w, seed: np.log(w), diverged=lambda point: point[0] > 0.9)
    assert importance(results).n == 30


def test_of_very_many_points_forests_learn_from_some_with_their_own_means(monkeypatch):
    results = results_of([OF_STEPS, OF_WIDTHS], lambda step, width, seed: step + width)
    monkeypatch.setitem(_learnable.__globals__, "MOST_POINTS", 20)
    X, y, _ = _learnable(results)
    assert len(X) == len(y) == 20
    assert {*zip(map(tuple, X), y, strict=True)} < {*zip(map(tuple, encoded(results)[0]), results.mean, strict=True)}


@pytest.mark.parametrize("ask", [importance, lambda results: response(results, 0, 1)])
def test_no_verdict_where_the_table_is_too_small_or_only_noise(ask):
    few = results_of([OF_STEPS | {"n": 3}, OF_WIDTHS | {"n": 3}], lambda s, w, seed: w)
    assert ask(few) == f"There are too few points: 9 have a value, and {FEWEST_POINTS} are needed."
    drawn = np.random.default_rng(0)
    noise = results_of([OF_STEPS, OF_WIDTHS], lambda s, w, seed: drawn.random())
    assert "The points do not tell" in ask(noise)
    assert ask(results_of([OF_STEPS, OF_WIDTHS], lambda s, w, seed: 0.5)) == "All points have the same value."
    one = results_of([OF_STEPS | {"n": 30}], lambda s, seed: s)
    if ask is importance:
        assert "nothing to compare" in ask(one)


def test_a_contour_and_the_importance_have_the_same_word_on_how_much_a_forest_explains():
    for seed in some(range(3), 1, 3):
        drawn = np.random.default_rng(seed)
        results = results_of([OF_STEPS, OF_WIDTHS], lambda s, w, seed, drawn=drawn: 0.2 * np.log(w) + drawn.random())
        found = importance(results), response(results, 0, 1)
        assert found[0] == found[1] or not any(isinstance(one, str) for one in found)


def naive_response(results, across, up, found):
    X, y = encoded(results)
    forest = _forest(0).fit(X, y)
    values = np.empty((len(found.up), len(found.across)))
    for row, high in enumerate(found.up):
        for column, low in enumerate(found.across):
            asked = X.copy()
            asked[:, across], asked[:, up] = low, high
            values[row, column] = np.mean(forest.predict(asked))
    return values


def test_a_response_is_the_mean_prediction_of_naive_loops_on_an_even_grid():
    axes = [OF_STEPS | {"n": 3}, OF_WIDTHS | {"n": 3}, {"name": "solver.lam", "from": 0.01, "to": 1.0, "n": 4}]
    results = results_of(axes, lambda step, width, lam, seed: step + np.log(width) + lam)
    found = response(results, 2, 0)
    assert (len(found.across), len(found.up)) == (4, 3)
    assert found.values == pytest.approx(naive_response(results, 2, 0, found))
    assert found.values[0, 0] < found.values[-1, -1]
    drawn = {"from": 0.1, "n": 60, "random": True}
    axes = [{"name": "kernel.sigma", "to": 10, **drawn}, {"name": "solver.lam", "to": 1, **drawn}]
    found = response(results_of(axes, lambda width, lam, seed: np.log(width)), 0, 1)
    assert found.values.shape == (25, 25)
    assert np.ptp(np.diff(np.log(found.across))) < 1e-9
    assert np.ptp(np.diff(found.up)) < 1e-9
    assert found.values[:, -1].mean() > found.values[:, 0].mean() + 2
    of_lam = {"name": "solver.lam", "values": np.linspace(0.0, 1.0, 30).tolist()}  # from 0 there is no ratio
    found = response(results_of([of_lam, WORDS], lambda lam, word, seed: lam), 0, 1)
    assert np.ptp(np.diff(found.across)) < 1e-9


# --- runs of a study as trials in an Optuna storage


AXES = [OF_WIDTHS | {"n": 3}, WORDS]
OPTIONS = ["--axis", "kernel.sigma=0.1:10:3:log", "--axis", "problem.pairing=all,triplets", "--jobs", "1", "--quiet"]


@pytest.fixture
def optuna():
    return pytest.importorskip("optuna", reason="optuna is not installed: install dsg-lab[optuna]")


@pytest.fixture
def storage(tmp_path, optuna):
    return f"sqlite:///{tmp_path}/trials.db"


def study_of(*seeds, axes=AXES):
    return Study.from_dict({"spec": SPEC, "axes": axes, "seeds": [*seeds]})


def keep_places(study, store, seeds=range(9)):
    """Keep a score for each run of a study with these seeds: the number of its place; the last run has diverged."""
    runs = list(study.runs())
    for run in (run for run in runs if run.seed in seeds):
        kept(store, run, float(run.place), "diverged" if run is runs[-1] else "finished")


@contextmanager
def opened(optuna, storage):
    """Open a database for reading, and close its connections at the end."""
    database = optuna.storages.RDBStorage(storage)
    try:
        yield database
    finally:
        database.engine.dispose()


def trials_of(study, optuna, storage):
    with opened(optuna, storage) as database:
        return optuna.load_study(study_name=optuna_name(study), storage=database).get_trials()


def test_each_new_run_is_a_trial_from_which_optuna_goes_on_and_other_axes_are_another_study(store, optuna, storage):
    assert to_optuna(study_of(0), store, storage) == 0  # a run without a result is written once it has one
    study = study_of(0, 1)
    keep_places(study, store, seeds=[0])
    assert [to_optuna(study_of(0), store, storage) for _ in range(2)] == [6, 0]
    keep_places(study, store)
    assert to_optuna(study, store, storage) == 6
    trials = {trial.user_attrs["sha256"]: trial for trial in trials_of(study, optuna, storage)}
    runs = list(study.runs())
    assert len(trials) == 12
    for run in runs:
        trial = trials[run.spec.sha256]
        assert tuple(trial.params[axis.name] for axis in study.axes) == run.values
        assert (trial.state.name, trial.value) == (("COMPLETE", run.place) if run is not runs[-1] else ("FAIL", None))
    with opened(optuna, storage) as database:
        assert to_optuna(study, store, database) == 0  # a storage that is open stays so
        found = optuna.load_study(study_name=optuna_name(study), storage=database)
        assert found.best_value == 10.0
        assert 0.1 <= found.ask(found.trials[0].distributions).params["kernel.sigma"] <= 10.0
    narrow = study_of(0, axes=AXES[:1])
    keep_places(narrow, store)
    assert to_optuna(narrow, store, storage) == len(trials_of(narrow, optuna, storage)) == 3


@pytest.mark.ci
def test_sweeps_at_once_write_each_run_once(store, optuna, storage):
    study, together = study_of(*range(4)), Barrier(3, timeout=60)
    keep_places(study, store)

    def write():
        together.wait()
        return to_optuna(study, store, storage)

    with ThreadPoolExecutor(3) as executor:
        numbers = [future.result() for future in [executor.submit(write) for _ in range(3)]]
    digests = [trial.user_attrs["sha256"] for trial in trials_of(study, optuna, storage)]
    assert sum(numbers) == len(digests) == len(set(digests)) == len(study)


URLS = {
    "nonsense": "the Optuna storage 'nonsense' cannot be used: Could not parse",
    "sqlite:////no/such/folder/a.db": "cannot be used: .*unable to open database file",
    "postgresql+nothing://localhost/x": "cannot be used: ",
    "mysql://u:s3cret@host/db": "cannot be used: ",
    "postgresql+nothing://u:s3cret@localhost/x": "cannot be used: ",
    "mysql://u:s3c:s3cret@host/db": "cannot be used: ",
    "mysql://u:@/:s3cret@host/db": "cannot be used: ",
    "mysql://host/db?password=s3cret": "cannot be used: ",
}


@each("url, message", URLS.items())
def test_a_storage_that_cannot_be_used_is_refused_before_any_run_and_no_password_is_printed(
    url, message, store, optuna, capsys
):
    with pytest.raises(StudyError, match=message) as refused:
        to_optuna(study_of(0, 1), store, url)
    assert str(refused.value).startswith("the Optuna storage ")
    assert "s3c" not in str(refused.value)
    assert refused.value.__cause__ is None
    if "s3c" not in url:
        assert main(["sweep", "auc", *OPTIONS, "--store", str(store.file), "--optuna", url]) == 2
        assert "the Optuna storage" in capsys.readouterr().err
        assert len(store) == 0


def test_a_storage_is_tried_before_a_sweeps_runs_and_has_them_after_it(monkeypatch, store):
    order = []

    def carried_out(study, *_, **__):
        order.append("runs")
        return [Outcome(run, None, "left out") for run in study.runs()]

    monkeypatch.setattr(command, "carry_out", carried_out)
    monkeypatch.setattr(command, "to_optuna", lambda *_: order.append("trials"))
    main(["sweep", "auc", *OPTIONS, "--store", str(store.file), "--optuna", "sqlite://"])
    assert order == ["trials", "runs", "trials"]


@pytest.mark.ci
def test_the_command_writes_trials_and_the_same_table_as_without(tmp_path, optuna, storage, capsys):
    study = Study.from_json(study_file(tmp_path, axes=AXES, seeds=[0]).read_text())
    assert main([*sweep_line(tmp_path, "with.csv"), "--optuna", storage]) == 0
    assert main(sweep_line(tmp_path, "without.csv")) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "with.csv").read_bytes() == (tmp_path / "without.csv").read_bytes()
    assert len(trials_of(study, optuna, storage)) == 6

"""Parameters within a stated time: nothing worse than what was there, nothing random but the clock, and bad input refused."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from cases import each
from clocks import use_steady_clock
from numpy.typing import NDArray
from opened_pages import bench_of, click_like_a_browser, left_in_browser, open_auc
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.metrics import roc_auc_score
from small_specs import finished

from dsgcore import PS3VT, QSGS2AUC
from dsgcore.core.metrics import Difference, Effect, accuracy_half_width
from dsgcore.experiments import SETTINGS, Spec, begin_suggesting, default_spec, load_split, suggest_values
from dsgcore.experiments.engine import ENGINES
from dsgcore.experiments.suggesting import with_values
from dsgcore.jobs import JobQueue, JobState
from dsgcore.model_selection import Suggestion, suggest
from dsgcore.settings import profile_of
from dsgcore.tuning.search import Search, Subject
from pages.workbench import suggest_view

X, Y = make_moons(400, noise=0.15, random_state=0)
SEEN = np.where(np.arange(400) < 60, Y, -1)
QUICK = {"n_iter": 40, "n_features": 32, "batch_size": 16, "random_state": 0}


@pytest.fixture(autouse=True)
def steady_clock(monkeypatch):
    """An eighth of a second passes at each look; the searches in other processes have the real clock."""
    use_steady_clock(monkeypatch, 0.125)


def of(kind, **given):
    """An estimator of this kind that is quick."""
    return kind(**{name: value for name, value in QUICK.items() if name in kind().get_params()}, **given)


# --- for an estimator


def test_a_bad_width_is_found_and_put_right_by_the_best_estimator():
    poor, many = QSGS2AUC(**QUICK, sigma=1000.0, lam=1e-3), np.where(np.arange(400) < 200, Y, -1)
    found = suggest(poor, X, many, seconds=20.0)
    assert found.parameters
    assert found.gain.effect is Effect.HELPS
    best = found.best_estimator_
    assert found.best_estimator_ is best  # fitted once
    assert found.parameters.items() <= best.get_params().items()
    scores = [roc_auc_score(Y[200:], model.decision_function(X[200:])) for model in (poor.fit(X, many), best)]
    assert scores[1] > scores[0]
    assert f"of {len(found.tried)} candidates" in found.sentence()


def test_the_estimators_own_values_stay_where_nothing_is_clearly_better():
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        hopeless, labels = rng.normal(size=(200, 3)), np.where(np.arange(200) < 60, rng.integers(0, 2, 200), -1)
        found.append(suggest(QSGS2AUC(**QUICK | {"random_state": seed}), hopeless, labels, seconds=3.0))
    kept = [one for one in found if not one.parameters]
    assert len(kept) >= 6  # a 95 % interval lies off zero by chance now and then
    assert all("which stay" in one.sentence() for one in kept)
    assert all(len(one.tried) > 1 for one in found)


@pytest.mark.ci
def test_several_classes_that_no_straight_lines_separate_get_random_features():
    ring = np.random.default_rng(0).integers(0, 3, 300)
    angle = np.random.default_rng(1).uniform(0, 2 * np.pi, 300)
    points = (1.0 + ring)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    y = np.where(np.arange(300) < 120, ring, -1)
    found = suggest(PS3VT(random_state=0, n_iter=200), points, y, seconds=20.0)
    assert {"feature_map": "fourier", "n_features": 512} in [dict(one.parameters) for one in found.tried]
    assert found.parameters["feature_map"] == "fourier"
    assert found.gain.mean > 0.2


def test_a_search_follows_from_the_random_state_and_goes_on_where_it_was():
    first, again = (suggest(of(QSGS2AUC), X, SEEN, seconds=3.0) for _ in range(2))
    assert len(first.tried) > 1
    assert {str(one.parameters) for one in first.tried} == {str(one.parameters) for one in again.tried}
    more = first.go_on(3.0)
    said = [str(one.parameters) for one in more.tried]
    assert {str(one.parameters) for one in first.tried} < set(said)
    assert len(said) == len(set(said))
    assert more.tried[0].mean >= max(one.mean for one in first.tried if one.n_iter == more.tried[0].n_iter)
    assert again.go_on(3.0).parameters == more.parameters


# --- of candidates whose scores are known


@dataclass
class Scored(Subject):
    """A search whose candidates have known scores on each fold, for themselves and for each other."""

    others: NDArray
    own: NDArray
    first: tuple[dict[str, int], ...] = ()
    n_folds: int = 5

    def begin(self, share):
        pass

    def draw(self, drawn):
        return {"drawn": int(drawn.integers(1000))}

    def n_iter(self, share):
        return int(100 * share)

    def score(self, parameters, share, fold, until):
        return (self.others if parameters else self.own)[fold]


OWN, SLIGHTLY = np.full((5, 1), 0.7), np.array([[0.72], [0.71], [0.69], [0.74], [0.70]])
NAMED = ({"named": 1},)


def searched(others, own=OWN, first=()):
    return Search(0).go_on(Scored(others, own, first), 100.0)


def test_a_score_that_is_no_accuracy_must_be_better_over_the_folds():
    unclear, gains = searched(SLIGHTLY, first=NAMED), (SLIGHTLY - OWN)[:, 0]
    assert unclear.parameters == {}
    interval = stats.t.interval(0.95, 4, gains.mean(), stats.sem(gains))
    assert (unclear.gain.low, unclear.gain.high) == pytest.approx(interval)
    assert (unclear.gain.n, unclear.gain.unit) == (5, "folds")
    clear = searched(SLIGHTLY + 0.05, first=NAMED)
    assert clear.parameters == {"named": 1}
    assert f"± {clear.gain.half_width:.4f} from the current values (95 % over 5 folds" in clear.sentence()


def test_an_accuracy_must_be_better_over_the_points_held_out_unless_they_are_few():
    own = np.arange(100).reshape(5, 20) % 4 != 0  # in each fold it has 0, 4, 8, 12 and 16 wrong
    others = own.copy()
    others[:, [4, 8, 12]] = True
    others[:, [6, 10]] = False
    # Fifteen points won and ten lost; over the folds, where one more is right in each, that would be beyond doubt.
    unclear = searched(others, own)
    assert unclear.parameters == {}
    assert unclear.gain.mean == pytest.approx(0.05)
    assert unclear.gain.half_width == pytest.approx(accuracy_half_width(others.ravel(), own.ravel()))
    assert (unclear.gain.n, unclear.gain.unit) == (100, "held-out points")
    others[:, 10] = True
    clear = searched(others, own)
    assert clear.parameters["drawn"] >= 0
    assert "95 % over 100 held-out points" in clear.sentence()
    few = np.arange(20).reshape(5, 4) % 4 != 0
    assert searched(np.ones_like(few), few).gain.unit == "folds"


def test_what_cannot_be_fitted_is_never_preferred():
    found = searched(np.full((5, 1), -np.inf), first=NAMED)
    assert found.parameters == {}
    assert found.gain.effect is None
    assert searched(np.ones((5, 20), dtype=bool), np.full((5, 1), -np.inf)).gain.effect is None


# --- for a spec


SMALL = {"n_iter": 60, "n_features": 16, "batch_size": 8}
SETS = {"multiclass": "spirals", "ordinal": "ordinal_rings"}


def spec_of(setting, *, n_labeled=60, n=300, solver=(), **more):
    data = {"name": SETS.get(setting, "two_moons"), "n": n, "n_labeled": n_labeled}
    return Spec.from_dict({"setting": setting, "data": data, "solver": SMALL | dict(solver), **more})


@each("average", [None, "tail"])
@each("setting", SETTINGS)
def test_what_is_learned_without_measuring_is_what_a_run_learns(setting, average):
    run = finished(spec_of(setting, solver={"average": average}))
    learned = ENGINES[run.spec.problem.engine].learned(run.spec, run.split, lambda: False)
    np.testing.assert_allclose(learned, run.result_test_values + run.result_shift, rtol=1e-4, atol=1e-5)


@each("setting", SETTINGS)
def test_every_setting_gets_values_of_its_spec_and_hidden_labels_and_test_points_change_nothing(setting):
    spec = spec_of(setting)
    split = load_split(spec)
    lied = replace(split, y_hidden=1 - split.y_hidden, y_test=1 - split.y_test, X_test=split.X_test + 1.0)
    tried = []
    for one in (split, lied):
        found = suggest_values(spec, one, seconds=25.0)
        assert np.isfinite(found.score)
        assert all(with_values(spec, one.parameters).data == spec.data for one in found.tried)
        tried.append({str(candidate.parameters): candidate.scores for candidate in found.tried})
    assert len(tried[0]) > 1
    assert "{}" in tried[0]  # the spec's own values
    assert tried[0] == tried[1]


def test_in_the_background_its_time_is_kept_and_one_that_is_given_up_ends_at_once():
    spec = spec_of("auc")
    with JobQueue(1) as queue:
        job, given_up = (begin_suggesting(queue, spec, load_split(spec), seconds) for seconds in (1.0, 60.0))
        assert job.wait(60)
        assert job.state is JobState.DONE, job.error
        given_up.cancel()
        assert given_up.wait(60)
        assert given_up.state is JobState.CANCELLED
    assert 0.0 < job.result.seconds < 60.0
    assert "round" in job.progress[1]


# --- on a page


# A kernel so sharp that nothing can be learned: easily made better.
OF_DATA = {"data.name": "two_moons", "data.n": "400", "data.n_labeled": "150"}
POOR = {**OF_DATA, "kernel.sigma": "5000", "solver.n_iter": "64", "solver.n_features": "16"}
SECONDS = 120


def panel(app):
    assert not app.exception
    return " ".join(words.value for words in (*app.markdown, *app.caption))


def when_done(app):
    assert bench_of(app).jobs.suggested.job.wait(SECONDS)
    return app.run()


def test_on_a_finished_run_every_button_of_a_suggestion_does_what_it_says(monkeypatch):
    app = open_auc(**POOR, **{"view.speed": "instant"})
    before = bench_of(app).begun.asked
    while not bench_of(app).live.is_finished:
        app = app.run()
    score = bench_of(app).live.run.history.last()["score_test"]
    app.selectbox(key="suggest-seconds").select(10)
    app = when_done(app.button(key="suggest-values").click().run())
    found = bench_of(app).jobs.suggested.job.result
    assert found.gain.low > 0
    assert "Inverse bandwidth 5000 →" in panel(app)
    assert f"{found.gain.mean:+.3f} ({found.gain.low:+.3f} to {found.gain.high:+.3f}, 95 % over 5 folds)" in panel(app)
    table = app.dataframe[0].value
    assert len(table) == len(found.tried)
    assert "current" in set(table[""])
    app = click_like_a_browser(app, "suggest-set")
    asked, live = bench_of(app).begun.asked, bench_of(app).live
    assert asked.kernel.sigma == live.run.spec.kernel.sigma == found.parameters["sigma"]
    assert asked.data == before.data
    assert finished(asked).history.last()["score_test"] > score + 0.05
    assert left_in_browser(app)["kernel.sigma"] == f"{found.parameters['sigma']:g}"
    assert app.button(key="suggest-set").label == "Undo"
    app = click_like_a_browser(app, "suggest-set")
    assert bench_of(app).begun.asked == before
    last = len(found.tried)
    app.selectbox(key=f"suggest-row-{last}").select(last).run()
    app = click_like_a_browser(app, "suggest-use")
    assert bench_of(app).begun.asked.kernel.sigma == found.tried[-1].parameters.get("sigma", 5000)
    app = click_like_a_browser(app, "suggest-set")
    assert bench_of(app).begun.asked == before
    monkeypatch.setattr(suggest_view, "MORE", 1)
    app = when_done(click_like_a_browser(app, "suggest-more"))
    more = bench_of(app).jobs.suggested.job.result
    assert len(more.tried) > last
    known = {(tuple(one.parameters.items()), one.n_iter): one.scores for one in more.tried}
    assert [one for one in found.tried if known.get((tuple(one.parameters.items()), one.n_iter)) == one.scores]
    app = click_like_a_browser(app, "suggest-close")
    assert bench_of(app).jobs.suggested is None
    assert "suggest-set" not in [button.key for button in app.button]
    assert app.selectbox(key="data"), "the whole page"


GAINS = {
    0.0123: "The largest gain is +0.012",
    0.0004: "The best one gains nothing",
    -0.0004: "The best one gains nothing",
    -0.0123: "The best one loses 0.012",
}


def test_a_gain_that_rounds_to_zero_is_said_to_be_none_and_has_no_sign():
    for gain, said in GAINS.items():
        found = Suggestion({}, Difference.around(gain, 0.02, 20, "folds"), 0.9, (), 1.0)
        words = suggest_view.said_of(default_spec("auc"), found, {}, {})
        assert f"clearly better on held-out folds. {said} (" in words
    signed = [suggest_view.signed(value, 3) for value in (0.0004, -0.0004, -0.0006, 0.0)]
    assert signed == ["0.000", "0.000", "-0.001", "0.000"]


@pytest.mark.ci
def test_it_can_be_cancelled_and_goes_with_its_data():
    app = open_auc(**POOR | {"solver.n_iter": "2000"})
    app.selectbox(key="suggest-seconds").select(180)
    app = app.button(key="suggest-values").click().run()
    assert app.button(key="suggest-values").disabled
    app = when_done(app.button(key="suggest-cancel").click().run())
    assert "Cancelled after" in panel(app)
    app = app.button(key="suggest-values").click().run()
    job = bench_of(app).jobs.suggested.job
    app.number_input(key="seed").set_value(7)
    app = app.run()
    assert job.wait(SECONDS)
    assert bench_of(app).jobs.suggested is None


def test_where_labels_are_too_few_a_sentence_says_so():
    app = open_auc(**POOR | {"data.n_labeled": "4"})
    app = app.button(key="suggest-values").click().run()
    assert "No suggestion is possible here: the number of labeled points must be at least 5" in panel(app)


@each("name", SETTINGS)
def test_every_setting_has_controls_for_all_that_is_suggested(name):
    spec = default_spec(name)
    offered, own = suggest_view.controls_for(SETTINGS[name], spec.data.name, spec.kernel.name), spec.to_dict()
    known = {**own["solver"], **own["problem"], **own["kernel"]}
    assert {one for one in profile_of(SETTINGS[name]).suggested if one in known} <= set(offered)

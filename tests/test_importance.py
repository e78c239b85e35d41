"""Importance of a study's axes and the response to two of them, beside naive loops."""

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from dsgcore.studies import StoredRun, Study, StudyRuns, importance, response
from dsgcore.studies.importance import FEWEST_POINTS, HELD_OUT, N_SPLITS, _forest, encoded

SPEC = {"setting": "auc", "data": {"name": "two_moons", "n": 100, "n_labeled": 20}, "solver": {"n_iter": 3}}
STEPS = {"name": "solver.step_size", "from": 0.1, "to": 1.0, "n": 6}
WIDTHS = {"name": "kernel.sigma", "from": 0.1, "to": 10.0, "n": 6, "scale": "log"}
WORDS = {"name": "problem.pairing", "values": ["all", "triplets"]}


def results_of(axes, score, *, diverged=lambda point: False, seeds=(0,)):
    """Return results whose score is a function of the point and of the seed."""
    made = StudyRuns(Study.from_dict({"spec": SPEC, "axes": axes, "seeds": list(seeds)}))
    for run, key in zip(made.runs, made.hashes, strict=True):
        state = "diverged" if diverged(run.values) else "finished"
        made.stored[key] = StoredRun(key, float(score(*run.values, run.seed)), None, 0.1, state, 3)
    return made.results("score")


def naive_importance(results, n_shuffles=20):
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


def test_the_axis_on_which_the_score_depends_has_nearly_all_the_importance():
    found = importance(results_of([STEPS, WIDTHS], lambda step, width, seed: np.log(width)))
    assert found.reason == ""
    assert found.mean[1] > 0.95
    assert found.mean.sum() == pytest.approx(1.0)
    low, high = found.ends
    assert np.all(low <= found.mean)
    assert np.all(found.mean <= high)
    assert found.fit > 0.8


def test_axes_that_matter_only_together_are_both_important():
    """The mean over either axis is the same at each value of the other: main effects alone would be 0."""
    axes = [STEPS | {"n": 10}, WIDTHS | {"n": 10}]
    middle = np.log(1.0)
    found = importance(
        results_of(axes, lambda step, width, seed: np.sign(step - 0.55) * np.sign(np.log(width) - middle))
    )
    assert found.reason == ""
    assert np.all(found.mean > 0.3)


@pytest.mark.weekly
def test_the_shares_are_those_of_naive_loops():
    results = results_of(
        [STEPS, WIDTHS, WORDS], lambda step, width, word, seed: np.log(width) + 2 * step + (word == "all")
    )
    assert importance(results).mean == pytest.approx(naive_importance(results), abs=0.08)


def test_a_word_counts_like_a_number():
    found = importance(results_of([WIDTHS | {"n": 12}, WORDS], lambda width, word, seed: float(word == "all")))
    assert found.mean[1] > 0.95


@pytest.mark.weekly
def test_the_same_table_gives_the_same_numbers():
    first, second = (importance(results_of([STEPS, WIDTHS], lambda s, w, seed: s * w)) for _ in range(2))
    np.testing.assert_array_equal(first.shares, second.shares)


def test_diverged_points_are_left_out():
    results = results_of([STEPS, WIDTHS], lambda s, w, seed: np.log(w), diverged=lambda point: point[0] > 0.9)
    assert importance(results).n == 30


@pytest.mark.weekly
@pytest.mark.parametrize("ask", [importance, lambda results: response(results, 0, 1)])
def test_no_verdict_where_the_table_is_too_small_or_only_noise(ask):
    few = results_of([STEPS | {"n": 3}, WIDTHS | {"n": 3}], lambda s, w, seed: w)
    assert ask(few).reason == f"There are too few points: 9 have a value, and {FEWEST_POINTS} are needed."
    drawn = np.random.default_rng(0)
    noise = results_of([STEPS, WIDTHS], lambda s, w, seed: drawn.random())
    assert "The points do not tell" in ask(noise).reason
    assert ask(results_of([STEPS, WIDTHS], lambda s, w, seed: 0.5)).reason == "All points have the same value."
    one = results_of([STEPS | {"n": 30}], lambda s, seed: s)
    if ask is importance:
        assert "nothing to compare" in ask(one).reason


def naive_response(results, across, up, found):
    X, y = encoded(results)
    forest = _forest(0).fit(X, y)
    values = np.empty((len(found.up), len(found.across)))
    for row, high in enumerate(found.up):
        for column, low in enumerate(found.across):
            predictions = []
            for point in X:
                asked = point.copy()
                asked[across], asked[up] = low, high
                predictions.append(forest.predict(asked[None])[0])
            values[row, column] = np.mean(predictions)
    return values


@pytest.mark.weekly
def test_a_response_is_the_mean_prediction_of_naive_loops():
    axes = [STEPS | {"n": 3}, WIDTHS | {"n": 3}, {"name": "solver.lam", "from": 0.01, "to": 1.0, "n": 4}]
    results = results_of(axes, lambda step, width, lam, seed: step + np.log(width) + lam)
    found = response(results, 2, 0)
    assert (len(found.across), len(found.up)) == (4, 3)
    assert found.values == pytest.approx(naive_response(results, 2, 0, found))
    assert found.values[0, 0] < found.values[-1, -1]


def test_a_response_over_many_drawn_numbers_has_an_even_grid():
    axes = [
        {"name": n, "from": a, "to": b, "n": 60, "random": True}
        for n, a, b in (("kernel.sigma", 0.1, 10), ("solver.lam", 0.1, 1))
    ]
    found = response(results_of(axes, lambda width, lam, seed: np.log(width)), 0, 1)
    assert found.values.shape == (25, 25)
    assert np.ptp(np.diff(np.log(found.across))) < 1e-9
    assert np.ptp(np.diff(found.up)) < 1e-9
    assert found.values[:, -1].mean() > found.values[:, 0].mean() + 2

"""Parameters within a stated time: nothing worse than what was there, nothing random but the clock, and bad input in a sentence."""

from __future__ import annotations

import types
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import roc_auc_score

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, ParameterError
from dsgcore.model_selection import FoldError, halving, suggest

pytestmark = pytest.mark.compiled

X, Y = make_moons(400, noise=0.15, random_state=0)
SEEN = np.where(np.arange(400) < 60, Y, -1)
QUICK = {"n_iter": 40, "n_features": 32, "batch_size": 16, "random_state": 0}


@pytest.fixture
def steady_clock(monkeypatch):
    """A clock that each question moves by an eighth of a second: the search is the same every time."""
    now = [0.0]

    def monotonic():
        now[0] += 0.125
        return now[0]

    monkeypatch.setattr(halving, "time", types.SimpleNamespace(monotonic=monotonic))


def of(kind):
    """An estimator of this kind that is quick."""
    return kind(**{name: value for name, value in QUICK.items() if name in kind().get_params()})


@pytest.mark.usefixtures("steady_clock")
def test_a_bad_width_is_found_and_put_right():
    poor = QSGS2AUC(**QUICK, sigma=1000.0, lam=1e-3)
    many = np.where(np.arange(400) < 200, Y, -1)
    found = suggest(poor, X, many, seconds=20.0)
    assert found.parameters
    assert found.gain > 2 * found.error > 0
    before, after = (
        roc_auc_score(Y[200:], model.fit(X, many).decision_function(X[200:]))
        for model in (poor, QSGS2AUC(**QUICK).set_params(**found.parameters))
    )
    assert after > before
    assert f"of {len(found.tried)} tried" in found.sentence()


@pytest.mark.usefixtures("steady_clock")
def test_the_search_follows_from_the_random_state():
    first = suggest(of(QSGS2AUC), X, SEEN, seconds=3.0)
    again = suggest(of(QSGS2AUC), X, SEEN, seconds=3.0)
    shared = min(len(first.tried), len(again.tried))
    assert shared > 1
    assert {str(one.parameters) for one in first.tried} == {str(one.parameters) for one in again.tried}


def test_the_estimators_own_values_stay_where_nothing_is_clearly_better():
    hopeless = np.random.default_rng(0).normal(size=(200, 3))
    labels = np.where(np.arange(200) < 60, np.random.default_rng(1).integers(0, 2, 200), -1)
    kept = [suggest(QSGS2AUC(**QUICK | {"random_state": seed}), hopeless, labels, seconds=0.1) for seed in range(3)]
    assert all(one.parameters == {} for one in kept)
    assert all("they stay" in one.sentence() for one in kept)
    assert all(one.tried[-1].parameters == {} or len(one.tried) > 1 for one in kept)


@dataclass
class Scored:
    """What is searched, with scores known beforehand: its own, and those of each other candidate."""

    others: tuple[float, ...]
    first: tuple[dict[str, int], ...] = ()
    own: tuple[float, ...] = (0.7, 0.7, 0.7, 0.7, 0.7)
    n_folds: int = 5

    def begin(self, share):
        pass

    def draw(self, drawn):
        return {"drawn": int(drawn.integers(1000))}

    def n_iter(self, share):
        return int(100 * share)

    def score(self, parameters, share, fold, until):
        return (self.others if parameters else self.own)[fold]


@pytest.mark.usefixtures("steady_clock")
def test_the_best_of_many_that_were_drawn_must_be_clearer_than_one_that_was_named_before():
    slightly = (0.72, 0.71, 0.69, 0.74, 0.70)  # +0.012, of which the standard error is 0.009
    drawn = halving.Search(Scored(slightly), 100.0, 0).carry_out()
    assert drawn.parameters == {}
    assert drawn.confidence == 0.95
    assert drawn.interval[0] < 0 < drawn.gain
    named = halving.Search(Scored(slightly, ({"named": 1},)), 100.0, 0).carry_out()
    assert named.parameters == {"named": 1}
    assert named.confidence == 0.68
    assert named.interval[0] > 0
    worse = halving.Search(Scored((0.70, 0.71, 0.69, 0.71, 0.70), ({"named": 1},)), 100.0, 0).carry_out()
    assert worse.parameters == {}


KINDS = {
    QS3ORAO: np.where(np.arange(400) < 90, np.arange(400) % 3, -1),
    TSGS3VM: SEEN,
    PS3VT: np.where(np.arange(400) < 90, np.arange(400) % 3, -1),
    TSGSU: np.where(np.arange(400) < 120, np.arange(400) // 2, -1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_can_be_asked(kind):
    found = suggest(of(kind), X, KINDS[kind], seconds=0.3)
    of(kind).set_params(**found.parameters)
    assert np.isfinite(found.score)
    assert any(one.parameters == {} for one in found.tried)


def test_what_cannot_be_asked_is_said_in_a_sentence():
    with pytest.raises(ParameterError, match="estimator must be one of QSGS2AUC"):
        suggest(object(), X, SEEN)
    with pytest.raises(ParameterError, match="seconds must be"):
        suggest(of(QSGS2AUC), X, SEEN, seconds=-1.0)
    with pytest.raises(FoldError, match="labeled points must be at least 5"):
        suggest(of(QSGS2AUC), X, np.where(np.arange(400) < 2, [0, 1] * 200, -1), seconds=1.0)


@pytest.mark.usefixtures("steady_clock")
def test_several_classes_that_no_straight_lines_separate_get_random_features():
    ring = np.random.default_rng(0).integers(0, 3, 300)
    angle = np.random.default_rng(1).uniform(0, 2 * np.pi, 300)
    points = (1.0 + ring)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    found = suggest(PS3VT(random_state=0, n_iter=200), points, np.where(np.arange(300) < 120, ring, -1), seconds=20.0)
    assert {"features": "fourier", "n_features": 512} in [dict(one.parameters) for one in found.tried]
    assert found.parameters["features"] == "fourier"
    assert found.gain > 0.2

"""When a fit ends: by need, and with one warning where it would have needed more."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each
from four_estimators import FOUR, moons_with_few_labels
from four_estimators import make as small
from sklearn.exceptions import ConvergenceWarning

from dsgcore import QSGS2AUC
from dsgcore.solver.carried import end_of_stage


@pytest.fixture(scope="module")
def moons():
    X, _, few = moons_with_few_labels(200)
    return X, few


def make(cls, **parameters):
    return small(cls, **{"sigma": 1.0, "batch_size": 64, **parameters})


@each("cls", FOUR)
def test_a_fit_ends_where_its_average_no_longer_moves_with_the_mean_of_its_second_half(moons, cls):
    X, _ = moons
    model = make(cls, tol=0.2, n_iter=5000, dtype="float64").fit(*moons)
    T = model.n_iter_
    assert 100 <= T < 5000
    assert T % 50 == 0
    mean = np.mean([model.iterate_.evaluate(X, t) for t in range(T // 2 + 1, T + 1)], axis=0)
    np.testing.assert_allclose(model.model_.evaluate(X), mean, rtol=1e-9, atol=1e-11)
    later = make(cls, tol=0.2, n_iter=5000, n_iter_no_change=150, dtype="float64").fit(*moons)
    assert later.n_iter_ >= T + 100


def test_a_fit_that_would_have_needed_more_says_so_once(moons):
    with pytest.warns(ConvergenceWarning, match=r"QSGS2AUC was still moving by .* raise n_iter, or raise tol") as said:
        model = make(QSGS2AUC, tol=0.0, n_iter=120).fit(*moons)
    assert (len(said), model.n_iter_) == (1, 120)


@each("parameters", [{"tol": None, "n_iter": 120}, {"tol": 0.0, "n_iter": 60}])
def test_nothing_is_said_where_nothing_was_asked_or_could_be_seen(moons, parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(QSGS2AUC, **parameters).fit(*moons)
    assert model.n_iter_ == parameters["n_iter"]


@each("cls", FOUR)
def test_a_part_is_as_long_as_it_is_said_to_be(moons, cls):
    model = make(cls, tol=1.0, n_iter=150).partial_fit(*moons, classes=[0, 1])
    assert model.n_iter_ == 150
    assert model.partial_fit(*moons).n_iter_ == 300


@each("cls", FOUR)
def test_a_callback_sees_each_iterate_and_ends_the_fit_where_it_says_so(moons, cls):
    X, _ = moons
    seen = []
    model = make(cls, n_iter=200, dtype="float64").fit(*moons, callback=lambda one: seen.append(one.t) or one.t == 37)
    assert model.n_iter_ == seen[-1] == 37
    mean = np.mean([model.iterate_.evaluate(X, t) for t in range(19, 38)], axis=0)
    np.testing.assert_allclose(model.model_.evaluate(X), mean, rtol=1e-9, atol=1e-11)


def test_watching_changes_no_bit(moons):
    watched = make(QSGS2AUC, tol=1e-9, n_iter=60).fit(*moons)
    alone = make(QSGS2AUC, tol=None, n_iter=60).fit(*moons)
    np.testing.assert_array_equal(watched.model_.evaluate(moons[0]), alone.model_.evaluate(moons[0]))


def test_verbose_prints_a_line_at_every_look(moons, capsys):
    make(QSGS2AUC, tol=None, n_iter=110, verbose=1).fit(*moons)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["iteration 50", "iteration 100"]
    make(QSGS2AUC, tol=None, n_iter=3, verbose=2).fit(*moons)
    assert len(capsys.readouterr().out.splitlines()) == 3


class Seen(QSGS2AUC):
    """An estimator that keeps what the choice of its threshold knows."""

    def _thresholds(self, task, codes, values):
        self.known, self.values_there = values._rows, values._values
        return super()._thresholds(task, codes, values)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each("n_iter", [50, 250, 1000])
def test_the_values_at_training_points_are_those_of_the_averaged_model(n_iter):
    X, _, few = moons_with_few_labels(400)
    model = Seen(random_state=0, n_features=8, tol=1e-9, n_iter=n_iter, dtype="float64").fit(X, few)
    assert model.n_iter_ == n_iter
    assert model.known.tolist() == list(range(400))
    np.testing.assert_allclose(model.values_there, model.model_.evaluate(X), rtol=1e-9, atol=1e-11)


def test_the_stages_of_a_fit_follow_each_other():
    def of(n, start, n_iter):
        sources = {"positive": [], "negative": [], "unlabeled": []}
        task = SimpleNamespace(X=np.zeros((n, 1)), batch_size=64, rows=sources, plan=SimpleNamespace(n_iter=n_iter))
        ends = [start]
        while ends[-1] < n_iter:
            ends.append(end_of_stage(task, ends[-1]))
        return ends

    assert of(4000, 0, 1000) == [0, 50, 200, 800, 1000]
    assert of(4000, 77, 90) == [77, 90]
    assert of(4000, 30, 60) == [30, 50, 60]
    assert of(4000, 5, 5) == [5]
    assert of(100_000, 70, 220) == [70, 100, 150, 200, 220]

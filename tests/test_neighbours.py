"""Labels that spread over a graph of neighbours, against a twin that passes masses on step by step."""

import numpy as np
import pytest
from cases import each
from sklearn.datasets import make_moons

from dsgcore.estimators import neighbours
from dsgcore.estimators.neighbours import MOST_POINTS, N_NEIGHBORS, POINTS_CUT, TRUST, Graph, graph_rows, threshold_rows


def masses_of(X, marks):
    """What each point has got in the end, from all pairs of points."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    distances = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    S = np.zeros(distances.shape)
    np.put_along_axis(S, np.argsort(distances, axis=1)[:, :N_NEIGHBORS], 1.0, axis=1)
    S = np.maximum(S, S.T)
    root = np.sqrt(S.sum(axis=1))
    S, total, moved = S / root[:, None] / root, np.zeros(marks.shape), marks
    for _ in range(200):
        total, moved = total + moved, TRUST * S @ moved
    return total / root[:, None]


def some(n=120, n_labeled=30, n_classes=2):
    X, y = make_moons(n, noise=0.2, random_state=0)
    y = y if n_classes == 2 else np.digitize(X[:, 0], [0.0, 1.0])
    return X * [1.0, 100.0], y, np.where(np.arange(n) < n_labeled, y, -1)


def values_of(masses, is_ordered):
    shares = masses / masses.sum(axis=1, keepdims=True)
    if is_ordered:
        return shares @ np.arange(shares.shape[1])
    return shares if shares.shape[1] > 2 else shares[:, 1] - shares[:, 0]


@each("n_classes, is_ordered", [(2, False), (3, False), (3, True)])
def test_values_are_those_of_the_twin(n_classes, is_ordered):
    X, _, codes = some(n_classes=n_classes)
    found = Graph(X, is_ordered=is_ordered).learned(codes)
    expected = values_of(masses_of(X, (codes[:, None] == np.arange(n_classes)).astype(float)), is_ordered)
    np.testing.assert_allclose(found.values, expected, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 16, 33])
def test_columns_in_blocks_have_the_masses_of_whole_ones(n_classes, monkeypatch):
    X = np.random.default_rng(0).standard_normal((300, 3))
    X[:30] += 100.0  # an island without labels
    codes = np.where(np.arange(300) % 4 == 2, np.arange(300) // 4 % n_classes, -1)
    codes[:30] = -1
    found = []
    for is_used in (neighbours.IS_USED, False):
        monkeypatch.setattr(neighbours, "IS_USED", is_used)
        found.append(Graph(X, is_ordered=False).learned(codes).values)
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)
    assert np.ptp(found[0][:30], axis=0).max() < 1e-5


def test_a_new_point_has_the_mean_of_its_neighbours():
    X, _, codes = some()
    found = Graph(X, is_ordered=False).learned(codes)
    new = X[:5] + np.array([0.01, 1.0])
    distances = np.linalg.norm(((new[:, None] - X[None]) / X.std(axis=0)), axis=2)
    near = np.argsort(distances, axis=1)[:, :N_NEIGHBORS]
    np.testing.assert_allclose(found.at(new), found.values[near].mean(axis=1))


def test_a_held_out_label_has_no_part_in_its_own_value():
    X, y, codes = some()
    graph, rows = Graph(X, is_ordered=False), np.flatnonzero(codes >= 0)
    folds = [(np.arange(10, 30), np.arange(10)), (np.arange(10), np.arange(10, 30))]
    found = graph.on(rows, y[rows])(folds)
    for (train, held), values in zip(folds, found, strict=True):
        others = np.full(len(y), -1)
        others[rows[train]] = y[rows[train]]
        np.testing.assert_allclose(values, graph.learned(others).values[rows[held]], atol=1e-4)


def test_labels_that_were_spread_for_a_choice_are_not_spread_again(monkeypatch):
    X, y, codes = some()
    graph, rows = Graph(X, is_ordered=False), np.flatnonzero(codes >= 0)
    graph.on(rows, y[rows])([(np.arange(10, 30), np.arange(10)), (np.arange(10), np.arange(10, 30))])
    others = np.where(np.arange(len(codes)) == rows[0], -1, codes)
    for given in (codes, others):
        expected = Graph(X, is_ordered=False).learned(given).values
        np.testing.assert_allclose(graph.learned(given).values, expected, atol=1e-5)  # in single precision
    monkeypatch.setattr(Graph, "_spread", None)
    graph.learned(codes)


@pytest.mark.parametrize("n", [999, 1000, 1001, 1999, 2000, 4000, 4001, 100_003, 1_000_000])
def test_the_points_that_decide_on_a_threshold_are_in_the_graph(n):
    rows = threshold_rows(n)
    assert len(rows) == min(n, POINTS_CUT)
    assert set(rows) <= set(graph_rows(np.full(n, -1)))


def test_unlabeled_points_lead_labels_along_a_shape():
    X, y = make_moons(500, noise=0.05, random_state=0)
    few = np.full(500, -1)
    few[:12] = y[:12]
    assert np.mean((Graph(X, is_ordered=False).learned(few).at(X) > 0) == y) > 0.95


def test_points_that_no_label_reaches_have_the_labels_own_shares():
    X = np.concatenate([np.arange(20.0), 1000 + np.arange(20.0)])[:, None]
    codes = np.full(40, -1)
    codes[:4] = 0, 1, 1, 1
    assert Graph(X, is_ordered=False).learned(codes).values[20:] == pytest.approx(0.5)


def test_a_graph_is_bounded_and_has_the_labels():
    codes = np.full(100_000, -1)
    codes[::1000] = 1
    rows = graph_rows(codes)
    assert set(np.flatnonzero(codes >= 0)) <= set(rows)
    assert len(rows) <= MOST_POINTS + 100
    assert len(graph_rows(np.zeros(100_000, dtype=int))) <= 2 * MOST_POINTS
    assert (np.diff(rows) > 0).all()


def test_two_points_are_enough():
    assert Graph(np.array([[0.0], [1.0]]), is_ordered=False).learned(np.array([0, 1])).values.shape == (2,)

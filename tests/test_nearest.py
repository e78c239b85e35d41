"""Searches for nearest neighbours, against all distances computed from differences."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_info, threadpool_limits

from dsgcore.core._threads import n_workers, set_workers, single_threaded_openmp
from dsgcore.core.errors import DSGError
from dsgcore.kernels._loops_vectors import IS_USED
from dsgcore.kernels.nearest import COORDINATES_OF_TREE, PRODUCTS, ROWS, Nearest

DIGITS = load_digits().data


@pytest.fixture
def workers():
    before = n_workers()
    yield set_workers
    set_workers(before)


def in_order(X, Z, k):
    """The distances to the k nearest points and their numbers, the smaller number first if distances are equal."""
    far = np.array([np.sum((X - z) ** 2, axis=1) for z in Z])
    numbers = np.argsort(far, axis=1, kind="stable")[:, :k]
    return np.sqrt(np.take_along_axis(far, numbers, axis=1)), numbers


@pytest.mark.parametrize("n", [1, 127, ROWS, 3 * ROWS + 1])
def test_of_points_at_the_same_distance_the_first_come_first(n):
    # Whole numbers: many distances are equal, and none is rounded.
    Z = DIGITS[::7][:n] + 1.0
    distances, numbers = Nearest(DIGITS).of(Z, 7)
    expected = in_order(DIGITS, Z, 7)
    np.testing.assert_array_equal(numbers, expected[1])
    np.testing.assert_allclose(distances, expected[0], rtol=1e-15)


@pytest.mark.parametrize("k", [1, 7, 8, 9, 40])
@pytest.mark.parametrize(("m", "n", "d"), [(40, 7, 6), (300, 131, 11), (1021, 1030, 30)])
def test_products_in_blocks_and_those_of_all_points_find_the_same(m, n, d, k, monkeypatch):
    rng = np.random.default_rng(5)
    X, Z = rng.integers(0, 4, (m, d)).astype(float), rng.integers(0, 4, (n, d)).astype(float)  # many equal distances
    found = []
    for is_used in (IS_USED, False):
        monkeypatch.setattr("dsgcore.kernels.nearest.IS_USED", is_used)
        found.append(Nearest(X).of(Z, k))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0][1], in_order(X, Z, k)[1])


def test_the_distances_are_those_of_scikit_learn():
    X = DIGITS / 16.0 + np.random.default_rng(0).normal(scale=1e-3, size=DIGITS.shape)
    distances, numbers = Nearest(X[:1500]).of(X[1500:], 9)
    found = NearestNeighbors(algorithm="brute").fit(X[:1500]).kneighbors(X[1500:], 9)
    np.testing.assert_array_equal(numbers, found[1])
    np.testing.assert_allclose(distances, found[0], rtol=1e-7)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("far", [1.0, 1e3, 1e7])
def test_points_that_single_precision_cannot_tell_apart_are_in_their_order(far, offset):
    # With one far point, products in single precision are rounded by more than the others' distances.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 12)) * 1e-3 + offset
    X[17] = far
    Z = np.concatenate([X[:40] + 1e-4, X[17:18] + 1.0])
    np.testing.assert_array_equal(Nearest(X).of(Z, 6)[1], in_order(X, Z, 6)[1])


def test_copies_of_many_points_are_found_in_their_order():
    X = np.repeat(np.random.default_rng(2).standard_normal((30, 12)), 40, axis=0)
    np.testing.assert_array_equal(Nearest(X).of(X[::40], 50)[1], in_order(X, X[::40], 50)[1])


def test_many_points_are_compared_a_few_at_a_time():
    X = np.random.default_rng(3).standard_normal((PRODUCTS // 100, 10))
    np.testing.assert_array_equal(Nearest(X).of(X[:210], 3)[1], in_order(X, X[:210], 3)[1])


@pytest.mark.parametrize("d", [1, COORDINATES_OF_TREE, COORDINATES_OF_TREE + 1, 40])
@pytest.mark.parametrize(("m", "k"), [(2, 1), (40, 1), (300, 10)])
def test_the_nearest_points_are_those_with_the_smallest_distances(m, k, d):
    rng = np.random.default_rng(m)
    X, Z = rng.standard_normal((m, d)), rng.standard_normal((70, d))
    far, of_own = np.linalg.norm(Z[:, None] - X, axis=2), np.linalg.norm(X[:, None] - X, axis=2)
    distances, numbers = Nearest(X).of(Z, k)
    np.testing.assert_array_equal(numbers, np.argsort(far, axis=1)[:, :k])
    np.testing.assert_allclose(distances, np.sort(far, axis=1)[:, :k], rtol=1e-9)
    rows = np.arange(1, m, 2)
    distances, numbers = Nearest(X).of_own(rows, k)
    np.testing.assert_array_equal(numbers, np.argsort(of_own, axis=1)[rows, 1 : k + 1])
    np.testing.assert_allclose(distances, np.sort(of_own, axis=1)[rows, 1 : k + 1], rtol=1e-9)


@pytest.mark.parametrize("d", [2, 20])
def test_a_point_with_many_copies_is_not_its_own_neighbour(d):
    _, numbers = Nearest(np.zeros((100, d))).of_own(np.arange(100), 7)
    assert numbers.shape == (100, 7)
    assert not (numbers == np.arange(100)[:, None]).any()
    assert all(len(set(row)) == 7 for row in numbers.tolist())


@pytest.mark.parametrize("d", [2, 20])
def test_very_far_points_have_neighbours_too(d):
    X = np.random.default_rng(0).standard_normal((50, d))
    X[3, 0] = 1e200
    numbers = Nearest(X).of(np.concatenate([np.full((1, d), 1e300), [[np.inf] + [0.0] * (d - 1)]]), 4)[1]
    assert 0 <= numbers.min() <= numbers.max() < 50
    assert 3 in numbers[1]


def test_the_tree_does_not_need_numbers_of_double_precision():
    X = np.random.default_rng(0).standard_normal((300, 3)).astype(np.float32)
    np.testing.assert_array_equal(Nearest(X).of(X, 5)[1], Nearest(X.astype(float)).of(X.astype(float), 5)[1])


@pytest.mark.parametrize("d", [6, 12])
def test_points_at_the_same_distance_do_not_depend_on_threads(d, workers):
    # Whole numbers have many equal distances.
    Z = np.random.default_rng(0).integers(0, 3, size=(5000, d)).astype(float)
    search, found = Nearest(Z[:500]), []
    for count in (1, 2, 5):
        workers(count)
        found.append(search.of(Z, 10)[1])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("d", [2, 20])
def test_missing_numbers_are_refused(d):
    X = np.ones((30, d))
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(DSGError, match="coordinate is NaN"):
        Nearest(bad)
    with pytest.raises(DSGError, match="coordinate is NaN"):
        Nearest(X).of(bad, 3)


def openmp_threads():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "openmp"}


def test_openmp_is_limited_inside_the_block_alone():
    with threadpool_limits(3, user_api="openmp"):
        assert openmp_threads() == {3}
        with single_threaded_openmp():
            assert openmp_threads() == {1}
        assert openmp_threads() == {3}

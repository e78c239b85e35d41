"""Searches for nearest neighbours: the same result for any number of threads."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_info, threadpool_limits

from dsgcore.core._threads import n_workers, set_workers, single_threaded_openmp
from dsgcore.core.nearest import COORDINATES_OF_TREE, ROWS, Nearest

DIGITS = load_digits().data


@pytest.fixture
def workers():
    before = n_workers()
    yield set_workers
    set_workers(before)


@pytest.mark.parametrize("n", [1, 700, 1797, 2 * ROWS - 1, 2 * ROWS, 5 * ROWS + 100])
def test_many_coordinates_are_searched_as_scikit_learn_does_on_one_thread(n):
    Z = np.resize(DIGITS, (n, 64)) + 1.0
    distances, numbers = Nearest(DIGITS).of(Z, 7)
    assert numbers.shape == (n, 7)
    with threadpool_limits(1):
        found = NearestNeighbors(algorithm="brute").fit(DIGITS).kneighbors(Z, 7)
    np.testing.assert_array_equal(distances, found[0])
    np.testing.assert_array_equal(numbers, found[1])


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
    # Whole numbers have many equal distances, of which scikit-learn finds others on several threads.
    Z = np.random.default_rng(0).integers(0, 3, size=(2 * ROWS + 50, d)).astype(float)
    search, found = Nearest(Z[:500]), []
    for count in (1, 2, 5):
        workers(count)
        with threadpool_limits(count, user_api="openmp"):
            found.append(search.of(Z, 10)[1])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def openmp_threads():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "openmp"}


def test_openmp_is_limited_inside_the_block_alone():
    with threadpool_limits(3, user_api="openmp"):
        assert openmp_threads() == {3}
        with single_threaded_openmp():
            assert openmp_threads() == {1}
        assert openmp_threads() == {3}

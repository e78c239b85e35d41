"""Searches for nearest neighbours: the same result for any number of threads."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_info, threadpool_limits

from dsgcore.core._threads import n_workers, set_workers, single_threaded_openmp
from dsgcore.core.nearest import ROWS, nearest

DIGITS = load_digits().data


@pytest.fixture
def workers():
    before = n_workers()
    yield set_workers
    set_workers(before)


@pytest.mark.parametrize("n", [1, 700, 1797, 2 * ROWS - 1, 2 * ROWS, 5 * ROWS + 100])
def test_a_search_finds_what_scikit_learn_finds_on_one_thread(n):
    search, Z = NearestNeighbors().fit(DIGITS), np.resize(DIGITS, (n, 64)) + 1.0
    distances, numbers = nearest(search, Z, 7)
    assert numbers.shape == (n, 7)
    with threadpool_limits(1):
        found = search.kneighbors(Z, 7)
    np.testing.assert_array_equal(distances, found[0])
    np.testing.assert_array_equal(numbers, found[1])


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_points_at_the_same_distance_do_not_depend_on_threads(algorithm, workers):
    # Whole numbers have many equal distances, of which scikit-learn finds others on several threads.
    Z = np.random.default_rng(0).integers(0, 3, size=(2 * ROWS + 50, 6)).astype(float)
    search, found = NearestNeighbors(algorithm=algorithm).fit(Z[:500]), []
    for count in (1, 2, 5):
        workers(count)
        with threadpool_limits(count, user_api="openmp"):
            found.append(nearest(search, Z, 10)[1])
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

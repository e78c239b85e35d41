import numpy as np
import pytest

from dsgcore.core.sampling import MAX_SEED
from dsgcore.estimators.inputs import encode, known_classes, seed_of
from dsgcore.estimators.kernel import width
from dsgcore.kernels import KERNELS

SIGMA = KERNELS["gaussian"].parameters[0]


def test_a_seed_is_itself_a_draw_or_anything():
    assert seed_of(5) == seed_of(np.int64(5)) == 5
    assert seed_of(MAX_SEED) == MAX_SEED
    assert seed_of(np.random.RandomState(1)) == seed_of(np.random.RandomState(1))
    assert 0 <= seed_of(None) < 2**31
    with pytest.raises(ValueError, match="random_state must be"):
        seed_of(-1)


def test_scale_is_that_of_the_points():
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(50, 4)).astype(np.float32)
    assert width(SIGMA, "scale", X) == pytest.approx(1 / (4 * X.var()))
    expected = {"laplacian": 1 / (4 * X.std()), "matern": 2 * X.std(), "dot_product": 1 / (X**2).sum(axis=1).mean()}
    for kernel, value in expected.items():
        assert width(KERNELS[kernel].parameters[0], "scale", X, kernel) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_scale_of_points_without_spread_is_one(kernel):
    assert width(KERNELS[kernel].parameters[0], "scale", np.zeros((3, 2)), kernel) == 1.0


def test_labels_become_codes():
    for y, classes, codes in (([3, -1, 1, 3], [1, 3], [1, -1, 0, 1]), ([-1, -1], [], [-1, -1])):
        for dtype in (int, float):
            found, places = encode(np.array(y, dtype=dtype))
            assert (found.tolist(), places.tolist()) == (classes, codes)


def test_labels_become_places_among_given_classes():
    classes = np.array(["poor", "fair", "best"])
    assert encode(np.array(["best", "poor", -1, "fair"], dtype=object), classes)[1].tolist() == [2, 0, -1, 1]
    with pytest.raises(ValueError, match=r"y must hold the classes poor, fair, best, or -1 .*, got good"):
        encode(np.array(["good"]), classes)


def test_classes_are_sorted_where_their_order_says_nothing():
    assert known_classes([1, -1, 0], None, is_sorted=True).tolist() == [0, 1]
    assert known_classes([1, -1, 0], None, is_sorted=False).tolist() == [1, 0]
    assert known_classes(None, np.array([4, 5]), is_sorted=True).tolist() == [4, 5]
    assert known_classes(["b", "a"], np.array(["a", "b"]), is_sorted=True).tolist() == ["a", "b"]

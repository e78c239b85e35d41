"""The plane that a map shows of data with many coordinates."""

import numpy as np
import pytest

from dsgcore.experiments import Plane


def mixed_columns(n=300, seed=0):
    """Return a category of three as three columns, beside two columns of numbers in other units."""
    rng = np.random.default_rng(seed)
    category = np.eye(3)[rng.integers(0, 3, n)]
    return np.hstack([category, rng.normal(size=(n, 1)), 1000 * rng.uniform(size=(n, 1))])


def test_a_category_does_not_make_three_dots_of_the_map():
    X = mixed_columns()
    xy = Plane.through(X).project(X)
    for coordinate in xy.T:
        assert len(np.unique(coordinate.round(6))) == len(X)
    np.testing.assert_allclose(Plane.through(X).axes[:, :3], 0)


def test_columns_of_two_values_make_the_map_where_there_are_no_others():
    X = mixed_columns()[:, :3]
    assert np.ptp(Plane.through(X).project(X), axis=0).min() > 0.5


def test_no_unit_outweighs_the_others():
    X = mixed_columns()
    in_metres = X * (1, 1, 1, 1, 1e-6)
    np.testing.assert_allclose(
        np.abs(Plane.through(in_metres).project(in_metres)), np.abs(Plane.through(X).project(X)), atol=1e-9
    )


@pytest.mark.parametrize("features", [(None, None), (3, 4), (None, 4), (1, None)])
def test_points_of_the_grid_have_its_coordinates(features):
    X = mixed_columns()
    plane = Plane.through(X, features, tuple("abcde"))
    across, up = np.meshgrid(*(np.linspace(plane.low[i], plane.high[i], 7) for i in range(2)))
    np.testing.assert_allclose(plane.project(plane.grid(7)), np.stack([across.ravel(), up.ravel()], axis=1), atol=1e-9)
    xy = plane.project(X)
    assert (xy > plane.low).all()
    assert (xy < plane.high).all()


def test_columns_that_are_chosen_are_named():
    X = mixed_columns()
    plane = Plane.through(X, (None, 4), tuple("abcde"))
    assert plane.names == ("first principal axis", "e")
    np.testing.assert_allclose(plane.project(X)[:, 1], X[:, 4] - X[:, 4].mean())


def test_the_plane_of_two_dimensional_points_is_square_and_its_units_equal():
    X = np.random.default_rng(0).uniform(size=(200, 2)) * (3, 1)
    plane = Plane.through(X)
    np.testing.assert_allclose(np.ptp([plane.low, plane.high], axis=0), plane.high[0] - plane.low[0])
    np.testing.assert_array_equal(plane.project(X), X)

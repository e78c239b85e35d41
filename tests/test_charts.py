"""Numbers as the charts send them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("plotly")

from pages import _charts as charts


def by_text(values):
    """Return what four digits are meant to be: rounded as text, and read again."""
    return [float(f"{v:.4g}") if np.isfinite(v) else None for v in values]


def bits(numbers):
    """Return the numbers so that -0.0 and 0.0 differ."""
    return [None if v is None else v.hex() for v in numbers]


def hard_numbers():
    """Return numbers of all sizes, many of them in the middle between two of four digits, or next to it."""
    rng = np.random.default_rng(0)
    powers = 10.0 ** np.arange(-30, 31)
    middles = (rng.integers(1000, 10_000, 5_000) + 0.5) * 10.0 ** rng.integers(-25, 25, 5_000)
    edges = np.concatenate([powers, middles, 9999.5 * powers])
    return np.concatenate(
        [
            rng.normal(size=40_000) * 10.0 ** rng.uniform(-30, 30, 40_000),
            rng.integers(0, 2**63 - 1, 10_000).view(np.float64),  # all exponents there are, and some that are no number
            np.arange(-20_000, 20_000),
            edges,
            np.nextafter(edges, 0),
            -np.nextafter(edges, np.inf),
            [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, np.finfo(float).max, np.finfo(float).tiny],
        ]
    )


def test_four_digits_are_those_of_the_text():
    values = hard_numbers()
    assert len(values) > 100_000
    assert bits(charts.four_digits(values)) == bits(by_text(values))


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_four_digits_of_other_types(dtype):
    values = np.array([0, 1, -12_345, 123_456_789, 7], dtype=dtype)
    assert charts.four_digits(values) == by_text(values) == [0.0, 1.0, -12_340.0, 123_500_000.0, 7.0]


def test_four_digits_keep_the_shape_and_leave_gaps():
    assert charts.four_digits(np.array([])) == []
    assert charts.four_digits(np.array([[1.23456, np.nan], [np.inf, -2e-30]])) == [[1.235, None], [None, -2e-30]]


def test_four_digits_of_a_surface_are_those_of_its_rows():
    z = np.random.default_rng(0).normal(size=(6, 5))
    z[2, 3] = np.nan
    figure = charts.map_chart(
        [], charts.Surface(z, 0.0, 1.0, 0.0, 1.0), title="", axes=("x", "y"), centre=0.0, theme="light"
    )
    assert figure["data"][0]["z"] == [by_text(row) for row in z]


def test_a_thinned_curve_keeps_the_lowest_number_beside_gaps():
    # Every second stretch of a curve above 5 has gaps, as the logarithm of what is not positive has.
    y = 5.0 + np.random.default_rng(0).random(1000)
    y[np.arange(1000) % 7 == 0] = np.nan
    x, thin = charts.thinned(np.arange(1000), y, 100)
    np.testing.assert_array_equal(thin, y[x])
    for stretch, kept in zip(y.reshape(50, 20)[:-1], thin.reshape(50, 2)[:-1], strict=True):
        assert {*kept} == {np.nanmin(stretch), np.nanmax(stretch)}


def test_a_thinned_curve_of_gaps_is_one():
    _, thin = charts.thinned(np.arange(1000), np.full(1000, np.nan), 100)
    assert 0 < len(thin) <= 100
    assert np.isnan(thin).all()

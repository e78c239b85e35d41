"""How large the measurements are; tests make them tiny."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Sizes of all measurements.

    Attributes
    ----------
    repeats : int
        Rounds of the short measurements; the shortest time counts.
    n, d, m, n_iter, batch_size : int
        The papers' usual run: points, coordinates, features, iterations, points drawn from each of two sources.
    plain_iter : int
        Iterations of the papers' own algorithm, which is extrapolated.
    growth : float
        What growth measurements multiply the run's length by; 2 for the other sizes.
    dimensions : tuple of int
        Coordinates at which the evaluation kernel is measured.
    rows : int
        Points that the evaluation kernel is measured with.
    demo_iter : int
    predicted : int
        Points of the prediction.
    stored : int
        Points of the file that does not fit in memory.
    shared : int
        Points of the run that worker processes share.
    fitted, fitted_d : int
        Points and columns of the estimators' fits.
    """

    repeats: int = 9
    n: int = 20_000
    d: int = 54
    m: int = 1000
    n_iter: int = 100
    batch_size: int = 1000
    plain_iter: int = 10
    growth: int = 4
    dimensions: tuple[int, ...] = (3, 22, 54, 128, 784)
    rows: int = 9600
    demo_iter: int = 300
    predicted: int = 32_768
    stored: int = 20_000_000
    shared: int = 1_000_000
    fitted: int = 10_000
    fitted_d: int = 100

"""The two noises of a doubly stochastic run, each of which can be switched off, and the error that each leaves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.diagnostics.four_runs import values_of_four_runs
from dsgcore.explained.example import Example

# With the noise of mini-batches, and with that of random features. The names are those of the four runs.
SWITCHES = {(False, False): "g", (True, False): "b", (False, True): "r", (True, True): "f"}


@dataclass(frozen=True, eq=False)
class Noises:
    """The four runs of an example.

    Attributes
    ----------
    t : ndarray of shape (k,)
        Recorded iterations.
    values : mapping of (bool, bool) to ndarray of shape (k, n)
        Values at the training points, with the first seed, by the two switches.
    errors : mapping of (bool, bool) to ndarray of shape (k,)
        Mean over points and seeds of the squared difference from the optimum, relative to the optimum's own.
    optimum : ndarray of shape (n,)
    """

    t: NDArray
    values: dict[tuple[bool, bool], NDArray]
    errors: dict[tuple[bool, bool], NDArray]
    optimum: NDArray


def noises(shown: Example, seeds: Iterable[int]) -> Noises:
    """Make the four runs of the example with each of these seeds of batches and features."""
    paths, optimum = values_of_four_runs(shown.spec, tuple(seeds), split=shown.split)
    every = {key: np.array([[getattr(at, run) for at in path] for path in paths]) for key, run in SWITCHES.items()}
    scale = np.mean(optimum**2)
    errors = {key: np.mean((of - optimum) ** 2, axis=(0, 2)) / scale for key, of in every.items()}
    return Noises(np.array([at.t for at in paths[0]]), {key: of[0] for key, of in every.items()}, errors, optimum)

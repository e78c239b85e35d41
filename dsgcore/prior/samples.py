"""Samples for class-prior estimation: checks, and reduction to a largest size."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import generator


class PriorError(DSGError):
    """Error: a class prior cannot be estimated. The message states the reason, the value given and the requirement."""


def checked_samples(**given: ArrayLike) -> dict[str, NDArray]:
    """Return the samples as float arrays; raise unless they are finite and have equally many coordinates."""
    try:
        samples = {name: check_array(X, dtype=np.float64, input_name=name) for name, X in given.items()}
    except ValueError as error:
        raise PriorError(str(error)) from None
    dimensions = {name: X.shape[1] for name, X in samples.items()}
    if len(set(dimensions.values())) > 1:
        said = ", ".join(f"{name} {d}" for name, d in dimensions.items())
        raise PriorError(f"all samples must have equally many coordinates, got {said}")
    return samples


def at_most(size: int, X: NDArray, seed: int, name: str) -> NDArray:
    """Return the sample's `drawn_rows`."""
    return X if len(X) <= size else X[drawn_rows(len(X), size, seed, name)]


def drawn_rows(n: int, size: int, seed: int, name: str) -> NDArray:
    """Return the row numbers that `mixture_proportion` uses of a sample of n points, at most `size`.

    The name of the sample is "mixture" or "component".
    """
    return np.arange(n) if n <= size else generator(seed, f"prior {name}").choice(n, size, replace=False)

"""What f is made of: one random feature, one training point, and how large the coefficients of each iteration are.

f is a sum of waves, drawn anew at every iteration and with coefficients that only shrink afterwards; its twin h is a sum of
kernels round the training points, whose coefficients go on changing. What is returned is small, and costs no more than an
iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.diagnostics import DiagnosticsError
from dsgcore.core.errors import DSGError
from dsgcore.core.expansion import Expansion
from dsgcore.experiments.run import Run
from dsgcore.experiments.stochastic_engine import StochasticEngine

# Of so many iterations and so many coefficients at most the sizes are sorted.
MOST_BLOCKS, MOST_COEFFICIENTS = 200, 2**19
# The largest of an iteration's coefficients, and those that 90 %, half and 10 % of them are below.
QUANTILES = {"largest": 1.0, "90 % below": 0.9, "median": 0.5, "10 % below": 0.1}


@dataclass(frozen=True, eq=False)
class Amplitudes:
    """How large the coefficients are that some iterations have left in a model.

    Of the iterations `t`, evenly spread where there are many, `sizes` are the quantiles of the features' absolute coefficients,
    by what they are called; all of shape (k,).
    """

    t: NDArray
    sizes: dict[str, NDArray]


def amplitudes(model: Expansion) -> Amplitudes:
    """Return how large the coefficients are that each iteration has left in a model, shrunk by all steps since."""
    largest = max((block.shape[1] for block in model.blocks), default=1)
    number = min(len(model), max(1, min(MOST_BLOCKS, MOST_COEFFICIENTS // largest)))
    t = np.unique(np.linspace(1, len(model), number).round().astype(int))
    left = _left(model.decays)
    found = [np.quantile(np.abs(model.blocks[i - 1][0]), list(QUANTILES.values())) * left[i - 1] for i in t]
    values = np.array(found, dtype=np.float64).reshape(len(t), len(QUANTILES)).T
    return Amplitudes(t, dict(zip(QUANTILES, values, strict=True)))


def feature_wave(model: Expansion, t: int, number: int, Z: NDArray) -> NDArray:
    """Return what one random feature adds to f, of shape (p,): the sum of these over all features and iterations is f.

    Parameters
    ----------
    t : int
        The iteration that the feature was drawn in, from 1.
    number : int
        Which one of that iteration's, from 1.
    Z : ndarray of shape (p, d)
    """
    block = _block(model, t, number)
    W, own = model.kernel.feature_map.alone(model.frequencies(t, block.shape[1]), block, model.d, number - 1)
    out = np.zeros(len(Z), dtype=model.dtype)
    model.kernel.feature_map.evaluate(np.ascontiguousarray(Z, dtype=model.dtype), W, own, 0.0, out)
    return out * model.dtype.type(_left(model.decays)[t - 1])


def feature_way(model: Expansion, t: int, number: int) -> NDArray:
    """Return one random feature's coefficient through time, of shape (T + 1,); `t` and `number` as of `feature_wave`.

    After 0 to T iterations: nothing before the one that the feature was drawn in, and from then on shrinking with every step.
    """
    block = _block(model, t, number)
    way = np.zeros(len(model) + 1)
    way[t:] = float(block[0, number - 1]) * np.cumprod([1.0, *model.decays[t:]])
    return way


def point_pull(run: Run, row: int, Z: NDArray) -> NDArray:
    """Return what one training point adds to h: a_i k(x_i, z), of shape (p,); the sum of these over all training points is h.

    Parameters
    ----------
    run : Run
        Of one of the stochastic settings; of another, `DiagnosticsError` is raised.
    row : int
        Which training point, from 0.
    Z : ndarray of shape (p, d)
    """
    engine, x = _engine(run), np.asarray(run.split.X_train[row : row + 1], dtype=np.float64)
    with single_threaded_blas():
        values: NDArray = engine.dual.values[row] * engine.kernel.matrix(x, np.asarray(Z, dtype=np.float64))[0]
    return values


def point_way(run: Run, row: int) -> tuple[NDArray, NDArray]:
    """Return some iterations and one training point's coefficient after each, both of shape (k,).

    They are those that the run keeps, some 32 evenly spread ones, and the last. Parameters, and what is raised, as of `point_pull`.
    """
    return _engine(run).dual_way(row)


def has_inside(run: Run) -> bool:
    """Return whether a run's function is a sum of features that are drawn anew, so that there is an inside to look at."""
    return run.problem.engine == "stochastic"


def _engine(run: Run) -> StochasticEngine:
    if not has_inside(run):
        raise DiagnosticsError(
            f"only stochastic functional gradients draw features in each iteration; {run.problem.title} does not"
        )
    return cast(StochasticEngine, run.engine)


def _left(decays: list[float]) -> NDArray:
    """Return what is left of each iteration's coefficients after all steps since."""
    return np.cumprod([1.0, *decays[:0:-1]])[::-1]


def _block(model: Expansion, t: int, number: int) -> NDArray:
    if not 1 <= t <= len(model):
        raise DSGError(f"t must be between 1 and {len(model)}, the iterations made so far, got {t}")
    block = model.blocks[t - 1]
    if not 1 <= number <= block.shape[1]:
        raise DSGError(f"number must be between 1 and {block.shape[1]}, the features of iteration {t}, got {number}")
    return block

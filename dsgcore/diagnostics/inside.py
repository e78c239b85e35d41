"""Components of f: one random feature, one training point, and the sizes of each iteration's coefficients.

f is a sum of waves. Every iteration draws new ones, and their coefficients only shrink afterwards. Its twin h is a sum
of kernels at the training points, whose coefficients continue to change. The results are small, and cost no more than
an iteration.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.threads import single_threaded_blas
from dsgcore.experiments.run import Run
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.solver.measures import DiagnosticsError
from dsgcore.solver.model import Expansion

# Sizes are sorted for at most this many iterations, and this many coefficients.
MOST_BLOCKS, MOST_COEFFICIENTS = 200, 2**19
# The largest of an iteration's coefficients, and their 90 %, 50 % and 10 % quantiles.
QUANTILES = {"largest": 1.0, "90 % below": 0.9, "median": 0.5, "10 % below": 0.1}


def amplitudes(model: Expansion) -> tuple[NDArray, dict[str, NDArray]]:
    """Return some iterations, evenly spread, and the sizes of the coefficients that each has left in a model.

    The sizes are quantiles of the features' absolute coefficients by name, after the shrinkage of all later steps. All have
    the shape (k,).
    """
    largest = max((block.shape[1] for block in model.blocks), default=1)
    number = min(len(model), max(1, min(MOST_BLOCKS, MOST_COEFFICIENTS // largest)))
    t = np.unique(np.linspace(1, len(model), number).round().astype(int))
    left = _left(model.decays)
    found = [np.quantile(np.abs(model.blocks[i - 1][0]), list(QUANTILES.values())) * left[i - 1] for i in t]
    values = np.array(found, dtype=np.float64).reshape(len(t), len(QUANTILES)).T
    return t, dict(zip(QUANTILES, values, strict=True))


def feature_wave(model: Expansion, t: int, number: int, Z: NDArray) -> NDArray:
    """Return one random feature's contribution to f, of shape (p,). The sum over all features and iterations is f.

    Parameters
    ----------
    t : int
        The iteration that drew the feature, from 1.
    number : int
        The feature's number within that iteration, from 1.
    Z : ndarray of shape (p, d)
    """
    block = _block(model, t, number)
    W, own = model.kernel.feature_map.alone(model.frequencies(t, block.shape[1]), block, number - 1)
    out = np.zeros(len(Z), dtype=model.dtype)
    model.kernel.feature_map.evaluate(np.ascontiguousarray(Z, dtype=model.dtype), W, own, 0.0, out)
    return out * model.dtype.type(_left(model.decays)[t - 1])


def feature_trajectory(model: Expansion, t: int, number: int) -> NDArray:
    """Return one random feature's coefficient over time, of shape (T + 1,); `t` and `number` as in `feature_wave`.

    Entries are for 0 to T iterations: zero before the feature is drawn, and then shrinking with every step.
    """
    block = _block(model, t, number)
    way = np.zeros(len(model) + 1)
    way[t:] = float(block[0, number - 1]) * np.cumprod([1.0, *model.decays[t:]])
    return way


def point_pull(run: Run, row: int, Z: NDArray) -> NDArray:
    """Return one training point's contribution to h, a_i k(x_i, z), of shape (p,).

    The sum over all training points is h.

    Parameters
    ----------
    run : Run
        With a stochastic setting; another one raises `DiagnosticsError`.
    row : int
        The number of the training point, from 0.
    Z : ndarray of shape (p, d)
    """
    engine, x = _engine(run), np.asarray(run.split.X_train[row : row + 1], dtype=np.float64)
    with single_threaded_blas():
        values: NDArray = engine.dual.values[row] * engine.kernel.matrix(x, np.asarray(Z, dtype=np.float64))[0]
    return values


def point_trajectory(run: Run, row: int) -> tuple[NDArray, NDArray]:
    """Return some iterations and one training point's coefficient after each, both of shape (k,).

    The iterations are those that the run keeps: about 32, evenly spread, and the last. Parameters and errors as in
    `point_pull`.
    """
    return _engine(run).dual_way(row)


def has_inside(run: Run) -> bool:
    """Return True if a run's function is a sum of features that every iteration draws."""
    return run.problem.engine == "stochastic"


def _engine(run: Run) -> StochasticEngine:
    if not has_inside(run):
        title = run.problem.title
        raise DiagnosticsError(
            f"only stochastic functional gradients draw features in each iteration; {title} does not"
        )
    return cast(StochasticEngine, run.engine)


def _left(decays: list[float]) -> NDArray:
    """Return the factor by which all later steps have shrunk each iteration's coefficients."""
    return np.cumprod([1.0, *decays[:0:-1]])[::-1]


def _block(model: Expansion, t: int, number: int) -> NDArray:
    if not 1 <= t <= len(model):
        raise DSGError(f"t must be between 1 and {len(model)}, the iterations made so far, got {t}")
    block = model.blocks[t - 1]
    if not 1 <= number <= block.shape[1]:
        raise DSGError(f"number must be between 1 and {block.shape[1]}, the features of iteration {t}, got {number}")
    return block

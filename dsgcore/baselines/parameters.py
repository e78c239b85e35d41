"""Parameters shared by several baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Integer, Real, parameter_like
from dsgcore.kernels import KERNELS
from dsgcore.solver.parameters import SolverParameters

LAM = parameter_like(
    SolverParameters,
    "lam",
    usual=(1e-4, 10.0),
    label="Regularisation",
    sentence="Strength of the penalty on large weights.",
)
TOL = Real("tol", 1e-5, low=1e-9, high=0.1, scale="log", label="Tolerance")
MAX_ITER = Integer("max_iter", 100, low=1, high=100_000, label="Iterations at most")


# Options of `kernel` for methods whose features are kernels at centres. "lm" means the coordinates themselves.
FEATURES = ("lm", "linear", *KERNELS)


@dataclass(frozen=True)
class Prior(Real):
    """Share of a class, or "estimate"."""

    def allowed(self) -> str:
        """Return a description of the allowed values."""
        return f"{super().allowed()} or 'estimate'"

    def check(self, value: object) -> Any:
        """Return "estimate" unchanged, or `value` as a number; raise `ParameterError` if neither fits."""
        return value if isinstance(value, str) and value == "estimate" else super().check(value)


@dataclass(frozen=True)
class Centers(Integer):
    """Number of centres, or the centres themselves as an array of shape (m, d)."""

    def allowed(self) -> str:
        """Return a description of the allowed values."""
        return f"a whole number of {self.low} or more, None for all points, or an array of centres"

    def check(self, value: object) -> Any:
        """Return None, an int, or a float array; raise `ParameterError` otherwise."""
        if np.ndim(value) != 2:  # type: ignore[arg-type]
            return super().check(value)
        return np.asarray(value, dtype=float)


CENTERS = Centers(
    "centers",
    None,
    low=1,
    scale="log",
    usual=(100, 10_000),
    optional=True,
    label="Kernel centres",
    sentence="Number of training points, drawn at random, that carry a kernel. The default is all points.",
)


@dataclass(frozen=True)
class OneOrSeveral(Real):
    """Real number, or one for each cut of the ordered classes."""

    def allowed(self) -> str:
        """Return a description of the allowed values."""
        return f"{super().allowed()}, or a list of such numbers"

    def check(self, value: object) -> Any:
        """Return a float, or a tuple of floats; raise `ParameterError` otherwise."""
        if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) == 0:
            return super().check(value)
        if np.ndim(value) > 1:
            raise self.refuse(value)
        return tuple(super(OneOrSeveral, self).check(number) for number in value)


@dataclass(frozen=True)
class Priors(Prior, OneOrSeveral):
    """Shares of the classes above each cut, or "estimate"."""

    def allowed(self) -> str:
        """Return a description of the allowed values."""
        return f"{OneOrSeveral.allowed(self)}, or 'estimate'"


def for_each_cut(name: str, value: Any, cuts: int) -> tuple[Any, ...]:
    """Return a checked value for each of `cuts` cuts.

    Raise DSGError, with the `name`, if the number of values differs.
    """
    values = value if isinstance(value, tuple) else (value,) * cuts
    if len(values) != cuts:
        raise DSGError(f"{name} must be one number or {cuts}, one less than there are classes, got {len(values)}")
    return values

"""Parameters that several of the comparison methods have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsgcore.core.errors import DSGError
from dsgcore.core.kernels import KERNELS
from dsgcore.core.parameters import Integer, Real, as_in
from dsgcore.core.solver_parameters import SolverParameters

LAM = as_in(
    SolverParameters, "lam", usual=(1e-4, 10.0), label="Ridge", sentence="How strongly large weights are punished."
)
TOL = Real("tol", 1e-5, low=1e-9, high=0.1, scale="log", label="Tolerance")
MAX_ITER = Integer("max_iter", 100, low=1, high=100_000, label="Steps at most")


# What `kernel` may be where kernels at centres are features; "lm" is the coordinates themselves.
FEATURES = ("lm", "linear", *KERNELS)


@dataclass(frozen=True)
class Prior(Real):
    """A class's share, or "estimate"."""

    def allowed(self) -> str:
        """Say in words what is allowed."""
        return f"{super().allowed()} or 'estimate'"

    def check(self, value: object) -> Any:
        """Return `value` as it is if it is "estimate", else as a number, or raise `ParameterError`."""
        return value if isinstance(value, str) and value == "estimate" else super().check(value)


@dataclass(frozen=True)
class Centers(Integer):
    """How many centres, or the centres themselves as an array of shape (m, d)."""

    def allowed(self) -> str:
        """Say in words what is allowed."""
        return f"a whole number of {self.low} or more, None for all points, or an array of centres"

    def check(self, value: object) -> Any:
        """Return None, an int, or a float array; or raise `ParameterError`."""
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
    sentence="How many training points, drawn at random, carry a kernel; all of them where nothing is said.",
)


@dataclass(frozen=True)
class OneOrSeveral(Real):
    """A real number, or one for each place where ordered classes can be cut in two."""

    def allowed(self) -> str:
        """Say in words what is allowed."""
        return f"{super().allowed()}, or a list of such numbers"

    def check(self, value: object) -> Any:
        """Return a float, or a tuple of them; or raise `ParameterError`."""
        if not isinstance(value, list | tuple | np.ndarray):
            return super().check(value)
        return tuple(super(OneOrSeveral, self).check(number) for number in value)


@dataclass(frozen=True)
class Priors(Prior, OneOrSeveral):
    """Shares of the classes above each cut, or "estimate"."""

    def allowed(self) -> str:
        """Say in words what is allowed."""
        return f"{OneOrSeveral.allowed(self)}, or 'estimate'"


def for_each_cut(name: str, value: Any, cuts: int) -> tuple[Any, ...]:
    """Return a checked value for each of `cuts` cuts; raise DSGError, with the `name`, if there are fewer or more."""
    values = value if isinstance(value, tuple) else (value,) * cuts
    if len(values) != cuts:
        raise DSGError(f"{name} must be one number or {cuts}, one less than there are classes, got {len(values)}")
    return values

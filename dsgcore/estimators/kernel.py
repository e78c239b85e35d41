"""An estimator's kernel, from its own parameters: the default width "scale", and checks that the points suit it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import described
from dsgcore.core.parameters import Choice, Parameter, ParameterError, Real, parameter_like, parameters_of
from dsgcore.kernels import KERNELS, Gaussian, Kernel
from dsgcore.kernels.far_points import too_far, warn_of_rounding

SIGMA = parameter_like(Gaussian, "sigma")
_NAME = Choice("kernel", "gaussian", options=tuple(KERNELS))
# Meaning of "scale" for points of shape (n, d), by parameter, and also by kernel if a kernel has other units.
_SCALES: dict[str, Callable[[NDArray], float]] = {
    "sigma": lambda X: 1.0 / (X.shape[1] * X.var(dtype=float)),
    "length": lambda X: (X.shape[1] * X.var(dtype=float)) ** 0.5,
    "laplacian sigma": lambda X: 1.0 / (X.shape[1] * X.std(dtype=float)),
    "dot_product sigma": lambda X: len(X) / np.sum(np.square(X, dtype=float)),
}


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters:
    """Kernel parameters of an estimator: the kernel's name, and the parameters of all kernels.

    Parameters
    ----------
    kernel
        The kernel. The orthogonal Gaussian is the Gaussian with random features that cost less if d is several
        hundred or more. 'lm', if available, uses the coordinates themselves as features.
    sigma
        Inverse bandwidth of the Gaussian kernel exp(-sigma ||x - x'||^2) and of the Laplacian kernel exp(-sigma ||x -
        x'||_1). For the dot product kernel (sigma ⟨x, x'⟩)^power it is a scale. 'scale' is 1 / (n_features_in_ *
        X.var()) for the Gaussian kernel, 1 / (n_features_in_ * X.std()) for the Laplacian kernel, and 1 / mean ||x||^2
        for the dot product kernel.
    length
        Length scale of the Matérn kernel. 'scale' is sqrt(n_features_in_ * X.var()).
    nu
        Smoothness of the Matérn kernel.
    power
        Degree of the dot product kernel.
    """

    kernels: ClassVar[tuple[str, ...]] = tuple(KERNELS)

    kernel: str = described("gaussian", "one of {cls.kernels}", kw_only=False)
    sigma: float | Literal["scale"] = described("scale", f"{SIGMA.allowed()}, or 'scale'")
    length: float | Literal["scale"] = described("scale", f"{SIGMA.allowed()}, or 'scale'")
    nu: Literal["1/2", "3/2", "5/2"] = described("3/2", "one of '1/2', '3/2', '5/2'")
    power: Literal[1, 3, 5, "1", "3", "5"] = described(3, "1, 3 or 5")


def width(parameter: Parameter, value: object, X: NDArray, kernel: str = "gaussian") -> float:
    """Return a kernel's sigma or length, checked; "scale" becomes a number that depends on the points X (n, d).

    The kernel's own parameter gives the range. Raise `ParameterError` if a value or "scale" is out of it.
    """
    if not isinstance(value, str):
        return parameter.check(value)
    if value != "scale":
        raise ParameterError(f"{parameter.name} must be a positive number or 'scale', got {value!r}")
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = _SCALES.get(f"{kernel} {parameter.name}", _SCALES[parameter.name])
        scaled = float(scale(X))
    # the other branch squares the values, which would overflow
    of_no_spread = 0.0 if parameter.name == "length" else np.inf
    if scaled == of_no_spread and X.min() == X.max():  # all coordinates are the same number: any width will do
        scaled = 1.0
    assert isinstance(parameter, Real)
    if not parameter.low <= scaled <= parameter.high:
        raise ParameterError(
            f"{parameter.name}='scale' is {scaled:.3g} for these points, but must be {parameter.allowed()}: scale them"
        )
    return scaled


def make_kernel(estimator: Any, X: NDArray) -> Kernel:
    """Return an estimator's kernel, from its checked parameters. "scale" depends on the points X (n, d)."""
    name = _NAME.check(estimator.kernel)
    kind: type = KERNELS[name]
    given = {}
    for p in parameters_of(kind):
        value = getattr(estimator, p.name)
        # power=3 is accepted like "3"
        given[p.name] = p.check(str(value)) if isinstance(p, Choice) else width(p, value, X, name)
    return kind(**given)


def check_near(estimator: Any, kernel: Kernel, X: NDArray, dtype: np.dtype) -> None:
    """Raise if a kernel overflows at points (n, d), and warn of coordinates that are rounded too much."""
    if np.isfinite(kernel.bound):
        if said := too_far(X, kernel):
            raise ParameterError(said)
        warn_of_rounding(X, kernel, dtype, getattr(estimator, "feature_names_in_", None))
        return
    with np.errstate(over="ignore"):
        largest = X[np.argmax(np.einsum("ij,ij->i", X, X))][None].astype(float)
        value = float(kernel.matrix(largest, largest)[0, 0])
    if not value <= float(np.finfo(dtype).max):
        raise ParameterError(
            f"kernel {kernel.name!r} overflows {dtype} at these points, where it reaches {value:.3g}: "
            "take a smaller sigma or power, or scale the points"
        )

"""The kernel that an estimator's own parameters make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from dsgcore.core.kernels import KERNELS, Kernel
from dsgcore.core.parameters import Choice
from dsgcore.estimators.inputs import width


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters:
    """What an estimator says of its kernel: its name, and the parameters of all kernels."""

    kernel: str = field(default="gaussian", kw_only=False)
    sigma: float | str = "scale"
    length: float | str = "scale"
    nu: str = "3/2"
    power: int | str = 3


def make_kernel(name: str, estimator: Any, X: NDArray) -> Kernel:
    """Return the kernel of a name with the estimator's parameters, checked; "scale" follows the points.

    Parameters
    ----------
    name : str
        One of `KERNELS`.
    estimator : object
        Has the kernel's parameters as attributes.
    X : ndarray of shape (n, d)

    Raises
    ------
    ParameterError
        If a parameter is out of range, or "scale" leads out of range.
    """
    kind, given = KERNELS[name], {}
    for p in kind.parameters:
        value = getattr(estimator, p.name)
        # power=3 is as good as "3".
        given[p.name] = p.check(str(value)) if isinstance(p, Choice) else width(p, value, X, name)
    return kind(**given)

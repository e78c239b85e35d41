"""Points far from the origin, whose kernel features are not finite or whose coordinates are rounded too much."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import SHARE_OF_WIDTH
from dsgcore.kernels.kernels import Kernel

# Beyond so many widths from the origin, no precision resolves a bounded kernel. In float32 its features overflow soon
# after.
MOST_WIDTHS = 2.0**64
# Fourth powers of such numbers, and sums of very many of them, stay within float64.
LARGEST = 1e70


class ResolutionWarning(UserWarning):
    """Warning that coordinates are so large that rounding steps come near the kernel's width."""


def too_far(X: NDArray, kernel: Kernel, first: int = 0) -> str:
    """Return a message if one of the points (n, d) is out of a bounded kernel's reach; else an empty text.

    The rows are counted from `first`.
    """
    limit = MOST_WIDTHS * (kernel.width or 1.0)
    if not np.isfinite(kernel.bound) or not _largest(X, None) > limit:
        return ""
    with np.errstate(invalid="ignore"):
        row, column = np.argwhere(np.abs(X) > limit)[0]
    return (
        f"X[{row + first}, {column}] must be of size {limit:.3g} at most for this {kernel.name!r} kernel, "
        f"got {X[row, column]:.3g}: scale the points"
    )


def overflowing(X: NDArray, values: NDArray, kernel: Kernel) -> str:
    """Return a message with the first point at which an unbounded kernel overflows; else an empty text."""
    rows = np.flatnonzero(~np.isfinite(values))
    if not len(rows) or np.isfinite(kernel.bound):
        return ""
    with np.errstate(over="ignore", invalid="ignore"):
        points = X[rows].astype(float)
        row = np.argmax(np.einsum("ij,ij->i", points, points))
        size = float(kernel.matrix(points[row][None], points[row][None])[0, 0])
    if size <= float(np.finfo(values.dtype).max) or np.isnan(points).any():
        return ""
    return f"X[{rows[row]}] is so far away that the kernel {kernel.name!r} overflows {values.dtype} there: scale the points"


def warn_of_rounding(X: NDArray, kernel: Kernel, dtype: np.dtype, names: Sequence[str] | None = None) -> None:
    """Warn if the precision rounds a column of the points (n, d) to steps that the kernel would distinguish."""
    said = rounded_columns(X, kernel, dtype, names)
    if said:
        warnings.warn(
            f'{said}: points that differ by less become equal. Give the points in float64 with dtype="float64", or subtract '
            "each column's mean first.",
            ResolutionWarning,
            stacklevel=3,
        )


def rounded_columns(X: NDArray, kernel: Kernel, dtype: np.dtype, names: Sequence[str] | None = None) -> str:
    """Return a message that names the columns of the points (n, d) that are rounded too much; else an empty text."""
    width, eps = kernel.width, float(np.finfo(dtype).eps)
    limit = np.inf if width is None else SHARE_OF_WIDTH * width / eps
    if not len(X) or not _largest(X, None) > limit:
        return ""
    sizes = _largest(X, 0)
    columns = np.flatnonzero(sizes > limit)
    called = [str(column) if names is None else repr(str(names[column])) for column in columns[:3]]
    more = f" and {len(columns) - 3} more" if len(columns) > 3 else ""
    largest = float(sizes[columns].max())
    return (
        f"column{'s' * (len(columns) > 1)} {', '.join(called)}{more} of X hold{'s' * (len(columns) == 1)} numbers of size "
        f"{largest:.3g}, which {dtype} rounds to steps of {eps * largest:.2g}, and the kernel's width is {width:.2g}"
    )


def _largest(X: NDArray, axis: int | None) -> NDArray:
    """Return the largest absolute value, without a copy of the points; 0 if there are none."""
    return np.maximum(X.max(axis=axis, initial=0), -X.min(axis=axis, initial=0))


def check_values(values: NDArray) -> NDArray:
    """Return a model's values (n,) or (n, k) at points; raise DSGError if one is not finite and so gives no class."""
    is_finite = np.isfinite(values)
    if not is_finite.all():
        row = np.argwhere(~is_finite)[0, 0]
        raise DSGError(f"X[{row}] is so far away that the model's value there is no finite number: scale the points")
    return values


def check_sizes(X: NDArray) -> None:
    """Raise DSGError if a coordinate of the points (n, d) is so large that sums of squared distances overflow float64."""
    if _largest(X, None) > LARGEST:
        row, column = np.argwhere(np.abs(X) > LARGEST)[0]
        raise DSGError(
            f"X[{row}, {column}] must be of size {LARGEST:g} at most, for its squares must not overflow float64, "
            f"got {X[row, column]:.3g}: scale the points"
        )

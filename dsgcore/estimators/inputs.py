"""What all estimators do with their arguments: seeds, labels with -1 among them, widths that follow the points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Parameter, ParameterError, Real
from dsgcore.core.problem import UNLABELED
from dsgcore.core.sampling import MAX_SEED
from dsgcore.data.reading.unlabeled import is_minus_one, labels_given

# Up to here float32 holds all whole numbers.
EXACT_IN_FLOAT32 = 2.0**24
# What "scale" means, for points of shape (n, d): by parameter, and where a kernel's units are others, by kernel too.
_SCALES: dict[str, Callable[[NDArray], float]] = {
    "sigma": lambda X: 1.0 / (X.shape[1] * X.var(dtype=float)),
    "length": lambda X: (X.shape[1] * X.var(dtype=float)) ** 0.5,
    "laplacian sigma": lambda X: 1.0 / (X.shape[1] * X.std(dtype=float)),
    "dot_product sigma": lambda X: len(X) / np.sum(np.square(X, dtype=float)),
}


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that `random_state` stands for: itself, a draw from the generator, or any (None)."""
    if isinstance(random_state, int | np.integer) and 0 <= random_state <= MAX_SEED:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def width(parameter: Parameter, value: object, X: NDArray, kernel: str = "gaussian") -> float:
    """Return a kernel's sigma or length, checked; "scale" becomes a number that follows the units of the points X (n, d).

    The parameter is the kernel's own, with its range: `ParameterError` where a value or "scale" leads out of it.
    """
    if not isinstance(value, str):
        return parameter.check(value)
    if value != "scale":
        raise ParameterError(f"{parameter.name} must be a positive number or 'scale', got {value!r}")
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = _SCALES.get(f"{kernel} {parameter.name}", _SCALES[parameter.name])
        scaled = float(scale(X))
    of_no_spread = 0.0 if parameter.name == "length" else np.inf  # the other one is that of squares which overflow
    if scaled == of_no_spread:  # all coordinates are the same number: any width will do
        scaled = 1.0
    assert isinstance(parameter, Real)
    if not parameter.low <= scaled <= parameter.high:
        raise ParameterError(
            f"{parameter.name}='scale' is {scaled:.3g} for these points, but must be {parameter.allowed()}: scale them"
        )
    return scaled


def float_types(X: Any) -> list[type[np.floating]]:
    """Return the types in which points are validated; the first one is for points of any other type.

    That is float32, unless they hold whole numbers beyond 2^24: float32 rounds those.
    """
    types: list[type[np.floating]] = [np.float32, np.float64]
    return types[::-1] if _is_rounded(X) else types


def _is_rounded(X: Any) -> bool:
    if getattr(X, "dtype", None) in (np.float32, np.float64):
        return False
    if hasattr(X, "dtypes") and any(getattr(dtype, "kind", "O") not in "iu" for dtype in X.dtypes):
        return False  # it becomes float64, or holds no numbers
    try:
        values = np.asarray(X)
        values = values.astype(float) if values.dtype == object and values.ndim == 2 else values
    except (TypeError, ValueError):  # no numbers, or rows of different lengths: the validation has its own sentence
        return False
    is_wide = values.dtype.kind in "iuf" and values.dtype.itemsize >= 4 and values.size > 0
    return bool(is_wide and max(float(values.max()), -float(values.min())) > EXACT_IN_FLOAT32)


def encode(y: Any, classes: NDArray | None = None, *, is_ordered: bool = False) -> tuple[NDArray, NDArray]:
    """Return the classes (k,), and each label's place among them (n,), -1 for unlabeled.

    Missing labels, and -1 as a number or as text, are unlabeled: `dsgcore.data.reading.unlabeled.labels_given` says more. The
    classes are by default the sorted labels, or if they have an order (`is_ordered`) pandas' ordered categories in theirs. Raises
    `DSGError` if labels are no classes (continuous ones, for instance), or one is not among `classes`.
    """
    given = labels_given(y, has_minus_one=classes is not None and bool(is_minus_one(classes).any()))
    order = classes if classes is not None or not is_ordered else given.order
    if order is None:
        classes, known = np.unique(given.values, return_inverse=True)
        return classes, _codes(given.is_labeled, known, len(classes))
    labels, sought = _alike(given.values, order)
    unknown = ~np.isin(labels, sought)
    if unknown.any():
        wrong = given.values[int(np.argmax(unknown))]
        raise DSGError(f"y must hold the classes {_listed(order)}, or -1 for unlabeled points, got {wrong!s}")
    by_size = np.argsort(sought)
    return order, _codes(given.is_labeled, by_size[np.searchsorted(sought[by_size], labels)], len(order))


def _alike(labels: NDArray, classes: NDArray) -> tuple[NDArray, NDArray]:
    """Return labels and classes as they can be compared: NumPy compares signed and unsigned numbers as floats."""
    are_mixed = {labels.dtype.kind, classes.dtype.kind} == {"i", "u"}
    return (labels.astype(object), classes.astype(object)) if are_mixed else (labels, classes)


def _codes(is_labeled: NDArray, known: NDArray, n_classes: int) -> NDArray:
    """Return the classes' numbers, -1 for unlabeled: of as few bytes as hold them, for the points may be very many."""
    codes = np.full(len(is_labeled), UNLABELED, dtype=np.min_scalar_type(-max(1, n_classes)))
    codes[is_labeled] = known
    return codes


def known_classes(given: ArrayLike | None, earlier: NDArray | None, y: object = None, *, is_sorted: bool) -> NDArray:
    """Return the classes (k,) of a call to `partial_fit`: those given at the first one, sorted or in the order given.

    -1 among them is left out, as in ``numpy.unique(y)`` of labels with unlabeled points, unless it is a class in `y`. Raises
    `DSGError` if the first call says nothing, or a later one something else than was learned `earlier`.
    """
    if given is None:
        if earlier is None:
            raise DSGError("classes must be passed on the first call to partial_fit")
        return earlier
    labels = labels_given(given, has_minus_one=isinstance(y, np.ma.MaskedArray)).values
    if is_sorted:
        labels = np.unique(labels)
    if earlier is not None and not np.array_equal(labels, earlier):
        raise DSGError(f"classes must be those of the first call, {_listed(earlier)}, got {_listed(labels)}")
    return labels


def _listed(classes: NDArray) -> str:
    return ", ".join(str(label) for label in classes)

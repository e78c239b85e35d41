"""What all estimators do with their arguments: seeds, labels with -1 among them, widths that follow the points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Parameter, ParameterError, Real
from dsgcore.core.problem import UNLABELED
from dsgcore.core.sampling import MAX_SEED

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
    with np.errstate(divide="ignore", over="ignore"):
        scale = _SCALES.get(f"{kernel} {parameter.name}", _SCALES[parameter.name])
        scaled = float(scale(X))
    if scaled == 0.0 or scaled == np.inf:  # all coordinates are the same number: any width will do
        scaled = 1.0
    assert isinstance(parameter, Real)
    if not parameter.low <= scaled <= parameter.high:
        raise ParameterError(
            f"{parameter.name}='scale' is {scaled:.3g} for these points, but must be {parameter.allowed()}: scale them"
        )
    return scaled


def encode(y: NDArray, classes: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Return the classes (k,), and each label's place among them (n,), -1 for unlabeled.

    The classes in their order are by default the sorted labels; -1 marks unlabeled points (in an object array where labels are
    text). ValueError where labels are no classes (continuous ones, for instance), or one is not among `classes`.
    """
    is_labeled = np.ones(len(y), dtype=bool) if y.dtype.kind in "US" else y != UNLABELED
    labels = np.array(y[is_labeled].tolist()) if y.dtype == object else y[is_labeled]
    if len(labels):
        check_classification_targets(labels)
    if classes is None:
        classes, known = np.unique(labels, return_inverse=True)
        return classes, _codes(is_labeled, known, len(classes))
    unknown = labels[~np.isin(labels, classes)]
    if len(unknown):
        raise DSGError(f"y must hold the classes {_listed(classes)}, or -1 for unlabeled points, got {unknown[0]!s}")
    order = np.argsort(classes)
    return classes, _codes(is_labeled, order[np.searchsorted(classes[order], labels)], len(classes))


def _codes(is_labeled: NDArray, known: NDArray, n_classes: int) -> NDArray:
    """Return the classes' numbers, -1 for unlabeled: of as few bytes as hold them, for the points may be very many."""
    codes = np.full(len(is_labeled), UNLABELED, dtype=np.min_scalar_type(-max(1, n_classes)))
    codes[is_labeled] = known
    return codes


def ordered_labels(y: ArrayLike) -> tuple[ArrayLike, NDArray | None]:
    """Return labels of pandas' ordered categories as they are in an object array, and the categories in their order.

    Missing labels become -1, and categories without a point are left out. Of all other labels: themselves, and None.
    """
    given: Any = y
    if not getattr(getattr(y, "dtype", None), "ordered", False):
        return y, None
    categories = np.asarray(given.dtype.categories, dtype=object)
    codes = np.asarray(getattr(given, "cat", given).codes)
    labels = np.where(codes < 0, UNLABELED, categories[codes])
    classes = [category for code, category in enumerate(categories) if category != UNLABELED and (codes == code).any()]
    return labels, np.array(classes)


def known_classes(given: ArrayLike | None, earlier: NDArray | None, *, is_sorted: bool) -> NDArray:
    """Return the classes (k,) of a call to `partial_fit`: those given at the first one, sorted or in the order given.

    ValueError where the first call says nothing, or a later one something else than was learned `earlier`.
    """
    if given is None:
        if earlier is None:
            raise DSGError("classes must be passed on the first call to partial_fit")
        return earlier
    labels = np.ravel(np.asarray(given))
    if labels.dtype.kind not in "US":
        labels = np.array(labels[labels != UNLABELED].tolist())  # as in np.unique(y) of a y with unlabeled points
    if is_sorted:
        labels = np.unique(labels)
    if earlier is not None and not np.array_equal(labels, earlier):
        raise DSGError(f"classes must be those of the first call, {_listed(earlier)}, got {_listed(labels)}")
    return labels


def _listed(classes: NDArray) -> str:
    return ", ".join(str(label) for label in classes)

"""Similar pairs as the solver wants them, points with pair ids: from ids, from an array of pairs, or from labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from dsgcore.core.errors import DSGError
from dsgcore.core.problem import UNLABELED
from dsgcore.core.sampling import generator
from dsgcore.data.anywhere import Rows, opened
from dsgcore.estimators.elsewhere import validated


def pair_ids(y: NDArray) -> NDArray:
    """Return `y` (n,) as whole numbers, or raise DSGError; the problem checks whether they are pairs."""
    if y.dtype == object:
        y = np.array(y.tolist())
    if y.dtype.kind not in "iuf" or (y.dtype.kind == "f" and (y != np.floor(y)).any()):
        raise DSGError(
            "y must hold pair ids: whole numbers, the same for the two members of a similar pair, and -1 for unlabeled "
            "points; for class labels there is y_holds='classes'"
        )
    return y.astype(np.int64)


def stacked(members: NDArray, unlabeled: NDArray) -> tuple[NDArray, NDArray]:
    """Return all points, of shape (2 n_S + n_U, d), and their pair ids; the members come two after two."""
    points = np.concatenate([members, unlabeled]).astype(unlabeled.dtype, copy=False)
    return points, ids_of_stacked(len(members), len(unlabeled))


def ids_of_stacked(n_members: int, n_unlabeled: int) -> NDArray:
    """Return pair ids of so many members, two after two, and of the unlabeled points after them."""
    return np.concatenate([np.arange(n_members) // 2, np.full(n_unlabeled, UNLABELED)])


def members_of(pairs: ArrayLike, d: int) -> NDArray:
    """Return the members of pairs (n_S, 2, d) or (2 n_S, d) two after two, of shape (2 n_S, d).

    ValueError where the shape is another one, there is no pair, or a number is not finite.
    """
    shape = np.shape(pairs)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[1] != 2) or shape[-1] != d:
        raise DSGError(f"pairs must have the shape (n_S, 2, {d}) or (2 n_S, {d}), got {shape}")
    if len(shape) == 2 and shape[0] % 2:
        raise DSGError(f"pairs must hold an even number of points, two for each pair, got {shape[0]}")
    if not shape[0]:
        raise DSGError("similar-unlabeled learning needs at least one similar pair, got none")
    return check_array(np.reshape(pairs, (-1, d)), dtype=[np.float64, np.float32], input_name="pairs")


def points_and_labels(
    estimator: Any, X: ArrayLike, y: ArrayLike | None, pairs: ArrayLike | None, *, holds_pairs: bool, **options: Any
) -> tuple[NDArray, NDArray]:
    """Validate what `fit` was given: all points with pair ids or classes, or unlabeled points alone with the similar pairs.

    Returns points and labels, which are pair ids or classes: `holds_pairs` says what `y` would hold. The options are those of
    scikit-learn's `validate_data`, which sets or checks the estimator's `n_features_in_`.
    """
    X, y = opened(X, y)
    if pairs is None:
        return validated(estimator, X, y, **options)
    if y is not None:
        raise DSGError("give either y or pairs, got both; with pairs, X holds the unlabeled points alone")
    if not holds_pairs:
        raise DSGError(f"pairs go with y_holds='pairs' only, got y_holds={estimator.y_holds!r}")
    if isinstance(X, Rows):
        raise DSGError("pairs go with points in memory: give the points of the pairs as rows, and pair ids in y")
    unlabeled = validate_data(estimator, X, **options)
    return stacked(members_of(pairs, unlabeled.shape[1]), unlabeled)


def drawn_members(codes: NDArray, seed: int) -> NDArray:
    """Draw similar pairs from labeled points, half as many, and return their members' row numbers two after two.

    Of class codes (n,), with -1 for unlabeled. Two independent labeled points are both of class c with probability share_c^2,
    so a pair's class is drawn in proportion to that, and its members from the class, with replacement.
    """
    rng = generator(seed, "similar pairs")
    rows = [np.flatnonzero(codes == code) for code in (0, 1)]
    negative, positive = (len(own) for own in rows)
    is_positive = rng.random((negative + positive) // 2) < positive**2 / (positive**2 + negative**2)
    size = np.where(is_positive, positive, negative)
    places = (rng.random((len(size), 2)) * size[:, None]).astype(np.intp)
    members = np.where(is_positive[:, None], rows[1][places % positive], rows[0][places % negative])
    return members.ravel()

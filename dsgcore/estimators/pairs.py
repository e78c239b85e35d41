"""Similar pairs in the solver's form, points with pair ids: from ids, from row numbers or points of pairs, or from labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import generator
from dsgcore.data.reading.unlabeled import check_exact, numbers_given
from dsgcore.data.rows import Rows, opened
from dsgcore.estimators.classes import check_classes
from dsgcore.estimators.inputs import encode, float_types, taken, validated
from dsgcore.prior import MAX_POINTS, drawn_rows, similar_class_prior
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.problem import UNLABELED, unlabeled_rows


def pair_ids(y: Any) -> NDArray:
    """Return `y` (n,) as whole numbers, -1 if one is missing; the problem checks that they form pairs.

    Raise `DSGError` if they are no whole numbers. Numbers beyond int64 are replaced by their ranks.
    """
    given = numbers_given(y)
    own = given.values
    if len(own) and (own.dtype.kind not in "iufO" or (own.dtype.kind == "f" and (own != np.floor(own)).any())):
        raise DSGError(
            "y must hold pair ids: whole numbers, the same for the two members of a similar pair, and -1 for unlabeled "
            "points; pass y_holds='classes' for class labels"
        )
    check_exact(own, "y")
    ids = np.full(len(given.is_labeled), UNLABELED, dtype=np.int64)
    is_large = own.dtype.kind == "O" or (own.dtype.kind == "u" and len(own) > 0 and own.max() >= 2**63)
    ids[given.is_labeled] = np.unique(own, return_inverse=True)[1] if is_large else own
    return ids


def ids_of_stacked(n_members: int, n_unlabeled: int) -> NDArray:
    """Return the pair ids of this many members, with adjacent pairs, and of the unlabeled points after them."""
    return np.concatenate([np.arange(n_members) // 2, np.full(n_unlabeled, UNLABELED)])


def points_and_labels(
    estimator: Any,
    X: Any,
    y: ArrayLike | None,
    pairs: ArrayLike | None,
    known: NDArray | None = None,
    *,
    holds_pairs: bool,
    reset: bool = True,
    dtype: Any = None,
) -> tuple[NDArray, NDArray | None, NDArray]:
    """Validate the arguments of `fit`: all points with pair ids or classes, or unlabeled points and similar pairs.

    Return the points, and either None and pair ids, or the classes (`known`, or those in `y`) and their codes.
    `holds_pairs` is True if `y` holds pair ids. `reset` and `dtype` are those of scikit-learn's `validate_data`. By
    default the points are float32 or float64.
    """
    X, y = opened(X, y, "pairs" if holds_pairs else "classes")
    if pairs is None:
        classes, codes = (None, pair_ids(y)) if holds_pairs else encode(y, known)
        points, codes = validated(estimator, X, codes, reset=reset, dtype=dtype)
        return points, classes, codes
    if y is not None:
        raise DSGError("give either y or pairs, got both; with pairs, X holds the unlabeled points alone")
    if not holds_pairs:
        raise DSGError(f"pairs go with y_holds='pairs' only, got y_holds={estimator.y_holds!r}")
    rows, n = np.asarray(pairs), len(X)
    if rows.ndim == 2 and rows.shape[1] == 2 and rows.dtype.kind in "iu" and len(rows):  # row numbers
        if rows.min() < 0 or rows.max() >= n:
            wrong = rows.min() if rows.min() < 0 else rows.max()
            raise DSGError(f"pairs of shape (m, 2) must hold row numbers of X, from 0 to {n - 1}, got {wrong}")
        if (itself := rows[:, 0] == rows[:, 1]).any():
            raise DSGError(f"pairs must hold two different rows each, got row {rows[itself][0, 0]} twice")
        rows = rows.astype(np.intp)
        points, _ = validated(estimator, X, np.full(n, UNLABELED), reset=reset, dtype=dtype)
        others = np.setdiff1d(np.arange(n), rows)
        return taken(points, np.concatenate([rows.ravel(), others])), None, ids_of_stacked(rows.size, len(others))
    if isinstance(X, Rows):
        raise DSGError("pairs of points in files are row numbers, whole numbers of shape (m, 2), or pair ids in y")
    unlabeled = validate_data(estimator, X, reset=reset, dtype=dtype or float_types(X))
    shape, d = np.shape(pairs), unlabeled.shape[1]
    if len(shape) in (2, 3) and not shape[0]:
        raise DSGError("similar-unlabeled learning needs at least one similar pair, got none")
    if len(shape) != 3 or shape[1:] != (2, d):
        raise DSGError(
            f"pairs must hold the points of the pairs, of shape (m, 2, {d}), or row numbers of X, whole numbers of shape "
            f"(m, 2), got the shape {shape}" + f" of type {rows.dtype}" * (len(shape) == 2)
        )
    members = check_array(np.reshape(pairs, (-1, d)), dtype=[np.float64, np.float32], input_name="pairs")
    points = np.concatenate([members, unlabeled]).astype(unlabeled.dtype, copy=False)  # members of a pair are adjacent
    return points, None, ids_of_stacked(len(members), len(unlabeled))


def drawn_members(codes: NDArray, seed: int) -> NDArray:
    """Draw similar pairs from labeled points, half as many as these, and return the row numbers of their members.

    The codes (n,) are classes, with -1 for unlabeled. Two independent labeled points are both in class c with
    probability share_c^2. So a pair's class is drawn in proportion to that, and its members from the class, with
    replacement.
    """
    rng = generator(seed, "similar pairs")
    rows = [np.flatnonzero(codes == code) for code in (0, 1)]
    negative, positive = (len(own) for own in rows)
    is_positive = rng.random((negative + positive) // 2) < positive**2 / (positive**2 + negative**2)
    size = np.where(is_positive, positive, negative)
    places = (rng.random((len(size), 2)) * size[:, None]).astype(np.intp)
    members = np.where(is_positive[:, None], rows[1][places % positive], rows[0][places % negative])
    return members.ravel()


def pairs_and_prior(
    X: Any, classes: NDArray | None, codes: NDArray, prior: Any, seed: int
) -> tuple[Any, NDArray, NDArray, float]:
    """Return points with pair ids, both classes, and the share of positives, which `prior` gives or wants to be estimated.

    From classes draw similar pairs, the same ones for a seed. Without classes the codes are pair ids already.
    """
    if classes is None:
        if prior == "estimate":  # the larger class's share, from only the rows that the estimate uses
            rows, names = SimilarUnlabeled().rows(codes), {"similar": "component", "unlabeled": "mixture"}
            some = (X[rows[s][drawn_rows(len(rows[s]), MAX_POINTS, seed, name)]] for s, name in names.items())
            prior = similar_class_prior(*some, seed=seed)
        return X, codes, np.array([0, 1]), prior
    check_classes(classes, codes, is_binary=True)
    is_labeled = codes != UNLABELED
    members, unlabeled = drawn_members(codes, seed), unlabeled_rows(~is_labeled)
    points = taken(X, np.concatenate([members, unlabeled]))
    share = float(np.mean(codes[is_labeled])) if prior == "estimate" else prior
    return points, ids_of_stacked(len(members), len(unlabeled)), classes, share

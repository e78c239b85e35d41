"""TSGSU as a scikit-learn estimator, and similar pairs in the solver's form: from ids, rows or points of pairs, or from labels."""

from __future__ import annotations

from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import validate_data

from dsgcore.core.documented import estimator
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, like, parameter_like
from dsgcore.core.sampling import generator
from dsgcore.data.parts import Rows
from dsgcore.data.reading.unlabeled import check_exact, numbers_given
from dsgcore.data.rows import opened
from dsgcore.estimators.base import BinaryEstimator, Callback
from dsgcore.estimators.classes import check_classes
from dsgcore.estimators.inputs import (
    all_or_nothing,
    encode,
    float_types,
    in_memory,
    known_classes,
    seed_of,
    taken,
    validated,
)
from dsgcore.kernels.kernels import check_unmasked
from dsgcore.prior import MAX_POINTS, drawn_rows, similar_class_prior
from dsgcore.problems import Problem
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.checkpoint import EVERY, Checkpoint
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.problem import UNLABELED, rows_where
from dsgcore.solver.start import START
from dsgcore.solver.task import SAMPLING


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
    check_unmasked(pairs, "pairs")
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
    unlabeled = validate_data(estimator, in_memory(X), reset=reset, dtype=dtype or float_types(X))
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
    members, unlabeled = drawn_members(codes, seed), rows_where(~is_labeled, or_all=True)
    points = taken(X, np.concatenate([members, unlabeled]))
    share = float(np.mean(codes[is_labeled])) if prior == "estimate" else prior
    return points, ids_of_stacked(len(members), len(unlabeled)), classes, share


PRIOR = parameter_like(SimilarUnlabeled, "prior", words=("estimate",))
Y_HOLDS = Choice("y_holds", "pairs", options=("pairs", "classes")).called(
    "What y holds", "Pair ids, or classes from which similar pairs are drawn."
)


@estimator
class TSGSU(BinaryEstimator):
    """Classification from similar pairs and unlabeled points, by triply stochastic gradients.

    The two points of a similar pair have the same class, but the class itself is unknown. A classifier can be learned
    from such pairs, unlabeled points, and the share of positives among the unlabeled points. Each iteration draws a
    mini-batch of members of pairs and one of unlabeled points, and new random features of the kernel.

    Parameters
    ----------
    y_holds
        Meaning of `y`. 'pairs': pair ids, whole numbers >= 0, the same for the two members of a similar pair; -1 for
        unlabeled points. 'classes': labels of two classes, and -1 for unlabeled points. Similar pairs are then drawn
        from the labeled points, half as many as these, and the labels are not used further. This is for comparisons,
        cross-validation and grid search on labeled data. If no point is unlabeled, all points serve as the unlabeled
        sample.
    prior
        Share of positives among the unlabeled points, not within 0.001 of 1/2. Pairs do not show which class is
        positive. The prior decides that: above 1/2, the more frequent class is positive. 'estimate' for pairs gives
        the larger class's share by mixture proportion estimation. That is only a first guess and mostly too large (see
        `dsgcore.prior.similar_class_prior`), so give the share if you know it. 'estimate' for classes gives the share
        of the second class among the labels. The estimate is made once, at the first call.
    lam
        Ridge. 'auto' is (1 / number of points in pairs + 1 / number of unlabeled ones) / 4 / (2 prior - 1)^2, because the noise of
        both sources adds, and grows by the last factor.
    n_iter
        Number of iterations T: the maximum for `fit`, the exact number for one call of `partial_fit`.
    batch_size
        Number of points that each iteration draws from each source.
    start
        Start of the run. None is 0, as in the paper. 'exact' gives the first iteration more features, and the exact
        solution on them for some hundred points. All later iterations are the paper's. The run still starts at 0 if
        the loss has no such solution, or if the kernel's features are not cosines.
    correction
        Correction of a class's estimated risk below zero. 'identity' does nothing. The others depend on the sign of
        the batch's own estimate. That sign is mostly chance if batches are small or the prior is near 1/2, so use
        large batches.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the second one positive. [0, 1] if `y` holds pairs (-1 means unlabeled here, not negative).
    prior_ : float
        The share of positives that was used.

    Notes
    -----
    Source: W. Shi, B. Gu, X. Li, C. Deng and H. Huang, Triply stochastic gradient method for large-scale nonlinear
    similar unlabeled classification, Machine Learning, 2021, (8), (17)-(19), (25) and Algorithms 1 and 2. See
    `dsgcore.problems.similar_unlabeled.SimilarUnlabeled` for the objective and for deviations from the paper.

    The paper's theorem is for the schedule "theta/sqrt(T)".

    If both classes have the same share, pairs carry no information. The same holds for pairs drawn from labels with
    equal shares. So "classes" needs labels with the shares of the unlabeled points.

    Examples
    --------
    >>> import numpy as np
    >>> from dsgcore import TSGSU
    >>> rng = np.random.default_rng(0)
    >>> classes = (rng.random(500) < 0.7).astype(int)
    >>> X = rng.normal(size=(500, 2)) + 3 * classes[:, None]
    >>> of_pairs = np.repeat(rng.random(100) < 0.7**2 / (0.7**2 + 0.3**2), 2)
    >>> pairs = (rng.normal(size=(200, 2)) + 3 * of_pairs[:, None]).reshape(100, 2, 2)
    >>> model = TSGSU(prior=0.7, random_state=0).fit(X, pairs=pairs)
    >>> model.score(X, classes) > 0.9
    True
    """

    problem_class: ClassVar[type[SimilarUnlabeled]] = SimilarUnlabeled

    start: Literal["exact"] | None = like(START)
    sampling: Literal["independent", "shuffled"] = like(SAMPLING)
    y_holds: Literal["pairs", "classes"] = like(Y_HOLDS)
    prior: float | Literal["estimate"] = like(PRIOR, "estimate")
    loss: Literal["squared", "double hinge", "logistic"] = like(SimilarUnlabeled, "loss")
    correction: Literal["absolute value", "ReLU", "leaky ReLU", "identity"] = like(
        SimilarUnlabeled, "correction", default="identity"
    )
    n_iter: int = like(SolverParameters, "n_iter", default=800)
    batch_size: int = like(SolverParameters, "batch_size", default=256)
    leak: float = like(SimilarUnlabeled, "leak")

    def __sklearn_tags__(self) -> Tags:
        """Declare that the method cannot learn from classes of equal share, such as those of scikit-learn's checks."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        checkpoint: str | PathLike[str] | None = None,
        every: int = 50,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from similar pairs and unlabeled points.

        Parameters
        ----------
        X : array-like of shape (n, d), or as in `dsgcore.QSGS2AUC`
            Points, or their location. If `pairs` holds points, X holds the unlabeled points alone.
        y : array-like of shape (n,) or str, optional
            Pair ids or classes (see `y_holds`), and -1 for unlabeled points.
        pairs : array-like of shape (m, 2) or (m, 2, d), optional
            Similar pairs, instead of `y`. Whole numbers of shape (m, 2) are rows of `X`, whose other rows are the unlabeled
            points. An array of shape (m, 2, d) holds the points of the pairs themselves.
        checkpoint, every, callback
            As in `dsgcore.QSGS2AUC.fit`: a file to continue the run from, and a callback.

        Raises
        ------
        ValueError
            If a parameter is out of range (for instance a prior too close to 1/2), if an id does not occur exactly
            twice, if there are no pairs or no unlabeled points, or if the run diverges.
        """
        found = points_and_labels(self, X, y, pairs, holds_pairs=Y_HOLDS.check(self.y_holds) == "pairs")
        return self._train(*self._drawn(*found), Checkpoint(checkpoint, EVERY.check(every)), callback)

    @all_or_nothing
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
    ) -> Self:
        """Continue for `n_iter` more iterations, as `QSGS2AUC.partial_fit` does, with the prior of the first call.

        Parameters
        ----------
        X, y, pairs
            As in `fit`.
        classes : array-like of shape (2,), optional
            Both classes. The first call needs them if `y` holds classes.

        Returns
        -------
        self
        """
        is_first, holds_pairs = not hasattr(self, "iterate_"), Y_HOLDS.check(self.y_holds) == "pairs"
        known = known_classes(
            [0, 1] if holds_pairs else classes, None if is_first else self.classes_, y, is_sorted=True
        )
        found = points_and_labels(self, X, y, pairs, known, holds_pairs=holds_pairs, reset=is_first)
        return self._train(*self._drawn(*found), is_part=True)

    def _drawn(self, X: NDArray, classes: NDArray | None, codes: NDArray) -> tuple[NDArray, NDArray, NDArray, int]:
        """Return points with pair ids, the classes and the seed, and set `prior_` at the first call."""
        seed = self.iterate_.seed if hasattr(self, "iterate_") else seed_of(self.random_state)
        prior = getattr(self, "prior_", None) or PRIOR.check(self.prior)
        points, ids, both, self.prior_ = pairs_and_prior(X, classes, codes, prior, seed)
        return points, ids, both, seed

    def _problem(self, labels: NDArray, **given: object) -> Problem:
        return super()._problem(labels, prior=self.prior_, **given)

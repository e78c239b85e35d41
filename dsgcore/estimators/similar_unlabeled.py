"""TSGSU as a scikit-learn estimator."""

from __future__ import annotations

from os import PathLike
from typing import ClassVar, Literal, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from dsgcore.core.documented import estimator
from dsgcore.core.parameters import Choice, like, parameter_like
from dsgcore.estimators.base import BinaryEstimator, Callback
from dsgcore.estimators.inputs import all_or_nothing, known_classes
from dsgcore.estimators.pairs import pairs_and_prior, points_and_labels
from dsgcore.problems import Problem
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.checkpoint import EVERY, Checkpoint
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.start import START
from dsgcore.solver.task import SAMPLING

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
        Ridge. 'auto' is 1 / (number of all points) / (2 prior - 1)^2, because the noise grows by the last factor.
    n_iter
        Number of iterations T: the maximum for `fit`, the exact number for one call of `partial_fit`.
    batch_size
        Number of points that each iteration draws from each source.
    step_size
        Step size η, or the constant θ of the learning-rate schedule. None or 'auto': as large as the data allow. The
        dot product kernel is not bounded, and may need a smaller step.
    start
        Start of the run. None is 0, as in the paper. 'exact' gives the first iteration more features, and the exact
        solution on them for some hundred points. All later iterations are the paper's. The run still starts at 0 if
        the loss has no such solution, or if the kernel's features are not cosines.
    tol
        Tolerance for early stopping, as a share of the scores' size: `fit` ends when the mean of the second half of the
        iterates has changed by no more within `n_iter_no_change` iterations (root mean square over some training points).
        'auto' is 0.05 after an exact start, and 0.02 after a start at 0. None makes all iterations, as `partial_fit` does.
    sampling
        How the points of a mini-batch are drawn. 'independent' draws each point from all, whatever was drawn before, as in
        the paper. 'shuffled' visits the points of a source in passes: each point once, in a new random order. If a source
        has more than 131,072 points, they are drawn independently.
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
        seed = self._seed()
        prior = getattr(self, "prior_", None) or PRIOR.check(self.prior)
        points, ids, both, self.prior_ = pairs_and_prior(X, classes, codes, prior, seed)
        return points, ids, both, seed

    def _problem(self, labels: NDArray, **given: object) -> Problem:
        return super()._problem(labels, prior=self.prior_, **given)

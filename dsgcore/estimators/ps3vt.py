"""PS3VT as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from dsgcore.core.documented import SEED, described, estimator
from dsgcore.core.errors import DivergedError
from dsgcore.core.parameters import AUTOMATIC, check_all, like, parameter_like
from dsgcore.core.threads import single_threaded_blas
from dsgcore.estimators.classes import HighestScore, check_classes
from dsgcore.estimators.inputs import (
    EstimatorBase,
    FromPaper,
    all_or_nothing,
    points_and_classes,
    seed_of,
    validated_points,
    width,
)
from dsgcore.kernels.kernels import check_values
from dsgcore.multiclass.automatic import has_minimiser, smooth_minimiser
from dsgcore.multiclass.features import Weights
from dsgcore.multiclass.loop import (
    TOL_FROM_0,
    TOL_STARTED,
    MultiClassStep,
    MultiClassTask,
    descend,
    make_task,
    tail_mean,
)
from dsgcore.multiclass.problem import LOSSES, MultiClass, MultiClassSetting
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.start import START
from dsgcore.solver.stopping import TOL, Stopping

_SIGMA = parameter_like(MultiClass, "sigma")
_WITHOUT = {"tau_I": 0.0, "tau_S": 0.0}
_RUN = (*Stopping.parameters, parameter_like(SolverParameters, "average"))
Callback = Callable[[MultiClassStep], object]


@estimator
class PS3VT(FromPaper, HighestScore, EstimatorBase):
    """Multi-class classification with unlabeled points and a low-rank pull, by singular value thresholding.

    The method learns a linear classifier, or one on random Fourier features. It combines three terms:

    - the multi-class logistic or hinge loss of the labeled points;
    - a graph that makes close points, labeled or not, score alike;
    - a penalty on the smaller singular values of the coefficients.

    Parameters
    ----------
    tau_I : Trust in the graph
        Weight of the graph: larger values make neighbouring points, labeled or not, score more alike. 'auto' counts as
        much as one labeled point. It is 0 for Fourier features, and if there are more than 1000 labels, which make it
        negligible.
    tau_S : Pull to low rank
        Strength of the pull of the coefficients' smaller singular values towards zero. 'auto' is 0.001 for linear
        features and 0 for Fourier features.
    average
        Iterate averaging. 'tail' gives the mean of the weights over the second half of the iterations, None the last
        weights.
    start
        Start of the run. 'exact' is the minimiser of the objective without the pull to low rank, on at most 4096 labeled
        points. The iterations after it are the paper's. None is 0, as in the paper. The run also starts at 0 for Fourier
        features, for the hinge loss, and without an intercept.
    tol : Tolerance
        Tolerance for early stopping, as a share of the scores' size. `fit` ends when the scores of the averaged weights
        change by no more within `n_iter_no_change` iterations, checked every 50 after an exact start, and else every 200.
        'auto' is 0.05 after an exact start, and 0.01 after a start at 0. None makes all iterations.
    verbose
        If above 0, print the change of that mean at every check.
    sigma
        Inverse bandwidth of the kernel exp(-sigma ||x - x'||^2) of the Fourier features. 'scale' is 1 /
        (n_features_in_ * X.var()).
    is_orthogonal
        Draw the Fourier features' frequencies orthogonal to each other. The kernel is the same, with a smaller error.
        If there are hundreds of coordinates, it is as accurate as 1.5 times as many independent frequencies.
    loss
        The paper's hinge loss, or the logistic loss. 'auto' is the logistic loss for linear features, and the hinge
        loss for Fourier features. The logistic loss is the one in common software, and with it every point influences
        the boundary. Fourier features can separate all points.
    random_state
        Seed for mini-batches and Fourier features. Pass an int for the same result at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (K, d), or (K, 2m) with Fourier features
        The paper's W, transposed. It has two rows for two classes.
    intercept_ : ndarray of shape (K,)
        Intercepts of the scores. Zeros if `fit_intercept` is False.
    feature_map_ : dsgcore.multiclass.features.FixedFeatures
        Map from points to the features that `coef_` multiplies.
    problem_ : dsgcore.multiclass.problem.MultiClass
        The objective, with the values used for 'auto'.
    step_size_ : float
        The step that was used.
    n_iter_ : int
        Number of iterations made.
    n_features_in_ : int
        Number of coordinates d of a point.

    Notes
    -----
    Source: J. Li, Y. Liu, R. Yin and W. Wang, Multi-Class Learning using Unlabeled Samples: Theory and Algorithm,
    IJCAI 2019, Algorithm 1 and Table 2. See `dsgcore.multiclass.problem.MultiClass` for the objective and for
    deviations from the paper.

    The defaults differ from the paper: 'auto' values, the intercept, the start and the average.
    `PS3VT.as_in_paper()` is the paper's Algorithm 1 as printed, and `PS3VT.as_in_paper(variant="released")` the authors'
    program.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from dsgcore import PS3VT
    >>> X, y = load_wine(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> few = np.where(np.arange(len(y)) % 3 == 0, y, -1)  # two labels of three hidden
    >>> model = PS3VT(random_state=0).fit(X, few)
    >>> model.decision_function(X).shape
    (178, 3)
    """

    problem_class: ClassVar[type[MultiClassSetting]] = MultiClassSetting

    lam: float | Literal["auto"] | None = like(MultiClass, "lam", default="auto")
    tau_I: float | Literal["auto"] | None = like(MultiClass, "tau_I", default="auto")
    n_neighbors: int = like(MultiClass, "n_neighbors")
    tau_S: float | Literal["auto"] | None = like(MultiClass, "tau_S", default="auto")
    theta: float = like(MultiClass, "theta")
    step_size: float | Literal["auto"] | None = like(MultiClass, "step_size", default="auto")
    radius: float | None = like(MultiClass, "radius")
    batch_size: int | None = like(MultiClass, "batch_size")
    n_iter: int = like(MultiClass, "n_iter", default=4000)
    average: Literal["tail"] | None = described("tail", "'tail' or None")
    start: Literal["exact"] | None = like(START, "exact")
    tol: float | Literal["auto"] | None = like(TOL)
    n_iter_no_change: int = like(Stopping, "n_iter_no_change")
    verbose: int = described(0, "int")
    feature_map: Literal["linear", "fourier"] = like(MultiClass, "feature_map")
    is_orthogonal: bool = like(MultiClass, "is_orthogonal", default=True)
    fit_intercept: bool = like(MultiClass, "fit_intercept", default=True)
    loss: Literal["auto", "hinge", "logistic"] = like(MultiClass, "loss", default="auto", options=("auto", *LOSSES))
    variant: Literal["printed", "released"] = like(MultiClass, "variant")
    sigma: float | Literal["scale"] = described("scale", f"{_SIGMA.allowed()}, or 'scale'")
    n_features: int = like(MultiClass, "n_features", default=2048)
    random_state: int | np.random.RandomState | None = described(None, SEED)

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            Labels of two classes or more. As in `dsgcore.QSGS2AUC`, points whose label is -1 or missing are unlabeled.
            If there are none, the graph is that of the labeled points.
        callback : callable, optional
            Called after each iteration, with its record (`dsgcore.multiclass.loop.MultiClassStep`). If it returns True,
            the fit ends.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, if there are fewer than two classes, or if the run diverges.
        """
        points, classes, codes = points_and_classes(self, X, y)
        check_classes(classes)
        self.classes_ = classes
        with single_threaded_blas():  # the same result for any number of threads
            task = make_task(self._problem(points), points, codes, seed_of(self.random_state))
            W = task.plain(self._train(task, callback))
            n = task.features.width(self.n_features_in_) - task.features.has_ones
            self.coef_, self.intercept_ = W[:n].T.copy(), W[n:].sum(axis=0)
            self.feature_map_ = replace(task.features, has_ones=False)
            self.problem_, self.step_size_ = task.problem, task.problem.step_size
        return self

    def automatic_values(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the numbers that a fit would take for 'auto', by name, with the radius of its ball.

        The parameters are as in `fit`, but the labels are whole numbers from 0 on, and -1.
        """
        points = np.asarray(X, dtype=np.float64)
        with single_threaded_blas():
            problem = make_task(self._problem(points), points, np.asarray(y), 0).problem
        names = ("lam", "tau_I", "tau_S", "step_size", "radius")
        return {name: float(value) for name in names if (value := getattr(problem, name)) is not None}

    def _problem(self, X: NDArray) -> MultiClass:
        own = self.get_params()
        given: dict[str, Any] = {p.name: own[p.name] for p in MultiClass.parameters if p.name in own}
        is_linear = parameter_like(MultiClass, "feature_map").check(given["feature_map"]) == "linear"
        if isinstance(given["sigma"], str) and given["sigma"] == "scale" and is_linear:
            given["sigma"] = MultiClass.sigma  # not used
        else:
            given["sigma"] = width(_SIGMA, given["sigma"], X)
        if isinstance(given["loss"], str) and given["loss"] == "auto":
            given["loss"] = "logistic" if is_linear else "hinge"
        return MultiClass(**check_all(MultiClass.parameters, {**_WITHOUT, **given}, type(self).__name__))

    def _train(self, task: MultiClassTask, callback: Callback | None) -> NDArray:
        """Return the averaged or the last weights, as `average` requests, in the task's frame."""
        is_exact = START.check(self.start) is not None and has_minimiser(task.problem)
        start = smooth_minimiser(task.problem, task.some_features, task.y, task.n_classes, task.M) if is_exact else None
        given = {p.name: getattr(self, p.name) for p in _RUN}
        if TOL.check(self.tol) == AUTOMATIC:
            given["tol"] = TOL_STARTED if is_exact else TOL_FROM_0
        said = check_all(_RUN, given, type(self).__name__)
        average, mean = said.pop("average"), tail_mean(task, start, Stopping(**said))
        is_needed = average is not None or said["tol"] is not None or said["verbose"] > 0
        iterate, is_done = None, False
        for iterate in descend(task, start):
            is_done = (is_needed and mean.add(iterate.W)) or bool(callback is not None and callback(iterate))
            if is_done:
                break
        self.n_iter_ = 0 if iterate is None else iterate.t
        if self.n_iter_ < task.problem.n_iter and not is_done:
            raise DivergedError(
                f"{type(self).__name__} diverged at iteration {self.n_iter_ + 1}: step_size {task.problem.step_size:g} "
                "is too big for points of this size; scale them, or try a smaller one"
            )
        self.converged_ = not mean.is_moving
        mean.warn(self)
        return mean.mean if average is not None else cast(MultiClassStep, iterate).W

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the classes' scores at the rows of `X`, of shape (n, K).

        For two classes return the second class's score minus the first's, of shape (n,).
        """
        check_is_fitted(self)
        points = validated_points(self, X, np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = Weights(self.feature_map_, self.coef_.T, self.n_features_in_).evaluate(points) + self.intercept_
            return check_values(scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0])

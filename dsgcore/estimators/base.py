"""Base classes of the estimators that the solver trains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import isclose
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dsgcore.core.documented import SEED, described
from dsgcore.core.errors import DivergedError, DSGError
from dsgcore.core.parameters import AUTOMATIC, ParameterError, like, parameters_of
from dsgcore.core.sampling import UNLABELED, batches, evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data.parts import Rows
from dsgcore.data.rows import opened
from dsgcore.estimators.classes import HighestScore, ScoredOnLabels, check_classes
from dsgcore.estimators.inputs import (
    POINTS_CUT,
    SIGMA,
    EstimatorBase,
    FromPaper,
    KernelParameters,
    TrainingValues,
    all_or_nothing,
    encode,
    known_classes,
    labeled_rows,
    make_kernel,
    over_partitions,
    read_ahead,
    seed_of,
    validated,
    validated_points,
    warn_of_alphabet,
    width,
)
from dsgcore.kernels import Kernel
from dsgcore.kernels.kernels import check_values, too_far, warn_of_rounding
from dsgcore.problems import Problem
from dsgcore.solver.automatic_step import step_sizes
from dsgcore.solver.checkpoint import EVERY, Checkpoint
from dsgcore.solver.loop import Iterate, solve, training_points
from dsgcore.solver.model import FEW_POINTS, Expansion
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.start import AUTOMATIC_START, EXACT, ITERATIONS, MOST_LABELS, OF_AUTOMATIC_START, plan_start
from dsgcore.solver.stopping import TOL, Stopping, ValuesMean
from dsgcore.solver.task import (
    FIXED,
    FRESH,
    SAMPLING,
    SHUFFLED,
    Plan,
    Task,
    by_labels,
    drawn_rows,
    tail_start,
)

Callback = Callable[[Iterate], object]
# Two numbers are the same parameter up to this relative difference, such as one that a person has computed.
SAME = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class FunctionalGradientEstimator(FromPaper, KernelParameters, ScoredOnLabels, EstimatorBase):
    """Base class of estimators that the solver trains; subclasses define the problem and the predictions.

    Parameters
    ----------
    lam
        Ridge. 'auto' is one half over the number of points of the smallest source. Then each of these points has the
        same weight against the norm as in an SVM with C = 2.
    n_iter
        Number of iterations T: the maximum for `fit`, the exact number for one call of `partial_fit`. 'auto' is 800 for
        up to 1,024 labels, and grows with the cube root of their number, to 3,200.
    batch_size
        Number of points that each iteration draws from each source. 'auto' is 128 for up to 1,024 labels, an eighth of
        the labels for more, and at most 1,024.
    average
        Iterate averaging. 'tail' gives the mean of the second half of the iterates, None the last iterate.
    start
        Start of the run. None is 0, as in the papers. 'exact' gives the first iteration more features, and the exact
        solution on them for some hundred points (TSGS3VM: labeled ones alone). All later iterations are the papers', but a
        fit needs fewer.
        'auto' is 'exact' for at most 512 labels, if `kernel`, `sigma`, `lam` and the labels'
        weight have their default values, or the numbers that these stand for.
        The run still starts at 0 if the loss has no such solution, or if the kernel's features are not cosines.
    tol
        Tolerance for early stopping, as a share of the scores' size: `fit` ends when the mean of the second half of the
        iterates has changed by no more within `n_iter_no_change` iterations (root mean square over some training points).
        'auto' is 0.05 after an exact start (TSGS3VM: 0.02, QS3ORAO: 0.03), and 0.02 after a start at 0. None makes
        all iterations, as `partial_fit` does. With r times 1,024 labels 'auto' divides these numbers by √r,
        or by 4 (QSGS2AUC, QS3ORAO: 10).
    sampling
        How the points of a mini-batch are drawn. 'independent' draws each point from all, whatever was drawn before, as in
        the papers. 'shuffled' visits the points of a source in passes: each point once, in a new random order. Then the
        noise of many mini-batches cancels in the mean of the iterates, and a fit of a ranking needs fewer iterations.
        If a source has more than 131,072 points, they are drawn independently. If there are more than 1,024 labels,
        'shuffled' visits a quarter as many unlabeled points, and at least 4,096: more would take time, and change no score.
    step_size
        Step size η, or the constant θ of the learning-rate schedule. None or 'auto': as large as the data allow. Larger
        mini-batches allow longer steps if there are more than 1,024 labels. The steps of a hinge loss also grow with the
        root of the number of labels above 512. The dot product kernel is not bounded, and may need a smaller step.
    random_state
        Seed for mini-batches and random features. Pass an int for the same result at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels in their order.
    model_ : dsgcore.Expansion
        The function f.
    iterate_ : dsgcore.Expansion
        The last iterate, from which `partial_fit` continues. It is f itself if `average` is None.
    step_size_, lam_ : float
        The schedule's constant and the ridge that were used. 'auto' is resolved at the first call.
    n_iter_ : int
        Number of iterations made, over all calls of `partial_fit`.
    n_features_in_ : int
        Number of coordinates d of a point.
    """

    problem_class: ClassVar[type[Any]]
    is_binary: ClassVar[bool] = True
    # Whether the default Gaussian kernel is narrower with many labels.
    narrows: ClassVar[bool] = False
    # The tolerances that 'auto' stands for: of a fit from 0, and of one that starts at a solution.
    tol_from_0: ClassVar[float] = 0.02
    tol_started: ClassVar[float] = 0.05

    lam: float | Literal["auto"] | None = like(
        SolverParameters, "lam", default=AUTOMATIC, optional=True, automatic=1e-2
    )
    n_iter: int | Literal["auto"] = like(SolverParameters, "n_iter", default=AUTOMATIC, words=(AUTOMATIC,))
    n_features: int = like(SolverParameters, "n_features", default=64)
    features: Literal["fresh", "fixed"] = like(SolverParameters, "features")
    batch_size: int | Literal["auto"] = like(SolverParameters, "batch_size", default=AUTOMATIC, words=(AUTOMATIC,))
    step_size: float | Literal["auto"] | None = like(SolverParameters, "step_size", default=AUTOMATIC)
    schedule: Literal["constant", "theta/t", "theta/sqrt(T)", "theta/T^(3/4)"] = like(SolverParameters, "schedule")
    average: Literal["tail"] | None = like(SolverParameters, "average", default="tail")
    start: Literal["auto", "exact"] | None = like(AUTOMATIC_START)
    sampling: Literal["independent", "shuffled"] = like(SAMPLING, SHUFFLED)
    tol: float | Literal["auto"] | None = like(TOL)
    n_iter_no_change: int = like(Stopping, "n_iter_no_change")
    verbose: int = like(Stopping, "verbose")
    dtype: Literal["float32", "float64"] = like(SolverParameters, "dtype")
    random_state: int | np.random.RandomState | None = described(None, SEED)

    def __sklearn_tags__(self) -> Tags:
        """Declare how many classes the method needs."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self.is_binary
        return tags

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        checkpoint: str | PathLike[str] | None = None,
        every: int = 50,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from labeled and unlabeled points; return the estimator.

        Parameters
        ----------
        X : array-like of shape (n, d), path, Dask DataFrame or Array, list of memory maps, or Rows
            Points, or their location, such as a folder of Parquet files. From files, only the rows that the run visits
            are read. `dsgcore.data.rows_of` replaces missing numbers and scales.
        y : array-like of shape (n,), or str
            Labels: whole numbers, text, or True and False. Points whose label is -1 (as a number or as text) or
            missing (None, NaN, pandas.NA, NaT) are unlabeled. If there are none, the labeled points also serve as the
            unlabeled sample. For a table give the name of the label column (see `dsgcore.data.rows_of`).
        checkpoint : path, optional
            A file for the iterations so far. The same call continues from it after an interruption, to the same model.
        every : int, default 50
            Iterations between two checkpoints.
        callback : callable, optional
            Called after each iteration with its `dsgcore.solver.loop.Iterate`, whose `t` is the number of iterations so far.
            If it returns True, the fit ends there.

        Raises
        ------
        ValueError
            If a parameter is out of range, if labels are too few or of the wrong kind, or if the run diverges.
        """
        X, y = opened(X, y)
        classes, codes = encode(y, is_ordered=self.is_ordered)
        if self.is_ordered:
            warn_of_alphabet(y, classes)
        points, codes = validated(self, X, codes)
        check_classes(classes, codes, is_binary=self.is_binary)
        seed = seed_of(self.random_state)
        return self._train(points, codes, classes, seed, Checkpoint(checkpoint, EVERY.check(every)), callback)

    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue for `n_iter` more iterations, on the points of this call; return the estimator.

        The kernel, `dtype` and `random_state` remain those of the first call (or of `fit`). All other parameters may
        change between calls. For schedules that do not depend on the length of the run ("constant", "theta/t"), two
        calls on the same points equal one `fit` with the sum of their `n_iter`, up to rounding.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The only points of these iterations.
        y : array-like of shape (n,)
            Labels as for `fit`; every call needs labeled points of all classes.
        classes : array-like of shape (k,), optional
            All classes, for QS3ORAO in their order. The first call needs them.

        Raises
        ------
        ValueError
            If `fit` would raise it, or the classes are missing or have changed. The estimator remains as it was.
        """
        is_first, (X, y) = not hasattr(self, "iterate_"), opened(X, y)
        known = known_classes(classes, None if is_first else self.classes_, y, is_sorted=self.is_binary)
        known, codes = encode(y, known)
        points, codes = validated(self, X, codes, reset=is_first)
        check_classes(known, codes, is_binary=self.is_binary)
        seed = seed_of(self.random_state) if is_first else self.iterate_.seed
        return self._train(points, codes, known, seed, is_part=True)

    def _train(
        self,
        X: NDArray,
        labels: NDArray,
        classes: NDArray,
        seed: int,
        checkpoint: Checkpoint | None = None,
        callback: Callback | None = None,
        *,
        is_part: bool = False,
    ) -> Self:
        """Run the solver, with `labels` as the problem expects them, and set what it has learned in the end.

        A part of a fit continues from the last iterate and makes all iterations.
        """
        s, earlier = self._checked(), getattr(self, "iterate_", None)
        with single_threaded_blas():  # the same result for any number of threads
            task = self._task(X, labels, seed, s, earlier)
            has_start = earlier is None and plan_start(task, self._start(task, labels, s["start"]))
            kept = None if checkpoint is None or checkpoint.file is None else checkpoint.of(task)
            model = task.new_model() if earlier is None else earlier.prefix(len(earlier))
            usual = by_labels(task.rows, is_ranking=self.is_ranking).tol
            tol = usual * (self.tol_started if has_start else self.tol_from_0) if s["tol"] == AUTOMATIC else s["tol"]
            stopping = Stopping(None if is_part else tol, s["n_iter_no_change"], s["verbose"])
            training = training_points(task, model, is_staged=stopping.tol is not None)
            some = evenly_spread(len(labels), POINTS_CUT)
            needed = np.union1d(some, labeled_rows(labels, POINTS_CUT)) if self.is_ranking else ()
            mean = ValuesMean(task, model, training, stopping, needed)
            is_done = kept is not None and mean.replay(kept.begun(task))
            for iterate in () if is_done else solve(task, model, training=training, carried=mean.carried):
                if kept is not None:
                    kept.keep(model)
                is_done = mean.take(iterate)
                if (callback is not None and callback(iterate)) or is_done:
                    is_done = True
                    break
            n = len(model)
            with np.errstate(over="ignore", invalid="ignore"):  # values show divergence: those carried, or some others
                f = mean.values if len(mean.rows) else model.evaluate(task.X[:FEW_POINTS])
            if not np.isfinite(f).all() or (n < task.plan.n_iter and not is_done):
                or_else = "" if np.isfinite(task.kernel.bound) else ", or a smaller sigma"
                raise DivergedError(
                    f"{type(self).__name__} diverged at iteration {n + 1}: "
                    f"step_size {task.plan.step_size:g} is too big for this problem; try half of it{or_else}"
                )
            mean.warn(self)
            learned = model if self.average is None else model.tail_average(n - tail_start(n))
            learned = learned.joined() if learned.is_fixed else learned
            values = TrainingValues(learned, task.X, some[:0], np.empty(0, dtype=learned.dtype))
            if self.average is not None and mean.first == 0 and mean.seen[0] == n:
                values.rows, values.values = mean.rows, mean.seen[1].astype(learned.dtype)
            found = self._thresholds(task, labels, values)
        found |= {"classes_": classes, "model_": learned, "iterate_": model, "n_iter_": n}
        self.__dict__.update(found, step_size_=task.plan.step_size, lam_=task.plan.lam)
        return self

    def _thresholds(self, task: Task, codes: NDArray, values: TrainingValues) -> dict[str, Any]:
        """Return the decision thresholds, by the names of their attributes, from the model's values; by default none."""
        return {}

    def _checked(self) -> dict[str, Any]:
        """Return the checked parameters, except those of the kernel and the seed."""
        kind: type = type(self)
        return {p.name: p.check(getattr(self, p.name)) for p in parameters_of(kind)}

    def _start(self, task: Task, labels: NDArray, start: str | None) -> str | None:
        """Return the start of the run.

        'auto' is the exact one for few labels, if the kernel and the ridge are the default ones, also as numbers.
        """
        n_labeled = sum(len(own) for source, own in task.rows.items() if source != "unlabeled")
        if start != AUTOMATIC or n_labeled > MOST_LABELS:
            return None if start == AUTOMATIC else start
        X: Any = task.X
        numbers = {
            "sigma": lambda default: width(SIGMA, default, X.sample() if isinstance(X, Rows) else X),
            "lam": lambda default: self._ridge(task.problem, task.kernel, task.X, labels, task.rows),
        }
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name not in OF_AUTOMATIC_START or value in (f.default, None):
                continue
            if f.name not in numbers or not isinstance(f.default, str):
                return None
            try:
                if not isclose(float(value), numbers[f.name](f.default), rel_tol=SAME):
                    return None
            except ParameterError:  # of these points there is no default value
                return None
        return EXACT

    def _problem(self, labels: NDArray, **given: object) -> Problem:
        """Return the problem, with the estimator's parameters of the same names; it may compute numbers from the labels."""
        kind: type = self.problem_class
        own = {p.name: getattr(self, p.name) for p in parameters_of(kind) if p.name not in given}
        return self.problem_class(**own, **given)

    def _task(self, X: Any, labels: NDArray, seed: int, s: dict[str, Any], model: Expansion | None) -> Task:
        """Return the solver's task, from checked parameters `s`, to continue a model if there is one."""
        dtype = np.dtype(s["dtype"]) if model is None else model.dtype
        problem = self._problem(labels).bind(labels)
        sampling = s["sampling"]
        rows = drawn_rows(problem, labels, sampling)
        usual, made = by_labels(rows), 0 if model is None else len(model)
        size = usual.batch_size if s["batch_size"] == AUTOMATIC else s["batch_size"]
        n_iter = made + (usual.n_iter if s["n_iter"] == AUTOMATIC else s["n_iter"])
        if isinstance(X, Rows):
            ahead = range(made + 1, 1 + (n_iter if self.start is None else max(n_iter, ITERATIONS)))
            read_ahead(X, labels, lambda t: batches(seed, t, rows, size, is_shuffled=sampling == SHUFFLED), ahead)
        some = X.sample() if isinstance(X, Rows) else X
        kernel = make_kernel(self, some, usual.sigma if self.narrows else 1.0) if model is None else model.kernel
        if said := too_far(some, kernel, dtype=dtype):
            raise ParameterError(said)
        warn_of_rounding(some, kernel, dtype, getattr(self, "feature_names_in_", None))
        if s["lam"] is None:
            s["lam"] = self._ridge(problem, kernel, X, labels, rows) if model is None else self.lam_
        points: Any = X.astype(dtype) if isinstance(X, Rows) else np.ascontiguousarray(X, dtype)
        plan = Plan(s["schedule"], s["step_size"], s["lam"], s["n_features"], n_iter)
        features = s["features"]
        if model is not None:  # the step size and the features from the first call
            plan.step_size = self.step_size_ if plan.step_size is None else plan.step_size
            features = FIXED if model.is_fixed else FRESH
            if model.is_fixed and s["n_features"] != model.blocks[-1].shape[1]:
                raise DSGError(f"fixed features stay {model.blocks[-1].shape[1]}, got n_features {s['n_features']}")
        task = Task(problem, kernel, points, rows, plan, size, seed, dtype, sampling, features)
        if plan.step_size is None:
            plan.step_size = step_sizes(task).automatic
        return task

    def most_iterations(self, y: ArrayLike) -> int:
        """Return the largest number of iterations of a fit to these labels: `n_iter`, or what 'auto' stands for."""
        if (n_iter := self._checked()["n_iter"]) != AUTOMATIC:
            return int(n_iter)
        return by_labels(int(np.count_nonzero(encode(y)[1] != UNLABELED))).n_iter

    def automatic_values(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the numbers that a fit would take for "scale" and "auto": the Gaussian kernel's width, and the ridge.

        The parameters are as in `fit`, but the labels are whole numbers from 0 on, and -1.
        """
        task = self._task(np.asarray(X), np.asarray(y), 0, self._checked(), None)
        return {"sigma": float(task.kernel.sigma), "lam": float(task.plan.lam)}  # type: ignore[attr-defined]

    def _ridge(
        self, problem: Problem, kernel: Kernel, X: NDArray, labels: NDArray, rows: Mapping[str, NDArray]
    ) -> float:
        """Return the ridge for lam="auto"."""
        return problem.usual_ridge(rows)

    def _values(self, X: ArrayLike) -> NDArray:
        """Return f at the rows of `X`, after validation; raise DSGError if a value is not finite."""
        check_is_fitted(self, "model_")
        points = validated_points(self, X)
        values = check_values(self.model_.evaluate(points))
        warn_of_rounding(points, self.model_.kernel, self.model_.dtype, getattr(self, "feature_names_in_", None))
        return values


class BinaryEstimator(HighestScore, FunctionalGradientEstimator):
    """Base class of estimators for two classes; a positive decision function means the second class.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels. The second one is the positive class.
    """

    predict = over_partitions(HighestScore.predict)  # type: ignore[assignment]

    @over_partitions
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return f(x) minus the decision threshold, of shape (n,). Larger values are more likely positive."""
        return self._values(X) - getattr(self, "threshold_", 0.0) + getattr(self, "shift_", 0.0)

"""Base classes of the estimators that the solver trains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from math import isclose
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.documented import SEED, described
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import AUTOMATIC, Parameter, ParameterError, check_all, like, parameters_of
from dsgcore.data.rows import opened
from dsgcore.estimators.classes import check_some_classes, check_two_classes
from dsgcore.estimators.inputs import all_or_nothing, encode, known_classes, seed_of, width
from dsgcore.estimators.kernel import SIGMA, KernelParameters, check_near, own_kernel
from dsgcore.estimators.out_of_core import (
    TrainingValues,
    in_precision,
    read_ahead,
    some_of,
    validated,
    validated_points,
    values_of,
)
from dsgcore.estimators.scores import ScoredOnLabels
from dsgcore.estimators.stopping import (
    TOL,
    AutomaticTolerance,
    Stopping,
    StoppingCheck,
    check_finite,
    stages,
)
from dsgcore.kernels import Kernel
from dsgcore.kernels.far_points import check_values, warn_of_rounding
from dsgcore.problems import Problem
from dsgcore.solver.automatic_step import settle_step
from dsgcore.solver.carried import AllPoints, is_dense
from dsgcore.solver.checkpoint import Checkpoint, checkpointing, current_checkpoint, resumed_points
from dsgcore.solver.loop import solve
from dsgcore.solver.model import Expansion
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.plan import Plan, tail_start
from dsgcore.solver.start import EXACT, ITERATIONS, MOST_LABELS, OF_AUTOMATIC_START, START, begin, plan_start
from dsgcore.solver.task import SAMPLING, Task, drawn

# Two numbers are the same parameter up to this relative difference, such as one that a person has computed.
SAME = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class FunctionalGradientEstimator(KernelParameters, ScoredOnLabels, BaseEstimator):
    """Base class of estimators that the solver trains; subclasses define the problem and the predictions.

    Parameters
    ----------
    lam
        Ridge. 'auto' is one half over the number of points of the smallest source. Then each of these points has the
        same weight against the norm as in an SVM with C = 2.
    n_iter
        Number of iterations T: the maximum for `fit`, the exact number for one call of `partial_fit`.
    average
        Iterate averaging. 'tail' gives the mean of the second half of the iterates, None the last iterate.
    start
        Start of the run. None is 0, as in the papers. 'exact' gives the first iteration more features, and the exact
        solution on them for some hundred points (TSGS3VM: labeled ones alone). All later iterations are the papers', but a
        fit needs fewer.
        'auto' (not for TSGSU) is 'exact' for at most 512 labels, if `kernel`, `sigma`, `lam` and `C` have their
        default values, or the numbers that these stand for.
        The run still starts at 0 if the loss has no such solution, or if the kernel's features are not cosines.
    tol
        Tolerance for early stopping, as a share of the scores' size: `fit` ends when the mean of the second half of the
        iterates has changed by no more within `n_iter_no_change` iterations (root mean square over some training points).
        'auto' is 0.05 after an exact start (TSGS3VM: 0.02, QS3ORAO: 0.03), and 0.02 after a start at 0. None makes
        all iterations, as `partial_fit` does.
    sampling
        How the points of a mini-batch are drawn. 'independent' draws each point from all, whatever was drawn before, as in
        the papers. 'shuffled' visits the points of a source in passes: each point once, in a new random order. Then the
        noise of many mini-batches cancels in the mean of the iterates, and a fit of a ranking needs fewer iterations.
        If a source has more than 131,072 points, they are drawn independently.
    step_size
        Step size η, or the constant θ of the learning-rate schedule. None or 'auto': as large as the data allow. The
        dot product kernel is not bounded, and may need a smaller step.
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
    is_ordered: ClassVar[bool] = False
    automatic_tol: ClassVar[AutomaticTolerance] = AutomaticTolerance()

    lam: float | str = like(SolverParameters, "lam", default=AUTOMATIC, optional=True, automatic=1e-2)
    n_iter: int = like(SolverParameters, "n_iter", default=800)
    n_features: int = like(SolverParameters, "n_features", default=64)
    batch_size: int = like(SolverParameters, "batch_size")
    step_size: float | str = like(SolverParameters, "step_size", default=AUTOMATIC)
    schedule: str = like(SolverParameters, "schedule")
    average: str | None = like(SolverParameters, "average", default="tail")
    start: str | None = like(START)
    sampling: str = like(SAMPLING)
    tol: float | str | None = like(TOL)
    n_iter_no_change: int = like(Stopping, "n_iter_no_change")
    verbose: int = like(Stopping, "verbose")
    dtype: str = like(SolverParameters, "dtype")
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
        tell: Callable[[int], object] | None = None,
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
        tell : callable, optional
            Called after each iteration, with the number of iterations so far.

        Raises
        ------
        ValueError
            If a parameter is out of range, if labels are too few or of the wrong kind, or if the run diverges.
        """
        X, y = opened(X, y)
        classes, codes = encode(y, is_ordered=self.is_ordered)
        points, codes = validated(self, X, codes)
        with checkpointing(checkpoint, every, tell):
            return self._learn(points, classes, codes)

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
        earlier = getattr(self, "iterate_", None)
        X, y = opened(X, y)
        known = known_classes(classes, None if earlier is None else self.classes_, y, is_sorted=self.is_binary)
        known, codes = encode(y, known)
        points, codes = validated(self, X, codes, reset=earlier is None)
        return self._learn(points, known, codes, earlier, is_part=True)

    def _learn(
        self,
        X: NDArray,
        classes: NDArray,
        codes: NDArray,
        model: Expansion | None = None,
        *,
        is_part: bool = False,
    ) -> Self:
        """Learn from validated points and class codes, from the beginning or continuing from `model`.

        A part of a fit makes all its iterations.
        """
        self._check_classes(classes, codes)
        return self._train(X, codes, classes, self._seed(model), model, is_part=is_part)

    def _seed(self, model: Expansion | None) -> int:
        return seed_of(self.random_state) if model is None else model.seed

    def _train(
        self, X: NDArray, labels: NDArray, classes: NDArray, seed: int, model: Expansion | None, *, is_part: bool
    ) -> Self:
        """Run the solver, with `labels` as the problem expects them, and set what it has learned in the end."""
        # The same result for any number of threads. It is entered once, because every first entry asks the libraries.
        with single_threaded_blas():
            task = self._task(X, labels, seed, model)
            earlier = None if model is None else model.prefix(len(model))
            start = self._checked_start(task, labels) if earlier is None else None
            iterate, check = self._run(task, earlier, self._rows_placed(labels), start=start, is_part=is_part)
            averaged = len(iterate) - tail_start(len(iterate))
            learned = iterate if self.average is None else iterate.tail_average(averaged)
            known = None if self.average is None else check.mean(len(iterate))
            values = TrainingValues(partial(values_of, learned, task.X), None if known is None else check.rows, known)
            placed = self._place(task, labels, values)
        self.__dict__.update(placed)
        self.classes_, self.model_, self.iterate_, self.n_iter_ = classes, learned, iterate, len(iterate)
        self.step_size_, self.lam_ = task.plan.theta, task.plan.lam
        return self

    def _check_classes(self, classes: NDArray, codes: NDArray) -> None:
        (check_two_classes if self.is_binary else check_some_classes)(classes)
        for code, label in enumerate(classes):
            if not (codes == code).any():
                raise DSGError(f"y must hold labeled points of every class, got none of class {label!s}")

    def _rows_placed(self, codes: NDArray) -> NDArray:
        """Return ascending rows whose values `_place` will ask for."""
        return np.empty(0, dtype=np.intp)

    def _place(self, task: Task, codes: NDArray, values: TrainingValues) -> dict[str, Any]:
        """Return the decision thresholds, by the names of their attributes, from the model's values; by default none."""
        return {}

    def _checked(self) -> dict[str, Any]:
        """Return the checked parameters of the solver, of the mini-batches and of the stopping rule."""
        names = {p.name for p in (*SolverParameters.parameters, SAMPLING, *Stopping.parameters)}
        kind: type = type(self)
        own = [p for p in parameters_of(kind) if p.name in names]
        return check_all(own, {p.name: getattr(self, p.name) for p in own}, kind.__name__)

    def _run(
        self, task: Task, model: Expansion | None, rows: NDArray, *, start: str | None, is_part: bool
    ) -> tuple[Expansion, StoppingCheck]:
        """Train a new model until it has converged, or continue `model` to the last iteration of the plan.

        Returns the model, and a check that knows its values at some rows.
        """
        has_start = plan_start(task, start)
        checkpoint, s = current_checkpoint().of(task), self._checked()
        learned = checkpoint.begun(task) if model is None else model
        if has_start and not len(learned):
            begin(task, learned)
            checkpoint.keep(learned)
        watched = {p.name: s[p.name] for p in Stopping.parameters}
        if is_part:
            watched["tol"] = None
        elif watched["tol"] == AUTOMATIC:
            watched["tol"] = self.automatic_tol.of(has_start=has_start)
        before = task.new_model() if model is None else model
        training = AllPoints(task, before) if is_dense(task, len(before)) else None
        check = StoppingCheck(task, before, rows, training, **watched)
        is_done = check.replay(learned, has_start=has_start) or any(
            self._looks(task, learned, checkpoint, check, training, len(before))
        )
        check_finite(task, learned, check, type(self).__name__, is_done=is_done)
        check.rule.warn(self)
        return learned, check

    def _checked_start(self, task: Task, labels: NDArray) -> str | None:
        """Return the start of the run, with 'auto' resolved."""
        kind: type = type(self)
        parameter = next(p for p in parameters_of(kind) if p.name == "start")
        start: str | None = parameter.check(self.start)
        if start != AUTOMATIC:
            return start
        n_labeled = sum(len(own) for source, own in task.rows.items() if source != "unlabeled")
        is_few = n_labeled <= MOST_LABELS
        return EXACT if is_few and self._has_default_values(task, labels) else None

    def _has_default_values(self, task: Task, labels: NDArray) -> bool:
        """Return True if the kernel and the ridge are the default ones, also if their numbers were given."""
        defaults = {f.name: f.default for f in fields(self) if f.name in OF_AUTOMATIC_START}
        given = {
            name: getattr(self, name) for name, value in defaults.items() if getattr(self, name) not in (value, None)
        }
        numbers = {
            "sigma": lambda: width(SIGMA, defaults["sigma"], some_of(task.X)),
            "lam": lambda: self._ridge(task.problem, task.kernel, task.X, labels, task.rows),
        }
        are_automatic = all(name in numbers and isinstance(defaults[name], str) for name in given)
        try:
            return are_automatic and all(
                isclose(float(value), numbers[name](), rel_tol=SAME) for name, value in given.items()
            )
        except ParameterError:  # of these points there is no default value
            return False

    def _looks(
        self,
        task: Task,
        model: Expansion,
        checkpoint: Checkpoint,
        check: StoppingCheck,
        training: AllPoints | None,
        start: int,
    ) -> Iterator[bool]:
        """Make the iterations after `start` that `model` does not have; yield after each True if it has converged."""
        whole = ((start, task.plan.n_iter),)
        for first, last in whole if training is not None or check.rule.tol is None else stages(task, start):
            if last <= len(model):
                continue
            points = resumed_points(task, model, first, last) if training is None else training
            for iterate in solve(task, model, training=points, carried=check.carried, stop=last):
                checkpoint.keep(model)
                yield check.look(iterate.t, iterate)
            if len(model) < last:  # it diverged
                return

    def _problem(self, labels: NDArray) -> Problem:
        """Return the problem. It may compute some of its own numbers from the labels."""
        return self.problem_class(**self._problem_parameters())

    def _problem_parameters(self, **given: object) -> dict[str, Any]:
        """Return the problem's checked parameters: the given ones, and the estimator's parameters of the same name."""
        parameters: tuple[Parameter, ...] = self.problem_class.parameters
        own = {p.name: getattr(self, p.name) for p in parameters if p.name not in given}
        return check_all(parameters, {**own, **given}, type(self).__name__)

    def _task(self, X: NDArray, labels: NDArray, seed: int, model: Expansion | None) -> Task:
        s = self._checked()
        dtype = np.dtype(s["dtype"]) if model is None else model.dtype
        problem = self._problem(labels).bind(labels)
        rows = problem.rows(labels)
        made, size, sampling = 0 if model is None else len(model), s["batch_size"], s["sampling"]
        n_iter = made + s["n_iter"]
        last = n_iter if self.start is None else max(n_iter, ITERATIONS)
        read_ahead(X, labels, lambda t: drawn(seed, t, rows, size, sampling), range(made + 1, last + 1))
        kernel = own_kernel(self, some_of(X)) if model is None else model.kernel
        points = in_precision(X, dtype)
        check_near(self, kernel, some_of(X), dtype)
        if s["lam"] is None:
            s["lam"] = self._ridge(problem, kernel, X, labels, rows) if model is None else self.lam_
        plan = Plan(s["schedule"], s["step_size"], s["lam"], s["n_features"], n_iter)
        if model is not None:  # the step size from the first call
            plan.automatic_step = self.step_size_
        task = Task(problem, kernel, points, rows, plan, size, seed, dtype, sampling)
        settle_step(task)
        return task

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

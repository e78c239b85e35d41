"""PS3VT run on a spec's data: iterations, graph, and measurements."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import known
from dsgcore.core.sampling import evenly_spread
from dsgcore.data import Split
from dsgcore.multiclass.cost import multiclass_cost
from dsgcore.multiclass.features import features_of
from dsgcore.multiclass.graph_cache import MIN_POINTS_TO_WAIT_FOR, graph_cache_of, make_graph_and_pull
from dsgcore.multiclass.loop import MultiClassStep
from dsgcore.multiclass.setting import AUTOMATIC_TAU_I, MultiClassSetting
from dsgcore.multiclass.task import MultiClassTask, make_task
from dsgcore.multiclass.twin import MAX_POINTS, KernelTwin
from dsgcore.multiclass.weight_history import WeightHistory, problem_at, uses_graph
from dsgcore.problems import UNLABELED, objective
from dsgcore.solver.automatic_step import StepSizes
from dsgcore.solver.gauges import PLACES, Gauges
from dsgcore.solver.problem import unlabeled_rows

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec

# Largest automatic weight of the graph, as a share of the weight at which a step overshoots. Closer to that weight,
# the graph amplifies the noise of the mini-batches' labels, and the score fluctuates.
SHARE_OF_LIMIT = 0.1
SMALLEST = 1e-300
# Number of singular values with a column of their own in the history.
MAX_SINGULAR_VALUES = 12
# A singular value below this share of the largest counts as zero.
RANK_TOLERANCE = 1e-9
# Number of labeled points whose scores the gauges read.
GAUGED_POINTS = 8


class MultiClassEngine(WeightHistory):
    """Run of proximal stochastic sub-gradients on a spec's data.

    Raises
    ------
    ParameterError
        If the step would be divided twice, by a schedule and by the released variant.
    ProblemError
        If there are fewer than two classes.

    Attributes
    ----------
    singular_values : ndarray of shape (min(d, K),)
        Singular values of the weights, in descending order.
    """

    has_graph: ClassVar[bool] = True
    gauged: ClassVar[tuple[str, ...]] = ("Step", "Batches", "Wander")
    limited_by: ClassVar[str] = "the graph's pull"
    can_look_back: ClassVar[bool] = True
    shift: ClassVar[float] = 0.0  # the predicted class has the highest score
    average_shift: ClassVar[float] = 0.0
    cost = staticmethod(multiclass_cost)

    def __init__(self, spec: Spec, split: Split) -> None:
        spec.problem.check_schedule(spec.solver.schedule)
        self.split = split
        self.labeled_rows = np.flatnonzero(split.y_train != UNLABELED)
        self.unlabeled_rows = unlabeled_rows(split.y_train == UNLABELED)
        graphs, start = graph_cache_of(split), time.perf_counter()
        problem, n_classes = replace(problem_at(spec, 0), tau_I=0.0), len(split.class_names)
        task = make_task(problem, graphs.X, split.y_train, spec.seed, n_classes)
        self.training_seconds = time.perf_counter() - start
        super().__init__(spec, graphs, task)
        self.singular_values = np.zeros(min(self.W.shape))
        self.twin = self._new_twin()
        self._largest = 0.0
        self._last: MultiClassStep | None = None
        self._gauged_points = self.task.X[evenly_spread(len(self.task.X), GAUGED_POINTS)]
        self.gauges = Gauges(len(self._gauged_points) * self.W.shape[1])
        if uses_graph(spec):
            self._take_graph()
        self._problem = self._problem_at(0)
        self.keep()

    def _take_graph(self) -> None:
        """Get the graph, and compute the weight that a step allows."""
        pull = self.graphs.pull(self.task.problem, self.task.features)
        self.task = replace(self.task, M=pull.M)
        self.training_seconds += pull.seconds  # even if another run made it
        self._largest = pull.largest
        step = self.task.step(1)  # the largest step of every schedule
        self.automatic_tau_I = min(AUTOMATIC_TAU_I, SHARE_OF_LIMIT / max(step * pull.largest, SMALLEST))
        if self.twin is not None:
            self.twin.link(self.graphs.graph(self.task.problem).L)

    def _new_twin(self) -> KernelTwin | None:
        """Return the exact-kernel twin; None for linear features or large samples."""
        probes = self.split.X_test[: self.spec.diagnostics.n_probes].astype(np.float64)
        training = self._training
        if self.task.features.kind == "linear" or training is None or training.phi is None or not len(probes):
            return None
        if len(training.X) > MAX_POINTS:
            return None
        labeled, K = self.labeled_rows, self.W.shape[1]
        return KernelTwin(self.task.features, training.X, training.phi, labeled, probes, K)

    @property
    def problem(self) -> MultiClassSetting:
        """The setting."""
        return cast(MultiClassSetting, self.spec.problem)

    @property
    def largest_step(self) -> float | None:
        """The step above which the graph's term makes the weights grow, 1 / (tau_I lambda_max); None without a graph."""
        tau_I = self._problem_at(self.t).tau_I
        return 1.0 / (tau_I * self._largest) if tau_I * self._largest > 0 else None

    def sizes_at(self, t: int) -> StepSizes:
        """Return the automatic step and the largest one: only the graph's term makes the weights grow."""
        return StepSizes(self.automatic_step, self.largest_step, self.largest_step)

    @property
    def caution(self) -> str:
        """Warning that the graph's weight is too large for the step; empty if it is not.

        Such a run does not diverge, because the ball limits the weights, but it does not learn.
        """
        step, largest = self.step_at(max(self.t, 1)), self.largest_step
        if largest is None or step <= largest:
            return ""
        tau_I = self._problem_at(self.t).tau_I
        return (
            f"The graph's weight τ_I = {tau_I:g} is too large for a step of {step:.2g}, which allows at most "
            f"{tau_I * largest / step:.2g}: the weights swing instead of settling. "
            "Take a smaller weight or “auto”, or a smaller step."
        )

    def advance(self) -> dict[str, float] | None:
        """Make one iteration and return its row; None if the run has ended."""
        iterate = self._stepped()
        if iterate is None:
            return None
        task = self._task_of(self._problem)
        decay = 1.0 - 2.0 * iterate.step * task.problem.lam
        read = partial(self._read, task, iterate)
        self.gauges.advance(iterate.t, iterate.step, decay, task.batch_size, read)
        self._take(iterate)
        return self._measure(iterate)

    def advance_briefly(self) -> dict[str, float] | None:
        """Make one iteration and return its brief row; None if the run has ended."""
        self._last = self._stepped()
        if self._last is None:
            return None
        self._take(self._last)
        task = self._task_of(self._problem)
        return {
            "t": self.t,
            "objective": objective(task.terms(self.W)),
            "score_test": self._test_score(),
            **self._of_average(task),
        }

    def last_row(self) -> dict[str, float]:
        """Return the whole row of the iteration that was made last, briefly."""
        assert self._last is not None
        return self._measure(self._last)

    def _stepped(self) -> MultiClassStep | None:
        """Make the next step, and the twin's; None if the run has ended. The weights are still those before it."""
        start = time.perf_counter()
        iterate = self._next(self.t + 1)
        self.training_seconds += time.perf_counter() - start
        if iterate is None:
            return None
        if self.twin is not None:
            self._advance_twin(self.twin, iterate)
        self.singular_values = iterate.singular_values
        return iterate

    def _advance_twin(self, twin: KernelTwin, iterate: MultiClassStep) -> None:
        task, rows = self._task_of(self._problem), iterate.batch
        c = task.problem.slopes(task.X[rows] @ self.W, task.y[rows]) / task.batch_size
        twin.advance(task.problem, iterate.step, rows, c, self.task.plain(self.W), iterate.Q, iterate.W)

    def _read(self, task: MultiClassTask, iterate: MultiClassStep) -> tuple[NDArray, float, Callable[[], NDArray]]:
        """Return the gauges' readings: scores, the features' noise (NaN), and a function for single gradients."""
        return (
            (self._gauged_points @ iterate.W).ravel(),
            np.nan,
            partial(self._each, task, iterate.batch[:PLACES], self.W),
        )

    def _each(self, task: MultiClassTask, rows: NDArray, W: NDArray) -> NDArray:
        if task.problem.batch_size is None:  # all labeled points: no draw, no noise
            return np.zeros((2, len(self._gauged_points) * W.shape[1]))
        slopes = task.problem.slopes(task.X[rows] @ W, task.y[rows])
        return np.einsum("bp,bk->bpk", task.X[rows] @ self._gauged_points.T, slopes).reshape(len(rows), -1)

    def _measure(self, iterate: MultiClassStep) -> dict[str, float]:
        task = self._task_of(self._problem)
        problem, terms = task.problem, task.terms(self.W)
        return {
            "t": iterate.t,
            "step_size": iterate.step,
            "lam": problem.lam,
            "tau_I": problem.tau_I,
            "tau_S": problem.tau_S,
            "objective": objective(terms),
            "objective_batch": objective(iterate.terms),
            **{f"term: {name}": value for name, value in terms.items()},
            **self._of_average(task),
            **self._scores(),
            "gradient_norm": iterate.gradient_norm,
            **self._spectrum(),
            **(self.twin.compare(self.test_values[: len(self.twin.K)]) if self.twin is not None else {}),
        }

    def _of_average(self, task: MultiClassTask) -> dict[str, float]:
        """Return the average's objective and test score, if the spec requests iterate averaging."""
        if self._after is None:
            return {}
        score = self.problem.score(self.split.y_test, self.test_average)
        return {"objective_average": objective(task.terms(self.average)), "score_average": score}

    def _scores(self) -> dict[str, float]:
        split, score = self.split, self.problem.score
        scores = {
            "score_test": self._test_score(),
            "score_labeled": score(*known(split.y_hidden[self.labeled_rows], self.labeled_values)),
        }
        values = self.training_values
        if values is not None:
            rows = self.unlabeled_rows
            scores["score_unlabeled"] = score(*known(split.y_hidden[rows], values.take(rows, axis=0)))
        return scores

    def _test_score(self) -> float:
        return self.problem.score(self.split.y_test, self.test_values)

    def _spectrum(self) -> dict[str, float]:
        """Return the largest singular values, the number of nonzero ones, and the sum of those in the tail."""
        values = self.singular_values
        rank = int(np.sum(values > RANK_TOLERANCE * values[0])) if values[0] > 0 else 0
        columns = {f"singular value {i + 1}": v for i, v in enumerate(values[:MAX_SINGULAR_VALUES])}
        return {"rank": rank, "tail_sum": float(values[self._problem.n_kept(*self.W.shape) :].sum()), **columns}

    def links(self, limit: int) -> NDArray:
        """Return at most `limit` links of the neighbour graph, evenly spread over them: rows of both ends, (m, 2)."""
        if self.task.M is None and len(self.graphs.X) >= MIN_POINTS_TO_WAIT_FOR:
            return np.zeros((0, 2), dtype=np.intp)  # the run does not use the graph, so it has not been made
        L = self.graphs.graph(self.task.problem).L.tocoo()
        ends = np.stack([L.row, L.col], axis=1)[L.row < L.col]
        return ends[:: max(1, -(-len(ends) // limit))]

    def follow(self, spec: Spec) -> None:
        """Adopt a spec's changes; get the graph if one of them is the first to use it."""
        self.spec = spec
        if self.task.M is None and uses_graph(spec):
            self._take_graph()

    @staticmethod
    def long_work(spec: Spec, split: Split) -> tuple[Any, ...] | None:
        """Return the job that makes the graph, if a run needs it, it takes long, and it has not been made."""
        if not uses_graph(spec) or len(split.X_train) < MIN_POINTS_TO_WAIT_FOR:
            return None
        graphs, problem = graph_cache_of(split), problem_at(spec, 0)
        features = features_of(problem, spec.seed)
        graph, pull = graphs.made(problem, features)
        if graph is not None and pull is not None:
            return None
        arguments = (graphs.X, graph, problem.n_neighbors, problem.variant, features)
        return make_graph_and_pull, arguments, lambda made: graphs.keep(problem, features, made)

    def keep(self) -> None:
        """Keep the present state for `go_back`."""
        # An iteration makes new arrays and changes none, so that no copy is needed.
        self._kept_state = (self.t, self.W, self.singular_values, self._sum)
        self._kept_twin = copy(self.twin)

    def go_back(self) -> None:
        """Restore the state that `keep` kept last."""
        self.t, self.W, self.singular_values, self._sum = self._kept_state
        self.twin = self._kept_twin

    def at(self, t: int) -> Self:
        """Return the engine after `t` iterations, without its exact-kernel twin."""
        other = copy(self)
        other.t, other.W, other.twin = t, self._weights_at(t), None
        other.singular_values = np.linalg.svdvals(other.W)
        other._sum = self._sum_to(t) if self._after is not None else self._sum
        return other

    def start_objective(self) -> float:
        """Return the objective at W = 0: every margin is 0 and costs 1."""
        return objective(self._task_of(self._problem).terms(self.task.start()))

    def exact_values(self, Z: NDArray) -> NDArray:
        """Return the exact-kernel twin h at the points `Z` (p, d), of shape (p, K). Only random features have a twin."""
        if self.twin is None:
            raise DSGError("there is no exact-kernel twin: the features are linear, or the sample is too large")
        return self.twin.values(Z.astype(np.float64))

    @classmethod
    def learned(cls, spec: Spec, split: Split, until: Callable[[], bool] = lambda: False) -> NDArray | None:
        """Return the result of a whole run on the test points; None if `until` ended the run early."""
        engine = cls(replace(spec, diagnostics=replace(spec.diagnostics, n_probes=0)), split)
        while (iterate := engine._next(engine.t + 1)) is not None:
            engine._take(iterate)
            if until():
                return None
        return engine.test_values if engine._after is None else engine.test_average

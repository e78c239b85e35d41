"""PS3VT run on a spec's data: iterations, graph, measurements, and the weights of earlier iterations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import SECONDS_A_DRAW, Cost, Sizes
from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import known
from dsgcore.core.sampling import evenly_spread
from dsgcore.data import Split
from dsgcore.multiclass.automatic import has_minimiser, settle_step, smooth_minimiser
from dsgcore.multiclass.features import KEPT_FREQUENCIES, Weights, features_of
from dsgcore.multiclass.graph import MAX_KEPT_FEATURES, MIN_POINTS_TO_WAIT_FOR, graph_cache_of, make_graph_and_pull
from dsgcore.multiclass.loop import MultiClassStep, MultiClassTask, descend, make_task, tail_mean
from dsgcore.multiclass.problem import AUTOMATIC_TAU_I, MultiClass, MultiClassSetting, problem_at, uses_graph
from dsgcore.multiclass.twin import MAX_POINTS, KernelTwin
from dsgcore.problems import UNLABELED, objective
from dsgcore.solver.automatic_step import StepSizes
from dsgcore.solver.measures import PLACES, Gauges
from dsgcore.solver.parameters import RunSpec
from dsgcore.solver.problem import rows_where
from dsgcore.solver.stopping import Stopping
from dsgcore.solver.task import tail_start

# Largest automatic weight of the graph, as a share of the weight at which a step overshoots. Closer to that weight,
# the graph amplifies the noise of the mini-batches' labels, and the score fluctuates.
SHARE_OF_LIMIT, SMALLEST = 0.1, 1e-300
# Number of singular values with a column of their own in the history; one below this share of the largest is zero.
MAX_SINGULAR_VALUES, RANK_TOLERANCE = 12, 1e-9
# Number of labeled points whose scores the gauges read.
GAUGED_POINTS = 8
# Up to this many training points, every iteration measures the scores of all of them.
MAX_POINTS_FOR_WHOLE_SAMPLE = 20_000
# Weights are kept at multiples of this number of iterations. The others are recomputed from these.
ITERATIONS_BETWEEN_WEIGHTS = 25
FLOAT = 8
MOST_CLASSES = 20
# Seconds for a number of a product of matrices, and for a random feature of a point, its cosine and its sine.
SECONDS_A_PRODUCT, SECONDS_A_FEATURE = 3e-10, 3e-8
# Approximate number of neighbours of a point, and of numbers kept for each link of the graph.
NUMBERS_A_LINK = 6
# If singular values are shrunk, an iteration decomposes the weights.
PRODUCTS_A_DECOMPOSITION = 10
# Fitted to runs (.github/docs/notes/explore.md): share of the upper estimate that an iteration takes, and the number of
# iterations that the features and the graph are worth.
SHARE, SETUP_ITERATIONS = 0.5, 30


def seconds_of_features(points: int, sizes: Sizes) -> float:
    """Estimate the seconds that the random features of so many points take in NumPy, including their draws."""
    each = points * (SECONDS_A_FEATURE + sizes.d * SECONDS_A_PRODUCT) + sizes.d * SECONDS_A_DRAW
    return sizes.n_features * each if points else 0.0


def cost_of_iterations(numbers: float, seconds: float, sizes: Sizes) -> Cost:
    """Return the cost of a run that keeps so many numbers, and whose iterations take so long."""
    return Cost(int(FLOAT * numbers), seconds, SHARE * seconds * (sizes.n_iter + SETUP_ITERATIONS))


class MultiClassEngine:
    """Run of proximal stochastic sub-gradients on a spec's data.

    `singular_values` (min(d, K),) are those of the weights, in descending order. `automatic_tau_I` is the value of an automatic
    tau_I: 0.001, or less if the first step would overshoot. Raise `ProblemError` if there are fewer than two classes.
    """

    has_graph: ClassVar[bool] = True
    limited_by: ClassVar[str] = "the graph's pull"
    can_look_back: ClassVar[bool] = True
    shift: ClassVar[float] = 0.0  # the predicted class has the highest score
    average_shift: ClassVar[float] = 0.0
    state: ClassVar[tuple[str, ...]] = ("t", "W", "singular_values", "_sum")  # what an iteration makes anew
    n_blocks: ClassVar[int] = 0  # of the features

    def __init__(self, spec: RunSpec, split: Split) -> None:
        self.spec, self.split = spec, split
        self.labeled_rows = np.flatnonzero(split.y_train != UNLABELED)
        self.unlabeled_rows = rows_where(split.y_train == UNLABELED, or_all=True)
        self.graphs, start = graph_cache_of(split), time.perf_counter()
        first = replace(problem_at(spec, 0), tau_I=0.0)
        task = make_task(first, self.graphs.X, split.y_train, spec.seed, len(split.class_names))
        task = replace(task, features=replace(task.features, n_blocks=self.n_blocks))
        self.training_seconds = time.perf_counter() - start
        self._automatic_step = task.problem.step_size if spec.solver.step_size is None else None
        self.automatic_tau_I = AUTOMATIC_TAU_I
        self._problem = problem_at(spec, 0, automatic_step=self._automatic_step)  # of the last iteration
        self.task = replace(task, problem=self._problem)
        is_small = len(self.graphs.X) <= MAX_POINTS_FOR_WHOLE_SAMPLE
        sets = ("labeled", "test", *["training"] * is_small)
        self._points = {which: self.graphs.scored(which, task.features) for which in sets}
        self.t, self.W, self._sum = 0, task.start(), task.start()
        self.singular_values = np.zeros(min(self.W.shape))
        self.average_after = None if spec.solver.average is None else tail_start(spec.solver.n_iter)
        self._iterates: Iterator[MultiClassStep] = iter(())
        self._last: MultiClassStep | None = None
        # The exact-kernel twin; none for linear features or large samples.
        self.twin: KernelTwin | None = None
        probes, training = split.X_test[: spec.diagnostics.n_probes].astype(np.float64), self._points.get("training")
        is_twinned = task.features.kind != "linear" and len(probes) > 0 and len(self.graphs.X) <= MAX_POINTS
        if is_twinned and training is not None and isinstance(training.phi, np.ndarray):
            k = self.W.shape[1]
            self.twin = KernelTwin(task.features, training.X, training.phi, self.labeled_rows, probes, k)
        self._gauged = evenly_spread(len(task.X), GAUGED_POINTS)
        self.gauges = Gauges(len(self._gauged) * self.W.shape[1])
        self._largest = 0.0
        if uses_graph(spec):
            self._take_graph()
        self._problem = self._problem_at(0)
        self.ends_at: int | None = None
        self.averaged_again: tuple[dict[str, float], ...] = ()
        self._begin()
        self._kept = {0: self.W}
        self.keep()

    def _begin(self) -> None:
        """Take the start and the rule of the end that the spec has: those of the estimator, or 0 and all iterations."""
        solver, task, first = self.spec.solver, self._task_of(self._problem), None
        has_all = len(np.unique(task.y)) == task.n_classes
        if solver.start is not None and has_all and has_minimiser(self._problem):
            self.W = first = smooth_minimiser(self._problem, task.some_features, task.y, task.n_classes, task.M)
        self._mean = tail_mean(task, first, Stopping(tol=solver.tol or None))

    @property
    def is_settled(self) -> bool:
        return self.t == self.ends_at or self._mean.is_settled

    def _take_graph(self) -> None:
        """Get the graph, and compute the weight that a step allows."""
        pull = self.graphs.pull(self.task.problem.links, self.task.features)
        self.task = replace(self.task, M=pull.M)
        self.training_seconds += pull.seconds  # even if another run made it
        self._largest = pull.largest
        step = self.task.problem.step_size  # the largest step of every schedule
        self.automatic_tau_I = min(AUTOMATIC_TAU_I, SHARE_OF_LIMIT / max(step * pull.largest, SMALLEST))
        if self.twin is not None:
            self.twin.link(self.graphs.laplacian(self.task.problem.links))

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

    def update(self, *, is_brief: bool = False) -> bool:
        """Make one iteration, unless the run has ended; a brief one is not read by gauges."""
        self._last = self._stepped()
        if self._last is None:
            return False
        if self.is_settled and self.average_after is not None and self.t < self.spec.solver.n_iter:
            # No iteration need follow: the average of each one is measured again, as only the planned ones' half was summed.
            last, last_sum, weights, rows = (self.t, self.W), self._sum, self._weights_from(1), list[dict[str, float]]()
            self._sum = self.task.start()
            for self.t, self.W in zip(range(1, last[0] + 1), weights, strict=False):
                self._sum = self._sum + self.W if self.t > self.average_after else self._sum
                rows.append(self._of_average(self._last.task))
            (self.t, self.W), self._sum, self.averaged_again = last, last_sum, tuple(rows)
        if not is_brief:
            iterate, task, problem = self._last, self._last.task, self._last.task.problem

            def each() -> NDArray:
                if problem.batch_size is None:  # all labeled points: no draw, no noise
                    return np.zeros((2, len(self._gauged) * task.n_classes))
                products, slopes = self._single(iterate)
                return np.einsum("bp,bk->bpk", products, slopes).reshape(len(products), -1)

            def read() -> tuple[NDArray, float, Callable[[], NDArray]]:
                return self.labeled_values[self._gauged].ravel(), np.nan, each

            decay = 1.0 - 2.0 * problem.step_size * problem.lam
            self.gauges.advance(self.t, problem.step_size, decay, task.batch_size, read)
        return True

    def row(self, *, is_brief: bool = False) -> dict[str, float]:
        iterate = self._last
        assert iterate is not None
        problem, terms, score = iterate.task.problem, self._terms(iterate.task), self.problem.score
        score_test = score(self.split.y_test, self.test_values)
        if is_brief:
            row = {"t": self.t, "objective": objective(terms), "score_test": score_test}
            return row | self._of_average(iterate.task)
        hidden, of_training, values = self.split.y_hidden, self.training_values, self.singular_values
        unlabeled = {}
        if of_training is not None:
            rows = self.unlabeled_rows
            unlabeled["score_unlabeled"] = score(*known(hidden[rows], of_training.take(rows, axis=0)))
        return {
            "t": iterate.t,
            "step_size": problem.step_size,
            "lam": self.spec.values_at(iterate.t)["lam"],
            "tau_I": problem.tau_I,
            "tau_S": problem.tau_S,
            "objective": objective(terms),
            "objective_batch": objective(iterate.terms),
            **{f"term: {name}": value for name, value in terms.items()},
            **self._of_average(iterate.task),
            "score_test": score_test,
            "score_labeled": score(*known(hidden[self.labeled_rows], self.labeled_values)),
            **unlabeled,
            "gradient_norm": float(np.linalg.norm(iterate.gradient)),
            "rank": int(np.sum(values > RANK_TOLERANCE * values[0])) if values[0] > 0 else 0,
            "tail_sum": float(values[problem.n_kept(*self.W.shape) :].sum()),
            **{f"singular value {i + 1}": value for i, value in enumerate(values[:MAX_SINGULAR_VALUES])},
            **(self.twin.compare(self.test_values[: len(self.twin.K)]) if self.twin is not None else {}),
        }

    def _stepped(self) -> MultiClassStep | None:
        start = time.perf_counter()
        iterate = self._next()
        self.training_seconds += time.perf_counter() - start
        if iterate is None:
            return None
        self.singular_values = iterate.singular_values
        if self.twin is not None:
            self._advance(self.twin, iterate)
        return iterate

    def _advance(self, twin: KernelTwin, iterate: Any) -> None:
        task, W, rows = iterate.task, iterate.before, iterate.batch
        c = task.problem.slopes(task.X[rows] @ W, task.y[rows]) / task.batch_size
        twin.advance(task.problem, rows, c, task.plain(W), iterate.Q, iterate.W)

    def _next(self) -> MultiClassStep | None:
        problem = self._problem_at(self.t + 1)
        if self.t == 0 or problem != self._problem:
            self._problem, self._iterates = problem, descend(self._task_of(problem), self.W, self.t)
        iterate = next(self._iterates, None)
        if iterate is not None:
            self.t, self.W = iterate.t, iterate.W
            if self.average_after is not None and self.t > self.average_after:
                self._sum = self._sum + self.W
            if self.t % ITERATIONS_BETWEEN_WEIGHTS == 0:
                self._kept[self.t] = self.W
            if self.spec.solver.tol:
                self._mean.add(self.W)
            if self.is_settled and self.average_after is not None and self.t < self.spec.solver.n_iter:
                self.average_after = tail_start(self.t)  # the mean of the second half of those made, as a fit's
                self._sum = self._sum_to(self.t)
        return iterate

    def _problem_at(self, t: int) -> MultiClass:
        return problem_at(self.spec, t, self.automatic_tau_I, self.automatic_step)

    def _task_of(self, problem: MultiClass) -> MultiClassTask:
        return replace(self.task, problem=problem, M=self.task.M if problem.tau_I > 0 else None)

    def _single(self, iterate: Any) -> tuple[NDArray, NDArray]:
        """Return some of the mini-batch's points: products with the gauged points' features (B, p), and slopes (B, K)."""
        task, rows, W = iterate.task, iterate.batch[:PLACES], iterate.before
        return task.X[rows] @ task.X[self._gauged].T, task.problem.slopes(task.X[rows] @ W, task.y[rows])

    def _of_average(self, task: MultiClassTask) -> dict[str, float]:
        if self.average_after is None:
            return {}
        score = self.problem.score(self.split.y_test, self.test_average)
        return {"objective_average": objective(self._terms(task, of_average=True)), "score_average": score}

    def _terms(self, task: MultiClassTask, *, of_average: bool = False) -> dict[str, float]:
        return task.terms(self.average if of_average else self.W)

    def links(self, limit: int) -> NDArray:
        """Return at most `limit` links of the neighbour graph, evenly spread over them: rows of both ends, (m, 2)."""
        if self.task.M is None and len(self.graphs.X) >= MIN_POINTS_TO_WAIT_FOR:
            return np.zeros((0, 2), dtype=np.intp)  # the run does not use the graph, so it has not been made
        L = self.graphs.laplacian(self.task.problem.links).tocoo()
        ends = np.stack([L.row, L.col], axis=1)[L.row < L.col]
        return ends[:: max(1, -(-len(ends) // limit))]

    def follow(self, spec: RunSpec) -> None:
        """Adopt a spec's changes; get the graph if one of them is the first to use it."""
        self.spec = spec
        if self.task.M is None and uses_graph(spec):
            self._take_graph()

    @staticmethod
    def long_work(spec: RunSpec, split: Split) -> tuple[Any, ...] | None:
        """Return the job that makes the graph, if a run needs it, it takes long, and it has not been made."""
        if not uses_graph(spec) or len(split.X_train) < MIN_POINTS_TO_WAIT_FOR:
            return None
        graphs, problem = graph_cache_of(split), problem_at(spec, 0)
        key = problem.links, features_of(problem, spec.seed)
        graph, pull = graphs.made(*key)
        if graph is not None and pull is not None:
            return None
        return make_graph_and_pull, (graphs.X, graph, *key), lambda made: graphs.keep(*key, made)

    def keep(self) -> None:
        """Keep the present state for `go_back`."""
        # An iteration makes new arrays and changes none, so that no copy is needed.
        self._all_kept = {name: getattr(self, name) for name in self.state} | {"twin": copy(self.twin)}

    def go_back(self) -> None:
        vars(self).update(self._all_kept)

    def at(self, t: int) -> Self:
        """Return the engine after `t` iterations, without its exact-kernel twin."""
        other = copy(self)
        other.t, other.W, other.twin = t, next(self._weights_from(t)), None
        other.singular_values = np.linalg.svdvals(other.W)
        other._sum = self._sum_to(t) if self.average_after is not None else self._sum
        return other

    @cached_property
    def start_objective(self) -> float:
        """The objective at W = 0, where every margin is 0 and costs 1, also for a run with an exact start."""
        return objective(self._task_of(self._problem_at(0)).terms(np.zeros_like(self.W)))

    def exact_values(self, Z: NDArray) -> NDArray:
        """Return the exact-kernel twin h at the points `Z` (p, d), of shape (p, K). Only random features have a twin."""
        if self.twin is None:
            raise DSGError("there is no exact-kernel twin: the features are linear, or the sample is too large")
        return self.twin.values(Z.astype(np.float64))

    @classmethod
    def learned(cls, spec: RunSpec, split: Split, until: Callable[[], bool] = lambda: False) -> NDArray | None:
        """Return the result of a whole run on the test points; None if `until` ended the run early."""
        engine = cls(replace(cast(Any, spec), diagnostics=replace(spec.diagnostics, n_probes=0)), split)
        while engine._next() is not None:
            if until():
                return None
            if engine.is_settled:
                break
        if engine.t < spec.solver.n_iter and not engine.is_settled:  # the next step is not finite
            return np.full_like(engine.test_values, np.nan)
        return engine.test_values if engine.average_after is None else engine.test_average

    @classmethod
    def cost(cls, spec: RunSpec, sizes: Sizes) -> Cost:
        """Return the cost of a run besides its data: its features, the graph's matrix, and the weights it keeps."""
        is_linear = problem_at(spec, 0).feature_map == "linear"
        width = sizes.d if is_linear else 2 * sizes.n_features
        points = [sizes.n_train, sizes.n_test, sizes.n_labeled]
        kept = sum(n * width for n in points if n * width <= MAX_KEPT_FEATURES)
        made_anew = 0 if is_linear else sum(n for n in points if n * width > MAX_KEPT_FEATURES)
        weights = width * MOST_CLASSES
        # The graph's matrix is computed from the features of all training points at once, and while Fourier features of points
        # are made, there are turns, cosines and sines beside them.
        pull = 2 * width * width if uses_graph(spec) else 0
        most = max(n for n in (0, *points) if n * width <= MAX_KEPT_FEATURES)
        beside = 2 * sizes.n_train * width if pull else 0 if is_linear else 2 * most * width
        links = sizes.n_train * spec.problem.n_neighbors * NUMBERS_A_LINK
        n_kept = sizes.n_iter / ITERATIONS_BETWEEN_WEIGHTS + 4
        frequencies = 0 if is_linear else KEPT_FREQUENCIES * sizes.d * sizes.n_features
        has_twin = not is_linear and sizes.n_train <= MAX_POINTS
        twin = sizes.n_probes * (sizes.n_train + sizes.n_labeled + width) if has_twin else 0
        numbers = twin + sum(points) * sizes.d + kept + weights * n_kept + pull + beside + links + frequencies
        products = (
            sum(points) * weights + PRODUCTS_A_DECOMPOSITION * weights * MOST_CLASSES + (width * weights if pull else 0)
        )
        return cost_of_iterations(numbers, products * SECONDS_A_PRODUCT + seconds_of_features(made_anew, sizes), sizes)

    @property
    def model(self) -> Weights:
        """The weights and their features."""
        return self.model_at(self.t)

    def model_at(self, t: int) -> Weights:
        """Return the model after `t` iterations."""
        return self._mean_of(t, t - 1)

    def average_at(self, t: int) -> Weights:
        """Return the averaged model after `t` iterations; before the second half, the model with the weights of then."""
        return self._mean_of(t, t - 1 if self.average_after is None or t <= self.average_after else self.average_after)

    def _mean_of(self, t: int, first: int) -> Weights:
        """Return the mean of the iterates after the `first` ones of `t`, by repeating steps from kept weights before it."""
        if first == t - 1:
            W = self.W if t == self.t else next(self._weights_from(t))
        else:
            W = self.average if t == self.t else self._sum_to(t) / (t - first)
        return Weights(self.task.features, self.task.plain(W), self.graphs.X.shape[1])

    @property
    def n_kept(self) -> int:
        """Number of singular values that the pull to low rank does not change."""
        return self._problem_at(self.t).n_kept(*self.W.shape)

    @property
    def training_values(self) -> NDArray | None:
        """Scores at all training points, of shape (n, K); None if there are too many of them."""
        return self._scores("training") if "training" in self._points else None

    def _scores(self, which: str, *, of_average: bool = False) -> NDArray:
        return self._points[which].scores(self.task.plain(self.average if of_average else self.W))

    @property
    def test_values(self) -> NDArray:
        """Scores at all test points, of shape (n_test, K)."""
        return self._scores("test")

    @property
    def labeled_values(self) -> NDArray:
        """Scores at the labeled points, of shape (n_labeled, K)."""
        return self._scores("labeled")

    @property
    def average(self) -> NDArray:
        """Mean of the weights over the second half of the planned run so far; the current weights before that."""
        is_begun = self.average_after is not None and self.t > self.average_after
        return self._sum / (self.t - self.average_after) if is_begun else self.W  # type: ignore[operator]

    @property
    def test_average(self) -> NDArray:
        """The average's scores at all test points, of shape (n_test, K)."""
        return self._scores("test", of_average=True)

    @property
    def automatic_step(self) -> float:
        if self._automatic_step is None:
            opened = replace(self.task.problem, step_size=cast(Any, None), tau_I=0.0)
            self._automatic_step = settle_step(opened, self.task.some_features, len(self.task.y), None).step_size
        return self._automatic_step

    def step_at(self, t: int) -> float:
        return self._problem_at(t).at(max(t, 1), len(self.task.y)).step_size

    def _weights_from(self, t: int) -> Iterator[NDArray]:
        """Yield the weights after `t` iterations and after each further one, from the last kept weights on."""
        number = max(kept for kept in self._kept if kept <= t)
        W = self._kept[number]
        while True:
            if number >= t:
                yield W
            number += 1
            W = next(descend(self._task_of(self._problem_at(number)), W, number - 1)).W

    def _sum_to(self, t: int) -> NDArray:
        """Return the sum of the weights after each iteration of the second half, up to `t`."""
        assert self.average_after is not None
        return sum(
            islice(self._weights_from(self.average_after + 1), max(0, t - self.average_after)), self.task.start()
        )

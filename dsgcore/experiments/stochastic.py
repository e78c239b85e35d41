"""Engine of the four stochastic settings: the solver's recursion with all its measurements, or its result alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import SECONDS_A_DISTANCE, SECONDS_A_VALUE, Cost, Sizes, seconds_of_features
from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import known
from dsgcore.core.parameters import ParameterError
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.data.datasets import N_CLASSES
from dsgcore.experiments.spec import Spec
from dsgcore.kernels.kernels import rounded_columns, too_far
from dsgcore.problems import UNLABELED, Problem, objective
from dsgcore.solver.automatic_step import StepSizes, step_sizes
from dsgcore.solver.loop import AllPoints, Carried, Iterate, solve, training_points
from dsgcore.solver.measures import PROBES, AverageNorm, BatchSpread, DualCoefficients, ExactTwin, Gauges, SquaredNorm
from dsgcore.solver.model import Expansion
from dsgcore.solver.problem import rows_where
from dsgcore.solver.start import plan_start
from dsgcore.solver.stopping import Stopping, ValuesMean
from dsgcore.solver.task import Plan, Task, drawn_rows, tail_start

# With at most this many training points, f is tracked at all of them, and the objective is that of the whole sample.
MAX_POINTS_FOR_WHOLE_SAMPLE = 20_000
# The tracked state is copied at every so many iterations; states in between are computed again.
ITERATIONS_BETWEEN_COPIES = 8
# So many copies of a run are kept, as starting points for earlier iterations.
COPIES_OF_THE_WAY = 32
# The averaged iterate moves slowly, so it is measured every so many iterations. Rows in between repeat the last values.
ITERATIONS_BETWEEN_AVERAGES = 16
CURVATURE = "the risk's curvature"  # limits the step
# The state that an iteration updates besides the model.
STATE = ("_training", "probes", "rest_of_test", "labeled", "unlabeled", "twin", "dual", "norm", "average_norm")
# Bytes for each visit known in advance: the row's number, its place, and the memory for sorting them.
BYTES_A_VISIT = 32
# The run and its supervised twin.
RUNS = 2
# Fitted to runs (.github/docs/notes/explore.md): likely seconds of an iteration for each source, mostly of measuring it, and
# the share of the upper estimate for features and kernel sums.
SECONDS_A_SOURCE, SHARE = 1.65e-4, 0.22


def task_of(spec: Spec, split: Split) -> Task:
    """Return the solver's task, still without its automatic step."""
    s, dtype = spec.solver, np.dtype(spec.solver.dtype)
    after = None if s.average is None else tail_start(s.n_iter)
    if said := too_far(split.X_train, spec.kernel):
        raise ParameterError(said)
    problem = cast(Problem, spec.problem).bind(split.y_train)
    task = Task(
        problem=problem,
        kernel=spec.kernel,
        X=np.ascontiguousarray(split.X_train, dtype=dtype),
        rows=drawn_rows(problem, split.y_train, s.sampling),
        plan=Plan(s.schedule, s.step_size, s.lam, s.n_features, s.n_iter, list(spec.changes), average_after=after),
        batch_size=s.batch_size,
        seed=spec.seed,
        dtype=dtype,
        sampling=s.sampling,
        features=s.features,
    )
    if s.start is not None:
        plan_start(task, s.start)
    return task


@dataclass
class MeasuredPoints:
    """Points that are tracked for measurements alone, and the seconds that this takes."""

    point_sets: list[Carried]
    seconds: float = 0.0

    def advance(self, W: NDArray, block: NDArray, decay: float) -> None:
        """Add one iteration's block, with frequencies `W`."""
        start = time.perf_counter()
        for points in self.point_sets:
            points.advance(W, block, decay)
        self.seconds += time.perf_counter() - start


class StochasticEngine:
    """Doubly stochastic gradients on a spec's data: a model with all its tracked state, before and after any iteration.

    A `Run` uses these members, which `MultiClassEngine` has, too. Values of several classes have the shape (n, K).
    """

    # True if points are linked: then ``links(limit)`` returns both ends of at most so many links, (m, 2).
    has_graph: ClassVar[bool] = False
    # The quantity that limits the step.
    limited_by: ClassVar[str] = CURVATURE

    def __init__(self, spec: Spec, split: Split, *, is_measured: bool = True) -> None:
        self.task, self.split, self.kernel, self._is_measured = task_of(spec, split), split, spec.kernel, is_measured
        self.problem: Problem = self.task.problem
        self.labeled_rows = np.flatnonzero(split.y_train != UNLABELED)
        self.unlabeled_rows = rows_where(split.y_train == UNLABELED, or_all=True)
        self.training_seconds = 0.0  # on the model so far, as a fit without any measurements would take
        self._average_row: dict[str, float] = {}
        self._present: dict[tuple[float, int, int], StepSizes] = {}
        self._last: Iterate | None = None
        self.ends_at: int | None = None  # the iteration after which the run counts as settled in any case
        # What each row says about the average, if it was measured again at the end of a run that has settled.
        self.averaged_again: tuple[dict[str, float], ...] = ()
        n_probes = spec.diagnostics.n_probes if is_measured else 0
        self.gauges = Gauges(min(n_probes, PROBES, len(split.X_test)))
        self._begin(n_probes)
        self._check: ValuesMean | None = None
        if tol := spec.solver.tol:
            self._check = ValuesMean(self.task, self.model, self._training, Stopping(tol=tol))
        self._iterates = self._solve()

    def _begin(self, n_probes: int) -> None:
        """Initialise the model and all tracked state; so many test points serve to measure the features' error."""
        start, task, X_test, after = time.perf_counter(), self.task, self.split.X_test, self.task.plan.average_after
        if task.plan.is_open:  # computed once, since it may take a second
            task.plan.automatic_step = self.step_sizes.automatic
        self.model = model = task.new_model()
        is_whole = self._is_measured and len(task.X) <= MAX_POINTS_FOR_WHOLE_SAMPLE
        self._training = AllPoints(task, model) if is_whole else training_points(task, model)
        self.training_seconds += time.perf_counter() - start
        self.probes = Carried(X_test[:n_probes], model, with_variance=True, average_after=after)
        self.rest_of_test = Carried(X_test[n_probes:], model, average_after=after)
        self.twin = ExactTwin(self.kernel, self.probes.X)
        self.dual, self.norm = DualCoefficients(len(task.X)), SquaredNorm()
        self.average_norm = None if after is None else AverageNorm(after)
        self.labeled = self.unlabeled = None
        if not is_whole:
            if self._is_measured:
                self.labeled = Carried(task.X[self.labeled_rows], model, average_after=after)
            if self.problem.is_shifted:
                self.unlabeled = Carried(task.X[task.shift_rows], model, average_after=after)
        self._spread = BatchSpread(self.kernel, self.probes.X[:PROBES])
        self._recorded, self._kept_t, self._way = model, 0, list[dict[str, Any]]()

    def _copied(self) -> dict[str, Any]:
        return {"t": len(self.model), **{name: copy(getattr(self, name)) for name in STATE}}

    def _solve(self) -> Iterator[Iterate]:
        checked = [] if self._check is None else self._check.carried
        carried = [self.probes, self.rest_of_test, self.labeled, self.unlabeled]
        # With fixed features, values at the end are one block's.
        carried = [*(carried if self._is_measured or not self.model.is_fixed else ()), *checked]
        self._measured = MeasuredPoints([points for points in carried if points is not None and len(points.X)])
        return solve(self.task, self.model, training=self._training, carried=[self._measured])

    @classmethod
    def learned(cls, spec: Spec, split: Split, until: Callable[[], bool] = lambda: False) -> NDArray | None:
        """Return a whole run's result on the test points, as it is scored; None if `until`, called each time, ended it."""
        engine = cls(spec, split, is_measured=False)
        plan, check, model, after = engine.task.plan, engine._check, engine.model, engine.task.plan.average_after
        with single_threaded_blas():  # one limit for all iterations: setting it is slow
            for _ in engine._iterates:
                if until():
                    return None
                if check is not None and check.take():
                    break
        n_iter, test, unlabeled = len(model), engine.rest_of_test, engine.unlabeled
        if n_iter < plan.n_iter and not engine.is_settled:  # the next step is not finite
            return np.full(len(test.X), np.nan)
        if not model.is_fixed and (n_iter == plan.n_iter or after is None):
            return test.average + engine.average_shift if engine.problem.is_shifted else test.average
        # The mean of the second half of the iterations made.
        mean = model if after is None else model.tail_average(n_iter - tail_start(n_iter))
        f: NDArray = mean.evaluate(test.X)
        return f if unlabeled is None else f + engine.problem.shift(mean.evaluate(unlabeled.X))

    @property
    def t(self) -> int:
        """The number of iterations that the model and all values now include."""
        return len(self.model)

    @property
    def training_values(self) -> NDArray | None:
        """F at all training points, of shape (n,); None if there are too many of them to track."""
        return self._training.values if isinstance(self._training, AllPoints) else None

    @property
    def test_values(self) -> NDArray:
        """F at all test points, of shape (n_test,)."""
        return np.concatenate([self.probes.values, self.rest_of_test.values])

    @property
    def test_average(self) -> NDArray:
        """The averaged f at all test points, of shape (n_test,)."""
        return np.concatenate([self.probes.average, self.rest_of_test.average])

    @property
    def labeled_values(self) -> NDArray:
        """F at the labeled training points, of shape (n_labeled,)."""
        return self._training.values[self.labeled_rows] if self.labeled is None else self.labeled.values

    @property
    def shift(self) -> float:
        """The shift that the estimator adds to f before it takes the sign, from the unlabeled training points."""
        if not self.problem.is_shifted:
            return 0.0
        some = self.unlabeled
        return float(self.problem.shift(self._training.values[self.task.shift_rows] if some is None else some.values))

    @property
    def average_shift(self) -> float:
        """The shift of the averaged f."""
        if not self.problem.is_shifted:
            return 0.0
        some = self.unlabeled
        return float(
            self.problem.shift(self._training.average_of(self.task.shift_rows) if some is None else some.average)
        )

    @property
    def average_after(self) -> int | None:
        """The iteration after which iterates are averaged; None if they are not."""
        return self.task.plan.average_after

    @property
    def automatic_step(self) -> float:
        """The value of the step "auto", also if the spec gives a number."""
        return self.step_sizes.automatic

    @property
    def largest_step(self) -> float | None:
        """The constant step that the risk's curvature allows with the present ridge and features; None if it has none."""
        return self.sizes_at(self.t + 1).largest

    @property
    def caution(self) -> str:
        """Warning that coordinates are rounded too much. A too large step needs none, because the run diverges."""
        said = rounded_columns(self.split.X_train, self.kernel, self.task.dtype, self.split.feature_names)
        return f"{said[:1].upper()}{said[1:]}: scale the features, or take float64." if said else ""

    def step_at(self, t: int) -> float:
        """Return the step size of iteration `t`, past or future."""
        return self.task.plan.at(t).size

    @cached_property
    def step_sizes(self) -> StepSizes:
        """The automatic step, and the step above which the iterate diverges, at the start of the run."""
        return step_sizes(self.task)

    def sizes_at(self, t: int) -> StepSizes:
        """Return the same for a run that begins with the ridge and the features of iteration `t`."""
        plan = self.task.plan
        if not any(change.name in ("lam", "n_features") for change in plan.changes):
            return self.step_sizes
        step = replace(plan, schedule="constant", automatic_step=1.0).at(t)
        key = (step.lam, step.n_features, plan.n_iter)
        if key not in self._present:
            self._present[key] = step_sizes(self.task, t)
        return self._present[key]

    def update(self, *, is_brief: bool = False) -> bool:
        """Make one iteration, unless there is no further one; a brief one is not read by gauges, nor kept for `at`."""
        if not is_brief and not self._way:
            self._way.append(self._copied())
        start, beside = time.perf_counter(), self._measured.seconds
        self._last = next(self._iterates, None)
        self.training_seconds += time.perf_counter() - start - (self._measured.seconds - beside)
        if self._last is None:
            return False
        self._bring_forward(self._last, is_gauged=not is_brief)
        if self._check is not None:
            self._check.take()
        if self.is_settled and self.task.plan.average_after is not None and self.t < self.task.plan.n_iter:
            self._take_mean_of_those_made()
        apart = max(ITERATIONS_BETWEEN_COPIES, self.task.plan.n_iter // COPIES_OF_THE_WAY)
        if not is_brief and self.can_look_back and not self._last.t % apart:
            self._way.append(self._copied())
        return True

    def row(self, *, is_brief: bool = False) -> dict[str, float]:
        """Return the measurements of the last iteration."""
        iterate, split, score, shift = self._last, self.split, self.problem.score, self.shift
        assert iterate is not None
        step, terms = iterate.step, self._terms(self.training_values, iterate.terms)
        ridge, of_average = 0.5 * step.lam * self.norm.value, self._of_average(iterate)
        value, score_test = objective(terms) + ridge, score(split.y_test, self.test_values + shift)
        if is_brief:
            return {"t": iterate.t, "objective": value, "score_test": score_test, **of_average}
        of_unlabeled, of_features = dict[str, float](), dict[str, float]()
        if (f := self.training_values) is not None:
            rows = self.unlabeled_rows
            of_unlabeled["score_unlabeled"] = score(*known(split.y_hidden[rows], f[rows] + shift))
        if len(self.probes.X):
            assert self.probes.variance is not None
            of_features = self.twin.compare(self.probes.values, self.probes.variance)
        return {
            "t": iterate.t,
            "step_size": step.size,
            "lam": step.lam,
            "n_features": step.n_features,
            "objective": value,
            "objective_batch": objective(iterate.terms) + ridge,
            **{f"term: {name}": value for name, value in terms.items()},
            "term: ridge": ridge,
            "score_test": score_test,
            "score_labeled": score(*known(split.y_hidden[self.labeled_rows], self.labeled_values + shift)),
            **of_unlabeled,
            **of_average,
            **of_features,
        }

    @property
    def is_settled(self) -> bool:
        """True if the average no longer changes, so that no iteration need follow."""
        return self.t == self.ends_at or (self._check is not None and self._check.is_settled)

    def _take_mean_of_those_made(self) -> None:
        """Take the mean of the second half of the iterations made, as a fit that ends here does.

        Only the second half of the planned ones was summed, so the iterations are made again, with the same numbers.
        """
        made, check, copied_at = self.t, self._check, {copied["t"] for copied in self._way}
        self._average_row, rows = {}, list[dict[str, float]]()
        self.task = replace(self.task, plan=replace(self.task.plan, average_after=tail_start(made)))
        self._begin(len(self.probes.X))
        self._way = [self._copied()] * bool(copied_at)
        self._check = None
        for iterate in islice(self._solve(), made):
            self._last = iterate
            self._bring_forward(iterate, is_gauged=False)
            self._average_row = self._average_row if self.t < made else {}  # the last one is measured
            rows.append(self._of_average(iterate))
            if self.t in copied_at:
                self._way.append(self._copied())
        self._check, self._iterates, self.averaged_again = check, iter(()), tuple(rows)

    def _bring_forward(self, iterate: Iterate, *, is_gauged: bool = True) -> None:
        """Update the state that the solver itself does not track, and the gauges, by one iteration."""
        step, decay = iterate.weighed_with, iterate.step.decay
        self.norm.advance(iterate.values, iterate.weights, iterate.block, step, decay)
        if self.average_norm is not None:
            self.average_norm.advance(iterate.averages, iterate.weights, step, decay, self.norm.value)
        self.dual.advance(iterate.rows, iterate.weights, step, decay)
        if not len(self.probes.X):
            return
        self.twin.advance(iterate.points, iterate.weights, step, decay)
        if is_gauged:

            def read() -> tuple[NDArray, float, Callable[[], NDArray]]:
                assert self.probes.variance is not None
                noise = float(self.probes.variance[:PROBES].mean())
                return self.probes.values[:PROBES], noise, partial(self._spread.each, iterate)

            self.gauges.advance(iterate.t, iterate.step.size, decay, self.task.batch_size, read)

    def _terms(self, values: NDArray | None, of_batch: Mapping[str, float]) -> dict[str, float]:
        """Return the risk's terms: those of all training points if their values are tracked, else the mini-batch's."""
        if values is None:
            return dict(of_batch)
        return dict(self.problem.risk_terms({source: values[rows] for source, rows in self.task.rows.items()}))

    def _of_average(self, iterate: Iterate) -> dict[str, float]:
        """Return the average's last objective and test score, if there is one: measured at every sixteenth row and at the end."""
        if self.average_norm is None:
            return {}
        is_due = iterate.t % ITERATIONS_BETWEEN_AVERAGES == 0 or iterate.t in (self.task.plan.n_iter, self.ends_at)
        if is_due or not self._average_row:
            average = self._training.average if isinstance(self._training, AllPoints) else None
            terms = self._terms(average, self.problem.terms(iterate.average))
            self._average_row = {
                "objective_average": objective(terms) + 0.5 * iterate.step.lam * self.average_norm.value,
                "score_average": self.problem.score(self.split.y_test, self.test_average + self.average_shift),
            }
        return self._average_row

    def follow(self, spec: Spec) -> None:
        """Take over a spec's changes."""
        self.task.plan.changes[:] = spec.changes
        if self.task.plan.is_open:
            self.task.plan.automatic_step = self.step_sizes.automatic

    def keep(self) -> None:
        """Save the state that was measured last, for `go_back`."""
        # A mini-batch's objective belongs to the function before the step.
        self._kept_t = self.t - (self.training_values is None)
        if not self.can_look_back and self.t >= self._way[-1]["t"] + ITERATIONS_BETWEEN_COPIES:
            self._way = [self._way[-1], self._copied()]

    def go_back(self) -> None:
        """Restore the state that `keep` saved last."""
        self._return_to(self._kept_t)

    def _return_to(self, t: int) -> None:
        """Restore the state after `t` iterations: copy an earlier one, and repeat the iterations from there."""
        self._check = None
        copied = next(copied for copied in reversed(self._way) if copied["t"] <= t)
        self.model = self._recorded.prefix(copied["t"])
        for name in STATE:
            setattr(self, name, copy(copied[name]))
        self._iterates = self._solve()
        while self.t < t:
            self._bring_forward(next(self._iterates))
        self._iterates = iter(())

    @property
    def can_look_back(self) -> bool:
        """True if earlier states can be restored: all training points are tracked, and they are not too many to copy."""
        return isinstance(self._training, AllPoints)

    def at(self, t: int) -> Self:
        """Return the engine as it was after `t` iterations, repeated from an earlier copy: bit-for-bit identical."""
        if not (self.can_look_back and self._way and self._way[0]["t"] <= t <= len(self._recorded)):
            raise DSGError(f"the state after {t} iterations is not available")
        other = copy(self)
        other._average_row, other._check = {}, None
        other._return_to(t)
        return other

    def dual_way(self, row: int) -> tuple[NDArray, NDArray]:
        """Return the iterations that are kept, and a training point's dual coefficient after each, both (k,)."""
        kept = [(copied["t"], copied["dual"].values[row]) for copied in self._way if copied["t"] < self.t]
        t, coefficients = zip(*kept, (self.t, self.dual.values[row]), strict=True)
        return np.array(t), np.array(coefficients)

    def model_at(self, t: int) -> Expansion:
        """Return the model as it was after `t` iterations, also if the run has gone back."""
        return self._recorded.prefix(t)

    def average_at(self, t: int) -> Expansion:
        """Return the averaged model as it was after `t` iterations; the last iterate if averaging has not begun."""
        model, after = self.model_at(t), self.task.plan.average_after
        return model if after is None or t <= after else model.tail_average(t - after)

    @cached_property
    def start_objective(self) -> float:
        """The objective at f = 0."""
        zeros = {source: np.zeros(2) for source in self.task.rows}
        return objective(self.problem.risk_terms(zeros))

    def exact_values(self, Z: NDArray) -> NDArray:
        """Return the exact-kernel twin h at the points `Z` (p, d) at the current iteration: O(n p) kernel evaluations."""
        Z = np.ascontiguousarray(Z, dtype=self.task.dtype)
        out = np.zeros(len(Z), dtype=self.task.dtype)
        used = np.flatnonzero(self.dual.values)
        weights = self.dual.values[used].astype(self.task.dtype)
        self.kernel.sums(self.task.X[used], weights, Z, 0.0, out)
        return out

    @staticmethod
    def long_work(spec: Spec, split: Split) -> None:
        """Return None: a run can begin at once."""

    @staticmethod
    def cost(spec: Spec, sizes: Sizes) -> Cost:
        """Return the cost of a run, without its data."""
        problem, kernel = cast(Problem, spec.problem), spec.kernel
        sources = 1 + (spec.data.n_classes or N_CLASSES.default if problem.labels == "ordinal" else 2)
        rows = sources * sizes.batch_size
        is_whole = sizes.n_train <= MAX_POINTS_FOR_WHOLE_SAMPLE
        visits = 0 if is_whole else rows * sizes.n_iter
        carried = sizes.n_train if is_whole else min(sizes.n_train, visits) + min(sizes.n_labeled, sizes.n_train)
        points = carried + sizes.n_test
        block = 2 * sizes.n_features * sizes.itemsize
        frequencies = kernel.factors * sizes.d * sizes.n_features * (8 + sizes.itemsize)
        seconds = kernel.factors * seconds_of_features(points + 2 * rows, sizes.d, sizes.n_features, sizes.itemsize)
        if kernel.has_loop:  # a value of the twin takes as long as a feature
            seconds += seconds_of_features(rows * sizes.n_probes, sizes.d, 1, sizes.itemsize)
        else:
            seconds += rows * sizes.n_probes * (SECONDS_A_VALUE + sizes.d * SECONDS_A_DISTANCE)
        return Cost(
            RUNS * (sizes.n_iter * block + visits * BYTES_A_VISIT + points * (sizes.d + 4) * sizes.itemsize)
            + frequencies,
            seconds,
            sizes.n_iter * (sources * SECONDS_A_SOURCE + SHARE * seconds),
        )

"""Engine of the four stochastic settings: the solver's recursion with all its measurements."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import Cost, Sizes
from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import known
from dsgcore.data import Split
from dsgcore.experiments.running_state import MAX_POINTS_FOR_WHOLE_SAMPLE, RUNNING_STATE, MeasuredPoints, RunningState
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.stochastic_task import learned, stochastic_cost, task_of
from dsgcore.kernels.far_points import rounded_columns
from dsgcore.problems import objective
from dsgcore.solver.automatic_step import StepSizes, step_sizes
from dsgcore.solver.carried import AllPoints
from dsgcore.solver.gauges import PROBES, BatchSpread, Gauges
from dsgcore.solver.loop import Iterate, solve
from dsgcore.solver.model import Expansion
from dsgcore.solver.plan import tail_start
from dsgcore.solver.stopping import Stopping, ValuesMean
from dsgcore.solver.task import Task

# The tracked state is copied at every so many iterations; states in between are computed again.
ITERATIONS_BETWEEN_COPIES = 8
# So many copies of a run are kept, as starting points for earlier iterations.
COPIES_OF_THE_WAY = 32
# The averaged iterate moves slowly, so it is measured every so many iterations. Rows in between repeat the last values.
ITERATIONS_BETWEEN_AVERAGES = 16
CURVATURE = "the risk's curvature"  # limits the step


class StochasticEngine(RunningState):
    """Doubly stochastic gradients on a spec's data."""

    has_graph: ClassVar[bool] = False
    limited_by: ClassVar[str] = CURVATURE
    learned = staticmethod(learned)

    def __init__(self, spec: Spec, split: Split) -> None:
        super().__init__(task_of(spec, split), split)
        self.training_seconds = 0.0
        self._average_row: dict[str, float] = {}
        self._present: dict[tuple[float, int, int], StepSizes] = {}
        self._last: Iterate | None = None
        self.ends_at: int | None = None
        self.averaged_again: tuple[dict[str, float], ...] = ()
        self._before_its_end: Task | None = None
        self._check: ValuesMean | None = None
        self.gauges = Gauges(min(spec.diagnostics.n_probes, PROBES, len(split.X_test)))
        self._begin(spec.diagnostics.n_probes)
        self._check = ValuesMean(self.task, self.model, self._training, Stopping(tol=spec.solver.tol or None))
        self._iterates = self._solve()

    def _begin(self, n_probes: int) -> None:
        """Initialise the model and all tracked state."""
        start = time.perf_counter()
        self._settle_step()
        self.model = self.task.new_model()
        self._training = self._new_training()
        self.training_seconds += time.perf_counter() - start
        self._carry(n_probes)
        self._check = None
        self._spread = BatchSpread(self.kernel, self.probes.X[:PROBES])
        self._iterates = self._solve()
        self._recorded = self.model
        self._kept_t, self._copies = 0, [self._copied()]
        self._way = [self._copied()]

    def _solve(self) -> Iterator[Iterate]:
        checked = [] if self._check is None else self._check.carried
        carried = [self.probes, self.rest_of_test, self.labeled, self.unlabeled, *checked]
        self._measured = MeasuredPoints([points for points in carried if points is not None and len(points.X)])
        return solve(self.task, self.model, training=self._training, carried=[self._measured])

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

    def _settle_step(self) -> None:
        """Fill in the automatic step if the spec asks for it. It is computed once, since it may take a second."""
        if self.task.plan.is_open:
            self.task.plan.automatic_step = self.step_sizes.automatic

    def update(self, *, is_brief: bool = False) -> bool:
        """Make one iteration, unless there is no further one; a brief one is not read by gauges, nor kept for `at`."""
        self._last = self._next()
        if self._last is None:
            return False
        if is_brief:
            self.update_state(self._last)
        else:
            self._bring_forward(self._last)
        self._end_if_settled()
        apart = max(ITERATIONS_BETWEEN_COPIES, self.task.plan.n_iter // COPIES_OF_THE_WAY)
        if not is_brief and self.can_look_back and not self._last.t % apart:
            self._way.append(self._copied())
        return True

    def row(self, *, is_brief: bool = False) -> dict[str, float]:
        """Return the measurements of the last iteration."""
        assert self._last is not None
        if not is_brief:
            return self._measure(self._last)
        return {
            "t": self._last.t,
            "objective": self._objective(self._last)[0],
            "score_test": self._test_score(self.shift),
            **(self._of_average(self._last) if self.average_norm is not None else {}),
        }

    def _next(self) -> Iterate | None:
        start, beside = time.perf_counter(), self._measured.seconds
        iterate = next(self._iterates, None)
        self.training_seconds += time.perf_counter() - start - (self._measured.seconds - beside)
        return iterate

    @property
    def is_settled(self) -> bool:
        """True if the average no longer changes, so that no iteration need follow."""
        return self.t == self.ends_at or (self._check is not None and self._check.is_settled)

    def _end_if_settled(self) -> None:
        """If no iteration need follow, take the mean of the second half of those made, as a fit that ends here does.

        Only the second half of the planned ones was summed, so the iterations are made again, with the same numbers.
        """
        if self._check is not None:
            self._check.take()
        made, check, way, plan = self.t, self._check, self._way, self.task.plan
        if not self.is_settled or plan.average_after is None or made == plan.n_iter:
            return
        self._before_its_end, self._average_row = self.task, {}
        self.task = replace(self.task, plan=replace(plan, average_after=tail_start(made)))
        self._begin(len(self.probes.X))
        while self.t < made:
            iterate = next(self._iterates)
            self.update_state(iterate)
            self._average_row = self._average_row if self.t < made else {}  # the last one is measured
            self.averaged_again = (*self.averaged_again, self._of_average(iterate))
        self._check, self._way, self._iterates = check, way, iter(())

    def _bring_forward(self, iterate: Iterate) -> None:
        self.update_state(iterate)
        if len(self.probes.X):
            step = iterate.step
            self.gauges.advance(iterate.t, step.size, step.decay, self.task.batch_size, partial(self._gauged, iterate))

    def _gauged(self, iterate: Iterate) -> tuple[NDArray, float, Callable[[], NDArray]]:
        """Return the gauges' values after an iteration."""
        assert self.probes.variance is not None
        f, variance = self.probes.values[:PROBES], self.probes.variance[:PROBES]
        return f, float(variance.mean()), partial(self._spread.each, iterate)

    def _measure(self, iterate: Iterate) -> dict[str, float]:
        step, (value, terms, ridge) = iterate.step, self._objective(iterate)
        return {
            "t": iterate.t,
            "step_size": step.size,
            "lam": step.lam,
            "n_features": step.n_features,
            "objective": value,
            "objective_batch": objective(iterate.terms) + ridge,
            **{f"term: {name}": value for name, value in terms.items()},
            "term: ridge": ridge,
            **self._scores(),
            **(self._of_average(iterate) if self.average_norm is not None else {}),
            **self._feature_error(),
        }

    def _objective(self, iterate: Iterate) -> tuple[float, dict[str, float], float]:
        """Return the objective, the risk's terms, and the ridge's."""
        values = self._values_per_source()
        terms = self.problem.risk_terms(values) if values else dict(iterate.terms)
        ridge = 0.5 * iterate.step.lam * self.norm.value
        return objective(terms) + ridge, terms, ridge

    def _of_average(self, iterate: Iterate) -> dict[str, float]:
        """Return the averaged iterate's last objective and test score, measured at every sixteenth iteration and at the end."""
        is_due = iterate.t % ITERATIONS_BETWEEN_AVERAGES == 0 or iterate.t == self.task.plan.n_iter
        if is_due or not self._average_row:
            self._average_row = self._measured_average(iterate)
        return self._average_row

    def _measured_average(self, iterate: Iterate) -> dict[str, float]:
        assert self.average_norm is not None
        terms = self.problem.terms(iterate.average)
        if isinstance(self._training, AllPoints):
            average = self._training.average
            terms = self.problem.risk_terms({source: average[rows] for source, rows in self.task.rows.items()})
        ridge = 0.5 * iterate.step.lam * self.average_norm.value
        return {
            "objective_average": objective(terms) + ridge,
            "score_average": self.problem.score(self.split.y_test, self.test_average + self.average_shift),
        }

    def _scores(self) -> dict[str, float]:
        split, score, shift = self.split, self.problem.score, self.shift
        scores = {
            "score_test": self._test_score(shift),
            "score_labeled": score(*known(split.y_hidden[self.labeled_rows], self.labeled_values + shift)),
        }
        if self.training_values is not None:
            rows = self.unlabeled_rows
            scores["score_unlabeled"] = score(*known(split.y_hidden[rows], self.training_values[rows] + shift))
        return scores

    def _test_score(self, shift: float) -> float:
        return self.problem.score(self.split.y_test, self.test_values + shift)

    def _feature_error(self) -> dict[str, float]:
        if not len(self.probes.X):
            return {}
        assert self.probes.variance is not None
        error = self.twin.compare(self.probes.values, self.probes.variance)
        return {
            "error_mean": error.mean,
            "error_max": error.largest,
            "h_squared": error.scale,
            "bound": error.bound,
            "band": error.band,
        }

    def follow(self, spec: Spec) -> None:
        """Take over a spec's changes."""
        self.task.plan.changes[:] = spec.changes
        self._settle_step()

    def keep(self) -> None:
        """Save the state that was measured last, for `go_back`."""
        # A mini-batch's objective belongs to the function before the step.
        self._kept_t = self.t - (self.training_values is None)
        if self.t >= self._copies[-1]["t"] + ITERATIONS_BETWEEN_COPIES:
            self._copies = [self._copies[-1], self._copied()]

    def go_back(self) -> None:
        """Restore the state that `keep` saved last: copy an earlier one, and repeat the iterations from there."""
        self._return_to(self._kept_t, self._copies)

    def _return_to(self, t: int, copies: list[dict[str, Any]]) -> None:
        """Restore the state after `t` iterations: copy an earlier one, and repeat the iterations from there."""
        self._check = None
        copied = next(copied for copied in reversed(copies) if copied["t"] <= t)
        self.model = self._recorded.prefix(copied["t"])
        for name in RUNNING_STATE:
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
        if not self.can_look_back or not self._way[0]["t"] <= t <= len(self._recorded):
            raise DSGError(f"the state after {t} iterations is not available")
        other = copy(self)
        other._average_row, other._check = {}, None
        other.task = self._before_its_end or self.task
        other._return_to(t, self._way)
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

    def start_objective(self) -> float:
        """Return the objective at f = 0."""
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
        return stochastic_cost(spec, sizes, MAX_POINTS_FOR_WHOLE_SAMPLE)

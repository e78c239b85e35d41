"""PS3VT's weights during a run: the current ones, earlier ones, and their mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from dsgcore.multiclass.automatic import free_radius, settle_step
from dsgcore.multiclass.graph_cache import GraphCache
from dsgcore.multiclass.loop import MultiClassStep, descend
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.setting import AUTOMATIC_TAU_I, MultiClassSetting
from dsgcore.multiclass.task import MultiClassTask
from dsgcore.multiclass.weights import Weights
from dsgcore.solver.plan import SCHEDULES, tail_start

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec

# Up to this many training points, every iteration measures the scores of all of them.
MAX_POINTS_FOR_WHOLE_SAMPLE = 20_000
# Weights are kept at multiples of this number of iterations. The others are recomputed from these.
ITERATIONS_BETWEEN_WEIGHTS = 25
_AS_IN_SETTING = ("theta", "n_neighbors", "variant", "features", "fit_intercept", "loss")


def problem_at(
    spec: Spec, t: int, automatic: float = AUTOMATIC_TAU_I, automatic_step: float | None = None
) -> MultiClass:
    """Return a spec's problem at iteration `t`; the given tau_I and step replace automatic ones."""
    setting = cast(MultiClassSetting, spec.problem)
    values, solver = spec.values_at(t), spec.solver
    theta = automatic_step if values["step_size"] is None else values["step_size"]
    is_open = solver.step_size is None and setting.radius is None
    return MultiClass(
        **{name: getattr(setting, name) for name in _AS_IN_SETTING},
        lam=values["lam"],
        tau_I=automatic if values["tau_I"] is None else values["tau_I"],
        tau_S=values["tau_S"],
        step_size=None if theta is None else SCHEDULES[solver.schedule](theta, max(t, 1), solver.n_iter),  # type: ignore[arg-type]
        radius=free_radius(solver.lam, setting.loss) if is_open else setting.radius,
        batch_size=None if setting.is_full_gradient else solver.batch_size,
        n_iter=solver.n_iter,
        sigma=spec.kernel.sigma,  # type: ignore[attr-defined]  # the kernel is Gaussian
        n_features=solver.n_features,
    )


def uses_graph(spec: Spec) -> bool:
    """Return True if the graph's weight is automatic or not zero at any time of a run."""
    return any(spec.values_at(t)["tau_I"] != 0.0 for t in (0, *(change.t for change in spec.changes)))


class WeightHistory:
    """Weights during a run: the current ones, earlier ones, their mean, and their scores.

    It begins with the task of the spec's first iteration, with its step but without the graph.

    Attributes
    ----------
    automatic_tau_I : float
        Value of an automatic tau_I: 0.001, or less if the first step would overshoot.
    """

    _problem: MultiClass  # of the last iteration, or of the start

    def __init__(self, spec: Spec, graphs: GraphCache, task: MultiClassTask) -> None:
        self.spec, self.graphs = spec, graphs
        self._automatic_step = task.problem.step_size if spec.solver.step_size is None else None
        self.task = replace(task, problem=problem_at(spec, 0, automatic_step=self._automatic_step))
        is_small = len(graphs.X) <= MAX_POINTS_FOR_WHOLE_SAMPLE
        self._training = graphs.scored("training", task.features) if is_small else None
        self._test, self._labeled = (graphs.scored(which, task.features) for which in ("test", "labeled"))
        self.t, self.W = 0, task.start()
        self._after = None if spec.solver.average is None else tail_start(spec.solver.n_iter)
        self._sum = task.start()
        self._kept = {0: self.W}
        self.automatic_tau_I = AUTOMATIC_TAU_I
        self._iterates: Iterator[MultiClassStep] = iter(())

    def _take(self, iterate: MultiClassStep) -> None:
        """Make an iteration's weights the current ones."""
        self.t, self.W = iterate.t, iterate.W
        if self._after is not None and self.t > self._after:
            self._sum = self._sum + self.W
        if self.t % ITERATIONS_BETWEEN_WEIGHTS == 0:
            self._kept[self.t] = self.W

    def _problem_at(self, t: int) -> MultiClass:
        return problem_at(self.spec, t, self.automatic_tau_I, self.automatic_step)

    @property
    def model(self) -> Weights:
        """The weights and their features."""
        return self._model(self.W)

    def _model(self, W: NDArray) -> Weights:
        return Weights(self.task.features, self.task.plain(W), self.graphs.X.shape[1])

    @property
    def n_kept(self) -> int:
        """Number of singular values that the pull to low rank does not change."""
        return self._problem_at(self.t).n_kept(*self.W.shape)

    @property
    def training_values(self) -> NDArray | None:
        """Scores at all training points, of shape (n, K); None if there are too many of them."""
        return None if self._training is None else self._training.scores(self.task.plain(self.W))

    @property
    def test_values(self) -> NDArray:
        """Scores at all test points, of shape (n_test, K)."""
        return self._test.scores(self.task.plain(self.W))

    @property
    def labeled_values(self) -> NDArray:
        """Scores at the labeled points, of shape (n_labeled, K)."""
        return self._labeled.scores(self.task.plain(self.W))

    @property
    def average(self) -> NDArray:
        """Mean of the weights over the second half of the planned run so far; the current weights before that."""
        is_begun = self._after is not None and self.t > self._after
        return self._sum / (self.t - self._after) if is_begun else self.W  # type: ignore[operator]

    @property
    def test_average(self) -> NDArray:
        """The average's scores at all test points, of shape (n_test, K)."""
        return self._test.scores(self.task.plain(self.average))

    @property
    def automatic_step(self) -> float:
        """The value of the step "auto" here, even if the spec sets a number."""
        if self._automatic_step is None:
            opened = replace(self.task.problem, step_size=cast(Any, None), tau_I=0.0)
            self._automatic_step = settle_step(opened, self.task.some_features, len(self.task.y), None).step_size
        return self._automatic_step

    def step_at(self, t: int) -> float:
        """Return the step size of iteration `t`, past or future."""
        return self._task_of(self._problem_at(t)).step(t)

    def _next(self, t: int) -> MultiClassStep | None:
        problem = self._problem_at(t)
        if t == 1 or problem != self._problem:
            self._problem, self._iterates = problem, descend(self._task_of(problem), self.W, t - 1)
        return next(self._iterates, None)

    def _task_of(self, problem: MultiClass) -> MultiClassTask:
        return replace(self.task, problem=problem, M=self.task.M if problem.tau_I > 0 else None)

    def extend(self, spec: Spec) -> None:
        """Continue to the end of a longer spec."""
        self.spec = spec
        if self._after is not None:
            self._after = tail_start(spec.solver.n_iter)
            self._sum = self._sum_to(self.t)

    def model_at(self, t: int) -> Weights:
        """Return the model after `t` iterations, by repeating the steps from the last kept weights before it."""
        return self.model if t == self.t else self._model(self._weights_at(t))

    def _weights_at(self, t: int) -> NDArray:
        return next(self._weights_from(t))

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
        assert self._after is not None
        return sum(islice(self._weights_from(self._after + 1), max(0, t - self._after)), self.task.start())

    def average_at(self, t: int) -> Weights:
        """Return the averaged model after `t` iterations; before the second half, the model with the weights of then."""
        if self._after is None or t <= self._after:
            return self.model_at(t)
        if t == self.t:
            return self._model(self.average)
        return self._model(self._sum_to(t) / (t - self._after))

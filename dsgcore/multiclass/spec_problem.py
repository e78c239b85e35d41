"""The objective of a spec, as it is at each iteration of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from dsgcore.core.schedules import SCHEDULES
from dsgcore.multiclass.automatic import free_radius
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.setting import AUTOMATIC_TAU_I, MultiClassSetting

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec


def problem_at(
    spec: Spec, t: int, automatic: float = AUTOMATIC_TAU_I, automatic_step: float | None = None
) -> MultiClass:
    """Return the problem with all parameters as they are at iteration `t`; tau_I and step are those given where they are open."""
    setting = cast(MultiClassSetting, spec.problem)
    values, solver = spec.values_at(t), spec.solver
    theta = automatic_step if values["step_size"] is None else values["step_size"]
    is_open = solver.step_size is None and setting.radius is None
    return MultiClass(
        tau_A=values["lam"],
        tau_I=automatic if values["tau_I"] is None else values["tau_I"],
        tau_S=values["tau_S"],
        theta=setting.theta,
        step_size=None if theta is None else SCHEDULES[solver.schedule](theta, max(t, 1), solver.n_iter),  # type: ignore[arg-type]
        radius=free_radius(solver.lam, setting.loss) if is_open else setting.radius,
        batch_size=None if setting.is_full_gradient else solver.batch_size,
        n_iter=solver.n_iter,
        n_neighbors=setting.n_neighbors,
        variant=setting.variant,
        features=setting.features,
        sigma=spec.kernel.sigma,  # type: ignore[attr-defined]  # the kernel is Gaussian
        n_features=solver.n_features,
        fit_intercept=setting.fit_intercept,
        loss=setting.loss,
    )


def uses_graph(spec: Spec) -> bool:
    """Whether the graph has a weight at any time of a run."""
    return any(problem_at(spec, t).tau_I > 0 for t in (0, *(change.t for change in spec.changes)))

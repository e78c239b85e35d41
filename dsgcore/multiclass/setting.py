"""PS3VT as a setting: its own parameters in a spec, and the meaning of the shared ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import flag, like, parameter_like
from dsgcore.multiclass.automatic import FREE, free_radius
from dsgcore.multiclass.problem import PRINTED, RELEASED, MultiClass
from dsgcore.problems import Setting
from dsgcore.solver.parameters import RunSpec
from dsgcore.solver.problem import Sections
from dsgcore.solver.task import SCHEDULES

# Variants that learn from labels alone, with new random features in each iteration: those of `dsgcore.DSGSoftmax`.
SOFTMAX, PRECONDITIONED = "softmax", "preconditioned softmax"
VARIANTS = (PRINTED, RELEASED, SOFTMAX, PRECONDITIONED)
# Automatic step of preconditioned iterations.
HALF = 0.5
_AS_IN_SETTING = ("theta", "n_neighbors", "feature_map", "fit_intercept", "loss", "variant")
# Default weight of the graph, if the step allows it.
AUTOMATIC_TAU_I = 1e-3
_AUTO = (
    f"{parameter_like(MultiClass, 'tau_I').sentence} The value “auto” is {AUTOMATIC_TAU_I:g}, "
    "or less if a step would overshoot."
)
_VARIANT = (
    f"{parameter_like(MultiClass, 'variant').sentence} The other two are plain doubly stochastic gradients: they learn from "
    "labels alone, with the softmax loss and new random features in each iteration. Graph, rank and ball have no effect then."
)


@documented
@dataclass(frozen=True)
class MultiClassSetting(Setting):
    """PS3VT's own parameters in a spec. The solver and kernel sections hold the rest of `MultiClass`.

    In those sections ``lam`` is the paper's tau_A, and ``step_size`` under its schedule is 1/mu. ``sigma`` and
    ``n_features`` belong to the Fourier features, and have no effect for linear ones. The kernel is Gaussian and the
    precision float64. A tau_I of None is 0.001, or less if the run's first step would overshoot.

    The variants "softmax" and "preconditioned softmax" are `dsgcore.DSGSoftmax`, without and with its preconditioner. They
    use the kernel, the solver's values and `is_full_gradient`, and no other parameter of the problem.

    Parameters
    ----------
    is_full_gradient : All labels in each step
        Use all labeled points in each iteration: gradient descent instead of mini-batches.
    """

    tau_I: float | None = like(MultiClass, "tau_I", automatic=AUTOMATIC_TAU_I, sentence=_AUTO)
    tau_S: float = like(MultiClass, "tau_S", optional=False, automatic=None)
    theta: float = like(MultiClass, "theta")
    radius: float | None = like(MultiClass, "radius")
    n_neighbors: int = like(MultiClass, "n_neighbors", usual=(1, 21))
    feature_map: str = like(MultiClass, "feature_map")
    fit_intercept: bool = like(MultiClass, "fit_intercept")
    loss: str = like(MultiClass, "loss")
    is_full_gradient: bool = flag(False)
    variant: str = like(MultiClass, "variant", options=VARIANTS, sentence=_VARIANT)

    name = "multiclass"
    title = "Multi-class with a graph"
    sentence = "learns to tell several classes apart, with similar scores for close points"
    citation = "PS3VT, Li, Liu, Yin and Wang, IJCAI 2019"
    labels = "classes"
    usual_tau_I = AUTOMATIC_TAU_I
    engine = "proximal"
    decision = "highest"
    defaults: ClassVar[Sections] = {
        "data": {"name": "spirals", "n_labeled": 20},
        "kernel": {"sigma": 30.0},
        "problem": {"feature_map": "fourier", "tau_I": None, "tau_S": 0.05, "radius": 10.0},
        "solver": {"lam": 1e-6, "step_size": 1.0, "batch_size": 32, "dtype": "float64"},
    }
    other_sets: ClassVar[Sections] = {"data": {"n_labeled": 50}}
    steerable = ("step_size", "tau_I", "tau_S", "lam")
    kernels = ("gaussian",)
    dtypes = ("float64",)

    @property
    def engine_of_run(self) -> str:  # type: ignore[override]
        """The engine of the variant."""
        return "softmax" if self.is_plain else self.engine

    @property
    def sentence_of_run(self) -> str:  # type: ignore[override]
        """The sentence of the variant."""
        return "learns to tell several classes apart from labels alone" if self.is_plain else self.sentence

    @property
    def without_effect(self) -> tuple[str, ...]:  # type: ignore[override]
        """All of PS3VT's parameters for plain doubly stochastic gradients; what belongs to features or ball that are not used."""
        if self.is_plain:
            return tuple(p.name for p in self.parameters if p.name not in ("variant", "is_full_gradient"))
        of_features = ("sigma", "n_features") if self.feature_map == "linear" else ()
        return of_features + ("radius",) * (self.variant == RELEASED)

    @property
    def is_plain(self) -> bool:
        """True for plain doubly stochastic gradients."""
        return self.variant in (SOFTMAX, PRECONDITIONED)

    def baseline(self) -> Self:
        """Return Linear-MC: no graph, no pull to low rank; the problem itself if it learns from labels alone."""
        return self if self.is_plain else replace(self, tau_I=0.0, tau_S=0.0)

    def hits(self, y: NDArray, scores: NDArray) -> NDArray:
        """Return a mask (n,): True if the highest score is that of the point's class."""
        return scores.argmax(axis=1) == np.asarray(y)


def problem_at(
    spec: RunSpec, t: int, automatic: float = AUTOMATIC_TAU_I, automatic_step: float | None = None
) -> MultiClass:
    """Return a spec's problem at iteration `t`; the given tau_I and step replace automatic ones."""
    setting = cast(MultiClassSetting, spec.problem)
    values, solver = spec.values_at(t), spec.solver
    theta = automatic_step if values["step_size"] is None else values["step_size"]
    theta = HALF if theta is None and setting.variant == PRECONDITIONED else theta
    shared: dict[str, Any] = {
        "step_size": None if theta is None else SCHEDULES[solver.schedule](theta, max(t, 1), solver.n_iter),
        "batch_size": None if setting.is_full_gradient else solver.batch_size,
        "n_iter": solver.n_iter,
        "sigma": spec.kernel.sigma,  # type: ignore[attr-defined]  # the kernel is Gaussian
        "n_features": solver.n_features,
    }
    if setting.is_plain:  # the softmax loss and lam / 2 ||W||^2
        none: dict[str, Any] = {"tau_I": 0.0, "tau_S": 0.0, "theta": 1.0, "radius": FREE}
        return MultiClass(lam=values["lam"] / 2.0, feature_map="fourier", loss="logistic", **none, **shared)
    is_open = solver.step_size is None and setting.radius is None
    return MultiClass(
        **{name: getattr(setting, name) for name in _AS_IN_SETTING},
        lam=values["lam"],
        tau_I=automatic if values["tau_I"] is None else values["tau_I"],
        tau_S=values["tau_S"],
        radius=free_radius(solver.lam, setting.loss) if is_open else setting.radius,
        **shared,
    )


def uses_graph(spec: RunSpec) -> bool:
    """Return True if the graph's weight is automatic or not zero at any time of a run."""
    return not spec.problem.is_plain and any(
        spec.values_at(t)["tau_I"] != 0.0 for t in (0, *(change.t for change in spec.changes))
    )

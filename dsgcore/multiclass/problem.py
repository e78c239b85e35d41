"""PS3VT: max-margin multi-class classification with a neighbour graph and a pull to low rank; and as a setting of a spec."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import (
    Parameter,
    choice,
    flag,
    integer,
    like,
    parameter_like,
    parameters_of_fields,
    real,
)
from dsgcore.problems import Setting
from dsgcore.solver.parameters import RunSpec
from dsgcore.solver.problem import Sections
from dsgcore.solver.task import SCHEDULES

# Function from scores (B, K) and classes (B,) to each point's loss (B,) and its sub-gradient by the scores (B, K).
Loss = Callable[[NDArray, NDArray], tuple[NDArray, NDArray]]


def hinge(scores: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Return [1 - m]_+ and its sub-gradient, where m is the class's score minus the highest other score."""
    point = np.arange(len(y))
    others = scores.copy()
    others[point, y] = -np.inf
    best = others.argmax(axis=1)
    margin = scores[point, y] - scores[point, best]
    is_active = (margin < 1.0).astype(scores.dtype)
    c = np.zeros_like(scores)
    c[point, y] = -is_active
    c[point, best] = is_active
    return np.maximum(0.0, 1.0 - margin), c


def logistic(scores: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Return log(1 + sum of exp(-m_k)) and its gradient, where m_k is the class's score minus that of class k."""
    point = np.arange(len(y))
    lead = scores - scores.max(axis=1, keepdims=True)
    c = np.exp(lead)
    total = c.sum(axis=1)
    c /= total[:, None]
    c[point, y] -= 1.0
    return np.log(total) - lead[point, y], c


LOSSES: dict[str, Loss] = {"hinge": hinge, "logistic": logistic}
PRINTED, RELEASED = "printed", "released"
# Largest curvature of a point's loss by its scores. The hinge has none; the number stands for its kink.
CURVATURES = {"hinge": 1.0, "logistic": 0.5}
# The largest radius that the parameter allows.
FREE = 1e6


@documented
@dataclass(frozen=True)
class MultiClass:
    """Max-margin multi-class classification with h(x) = W'x, a graph over all points and a low-rank W.

    With the margin m_i = h_y(x_i) - max over other classes of h(x_i), and the paper's tau_A as lam, the objective is

        mean over labeled points of [1 - m_i]_+  +  lam ||W||_F^2  +  tau_I trace(W' X L X' W)  +  tau_S tail,

    where the tail is the sum of the singular values of W after the first theta min(K, d), rounded up. tau_I = 0 is
    LRC-MC, tau_S = 0 is SS-MC, both zero is Linear-MC. `step_size` is the paper's 1/mu.

    After each step W is projected to ||W||_F <= radius. A radius of None is 1 as in the paper, and 1 / sqrt(lam) with
    an automatic step. `dsgcore.multiclass.loop.make_task` resolves parameters that are "auto". A `batch_size` of None
    takes all labeled points, which is gradient descent instead of stochastic.

    The Fourier features of the Gaussian kernel exp(-sigma ||x - x'||^2) are 2m numbers, scaled so that ||phi(x)|| = 1.
    They are the same in all iterations.

    Parameters
    ----------
    lam : Regularisation
        Strength of the pull of the weights towards zero (ridge). The value “auto” counts as much as one labeled point.
    tau_I : Trust in the graph
        Weight of the graph: larger values make neighbouring points, labeled or not, score more alike. 0 uses the
        labels alone.
    tau_S : Pull to low rank
        Strength of the pull of the weights' smaller singular values towards zero. 0 leaves them unchanged.
    theta : Singular values left out
        Share of the singular values, counted from the largest, that the pull to low rank leaves unchanged.
    step_size : Step size
        Size of each iteration's step. The value “auto” is one over the curvature of mini-batches.
    radius : Largest norm
        Largest norm of the weights after each step. None (empty in the app) is 1, or 1/√τ_A with an automatic step.
    batch_size : Mini-batch
        Number of labeled points that each iteration draws. None (empty in the app) takes all of them.
    n_iter : Iterations
        Number of iterations of the run.
    n_neighbors : Neighbours
        Number of nearest points to which each point is linked in the graph.
    feature_map : Feature map
        The coordinates themselves, or random Fourier features of them, for curved boundaries.
    sigma : Inverse bandwidth
        For Fourier features: larger values make the similarity of two points fade faster with their distance.
    n_features : Random features
        Number of random frequencies of the Fourier features.
    is_orthogonal : Orthogonal frequencies
        Draw the random frequencies orthogonal to each other. If there are many coordinates, they are as accurate as
        1.5 times as many independent ones.
    fit_intercept : Intercept
        Add a column of ones to the features, so that no boundary has to pass through the origin.
    loss : Loss
        The paper's hinge loss ignores a point that is far enough on its side. The logistic loss weighs all points.
    variant : Variant
        The algorithm as the paper prints it, or that of the authors' program, which is another one.

    Notes
    -----
    Source: J. Li, Y. Liu, R. Yin and W. Wang, Multi-Class Learning using Unlabeled Samples: Theory and Algorithm,
    IJCAI 2019, (1)-(3), Proposition 1, Algorithm 1.

    Deviation: (1) has a minus sign where (2) has the margin. This class follows (2). ||W|| is the Frobenius norm. If
    several wrong classes tie for the highest score, the first takes the sub-gradient. The graph's L is D - S, which section
    5 prints as D - W, and its sigma is the mean distance of two points. The sum E(h) of section 4.1 is twice the trace.

    Deviation: the paper has neither mini-batches between one point and all of them, nor another radius than 1. Fourier
    features are its outlook. The logistic loss is also an addition: log(1 + sum over other classes of exp(h_k(x_i) -
    h_y(x_i))) in place of [1 - m_i]_+.

    Deviation: the paper selects 1/mu from 10 to 1e5. With such steps and a radius of 1, W depends on the last few
    batches only. So the default here is smaller.

    With the logistic loss on linear features, the ridge does not include the intercept, as in a logistic regression.

    The authors' public program, `variant` "released", differs from the paper in its step, step_size / (t + n_l), in the ball
    (||W||_F <= 1 / sqrt(lam), before the thresholding), in the singular values that it shrinks (the *first* theta), in the
    graph's weights, and in its draws: passes over the labeled points.
    """

    lam: float = real(
        1e-6, low=0.0, high=1e3, scale="log", usual=(1e-9, 1.0), symbol="τ_A", optional=True, automatic=1e-3
    )
    tau_I: float = real(
        1e-6, low=0.0, high=1e3, scale="log", usual=(1e-9, 0.1), symbol="τ_I", optional=True, automatic=1e-6
    )
    tau_S: float = real(
        1e-3, low=0.0, high=1e3, scale="log", usual=(1e-7, 1.0), symbol="τ_S", optional=True, automatic=1e-3
    )
    theta: float = real(0.5, low=0.0, high=1.0, symbol="θ")
    step_size: float = real(
        0.03, low=1e-6, high=1e6, scale="log", usual=(1e-3, 1e4), symbol="1/μ", optional=True, automatic=0.1
    )
    radius: float | None = real(None, low=1e-6, high=1e6, scale="log", usual=(0.1, 1000.0), optional=True, symbol="r")
    batch_size: int | None = integer(32, low=1, high=65_536, scale="log", optional=True, symbol="B")
    n_iter: int = integer(1000, low=1, high=1_000_000, scale="log", symbol="T")
    n_neighbors: int = integer(10, low=1, high=1000)
    feature_map: str = choice("linear", options=("linear", "fourier"))
    sigma: float = real(1.0, low=1e-6, high=1e6, scale="log", symbol="σ")
    n_features: int = integer(256, low=1, high=65_536, scale="log", symbol="m")
    is_orthogonal: bool = flag(False)
    fit_intercept: bool = flag(False)
    loss: str = choice("hinge", options=tuple(LOSSES))
    variant: str = choice(PRINTED, options=(PRINTED, RELEASED))

    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()

    @property
    def ball(self) -> float:
        """Largest allowed norm ||W||_F."""
        if self.variant == RELEASED:
            return math.inf if self.lam == 0.0 else self.lam**-0.5
        return 1.0 if self.radius is None else self.radius

    @property
    def is_intercept_free(self) -> bool:
        """True if the ridge does not include the intercept, as in a logistic regression."""
        return self.loss == "logistic" and self.feature_map == "linear" and self.fit_intercept

    def n_kept(self, d: int, n_classes: int) -> int:
        """Return theta as a number of singular values of a (d, K) matrix."""
        # 0.7 * 10 is 7.000000000000001, which must not become 8.
        return math.ceil(self.theta * min(d, n_classes) - 1e-9)

    @property
    def links(self) -> tuple[int, bool]:
        """What the graph depends on besides the points, as `dsgcore.multiclass.graph.laplacian` takes it."""
        return self.n_neighbors, self.variant == RELEASED

    def at(self, t: int, n_labeled: int) -> MultiClass:
        """Return the problem with the step of iteration `t`: that of the authors' program decays."""
        return self if self.variant == PRINTED else replace(self, step_size=self.step_size / (t + n_labeled))

    def shrunk(self, d: int, n_classes: int) -> slice:
        """Return which of the descending singular values of a (d, K) matrix a step shrinks."""
        kept = self.n_kept(d, n_classes)
        return slice(kept, None) if self.variant == PRINTED else slice(kept)

    def _pulled(self, W: NDArray) -> NDArray:
        """Return the weights that the ridge counts: a free intercept, in the last row, is set to zero."""
        return np.vstack([W[:-1], np.zeros_like(W[-1:])]) if self.is_intercept_free else W

    def gradient(self, W: NDArray, X: NDArray, y: NDArray, M: NDArray | None) -> NDArray:
        """Return a sub-gradient (d, K) of the terms without the tail: Section 4.3.

        X (B, d) are labeled points or their features, y (B,) their classes, and M (d, d) is the graph's X L X' or None.
        """
        gradient = X.T @ (self.slopes(X @ W, y) / len(y))
        gradient += 2.0 * self.lam * self._pulled(W)
        if M is not None:
            gradient += 2.0 * self.tau_I * (M @ W)
        return gradient

    def terms(self, W: NDArray, X: NDArray, y: NDArray, M: NDArray | None) -> dict[str, float]:
        """Return the terms without the tail, each with its weight: "hinge" or "logistic", "ridge" and "graph"."""
        loss, _ = LOSSES[self.loss](X @ W, y)
        return {
            self.loss: float(loss.mean()),
            "ridge": self.lam * float(np.vdot(W, self._pulled(W))),
            "graph": 0.0 if M is None else self.tau_I * float(np.vdot(W, M @ W)),
        }

    def tail(self, singular_values: NDArray, d: int, n_classes: int) -> float:
        """Return tau_S times the sum of the descending singular values that the tail counts; the authors' program: all."""
        return self.tau_S * float(singular_values[self.n_kept(d, n_classes) * (self.variant == PRINTED) :].sum())

    def slopes(self, scores: NDArray, y: NDArray) -> NDArray:
        """Return the sub-gradient of each point's loss by its scores, of shape (B, K); y of shape (B,) holds classes."""
        return LOSSES[self.loss](scores, y)[1]


def free_radius(lam: float, loss: str) -> float:
    """Return the radius of a ball that contains the minimiser.

    At its edge, the ridge alone equals the hinge objective at W = 0.
    """
    if loss != "hinge":
        return FREE
    return float(min(lam**-0.5, FREE)) if lam > 0.0 else FREE


# --- as a setting

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
    "labels alone, with the softmax loss, and with random features as in the other settings. Graph, rank and ball have no "
    "effect then."
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
        """All of PS3VT's parameters for plain doubly stochastic gradients; what features, ball or start do not use.

        PS3VT's weights belong to fixed features in any case.
        """
        if self.is_plain:
            own = (p.name for p in self.parameters if p.name not in ("variant", "is_full_gradient"))
            return (*own, "start", "tol")
        is_linear = self.feature_map == "linear"
        has_start = is_linear and self.loss == "logistic" and self.fit_intercept
        unused = ("features",) + ("sigma", "n_features") * is_linear + ("start",) * (not has_start)
        return unused + ("radius",) * (self.variant == RELEASED)

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

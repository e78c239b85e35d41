"""Texts, defaults, figures and lessons of multi-class learning (PS3VT)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dsgcore.multiclass.automatic import FREE, RIDGE, TAIL
from dsgcore.multiclass.loop import TOL_STARTED
from dsgcore.multiclass.problem import MultiClass
from dsgcore.settings import panels
from dsgcore.settings.guided.written import lessons_of
from dsgcore.settings.page_texts import texts_of
from dsgcore.settings.profile import USUAL, Among, Profile, Times, usual_run
from dsgcore.settings.theorem import Assumption, Theorem
from dsgcore.solver.plan import SCHEDULE_WORDS
from dsgcore.solver.start import EXACT

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run
    from dsgcore.experiments.spec import Spec
    from dsgcore.multiclass.setting import MultiClassSetting

_STATEMENT = """**Theorem 1 of PS3VT (IJCAI 2019).** It bounds the error of the learned function, not the speed of learning. With
$n$ labeled and $u$ unlabeled points, a loss within $[0, 1]$ and $\\|W\\| \\leq 1$, for each $k > 1$ the risk is with probability
$1 - \\delta$ at most the larger of $\\frac{k}{k-1}\\hat L$ and
$\\hat L + c_1/n + c_2/(n+u) + c_3 K \\sum_{j>\\theta} \\lambda_j(W) / \\sqrt{n + u}$. Here $\\hat L$ is the risk on the labels,
$c_1 = (3 + 4k)\\log(1/\\delta)$, $c_2 = 32k\\theta$, and $c_3$ is $64k$ times the loss's Lipschitz constant. **Corollary 1**,
without unlabeled points, has $(c_1 + c_2)/n + c_3 K \\sum_{j>\\theta} \\lambda_j(W) / \\sqrt n$. Bounds of earlier papers are
$O(K/\\sqrt n)$ and use all singular values. This is the reason for the two penalties: on the tail of the singular values, and
on differences between neighbouring points. Neither needs a label.

**Proposition 1 and Algorithm 1.** After each sub-gradient step on loss, ridge and graph, the singular values after the first
$\\theta$ shrink by $\\tau_S/\\mu$, but not below zero. With $\\tau_S = 0$ the method is SS-MC, with $\\tau_I = 0$ it is LRC-MC,
and with both zero it is Linear-MC, the dotted curve beside the run. The gradients and the weights sum to zero over
the classes. So one singular value is always zero, if there are at least as many features as classes.

Here the random features are drawn once, not in each step as in the other settings. So their error does
not average out."""

STEP_IN_BALL = 0.1
# Weight of the graph on real data, times 1 / (n n_l): with ten neighbours it counts about as much as one label.
GRAPH = 0.2


def _papers_algorithm(spec: Spec) -> tuple[Assumption, ...]:
    setting, s = cast("MultiClassSetting", spec.problem), spec.solver
    radius = MultiClass(radius=setting.radius).ball
    return (
        Assumption(
            f"The step 1/μ is constant (here: {SCHEDULE_WORDS[s.schedule]}).",
            s.schedule == "constant" and not spec.changes,
            remedy={"solver": {"schedule": "constant"}},
        ),
        Assumption(
            f"The weights stay in the ball of radius 1 (here: {radius:g}).",
            radius == 1.0,
            # In a small ball, a step of the ball's size keeps only the last mini-batch in the weights.
            remedy={
                "problem": {"radius": 1.0},
                "solver": {"step_size": min(s.step_size or STEP_IN_BALL, STEP_IN_BALL)},
            },
        ),
        Assumption(
            "The features are the points' own coordinates, as in the paper.",
            setting.features == "linear",
            remedy={"problem": {"features": "linear"}},
        ),
    )


def _like_linear(spec: Spec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Return the size of the mini-batch and the weight of the graph, if the run uses all labels or an automatic weight."""
    problem: Any = spec.problem
    return {
        **({"batch_size": None} if problem.is_full_gradient else {}),
        **({"tau_I": problem.usual_tau_I} if problem.tau_I is None else {}),
    }


def _details(run: Run) -> panels.Details:
    """Draw the confusion matrix, and the lead of the highest score on right and wrong points."""
    scores = run.result_test_values
    given = scores.argmax(axis=1)
    is_right = given == run.split.y_test
    lead = np.diff(np.partition(scores, -2, axis=1)[:, -2:], axis=1).ravel()
    leads = panels.Histogram(
        "Lead of the highest score, test points",
        "highest score minus the next",
        [
            panels.Values("right", lead[is_right], panels.Role("class", 0)),
            panels.Values("wrong", lead[~is_right], panels.Role("class", 1)),
        ],
        "Histogram of the highest score's lead.",
        marks=[panels.Mark(1.0, "margin 1")],
        is_share=False,
    )
    return ((panels.confusion(run, given), leads),)


def _usual(n: int, n_labeled: int, rarest: float) -> dict[str, Any]:
    """Return the defaults of PS3VT(features="fourier"), but with fewer features and another weight of the graph."""
    return usual_run(
        features="fourier",
        n_features=256,
        batch_size=32,
        lam=RIDGE["fourier", "hinge"] / n_labeled,
        tau_I=GRAPH / (n * n_labeled),
        tau_S=TAIL["fourier"],
        radius=(n_labeled / RIDGE["fourier", "hinge"]) ** 0.5,  # the ball contains the minimiser
        fit_intercept=True,
    )


def _fitted(n_labeled: int) -> dict[str, Any]:
    """Return the defaults of PS3VT, which has linear features, and starts from the exact solution without a low rank."""
    return {
        "features": "linear",
        "loss": "logistic",
        "tau_S": TAIL["linear"],
        "radius": FREE,
        "n_iter": 4000,
        "start": EXACT,
        "tol": TOL_STARTED,
    }


MULTICLASS = Profile(
    **texts_of("multiclass"),
    defaults={
        "data": {"name": "spirals", "n_labeled": 20},
        "kernel": {"sigma": 30.0},
        "problem": {"features": "fourier", "tau_I": None, "tau_S": 0.05, "radius": 10.0},
        "solver": {"lam": 1e-6, "step_size": 1.0, "batch_size": 32, "dtype": "float64"},
    },
    other_sets={"data": {"n_labeled": 50}},
    usual=_usual,
    fitted=_fitted,
    steerable=("step_size", "tau_I", "tau_S", "lam"),
    kernels=("gaussian",),
    dtypes=("float64",),
    front=("n_labeled", "step_size", "n_features", "tau_S", "tau_I"),
    translations=dict.fromkeys(("LinearMC", "LRCMC", "SSMC"), _like_linear),
    suggested={
        "features": Among(("linear", "fourier")),
        "sigma": Times(8.0),
        "lam": USUAL["lam"],
        "tau_I": Times(10.0),
        "step_size": USUAL["step_size"],
    },
    details=_details,
    theorem=Theorem(_STATEMENT, _papers_algorithm, names_kernel=False),
    guided=lessons_of("multiclass"),
)

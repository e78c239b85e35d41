"""Texts, defaults, figures and lessons of multi-class learning (PS3VT)."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from dsgcore.multiclass.automatic import RIDGE, TAIL
from dsgcore.multiclass.loop import TOL_STARTED
from dsgcore.multiclass.problem import FREE, PRINTED, MultiClass, MultiClassSetting
from dsgcore.settings import panels
from dsgcore.settings.profile import USUAL, Among, Times, profile, usual_run
from dsgcore.settings.theorems import Assumption, Theorem, assumption, said_of
from dsgcore.solver.parameters import RunSpec
from dsgcore.solver.start import EXACT
from dsgcore.solver.task import SCHEDULE_WORDS

STEP_IN_BALL = 0.1
# Weight of the graph on real data, times 1 / (n n_l): with ten neighbours it counts about as much as one label.
GRAPH = 0.2


def _papers_algorithm(spec: RunSpec) -> tuple[Assumption, ...]:
    setting, s = cast(MultiClassSetting, spec.problem), spec.solver
    radius, is_constant = MultiClass(radius=setting.radius).ball, s.schedule == "constant" and not spec.changes
    # In a small ball, a step of the ball's size keeps only the last mini-batch in the weights.
    step = min(s.step_size or STEP_IN_BALL, STEP_IN_BALL)
    constant, printed = {"solver": {"schedule": "constant"}}, {"problem": {"variant": PRINTED}}
    in_ball, linear = (
        {"problem": {"radius": 1.0}, "solver": {"step_size": step}},
        {"problem": {"feature_map": "linear"}},
    )
    return (
        assumption("step_of_algorithm", spec, is_constant, constant, here=SCHEDULE_WORDS[s.schedule]),
        assumption("ball", spec, radius == 1.0, in_ball, here=radius),
        assumption("coordinates", spec, setting.feature_map == "linear", linear),
        assumption("as_printed", spec, setting.variant == PRINTED, printed),
    )


def _like_linear(spec: RunSpec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Return the size of the mini-batch and the weight of the graph, if the run uses all labels or an automatic weight."""
    problem: Any = spec.problem
    return {
        **({"batch_size": None} if problem.is_full_gradient else {}),
        **({"tau_I": problem.usual_tau_I} if problem.tau_I is None else {}),
    }


def _details(run: panels.Result) -> panels.Details:
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
    """Return the defaults of PS3VT(feature_map="fourier"), but with fewer features and another weight of the graph."""
    return usual_run(
        feature_map="fourier",
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
        "feature_map": "linear",
        "loss": "logistic",
        "tau_S": TAIL["linear"],
        "radius": FREE,
        "n_iter": 4000,
        "start": EXACT,
        "tol": TOL_STARTED,
    }


MULTICLASS = profile(
    "multiclass",
    usual=_usual,
    fitted=_fitted,
    front=("n_labeled", "step_size", "n_features", "tau_S", "tau_I"),
    translations=dict.fromkeys(("LinearMC", "LRCMC", "SSMC"), _like_linear),
    suggested={
        "feature_map": Among(("linear", "fourier")),
        "sigma": Times(8.0),
        "lam": USUAL["lam"],
        "tau_I": Times(10.0),
        "step_size": USUAL["step_size"],
    },
    details=_details,
    theorem=Theorem(**said_of("multiclass"), assumed=_papers_algorithm, names_kernel=False),
)

"""Texts, defaults and theorem of learning from labels alone (doubly stochastic gradients)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsgcore.settings import panels
from dsgcore.settings.profile import FROM_0, Profile, fitted, texts_of, usual_run
from dsgcore.settings.theorems import Assumption, Breach, convex_theorem
from dsgcore.solver.parameters import RunSpec

# Largest second derivatives of the losses; None: the derivative jumps.
CURVATURES = {"logistic": 0.25, "squared": 1.0, "hinge": None}


def _details(run: panels.Result) -> panels.Details:
    """Draw the margins of the test points: the scores with the sign of the class."""
    y, f = run.split.y_test, run.result_test_values
    margins = panels.Histogram(
        "Margins",
        "margin y f",
        [panels.Values("test", np.where(y == 1, f, -f), panels.POSITIVE)],
        "Histogram of the test points' margins.",
        marks=[panels.Mark(0.0, "boundary"), panels.Mark(1.0, "1")],
    )
    return (margins,), (
        panels.Words("A point left of the boundary is on the wrong side. Each loss falls with the margin."),
    )


def _curvature(spec: RunSpec) -> float:
    problem: Any = spec.problem
    return CURVATURES[problem.loss] or 0.0


def _smooth(spec: RunSpec) -> tuple[Assumption, ...]:
    """Return the assumption that the loss's derivative is Lipschitz."""
    problem: Any = spec.problem
    holds = CURVATURES[problem.loss] is not None
    here = "" if holds else " (here it jumps at the hinge's kink)"
    then = "The paper's rate needs a smooth loss. The hinge has a kink, and near it the gradient does not fade."
    breach = Breach("a loss with a kink", {"problem": {"loss": "hinge"}}, then)
    return (
        Assumption(
            f"The derivative of the loss is Lipschitz{here}.", holds, {"problem": {"loss": "logistic"}}, breach=breach
        ),
    )


SUPERVISED = Profile(
    **texts_of("supervised"),
    fitted=fitted(FROM_0),  # the logistic loss has no exact start
    usual=lambda n, n_labeled, rarest: usual_run(lam=0.5 / n_labeled),
    details=_details,
    theorem=convex_theorem("supervised", lipschitz=_curvature, of_risk=_smooth, loss="squared"),
)

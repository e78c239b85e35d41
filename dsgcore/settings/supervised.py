"""Texts, defaults and theorem of learning from labels alone (doubly stochastic gradients)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsgcore.settings import panels
from dsgcore.settings.profile import FROM_0, fitted, profile, usual_run
from dsgcore.settings.theorems import Assumption, assumption, convex_theorem
from dsgcore.solver.parameters import RunSpec


def _curvature(spec: RunSpec) -> float:
    """Return the loss's largest second derivative; 0 for the hinge, whose derivative jumps."""
    problem: Any = spec.problem
    return {"logistic": 0.25, "squared": 1.0, "hinge": 0.0}[problem.loss]


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
    return (margins,), ("A point left of the boundary is on the wrong side. Each loss falls with the margin.",)


def _smooth(spec: RunSpec) -> tuple[Assumption, ...]:
    """Return the assumption that the loss's derivative is Lipschitz."""
    remedy, breach = {"problem": {"loss": "logistic"}}, {"problem": {"loss": "hinge"}}
    return (assumption("derivative", spec, _curvature(spec) > 0.0, remedy, breach),)


SUPERVISED = profile(
    "supervised",
    fitted=fitted(FROM_0),  # the logistic loss has no exact start
    usual=lambda n, n_labeled, rarest: usual_run(lam=0.5 / n_labeled),
    details=_details,
    theorem=convex_theorem("supervised", lipschitz=_curvature, of_risk=_smooth, loss="squared"),
)

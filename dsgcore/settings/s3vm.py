"""Texts, defaults, figures and lessons of the semi-supervised SVM (TSGS3VM)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsgcore.core.cost import per_cent
from dsgcore.settings import panels
from dsgcore.settings.profile import USUAL, Times, fitted, profile, usual_run
from dsgcore.settings.theorems import Assumption, Constant, Rate, assumption, constant_step_theorem
from dsgcore.solver.parameters import RunSpec


def _sums(spec: RunSpec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Convert weights of mean losses and a ridge to one weight for each point's loss."""
    C, C_star = _weights(spec, n_labeled, n_unlabeled)
    ridge = spec.solver.lam or 1.0
    return {"C": C / (ridge * n_labeled), "C_star": C_star / (ridge * max(1, n_unlabeled))}


def _ridges(spec: RunSpec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Convert to a ridge and a weight of the unlabeled points, for labels of weight 1."""
    C, C_star = _weights(spec, n_labeled, n_unlabeled)
    return {"lam": spec.solver.lam / (2.0 * C), "lam_u": C_star / C}


def _decaying(spec: RunSpec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Convert to weights for a ridge of 1 and to a step theta / t, if the run's steps are of that kind."""
    C, C_star = _weights(spec, n_labeled, n_unlabeled)
    ridge = spec.solver.lam or 1.0
    step = spec.solver.step_size if spec.solver.schedule == "theta/t" else None
    return {
        "labeled_weight": C / ridge,
        "unlabeled_weight": C_star / ridge,
        "step_size": 1.0 if step is None else step * ridge,
    }


def _weights(spec: RunSpec, n_labeled: int, n_unlabeled: int) -> tuple[float, float]:
    problem: Any = spec.problem
    C, C_star = problem.labeled_weight, problem.unlabeled_weight
    return C, C * n_labeled / max(1, n_unlabeled) if C_star is None else C_star


def _details(run: panels.Result) -> panels.Details:
    """Show the scores of the unlabeled points against the margin."""
    f = run.result_unlabeled_values + run.result_shift
    if not len(f):  # all training points have a label
        return (("All training points have a label, so no unlabeled point lies inside the margin.",),)
    inside = float(np.mean(np.abs(f) < 1.0))
    scores = panels.Histogram(
        "Scores of the unlabeled points",
        "score f",
        [panels.Values("unlabeled", f, panels.UNLABELED)],
        "Histogram of the unlabeled points' scores.",
        marks=[panels.Mark(-1.0, "−1"), panels.Mark(0.0, "boundary"), panels.Mark(1.0, "+1")],
        band=(-1.0, 1.0),
    )
    said = (
        f"**{per_cent(inside)}** of the unlabeled points lie inside the margin (shaded), and each of them costs something. So "
        "the boundary moves to a place with few points. With C* = 0 they cost nothing."
    )
    return (scores,), (said,)


def _of_risk(spec: RunSpec) -> tuple[Assumption, ...]:
    """Return the assumptions on the risk: unbiased mini-batches and a Lipschitz gradient."""
    problem: Any = spec.problem
    without, kept = {"problem": {"is_balanced": False}}, {"problem": {"is_balanced": True}}
    smooth, kinks = {"problem": {"loss": "exponential"}}, {"problem": {"loss": "symmetric hinge"}}
    hinge = {"loss": problem.loss, "beside": ", although the labels' hinge has a kink, too"}
    return (
        assumption("balance", spec, not problem.is_balanced, without, kept),
        assumption("smooth", spec, problem.loss == "exponential", smooth, kinks, **hinge),
    )


S3VM = profile(
    "s3vm",
    fitted=fitted(0.02),
    usual=lambda n, n_labeled, rarest: usual_run(
        labeled_weight=5.0 * n_labeled, unlabeled_weight=0.5 * n_labeled, lam=1.0
    ),
    translations={
        "S3VMLight": _sums,
        "BLS3VM": _sums,
        "BGS3VM": _decaying,
        "FRS3VM": _decaying,
        "QNS3VM": _ridges,
        **dict.fromkeys(
            ("EverydaySVC", "EverydayLogisticRegression", "EverydayNystroem", "EverydaySelfTraining"), _sums
        ),
    },
    suggested={name: how for name, how in USUAL.items() if name != "lam"}
    | dict.fromkeys(("labeled_weight", "unlabeled_weight"), Times(30.0)),
    details=_details,
    theorem=constant_step_theorem(
        "s3vm",
        schedule="theta/T^(3/4)",
        rates={"error": Rate(-0.5, "T", "1/√T"), "gradient_mean": Rate(-0.25, "T", "1/T^¼")},
        largest=("T^¾ (Theorems 1 and 2)", lambda n_iter: n_iter**0.75),
        of_risk=_of_risk,
        constant=Constant("error", 1.0, Rate(-0.5, "T", "1/√T"), "θ² M² (√κ + √φ)² / √T", {}),
        step_size=5.0,
        # Chosen to show the rate soon: with weights of 10, T = 50 to 800 gave a slope of -0.20 +- 0.02.
        labeled_weight=4.0,
        unlabeled_weight=4.0,
    ),
)

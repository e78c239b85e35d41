"""Texts, defaults, figures and lessons of the semi-supervised SVM (TSGS3VM)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dsgcore.settings import panels
from dsgcore.settings.guided.questions import BETTER, WORSE, Claim
from dsgcore.settings.guided.written import lessons_of
from dsgcore.settings.profile import USUAL, Lesson, PaperFigure, Profile, Times, short, usual_run
from dsgcore.settings.theorem import Assumption, Breach, Constant, Measured, Rate
from dsgcore.settings.theorems import constant_step_theorem, unbiased_batches

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run
    from dsgcore.experiments.spec import Spec


def _sums(spec: Spec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Convert weights of mean losses and a ridge to one weight for each point's loss."""
    C, C_star = _weights(spec, n_labeled, n_unlabeled)
    ridge = spec.solver.lam or 1.0
    return {"C": C / (ridge * n_labeled), "C_star": C_star / (ridge * max(1, n_unlabeled))}


def _ridges(spec: Spec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Convert to a ridge and a weight of the unlabeled points, for labels of weight 1."""
    C, C_star = _weights(spec, n_labeled, n_unlabeled)
    return {"lam": spec.solver.lam / (2.0 * C), "lam_u": C_star / C}


def _decaying(spec: Spec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Convert to weights for a ridge of 1 and to a step theta / t, if the run's steps are of that kind."""
    C, C_star = _weights(spec, n_labeled, n_unlabeled)
    ridge = spec.solver.lam or 1.0
    step = spec.solver.step_size if spec.solver.schedule == "theta/t" else None
    return {"C": C / ridge, "C_star": C_star / ridge, "step_size": 1.0 if step is None else step * ridge}


def _weights(spec: Spec, n_labeled: int, n_unlabeled: int) -> tuple[float, float]:
    problem: Any = spec.problem
    C_star = problem.C * n_labeled / max(1, n_unlabeled) if problem.C_star is None else problem.C_star
    return problem.C, C_star


def _details(run: Run) -> panels.Details:
    """Show the scores of the unlabeled points against the margin."""
    f = run.unlabeled_values + run.shift
    inside = float(np.mean(np.abs(f) < 1.0))
    scores = panels.Histogram(
        "Scores of the unlabeled points",
        "score f",
        [panels.Sample("unlabeled", f, panels.UNLABELED)],
        "Histogram of the unlabeled points' scores.",
        marks=[panels.Mark(-1.0, "−1"), panels.Mark(0.0, "boundary"), panels.Mark(1.0, "+1")],
        band=(-1.0, 1.0),
    )
    said = panels.Words(
        f"**{inside:.0%}** of the unlabeled points lie inside the margin (shaded), and each of them costs something. So "
        "the boundary moves to a place with few points. With C* = 0 they cost nothing."
    )
    return (scores,), (said,)


def _of_risk(spec: Spec) -> tuple[Assumption, ...]:
    """Return the assumptions on the risk: unbiased mini-batches and a Lipschitz gradient."""
    problem: Any = spec.problem
    is_smooth = problem.loss == "exponential"
    here = "" if is_smooth else f" (here it jumps at the kinks of the {problem.loss})"
    return (
        unbiased_batches(
            spec,
            why=(
                "the balance uses the mean of the mini-batch, and the smaller the mini-batch, the further that is "
                "from the sample's mean"
            ),
            name="is_balanced",
            without=False,
            breach=Breach(
                "the balance kept",
                {"problem": {"is_balanced": True}},
                (
                    "The proof no longer applies. On two moons this did no harm: longer runs came as much closer as "
                    "without the balance."
                ),
            ),
        ),
        Assumption(
            f"The gradient of the risk is Lipschitz{here}. The paper's rate needs it, although the labels' hinge has a kink, too.",
            is_smooth,
            {"problem": {"loss": "exponential"}},
            breach=Breach(
                "a loss with kinks",
                {"problem": {"loss": "symmetric hinge"}},
                (
                    "At a kink the gradient jumps, however small the step is. The proof does not say how fast its "
                    "mean falls."
                ),
            ),
        ),
    )


def _constant(spec: Spec, measured: Measured) -> Constant | None:
    """Return the bound on E |f - h|^2 of TSGS3VM's Theorem 1."""
    theta, kappa, phi = spec.solver.step_size, spec.kernel.bound, spec.kernel.feature_bound
    if theta is None:
        return None
    D = (theta * measured.M * (kappa**0.5 + phi**0.5)) ** 2
    ingredients = {"κ": kappa, "φ": phi, "M": measured.M, "θ": theta}
    return Constant("error", D, Rate(-0.5, "T", "1/√T"), "θ² M² (√κ + √φ)² / √T", ingredients)


# The paper's experiments as studies.
_PAPERS_RUN = {"n_features": 128, "n_iter": 200}

_FIGURES = (
    PaperFigure(
        "fig2",
        "Fig. 2",
        "Time against the size of the training set",
        (
            "TSGS3VM is much faster than the others, also on sets with a million points. BLS3VM and "
            "S3VM-light often run out of memory."
        ),
        (
            "The data are generated. The number of iterations is fixed, while the paper makes one pass over "
            "the data. So the time hardly grows. To get the competitors' times, start a race on the setting's "
            "page."
        ),
        {"data": {"name": "two_moons", "n_labeled": 200, "n": 4000}, "solver": _PAPERS_RUN},
        ({"name": "data.n", "from": 500, "to": 20_000, "n": 6},),
        measure="seconds",
        full_axes={"data.n": {"from": 1000, "to": 1_000_000, "n": 7}},
    ),
    PaperFigure(
        "fig3",
        "Fig. 3",
        "Test score over ten draws of the labels",
        ("TSGS3VM generalises about as well as BLS3VM, S3VM-light and BGS3VM, and better than fixed random features."),
        (
            "Breast cancer with 50 labels replaces the paper's eight sets, and scores replace errors. The "
            "axis shows the loss of unlabeled points instead of the method: the four losses of the paper's "
            "Table 2."
        ),
        {"data": {"name": "breast_cancer", "n_labeled": 50}, "solver": _PAPERS_RUN},
        ({"name": "problem.loss", "values": ["symmetric hinge", "squared symmetric hinge", "ramp", "exponential"]},),
        seeds=10,
        full={"data": {"n_labeled": 200}},
    ),
)

S3VM = Profile(
    short="Gaps",
    paper="TSGS3VM",
    icon=":material/call_split:",
    prefix="svm_",
    headline="Let the gaps draw the boundary",
    card="Move the decision boundary into the gaps between unlabeled points.",
    defaults={
        "data": {"name": "two_moons", "noise": 0.05, "n_labeled": 6},
        "kernel": {"sigma": 50.0},
        "problem": {"C": 10.0, "C_star": 10.0, "is_balanced": True},
        "solver": {"lam": 1.0, "step_size": 0.05},
    },
    other_sets={"data": {"n_labeled": 50}},
    usual=lambda n, n_labeled, rarest: usual_run(C=short(5.0 * n_labeled), C_star=short(0.5 * n_labeled), lam=1.0),
    translations={
        "S3VMLight": _sums,
        "BLS3VM": _sums,
        "BGS3VM": _decaying,
        "FRS3VM": _decaying,
        "QNS3VM": _ridges,
        **dict.fromkeys(("EverydaySVC", "EverydayLogistic", "EverydayNystroem", "EverydaySelfTraining"), _sums),
    },
    suggested={name: how for name, how in USUAL.items() if name != "lam"} | dict.fromkeys(("C", "C_star"), Times(30.0)),
    details=_details,
    theorem=constant_step_theorem(
        """**Theorem 1 of TSGS3VM.** The risk is not convex: with a constant step $\\theta / T^{3/4}$ over $T$ iterations,
$\\mathbb{E}\\,|f - h|^2 = O(1/\\sqrt{T})$ and the mean of $\\|\\nabla R(h_t)\\|^2$ is $O(1/T^{1/4})$.""",
        schedule="theta/T^(3/4)",
        rates={"error": Rate(-0.5, "T", "1/√T"), "gradient_mean": Rate(-0.25, "T", "1/T^¼")},
        of_risk=_of_risk,
        constant=_constant,
        cost=(
            "Without the balance, all unlabeled points can end on one side, and the test score can fall by a "
            "lot. Another loss for unlabeled points gives another boundary."
        ),
        step_size=5.0,
        # Chosen to show the rate soon: with weights of 10, T = 50 to 800 gave a slope of -0.20 +- 0.02.
        C=4.0,
        C_star=4.0,
    ),
    guided=lessons_of("s3vm"),
    figures=_FIGURES,
    lessons=(
        Lesson(
            "works",
            (
                "Six labels and the shape of the unlabeled points. The boundary moves into the gap between the "
                "moons, and nearly every point is on the right side."
            ),
            claims=(BETTER, Claim("gain", low=0.04), Claim("score", low=0.93)),
        ),
        Lesson(
            "too big a step",
            "Each step overshoots. The boundary jumps, and the objective rises at least a hundredfold.",
            {"step_size": 2.0},
            claims=(Claim("growth", low=100.0), Claim("score", high=0.8)),
        ),
        Lesson(
            "too few features",
            (
                "Only labels, 50 of them, and one random feature in each iteration. Its error is at least half as "
                "large as the function itself. Compare f with h on the map: h gets at least three points more "
                "right."
            ),
            {"n_features": 1, "step_size": 0.3, "n_labeled": 50, "C_star": 0.0, "is_balanced": False},
            claims=(Claim("error_share", low=0.5), Claim("lag", low=0.03)),
        ),
        Lesson(
            "unlabeled data hurts",
            (
                "There is a gap between two bands, but the classes are left and right. The boundary moves into "
                "the gap, which is the wrong place."
            ),
            {"data": "misleading_gap", "sigma": 2.0, "n_labeled": 20, "is_balanced": False, "C_star": 10.0},
            claims=(WORSE, Claim("gain", high=-0.1)),
        ),
    ),
)

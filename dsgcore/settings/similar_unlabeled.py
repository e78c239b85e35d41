"""Similar-unlabeled learning (TSGSU): its words and choices."""

from __future__ import annotations

from dsgcore.settings.profile import Lesson, Profile
from dsgcore.settings.theorem import constant_step_theorem

SIMILAR_UNLABELED = Profile(
    short="Similar-unlabeled",
    paper="TSGSU",
    icon=":material/link:",
    prefix="su_",
    card="Learn a classifier from pairs that belong together, and from points without any label.",
    defaults={
        "data": {"name": "gaussian_mixture", "n": 2000, "noise": 0.3, "n_labeled": 200, "imbalance": 0.7},
        "kernel": {"sigma": 20.0},
        "problem": {"correction": "ReLU"},
        "solver": {"lam": 1e-2, "step_size": 0.5},
    },
    theorem=constant_step_theorem(
        """**Theorem 1 of TSGSU.** The corrected risk is not convex: with a constant step
$\\theta / \\sqrt{T}$ over $T$ iterations, the mean of $\\|\\nabla J(h_t)\\|^2$ over the run is $O(1/\\sqrt{T})$: a stationary
point, not the optimum.""",
        schedule="theta/sqrt(T)",
    ),
    lessons=(
        Lesson("works", "Two hundred pairs that share a class, no label at all, and a known share of positives."),
        Lesson(
            "too big a step",
            "Each step overshoots: the objective jumps about and the accuracy with it.",
            {"step_size": 20.0},
        ),
        Lesson(
            "wrong share of positives",
            "The method needs the share of positives: told 0.95 for 0.7, it calls nearly everything positive.",
            {"prior": 0.95},
        ),
        Lesson(
            "negative risk",
            "Few pairs, a flexible kernel and no correction: the estimated risk falls below zero, the sign of overfitting.",
            {"n_labeled": 20, "sigma": 100.0, "correction": "identity", "lam": 0.0001},
        ),
    ),
)

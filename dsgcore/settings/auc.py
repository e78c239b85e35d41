"""Semi-supervised AUC (QSG-S2AUC): its words and choices."""

from __future__ import annotations

from dsgcore.settings.profile import Lesson, Profile
from dsgcore.settings.theorem import convex_theorem

AUC = Profile(
    short="AUC",
    paper="QSG-S2AUC",
    icon=":material/leaderboard:",
    prefix="",
    card="Rank positives above negatives with a few labels and many unlabeled points.",
    defaults={"kernel": {"sigma": 0.5}},
    theorem=convex_theorem("Theorem 1 of QSG-S2AUC."),
    lessons=(
        Lesson(
            "works",
            "Six clusters and 12 labels: the unlabeled points raise the AUC by several points over the labels alone.",
            {"data": "gaussian_mixture", "n_labeled": 12, "sigma": 10.0},
        ),
        Lesson(
            "too big a step",
            "Each step overshoots: the objective grows from iteration to iteration until the numbers overflow.",
            {"step_size": 20.0},
        ),
        Lesson(
            "too few features",
            "With four random features an iteration, their error is half as large as the function itself, and the AUC falls.",
            {"n_features": 4},
        ),
        Lesson(
            "unlabeled data hurts",
            "Digits with 20 labels: pairs with unlabeled points drown the few labels, and the labels alone do better.",
            {"n_labeled": 20},
        ),
    ),
)

"""Semi-supervised AUC (QSG-S2AUC): its words and choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsgcore.settings import panels
from dsgcore.settings.profile import Lesson, Profile
from dsgcore.settings.theorem import convex_theorem

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run


def _details(run: Run) -> panels.Details:
    """Show how the scores of positives, negatives and unlabeled points lie to each other."""
    y, f, names = run.split.y_test, run.test_values, run.split.class_names
    samples = [
        panels.Sample(f"{names[0]} (test)", f[y == 0], panels.NEGATIVE),
        panels.Sample(f"{names[1]} (test)", f[y == 1], panels.POSITIVE),
        panels.Sample("unlabeled", run.unlabeled_values, panels.UNLABELED, is_line=True),
    ]
    scores = panels.Histogram("Scores", "score f", samples, "Histograms of the scores by class.")
    return (scores,), (_OVERLAP,)


_OVERLAP = panels.Words(
    "The AUC is the share of (positive, negative) pairs in the right order: the less the two overlap, the higher. "
    "It does not depend on where the scores lie, only on their order."
)
AUC = Profile(
    short="AUC",
    paper="QSG-S2AUC",
    icon=":material/leaderboard:",
    prefix="",
    headline="Rank with few labels",
    card="Rank positives above negatives with a few labels and many unlabeled points.",
    defaults={"kernel": {"sigma": 0.5}},
    details=_details,
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

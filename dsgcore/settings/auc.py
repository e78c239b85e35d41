"""Texts, defaults, figures and lessons of semi-supervised AUC (QSG-S2AUC)."""

from __future__ import annotations

from dsgcore.settings import panels
from dsgcore.settings.profile import TRUST, USUAL, fitted, profile, usual_run
from dsgcore.settings.theorems import convex_theorem
from dsgcore.solver.task import by_labels


def _details(run: panels.Result) -> panels.Details:
    """Draw the scores of positives, negatives and unlabeled points."""
    y, f, names = run.split.y_test, run.result_test_values, run.split.class_names
    samples = [
        panels.Values(f"{names[0]} (test)", f[y == 0], panels.NEGATIVE),
        panels.Values(f"{names[1]} (test)", f[y == 1], panels.POSITIVE),
        panels.Values("unlabeled", run.result_unlabeled_values, panels.UNLABELED, is_faint=True),
    ]
    scores = panels.Histogram("Scores", "score f", samples, "Histograms of the scores by class.")
    return (scores,), (_OVERLAP,)


_OVERLAP = (
    "The AUC is the share of (positive, negative) pairs in the right order. The less the two "
    "histograms overlap, the higher it is. Only the order of the scores counts, not their values."
)


AUC = profile(
    "auc",
    fitted=fitted(0.05, is_ranking=True),
    usual=lambda n, n_labeled, rarest: usual_run(
        gamma=0.9,
        pairing="all",
        is_pooled=True,
        lam=max(3.0 / n_labeled, 0.01) * by_labels(n_labeled, rarest).ridge,
    ),
    suggested=USUAL | {"gamma": TRUST},
    details=_details,
    theorem=convex_theorem("auc"),
)

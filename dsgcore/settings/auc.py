"""Texts, defaults, figures and lessons of semi-supervised AUC (QSG-S2AUC)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsgcore.settings import panels
from dsgcore.settings.guided.written import lessons_of
from dsgcore.settings.page_texts import texts_of
from dsgcore.settings.profile import TRUST, USUAL, Profile, fitted, usual_run
from dsgcore.settings.theorems import SUM_OF_SQUARES, convex_theorem

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run


def _details(run: Run) -> panels.Details:
    """Draw the scores of positives, negatives and unlabeled points."""
    y, f, names = run.split.y_test, run.result_test_values, run.split.class_names
    samples = [
        panels.Values(f"{names[0]} (test)", f[y == 0], panels.NEGATIVE),
        panels.Values(f"{names[1]} (test)", f[y == 1], panels.POSITIVE),
        panels.Values("unlabeled", run.result_unlabeled_values, panels.UNLABELED, is_faint=True),
    ]
    scores = panels.Histogram("Scores", "score f", samples, "Histograms of the scores by class.")
    return (scores,), (_OVERLAP,)


_OVERLAP = panels.Words(
    "The AUC is the share of (positive, negative) pairs in the right order. The less the two "
    "histograms overlap, the higher it is. Only the order of the scores counts, not their values."
)


AUC = Profile(
    **texts_of("auc"),
    defaults={
        "data": {"name": "circles", "n_labeled": 10},
        "kernel": {"sigma": 0.5},
        "solver": {"lam": 1e-3},
    },
    other_sets={"solver": {"lam": 1e-2}},
    fitted=fitted(0.05),
    usual=lambda n, n_labeled, rarest: usual_run(
        gamma=0.9, pairing="all", is_pooled=True, lam=max(3.0 / n_labeled, 0.01)
    ),
    suggested=USUAL | {"gamma": TRUST},
    details=_details,
    theorem=convex_theorem(
        "Theorem 1 of QSG-S2AUC (IJCAI 2019), with its Lemmas 1 to 3 and its split (17).",
        "Lemma 1",
        f"Lemma 1, (18), bounds it by {SUM_OF_SQUARES}.",
    ),
    guided=lessons_of("auc"),
)

"""Texts, defaults, figures and lessons of semi-supervised AUC (QSG-S2AUC)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsgcore.settings import panels
from dsgcore.settings.guided.questions import BETTER, DIVERGES, WORSE, Claim
from dsgcore.settings.guided.written import lessons_of
from dsgcore.settings.profile import TRUST, USUAL, Lesson, PaperFigure, Profile, short, usual_run
from dsgcore.settings.theorems import convex_theorem

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run


def _details(run: Run) -> panels.Details:
    """Draw the scores of positives, negatives and unlabeled points."""
    y, f, names = run.split.y_test, run.test_values, run.split.class_names
    samples = [
        panels.Sample(f"{names[0]} (test)", f[y == 0], panels.NEGATIVE),
        panels.Sample(f"{names[1]} (test)", f[y == 1], panels.POSITIVE),
        panels.Sample("unlabeled", run.unlabeled_values, panels.UNLABELED, is_line=True),
    ]
    scores = panels.Histogram("Scores", "score f", samples, "Histograms of the scores by class.")
    return (scores,), (_OVERLAP,)


_OVERLAP = panels.Words(
    "The AUC is the share of (positive, negative) pairs in the right order. The less the two "
    "histograms overlap, the higher it is. Only the order of the scores counts, not their values."
)
# The paper's experiments as studies.
_PAPERS_RUN = {"n_features": 128, "n_iter": 200}

_FIGURES = (
    PaperFigure(
        "fig1",
        "Fig. 1",
        "Time against the number of unlabeled points",
        (
            "With 200 labels, QSG-S2AUC is always faster than SAMULT and PNU-AUC. Those two stop when their "
            "kernel matrices no longer fit into memory."
        ),
        (
            "The data are generated, and the number of iterations is fixed. So only reading and testing take "
            "longer when the data grow. To get the competitors' times, start a race on the setting's page."
        ),
        {"data": {"name": "gaussian_mixture", "n_labeled": 200, "n": 4000}, "solver": _PAPERS_RUN},
        ({"name": "data.n", "from": 500, "to": 20_000, "n": 6},),
        measure="seconds",
        full_axes={"data.n": {"from": 1000, "to": 1_000_000, "n": 7}},
    ),
    PaperFigure(
        "fig2",
        "Fig. 2",
        "AUC over ten draws of the labels",
        (
            "On most sets QSG-S2AUC has about the same AUC as SAMULT and PNU-AUC. It has the highest AUC on "
            "covtype and ijcnn1."
        ),
        (
            "Breast cancer with 50 labels replaces the paper's eight sets, and γ is on the axis. At γ = 1 "
            "only the labels count. Below 1, pairs with unlabeled points count as well."
        ),
        {"data": {"name": "breast_cancer", "n_labeled": 50}, "solver": _PAPERS_RUN},
        ({"name": "problem.gamma", "from": 0.0, "to": 1.0, "n": 6},),
        seeds=10,
        full={"data": {"n_labeled": 200}},
        full_axes={"problem.gamma": {"n": 11}},
    ),
)

AUC = Profile(
    short="Ranking",
    paper="QSG-S2AUC",
    icon=":material/leaderboard:",
    prefix="",
    headline="Rank with few labels",
    card="Rank positives above negatives, with a few labels and many unlabeled points.",
    defaults={
        "data": {"name": "circles", "n_labeled": 10},
        "kernel": {"sigma": 0.5},
        "solver": {"lam": 1e-3},
    },
    other_sets={"solver": {"lam": 1e-2}},
    seldom=("is_pooled",),
    usual=lambda n, n_labeled, rarest: usual_run(
        gamma=0.9, pairing="all", is_pooled=True, lam=short(max(3.0 / n_labeled, 0.01))
    ),
    suggested=USUAL | {"gamma": TRUST},
    details=_details,
    theorem=convex_theorem("Theorem 1 of QSG-S2AUC."),
    guided=lessons_of("auc"),
    figures=_FIGURES,
    lessons=(
        Lesson(
            "works",
            (
                "Two circles and ten labels. Learned from the labels alone, the score leans to one side. The "
                "unlabeled points surround the centre and correct that, so the AUC rises (on at least 17 of 20 "
                "seeds)."
            ),
            claims=(BETTER,),
        ),
        Lesson(
            "too big a step",
            ("Each step overshoots. The objective grows from iteration to iteration until the numbers overflow."),
            {"step_size": 20.0},
            claims=(DIVERGES,),
        ),
        Lesson(
            "too few features",
            (
                "Digits with four random features in each iteration. Their error is at least a third of the "
                "function itself, and the AUC falls below that of the labels alone."
            ),
            {"data": "digits", "n_labeled": 200, "sigma": 0.5, "lam": 0.01, "n_features": 4},
            claims=(Claim("error_share", low=1 / 3), Claim("lag", low=0.02), WORSE),
        ),
        Lesson(
            "unlabeled data hurts",
            (
                "Digits with 20 labels. Pairs with unlabeled points outweigh the few labels, and the labels alone "
                "are better, by at least eight points."
            ),
            {"data": "digits", "n_labeled": 20, "sigma": 0.5, "lam": 0.01},
            claims=(WORSE, Claim("gain", high=-0.08)),
        ),
    ),
)

"""Semi-supervised AUC (QSG-S2AUC): its words and choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsgcore.settings import panels
from dsgcore.settings.guided.lesson import BETTER, DIVERGES, WORSE, Claim
from dsgcore.settings.guided.written import lessons_of
from dsgcore.settings.profile import TRUST, USUAL, Lesson, PaperFigure, Profile, short, usual_run
from dsgcore.settings.theorems import convex_theorem

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
# The paper's experiments, as studies of our method.
_PAPERS_RUN = {"n_features": 128, "n_iter": 200}

_FIGURES = (
    PaperFigure(
        "fig1",
        "Fig. 1",
        "Time against the number of unlabeled points",
        "With 200 labels QSG-S2AUC is always faster than SAMULT and PNU-AUC, which end where their kernel matrices do not fit into "
        "memory.",
        "A made set, and a fixed number of iterations: what remains of the time's growth is the reading of the data and the test. "
        "The competitors' times can be had by a race on the setting's page.",
        {"data": {"name": "gaussian_mixture", "n_labeled": 200, "n": 4000}, "solver": _PAPERS_RUN},
        ({"name": "data.n", "from": 500, "to": 20_000, "n": 6},),
        measure="seconds",
        full_axes={"data.n": {"from": 1000, "to": 1_000_000, "n": 7}},
    ),
    PaperFigure(
        "fig2",
        "Fig. 2",
        "AUC over ten draws of the labels",
        "QSG-S2AUC has about the AUC of SAMULT and PNU-AUC on most sets, and the highest on covtype and ijcnn1.",
        "Breast cancer with 50 labels in place of the eight sets, and γ as the axis: at 1 the labels alone decide, and below "
        "it pairs with unlabeled points do, too.",
        {"data": {"name": "breast_cancer", "n_labeled": 50}, "solver": _PAPERS_RUN},
        ({"name": "problem.gamma", "from": 0.0, "to": 1.0, "n": 6},),
        seeds=10,
        full={"data": {"n_labeled": 200}},
        full_axes={"problem.gamma": {"n": 11}},
    ),
)

AUC = Profile(
    short="AUC",
    paper="QSG-S2AUC",
    icon=":material/leaderboard:",
    prefix="",
    headline="Rank with few labels",
    card="Rank positives above negatives with a few labels and many unlabeled points.",
    defaults={
        "data": {"name": "circles", "n_labeled": 10},
        "kernel": {"sigma": 0.5},
        "solver": {"lam": 1e-3},
    },
    elsewhere={"solver": {"lam": 1e-2}},
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
            "A circle within a circle and ten labels: by the labels alone the score leans to one side; the unlabeled points all "
            "around make leaning dear, and the AUC rises: on 17 of 20 seeds and more, for some ten labels lie well by themselves.",
            claims=(BETTER,),
        ),
        Lesson(
            "too big a step",
            "Each step overshoots: the objective grows from iteration to iteration until the numbers overflow.",
            {"step_size": 20.0},
            claims=(DIVERGES,),
        ),
        Lesson(
            "too few features",
            "Digits with four random features an iteration: their error is a third and more of the function itself, and the "
            "AUC falls below that of the labels alone.",
            {"data": "digits", "n_labeled": 200, "sigma": 0.5, "lam": 0.01, "n_features": 4},
            claims=(Claim("error_share", low=1 / 3), Claim("lag", low=0.02), WORSE),
        ),
        Lesson(
            "unlabeled data hurts",
            "Digits with 20 labels: pairs with unlabeled points drown the few labels, and the labels alone do better, by eight "
            "points and more.",
            {"data": "digits", "n_labeled": 20, "sigma": 0.5, "lam": 0.01},
            claims=(WORSE, Claim("gain", high=-0.08)),
        ),
    ),
)

"""Texts, defaults, figures and lessons of ordinal regression (QS3ORAO)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from dsgcore.core.metrics import auc
from dsgcore.problems.thresholds import class_measures, classify, thresholds
from dsgcore.settings import panels
from dsgcore.settings.guided.questions import BETTER, DIVERGES, WORSE, Claim
from dsgcore.settings.guided.written import lessons_of
from dsgcore.settings.profile import TRUST, USUAL, Lesson, PaperFigure, Profile, short, usual_run
from dsgcore.settings.theorems import convex_theorem

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run
    from dsgcore.experiments.spec import Spec


def _slacks(spec: Spec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Convert the ridge to a weight for each slack."""
    return {"C": 1.0 / (spec.solver.lam or 1.0)}


def _details(run: Run) -> panels.Details:
    """Draw the thresholds on the score axis, the AUC of each sub-problem and the confusion matrix."""
    y, f, b = run.split.y_test, run.test_values, _thresholds(run)
    scores = panels.Histogram(
        "Scores and thresholds, test points",
        "score f",
        panels.by_class(run),
        "Histograms of the scores by class, with thresholds.",
        marks=[panels.Mark(float(cut), f"b{j + 1}") for j, cut in enumerate(b)],
    )
    measures = [panels.Metric(f"Test {name}", f"{value:.3f}") for name, value in class_measures(y, f, b).items()]
    return (scores,), (_sub_problems(run, b), panels.confusion(run, classify(f, b))), (panels.Metrics(measures),)


def _thresholds(run: Run) -> NDArray:
    """Return the thresholds that suit the labeled points. Some may coincide; the confusion matrix shows it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return thresholds(run.split.y_train[run.labeled_rows], run.labeled_values, margin=0.0)


def _sub_problems(run: Run, b: NDArray) -> panels.Table:
    y, f, names = run.split.y_test, run.test_values, run.split.class_names
    cuts = range(1, len(names))
    return panels.Table(
        {
            "threshold": [f"b{j}" for j in cuts],
            "between": [f"{names[j - 1]} | {names[j]}" for j in cuts],
            "at": [float(b[j - 1]) for j in cuts],
            "test AUC": [auc(y >= j, f) for j in cuts],
        }
    )


# The paper's experiments as studies.
_PAPERS_RUN = {"n_features": 128, "n_iter": 200}

_FIGURES = (
    PaperFigure(
        "fig1",
        "Fig. 1",
        "Time against the number of unlabeled points",
        (
            "With 500 labels, QS3ORAO is faster than M-SAMULT and M-PNU-AUC from 10,000 unlabeled points on. "
            "Those two stop when their kernel matrices no longer fit into memory."
        ),
        (
            "Friedman's generated regression in five classes, with a fixed number of iterations. So only "
            "reading and testing take longer when the data grow. To get the competitors' times, start a race "
            "on the setting's page."
        ),
        {"data": {"name": "friedman", "n_labeled": 500, "n": 4000}, "solver": _PAPERS_RUN},
        ({"name": "data.n", "from": 1000, "to": 20_000, "n": 5},),
        measure="seconds",
        full_axes={"data.n": {"to": 1_000_000, "n": 7}},
    ),
    PaperFigure(
        "fig2",
        "Fig. 2",
        "Mean AUC over ten draws of the labels",
        (
            "In most cases QS3ORAO has the highest AUC. It is higher than that of SVOREX, which learns from "
            "the 500 labels alone."
        ),
        (
            "Friedman's generated regression with 100 labels replaces the paper's eight sets, and γ is on the "
            "axis. At γ = 1 only the labels count."
        ),
        {"data": {"name": "friedman", "n_labeled": 100, "n": 2000}, "solver": {**_PAPERS_RUN, "lam": 0.01}},
        ({"name": "problem.gamma", "from": 0.0, "to": 1.0, "n": 6},),
        seeds=10,
        full={"data": {"n_labeled": 500, "n": 200_000}},
        full_axes={"problem.gamma": {"n": 11}},
    ),
)

ORDINAL = Profile(
    short="Ordered classes",
    paper="QS3ORAO",
    icon=":material/format_list_numbered:",
    prefix="ord_",
    headline="Rank classes that have an order",
    card="Rank points whose classes have an order, with only a few labels.",
    defaults={
        "data": {"name": "ordinal_rings", "n_labeled": 10},
        "kernel": {"sigma": 0.5},
        "solver": {"lam": 0.02, "step_size": 0.5},
    },
    other_sets={"data": {"n_labeled": 50}, "solver": {"lam": 0.1}},
    usual=lambda n, n_labeled, rarest: usual_run(
        gamma=0.9, pairing="all", lam=short(0.5 / max(n_labeled * rarest, 1.0))
    ),
    translations={"SVOREX": _slacks},
    suggested=USUAL | {"gamma": TRUST},
    details=_details,
    theorem=convex_theorem("Theorem 1 of QS3ORAO."),
    guided=lessons_of("ordinal"),
    figures=_FIGURES,
    lessons=(
        Lesson(
            "works",
            ("Five rings with two labels in each. The unlabeled points help to rank them from the centre outwards."),
            claims=(BETTER, Claim("score", low=0.7)),
        ),
        Lesson(
            "too big a step",
            "Each step overshoots. The objective grows until the numbers overflow.",
            {"step_size": 20.0},
            claims=(DIVERGES,),
        ),
        Lesson(
            "too few features",
            (
                "One random feature in each iteration for a narrow kernel. Its error is at least a third of the "
                "function itself, and the ranking is worse than with the labels alone (on at least 17 of 20 "
                "seeds). Compare f with h on the map."
            ),
            {"n_features": 1, "n_labeled": 50, "sigma": 20.0, "lam": 0.01},
            claims=(Claim("error_share", low=1 / 3), WORSE),
        ),
    ),
)

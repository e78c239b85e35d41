"""QSG-S2AUC's experiments (Shi, Gu, Li, Geng and Huang, IJCAI 2019)."""

from __future__ import annotations

from dsgcore.settings.papers.figure import PaperFigure

_RUN = {"n_features": 128, "n_iter": 200}

FIGURES = (
    PaperFigure(
        "fig1",
        "Fig. 1",
        "Time against the number of unlabeled points",
        "With 200 labels QSG-S2AUC is always faster than SAMULT and PNU-AUC, which end where their kernel matrices do not fit into "
        "memory.",
        "A made set, and a fixed number of iterations: what remains of the time's growth is the reading of the data and the test. "
        "The competitors' times can be had by a race on the setting's page.",
        {"data": {"name": "gaussian_mixture", "n_labeled": 200, "n": 4000}, "solver": _RUN},
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
        {"data": {"name": "breast_cancer", "n_labeled": 50}, "solver": _RUN},
        ({"name": "problem.gamma", "from": 0.0, "to": 1.0, "n": 6},),
        seeds=10,
        full={"data": {"n_labeled": 200}},
        full_axes={"problem.gamma": {"n": 11}},
    ),
)

"""QS3ORAO's experiments (Shi, Gu, Li and Huang, AAAI 2020)."""

from __future__ import annotations

from dsgcore.settings.papers.figure import PaperFigure

_RUN = {"n_features": 128, "n_iter": 200}

FIGURES = (
    PaperFigure(
        "fig1",
        "Fig. 1",
        "Time against the number of unlabeled points",
        "With 500 labels QS3ORAO is faster than M-SAMULT and M-PNU-AUC from 10,000 unlabeled points on; these end where "
        "their kernel matrices do not fit into memory.",
        "Friedman's made regression in five classes, and a fixed number of iterations: what remains of the time's growth is the "
        "reading of the data and the test. The competitors' times can be had by a race on the setting's page.",
        {"data": {"name": "friedman", "n_labeled": 500, "n": 4000}, "solver": _RUN},
        ({"name": "data.n", "from": 1000, "to": 20_000, "n": 5},),
        measure="seconds",
        full_axes={"data.n": {"to": 1_000_000, "n": 7}},
    ),
    PaperFigure(
        "fig2",
        "Fig. 2",
        "Mean AUC over ten draws of the labels",
        "In most cases QS3ORAO has the highest AUC, higher than SVOREX, which learns from the 500 labels alone.",
        "Friedman's made regression with 100 labels in place of the eight sets, and γ as the axis: at 1 the labels alone decide.",
        {"data": {"name": "friedman", "n_labeled": 100, "n": 2000}, "solver": {**_RUN, "lam": 0.01}},
        ({"name": "problem.gamma", "from": 0.0, "to": 1.0, "n": 6},),
        seeds=10,
        full={"data": {"n_labeled": 500, "n": 200_000}},
        full_axes={"problem.gamma": {"n": 11}},
    ),
)

"""TSGS3VM's experiments (Geng, Gu, Li, Shi, Zheng and Huang, IJCAI 2019)."""

from __future__ import annotations

from dsgcore.settings.papers.figure import PaperFigure

_RUN = {"n_features": 128, "n_iter": 200}

FIGURES = (
    PaperFigure(
        "fig2",
        "Fig. 2",
        "Time against the size of the training set",
        "TSGS3VM runs much faster than the others, on sets of a million points too; BLS3VM and S3VM-light are often out of memory.",
        "A made set, and a fixed number of iterations where the paper makes one pass: so the time hardly grows. The competitors' "
        "times can be had by a race on the setting's page.",
        {"data": {"name": "two_moons", "n_labeled": 200, "n": 4000}, "solver": _RUN},
        ({"name": "data.n", "from": 500, "to": 20_000, "n": 6},),
        measure="seconds",
        full_axes={"data.n": {"from": 1000, "to": 1_000_000, "n": 7}},
    ),
    PaperFigure(
        "fig3",
        "Fig. 3",
        "Test score over ten draws of the labels",
        "TSGS3VM generalises about as well as BLS3VM, S3VM-light and BGS3VM, and better than fixed random features.",
        "Breast cancer with 50 labels in place of the eight sets, scores and not errors, and the loss of unlabeled points as the "
        "axis in place of the method: the four losses of the paper's Table 2.",
        {"data": {"name": "breast_cancer", "n_labeled": 50}, "solver": _RUN},
        (
            {
                "name": "problem.loss",
                "values": ["symmetric hinge", "squared symmetric hinge", "ramp", "exponential"],
            },
        ),
        seeds=10,
        full={"data": {"n_labeled": 200}},
    ),
)

"""TSGSU's experiments (Shi, Gu, Li, Deng and Huang, Machine Learning 2021)."""

from __future__ import annotations

from dsgcore.settings.papers.figure import PaperFigure

_RUN = {"n_features": 256, "batch_size": 256, "n_iter": 100}
_FULL_RUN = {"n_features": 1000, "batch_size": 1000, "n_iter": 100}
_MIXTURE = {"name": "gaussian_mixture", "n": 4000, "n_labeled": 500, "imbalance": 0.7}
_MANY = {"name": "high_dimensional", "n": 3000, "n_labeled": 500, "imbalance": 0.7}
# 10,000 members of pairs, so many unlabeled points, and a third of these for the test.
_SMALL = {"n": 23_333, "n_labeled": 5000, "test_share": 0.143}
_LARGE = {"n": 143_333, "n_labeled": 5000, "test_share": 0.233}
_ITERATIONS = {"name": "solver.n_iter", "from": 16, "to": 256, "n": 5}
_TO_100 = {"solver.n_iter": {"to": 100}}
_MADE = "Two made clusters in place of covtype, poker and the others; "
_DOT = {"name": "dot_product", "sigma": 0.02}

FIGURES = (
    PaperFigure(
        "fig1",
        "Fig. 1",
        "Accuracy as training goes on, few unlabeled points",
        "After 100 iterations TSGSU is as accurate as SU-SL and CUU, and reaches its accuracy sooner, with 5,000 similar pairs and "
        "10,000 unlabeled points.",
        _MADE + "our method alone, by iterations and not by seconds: Compare by “time to score” has those.",
        {"data": _MIXTURE, "solver": _RUN},
        (_ITERATIONS,),
        full={"data": _SMALL, "solver": _FULL_RUN},
        full_axes=_TO_100,
    ),
    PaperFigure(
        "fig2",
        "Fig. 2",
        "Accuracy as training goes on, many unlabeled points",
        "With 100,000 unlabeled points SU-SL and SU-DH are out of memory, and TSGSU is ahead of CUU at each time.",
        _MADE + "20,000 points, which a page shows at once.",
        {"data": {**_MIXTURE, "n": 20_000}, "solver": _RUN},
        (_ITERATIONS,),
        full={"data": _LARGE, "solver": _FULL_RUN},
        full_axes=_TO_100,
    ),
    PaperFigure(
        "fig3",
        "Fig. 3",
        "With and without the correction",
        "Without the absolute value the accuracy falls as training goes on, for the estimated risk becomes negative.",
        "Few made points, many features and a weak ridge, or no risk is negative: on the paper's covtype no "
        "batch's risk was negative in our runs.",
        {
            "data": {**_MIXTURE, "n": 400, "n_labeled": 30, "noise": 0.4},
            "solver": {**_RUN, "lam": 1e-5, "batch_size": 128, "step_size": 2.0},
        },
        (
            {"name": "problem.correction", "values": ["absolute value", "identity"]},
            {"name": "solver.n_iter", "from": 16, "to": 1024, "n": 4},
        ),
        seeds=5,
        full={"data": _SMALL, "solver": _FULL_RUN},
        full_axes=_TO_100,
    ),
    PaperFigure(
        "table4",
        "Table 4",
        "The Gaussian kernel's width and the ridge, 10,000 unlabeled points",
        "With width and ridge chosen among the powers of two from 2⁻⁷ to 2⁷, TSGSU is better than SU-SL on five sets of six.",
        "A hundred made columns, of which two matter; a part of the grid; chosen by the test score, which flatters the best.",
        {"data": _MANY, "solver": _RUN},
        (
            {"name": "kernel.sigma", "from": 0.03125, "to": 8.0, "n": 5},
            {"name": "solver.lam", "from": 0.0078125, "to": 2.0, "n": 5},
        ),
        full={"data": _SMALL, "solver": _FULL_RUN},
        full_axes={
            "kernel.sigma": {"from": 2.0**-7, "to": 2.0**7, "n": 15},
            "solver.lam": {"from": 2.0**-7, "to": 2.0**7, "n": 15},
        },
    ),
    PaperFigure(
        "table5",
        "Table 5",
        "The dot product kernel's scale and the ridge",
        "On high-dimensional sets with the dot product kernel TSGSU is the best in most cases.",
        "A hundred made columns in place of digits and texts; chosen by the test score, which flatters the best.",
        {"data": _MANY, "kernel": _DOT, "solver": {**_RUN, "step_size": 0.1}},
        (
            {"name": "kernel.sigma", "from": 0.001, "to": 0.1, "n": 5},
            {"name": "solver.lam", "from": 0.01, "to": 1.0, "n": 3},
        ),
        full={"data": _SMALL, "solver": _FULL_RUN},
        full_axes={"kernel.sigma": {"from": 0.001, "to": 1.0, "n": 4}},
    ),
    PaperFigure(
        "fig4",
        "Fig. 4",
        "Accuracy as training goes on, dot product kernel",
        "With the dot product kernel, too, TSGSU is faster than CUU with all points as centres, and more accurate than with 2,000.",
        "A hundred made columns in place of digits and texts; our method alone.",
        {"data": _MANY, "kernel": _DOT, "solver": {**_RUN, "step_size": 0.1}},
        (_ITERATIONS,),
        full={"data": _LARGE, "solver": _FULL_RUN},
        full_axes=_TO_100,
    ),
)

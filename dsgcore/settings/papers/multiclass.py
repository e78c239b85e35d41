"""PS3VT's experiments (Li, Liu, Yin and Wang, IJCAI 2019)."""

from __future__ import annotations

from dsgcore.settings.papers.figure import PaperFigure

_DIGITS = {"name": "ten_digits", "n_labeled": 380}
_LINEAR = {"features": "linear", "tau_I": 1e-7, "tau_S": 0.01, "theta": 0.6}
_RUN = {"n_iter": 400, "step_size": 1.0}
# A logarithmic axis has no zero: with so little of it the graph, or the tail of singular values, does nothing.
_GRAPH = {"name": "problem.tau_I", "from": 1e-9, "to": 1e-4, "n": 2}
_TAIL = {"name": "problem.tau_S", "from": 1e-7, "to": 0.1, "n": 2}
_WHERE = "Digits in place of pendigits, with 30 % of the training points labeled; "

FIGURES = (
    PaperFigure(
        "fig1-left",
        "Fig. 1, left",
        "Test score as training goes on, with and without the graph",
        "PS3VT reaches a lower error than the others; all of them converge at about the same speed.",
        _WHERE
        + "scores and not errors; with next to none of the graph (τ_I = 10⁻⁹) it is LRC-MC, with more of it PS3VT.",
        {"data": _DIGITS, "problem": _LINEAR, "solver": _RUN},
        ({"name": "solver.n_iter", "from": 16, "to": 1024, "n": 7}, _GRAPH),
        full_axes={"solver.n_iter": {"to": 4096, "n": 9}},
        full_seeds=30,
    ),
    PaperFigure(
        "fig1-right",
        "Fig. 1, right",
        "Test score against the number of labels, with and without the graph",
        "All errors fall as labels are added; PS3VT has the lowest, and is like LRC-MC where all points are labeled.",
        _WHERE.split(",")[0] + ", scores and not errors; with next to none of the graph (τ_I = 10⁻⁹) it is LRC-MC.",
        {"data": _DIGITS, "problem": _LINEAR, "solver": _RUN},
        ({"name": "data.n_labeled", "from": 50, "to": 1200, "n": 6}, _GRAPH),
        full_seeds=30,
    ),
    PaperFigure(
        "table3",
        "Table 3",
        "The four methods: with and without the graph, with and without the tail of singular values",
        "PS3VT has the lowest error on nearly all of 15 sets; Linear-MC is behind the others on all of them.",
        _WHERE + "the corners are Linear-MC (both weights next to zero), LRC-MC, SS-MC and PS3VT, which has both.",
        {"data": _DIGITS, "problem": _LINEAR, "solver": _RUN},
        (_GRAPH, _TAIL),
        seeds=10,
        full_seeds=30,
    ),
)

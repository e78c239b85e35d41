"""The colour and the mark of each class, the same in every chart."""

from __future__ import annotations

from pages.charts import figures as charts

# The colours of Okabe and Ito, then Tol's for more than seven classes. Marks differ as well, for colour-blind readers.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933", "#6A5ACD", "#8C6D5A")
SYMBOLS = ("circle", "triangle-up", "square", "diamond", "cross", "x", "star", "pentagon", "triangle-down", "hexagon")


def class_color(label: int, k: int = 0) -> str:
    """Return the colour of a class; with two classes (k = 2), the colours for negative and positive."""
    return (charts.NEGATIVE, charts.POSITIVE)[label] if k == 2 else COLORS[label % len(COLORS)]


def class_symbol(label: int, k: int) -> str:
    """Return the mark of a class; with two classes (k = 2), the marks for negative and positive."""
    return ("triangle-up", "circle")[label] if k == 2 else SYMBOLS[label % len(SYMBOLS)]

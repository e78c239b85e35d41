"""The colour of each role, the same in the whole app."""

from __future__ import annotations

from dsgcore.settings import panels
from pages.charts import figures as charts
from pages.charts.class_charts import class_color

ROLE_COLORS = {"positive": charts.POSITIVE, "negative": charts.NEGATIVE, "unlabeled": charts.UNLABELED}


def color_of(role: panels.Role, theme: str) -> str:
    """Return the colour of a role."""
    if role.kind == "rank":
        return charts.ordered_colors(role.n)[role.number]
    if role.kind == "class":
        return class_color(role.number)
    return charts.INK[theme] if role.kind == "ink" else ROLE_COLORS[role.kind]

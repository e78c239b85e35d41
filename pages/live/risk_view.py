"""The parts of the objective during the run, and the risks that are estimated from them."""

from __future__ import annotations

from dsgcore.experiments import LiveRun
from dsgcore.settings import profile_of
from dsgcore.settings.panels import Values
from pages.charts import figures as charts
from pages.charts.live_chart import Chart, encoded
from pages.charts.risk_chart import TITLE, risk_chart
from pages.charts.roles import color_of

TERM = "term: "


def risk_chart_of(live: LiveRun, theme: str, revision: str) -> Chart:
    """Return the chart of the parts, for a lesson's step."""
    return Chart("chart-risk", alt_risk(live), encoded(risk_figure(live, theme, revision)))


def risk_figure(live: LiveRun, theme: str, revision: str) -> charts.Figure:
    """Return the chart of the objective's parts, with the risks that the setting estimates from them."""
    history, risks = live.run.history, _risks(live)
    t = history.column("t")
    parts = {name.removeprefix(TERM): history.column(name) for name in history.names if name.startswith(TERM)}
    lines = [charts.Curve(line.name, t, line.values, color_of(line.role, theme), dash="dash") for line in risks]
    x_range = (0, live.run.length)
    return risk_chart(t, parts, lines, theme=theme, note=_note(live), x_range=x_range, revision=revision)


def _risks(live: LiveRun) -> tuple[Values, ...]:
    run = live.run
    return profile_of(run.problem).risks(run) if run.t else ()


def _note(live: LiveRun) -> str:
    """Return a sentence on the estimated risks that are below zero now."""
    lines = _risks(live)
    negative = [f"{line.name} {line.values[-1]:.2g}" for line in lines if line.values[-1] < 0]
    if not lines:
        return ""
    return f"below zero: {', '.join(negative)}" if negative else "no estimated risk is below zero"


def alt_risk(live: LiveRun) -> str:
    """Return the parts in words."""
    row = live.run.history.last()
    said = ", ".join(f"{name.removeprefix(TERM)} {row[name]:.3g}" for name in row if name.startswith(TERM))
    return ". ".join(part for part in (f"{TITLE}: {said or 'no iteration yet'}", _note(live)) if part) + "."

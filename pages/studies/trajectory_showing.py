"""The results of the Convergence page: sentences, curves, final values, slopes beside the predicted ones, assumptions, and
constants."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.core.cost import per_cent
from dsgcore.diagnostics import WORDS, Convergence, Slope, fitted
from dsgcore.diagnostics.convergence import DISTANCE, ERROR, GRADIENT_MEAN
from dsgcore.experiments import theory_of
from dsgcore.glossary import meaning
from dsgcore.settings import Rate
from dsgcore.studies import evaluations
from dsgcore.studies.results import EVALUATIONS, ITERATIONS, SECONDS
from pages.charts import figures as charts
from pages.charts.figures import COLORS, DASHES, Curve
from pages.charts.live_chart import live_chart
from pages.controls.control import buttons, draw_download
from pages.shell.plain_text import plain, short_number, with_minus
from pages.studies.going import draw_whole_page
from pages.studies.study_charts import X_TITLES
from pages.studies.trajectory_asking import ALL, OVER, QUANTITY, AskedTrajectories, Case

HEIGHT = 430
LENGTH = "solver.n_iter"
TITLES = X_TITLES | {SECONDS: "seconds (mean of the seeds, without measuring)"}
# With more features, or larger batches, the squared noise is inversely proportional to their number.
FALLS_WITH = {
    ("solver.n_features", "error"): Rate(-1.0, "m", "1/m"),
    ("solver.batch_size", "distance"): Rate(-1.0, "B", "1/B"),
    ("solver.batch_size", "average"): Rate(-1.0, "B", "1/B"),
}
RISES = 0.1  # a slope that is closer to 0 counts as rest
HALF = 0.5
PROMISED, THIN, MOST_THIN = "#8A949E", 0.35, 60
Ends = list[tuple[str, NDArray, NDArray]]


@dataclass(frozen=True)
class Shown:
    """A case with its results so far."""

    case: Case
    name: str
    found: Convergence


def shown_of(asked: AskedTrajectories, found: list[Convergence | None]) -> list[Shown]:
    """Return the cases that have results."""
    pairs = zip(asked.cases, found, strict=True)
    return [Shown(case, asked.name_of(case), one) for case, one in pairs if one is not None and len(one.t)]


def draw_answer(asked: AskedTrajectories, shown: list[Shown]) -> None:
    """Draw three sentences, the curves, the final values if a number varies, the slopes and the assumptions."""
    st.markdown("\n".join(f"- {said}" for said in answers(asked, shown)))
    # A case that breaks an assumption may have no optimum, so no distance to it.
    quantities = [name for name in shown[0].found.quantities if all(name in one.found.columns for one in shown)]
    usual = GRADIENT_MEAN if GRADIENT_MEAN in quantities else quantities[0]
    choice = replace(QUANTITY.parameter, options=tuple(quantities), default=usual, optional=False)  # type: ignore[call-arg]
    if st.session_state.get(QUANTITY.key, usual) not in quantities:
        st.session_state[QUANTITY.key] = usual  # another setting measures other quantities
    with st.container(horizontal=True, vertical_alignment="center", key="part-way-view"):
        more: dict[str, Any] = {"label_visibility": "collapsed", "on_change": draw_whole_page}
        quantity, over = buttons(replace(QUANTITY, parameter=choice), **more), buttons(OVER, **more)
    is_number = asked.control is not None and not any(isinstance(case.value, str) for case in asked.cases)
    ends = _ends(shown, quantity) if is_number else []
    left, right = st.columns([6, 5], gap="medium") if ends else (st.container(), st.container())
    with left:
        _draw_curves(shown, quantity, over)
    if ends:
        with right:
            _draw_ends(asked, shown[0].case, ends, quantity)
    _draw_table(asked, shown, quantity)
    _draw_assumptions(shown)
    draw_download("All curves (CSV)", "convergence.csv", lambda: table_of_ways(shown))


def answers(asked: AskedTrajectories, shown: list[Shown]) -> tuple[str, str, str]:
    """Say of the first case whether it has converged, what holds it back, and whether the theorem describes it, with the
    numbers of the charts and the table."""
    found = shown[0].found
    quantity = DISTANCE if DISTANCE in found.columns else GRADIENT_MEAN
    if found.n_diverged and found.t[-1] < found.spec.solver.n_iter:
        rest = f"**It diverges**: every run ends before iteration {found.spec.solver.n_iter:,}."
    else:
        slope, end = found.slope(quantity), short_number(found.median(quantity)[-1])
        does = "moves away" if slope.value > RISES else "still converges"
        does = "has come to rest" if abs(slope.value) <= RISES else does
        said = (
            f"over the last decade {WORDS[quantity]} has slope {_slope_text(slope)}, and at the end its median is {end}"
        )
        rest = f"**It {does}**: {said}."
        if np.isnan(slope.value):  # of one iteration, or because some of the runs have diverged
            gone = f"{found.n_diverged} of {len(found.seeds)} runs diverge, and " * bool(found.n_diverged)
            rest = f"**There is no slope**: {gone}at the end the median of {WORDS[quantity]} is {end}."
    error = found.mean(ERROR)[-1]
    end = f"|f − h|² = {short_number(error)} at the end"
    held = f"**Of the random features** comes {end}; no optimum is known to compare."
    if quantity == DISTANCE:
        share = error / found.mean(DISTANCE)[-1]
        what = "The random features hold it back" if share > HALF else "Steps and batches hold it back"
        size = f"{per_cent(share)} of" if share <= 1.0 else "larger than"
        held = f"**{what}**: |f − h|² is {size} |f − f*|² at the end."
    return rest, held, _described(asked, shown, quantity)


def _described(asked: AskedTrajectories, shown: list[Shown], quantity: str) -> str:
    """Compare the slope with the theorem's, in t or in the run's length."""
    theory, found = theory_of(shown[0].case.spec), shown[0].found
    broken = [assumption.sentence for assumption in theory.assumptions if not assumption.holds]
    if broken:
        return f"**The theorem does not describe it**: it assumes what does not hold here. {plain(broken[0])}"
    quantity = quantity if quantity in theory.rates else GRADIENT_MEAN
    rate = theory.rates.get(quantity)
    ends = _ends(shown, quantity) if asked.axis == LENGTH else []
    if rate is None or (rate.of == "T" and not ends):
        return "**The theorem is about longer and longer runs**: vary the iterations to compare the slopes."
    slope = found.slope(quantity) if rate.of == "t" else fitted(*ends[0][1:])
    if not np.isfinite(slope.value):
        return "**Nothing can be said of the theorem**: there is no slope."
    does = "The theorem describes it" if slope.keeps(rate.slope) else "It is slower than the theorem's bound so far"
    return with_minus(
        f"**{does}**: {WORDS[quantity]} has slope {_slope_text(slope)}, and {rate.slope:+.2f} ({rate.words}) is promised."
    )


def _slope_text(slope: Slope) -> str:
    if not np.isfinite(slope.value):
        return "–"
    return short_number(slope.value, "+.2f") + (f" ± {slope.error:.2f}" if np.isfinite(slope.error) else "")


def _draw_curves(shown: list[Shown], quantity: str, over: str) -> None:
    """Draw the medians on logarithmic axes with the band of their seeds, and the bounds and the rate of the first case."""
    first, n, lines, thin = shown[0].found, len(shown[0].found.seeds), list[Curve](), list[Curve]()
    has_thin = sum(len(one.found.columns[quantity]) for one in shown) <= MOST_THIN
    looks = looks_of([one.case.group for one in shown], [one.case.value for one in shown])
    for one, (color, dash) in zip(shown, looks, strict=True):
        x, values = _x(one, over), one.found.columns[quantity]
        if has_thin and len(values) > 1:
            thin += [Curve(one.name, x, y, color, width=1.0, opacity=THIN, in_legend=False) for y in values]
        band = one.found.band(quantity) if len(values) > 1 else None
        lines.append(Curve(one.name, x, one.found.median(quantity), color, dash=dash, width=3.0, band=band))
    x, bounds = lines[0].x, first.bounds(quantity)
    for (name, bound), dash in zip(bounds.items(), ("dashdot", "longdash"), strict=False):
        if np.isfinite(bound).any():
            lines.append(Curve(name, x, bound, charts.BOUND, dash=dash, width=1.5))
    rate = theory_of(first.spec).rates.get(quantity)
    if rate is not None and rate.of == "t" and over != "seconds":
        lines.append(_promised(x, lines[0].y, rate.slope, f"the theorem's {rate.words}"))
    title = f"{WORDS[quantity]}: {n} seed{'s' * (n > 1)}" + (", their median and 20 to 80 %" if n > 1 else "")
    goal = meaning("gradient" if quantity.startswith("gradient") else "optimum")
    figure = charts.line_chart(
        [*thin, *lines],
        title=title,
        x_title=TITLES[over],
        is_log_x=True,
        is_log_y=True,
        explanation=f"{meaning('f')} {meaning('twin')} {goal} All values are at the training points.",
    )
    said = "; ".join(f"{one.name} {short_number(one.found.median(quantity)[-1])}" for one in shown)
    live_chart(figure, key="chart-ways", alt=f"{title}. At the end: {said}.", height=HEIGHT, save_as="convergence")


def _x(one: Shown, over: str) -> NDArray:
    found = one.found
    if over == EVALUATIONS:
        return evaluations(one.case.spec, int(found.t[-1]))[found.t.astype(int) - 1]
    return found.t if over == ITERATIONS else np.nanmean(found.columns["seconds"], axis=0)


def looks_of(groups: Sequence[str], values: Sequence[Any]) -> list[tuple[str, str]]:
    """Return a colour and a dash for each case: by its group, and by the varied number if there is one."""
    names, numbers = list(dict.fromkeys(groups)), list(dict.fromkeys(values))
    dashes = [DASHES[names.index(group) % len(DASHES)] for group in groups]
    if len(numbers) < 2:
        return [(COLORS[names.index(group) % len(COLORS)], dash) for group, dash in zip(groups, dashes, strict=True)]
    is_words = len(numbers) <= len(COLORS) and any(isinstance(value, str) for value in numbers)
    colors = COLORS if is_words else charts.sequential_colors(np.linspace(0.0, 0.85, len(numbers)).tolist())
    return [(colors[numbers.index(value)], dash) for value, dash in zip(values, dashes, strict=True)]


def _promised(x: NDArray, y: NDArray, slope: float, name: str) -> Curve:
    """Return a predicted power of x as a line through the geometric mean of the last decade."""
    late = (x >= x[-1] / 10.0) & (y > 0)
    level = np.exp(np.mean(np.log(y[late]) - slope * np.log(x[late]))) if late.any() else np.nan
    return Curve(name, x, level * x**slope, PROMISED, dash="dot", width=2.0)


def _ends(shown: list[Shown], quantity: str) -> Ends:
    """Return for each group with two values or more its name, the values, and the final results of shape (seeds, values)."""
    found: Ends = []
    for group in dict.fromkeys(one.case.group for one in shown):
        own = [one for one in shown if one.case.group == group and not one.found.n_diverged]
        n = min((len(one.found.seeds) for one in own), default=0)
        if len(own) > 1:
            values = np.array([one.found.columns[quantity][:n, -1] for one in own]).T
            found.append((group, np.array([float(one.case.value) for one in own]), values))
    return found


def _draw_ends(asked: AskedTrajectories, case: Case, ends: Ends, quantity: str) -> None:
    assert asked.control is not None
    p, is_length = asked.control.parameter, asked.axis == LENGTH
    curves, points = list[Curve](), list[dict[str, Any]]()
    for (name, x, values), color, dash in zip(ends, COLORS, DASHES, strict=False):
        curves.append(Curve(name, x, np.nanmean(values, axis=0), color, dash=dash, width=2.5))
        marker, y = {"color": color, "size": 5, "opacity": 0.5}, charts.four_digits(values.ravel())
        points.append(charts.dots("seeds", np.tile(x, len(values)).tolist(), y, marker, showlegend=False))
    rate = theory_of(case.spec).rates.get(quantity) if is_length else FALLS_WITH.get((asked.axis, quantity))
    if rate is not None:
        name = f"the theorem's {rate.words}" if is_length else rate.words
        curves.append(_promised(curves[0].x, curves[0].y, rate.slope, name))
    title = f"{WORDS[quantity]} at the end, against {p.symbol or p.label}"
    along = f"{p.label} {p.symbol}".strip()
    ticks = [v for _, x, _ in ends for v in x]
    figure = charts.line_chart(curves, title=title, x_title=along, x_ticks=ticks, is_log_x=True, is_log_y=True)
    figure["data"] = points + figure["data"]
    said = "; ".join(f"{name}: slope {_slope_text(fitted(x, values))}" for name, x, values in ends)
    figure["layout"]["meta"] = {"note": said.removeprefix(f"{ALL}: ")}
    live_chart(figure, key="chart-ends", alt=f"{title}. {said}.", height=HEIGHT, save_as="convergence-ends")


def _draw_table(asked: AskedTrajectories, shown: list[Shown], quantity: str) -> None:
    """Draw the slopes beside the predicted ones, one row for each case, and for each group if the rate is about the run's
    length."""
    rate, rows = theory_of(shown[0].case.spec).rates.get(quantity), list[dict[str, str]]()
    for one in shown:
        found = one.found
        row = {"curve": one.name, "at the end": short_number(found.median(quantity)[-1])}
        own = rate if rate is not None and rate.of == "t" else None
        row |= _compared(found.slope(quantity), own, holds=theory_of(one.case.spec).holds)
        seeds = f"{len(found.seeds)}" + (f", {found.n_diverged} diverged" if found.n_diverged else "")
        rows.append(row | {"seeds": seeds})
    is_of_length = rate is not None and rate.of == "T"
    if is_of_length and asked.axis == LENGTH:
        for name, x, values in _ends(shown, quantity):
            holds = all(theory_of(one.case.spec).holds for one in shown if one.case.group == name)
            row = {"curve": "against T" if name == ALL else f"{name}, against T", "at the end": ""}
            rows.append(row | _compared(fitted(x, values), rate, holds=holds) | {"seeds": ""})
    st.dataframe(pd.DataFrame(rows), width="stretch", hide_index=True)
    if shown[0].found.subsample is not None:
        st.caption(shown[0].found.subsample.sentence())
    of_length = " Here the rate is about the run's length T, not about t within a run. Vary the iterations to see it."
    st.caption(
        "Slopes are those of the mean over seeds, on logarithmic axes and over the last decade. ± is the standard error from "
        "resampling the seeds. A theorem gives an upper bound: a faster curve also agrees with it."
        f"{of_length * (is_of_length and asked.axis != LENGTH)}"
    )


def _compared(slope: Slope, rate: Rate | None, *, holds: bool) -> dict[str, str]:
    said = "–"
    if rate is not None and np.isfinite(slope.value):
        agrees = ": agrees" if slope.keeps(rate.slope) else ": not yet"
        said = f"{rate.slope:+.2f} ({rate.words}){agrees if holds else ', but assumptions are broken'}"
    return {"slope": _slope_text(slope), "theorem": with_minus(said)}


def _draw_assumptions(shown: list[Shown]) -> None:
    base = shown[0]
    left, right = st.columns([7, 4], gap="medium")
    with left:
        st.markdown("**What the theorem assumes**")
        for assumption in theory_of(base.case.spec).assumptions:
            mark = ":green[● holds:]" if assumption.holds else ":grey[○ does not hold:]"
            st.markdown(f"{mark} {plain(assumption.sentence)}")
        for group, breach in {one.case.group: one.case.breach for one in shown}.items():
            if breach is not None:
                st.markdown(f":grey[○ **{plain(group)}**:] {plain(breach.then)}")
    with right:
        st.markdown("**The bound's constants**")
        constants = base.found.constants()
        if not all(np.isfinite(value) for value in constants.values()):
            st.markdown("Kernel and features are not bounded here, so there is no bound for |f − h|².")
        else:
            values = ", ".join(f"{name} = {short_number(value)}" for name, value in constants.items())
            st.markdown(
                f"M² (κ + φ)² Σ|a|² bounds the mean of |f − h|², with {values} at the end (the mean of the seeds)."
            )
            of_distance = " |f − f*|² is at most 2 |f − h|² + 2 κ ‖h − f*‖²." * (DISTANCE in base.found.quantities)
            st.caption(
                f"M is the largest sum of the coefficients' sizes in a batch so far.{of_distance} The bound is much larger "
                "than the measured error, and it is the same for one feature as for a thousand."
            )
        _draw_theorem_bound(base.found)


def _draw_theorem_bound(found: Convergence) -> None:
    bound = found.theorem_bound()
    if bound is None or not np.isfinite(bound.value):
        return
    ingredients = ", ".join(f"{name} = {short_number(value)}" for name, value in bound.ingredients.items())
    end = found.t[-1]
    st.markdown(
        f"**The theorem's own bound** on the mean of {WORDS[bound.of]}: {bound.words}. At {bound.rate.of} = {end:,.0f} it is "
        f"{short_number(bound.value * end**bound.rate.slope)}; the measured mean is "
        f"{short_number(found.mean(bound.of)[-1])}. Here {ingredients}."
    )


def table_of_ways(shown: list[Shown]) -> str:
    """Return all curves as CSV, with one row for each case, seed and iteration."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = [name for name in dict.fromkeys(name for one in shown for name in one.found.columns) if name != "t"]
    writer.writerow(["case", "seed", "t", "evaluations", *names])
    for one in shown:
        x, columns = _x(one, EVALUATIONS), one.found.columns
        for number, seed in enumerate(one.found.seeds):
            for k in np.flatnonzero(np.isfinite(columns["error"][number])):
                values = (repr(float(columns[name][number, k])) if name in columns else "" for name in names)
                writer.writerow([one.name, seed, int(one.found.t[k]), int(x[k]), *values])
    return file.getvalue()

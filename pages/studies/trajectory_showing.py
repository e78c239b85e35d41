"""The results of the Convergence page: curves, final values, slopes beside the predicted ones, assumptions, and constants."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.diagnostics import WORDS, Convergence, Slope, fitted
from dsgcore.diagnostics.convergence import DISTANCE, ERROR, GRADIENT_MEAN
from dsgcore.experiments import theory_of
from dsgcore.settings import Rate
from dsgcore.studies import evaluations
from dsgcore.studies.results import BY as OVERS
from dsgcore.studies.results import EVALUATIONS, ITERATIONS
from pages.charts import words
from pages.charts.live_chart import live_chart
from pages.shell.plain_text import plain
from pages.studies.question import pick
from pages.studies.study_charts import short_number
from pages.studies.trajectory_asking import ALL, OVER, QUANTITY, AskedTrajectories, Case
from pages.studies.trajectory_charts import Promise, WayLine, ends_figure, looks, ways_figure

HEIGHT = 430
X_TITLES = {
    ITERATIONS: "iteration t",
    EVALUATIONS: "random features × points in mini-batches",
    "seconds": "seconds (mean of the seeds, without measuring)",
}
# With more features, or larger batches, the squared noise is inversely proportional to their number.
FALLS_WITH = {
    ("solver.n_features", "error"): Rate(-1.0, "m", "1/m"),
    ("solver.batch_size", "distance"): Rate(-1.0, "B", "1/B"),
    ("solver.batch_size", "average"): Rate(-1.0, "B", "1/B"),
}


# A slope that is closer to 0 counts as rest.
RISES = 0.1
HALF = 0.5


@dataclass(frozen=True)
class Shown:
    """A case with its results so far."""

    case: Case
    name: str
    found: Convergence


def shown_of(asked: AskedTrajectories, found: list[Convergence | None]) -> list[Shown]:
    """Return the cases that have results."""
    pairs = zip(asked.cases, found, strict=True)
    return [Shown(case, name_of(asked, case), one) for case, one in pairs if one is not None and len(one.t)]


def name_of(asked: AskedTrajectories, case: Case) -> str:
    """Return the name of a case."""
    if asked.control is None or case.value is None:
        return case.group
    p = asked.control.parameter
    value = f"{p.symbol or p.label} = {asked.control.say(case.value)}"
    return value if case.group == ALL else f"{case.group}, {value}"


def choose_view(shown: list[Shown]) -> tuple[str, str]:
    """Draw the choices of the measured quantity and of the horizontal axis."""
    # A case that breaks an assumption may have no optimum, so no distance to it.
    quantities = [name for name in shown[0].found.quantities if all(name in one.found.columns for one in shown)]
    with st.container(horizontal=True, vertical_alignment="center", key="part-way-view"):
        usual = "gradient_mean" if "gradient_mean" in quantities else quantities[0]
        # Each list of quantities has its own key, because settings measure different quantities.
        quantity = pick("Measure", quantities, usual, f"{QUANTITY}_{usual}", WORDS.__getitem__, on_change=_note_pick)
        over = pick("Over", OVERS, ITERATIONS, OVER, on_change=_note_pick)
    if st.session_state.pop(_PICKED, False):
        st.rerun()  # the whole page, which writes its link
    return quantity, over


_PICKED = "_picked_way"


def _note_pick() -> None:
    st.session_state[_PICKED] = True


def say_answer(asked: AskedTrajectories, shown: list[Shown]) -> None:
    """Say of the first case whether it has converged, what holds it back, and whether the theorem describes it."""
    st.markdown("\n".join(f"- {said}" for said in answers(asked, shown)))


def answers(asked: AskedTrajectories, shown: list[Shown]) -> tuple[str, str, str]:
    """Return the three sentences, with the numbers of the charts and the table."""
    found = shown[0].found
    quantity = DISTANCE if DISTANCE in found.columns else GRADIENT_MEAN
    return _rest(found, quantity), _held_back(found, quantity), _described(asked, shown, quantity)


def _rest(found: Convergence, quantity: str) -> str:
    if found.n_diverged and len(found.t) and found.t[-1] < found.spec.solver.n_iter:
        return f"**It diverges**: every run ends before iteration {found.spec.solver.n_iter:,}."
    slope, end = found.slope(quantity), short_number(found.median(quantity)[-1])
    said = f"over the last decade {WORDS[quantity]} has slope {_said_slope(slope)}, and at the end it is {end}"
    if slope.value > RISES:
        return f"**It moves away**: {said}."
    return f"**It still converges**: {said}." if slope.value < -RISES else f"**It has come to rest**: {said}."


def _held_back(found: Convergence, quantity: str) -> str:
    """Return the share of the random features in the distance to the optimum, if that is known."""
    error = found.mean(ERROR)[-1]
    if quantity != DISTANCE:
        return f"**Of the random features** comes |f − h|² = {short_number(error)} at the end; no optimum is known to compare."
    share = error / found.mean(DISTANCE)[-1]
    what = "The random features hold it back" if share > HALF else "Steps and batches hold it back"
    size = f"{share:.0%} of" if share <= 1.0 else "larger than"
    return f"**{what}**: |f − h|² is {size} |f − f*|² at the end."


def _described(asked: AskedTrajectories, shown: list[Shown], quantity: str) -> str:
    """Compare the slope with the theorem's, in t or in the run's length."""
    theory, found = theory_of(shown[0].case.spec), shown[0].found
    broken = [assumption.sentence for assumption in theory.assumptions if not assumption.holds]
    if broken:
        return f"**The theorem does not describe it**: it assumes what does not hold here. {plain(broken[0])}"
    rate = theory.rates.get(quantity)
    ends = _ends(shown, quantity) if asked.axis == "solver.n_iter" else []
    if rate is None or (rate.of == "T" and not ends):
        return "**The theorem is about longer and longer runs**: vary the iterations to compare the slopes."
    slope = found.slope(quantity) if rate.of == "t" else fitted(*ends[0][1:])
    if not np.isfinite(slope.value):
        return "**Nothing can be said of the theorem**: there is no slope."
    does = "The theorem describes it" if slope.keeps(rate.slope) else "It is slower than the theorem's bound so far"
    return f"**{does}**: the slope is {_said_slope(slope)}, and {rate.slope:+.2f} ({rate.words}) is promised."


def draw_charts(asked: AskedTrajectories, shown: list[Shown], quantity: str, over: str) -> None:
    """Draw the curves, and if a number varies, the final values against it."""
    is_number = asked.control is not None and not any(isinstance(case.value, str) for case in asked.cases)
    ends = _ends(shown, quantity) if is_number else []
    left, right = st.columns([6, 5], gap="medium") if ends else (st.container(), None)
    with left:
        _curves(shown, quantity, over)
    if right is not None:
        with right:
            assert asked.control is not None
            p = asked.control.parameter
            title = f"{WORDS[quantity]} at the end, against {p.symbol or p.label}"
            rate = _rate_of_ends(asked, shown[0].case, quantity)
            promise = (
                None
                if rate is None
                else Promise(
                    rate.slope, (f"the theorem's {rate.words}" if asked.axis == "solver.n_iter" else rate.words)
                )
            )
            figure = ends_figure(ends, title=title, x_title=f"{p.label} {p.symbol}".strip(), promise=promise)
            said = "; ".join(f"{name}: slope {_said_slope(fitted(x, values))}" for name, x, values in ends)
            figure["layout"]["meta"] = {"note": said.removeprefix(f"{ALL}: ")}
            live_chart(figure, key="chart-ends", alt=f"{title}. {said}.", height=HEIGHT, save_as="convergence-ends")


def _curves(shown: list[Shown], quantity: str, over: str) -> None:
    styles = looks([one.case.group for one in shown], [one.case.value for one in shown])
    lines = [_line(one, quantity, over, *style) for one, style in zip(shown, styles, strict=True)]
    n = len(shown[0].found.seeds)
    title = f"{WORDS[quantity]}: {n} seed{'s' * (n > 1)}" + (", their median and 20 to 80 %" if n > 1 else "")
    first = shown[0]
    rate = theory_of(first.case.spec).rates.get(quantity)
    has_promise = rate is not None and rate.of == "t" and over != "seconds"
    promise = Promise(rate.slope, f"the theorem's {rate.words}") if rate is not None and has_promise else None
    goal = words.GRADIENT if quantity.startswith("gradient") else words.OPTIMUM
    figure = ways_figure(
        lines,
        title=title,
        x_title=X_TITLES[over],
        promise=promise,
        bounds=first.found.bounds(quantity),
        explanation=f"{words.F} {words.H} {goal} All values are at the training points.",
    )
    said = "; ".join(f"{one.name} {short_number(one.found.median(quantity)[-1])}" for one in shown)
    live_chart(figure, key="chart-ways", alt=f"{title}. At the end: {said}.", height=HEIGHT, save_as="convergence")


def _line(one: Shown, quantity: str, over: str, color: str, dash: str) -> WayLine:
    found = one.found
    x = _x(one, over)
    return WayLine(one.name, x, found.columns[quantity], found.median(quantity), found.band(quantity), color, dash)


def _x(one: Shown, over: str) -> NDArray:
    """Return the horizontal values of the iterations."""
    found = one.found
    if over == EVALUATIONS:
        return evaluations(one.case.spec, int(found.t[-1]))[found.t.astype(int) - 1]
    return found.t if over == ITERATIONS else np.nanmean(found.columns["seconds"], axis=0)


def _ends(shown: list[Shown], quantity: str) -> list[tuple[str, NDArray, NDArray]]:
    """Return for each group with two values or more its name, the values, and the final results of shape (seeds, values)."""
    found = []
    for group in dict.fromkeys(one.case.group for one in shown):
        own = [one for one in shown if one.case.group == group and not one.found.n_diverged]
        n = min((len(one.found.seeds) for one in own), default=0)
        if len(own) > 1:
            values = np.array([one.found.columns[quantity][:n, -1] for one in own]).T
            found.append((group, np.array([float(one.case.value) for one in own]), values))
    return found


def _rate_of_ends(asked: AskedTrajectories, case: Case, quantity: str) -> Rate | None:
    """Return the rate at which the final values should fall with the varied parameter, or None if no rate is known."""
    if asked.axis == "solver.n_iter":
        return theory_of(case.spec).rates.get(quantity)
    return FALLS_WITH.get((asked.axis, quantity))


def _said_slope(slope: Slope) -> str:
    if not np.isfinite(slope.value):
        return "–"
    return f"{slope.value:+.2f}" + (f" ± {slope.error:.2f}" if np.isfinite(slope.error) else "")


def draw_table(asked: AskedTrajectories, shown: list[Shown], quantity: str) -> None:
    """Draw the slopes beside the predicted ones, one row for each case, or for each group if the rate is about the run's
    length."""
    rate = theory_of(shown[0].case.spec).rates.get(quantity)
    rows = [_row(one, quantity, rate) for one in shown]
    if rate is not None and rate.of == "T":
        for name, x, values in _ends(shown, quantity) if asked.axis == "solver.n_iter" else []:
            holds = all(theory_of(one.case.spec).holds for one in shown if one.case.group == name)
            label = "against T" if name == ALL else f"{name}, against T"
            rows.append(
                {"curve": label, "at the end": "", **_compared(fitted(x, values), rate, holds=holds), "seeds": ""}
            )
    st.dataframe(pd.DataFrame(rows), width="stretch", hide_index=True)
    if shown[0].found.subsample is not None:
        st.caption(shown[0].found.subsample.sentence())
    st.caption(
        (
            "Slopes are those of the mean over seeds, on logarithmic axes and over the last decade. ± is the "
            "standard error from resampling the seeds. A theorem gives an upper bound: a faster curve also "
            "agrees with it."
        )
        + (
            " Here the rate is about the run's length T, not about t within a run. Vary the iterations to see it."
            if rate is not None and rate.of == "T" and asked.axis != "solver.n_iter"
            else ""
        )
    )


def _row(one: Shown, quantity: str, rate: Rate | None) -> dict[str, str]:
    found, theory = one.found, theory_of(one.case.spec)
    own = rate if rate is not None and rate.of == "t" else None
    seeds = f"{len(found.seeds)}" + (f", {found.n_diverged} diverged" if found.n_diverged else "")
    end = short_number(found.median(quantity)[-1])
    return {
        "curve": one.name,
        "at the end": end,
        **_compared(found.slope(quantity), own, holds=theory.holds),
        "seeds": seeds,
    }


def _compared(slope: Slope, rate: Rate | None, *, holds: bool) -> dict[str, str]:
    """Return a slope beside the predicted one, and whether it agrees with it."""
    if rate is None or not np.isfinite(slope.value):
        return {"slope": _said_slope(slope), "theorem": "–"}
    promised = f"{rate.slope:+.2f} ({rate.words})"
    if not holds:
        return {"slope": _said_slope(slope), "theorem": f"{promised}, but assumptions are broken"}
    said = "agrees" if slope.keeps(rate.slope) else "not yet"
    return {"slope": _said_slope(slope), "theorem": f"{promised}: {said}"}


def draw_assumptions(shown: list[Shown]) -> None:
    """Draw each assumption with a mark, the effect of breaking it, and the constants of the bound."""
    breaches = {one.case.group: one.case.breach for one in shown if one.case.breach is not None}
    base = shown[0]
    left, right = st.columns([7, 4], gap="medium")
    with left:
        st.markdown("**What the theorem assumes**")
        for assumption in theory_of(base.case.spec).assumptions:
            mark = ":green[● holds:]" if assumption.holds else ":grey[○ does not hold:]"
            st.markdown(f"{mark} {plain(assumption.sentence)}")
        for group, breach in breaches.items():
            st.markdown(f":grey[○ **{plain(group)}**:] {plain(breach.then)}")
    with right:
        st.markdown("**The bound's constants**")
        _draw_constants(base)
        _draw_theorem_bound(base)


def _draw_constants(one: Shown) -> None:
    constants = one.found.constants()
    if not all(np.isfinite(value) for value in constants.values()):
        st.markdown("Kernel and features are not bounded here, so there is no bound for |f − h|².")
        return
    values = ", ".join(f"{name} = {short_number(value)}" for name, value in constants.items())
    st.markdown(f"M² (κ + φ)² Σ|a|² bounds the mean of |f − h|², with {values} at the end (the mean of the seeds).")
    of_distance = " |f − f*|² is at most 2 |f − h|² + 2 κ ‖h − f*‖²." if "distance" in one.found.quantities else ""
    st.caption(
        f"M is the largest sum of the coefficients' sizes in a batch so far.{of_distance} The bound is much larger than the "
        "measured error, and it is the same for one feature as for a thousand."
    )


def _draw_theorem_bound(one: Shown) -> None:
    """Show the theorem's own bound if the paper gives one: its formula, its value, and its constants."""
    found = one.found.theorem_bound()
    if found is None or not np.isfinite(found.value):
        return
    ingredients = ", ".join(f"{name} = {short_number(value)}" for name, value in found.ingredients.items())
    end = one.found.t[-1]
    measured = short_number(one.found.mean(found.of)[-1])
    st.markdown(
        f"**The theorem's own bound** on the mean of {WORDS[found.of]}: {found.words}. At {found.rate.of} = {end:,.0f} it is "
        f"{short_number(found.value * end**found.rate.slope)}; the measured value is {measured}. Here {ingredients}."
    )


def table_of_ways(shown: list[Shown]) -> str:
    """Return all curves as CSV, with one row for each case, seed and iteration."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = [name for name in dict.fromkeys(name for one in shown for name in one.found.columns) if name != "t"]
    writer.writerow(["case", "seed", "t", "evaluations", *names])
    for one in shown:
        x, held = _x(one, EVALUATIONS), one.found.columns
        for number, seed in enumerate(one.found.seeds):
            for k in np.flatnonzero(np.isfinite(held["error"][number])):
                values = (repr(float(held[name][number, k])) if name in held else "" for name in names)
                writer.writerow([one.name, seed, int(one.found.t[k]), int(x[k]), *values])
    return file.getvalue()

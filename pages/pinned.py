"""The second part of Explore: two to eight pinned runs over seeds, their differences, and the differences of their scores."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dsgcore.core.parameters import Choice, Integer, counted
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import Spec
from dsgcore.studies import StoreError, Study, StudyError, curves_of
from dsgcore.studies.results import BY, SECONDS, x_values
from pages.charts import figures as charts
from pages.charts.live_chart import live_chart
from pages.controls.control import Control, buttons, count, read_controls
from pages.controls.link import unknown_names
from pages.controls.own_file import entry_of
from pages.shell.page_link import read_once, say_in_link
from pages.shell.router import page_named, page_of
from pages.shell.warm_up import is_ready
from pages.studies.differing import differing, said_difference, said_mean
from pages.studies.going import Exploring, draw_refused, draw_transport, exploring, look_at, say_progress, watched_runs
from pages.studies.links import link_to_run
from pages.studies.pins import MOST, SHORT, linked, pins
from pages.studies.study_charts import X_TITLES

LINK = "runs"
SEEDS = Control("c_seeds", "", Integer("seeds", 5, low=1, high=20).called("Seeds", ""))
OVER = Control("c_by", "", Choice("by", BY[0], options=BY).called("Over", ""))
HEIGHT = 400
_WIDTHS = {  # pixels
    name: st.column_config.Column(width=width)
    for name, width in (("minus A", 85), ("95 % interval", 165), ("seeds", 60))
}
TITLES = X_TITLES | {SECONDS: "seconds (spread evenly over the iterations)"}


def page() -> None:
    st.title("Pinned runs")
    st.page_link(page_named("explore"), label="Back to Explore")
    read_once(_read)
    known = pins()
    say_in_link(LINK, ",".join(sha256[:SHORT] for sha256 in known))
    if len(known) < 2:
        st.markdown(
            "Pin two or more runs to see them side by side, with their difference over the same seeds. A method's page has a "
            "button for its run, and Explore has one for each of its points. "
            f"{'One is pinned.' if known else 'None is pinned yet.'}"
        )
    if not known or not is_ready():
        return
    if len({spec.problem.name for spec in known.values()}) > 1:
        st.info(
            "These runs belong to different settings, so their scores mean different things. They are only "
            "shown side by side."
        )
    state = exploring("pinned")
    if _transport(state, known):
        watched_runs(state, _answer)
    for (sha256, spec), name in zip(list(known.items()), _names(tuple(known.values())), strict=True):
        link, key = link_to_run(spec), f"unpin-{sha256[:SHORT]}"
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            page, icon = page_of(type(spec.problem)), ":material/open_in_new:"
            st.page_link(page, label=f"Open {name}", icon=icon, query_params=link)
            off: Any = known.pop
            st.button(f"Unpin {name[0]}", key=key, type="tertiary", on_click=off, args=(sha256, None))


def _read(link: dict[str, str]) -> list[str]:
    """Set the page's controls to a link's values, and put its runs among the session's pins; return a sentence for each value
    and name that is not valid."""
    known = {name: name for name in (OVER.name, SEEDS.name, LINK)}
    said = [*read_controls([OVER, SEEDS], link), *unknown_names(link, known)]
    try:
        found, unknown, over = linked(link.get(LINK, ""))
    except StoreError as error:
        return [*said, str(error)]
    pins().update(found)
    lost = (
        f"In the link, runs names runs that are not pinned or no longer valid: {', '.join(unknown)}. They are left out."
    )
    full = f"At most {MOST} runs can be pinned. There is no place for these runs of the link: {', '.join(over)}."
    return [*said, *[lost] * bool(unknown), *[full] * bool(over)]


def _transport(state: Exploring, known: dict[str, Spec]) -> bool:
    """Draw the number of seeds, the choice of the horizontal axis, the button that starts the missing runs, and their progress.

    Return False if the runs cannot be looked up.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="part-pinned"):
        seeds = count(SEEDS, width=120)
        bound = tuple({spec.seed: None for spec in known.values() if not fit_any_seed(spec.data.edits)})
        buttons(OVER)
        try:
            first, *others = known.values()
            look_at(state, Study(first, seeds=bound or tuple(range(seeds)), others=tuple(others)))
        except (StoreError, StudyError) as error:
            draw_refused(str(error))
            return False
        draw_transport(state, "pinned", _say, "Make the missing runs")
    if bound:
        st.caption(f"The runs use seed {bound[0]} alone, because edits by hand name the points of its data.")
    draw_refused(state.refused)
    return True


def _say(state: Exploring) -> None:
    n = len(state.runs.runs)
    if not say_progress(state, counted(n, "run")):
        st.caption(f"{state.runs.n_there} of {counted(n, 'run')} are done.")


def _names(specs: tuple[Spec, ...]) -> list[str]:
    return [
        f"{letter}: {entry_of(type(s.problem), s.data.name).title}"
        for letter, s in zip("ABCDEFGH", specs, strict=False)
    ]


def _answer(state: Exploring) -> None:
    specs = state.runs.study.specs
    names, (left, right) = _names(specs), st.columns([6, 5], gap="medium")
    with left:
        _draw_curves(state, specs, names)
    with right:
        _draw_scores(state, specs, names)


def _draw_curves(state: Exploring, specs: tuple[Spec, ...], names: list[str]) -> None:
    lines, by = [], str(st.session_state.get(OVER.key, BY[0]))
    looks = zip(charts.COLORS, charts.DASHES, strict=True)
    for i, (spec, name, (color, dash)) in enumerate(zip(specs, names, looks, strict=False)):
        if there := state.finished(i):
            found = curves_of(state.store, there)
            x = x_values(by, found.t, spec, [state.runs.stored[sha256] for sha256 in there])
            band = (found.low, found.high) if len(found.values) > 1 else None
            lines.append(charts.Curve(name, x, found.middle, color, dash=dash, width=2.5, band=band))
    if not lines:
        st.caption("None of these runs exists yet.")
        return
    title = f"Test {specs[0].problem.score_name}: median, and from the lowest to the highest seed"
    figure = charts.line_chart(lines, title=title, x_title=TITLES[by])
    live_chart(figure, key="chart-pinned", alt=f"{title}, of {', '.join(names)}.", height=HEIGHT)


def _draw_scores(state: Exploring, specs: tuple[Spec, ...], names: list[str]) -> None:
    """Draw the table of scores with their difference from the first run, and the table of different parameters."""
    results, rows = state.runs.results("score"), []
    n_seeds = len(results.study.seeds)
    for i, name in enumerate(names):
        n, n_diverged = results.n[i], results.n_diverged[i]
        seeds = f"{n}" if n + n_diverged == n_seeds else f"{n} of {n_seeds}"
        seeds += f", {n_diverged} diverged" if n_diverged else ""
        difference, _, interval = (said_difference(results.compared(i, 0)) if i else "").rstrip("]").partition(" [")
        row = {"run": name, f"test {specs[i].problem.score_name}": said_mean(results, i), "minus A": difference}
        rows.append(row | {"95 % interval": interval.replace(", ", " to "), "seeds": seeds})
    st.dataframe(pd.DataFrame(rows), width="stretch", hide_index=True, column_config=_WIDTHS)
    st.caption(
        "Mean ± standard error over seeds. The difference from A is paired over seeds. It has an interval if there are "
        "three or more seeds."
    )
    table = differing(specs, [name[0] for name in names], leave_out=("seed",))
    if table:
        st.markdown("Parameters that differ:")
        st.dataframe(pd.DataFrame(table), width="stretch", hide_index=True)
    elif len(specs) > 1:
        st.caption("Only their seeds differ.")


page()

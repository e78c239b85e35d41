"""The race in the tab Race: choose a competitor, start it in the background, and see its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from dsgcore.baselines import Progress
from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, Real
from dsgcore.experiments import LiveRun
from dsgcore.experiments.race import Race, begin_race, competitors, fixed_parameters, free_parameters, kernel_note
from dsgcore.jobs import shared_queue
from pages.race.result import draw_result
from pages.race.several import several
from pages.race.state import Started, keep, races, started_in
from pages.shell.job_panel import job_panel, watched
from pages.shell.plain_text import plain
from pages.shell.sharing import presence

# Seconds that a race continues without a browser. A connection that breaks for a moment returns sooner.
LEASE_SECONDS = 20.0
MEMORY_LIMITS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
DEFAULT_LIMIT = 4.0
PARAMETERS_A_ROW = 4
_WANTED = "_race_wanted"
Axes = tuple[int | None, int | None]


def race(live: LiveRun, axes: Axes = (None, None)) -> None:
    """Draw the choice of a competitor, and the current race, even if it was started for an earlier run.

    `axes` are the axes of the map, so that a new race draws its maps on the same plane.
    """
    setting = live.run.problem.name
    if not competitors(setting):  # of a problem that is new
        st.caption("DSG Lab has no other method that learns from the same data.")
        return
    with st.container(key="part-race"):
        _choice(live, axes)
        started = started_in(setting)
        watched(None if started is None else started.job, _panel, setting, live)
    several(live)


def _choice(live: LiveRun, axes: Axes) -> None:
    """Draw the choice of the method, its memory limit and its parameters; start the race if the button was clicked."""
    setting = live.run.problem.name
    kinds = {kind.__name__: kind for kind in competitors(setting)}
    method, limit = st.columns(2, gap="medium")
    name = method.selectbox(
        "Race against",
        list(kinds),
        format_func=lambda name: f"{kinds[name].title}{' (everyday)' if kinds[name].is_everyday else ''}",
        key=f"race-{setting}",
        persist_state="session",
        help="The competitor gets the same data and labels in its own process. Both are scored on the same test points.",
    )
    gigabytes = limit.select_slider(
        "Memory limit",
        MEMORY_LIMITS,
        value=DEFAULT_LIMIT,
        format_func=lambda gigabytes: f"{gigabytes:g} GB",
        key=f"race-limit-{setting}",
        persist_state="session",
        help="A fit that takes more is stopped.",
    )
    kind = kinds[name]
    st.caption(f"{kind.title} {kind.sentence}. {kind.citation}. Its memory limit is {gigabytes:g} GB.")
    if not any(kind.is_everyday for kind in kinds.values()):
        st.caption("Everyday methods need class labels, so they cannot learn from these data.")
    if note := kernel_note(live.run.spec, kind):
        st.info(plain(note), icon=":material/swap_horiz:")
    with st.expander("Its parameters. Those that it shares with the run start with the run's values."):
        values = _parameters(f"race-{setting}-{name}", free_parameters(live.run.spec, live.run.split, kind))
    parameters = {**fixed_parameters(live.run.spec, kind), **values}
    # The button does not start the race itself, because it would pass the values from before the click.
    known = races()
    if st.session_state.pop(_WANTED, None) == setting:
        _start(Race(live.run.spec, name, parameters, gigabytes, axes), kind.title, live, known)
    started = started_in(setting)
    st.button(
        f"Race against {kind.title}",
        key="race-start",
        icon=":material/sports_score:",
        disabled=started is not None and not started.job.is_over,
        on_click=st.session_state.__setitem__,
        args=(_WANTED, setting),
    )


def _parameters(key: str, parameters: Sequence[Parameter]) -> dict[str, Any]:
    values = {p.name: p.default for p in parameters}
    shown = [p for p in parameters if isinstance(p, Choice) or not isinstance(p.default, tuple | str)]
    for first in range(0, len(shown), PARAMETERS_A_ROW):
        row = shown[first : first + PARAMETERS_A_ROW]
        for place, p in zip(st.columns(PARAMETERS_A_ROW), row, strict=False):
            with place:
                # Another run has another default, so it needs a new input.
                values[p.name] = _input(p, f"{key}-{p.name}-{p.default}")
    return values


def _input(p: Parameter, key: str) -> Any:
    said = f"{p.sentence} (Symbol: {p.symbol})" if p.symbol else p.sentence
    common: dict[str, Any] = {"label": p.label or p.name, "key": key, "help": said}
    if isinstance(p, Flag):
        return st.toggle(value=p.default, **common)
    if isinstance(p, Choice):
        return st.selectbox(options=p.options, index=p.options.index(p.default), **common)
    if isinstance(p, Integer):
        bounds: dict[str, Any] = {"min_value": p.low, "max_value": p.high, "step": 1}
    else:
        assert isinstance(p, Real)
        # A tenth of the default's power of ten, so that the arrows change the value in visible, small steps.
        step = 10.0 ** (int(f"{abs(p.default):e}".split("e")[1]) - 1) if p.default else 0.1
        bounds = {"min_value": float(p.low), "max_value": float(p.high), "step": step, "format": "%g"}
    value = p.default if p.default is None or isinstance(p, Integer) else float(p.default)
    return st.number_input(value=value, placeholder="by default", **bounds, **common)


def _start(asked: Race, title: str, live: LiveRun, known: dict[str, Started]) -> None:
    """Start the race, unless one is in progress: a second click may reach the server before the page is drawn again.

    Do not access the session's state until the race is in `known`: if a slider has moved, the access ends this drawing.
    """
    setting = asked.spec.problem.name
    if setting in known and not known[setting].job.is_over:
        return
    on: dict[str, Any] = {"lease": LEASE_SECONDS, "is_wanted": presence(), "on_done": partial(keep, asked)}
    job = begin_race(shared_queue(), asked, live.run.split, **on)
    known[setting] = Started(asked, title, live, job)


def _panel(setting: str, live: LiveRun) -> None:
    if (started := started_in(setting)) is not None:
        result = partial(draw_result, started, live)
        job_panel(started.job, "race", partial(_doing, started), result, name=started.title)


def _doing(started: Started) -> tuple[float, str]:
    progress: Progress | None = started.job.progress
    if progress is None:
        return 0.0, f"{started.title}: starting · {started.job.seconds:.1f} s"
    doing = f"step {progress.step:,} of {progress.total:,} at most"
    if math.isfinite(progress.objective):
        doing += f", objective {progress.objective:.4g}"
    return progress.step / progress.total, f"{started.title}: {doing} · {started.job.seconds:.1f} s"

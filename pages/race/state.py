"""The race that a session has started in a setting, and the run that it was started for."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from dsgcore.data import DATASETS
from dsgcore.experiments import LiveRun, Spec
from dsgcore.experiments.race import Race, RaceResult, competitor
from dsgcore.experiments.spec import FILE
from dsgcore.jobs import Job
from dsgcore.studies import Store, StoreError, default_store, keep_race, kept_race, name_of
from pages.charts import figures as charts
from pages.shell.plain_text import plain

# Key of the races in the session's state.
RACES = "_races"
# Number of characters of a race's name that identify it in a link.
SHORT = 12


COMPETITOR = "#E69F00"


@dataclass(frozen=True)
class Finish:
    """The competitor's result: its name, its score, and its seconds of training."""

    name: str
    score: float
    seconds: float

    def curve(self, start: float, end: float) -> charts.Curve:
        """Return the score as a horizontal curve."""
        return charts.Curve(self.name, np.array([start, end]), np.full(2, self.score), COMPETITOR, dash="longdash")

    def line(self, end: float) -> dict[str, Any]:
        """Return the score as a horizontal line over the iterations, with the competitor's name."""
        (trace,) = charts.line_chart([self.curve(0.0, end)], title="")["data"]
        named = {"mode": "lines+text", "text": ["", self.name], "textposition": "top left", "showlegend": False}
        return trace | named | {"textfont": {"color": COMPETITOR}, "cliponaxis": False}


@dataclass
class Started:
    """A race, and the run that it was started for."""

    race: Race
    title: str
    live: LiveRun
    job: Job
    maps: dict[Any, Any] = field(default_factory=dict)  # cached values for the maps

    @property
    def finish(self) -> Finish | None:
        """The competitor's result, or None if it has not finished."""
        result = self.job.result
        return None if result is None else Finish(self.title, result.score, result.seconds)


def races() -> dict[str, Started]:
    """Return the session's races, by setting.

    A click or a moved slider can end the drawing of a page at any access to the session's state. Call this before you start
    a race, and add the race at once. Otherwise the race would go on while the session does not know it.
    """
    return st.session_state.setdefault(RACES, {})


def started_in(setting: str) -> Started | None:
    """Return the session's race in a setting, or None."""
    known: dict[str, Started] = st.session_state.get(RACES, {})
    return known.get(setting)


def name_in_link(setting: str) -> str:
    """Return the name that a link gives to the session's finished race in a setting; empty for a race on an uploaded file."""
    started = started_in(setting)
    if started is None or started.job.result is None or started.race.spec.data.name == FILE:
        return ""
    return name_of(started.race)[:SHORT]


def keep(race: Race, result: RaceResult) -> None:
    """Store a race's result, so that it outlives the session and the server. Results on uploaded files are not stored."""
    if race.spec.data.name != FILE:
        with suppress(StoreError, sqlite3.Error):  # the session has the result in any case
            keep_race(Store(default_store()), race, result)


def bring_back(name: str, live: LiveRun) -> str:
    """Load the stored race that a link names, unless the session has a race in this setting. Return an error message, or
    ""."""
    known, setting = races(), live.run.problem.name
    if setting in known:
        return ""
    found = None
    if len(name) >= SHORT and set(name) <= set("0123456789abcdef"):
        with suppress(StoreError, sqlite3.Error):
            found = kept_race(Store(default_store()), name)
    if found is None or found[0].spec.problem.name != setting:
        return (
            f"In the link, race must name a race in this server's store, got {name[:SHORT]!r}. No race has this name."
        )
    race, result = found
    known[setting] = Started(race, competitor(setting, race.competitor).title, live, Job.done(result))
    return ""


def same_data(spec: Spec, other: Spec) -> bool:
    """Return True if two runs have the same points and labels, so that their scores can be compared."""
    return (spec.data, spec.seed, spec.problem.name) == (other.data, other.seed, other.problem.name)


def finish_of(live: LiveRun) -> Finish | None:
    """Return the competitor's result in a finished race on the data of a run, or None."""
    started = started_in(live.run.problem.name)
    return started.finish if started is not None and same_data(started.race.spec, live.run.spec) else None


def whose(started: Started, live: LiveRun) -> str:
    """Return a sentence on the run that the race was started for."""
    spec = started.race.spec
    title = DATASETS[spec.data.name].title if spec.data.name in DATASETS else plain(str(spec.data.path))
    said = f"{title}, seed {spec.seed}"
    if started.live is live:
        return f"On the data of this run: {said}."
    if same_data(spec, live.run.spec):
        return f"Started for an earlier run on the same data: {said}."
    return f"Started for an earlier run on other data, and compared with that one: {said}."

"""The race that a session has started in a setting, and what it was started for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dsgcore.data import DATASETS
from dsgcore.experiments import LiveRun, Spec
from dsgcore.experiments.jobs import Job
from dsgcore.experiments.race import Race
from pages.charts import figures as charts
from pages.controls.own_file import plain
from pages.race.race_charts import Finish, finish_line
from pages.shell.asked import asked

# Where a session keeps them.
RACES = "_races"


@dataclass
class Started:
    """A race, and the run that it was started for."""

    race: Race
    title: str
    live: LiveRun
    job: Job
    maps: dict[Any, Any] = field(default_factory=dict)  # what has been computed to draw them

    @property
    def finish(self) -> Finish | None:
        """What the competitor reached; None where it has not."""
        result = self.job.result
        return None if result is None else Finish(self.title, result.score, result.seconds)


def races() -> dict[str, Started]:
    """Return the session's races, by setting.

    A click or a moved slider can end the drawing of a page at any access to the session's state. Who starts a race asks for
    this beforehand, and puts the race in at once: else it would go on with nobody knowing of it.
    """
    return st.session_state.setdefault(RACES, {})


def started_in(setting: str) -> Started | None:
    """Return the session's race in a setting."""
    return asked(RACES, {}).get(setting)


def same_data(spec: Spec, other: Spec) -> bool:
    """Whether two runs have the same points and labels, so that their scores can be compared."""
    return (spec.data, spec.seed, spec.problem.name) == (other.data, other.seed, other.problem.name)


def add_finish_line(figure: charts.Figure, live: LiveRun) -> None:
    """Add the competitor's score to the chart of a run's score, where a race on the same data is done."""
    started = started_in(live.run.problem.name)
    if started is not None and started.finish is not None and same_data(started.race.spec, live.run.spec):
        figure["data"].append(finish_line(started.finish, live.run.n_iter))


def whose(started: Started, live: LiveRun) -> str:
    """Say which run the race was started for."""
    spec = started.race.spec
    title = DATASETS[spec.data.name].title if spec.data.name in DATASETS else plain(str(spec.data.path))
    said = f"{title}, seed {spec.seed}"
    if started.live is live:
        return f"On the data of this run: {said}."
    if same_data(spec, live.run.spec):
        return f"Started for an earlier run on the same data: {said}."
    return f"Started for an earlier run on other data, and compared with that one: {said}."

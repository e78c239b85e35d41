"""The measure that compares the points of a study: the choice, its name in this study, and its values."""

from __future__ import annotations

import streamlit as st

from dsgcore.studies import MEASURES, Results, time_to, usual_target
from pages.controls.control import in_link
from pages.studies.asking import TARGET
from pages.studies.going import Exploring, store_of
from pages.studies.question import pick

MEASURE = "x_measure"
SCORE, TIME = "score", "time"
TIME_NAME = "time to score"
# Seconds that a drawing may read curves before it shows the results so far.
SECONDS_TO_READ = 0.2


def choose_measure(state: Exploring) -> str:
    """Draw the choice of the measure."""
    say = {name: words_of(name) for name in (*MEASURES, TIME)} | {SCORE: score_name(state)}
    return pick("Compare by", say, SCORE, MEASURE, say.__getitem__)


def words_of(measure: str) -> str:
    """Return the name of a measure in the choice; the score has its own name in each setting."""
    return TIME_NAME if measure == TIME else MEASURES[measure].name


def score_name(state: Exploring) -> str:
    """Return the name of the score in this study."""
    assert state.made is not None
    return f"test {state.made.study.spec.problem.score_name}"


def name_of(state: Exploring, measure: str) -> str:
    """Return the name of a measure in this study, on axes and in tables."""
    if measure == TIME:
        return f"seconds to {target(state):g}" if target(state) is not None else TIME_NAME
    return score_name(state) if measure == SCORE else MEASURES[measure].name


def unit_of(state: Exploring, measure: str) -> str:
    """Return the unit of a difference in a measure; a measure without a unit is named itself."""
    assert state.made is not None
    if measure in (TIME, "seconds"):
        return "s"
    return state.made.study.spec.problem.score_name if measure == SCORE else MEASURES[measure].name


def choose_target(state: Exploring) -> None:
    """Draw the choice of the score to reach."""
    usual = _usual(state)
    chosen = st.number_input(
        f"{score_name(state).capitalize()} to reach",
        0.0,
        1.0,
        None,
        0.01,
        key=TARGET.key,
        format="%.3f",
        placeholder="auto" if usual is None else f"auto: {usual:g}",
        help="The default is 0.01 below the mean of the best point.",
        width=240,
    )
    in_link(TARGET, chosen)


def _usual(state: Exploring) -> float | None:
    assert state.made is not None
    return usual_target(state.made.results(SCORE))


def target(state: Exploring) -> float | None:
    """Return the score to reach, or None if there is no run."""
    chosen = st.session_state.get(TARGET.key)
    return _usual(state) if chosen is None else float(chosen)


def results_of(state: Exploring, measure: str) -> Results:
    """Return the results of a measure so far."""
    assert state.made is not None
    if measure != TIME:
        return state.made.results(measure)
    wanted = target(state)
    return state.made.results(time_to(1.0 if wanted is None else wanted, state.curves))


def read_curves(state: Exploring, measure: str) -> bool:
    """Read the curves that the measure needs from the finished runs; return True if all are read."""
    if measure != TIME or state.made is None:
        return True
    return state.curves.read(store_of(state, state.made.study.spec), state.made.stored, SECONDS_TO_READ)

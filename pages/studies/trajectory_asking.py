"""The question of the Convergence page as widgets: a run, its theorem's assumptions, the varied parameter, and the number
of seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import Choice, Integer, Text
from dsgcore.diagnostics import WORDS
from dsgcore.experiments import SETTINGS, Spec, breaches, broken_by, kept_to
from dsgcore.settings import Breach, profile_of
from dsgcore.studies import Study, StudyError
from dsgcore.studies.results import BY as OVERS
from dsgcore.studies.results import ITERATIONS
from pages.controls.control import Control, count, draw
from pages.studies.question import NOTHING, Question

PREFIX = "v_"
MOST_SEEDS, USUAL_SEEDS, USUAL_VALUES, MOST_CASES = 30, 8, 5, 24
KEPT, ASKED, EACH = "as the theorem says", "as chosen at the side", "each assumption broken in turn"
BROKEN = "broken: {}"
SEEDS, STEPS, QUANTITY, OVER = OWN = tuple(
    Control(PREFIX + p.name, "", p, say=lambda value: WORDS.get(value, str(value)))
    for p in (
        Integer("seeds", USUAL_SEEDS, low=1, high=MOST_SEEDS).called(
            "Seeds",
            "DSG Lab makes each curve once with each seed. The seed changes mini-batches and features; the data stay the same.",
        ),
        Text("steps", KEPT),  # the choices depend on the spec
        Choice(
            "quantity", None, options=tuple(WORDS), label="Measure", optional=True
        ),  # the usual one depends on the setting
        Choice("over", ITERATIONS, options=OVERS, label="Over"),
    )
)
# Settings whose theorem is about the trajectory of stochastic functional gradients.
WITH_A_WAY = tuple(name for name, setting in SETTINGS.items() if setting.engine == "stochastic")
QUESTION = Question(PREFIX, OWN, WITH_A_WAY)
# Parameters that can vary, by the names of axes, with the default ends as factors of the usual value.
REACHES = {
    "solver.n_iter": (1 / 16, 1.0),
    "solver.schedule": (1.0, 1.0),
    "solver.step_size": (0.1, 2.0),
    "solver.n_features": (1 / 16, 4.0),
    "solver.batch_size": (1 / 8, 8.0),
}
ALL = "the run"


@dataclass(frozen=True)
class Case:
    """One of the compared specs: its group, and its value on the axis (None if nothing varies)."""

    group: str
    value: Any
    spec: Spec
    breach: Breach | None = None


@dataclass(frozen=True)
class AskedTrajectories:
    """The question in the widgets: the cases, the number of seeds, and the axis with its control."""

    cases: tuple[Case, ...]
    seeds: int
    axis: str
    control: Control | None

    def study(self) -> Study:
        """Return the question as a study."""
        if len(self.cases) > MOST_CASES:
            raise StudyError(f"a chart can show at most {MOST_CASES} curves, got {len(self.cases)}")
        first, *others = (case.spec for case in self.cases)
        return Study(first, seeds=tuple(range(self.seeds)), others=tuple(others), data_seed=first.seed)

    def name_of(self, case: Case) -> str:
        """Return the name of a case."""
        if self.control is None or case.value is None:
            return case.group
        p = self.control.parameter
        value = f"{p.symbol or p.label} = {self.control.say(case.value)}"
        return value if case.group == ALL else f"{case.group}, {value}"


def draw_question(main: DeltaGenerator, upload: DeltaGenerator) -> AskedTrajectories | None:
    """Draw the setting, the data and all other values in the sidebar, and at `main` the assumptions, what varies and the seeds.

    Return None if the reader must still choose a file. Raise `SpecError` if a value does not fit.
    """
    begun = QUESTION.begin(upload, lambda problem: profile_of(problem).theorem.shown_with)
    varied = {name: begun.offered[name.partition(".")[2]] for name in REACHES}
    # By default the run's length varies, if the theorem's rates are about it.
    of_length = any(rate.of == "T" for rate in profile_of(begun.problem).theorem.rates.values())
    vary = QUESTION.followed(QUESTION.varied(begun.problem, varied, ("solver.n_iter",) if of_length else ()))
    with main:
        steps, axis, seeds = st.columns([4, 3, 1], gap="small", vertical_alignment="bottom")
    with axis:
        name = str(draw(vary, is_plain=True))
        said = [QUESTION.axis(name, varied[name], reach=REACHES[name], usual=USUAL_VALUES)] if name != NOTHING else []
    spec = QUESTION.spec(begun, {name.partition(".")[2]}, main)
    if spec is None:
        return None
    with steps:
        groups = _groups(spec)
    with seeds:
        n = count(SEEDS, help=SEEDS.parameter.sentence)
    cases = []  # the groups at each value of the axis
    for group in groups:
        for run in Study.from_dict({"spec": group.spec.to_dict(), "axes": said}).runs():
            if run.spec is None:
                raise StudyError(run.refused)
            cases.append(replace(group, value=run.values[0] if run.values else None, spec=run.spec))
    return AskedTrajectories(tuple(cases), n, name, varied.get(name))


def _groups(spec: Spec) -> list[Case]:
    """Draw the choice of the theorem's assumptions; return one case for each compared group."""
    found = {BROKEN.format(breach.name): breach for breach in breaches(spec)}
    choice = Choice("steps", KEPT, options=(KEPT, *found, *([EACH] if found else []), ASKED)).called(
        "Step size and assumptions",
        "“as the theorem says” changes the values in the sidebar until all assumptions hold.",
    )
    asked = draw(replace(STEPS, parameter=choice))
    if asked == ASKED:
        return [Case(ALL, None, spec)]
    chosen = list(found) if asked == EACH else [name for name in found if name == asked]
    kept = Case("all assumptions kept" if chosen else ALL, None, kept_to(spec))
    return [kept, *(Case(name, None, broken_by(spec, found[name]), found[name]) for name in chosen)]

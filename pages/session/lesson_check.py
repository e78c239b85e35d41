"""The check of a lesson: its claims, its expected answers and its goals, over several seeds. A lecture's parts are only read."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dsgcore.data import IncompleteDataError
from dsgcore.data.datasets import SEED
from dsgcore.data.edits import AS_GENERATED, EDITS
from dsgcore.experiments import SETTINGS, LiveRun, Setting, Spec, outcome_of
from dsgcore.experiments.data_of import with_choice
from dsgcore.lessons import Lecture, check_lesson
from dsgcore.rooms.questions import check_parts
from dsgcore.settings import Claim, Curve, GuidedLesson, LessonStep, Pick
from dsgcore.settings.lessons import LessonError, read_lesson, read_table, table_in
from pages.controls import controls

SEEDS = 10
_OF_THE_TWIN, _OF_THE_KERNEL = {"gain", "verdict"}, {"error_share", "lag"}
Values = Mapping[str, Any]


def spec_at(setting: type[Setting], values: Values, seed: int = SEED.default) -> Spec:
    """Return the spec of the page's controls after a lesson has set them to these values."""
    dataset, offered = controls.lesson_controls(setting, values)
    given = {name: values.get(name, control.parameter.default) for name, control in offered.items()}
    spec = controls.to_spec(setting, given, dataset, seed)
    return with_choice(spec, values[EDITS]) if EDITS in values else spec


@dataclass(frozen=True)
class Finding:
    """How often something holds: the number of the step, from 1 on, what is claimed, and on how many seeds of how many."""

    step: int
    words: str
    held: int
    n: int
    holds: bool

    def __str__(self) -> str:
        """Return the finding in a line."""
        return f"{'ok   ' if self.holds else 'WRONG'} step {self.step}: {self.words} ({self.held} of {self.n} seeds)"


class Runs:
    """The outcomes of a setting's runs. Each run is made once, with what some claim reads of it alone.

    `read` has pairs: the values of controls, and a measure that is read of their run.
    """

    def __init__(self, setting: type[Setting], read: Iterable[tuple[Values, str]]) -> None:
        self._setting = setting
        self._read: dict[Any, set[str]] = defaultdict(set)
        self._made: dict[Any, dict[str, float]] = {}
        for values, measure in read:
            self._read[self._key(values)].add(measure)

    def _key(self, values: Values) -> tuple[str, Any]:
        return spec_at(self._setting, values).to_json(), values.get(EDITS, AS_GENERATED)

    def outcomes(self, values: Values, n: int) -> Iterator[dict[str, float]]:
        """Yield the measures of the runs with the seeds from 0 to n - 1: none of a step that begins without labels."""
        key = self._key(values)
        read = self._read[key]
        for seed in range(n):
            if (key, seed) not in self._made:
                made = self._made[key, seed] = {}
                with suppress(IncompleteDataError):
                    spec = spec_at(self._setting, values, seed)
                    if not read & _OF_THE_KERNEL:
                        spec = replace(spec, diagnostics=replace(spec.diagnostics, n_probes=0))
                    live = LiveRun(spec)
                    if not read & _OF_THE_TWIN:
                        live.supervised = None
                    live.advance()
                    made |= outcome_of(live, read)
            yield self._made[key, seed]

    def often(self, step: int, words: str, values: Values, n: int, holds: Callable[[dict[str, float]], Any]) -> Finding:
        """Count on how many seeds something holds, until it is certain: all must, or all but one of three or more."""
        held, enough = 0, n - (n > 2)
        for number, made in enumerate(self.outcomes(values, n), start=1):
            held += bool(holds(made))
            if held == enough or number - held > n - enough:
                break
        return Finding(step, words, held, number, held >= enough)


def read_by(lesson: GuidedLesson) -> Iterator[tuple[Values, str]]:
    """Yield all that a lesson reads of runs: the values of the controls, and a measure."""
    for number, step in enumerate(lesson.steps):
        yield from ((lesson.values_at(number), measure) for measure in step.measures)
        if step.goal is not None:
            yield from ((lesson.solved_at(number), claim.measure) for claim in step.goal.claims)


def findings(runs: Runs, lesson: GuidedLesson, n: int = SEEDS) -> Iterator[Finding]:
    """Yield how often each claim, expected answer, curve and goal of a lesson holds on n seeds."""
    for number, step in enumerate(lesson.steps):
        values = lesson.values_at(number)
        for claim in step.claims:
            low = f"{claim.low:g} <= " * (claim.low > -math.inf)
            high = f" <= {claim.high:g}" * (claim.high < math.inf)
            yield runs.often(number + 1, f"{low}{claim.measure}{high}", values, n, claim.holds)
        if isinstance(step.asks, Pick):
            yield _of_an_answer(runs, number + 1, step.asks, values, n)
        elif isinstance(step.asks, Curve):
            yield from _of_a_curve(list(runs.outcomes(values, n)), number + 1, step.asks)
        elif step.asks is not None:
            words = f"{step.asks.measure} lies on the scale"
            yield runs.often(
                number + 1, words, values, n, Claim(step.asks.measure, step.asks.low, step.asks.high).holds
            )
        elif step.goal is not None:
            yield from _of_a_goal(runs, number, lesson, step, n)


def _of_an_answer(runs: Runs, step: int, asks: Pick, values: Values, n: int) -> Finding:
    expected = asks.options[asks.expected]
    words = f"the answer is {expected.words!r}"
    return runs.often(step, words, values, n, lambda made: asks.right(made) is expected)


def _of_a_curve(made: list[dict[str, float]], step: int, asks: Curve) -> Iterator[Finding]:
    """Yield that the middle curve is good on most seeds, and a line that nobody moved on few."""
    n, came_to = len(made), [found for one in made if (found := asks.came_to(one)) is not None]
    if len(came_to) < n:
        yield Finding(step, f"the run has the curve {asks.column}", len(came_to), n, False)
        return
    middle, unmoved = np.median(came_to, axis=0).tolist(), [(asks.low + asks.high) / 2] * len(came_to[0])
    good, flat = (sum(bool(asks.is_right(guess, one)) for one in made) for guess in (middle, unmoved))
    yield Finding(step, "the middle curve is called good", good, n, good >= n - (n > 2))
    yield Finding(
        step, "a line that nobody moved is called good, which should be seldom", flat, n, flat <= round(n**0.5)
    )


def _of_a_goal(runs: Runs, number: int, lesson: GuidedLesson, step: LessonStep, n: int) -> Iterator[Finding]:
    goal = step.goal
    assert goal is not None
    yield runs.often(number + 1, "the solution reaches the goal", lesson.solved_at(number), n, goal.is_reached)
    words = "the goal is not reached without a move"
    yield runs.often(number + 1, words, lesson.values_at(number), n, lambda made: not goal.is_reached(made))


def check_file(file: Path, n: int = SEEDS) -> Iterator[Finding]:
    """Yield the findings on a lesson's file; none on a lecture's.

    Raises
    ------
    LessonError
        If the file or a part of a lecture is not valid.
    """
    if n < 1:
        raise LessonError(f"--seeds must be a whole number from 1 on, got {n}")
    plain = table_in(file, "a lesson or a lecture in TOML")
    if "parts" in plain:
        check_parts(read_table(Lecture, plain, file))
        return
    lesson = read_lesson(file)
    check_lesson(lesson, file)
    yield from findings(Runs(SETTINGS[lesson.setting], read_by(lesson)), lesson, n)

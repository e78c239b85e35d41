"""Every lesson shows what it says: with the seed that a link opens with, on two of three seeds, and on nine of ten.

A setting's lessons share runs: they are one test, so that none is made twice. A run is made with what some claim reads of it
alone: without the twin where nothing compares with it, and without the exact kernel where nothing asks for its error.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cases import each

pytest.importorskip("streamlit")

from dsgcore.data import IncompleteDataError
from dsgcore.data.edits import AS_GENERATED, EDITS
from dsgcore.experiments import SETTINGS, LiveRun, Spec, outcome_of
from dsgcore.experiments.loading import with_choice
from dsgcore.settings import Curve, Pick, profile_of
from dsgcore.settings.guided.questions import BETTER
from pages.controls import controls

FIRST, SOME, MANY = range(1), range(3), range(10)
ENOUGH = {FIRST: 1, SOME: 2, MANY: 9}  # seeds on which a claim holds
SELDOM = {FIRST: 1, SOME: 2, MANY: 3}  # seeds on which a line that nobody moved may be called good
OF_THE_TWIN, OF_THE_KERNEL = {"gain", "verdict"}, {"error_share", "lag"}
EVERY_LESSON = [(name, lesson) for name, setting in SETTINGS.items() for lesson in profile_of(setting).guided]


def spec_of(name, values, seed) -> Spec:
    """The spec that the controls say when these are set, and all others back at their defaults."""
    setting = SETTINGS[name]
    dataset = values.get("data", controls.dataset_choice(setting).default)
    offered = controls.controls_for(setting, dataset, values.get("kernel"), for_lesson=True)
    assert set(values) <= {"data", EDITS, *offered}
    given = {control: values.get(control, c.parameter.default) for control, c in offered.items()}
    return controls.to_spec(setting, given, dataset, seed)


def first_of(name, values):
    """Return a key of a run: its spec with the first seed, and the edits that are made for its data."""
    return spec_of(name, values, FIRST[0]).to_json(), values.get(EDITS, AS_GENERATED)


def all_claims(name):
    """All that the lessons of a setting say, as pairs of the controls' values and a measure."""
    profile = profile_of(SETTINGS[name])
    for lesson in profile.lessons:
        yield from ((lesson.values, claim.measure) for claim in (*lesson.claims, BETTER))
    for lesson in profile.guided:
        for number, step in enumerate(lesson.steps):
            values = lesson.values_at(number)
            yield from ((values, measure) for measure in step.measures)
            if step.goal is not None:
                yield from ((values | dict(step.goal.solution), claim.measure) for claim in step.goal.claims)


@cache
def read_of_runs(name):
    """Return, by spec, the measures that some claim reads."""
    read = defaultdict(set)
    for values, measure in all_claims(name):
        read[first_of(name, values)].add(measure)
    return read


@cache
def outcome(name, first, seed):
    """Return the outcome of a spec's run with a seed, as far as claims read it."""
    read, spec = read_of_runs(name)[first], with_choice(replace(Spec.from_json(first[0]), seed=seed), first[1])
    if not read & OF_THE_KERNEL:
        spec = replace(spec, diagnostics=replace(spec.diagnostics, n_probes=0))
    try:
        live = LiveRun(spec)
    except IncompleteDataError:  # a step that begins without labels
        return {}
    if not read & OF_THE_TWIN:
        live.supervised = None
    live.advance()
    return outcome_of(live, read)


def outcomes(name, values, seeds):
    first = first_of(name, values)
    return (outcome(name, first, seed) for seed in seeds)


def is_seldom(name, values, seeds, holds):
    """Whether something holds on too few of the seeds; runs are made until that is certain."""
    held = 0
    for number, made in enumerate(outcomes(name, values, seeds), start=1):
        held += holds(made)
        if held == ENOUGH[seeds] or number - held > len(seeds) - ENOUGH[seeds]:
            break
    return held < ENOUGH[seeds]


def refuted(name, values, seeds, claims):
    """Return the claims that hold too seldom, with their measurements."""
    seldom = [claim for claim in claims if is_seldom(name, values, seeds, claim.holds)]
    return [(claim, [made.get(claim.measure) for made in outcomes(name, values, seeds)]) for claim in seldom]


def of_a_curve(asks, seeds, made):
    """Return the faults of a curve to draw: the middle one is good on most seeds, and an unchanged one is not."""
    came_to = np.array([asks.came_to(measured) for measured in made])
    middle, left = np.median(came_to, axis=0), np.full(came_to.shape[1], (asks.low + asks.high) / 2)
    good, unmoved = (sum(asks.is_right(guess, measured) for measured in made) for guess in (middle, left))
    said = [("the middle curve is called good too seldom", good)] if good < ENOUGH[seeds] else []
    return said + ([("a flat line is called good", unmoved)] if unmoved > SELDOM[seeds] else [])


def of_a_step(name, lesson, number, seeds):
    """Return the claims of a step that hold too seldom."""
    step, values = lesson.steps[number], lesson.values_at(number)
    wrong = refuted(name, values, seeds, step.claims)
    if isinstance(step.asks, Pick):
        expected = step.asks.options[step.asks.expected]
        if is_seldom(name, values, seeds, lambda made: step.asks.right(made) is expected):
            right = [step.asks.right(made) for made in outcomes(name, values, seeds)]
            wrong.append((expected.words, [option and option.words for option in right]))
    if isinstance(step.asks, Curve):
        wrong += of_a_curve(step.asks, seeds, list(outcomes(name, values, seeds)))
    if step.goal is not None:
        wrong += refuted(name, values | dict(step.goal.solution), seeds, step.goal.claims)
        if is_seldom(name, values, seeds, lambda made: not step.goal.is_reached(made)):
            wrong.append(("reached without a move", step.goal.text))
    return [(lesson.name, number + 1, *said) for said in wrong]


@pytest.mark.compiled
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(
    "seeds",
    [FIRST, pytest.param(SOME, marks=pytest.mark.ci), pytest.param(MANY, marks=pytest.mark.weekly)],
    ids=["first seed", "three seeds", "ten seeds"],
)
def test_every_claim_of_a_settings_lessons_holds(name, seeds):
    wrong = []
    for lesson in profile_of(SETTINGS[name]).lessons:
        assert lesson.claims
        wrong += [(lesson.name, *said) for said in refuted(name, lesson.values, seeds, lesson.claims)]
        if lesson.name != "works" and is_seldom(name, lesson.values, seeds, lambda made: made.get("verdict") != 1):
            wrong.append((lesson.name, "is called better though it is not about unlabeled points"))
    for lesson in profile_of(SETTINGS[name]).guided:
        for number in range(len(lesson.steps)):
            wrong += of_a_step(name, lesson, number, seeds)
    assert not wrong, "\n".join(map(str, wrong))


@each("name, lesson", EVERY_LESSON)
def test_a_guided_lesson_is_short_and_each_step_asks_for_something(name, lesson):
    assert 3 <= len(lesson.steps) <= 7
    assert 1 <= lesson.minutes <= 3
    offered = {c for k in range(len(lesson.steps)) for c in ("data", EDITS, *controls_at(name, lesson.values_at(k)))}
    for step in lesson.steps:
        assert (step.asks is None) != (step.goal is None)
        assert set(step.controls) <= offered
        if step.goal is not None:
            assert set(step.goal.solution) <= set(step.controls)


def controls_at(name, values):
    setting = SETTINGS[name]
    return controls.controls_for(setting, values.get("data", controls.dataset_choice(setting).default), for_lesson=True)


@each("name", SETTINGS)
def test_a_setting_has_at_least_four_guided_lessons(name):
    assert len(profile_of(SETTINGS[name]).guided) >= 4


def test_lessons_names_are_their_own():
    for setting in SETTINGS.values():
        names = [lesson.name for lesson in profile_of(setting).guided]
        assert len(names) == len(set(names))
        assert all(":" not in name for name in names)


def test_the_map_of_a_step_that_is_too_big_turns_over_at_each_step():
    lesson = next(lesson for name, lesson in EVERY_LESSON if lesson.name == "too-big-a-step")
    for seed in SOME:
        run = LiveRun(spec_of("auc", lesson.values_at(1), seed)).run
        run.advance()
        before, last = (run.at(t).test_values for t in (run.t - 1, run.t))
        assert np.corrcoef(before, last)[0, 1] < -0.9
        assert np.abs(last).max() > 1e12

"""Every lesson shows what it says: each of its claims holds on nine of ten seeds and more.

A setting's lessons share runs: they are one test, so that none is made twice.
"""

from __future__ import annotations

from functools import cache

import pytest

pytest.importorskip("streamlit")

from dsgcore.experiments import SETTINGS, LiveRun, Spec, outcome_of
from dsgcore.settings import Pick, profile_of
from pages.controls import controls

SEEDS = range(10)
ENOUGH = 9
LONG = [pytest.mark.compiled, pytest.mark.slow]
EVERY_LESSON = [
    pytest.param(name, lesson, id=f"{name}-{lesson.name}")
    for name, setting in SETTINGS.items()
    for lesson in profile_of(setting).guided
]


def spec_of(name, values, seed) -> Spec:
    """The spec that the controls say when these are set, and all others back at their defaults."""
    setting = SETTINGS[name]
    dataset = values.get("data", controls.dataset_choice(setting).default)
    offered = controls.controls_for(setting, dataset, values.get("kernel"), for_lesson=True)
    assert set(values) <= {"data", *offered}
    given = {control: values.get(control, c.parameter.default) for control, c in offered.items()}
    return controls.to_spec(setting, given, dataset, seed)


@cache
def outcome(spec):
    live = LiveRun(Spec.from_json(spec))
    live.advance()
    return outcome_of(live)


def outcomes(name, values):
    return [outcome(spec_of(name, values, seed).to_json()) for seed in SEEDS]


def refuted(name, values, claims):
    """Those of the claims that do not hold often enough, with what was measured."""
    made = outcomes(name, values)
    held = {claim: sum(claim.holds(measured) for measured in made) for claim in claims}
    return [(c, n, [measured.get(c.measure) for measured in made]) for c, n in held.items() if n < ENOUGH]


def of_a_step(name, lesson, number):
    """What a step says that does not hold often enough."""
    step, values = lesson.steps[number], lesson.values_at(number)
    wrong = refuted(name, values, step.claims)
    if isinstance(step.asks, Pick):
        right = [step.asks.right(made) for made in outcomes(name, values)]
        expected = step.asks.options[step.asks.expected]
        if sum(option is expected for option in right) < ENOUGH:
            wrong.append((expected.words, [option and option.words for option in right]))
    if step.goal is not None:
        wrong += refuted(name, values | dict(step.goal.solution), step.goal.claims)
        if sum(step.goal.is_reached(made) for made in outcomes(name, values)) > len(SEEDS) - ENOUGH:
            wrong.append(("reached without a move", step.goal.text))
    return [(lesson.name, number + 1, *said) for said in wrong]


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG) for name in SETTINGS])
def test_every_claim_of_a_settings_lessons_holds_on_nine_of_ten_seeds(name):
    wrong = []
    for lesson in profile_of(SETTINGS[name]).lessons:
        assert lesson.claims
        wrong += [(lesson.name, *said) for said in refuted(name, lesson.values, lesson.claims)]
        better = sum(made.get("verdict") == 1 for made in outcomes(name, lesson.values))
        if lesson.name != "works" and better > 1:
            wrong.append((lesson.name, "is called better though it is not about unlabeled points", better))
    for lesson in profile_of(SETTINGS[name]).guided:
        for number in range(len(lesson.steps)):
            wrong += of_a_step(name, lesson, number)
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize(("name", "lesson"), EVERY_LESSON)
def test_a_guided_lesson_is_short_and_each_step_asks_for_something(name, lesson):
    assert 3 <= len(lesson.steps) <= 7
    assert 1 <= lesson.minutes <= 3
    offered = {c for k in range(len(lesson.steps)) for c in ("data", *controls_at(name, lesson.values_at(k)))}
    for step in lesson.steps:
        assert (step.asks is None) != (step.goal is None)
        assert set(step.controls) <= offered
        if step.goal is not None:
            assert set(step.goal.solution) <= set(step.controls)


def controls_at(name, values):
    setting = SETTINGS[name]
    return controls.controls_for(setting, values.get("data", controls.dataset_choice(setting).default), for_lesson=True)


def test_lessons_names_are_their_own():
    for setting in SETTINGS.values():
        names = [lesson.name for lesson in profile_of(setting).guided]
        assert len(names) == len(set(names))
        assert all(":" not in name for name in names)

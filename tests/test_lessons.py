"""Every lesson shows what it says: each of its claims holds on nine of ten seeds and more."""

from __future__ import annotations

from functools import cache

import pytest

pytest.importorskip("streamlit")

from dsgcore.experiments import SETTINGS, LiveRun, Spec, outcome_of
from dsgcore.settings import profile_of
from pages.controls import controls

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

SEEDS = range(10)
EVERY_LESSON = [
    pytest.param(name, lesson, id=f"{name}-{lesson.name}")
    for name, setting in SETTINGS.items()
    for lesson in profile_of(setting).lessons
]


def spec_of(name, lesson, seed) -> Spec:
    """The spec that the lesson's button leads to."""
    setting = SETTINGS[name]
    dataset = lesson.values.get("data", controls.dataset_choice(setting).default)
    offered = controls.controls_for(setting, dataset, lesson.values.get("kernel"), for_lesson=True)
    values = {control: lesson.values.get(control, c.parameter.default) for control, c in offered.items()}
    return controls.to_spec(setting, values, dataset, seed)


@cache
def outcomes(name, number):
    made = []
    for seed in SEEDS:
        live = LiveRun(spec_of(name, profile_of(SETTINGS[name]).lessons[number], seed))
        live.advance()
        made.append(outcome_of(live))
    return made


@pytest.mark.parametrize(("name", "lesson"), EVERY_LESSON)
def test_every_claim_of_a_lesson_holds_on_nine_of_ten_seeds(name, lesson):
    assert lesson.claims
    made = outcomes(name, profile_of(SETTINGS[name]).lessons.index(lesson))
    for claim in lesson.claims:
        held = sum(claim.holds(outcome) for outcome in made)
        assert held >= 9, f"{claim}: {held} of 10, {[outcome.get(claim.measure) for outcome in made]}"


@pytest.mark.parametrize(("name", "lesson"), EVERY_LESSON)
def test_a_lesson_that_is_not_about_unlabeled_points_is_not_called_better(name, lesson):
    if lesson.name == "works":
        return
    made = outcomes(name, profile_of(SETTINGS[name]).lessons.index(lesson))
    assert sum(outcome.get("verdict") == 1 for outcome in made) <= 1

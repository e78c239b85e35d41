"""Schedules of the released variant: it divides its step itself, so every place refuses a second division."""

from dataclasses import replace

import pytest
from cases import each
from live_page import has_run
from opened_pages import checked, errors, open_page
from test_multiclass_run import finished, small

from dsgcore import ParameterError, Run, SpecError
from dsgcore.experiments import LiveRun
from dsgcore.solver.plan import SCHEDULES

DECAYING = [name for name in SCHEDULES if name != "constant"]
SENTENCE = (
    "schedule must be constant if variant is released, because that divides the step by t + n_l already, got 'theta/t'"
)


@each("schedule", DECAYING)
@each("kind", [Run, LiveRun])
def test_a_schedule_for_the_released_variant_is_refused_with_one_sentence(kind, schedule):
    constant = small(variant="released", n_iter=2)
    with pytest.raises((ParameterError, SpecError), match=r"^schedule must be constant .*, got '.*'$") as caught:
        kind(replace(constant, solver=replace(constant.solver, schedule=schedule)))
    assert repr(schedule) in str(caught.value)


def test_the_released_variants_step_is_divided_once():
    history = finished(small(variant="released", step_size=40.0, n_iter=5)).history
    assert history.column("step_size").tolist() == [40.0 / (t + 16) for t in range(1, 6)]


@each("schedule", SCHEDULES)
def test_the_papers_variant_takes_every_schedule(schedule):
    history = finished(small(schedule=schedule, step_size=2.0, n_iter=5)).history
    assert history.column("step_size").tolist() == [SCHEDULES[schedule](2.0, t, 5) for t in range(1, 6)]


def test_a_spec_says_it_in_the_same_sentence():  # test_cli.py shows that a command says what a spec does
    with pytest.raises(SpecError) as caught:
        small(variant="released", schedule="theta/t")
    assert str(caught.value) == SENTENCE


@pytest.mark.compiled
def test_the_app_says_it_in_one_sentence_and_goes_on_once_it_is_right():
    app = open_page("multiclass", mc_variant="released", mc_schedule="theta/t", mc_n_iter="20")
    assert errors(checked(app)) == [SENTENCE]
    assert not has_run(app)
    app = app.run()
    assert errors(checked(app)) == [SENTENCE]
    app = app.selectbox(key="mc_schedule").select("constant").run()
    assert errors(checked(app)) == []
    assert has_run(app)
    app = app.selectbox(key="mc_schedule").select("theta/t").run()
    assert errors(checked(app)) == [SENTENCE]

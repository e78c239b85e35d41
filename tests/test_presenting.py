"""A lesson before a class: one thing at a time, a run that begins in its turn, and notes on request."""

from __future__ import annotations

import pytest
from cases import each
from live_page import figures

pytest.importorskip("streamlit")
from opened_pages import open_page
from test_guided_page import bench, words
from test_theory_page import finished

from dsgcore.experiments import SETTINGS, FileStore
from dsgcore.settings import profile_of
from pages.session.bench import Bench, LessonState
from pages.session.lesson_place import Place, Stage
from pages.workbench.layout import PARTS
from pages.workbench.presenting import left_out

compiled = pytest.mark.compiled
GUIDED = {name: profile_of(setting).guided for name, setting in SETTINGS.items() if profile_of(setting).guided}


def presented(**link):
    return open_page("auc", present="1", speed="instant", **link)


def press(app, key):
    app.button(key=f"present-{key}").click().run()
    assert not app.exception
    return app


def charts(app):
    """Return the names of the live run's charts."""
    return {key.removeprefix("chart-") for key in figures(app)}


@compiled
def test_a_step_is_shown_as_text_question_run_and_outcome_one_at_a_time():
    app = presented(lesson="unlabeled")
    place = bench(app).lesson.place
    assert "A good score ranks the inner" in words(app)
    assert "Where will the solid" not in words(app)
    assert charts(app) == {"map"}
    press(app, "next")
    assert "**A** above the dotted curve: unlabeled points help" in words(app)
    assert "A good score ranks" not in words(app)
    assert bench(app).live.run.t == 0
    assert charts(app) == set()
    press(app, "next")
    finished(app)
    assert charts(app) == {"map", "objective", "score"}
    press(app, "next")
    assert "# A. above the dotted curve: unlabeled points help" in words(app)
    assert "With ten labels, the score leans" in words(app)
    assert place.guess is None
    press(app, "next")
    app.run()
    assert (place.number, place.stage) == (1, Stage.TEXT)
    assert bench(app).live.run.spec.data.n_labeled == 200


@compiled
def test_back_leads_to_the_thing_before_and_at_last_to_the_step_before():
    app = presented(lesson="unlabeled:2")
    press(app, "next")
    press(app, "back")
    assert bench(app).lesson.place.stage is Stage.TEXT
    press(app, "back")
    assert (bench(app).lesson.place.number, bench(app).lesson.place.stage) == (0, Stage.TEXT)
    assert app.button(key="present-back").disabled


@compiled
def test_without_a_lesson_in_the_link_the_first_is_shown_and_notes_where_asked_for():
    assert bench(presented()).lesson.place.lesson.name == GUIDED["auc"][0].name
    assert "**Notes.**" not in words(presented())
    assert "**Notes.** Point at the filled points" in words(presented(notes="1"))


@compiled
def test_a_goal_is_reached_with_the_controls_beside_it():
    app = presented(lesson="step-size:3")
    assert "sidebar" in bench(app).hidden
    press(app, "next")
    assert "sidebar" not in bench(app).hidden
    finished(app)
    assert app.button(key="present-next").disabled
    app.button(key="lesson-show").click().run()
    app.run()
    finished(app)
    press(app, "next")
    assert "# Goal reached." in words(app)
    assert "What you learned" in words(app)


@each("name, lesson", [(name, lesson) for name in GUIDED for lesson in GUIDED[name]])
def test_a_lesson_has_notes_at_each_step(name, lesson):
    assert all(step.notes.endswith((".", "?")) for step in lesson.steps)


def standing(place):
    """Return a bench on which a lesson is at this place."""
    return Bench(FileStore(), lesson=LessonState(place))


@each("name, lesson", [(name, lesson) for name in GUIDED for lesson in GUIDED[name]])
def test_no_step_shows_more_than_a_map_beside_one_chart(name, lesson):
    for number in range(len(lesson.steps)):
        for stage in Place(lesson, number, stage=Stage.TEXT).stages:
            shown = set(PARTS) - left_out(standing(Place(lesson, number, stage=stage)))
            assert shown <= {"map", "curves", "error", "sidebar"}
            assert not {"curves", "error"} <= shown
    assert left_out(standing(Place(lesson))) == frozenset()

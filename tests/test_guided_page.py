"""A guided lesson on its page: the run waits for the guess, and the guess is laid over what came of it."""

from __future__ import annotations

import pytest
from cases import each

pytest.importorskip("streamlit")
from opened_pages import open_auc, open_page
from test_theory_page import finished

from dsgcore.settings.s3vm import S3VM
from pages.workbench.drawn_curve import _checked
from pages.workbench.lesson_panel import _answer
from pages.workbench.lesson_steps import _while_there, go_to_step

pytestmark = pytest.mark.compiled


def words(app):
    assert not app.exception
    return " ".join(markdown.value for markdown in app.markdown)


def bench(app):
    return app.session_state["_bench_auc"]


def open_lesson(text, **link):
    return open_auc(lesson=text, speed="instant", **link)


def test_the_run_waits_for_the_guess_and_its_outcome_is_laid_beside_it():
    app = open_auc(lesson="unlabeled")
    app.session_state["speed"] = "instant"
    for _ in range(3):
        app.run()
    assert bench(app).live.run.t == 0
    assert app.button(key="lesson-run").disabled
    assert app.button(key="play").disabled
    app.radio[0].set_value("below the dotted curve: they hurt").run()
    app.button(key="lesson-run").click().run()
    finished(app)
    assert (
        "You guessed *below the dotted curve: they hurt*. The run gave: *above the dotted curve: unlabeled points help*"
        in words(app)
    )
    app.button(key="lesson-next").click().run()
    app.run()
    assert bench(app).lesson.place.number == 1
    assert bench(app).live.run.t == 0
    assert bench(app).live.run.spec.data.n_labeled == 200


def test_a_goal_is_reached_by_its_solution_and_not_before():
    app = open_lesson("step-size:3")
    assert bench(app).live.run.spec.solver.step_size == 0.001
    finished(app)
    assert "Not yet" in " ".join(caption.value for caption in app.caption)
    assert "lesson-next" not in [button.key for button in app.button]
    app.button(key="lesson-show").click().run()
    app.run()
    assert bench(app).live.run.spec.solver.step_size is None
    finished(app)
    assert "Goal reached" in words(app)
    assert "What you learned" in words(app)


def test_a_number_is_guessed_and_drawn_beside_the_outcome():
    app = open_lesson("random-features:1:0.4")
    finished(app)
    assert "you said 0.40, and the share is" in words(app)


def test_a_link_holds_the_step_and_the_guess():
    app = open_lesson("unlabeled:2:1")
    assert bench(app).lesson.place.text == "unlabeled:2:1"
    assert not bench(app).is_held
    assert bench(app).live.run.spec.data.n_labeled == 200


@pytest.mark.parametrize("text", ["unlabeled:1:7", "a:" * 400])
def test_a_link_to_no_lesson_says_so_and_the_page_is_there(text):
    app = open_lesson(text)
    assert any("lesson must be one of unlabeled" in warning.value for warning in app.warning)
    assert bench(app).lesson.place is None
    assert bench(app).live is not None


def test_who_leaves_a_lesson_keeps_the_page_as_it_is():
    app = open_lesson("unlabeled:2:1")
    app.button(key="lesson-leave").click().run()
    assert bench(app).lesson.place is None
    assert bench(app).live.run.spec.data.n_labeled == 200


def test_a_drawn_curve_waits_is_in_the_link_and_is_laid_over_the_outcome():
    drawn = "0.5~0.6~0.7~0.8~0.9~1"
    waiting = open_page("s3vm", svm_lesson="batches:2", speed="instant")
    assert waiting.button(key="lesson-run").disabled
    app = open_page("s3vm", svm_lesson=f"batches:2:{drawn}", speed="instant")
    assert app.session_state["_bench_s3vm"].lesson.place.text == f"batches:2:{drawn}"
    for _ in range(100):
        if app.session_state["_bench_s3vm"].lesson.place.outcome is not None:
            break
        app.run()
    assert "your mean error is" in words(app)


@pytest.mark.parametrize("text", ["0.5~0.6", "0.5~0.6~0.7~0.8~0.9~7", "a~b~c~d~e~f", "nan~1~1~1~1~1"])
def test_what_is_no_curve_on_the_axis_is_none(text):
    curve = next(lesson for lesson in S3VM.guided if lesson.name == "batches").steps[1].asks
    assert curve.read(text) is None


@each("sent", [7, "x", [1], [None] * 6, {"a": 1}, [1e400] * 6, ["0.5"] * 6])
def test_a_browser_can_send_what_it_likes_for_a_curve(sent):
    curve = next(lesson for lesson in S3VM.guided if lesson.name == "batches").steps[1].asks
    assert _checked(curve, sent) is None
    assert _checked(curve, [0.5] * 6) == (0.5,) * 6


def test_a_click_that_comes_in_when_the_lesson_has_just_been_left_does_nothing():
    app = open_lesson("unlabeled")
    app.button(key="lesson-leave").click().run()
    left = bench(app)
    was_playing = left.is_playing
    for action, arguments in ((_answer, (left, 0)), (go_to_step, (type(left.live.run.problem), left, 1))):
        _while_there(left, action, *arguments)
    assert left.lesson.place is None
    assert left.is_playing == was_playing


def test_the_box_with_what_a_step_is_about_is_open_and_the_other_is_closed():
    app = open_lesson("unlabeled:2")
    assert {box.label: box.proto.expanded for box in app.sidebar.expander} == {"Data options": True, "More": False}
    assert not any(box.proto.expanded for box in open_lesson("step-size:1").sidebar.expander)


def test_an_asterisk_in_an_answer_ends_no_emphasis():
    app = open_lesson("decaying-step:3:1")
    finished(app)
    assert "The run gave: *below 1\N{NO-BREAK SPACE}% of |f\\*|²*." in words(app)

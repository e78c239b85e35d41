"""A lesson on the stage: the run waits for the guess, and the explanation takes the place of the question."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest
from cases import each

pytest.importorskip("streamlit")
from live_page import figures, status
from opened_pages import bench_of, left_in_browser, open_auc, open_page, run_of, said, shown
from test_theory import finished

from dsgcore import lessons
from dsgcore.data.edits import EDITS
from dsgcore.experiments import SETTINGS
from dsgcore.lessons import lessons_of
from pages.controls.controls import controls_for, dataset_choice
from pages.stage.marks import _checked as _checked_marks
from pages.workbench.drawn_curve import _checked

AUC = lessons_of("auc")
GUIDED = [(name, lesson) for name, setting in SETTINGS.items() for lesson in lessons_of(setting)]


MEANING = re.compile(r'<span class="stage-meaning".*?</span>|</?span[^>]*>')


def words(app):
    """All words of the page as they are read, without the meanings behind some of them."""
    assert not app.exception
    return " ".join(MEANING.sub("", markdown.value) for markdown in app.markdown)


def open_lesson(text, **link):
    return open_auc(lesson=text, **{"view.speed": "instant"}, **link)


def presented(**link):
    """Return the first page of a lesson before a class."""
    return open_page("auc", present="1", **{"view.speed": "instant"}, **link)


def test_the_run_waits_for_the_guess_and_its_outcome_is_laid_beside_it():
    app = open_auc(lesson="unlabeled")
    app.session_state["speed"] = "instant"
    for _ in range(3):
        app.run()
    assert run_of(app).t == 0
    assert app.button(key="lesson-run").disabled
    assert "play" not in [button.key for button in app.button]
    app.radio[0].set_value("lower: they hurt").run()
    app.button(key="lesson-run").click().run()
    finished(app)
    own = "So it is when the groups are not the classes. Here they are."
    assert f"{own} The run gave: *higher: unlabeled points help*" in words(app)
    app.button(key="lesson-next").click().run()
    app.run()
    assert bench_of(app).lesson.place.number == 1
    assert run_of(app).t == 0
    assert run_of(app).spec.data.n_labeled == 200


def test_a_goal_is_reached_by_its_solution_and_not_before():
    app = open_lesson("step-size:3")
    assert run_of(app).spec.solver.step_size == 0.001
    finished(app)
    assert "**Not yet.** This run reached 1.1" in words(app)
    assert "lesson-next" not in [button.key for button in app.button]
    app.button(key="lesson-show").click().run()
    app.run()
    assert run_of(app).spec.solver.step_size is None
    finished(app)
    assert "Goal reached" in words(app)
    assert "What you learned" in words(app)


@each(
    "lesson, sentence",
    [
        ("random-features:1:0.4", "you said 0.40, and the share is"),
        ("rare-class:3:answer", "correct answers fall below 90\N{NO-BREAK SPACE}%*."),  # a sentence's one full stop
        ("decaying-step:3:1", "The run gave: *below 1\N{NO-BREAK SPACE}% of |f\\*|\u2060²*."),  # f* ends no emphasis
    ],
)
def test_the_outcome_is_said_beside_the_guess(lesson, sentence):
    app = open_lesson(lesson)
    finished(app)
    assert sentence in words(app)
    assert ".*." not in words(app)


def test_a_link_holds_the_step_and_the_guess_and_who_leaves_the_lesson_keeps_the_page_as_it_is():
    app = open_lesson("unlabeled:2:1")
    assert bench_of(app).lesson.place.text == "unlabeled:2:1"
    assert not bench_of(app).is_held
    assert run_of(app).spec.data.n_labeled == 200
    app.button(key="lesson-leave").click().run()
    assert bench_of(app).lesson.place is None
    assert run_of(app).spec.data.n_labeled == 200


def test_a_drawn_curve_waits_is_in_the_link_and_is_laid_over_the_outcome():
    drawn = "0.5~0.6~0.7~0.8~0.9~1"
    waiting = open_page("s3vm", lesson="batches:2", **{"view.speed": "instant"})
    assert waiting.button(key="lesson-run").disabled
    assert set(figures(waiting)) == {"chart-map"}  # the reader draws in the chart's place
    app = open_page("s3vm", lesson=f"batches:2:{drawn}", **{"view.speed": "instant"})
    assert bench_of(app, "s3vm").lesson.place.text == f"batches:2:{drawn}"
    assert "your guess" in drawn_on(app, "chart-score")[0]
    for _ in range(100):
        if bench_of(app, "s3vm").lesson.place.outcome is not None:
            break
        app.run()
    assert "your mean error is" in words(app)


@each("sent", [7, "x", [1], [None] * 6, {"a": 1}, [1e400] * 6, ["0.5"] * 6])
def test_a_browser_can_send_what_it_likes_for_a_curve(sent):
    curve = next(lesson for lesson in lessons_of("s3vm") if lesson.name == "batches").steps[1].asks
    assert _checked(curve, sent) is None
    assert _checked(curve, [0.5] * 6) == (0.5,) * 6


def test_a_step_has_its_own_controls_and_they_are_locked_until_the_guess():
    app = open_lesson("unlabeled:2")
    assert [(slider.key, slider.disabled) for slider in app.select_slider] == [("n_labeled", True)]
    assert not app.sidebar.select_slider
    app = open_lesson("unlabeled:2:1")
    assert [(slider.key, slider.disabled) for slider in app.select_slider] == [("n_labeled", False)]
    assert left_in_browser(app).get("data.n_labeled", "200") == "200"


@pytest.mark.ci
def test_the_workbench_keeps_the_run_and_the_values_of_the_stage():
    app = open_lesson("unlabeled:4")
    app.select_slider(key="gamma").set_value(0.9).run()
    finished(app)
    run = run_of(app)
    app.button(key="lesson-leave").click().run()
    app.run()
    assert run_of(app) is run
    assert app.sidebar.select_slider(key="gamma").value == 0.9


def drawn_on(app, key):
    """Return the legend of a chart of the stage, and the ends of its axis."""
    figure = figures(app)[key]
    return [trace["name"] for trace in figure["data"]], figure["layout"]["yaxis"]["range"]


def test_only_the_lecturer_has_notes_and_runs_without_a_guess():
    assert not open_lesson("unlabeled").get("link_button")
    app = open_lesson("unlabeled", present="1")
    (notes,) = (link.proto.url for link in app.get("link_button") if link.proto.label == "Notes")
    assert notes.endswith("/notes?of=auc%2Funlabeled")
    assert "Point at the filled points" not in words(app)  # they are never on the projector
    app.button(key="lesson-run").click().run()
    finished(app)
    assert "**Answer:** *higher: unlabeled points help*" in words(app)


LECTURE = "auc/unlabeled\nWho knows? | I do | I do not\nHow many? | 0 to 10\ns3vm/gap"


@pytest.mark.ci
def test_a_lecture_leads_from_its_lesson_to_its_questions_and_to_the_page_of_another_setting(rooms):
    app = open_lesson("unlabeled:4:answer", present="1", lecture=LECTURE)
    while bench_of(app).lesson.place.outcome is None:
        app.run()
    app.run()
    for label, question in [("Next question", "Who knows?"), ("Next question", "How many?")]:
        assert app.button(key="lesson-following").label == label
        app.button(key="lesson-following").click().run()
        assert f"## {question}" in shown(words(app))
        assert bench_of(app).group.room is not None
    assert app.button(key="lesson-following").label == "Next lesson"
    app.button(key="lesson-following").click().run()
    assert not app.exception
    there = app.session_state["_bench_s3vm"]
    assert (there.lesson.place.lesson.name, there.group.part) == ("gap", None)
    assert there.group.room is bench_of(app).group.room
    assert there.group.lecture.parts == tuple(LECTURE.splitlines())


def test_a_lecture_is_made_of_lines_and_lessons_of_ones_own_are_beside_the_projects(tmp_path, monkeypatch):
    monkeypatch.setenv(lessons.FOLDER, str(tmp_path))
    (tmp_path / "broken.toml").write_text("title =")
    (tmp_path / "week.toml").write_text('title = "Week 3"\nparts = ["s3vm/gap", "Why? | map"]')
    app = open_page("lessons")
    assert "### Week 3" in words(app)
    (fault,) = said(app)
    assert fault.startswith(f"A file is left out. {tmp_path.name}/broken.toml is not valid TOML")
    app.selectbox(key="lecture-add").set_value("auc/unlabeled").run()
    app.selectbox(key="lecture-add").set_value("s3vm/gap").run()
    assert app.text_area(key="lecture-parts").value == "auc/unlabeled\ns3vm/gap"
    queries = [link.proto.query_string for link in app.get("page_link") if "lecture" in link.proto.query_string]
    assert [parse_qs(query)["lecture"] for query in queries] == [["week"], ["auc/unlabeled\ns3vm/gap"]]
    app.text_area(key="lecture-parts").set_value("auc/unlabeled\nWho? | I").run()
    assert "Type 2 to 6 answers. There are 1." in said(app)


def test_a_lecture_in_a_link_that_cannot_be_held_says_why():
    app = open_lesson("unlabeled", present="1", lecture="auc/unlabeled\nno-lesson")
    (notice,) = (one for one in said(app) if "lecture" in one)
    assert notice.startswith("In the link, lecture cannot be followed: no single lesson has the name 'no-lesson'")


@each("sent", [None, 7, "x", {"auc:unlabeled": "4"}, [1]])
def test_a_browser_can_send_what_it_likes_for_marks(sent):
    assert _checked_marks(sent) == {}


@each("name, lesson", GUIDED)
def test_every_step_has_notes_and_controls_and_a_chart_that_its_setting_has(name, lesson):
    for number, step in enumerate(lesson.steps):
        dataset = lesson.values_at(number).get("data", dataset_choice(SETTINGS[name]).default)
        assert step.notes.endswith((".", "?"))
        assert set(step.controls) <= {EDITS, *controls_for(SETTINGS[name], dataset)}
        assert (step.chart == "spectrum") <= (name == "multiclass")
        assert step.goal is None or step.controls, "a goal is reached by a control"


def test_a_run_says_done_with_its_button_and_a_late_press_on_pause_begins_nothing(monkeypatch):
    app = open_lesson("unlabeled:1:answer")
    live, number = bench_of(app).live, bench_of(app).number
    live.run.advance()  # the labels alone are still to be learned from
    monkeypatch.setattr("pages.workbench.page.advance", lambda _bench, _until: None)
    app.run()
    assert (status(app).endswith("running"), app.button(key="play").label) == (True, "Pause")
    live.advance()
    live.rush(60.0)
    app.button(key="play").click().run()  # drawn before the end
    assert bench_of(app).number == number
    assert (status(app).endswith("done"), app.button(key="play").label) == (True, "Again")

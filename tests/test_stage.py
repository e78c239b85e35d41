"""A lesson on the stage: the run waits for the guess, and the explanation takes the place of the question."""

from __future__ import annotations

import math
import re
from urllib.parse import parse_qs

import pytest
from cases import each

pytest.importorskip("streamlit")
from live_page import figures, status
from opened_pages import bench_of, checked, left_in_browser, open_auc, open_page, run_of, said, shown
from test_theory import finished

from dsgcore import lessons
from dsgcore.data.edits import EDITS
from dsgcore.experiments import SETTINGS
from dsgcore.lessons import lessons_of
from pages.controls.controls import controls_for, dataset_choice
from pages.stage import marks
from pages.stage.marks import _checked as _checked_marks
from pages.stage.moves import _while_there, answered, go_to_step, next_lesson
from pages.stage.step import explained, unbroken
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


@pytest.mark.parametrize("text", ["unlabeled:1:7", "a:" * 400])
def test_a_link_to_no_lesson_says_so_and_the_page_is_there(text):
    app = open_lesson(text)
    assert any("lesson must be one of unlabeled" in warning.value for warning in app.warning)
    assert bench_of(app).lesson.place is None
    assert bench_of(app).live is not None


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


@pytest.mark.parametrize("text", ["0.5~0.6", "0.5~0.6~0.7~0.8~0.9~7", "a~b~c~d~e~f", "nan~1~1~1~1~1"])
def test_what_is_no_curve_on_the_axis_is_none(text):
    curve = next(lesson for lesson in lessons_of("s3vm") if lesson.name == "batches").steps[1].asks
    assert curve.read(text) is None


@each("sent", [7, "x", [1], [None] * 6, {"a": 1}, [1e400] * 6, ["0.5"] * 6])
def test_a_browser_can_send_what_it_likes_for_a_curve(sent):
    curve = next(lesson for lesson in lessons_of("s3vm") if lesson.name == "batches").steps[1].asks
    assert _checked(curve, sent) is None
    assert _checked(curve, [0.5] * 6) == (0.5,) * 6


def test_a_click_that_comes_in_when_the_lesson_has_just_been_left_does_nothing():
    app = open_lesson("unlabeled")
    app.button(key="lesson-leave").click().run()
    left = bench_of(app)
    was_playing = left.is_playing
    for action, arguments in ((answered, (left, 0)), (go_to_step, (type(left.live.run.problem), left, 1))):
        _while_there(left, action, *arguments)
    assert left.lesson.place is None
    assert left.is_playing == was_playing


def test_a_formula_and_a_per_cent_sign_stay_on_one_line():
    assert unbroken("|f − h|² is 5 % of |h|².").split(" ") == [
        "|f\xa0−\xa0h|\u2060²",
        "is",
        "5\xa0%",
        "of",
        "|h|\u2060².",
    ]


def test_a_word_of_the_glossary_has_its_meaning_where_it_first_stands():
    found = explained("Ten seeds, another seed, *AUC* < 1 and a constant.")
    assert [found.count(part) for part in ('tabindex="0">seeds<', "seed<", "same seed gives", "AUC<")] == [1, 0, 1, 1]
    assert MEANING.sub("", found) == "Ten seeds, another seed, *AUC* &lt; 1 and a constant."


def test_a_step_has_its_own_controls_and_they_are_locked_until_the_guess():
    app = open_lesson("unlabeled:2")
    assert [(slider.key, slider.disabled) for slider in app.select_slider] == [("n_labeled", True)]
    assert not app.sidebar.select_slider
    app = open_lesson("unlabeled:2:1")
    assert [(slider.key, slider.disabled) for slider in app.select_slider] == [("n_labeled", False)]
    assert left_in_browser(app).get("data.n_labeled", "200") == "200"


def test_a_goal_that_is_missed_says_what_the_run_had_or_that_it_diverged():
    app = open_lesson("waves-into-a-bump:4")
    app.select_slider(key="n_features").set_value(256).run()
    finished(app)
    assert "**Not yet.** This run had 256 random features." in words(app)
    app = open_lesson("too-big-a-step:3")
    finished(app)
    assert "**Not yet.** This run diverged. Change a control below and watch the next run." in words(app)
    app.select_slider(key="step_size").set_value(0.01).run()
    finished(app)
    assert re.search(r"This run reached 0\.[0-9]+ and had a step size of 0\.01\.", words(app)), "both missed claims"


@pytest.mark.ci
def test_an_explanation_says_that_it_is_of_an_earlier_run_while_a_control_has_another_value():
    app = open_lesson("unlabeled:2:1")
    finished(app)
    for labels, is_earlier in ((200, False), (50, True), (200, False)):
        app.select_slider(key="n_labeled").set_value(labels).run()
        finished(app)
        assert ("**Earlier run:** " in words(app)) == is_earlier, labels


def test_a_goal_is_judged_by_the_runs_numbers_so_trust_in_labels_alone_reaches_it():
    app = open_lesson("unlabeled:4")
    finished(app)
    assert "Not yet" in words(app)
    app.select_slider(key="gamma").set_value(1.0).run()
    finished(app)
    assert bench_of(app).live.supervised is None
    assert "Goal reached" in words(app)
    assert "What you learned" in words(app)
    assert app.button(key="lesson-following").label == "Next lesson"


def test_the_workbench_keeps_the_run_and_the_values_of_the_stage():
    app = open_lesson("unlabeled:4")
    app.select_slider(key="gamma").set_value(0.9).run()
    finished(app)
    run = run_of(app)
    app.button(key="lesson-leave").click().run()
    app.run()
    assert run_of(app) is run
    assert app.sidebar.select_slider(key="gamma").value == 0.9


@pytest.mark.ci
def test_the_previous_run_is_drawn_only_beside_a_later_run_of_the_same_step():
    app = open_lesson("random-features")
    app.button(key="lesson-run").click().run()
    finished(app)
    app.button(key="lesson-next").click().run()
    app.run()
    assert bench_of(app).live.ghost is not None
    assert not bench_of(app).view.scene.has_ghost
    app = open_lesson("step-size:3")
    finished(app)
    app.select_slider(key="step_size").set_value(0.1).run()
    assert bench_of(app).view.scene.has_ghost


def drawn_on(app, key):
    """Return the legend of a chart of the stage, and the ends of its axis."""
    figure = figures(app)[key]
    return [trace["name"] for trace in figure["data"]], figure["layout"]["yaxis"]["range"]


def test_the_axes_and_the_legend_are_there_before_the_run():
    legend, ends = drawn_on(open_lesson("unlabeled"), "chart-score")
    assert legend == ["labels only", "test points"]
    assert ends[0] < 0.5 < 1.0 < ends[1]


@pytest.mark.ci
def test_random_choices_are_drawn_with_the_outcome_that_is_compared_with_them():
    app = open_lesson("five-labels")
    assert drawn_on(app, "chart-score")[0][2:] == ["random choices: median", "10 % to 90 %", "10 % to 90 %", "best"]
    app.radio[0].set_value(app.radio[0].options[0]).run()
    app.button(key="lesson-run").click().run()
    while bench_of(app).lesson.place.outcome is None:
        app.run()
    median, low, high, best = (trace["y"][0] for trace in figures(app)["chart-score"]["data"][2:])
    assert low < median < high < best


def test_only_the_lecturer_has_notes_and_runs_without_a_guess():
    assert not open_lesson("unlabeled").get("link_button")
    app = open_lesson("unlabeled", present="1")
    (notes,) = (link.proto.url for link in app.get("link_button") if link.proto.label == "Notes")
    assert notes.endswith("/notes?of=auc%2Funlabeled")
    assert "Point at the filled points" not in words(app)  # they are never on the projector
    app.button(key="lesson-run").click().run()
    finished(app)
    assert "**Answer:** *higher: unlabeled points help*" in words(app)


def test_without_a_lesson_in_the_link_a_class_sees_the_first_one():
    assert bench_of(open_lesson("", present="1")).lesson.place.lesson.name == "unlabeled"


LECTURE = "auc/unlabeled\nWho knows? | I do | I do not\nHow many? | 0 to 10\ns3vm/gap"


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
    monkeypatch.setattr(lessons, "_read", {"looked": -math.inf, "stamps": None, "library": None})
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
    monkeypatch.setattr(lessons, "_read", {"looked": -math.inf, "stamps": None, "library": None})


def test_a_lecture_in_a_link_that_cannot_be_held_says_why():
    app = open_lesson("unlabeled", present="1", lecture="auc/unlabeled\nno-lesson")
    (notice,) = (one for one in said(app) if "lecture" in one)
    assert notice.startswith("In the link, lecture cannot be followed: no single lesson has the name 'no-lesson'")


def test_another_lesson_follows_at_the_end_and_after_the_last_the_list_of_all():
    assert next_lesson(SETTINGS["auc"], AUC[0]) is AUC[1]
    assert next_lesson(SETTINGS["auc"], AUC[-1]) is None


@each("sent", [None, 7, "x", {"auc:unlabeled": "4"}, [1]])
def test_a_browser_can_send_what_it_likes_for_marks(sent):
    assert _checked_marks(sent) == {}


@each("done, label, step", [
    (0, "Begin (2 min, 4 steps)", "unlabeled"),
    (2, "Go on with step 3 of 4", "unlabeled:3"),
    (4, "Begin (2 min, 4 steps)", "unlabeled"),
])  # fmt: skip
def test_a_card_has_a_picture_one_way_in_that_goes_on_where_the_lesson_was_left_and_the_rest_apart(
    done, label, step, monkeypatch
):
    monkeypatch.setattr(marks, "kept_marks", lambda: {"auc:unlabeled": done})
    app = open_page("lessons")
    n = len(GUIDED)
    assert [len(app.get("image")), len(app.get("popover"))] == [n, n]
    links = [link.proto for link in app.get("page_link") if "lesson=unlabeled" in link.proto.query_string]
    assert [link.label for link in links] == [label, "Show it to a class"]
    assert [parse_qs(link.query_string)["lesson"] for link in links] == [[step], ["unlabeled"]]
    assert [caption.value for caption in app.caption].count(":green[✓ Done]") == (done == 4)


def test_from_the_workbench_a_button_leads_back_to_the_lesson_where_it_was_left():
    app = open_lesson("unlabeled:2:1")
    place = bench_of(app).lesson.place
    app.button(key="lesson-leave").click().run()
    assert bench_of(app).lesson.place is None
    checked(app.button(key="lesson-return").click().run())
    assert bench_of(app).lesson.place is place
    assert run_of(app).spec.data.n_labeled == 200
    assert "lesson-return" not in [button.key for button in app.button]


@each("name, lesson", GUIDED)
def test_every_step_has_notes_and_controls_and_a_chart_that_its_setting_has(name, lesson):
    for number, step in enumerate(lesson.steps):
        dataset = lesson.values_at(number).get("data", dataset_choice(SETTINGS[name]).default)
        assert step.notes.endswith((".", "?"))
        assert set(step.controls) <= {EDITS, *controls_for(SETTINGS[name], dataset)}
        assert (step.chart == "spectrum") <= (name == "multiclass")
        assert step.goal is None or step.controls, "a goal is reached by a control"


def test_the_map_of_a_diverged_run_is_its_last_finite_one():
    app = open_lesson("too-big-a-step:2", seed="0")
    app.radio[0].set_value("turn over at each step, with values that grow without bound").run()
    app.button(key="lesson-run").click().run()
    finished(app)
    run, shown = run_of(app), figures(app)["chart-map"]
    assert run.model_t < run.t
    assert shown["layout"]["meta"]["note"].endswith(str(run.t))
    assert max(max(row) for row in shown["data"][0]["z"]) > 1e12


def test_a_step_without_labels_says_what_to_do_and_shows_no_earlier_run():
    app = open_lesson("five-labels:1:answer")
    finished(app)
    app.button(key="lesson-next").click().run()
    app.run()
    assert "The run starts when each class has a labeled point. Still missing: negative, positive." in shown(words(app))
    assert run_of(app).t == 0
    assert app.button(key="play").disabled
    hand = figures(app)["hand"]
    assert (hand["count"], hand["said"], hand["next"], hand["canUndo"]) == ("0 of 5 labels", "", "", False)
    rows = bench_of(app).hand.split.train_rows[:6].tolist()
    labels = [[k, {"do": "label", "rows": [row], "to": k % 2}] for k, row in enumerate(rows)]
    bench_of(app).hand.take({"mount": "m", "edits": labels}, run_of(app).spec, run_of(app).split)
    app.run()
    finished(app)
    assert "**Not yet.** This run " in words(app)
    assert "previous run" not in [trace.get("name") for trace in figures(app)["chart-score"]["data"]]
    assert figures(app)["hand"]["count"] == "6 labels"


def test_the_status_of_a_run_that_diverges_fits_beside_the_buttons_of_a_phone():
    app = open_lesson("too-big-a-step:2:answer")
    finished(app)
    live = run_of(app)
    assert status(app) == f"step {live.t} · diverged"


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

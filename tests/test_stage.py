"""A lesson on the stage: the run waits for the guess, the explanation takes the place of the question, and what is taken away."""

from __future__ import annotations

import json
import math
import re
import subprocess
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from cases import each
from live_page import status
from opened_pages import bench_of, checked, open_auc, open_page, said, shown
from small_specs import OWN_LESSON
from test_server import NODE

from dsgcore import lessons
from dsgcore.__main__ import main
from dsgcore.core.errors import DSGError
from dsgcore.data.edits import EDITS
from dsgcore.experiments import SETTINGS, Run
from dsgcore.lessons import lessons_of
from dsgcore.rooms.questions import plain_text
from dsgcore.settings.lessons import Claim
from pages.controls.controls import controls_for, dataset_choice
from pages.handouts import static_lesson
from pages.handouts.notes import marked
from pages.handouts.static_lesson import _chosen, write_lesson
from pages.session.lesson_place import place_in
from pages.stage import links
from pages.stage.links import answer, exercise
from pages.stage.moves import go_to_part, to_the_end
from pages.stage.step import curve_in, reached
from pages.workbench.head import PARTS
from pages.workbench.tabs import THEMES, frame

LESSONS = {(name, lesson.name): lesson for name, setting in SETTINGS.items() for lesson in lessons_of(setting)}
MEANING = re.compile(r'<span class="stage-meaning".*?</span>|</?span[^>]*>')


def words(app):
    """All words of the page as they are read, without the meanings behind some of them."""
    return " ".join(MEANING.sub("", markdown.value) for markdown in checked(app).markdown)


def open_lesson(text, **link):
    return open_auc(lesson=text, **{"view.speed": "instant"}, **link)


def place_of(app, setting="auc"):
    return bench_of(app, setting).lesson.place


def until_explained(app, setting="auc"):
    """Draw the page until the outcome of its step is there."""
    for _ in range(100):
        if place_of(app, setting).outcome is not None:
            return app.run()
        app.run()
    raise AssertionError("the run has not come to its end")


def moves(app):
    return [button.key for button in app.button]


@each("sent", [None, 7, "x", [1], [None] * 6, {"auc:unlabeled": "4"}, [1e400] * 6, [10**400] * 6, ["0.5"] * 6])
def test_a_browser_can_send_what_it_likes_for_a_curve_and_for_marks(monkeypatch, sent):
    curve = LESSONS["s3vm", "batches"].steps[1].asks
    assert curve_in(curve, sent) is None
    assert curve_in(curve, [0.5] * 6) == (0.5,) * 6
    monkeypatch.setattr(links, "mount", lambda *_, **__: {"marks": sent})
    assert links.kept_marks() == {}


LECTURE = "auc/unlabeled\nWho knows? | I do | I do not\nHow many? | 0 to 10\ns3vm/gap"


@pytest.mark.ci
def test_a_lecture_leads_from_its_lesson_to_its_questions_and_to_the_page_of_another_setting(rooms):
    app = until_explained(open_lesson("unlabeled:4:answer", present="1", lecture=LECTURE))
    for question in ("Who knows?", "How many?"):
        assert app.button(key="lesson-following").label == "Next question"
        app.button(key="lesson-following").click().run()
        assert f"## {question}" in shown(words(app))
        assert bench_of(app).group.room is not None
    assert app.button(key="lesson-following").label == "Next lesson"
    checked(app.button(key="lesson-following").click().run())
    there = bench_of(app, "s3vm")
    assert (there.lesson.place.lesson.name, there.group.part) == ("gap", None)
    assert there.group.room is bench_of(app).group.room
    assert there.group.lecture.parts == tuple(LECTURE.splitlines())


def test_a_part_of_a_lecture_is_on_another_page_or_says_why_it_is_left_out_and_a_press_leads_to_a_runs_end():
    parts = ("auc/unlabeled", "s3vm/gap", "Where? | map", "auc/gone")
    group = SimpleNamespace(
        lecture=SimpleNamespace(parts=parts), lecture_text="week", part=0, asks=1, going=None, refused=""
    )
    live = SimpleNamespace(run=SimpleNamespace(n_iter=77))
    link, lesson = SimpleNamespace(notices=[], going_to=0, plays_on=True), SimpleNamespace(place=None)
    bench = SimpleNamespace(group=group, link=link, lesson=lesson, live=live, shape=(9, 3))
    no_map, no_lesson = "The data of this step have no map. Ask for answers or for a number.", "no single lesson"
    for number, part, notice in ((2, 2, no_map), (3, 3, no_lesson), (1, None, "")):
        go_to_part(SETTINGS["auc"], bench, number)
        assert (group.part, group.asks) == (part, None)
        assert [one.startswith(notice) for one in link.notices] == [True] * bool(notice)  # until the next press
    setting, given = group.going
    assert (setting, given["lesson"], given["lecture"], given["present"]) == ("s3vm", "gap", "week", "1")
    to_the_end(bench)
    assert (link.going_to, link.plays_on) == (77, False)


def test_a_lecture_is_made_of_lines_beside_ones_own_and_says_why_one_cannot_be_held(tmp_path, monkeypatch):
    monkeypatch.setenv(lessons.FOLDER, str(tmp_path))
    (tmp_path / "broken.toml").write_text("title =")
    (tmp_path / "week.toml").write_text('title = "Week 3"\nparts = ["s3vm/gap", "Why? | map"]')
    app = open_page("lessons")
    assert "### Week 3" in words(app)
    (fault,) = said(app)
    assert fault.startswith(f"A file is left out. {tmp_path.name}/broken.toml is not valid TOML")
    for part in ("auc/unlabeled", "s3vm/gap"):
        app.selectbox(key="lecture-add").set_value(part).run()
    assert app.text_area(key="lecture-parts").value == "auc/unlabeled\ns3vm/gap"
    queries = [link.proto.query_string for link in app.get("page_link") if "lecture" in link.proto.query_string]
    assert [parse_qs(query)["lecture"] for query in queries] == [["week"], ["auc/unlabeled\ns3vm/gap"]]
    app.text_area(key="lecture-parts").set_value("auc/unlabeled\nWho? | I").run()
    assert "Type 2 to 6 answers. There are 1." in said(app)
    app = open_lesson("unlabeled", present="1", lecture="auc/unlabeled\nno-lesson")
    (notice,) = (one for one in said(app) if "lecture" in one)
    assert notice.startswith("In the link, lecture cannot be followed: no single lesson has the name 'no-lesson'")


def test_a_lesson_leads_to_the_next_of_its_order_also_if_its_file_is_saved_or_deleted_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setenv(lessons.FOLDER, str(tmp_path))
    monkeypatch.setattr(lessons, "SECONDS_BETWEEN_LOOKS", 1e-9)
    file = tmp_path / "mine.toml"
    for own in (file, tmp_path / "other.toml"):
        own.write_text(OWN_LESSON)
    app = open_lesson("mine:2:answer")
    file.write_text(OWN_LESSON.replace("My lesson", "My other lesson"))
    assert "lesson-following" in moves(until_explained(app))
    file.unlink()
    app = checked(app.run().button(key="lesson-following").click().run())
    assert place_of(app).lesson.name == "other"


def test_a_run_says_done_with_its_button_and_a_late_press_on_pause_begins_nothing(monkeypatch):
    monkeypatch.setattr("pages.workbench.page.advance", lambda _bench, _until: None)
    app = open_lesson("unlabeled:1:answer")
    live, number = bench_of(app).live, bench_of(app).begun.number
    live.run.advance()  # the labels alone are still to be learned from
    app.run()
    assert (status(app).endswith("running"), app.button(key="play").label) == (True, "Pause")
    live.advance()
    live.go_to(live.run.n_iter, 60.0)
    app.button(key="play").click().run()  # drawn before the end
    assert bench_of(app).begun.number == number
    assert (status(app).endswith("done"), app.button(key="play").label) == (True, "Again")


# --- what is taken away: notes to print, links with and without the answer, a frame, and a lesson as a file


def test_notes_to_print_have_every_question_and_say_why_without_markup(phones):
    for (setting, name), lesson in LESSONS.items():
        page = phones.get("/notes", of=f"{setting}/{name}").text
        main = fromstring(re.search(r"<main>.*</main>", page, re.DOTALL)[0].replace("&nbsp;", " "))
        assert not {"script", "img", "link", "iframe"} & {element.tag for element in main.iter()}
        said = "".join(main.itertext())
        for step in lesson.steps:
            assert step.notes.endswith((".", "?"))
            assert plain_text(step.task)[:30] in said
            assert plain_text(step.explanation)[:30] in said
            assert "**" not in marked(step.text) + marked(step.explanation)
    assert marked("**a** <b> *c d* f*|² and |f*|² C* says") == "<b>a</b> &lt;b&gt; <em>c d</em> f*|² and |f*|² C* says"


@each("place, lesson", LESSONS.items())
def test_every_step_has_controls_and_a_chart_an_exercise_that_hides_its_answer_and_a_link_that_shows_it(place, lesson):
    setting = SETTINGS[place[0]]
    for number, step in enumerate(lesson.steps):
        dataset = lesson.values_at(number).get("data", dataset_choice(setting).default)
        assert set(step.controls) <= {EDITS, *controls_for(setting, dataset)}
        assert (step.chart == "spectrum") <= (place[0] == "multiclass")
        assert step.goal is None or step.controls, "a goal is reached by a control"
        given, solved = exercise(setting, lesson, number), answer(setting, lesson, number)
        hidden = set(given["hide"].split(","))
        assert "answer" in hidden <= set(PARTS)
        assert ({"limits", "curves", "error", "tabs"} <= hidden) == (step.asks is not None)
        asked, told = place_in(setting, given["lesson"]), place_in(setting, solved["lesson"])
        assert asked.waits == (step.asks is not None)
        assert not told.waits
        assert told.text == solved["lesson"]
        assert told.values == lesson.solved_at(number)


@each("theme", THEMES)
@each("value", ['a"b', "a'b", "<script>", "a&b=c", "Two moons", "½ #?"])
def test_a_frames_address_is_one_attribute_whatever_is_in_it(theme, value):
    given = in_frame(frame("https://a.b/auc", {"data": value}, theme=THEMES[theme]))
    options = {"embed_options": [THEMES[theme]]} if THEMES[theme] else {}
    assert given == {"data": [value], "embed": ["true"]} | options


def in_frame(text):
    """Return what the address of a frame says, of which each value is one attribute."""
    element = fromstring(text)
    assert (element.tag, set(element.attrib)) == ("iframe", {"src", "title", "width", "height"})
    return parse_qs(urlsplit(element.attrib["src"]).query)


@pytest.mark.ci
def test_a_lesson_as_a_file_keeps_its_task():
    answered = static_lesson._task(_chosen("how-many-labels", 1))
    assert (answered["kind"], answered["options"][answered["result"]["right"]]) == ("pick", "fewer than 70 %")
    goal = static_lesson._task(_chosen("step-size", 3))
    assert (goal["kind"], set(goal["reached"])) == ("goal", {True, False})


def test_the_command_writes_a_file_with_the_numbers_of_the_app_that_asks_no_server(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(static_lesson, "MOST_VALUES", 2)
    monkeypatch.setattr(static_lesson, "N_SURFACES", 3)
    assert main(["export-lesson", "auc/step-size", "--out", str(tmp_path / "new")]) == 0
    file = tmp_path / "new" / "step-size.html"
    assert capsys.readouterr().out == f"{file}\n"
    page, chosen = file.read_text(encoding="utf-8"), _chosen("step-size", None)
    recorded = json.loads(re.search(r'id="recorded">(.*?)</script>', page, re.DOTALL)[1])["runs"]
    assert [own["words"] for own in recorded] == [static_lesson.shown(value) for value in chosen.values]
    run = Run(chosen.spec(chosen.values[0]))
    run.advance()
    assert recorded[0]["y"][-1] == pytest.approx(run.history.last()["objective"], rel=1e-5)
    assert np.shape(recorded[0]["surfaces"][-1]["trace"]["z"]) == (static_lesson.GRID,) * 2
    assert "Ranking (QSG-S2AUC), recorded with DSG Lab" in page  # a method has one name everywhere
    assert "://" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    if NODE:  # the modules were one script that no browser could read
        (script := tmp_path / "script.mjs").write_text(
            page.rpartition('<script type="module">')[2].partition("</script>")[0]
        )
        assert subprocess.run([NODE, "--check", script], capture_output=True, text=True, check=False).stderr == ""


def test_a_lesson_that_is_not_there_is_refused_and_a_file_that_is_none_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv(lessons.FOLDER, str(tmp_path))
    begun = 'values = { edits = "empty sheet" }\ncontrols = ["n_labeled"]'
    (tmp_path / "sheet.toml").write_text(OWN_LESSON.replace("values = { n_iter = 20 }", begun))
    mine = tmp_path / "step-size.html"
    mine.write_text("mine", encoding="utf-8")
    for name, step, why in (
        ("step-size", None, "is no lesson of DSG Lab"),
        ("none", None, "no single lesson has the name 'none': name one of .*auc/step-size"),
        ("step-size", 9, "--step must be from 1 to 3, got 9"),
        ("sheet", 1, "no value of n_labeled makes a run in this step of 'sheet': name another one with --step"),
    ):
        with pytest.raises(DSGError, match=why):
            write_lesson(name, tmp_path, step)
    assert mine.read_text(encoding="utf-8") == "mine"


def test_a_run_that_misses_its_goal_by_little_is_not_said_to_have_reached_it():
    assert reached(Claim("choice_rank", low=0.5), 0.495) == "beat 49.5 % of them"
    assert reached(Claim("score", low=0.98), 0.97981) == "reached 0.9798"
    assert reached(Claim("score", low=0.98), 0.9123) == "reached 0.912"
    assert reached(Claim("objective", high=0.4), math.inf) == "reached inf"

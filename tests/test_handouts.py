"""Take-away parts of a lesson: pages to print, links with and without the answer, a frame, and a lesson as a file."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from cases import each
from opened_pages import bench_of, checked, open_auc, open_page, run_of
from test_stage import words
from test_theory import finished

from dsgcore.__main__ import main
from dsgcore.core.errors import DSGError
from dsgcore.experiments import SETTINGS, Run
from dsgcore.lessons import lessons_of
from dsgcore.rooms.questions import plain_text
from pages.handouts import static_lesson
from pages.handouts.notes import marked
from pages.handouts.static_lesson import _chosen, write_lesson
from pages.session.lesson_place import place_in
from pages.stage.links import answer, exercise, named
from pages.workbench.head import PARTS
from pages.workbench.tabs import THEMES, frame

EVERY_LESSON = [(setting, lesson) for setting in SETTINGS.values() for lesson in lessons_of(setting)]
IDS = [f"{setting.name}-{lesson.name}" for setting, lesson in EVERY_LESSON]
AT_ONCE = {"view.speed": "instant"}
EMPTY = {"meta", "path", "polyline"}


class Reader(HTMLParser):
    """A page as a browser reads it: its tags, attributes and text, and whether each that opens is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_notes_to_print_have_every_question_and_say_why(phones):
    for setting, lesson in EVERY_LESSON:
        page = phones.get("/notes", of=f"{setting.name}/{lesson.name}").text
        reader = Reader(re.search(r"<main>.*</main>", page, re.DOTALL)[0])
        assert reader.open == []
        assert not {"script", "img", "link", "iframe"} & {tag for tag, _ in reader.tags}
        said = "".join(reader.words).replace("\N{NO-BREAK SPACE}", " ")
        for step in lesson.steps:
            assert plain_text(step.task)[:30] in said
            assert plain_text(step.explanation)[:30] in said


def test_texts_of_lessons_are_bold_and_stressed_as_on_the_page_and_hold_no_markup():
    assert marked("**a** <b> *c d* f*|² and |f*|² C* says") == "<b>a</b> &lt;b&gt; <em>c d</em> f*|² and |f*|² C* says"
    for _, lesson in EVERY_LESSON:
        for step in lesson.steps:
            assert "**" not in marked(step.text) + marked(step.explanation)


@each("setting, lesson", EVERY_LESSON)
def test_every_step_has_an_exercise_that_hides_its_answer_and_a_link_that_shows_it(setting, lesson):
    for number, step in enumerate(lesson.steps):
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
    ((tag, attributes),) = Reader(frame("https://a.b/auc", {"data": value}, theme=THEMES[theme])).tags
    assert tag == "iframe"
    assert set(attributes) == {"src", "title", "width", "height"}
    given = parse_qs(urlsplit(attributes["src"]).query)
    assert given["data"] == [value]
    assert given["embed"] == ["true"]
    assert given.get("embed_options") == ([THEMES[theme]] if THEMES[theme] else None)


def test_an_exercise_keeps_its_answer_and_the_guess_is_in_its_link():
    app = open_auc(**exercise(*EVERY_LESSON[IDS.index("auc-unlabeled")], 0) | AT_ONCE)
    app.radio[0].set_value("about the same").run()
    app.button(key="lesson-run").click().run()
    finished(app)
    said = words(app)
    assert "Your guess is saved." in said
    assert "leans to the side" not in said
    assert "The run gave" not in said
    assert "lesson-next" not in [button.key for button in app.button]
    assert bench_of(app).lesson.place.text == "unlabeled:1:1"


@pytest.mark.ci
def test_an_answers_link_shows_it_and_a_goals_link_what_reaches_it():
    app = open_auc(**answer(*EVERY_LESSON[IDS.index("auc-unlabeled")], 0) | AT_ONCE)
    finished(app)
    assert "**Answer:** *higher: unlabeled points help*" in words(app)
    app = open_auc(**answer(*EVERY_LESSON[IDS.index("auc-step-size")], 2) | AT_ONCE)
    finished(app)
    assert "Goal reached" in words(app)
    assert run_of(app).spec.solver.step_size is None


def test_the_page_names_what_can_be_printed_and_a_link_to_no_lesson_says_so():
    app = checked(open_page("take_away", of="<b>nothing"))
    assert any("of must name a lesson" in warning.value for warning in app.warning)
    app.selectbox(key="of").select(named(*EVERY_LESSON[IDS.index("ordinal-width")])).run()
    assert "ordinal?" in " ".join(unescape(code.value) for code in app.code)
    (notes,) = [link.proto.url for link in app.get("link_button")]
    assert notes.rpartition("/")[2] == "notes?of=ordinal%2Fwidth"


# --- lessons as files


def recorded(file):
    found = re.search(r'id="recorded">(.*?)</script>', file.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


@pytest.mark.ci
def test_a_lesson_as_a_file_keeps_its_task():
    answered = static_lesson._task(_chosen("how-many-labels", 1))
    assert (answered["kind"], answered["options"][answered["result"]["right"]]) == ("pick", "fewer than 70 %")
    goal = static_lesson._task(_chosen("step-size", 3))
    assert (goal["kind"], set(goal["reached"])) == ("goal", {True, False})


def test_the_command_writes_a_file_with_the_numbers_of_the_app(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(static_lesson, "MOST_VALUES", 2)
    monkeypatch.setattr(static_lesson, "N_SURFACES", 3)
    assert main(["export-lesson", "auc/step-size", "--out", str(tmp_path / "new")]) == 0
    file = tmp_path / "new" / "step-size.html"
    assert capsys.readouterr().out == f"{file}\n"
    said, chosen = recorded(file), _chosen("step-size", None)
    assert [own["words"] for own in said["runs"]] == [static_lesson.shown(value) for value in chosen.values]
    run = Run(chosen.spec(chosen.values[0]))
    run.advance()
    assert said["runs"][0]["y"][-1] == pytest.approx(run.history.last()["objective"], rel=1e-5)
    assert np.shape(said["runs"][0]["surfaces"][-1]["trace"]["z"]) == (static_lesson.GRID,) * 2
    assert "://" not in re.sub(r"<script>.*?</script>", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_a_file_that_is_no_lesson_is_not_replaced(tmp_path):
    (tmp_path / "step-size.html").write_text("mine", encoding="utf-8")
    with pytest.raises(DSGError, match="is no lesson of DSG Lab"):
        write_lesson("step-size", tmp_path)
    assert (tmp_path / "step-size.html").read_text(encoding="utf-8") == "mine"


def test_a_name_or_a_step_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DSGError, match=r"no single lesson has the name 'none': name one of .*auc/step-size"):
        write_lesson("none", tmp_path)
    with pytest.raises(DSGError, match="--step must be from 1 to 3, got 9"):
        write_lesson("step-size", tmp_path, 9)

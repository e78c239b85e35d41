"""Every lesson shows what it says: with the seed that a link opens with, on two of three seeds, and on nine of ten.

A setting's lessons share runs: they are one test, so that none is made twice. A run is made with what some claim reads of it
alone: without the twin where nothing compares with it, and without the exact kernel where nothing asks for its error.
"""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cases import each, tiers
from hypothesis import given
from hypothesis import strategies as st
from live_page import figures, head
from opened_pages import checked, open_page, run_of
from small_specs import OWN_LESSON as OWN

from dsgcore import lessons
from dsgcore.__main__ import main
from dsgcore.experiments import SETTINGS, Spec, load_split
from dsgcore.experiments.data_of import with_choice
from dsgcore.experiments.verdict import choice_measures, chosen_rows, known_choices, random_choices
from dsgcore.lessons import FOLDER, lessons_of, library
from dsgcore.settings import Curve, Estimate, profile_of
from dsgcore.settings.lessons import HERE, NAMED, LessonError
from pages.session.lesson_check import Runs, findings, read_by


def all_claims(name):
    """All that the lessons of a setting say, as pairs of the controls' values and a measure."""
    for lesson in profile_of(SETTINGS[name]).lessons:
        yield from ((lesson.values, claim.measure) for claim in (*lesson.claims, NAMED["better"]))
    for lesson in lessons_of(name):
        yield from read_by(lesson)


@cache
def runs_of(name):
    return Runs(SETTINGS[name], all_claims(name))


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        *tiers([(name, 1) for name in SETTINGS], 3, len(SETTINGS)),
        *(pytest.param(name, 10, marks=pytest.mark.weekly) for name in SETTINGS),
    ],
)
def test_every_claim_of_a_settings_lessons_holds(name, seeds):
    runs, wrong = runs_of(name), []
    for lesson in profile_of(SETTINGS[name]).lessons:
        assert lesson.claims
        for claim in lesson.claims:
            wrong.append((lesson.name, runs.often(0, str(claim), lesson.values, seeds, claim.holds)))
        if lesson.name != "works":  # it is not about unlabeled points
            wrong.append(
                (lesson.name, runs.often(0, "not better", lesson.values, seeds, lambda made: made.get("verdict") != 1))
            )
    for lesson in lessons_of(name):
        wrong += [(lesson.name, found) for found in findings(runs, lesson, seeds)]
    assert not [f"{lesson}, {found}" for lesson, found in wrong if not found.holds]


# --- as they are written: a mistake gets one sentence that names the place


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.floats(0, 1))
def test_a_guess_anywhere_on_a_scale_is_read_again_from_its_text(low, width, share):
    ends = (low, low + width, 0.1)
    guess = min(low + share * width, ends[1])
    number, curve = Estimate("?", "it", *ends, "score"), Curve("?", "it", *ends, "score")
    assert number.read(number.say(guess)) == pytest.approx(guess, rel=1e-5)
    assert curve.read(curve.say([guess] * 6)) == pytest.approx([guess] * 6, rel=1e-12, abs=width / 100)


@each("high, guess, text", [(1.5, 0.1234, "0.12"), (2000.0, 1234.5, "1230"), (0.01, 0.001234, "0.0012")])
def test_a_drawn_curve_is_said_to_a_hundredth_of_its_scale(high, guess, text):
    assert Curve("?", "it", 0.0, high, 0.1, "score").say([guess] * 6) == "~".join([text] * 6)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder whose files the app reads at each look."""
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr(lessons, "SECONDS_BETWEEN_LOOKS", 1e-9)
    return tmp_path


def test_the_projects_own_files_have_no_mistake():
    assert library().faults == []
    for name in SETTINGS:
        for lesson in lessons_of(name):
            lessons.check_lesson(lesson, HERE / name / f"{lesson.name}.toml")


def test_a_saved_file_is_read_again_and_a_broken_one_is_left_out_with_its_message(own):
    file = own / "mine.toml"
    file.write_text(OWN)
    (own / "term").mkdir()
    (own / "term" / "week.toml").write_text('title = "Week 1"\nparts = ["auc/mine", "Who knows? | I do | I do not"]')
    assert (lessons.lesson_named("mine").title, library().lectures["week"].title) == ("My lesson", "Week 1")
    file.write_text(OWN.replace("My lesson", "My other lesson"))
    assert lessons.lesson_named("auc/mine").title == "My other lesson"
    file.write_text(OWN.replace('title = "My lesson"', "title ="))
    assert [fault.startswith(f"{own.name}/mine.toml is not valid TOML") for fault in library().faults] == [True]
    with pytest.raises(LessonError, match=r"/mine.toml is not valid TOML"):
        lessons.lesson_named("mine")
    file.unlink()
    assert library().faults == []
    with pytest.raises(LessonError, match="no single lesson has the name 'mine': name one of similar_unlabeled/"):
        lessons.lesson_named("mine")


@each("name", ["a:b", "a|b", "a/b"])
def test_the_name_of_a_lessons_file_has_no_sign_that_a_link_or_a_lecture_needs(name):
    lesson = replace(lessons.lesson_named("auc/unlabeled"), name=name)
    with pytest.raises(LessonError, match="must have no colon and no bar"):
        lessons.check_lesson(lesson, HERE / "auc" / "file.toml")


def test_the_command_finds_a_lectures_lessons_beside_its_file_and_names_the_mistake_of_one(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv(FOLDER, "")
    (tmp_path / "mine.toml").write_text(OWN)
    (tmp_path / "week.toml").write_text('title = "Week 1"\nparts = ["mine"]')
    assert main(["check-lesson", str(tmp_path / "week.toml")]) == 0
    (tmp_path / "mine.toml").write_text("title =")
    monkeypatch.setattr(lessons, "SECONDS_BETWEEN_LOOKS", 1e-9)
    capsys.readouterr()
    assert main(["check-lesson", str(tmp_path / "week.toml"), "--lessons", str(tmp_path), "--json", "-"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith(f"dsg-lab: {tmp_path.name}/mine.toml is not valid TOML")


def test_the_command_counts_on_how_many_seeds_each_statement_of_a_lesson_holds(own, capsys):
    (own / "mine.toml").write_text(OWN)
    assert main(["check-lesson", str(own / "mine.toml"), "--seeds", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("mine.toml: all holds")
    (own / "mine.toml").write_text(OWN.replace("n_labeled = 20", "n_labeled = 15"))
    assert main(["check-lesson", str(own / "mine.toml"), "--seeds", "3", "--json", "-"]) == 1
    wrong = [one for one in json.loads(capsys.readouterr().out)["findings"] if not one["holds"]]
    assert [(one["step"], one["words"], one["held"]) for one in wrong] == [(2, "the solution reaches the goal", 0)]
    assert main(["check-lesson", str(own / "mine.toml"), "--seeds", "0"]) == 2


ASKS, CHARTS = "one question, pick, estimate, curve", "the map and one chart (score, objective, error, parts, spectrum)"


# --- random choices of labels, beside which a person's choice is seen, and the edits that lessons make for any data


SMALL = {"setting": "auc", "data": {"name": "xor", "n": 120, "n_labeled": 5}}
SMALL["solver"] = {"n_iter": 8, "n_features": 16, "batch_size": 4}


def test_choices_are_the_same_for_edited_data_and_each_is_a_run_of_its_own_and_beats_those_below_it():
    spec, other = Spec.from_dict(SMALL), Spec.from_dict(SMALL | {"seed": 1})
    first = random_choices(spec, load_split(spec), n=6)
    edited = with_choice(spec, "centres")
    assert random_choices(edited, load_split(edited), n=6) is first
    assert len(set(first.tolist())) > 1
    assert (np.diff(first) >= 0).all()
    assert known_choices(spec) is None  # these are too few
    assert random_choices(other, load_split(other), n=6) is not first
    choices = np.array([0.1, 0.2, 0.2, 0.4])  # a score beats half of its equals
    assert [choice_measures(choices, score)["choice_rank"] for score in (0.0, 0.2, 0.3, 0.5)] == [0.0, 0.5, 0.75, 1.0]


@each("counts, n", [((80, 80), 5), ((50, 50, 50, 50), 3), ((4000, 1), 2), ((1, 1, 9000), 2), ((2, 2), 4)])
def test_a_random_choice_ends_for_few_labels_and_rare_classes(counts, n):
    y = np.append(np.repeat(np.arange(len(counts)), counts), -1)
    for seed in range(5):
        rows = chosen_rows(y, n, np.random.default_rng(seed))
        assert len(set(rows.tolist())) == n
        assert len(set(y[rows].tolist()) - {-1}) == min(n, len(counts))


def test_a_step_begins_with_its_edits_and_again_with_another_seed():
    app = open_page("auc", lesson="five-labels:2")
    points = figures(checked(app))["hand"]
    assert points["count"] == "0 of 5 labels"
    assert points["said"] == ""
    assert any("The run starts when each class has a labeled point" in one.value for one in app.markdown)
    assert not points["canPaint"]
    app.button(key="dice").click().run()
    assert figures(checked(app))["hand"]["count"] == "0 of 5 labels"
    app.button(key="lesson-show").click().run()
    assert len(run_of(checked(app)).split.labeled) == 5
    assert run_of(app).spec.data.edits
    assert "hand" in [one["key"] for one in head(app)["figures"]]

"""Every lesson shows what it says: with the seed that a link opens with, on two of three seeds, and on nine of ten.

A setting's lessons share runs: they are one test, so that none is made twice. A run is made with what some claim reads of it
alone: without the twin where nothing compares with it, and without the exact kernel where nothing asks for its error.
"""

import json
import re
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
from dsgcore.data.edits import CHOICES
from dsgcore.experiments import SETTINGS, Run, Spec, load_split
from dsgcore.experiments.data_of import with_choice
from dsgcore.experiments.verdict import choice_measures, chosen_rows, known_choices, random_choices
from dsgcore.lessons import FOLDER, lessons_of, library
from dsgcore.settings import Claim, Curve, Estimate, Goal, Option, Pick, profile_of
from dsgcore.settings.lessons import HERE, NAMED, LessonError, read_lesson
from pages.session.lesson_check import Runs, check_file, findings, read_by


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


TEXT = '''
title = "What is there?"
learned = "Something."
minutes = 2
order = 10

[[steps]]
values = { data = "digits", n_labeled = 20, lam = 0.01, is_pooled = true, step_size = "auto" }
controls = ["data", "n_labeled"]
text = """\\
    Long lines are \\
    wrapped."""
pick.text = "What will be?"
pick.options = [
    { words = "this", claims = ["better"], why = "Not quite." },
    { words = "that", is_expected = true, claims = [{ measure = "score", low = 0, high = 0.5 }, "diverges"] },
]
explanation = "That."
claims = [{ measure = "score_test@0.1", high = 1 }]
notes = "Ask."

[[steps]]
text = "How many?"
estimate.text = "Guess."
estimate.measure = "near"
estimate.words = "the part"
estimate.low = 0
estimate.high = 1.0
estimate.near = 0.1
explanation = "So many."

[[steps]]
text = "How will it go?"
curve.text = "Draw."
curve.column = "objective"
curve.words = "objective"
curve.low = -1
curve.high = 1.0
curve.near = 0.1
explanation = "So."

[[steps]]
controls = ["step_size"]
show = ["map"]
text = "And now?"
goal.text = "Reach it."
goal.claims = [{ measure = "n_features", high = 64 }]
goal.solution = { step_size = "auto" }
explanation = "Reached."
'''


def refusal(folder, text):
    with pytest.raises(LessonError) as caught:
        read_lesson(write(folder, text))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def write(folder, text=TEXT):
    file = folder / "auc" / "what.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_all_that_a_file_can_say_is_read(tmp_path):
    read = read_lesson(write(tmp_path))
    first, number, curve, last = read.steps
    assert (read.name, read.setting, read.title, read.learned) == ("what", "auc", "What is there?", "Something.")
    assert (read.minutes, read.order) == (2, 10)
    assert (first.text, first.explanation, first.notes) == ("Long lines are wrapped.", "That.", "Ask.")
    assert first.values == {"data": "digits", "n_labeled": 20, "lam": 0.01, "is_pooled": True, "step_size": None}
    assert (first.controls, first.show, last.show) == (("data", "n_labeled"), ("map", "score"), ("map",))
    unlike, that = Option("this", (NAMED["better"],), why="Not quite."), (Claim("score", 0.0, 0.5), NAMED["diverges"])
    assert first.pick == Pick("What will be?", (unlike, Option("that", that, is_expected=True)))
    assert first.claims == (Claim("score_test@0.1", high=1.0),)
    assert number.asks == Estimate("Guess.", "the part", 0.0, 1.0, 0.1, "near")
    assert isinstance(number.asks.low, float)  # as sliders want it, though the file says 0
    assert curve.asks == Curve("Draw.", "objective", -1.0, 1.0, 0.1, "objective")
    assert last.goal == Goal("Reach it.", (Claim("n_features", high=64.0),), {"step_size": None})


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


@each(
    "found, written, sentence",
    [
        ('setting = "auc"', "", ", setting must be one of similar_unlabeled, auc"),
        ("n_iter = 20", "n_iters = 20", ", step 1, values: auc has no control 'n_iters' (did you mean 'n_iter'"),
        ("n_iter = 20", 'data = "my-set"', ", step 1, values: data must be one of "),
        ("n_iter = 20", "n_iter = 0", ", step 1, values: n_iter must be a whole number"),
        ('["n_labeled"]', '["labels"]', ", step 2, values: auc has no control 'labels' (did you mean "),
        ('"auc"', '"multiclass"\nsteps = []', " is not valid TOML"),
        ("goal.text", "other.text", ", step 2 has no field 'other'"),
        ('text = "Look."', 'text = "Look."\nshow = ["spectrum"]', ", step 1, show: auc has no spectrum"),
    ],
)
def test_a_lesson_of_ones_own_that_no_page_can_show_says_why(own, found, written, sentence):
    (own / "mine.toml").write_text(OWN.replace(found, written, 1))
    (fault,) = library().faults
    assert fault.startswith(f"{own.name}/mine.toml")
    assert sentence in fault


@each("name", ["a:b", "a|b", "a/b"])
def test_the_name_of_a_lessons_file_has_no_sign_that_a_link_or_a_lecture_needs(name):
    lesson = replace(lessons.lesson_named("auc/unlabeled"), name=name)
    with pytest.raises(LessonError, match="must have no colon and no bar"):
        lessons.check_lesson(lesson, HERE / "auc" / "file.toml")


@each(
    "written, sentence",
    [
        ('"Who? | I | you"', "must begin with a lesson, such as auc/unlabeled, got 'Who"),
        ('"unlabeled", "gap", "gap"', "can have a lesson once, got 'gap' 2 times"),
        ('"unlabeled", "no-lesson"', "no single lesson has the name 'no-lesson'"),
        ('"unlabeled", "no-lesson"', "Lessons of your own are found with --lessons FOLDER"),
        ('"unlabled"', "no single lesson has the name 'unlabled' (did you mean 'auc/unlabeled'"),
        ('"unlabeled", "Who? | I"', "Type 2 to 6 answers"),
        ('"unlabeled", "How many? | 5 to 1"', "The smallest number must be below"),
    ],
)
def test_a_lecture_that_cannot_be_held_says_why(tmp_path, written, sentence):
    (tmp_path / "week.toml").write_text(f'title = "Week"\nparts = [{written}]')
    with pytest.raises(LessonError, match=re.escape(sentence)):
        list(check_file(tmp_path / "week.toml"))


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


FIELDS = "text, explanation, values, controls, show, pick, estimate, curve, goal, claims, notes"
PICK = 'pick = { text = "?", options = [{ words = "a", is_expected = true, claims = [] }] }\n'
# What stands in the file => what a person wrote there => the sentence.
WRITTEN = """
minutes = => minuets = =>  has no field 'minuets' (did you mean 'minutes'?); it has learned, minutes, order, setting, steps, title
title = "What is there?" =>  =>  must have title, got setting, learned, minutes, order, steps
minutes = 2 => minutes = 2.5 => , minutes must be a whole number between 0 and 2147483647, got 2.5
notes = "Ask." => notes = "" => , step 1, notes must be text that is not empty, got ''
n_labeled = 20 => n_labeled = [20] => , step 1, values, n_labeled must be a text, a number, true, false or 'auto', got [20]
"score", low = 0 => "score", from = 0 => , step 1, pick, option 2, claim 1 has no field 'from'; it has high, low, measure
is_expected = true,  =>  => , step 1, pick must have one option with is_expected = true, got 0 of 2
"this", => "this", is_expected = true, => , step 1, pick must have one option with is_expected = true, got 2 of 2
text = "How many?" =>  => , step 2 must have text, got estimate, explanation
words = "that", => words = "this", => , step 1, pick must have another text in each option, got this, this
estimate.low = 0 => estimate.low = 1 => , step 2, estimate must have low below high, got 1 and 1
low = -1 => low = 1 => , step 3, curve must have low below high, got 1 and 1
low = -1 => low = nan => , step 3, curve, low must be a number, got nan
score_test@0.1 => score_test@1.5 => , step 1, claim 1 must have a share from 0 to 1 after the @ of its measure, got 'score_test@1.5'
"near" => "near@x" => , step 2, estimate must have a share from 0 to 1 after the @ of its measure, got 'near@x'
column = "objective" => column = "objective@1" => , step 3, curve must have a column without a share, got 'objective@1'
["step_size"] => "step_size" => , step 4, controls must be a list of at most 2, got 'step_size'
["step_size"] => [1] => , step 4, control 1 must be text that is not empty, got 1
["map"] => ["table"] => , step 4, show 1 must be one of map, score, objective, error, parts, spectrum, got 'table'
= { step_size = "auto" } => = "auto" => , step 4, goal, solution must be an object with values of controls, got 'auto'
"n_features", high = 64 => "n_features" => , step 4, goal, claim 1 must have low, high or both, got neither
"""
ASKS, CHARTS = "one question, pick, estimate, curve", "the map and one chart (score, objective, error, parts, spectrum)"
MANY = ", ".join(map(str, range(40)))
CLAIM = "an object with measure, low, high, or one of better, tie, worse, diverges"
MISTAKES = [
    *(row.split(" => ") for row in WRITTEN.strip().split("\n")),
    (TEXT[TEXT.index("[[steps]]") :], "steps = [1]", f", step 1 must be an object with {FIELDS}, got 1"),
    ("options = [", f"options = [{MANY}, ", f", step 1, pick, options must be a list of at most 8, got [{MANY[:79]} …"),
    ('["better"]', '["best"]', f", step 1, pick, option 1, claim 1 must be {CLAIM}, got 'best'"),
    ('curve.text = "', f'{PICK}curve.text = "', f", step 3 may ask {ASKS}, got pick and curve"),
    ('["map"]', '["score", "error"]', f", step 4 may show {CHARTS}, got score, error"),
    ('["map"]', '["map", "map"]', f", step 4 may show {CHARTS}, got map, map"),
]


@each("found, written, sentence", MISTAKES)
def test_a_mistake_gets_one_sentence_that_names_the_file_and_the_place(found, written, sentence, tmp_path):
    assert found in TEXT
    assert refusal(tmp_path, TEXT.replace(found, written, 1)) == f"auc/what.toml{sentence}"


MEASURED = re.compile(r"\d+\.\d+|\d+\N{NO-BREAK SPACE}?\s?%")
# Numbers that follow from the step's own values by arithmetic, whatever the seed.
DERIVED = {
    ("equal-shares", 2): {"0.4", "70 %", "0.1", "55 %", "50 %"},
    ("memory", 1): {"7 %"},  # 2 · 64 · 40 / 280²
    ("decaying-step", 2): {"0.02"},
    ("step-size", 1): {"0.001"},
}


@each("lesson", [lesson for setting in SETTINGS.values() for lesson in lessons_of(setting)])
def test_an_explanation_types_no_number_that_another_seed_may_contradict(lesson):
    for number, step in enumerate(lesson.steps, start=1):
        typed = set(MEASURED.findall(step.explanation)) - DERIVED.get((lesson.name, number), set())
        assert not typed, (number, step.explanation)


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


@each("choice", [name for name in CHOICES if name not in ("no labels", "empty sheet")])
def test_the_edits_of_a_lesson_suit_the_data_of_any_seed(choice):
    for seed in range(3):
        spec = with_choice(Spec.from_dict(SMALL | {"seed": seed}), choice)
        run = Run(spec)
        run.advance(1)
        if choice in ("centres", "one wrong"):
            labeled = run.split.labeled
            assert len(labeled) == 5
            wrong = run.split.y_train[labeled] != run.split.y_hidden[labeled]
            assert wrong.sum() == (choice == "one wrong")


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

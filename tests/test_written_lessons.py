"""Lessons as they are written: each file is one of its setting's, and a mistake in it gets one sentence that names the place."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from cases import each

from dsgcore.experiments import SETTINGS
from dsgcore.settings import Claim, Curve, Estimate, Goal, GuidedLesson, LessonStep, Option, Pick, profile_of
from dsgcore.settings.guided.questions import BETTER, DIVERGES
from dsgcore.settings.guided.written import HERE, LessonError, lessons_of

ROOT = Path(__file__).parents[1]
FILES = sorted(HERE.rglob("*.toml"))
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
    { words = "this", claims = ["better"] },
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
LESSON = GuidedLesson(
    "what",
    "What is there?",
    "Something.",
    2,
    10,
    (
        LessonStep(
            "Long lines are wrapped.",
            "That.",
            {"data": "digits", "n_labeled": 20, "lam": 0.01, "is_pooled": True, "step_size": None},
            ("data", "n_labeled"),
            pick=Pick(
                "What will be?", (Option("this", (BETTER,)), Option("that", (Claim("score", 0.0, 0.5), DIVERGES), True))
            ),
            claims=(Claim("score_test@0.1", high=1.0),),
            notes="Ask.",
        ),
        LessonStep("How many?", "So many.", estimate=Estimate("Guess.", "the part", 0.0, 1.0, 0.1, "near")),
        LessonStep("How will it go?", "So.", curve=Curve("Draw.", "objective", -1.0, 1.0, 0.1, "objective")),
        LessonStep(
            "And now?",
            "Reached.",
            controls=("step_size",),
            show=("map",),
            goal=Goal("Reach it.", (Claim("n_features", high=64.0),), {"step_size": None}),
        ),
    ),
)


def write(folder, text=TEXT, name="what"):
    file = folder / "auc" / f"{name}.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")


def refusal(folder, text):
    write(folder, text)
    with pytest.raises(LessonError) as caught:
        lessons_of("auc", folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_setting_has_the_lessons_of_its_folder():
    for name, setting in SETTINGS.items():
        assert [file.stem for file in FILES if file.parent.name == name] == sorted(
            lesson.name for lesson in profile_of(setting).guided
        )


def test_all_that_a_file_can_say_is_read(tmp_path):
    write(tmp_path)
    assert lessons_of("auc", tmp_path) == (LESSON,)
    step = lessons_of("auc", tmp_path)[0].steps[1]
    assert isinstance(step.asks.low, float)  # as sliders want it, though the file says 0


def test_lessons_come_by_their_order_and_then_by_their_names(tmp_path):
    for name, order in [("c", 10), ("a", 20), ("b", 10), ("z", 5)]:
        write(tmp_path, TEXT.replace("order = 10", f"order = {order}"), name)
    assert [lesson.name for lesson in lessons_of("auc", tmp_path)] == ["z", "b", "c", "a"]


def test_a_setting_without_a_folder_has_no_lessons(tmp_path):
    assert lessons_of("auc", tmp_path) == ()


OPTION, EXPECTED = '"this", claims', "is_expected = true, "
MISTAKES = [
    ("minutes =", "minuets =", " has no field 'minuets'; it has learned, minutes, order, steps, title"),
    (
        '"score", low = 0',
        '"score", lower = 0',
        ", step 1, pick, option 2, claim 1 has no field 'lower'; it has high, low, measure",
    ),
    ('title = "What is there?"\n', "", " must have title, got learned, minutes, order, steps"),
    ('text = "How many?"\n', "", ", step 2 must have text, got estimate, explanation"),
    ('notes = "Ask."', 'notes = ""', ", step 1, notes must be text that is not empty, got ''"),
    ("minutes = 2", "minutes = 2.5", ", minutes must be a whole number between 0 and 2147483647, got 2.5"),
    ("low = -1", "low = nan", ", step 3, curve, low must be a number, got nan"),
    ('["step_size"]', '"step_size"', ", step 4, controls must be a list of at most 2, got 'step_size'"),
    (
        'show = ["map"]',
        'show = ["table"]',
        ", step 4, show 1 must be one of map, score, objective, error, parts, spectrum, got 'table'",
    ),
    (
        'show = ["map"]',
        'show = ["score", "error"]',
        ", step 4 may show the map and one chart (score, objective, error, parts, spectrum), got score, error",
    ),
    ('["step_size"]', "[1]", ", step 4, control 1 must be text that is not empty, got 1"),
    (
        "n_labeled = 20",
        "n_labeled = [20]",
        ", step 1, values, n_labeled must be a text, a number, true, false or 'auto', got [20]",
    ),
    (
        'goal.solution = { step_size = "auto" }',
        'goal.solution = "auto"',
        ", step 4, goal, solution must be an object with values of controls, got 'auto'",
    ),
    (
        TEXT[TEXT.index("[[steps]]") :],
        "steps = [1]",
        ", step 1 must be an object with text, explanation, values, controls, show, pick, estimate, curve, goal, claims, notes, "
        "got 1",
    ),
    (
        '["better"]',
        '["best"]',
        ", step 1, pick, option 1, claim 1 must be an object with measure, low, high, "
        "or one of better, tie, worse, diverges, got 'best'",
    ),
    ('"n_features", high = 64', '"n_features"', ", step 4, goal, claim 1 must have low, high or both, got neither"),
    (EXPECTED, "", ", step 1, pick must have one option with is_expected = true, got 0 of 2"),
    (OPTION, f'"this", {EXPECTED}claims', ", step 1, pick must have one option with is_expected = true, got 2 of 2"),
    (
        'curve.text = "Draw."',
        'pick = { text = "?", options = [{ words = "a", is_expected = true, claims = [] }] }\ncurve.text = "Draw."',
        ", step 3 may ask one question, pick, estimate, curve, got pick and curve",
    ),
]


@each("found, written, sentence", MISTAKES)
def test_a_mistake_gets_one_sentence_that_names_the_file_and_the_place(found, written, sentence, tmp_path):
    assert found in TEXT
    assert refusal(tmp_path, TEXT.replace(found, written, 1)) == f"auc/what.toml{sentence}"


def test_what_is_no_toml_gets_a_sentence_with_the_line(tmp_path):
    sentence = refusal(tmp_path, 'title = "What"\nlearned\n')
    assert sentence.startswith("auc/what.toml is not valid TOML: ")
    assert "line 2" in sentence
    (tmp_path / "auc" / "what.toml").write_bytes("title = “Größe”".encode("latin-1", "replace"))
    with pytest.raises(LessonError, match=r"auc/what\.toml is not text in UTF-8: save a lesson"):
        lessons_of("auc", tmp_path)


def test_what_diverges_is_a_claim_by_name_as_no_file_has_to_say_infinity():
    step = next(lesson for lesson in profile_of(SETTINGS["auc"]).guided if lesson.name == "step-size").steps[1]
    assert step.asks.options[step.asks.expected].claims == (Claim("growth", low=math.inf),)


MEASURED = re.compile(r"\d+\.\d+|\d+\N{NO-BREAK SPACE}?\s?%")
# Numbers that follow from the step's own values by arithmetic, whatever the seed.
DERIVED = {
    ("equal-shares", 2): {"0.4", "70 %", "0.1", "55 %", "50 %"},
    ("memory", 1): {"7 %"},  # 2 · 64 · 40 / 280²
    ("decaying-step", 2): {"0.02"},
    ("step-size", 1): {"0.001"},
}


@each("lesson", [lesson for setting in SETTINGS.values() for lesson in profile_of(setting).guided])
def test_an_explanation_types_no_number_that_another_seed_may_contradict(lesson):
    for number, step in enumerate(lesson.steps, start=1):
        typed = set(MEASURED.findall(step.explanation)) - DERIVED.get((lesson.name, number), set())
        assert not typed, (number, step.explanation)

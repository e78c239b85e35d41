"""Words in charts: each has one entry in the glossary, and its explanation is in the chart."""

from collections import Counter

from cases import each
from live_page import figure, figures
from opened_pages import checked, open_page
from pictures_of_terms import PICTURES

from dsgcore.experiments import SETTINGS
from dsgcore.glossary import TOPICS, meaning, term
from dsgcore.solver.parameters import SOLVER_PARAMETERS
from pages.charts.figures import ITERATION
from pages.pictures.kept import file_of

TERMS = [entry for topic in TOPICS for entry in topic.terms]
LIVE = ("chart-objective", "chart-score", "chart-error", "chart-spectrum")


@each("entry", TERMS)
def test_an_entry_has_a_sentence_for_a_student_and_an_equation_for_a_researcher(entry):
    assert entry.student.endswith(".")
    assert "$" not in entry.student, "shown in a legend, where no formula is set"
    assert entry.researcher.endswith((".", ".$"))
    assert entry.researcher.count("$") % 2 == 0


def test_a_word_has_one_entry_and_an_anchor_of_its_own():
    names = Counter(name.casefold() for entry in TERMS for name in (entry.name, *entry.drawn_as))
    assert [name for name, n in names.items() if n > 1] == []
    assert len({entry.anchor for entry in TERMS}) == len(TERMS)


@each(
    "word",
    ["Random features", "ridge", "mini-batch", "twin", "bound", "band", "step size", "bandwidth", "AUC", "prior"],
)
def test_the_words_one_would_look_up_are_there(word):
    assert meaning(word)


def test_a_words_sentence_is_that_of_its_control():
    (step,) = (parameter for parameter in SOLVER_PARAMETERS if parameter.name == "step_size")
    assert meaning("step size") == step.sentence


def test_a_name_that_is_no_term_has_no_meaning():
    assert term("malignant") is None
    assert meaning("malignant") == ""


@each("name", SETTINGS)
def test_every_title_axis_and_legend_of_the_live_run_explains_itself(name):
    app = open_page(name, at="5")
    assert not app.exception
    charts = {key: figure for key, figure in figures(app).items() if key in LIVE}
    of_theory = ("chart-terms", "chart-bound") if name != "multiclass" else ("chart-terms",)
    charts |= {key: figure(app, key) for key in of_theory}
    assert len(charts) >= 3
    for key, drawn in charts.items():
        title = drawn["layout"]["title"]["text"]
        along = drawn["layout"]["xaxis"]["title"]["text"] or ITERATION  # named once, below the last of the three
        assert term(title), title
        assert term(along), along
        assert along in drawn["layout"]["meta"]["help"]
        silent = [t.get("name") for t in drawn["data"] if t.get("showlegend", True) and not t.get("meta")]
        assert silent == [], key


def test_the_page_lists_every_entry_with_its_place():
    app = checked(open_page("glossary"))
    assert [heading.value for heading in app.subheader] == [entry.name for entry in TERMS]
    assert [heading.anchor for heading in app.subheader] == [entry.anchor for entry in TERMS]


def test_the_search_keeps_the_entries_with_all_of_its_words_and_is_part_of_the_link():
    app = open_page("glossary", find="KERNEL alike")
    assert app.text_input(key="find").value == "KERNEL alike"
    found = [heading.value for heading in app.subheader]
    assert "kernel" in found
    assert "AUC" not in found
    app.text_input(key="find").set_value("no such word").run()
    assert not app.subheader
    assert "No entry contains this text" in app.info[0].value


@each("word", ["seed", "curvature", "band", "η", "h", "f", "calibrated band", "measured"])
def test_the_search_finds_a_word_within_an_entry(word):
    app = open_page("glossary", find=word)
    assert app.subheader, word
    assert not app.info


def test_every_picture_of_a_term_is_there_and_says_what_it_shows():
    for name, (_, alt) in PICTURES.items():
        picture = file_of(f"term-{term(name).anchor}").read_text(encoding="utf-8")
        assert f'aria-label="{alt}"' in picture
        assert "currentColor" in picture or name in ("unlabeled", "random feature")


def test_the_glossary_shows_the_reference_of_a_class():
    app = checked(open_page("glossary").selectbox(key="in-python").select("QSGS2AUC").run())
    assert "Parameters\n----------\nkernel : " in app.code[0].value

"""Words in charts: each has one entry in the glossary, and its explanation is in the chart."""

import pytest
from cases import each
from live_page import figure, figures
from opened_pages import open_page

from dsgcore.experiments import SETTINGS
from dsgcore.glossary import TOPICS, term
from pages.charts.figures import ITERATION

TERMS = [entry for topic in TOPICS for entry in topic.terms]
LIVE = ("chart-objective", "chart-score", "chart-error", "chart-spectrum")


@each("entry", TERMS)
def test_an_entry_has_a_sentence_for_a_student_and_an_equation_for_a_researcher(entry):
    assert entry.student.endswith(".")
    assert "$" not in entry.student, "shown in a legend, where no formula is set"
    assert entry.researcher.endswith((".", ".$"))
    assert entry.researcher.count("$") % 2 == 0


@pytest.mark.ci
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

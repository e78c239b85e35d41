"""Words on the pages: no names of the code, the classes' own names, and one mark for one meaning."""

import pytest
from live_page import figure
from opened_pages import checked, open_page

from dsgcore.core.parameters import Real
from dsgcore.solver.plan import SCHEDULE_WORDS, SCHEDULES
from pages.charts.run_map import class_symbol
from pages.controls.control import refusal

# Marks that do not say which class a point has.
NO_CLASS = {"unlabeled", "similar pairs", "no class known", None}


def opened(setting, **link):
    return checked(open_page(setting, **link))


def traces(app, key):
    return figure(app, key)["data"]


def marks(app, key):
    """Return the mark of each class on a chart, by its name."""
    found = {t.get("name"): t["marker"] for t in traces(app, key) if t["type"] == "scatter" and "marker" in t}
    return {name: marker["symbol"] for name, marker in found.items() if name not in NO_CLASS and "symbol" in marker}


def test_a_class_has_its_own_name_and_one_mark_on_the_map_and_on_the_data_page():
    live = marks(opened("auc", data="Breast cancer", at="3"), "chart-map")
    assert live == {"malignant": "circle", "benign": "triangle-up"}
    assert marks(opened("data", set="Breast cancer"), "chart-plane") == live


def test_marks_of_two_classes_are_those_of_positive_and_negative():
    assert [class_symbol(label, 2) for label in (0, 1)] == ["triangle-up", "circle"]
    assert len({class_symbol(label, 5) for label in range(5)}) == 5


@pytest.mark.parametrize("said", ["theta/T^(3/4)", "θ/T^¾"])
def test_a_schedule_is_read_as_people_write_it_and_as_pages_do(said):
    app = opened("s3vm", svm_schedule=said, svm_at="2")
    assert not app.warning
    assert '"schedule": "theta/T^(3/4)"' in "".join(code.value for code in app.code)


def test_every_schedule_has_words():
    assert SCHEDULE_WORDS.keys() == SCHEDULES.keys()
    assert not any("theta" in words or "sqrt" in words for words in SCHEDULE_WORDS.values())


def test_pairs_are_not_called_labels():
    app = opened("similar_unlabeled", su_at="3")
    names = {trace.get("name") for trace in traces(app, "chart-score")}
    assert "train (in pairs)" in names
    assert "train (labeled)" not in names


def test_no_link_is_asked_for_null():
    optional = Real("radius", None, low=0, high=1, optional=True)
    assert "null" not in refusal("mc_radius", optional, "abc")

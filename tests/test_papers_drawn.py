"""The Papers page: each statement with our result, its mark, and a drawing of our numbers."""

import csv
import xml.etree.ElementTree as ET

import pytest
from opened_pages import checked, open_page
from test_papers import FIGURES

from pages.pictures import papers

OUTCOMES = (papers.REPRODUCED, papers.IN_PART, papers.NOT_REPRODUCED, papers.NOT_COMPARABLE)


def test_the_drawn_numbers_are_those_of_the_benchmark_note():
    with papers.NUMBERS.open(encoding="utf-8", newline="") as file:
        drawn = list(csv.DictReader(file))
    assert drawn == list(papers.read_note(papers.NOTE.read_text(encoding="utf-8")))
    assert len(drawn) > 150


def test_every_figure_has_a_result_with_a_mark():
    results = {(s, f.name): papers.result_of(s, f.name) for s, f in FIGURES}
    assert {outcome for outcome, _ in results.values()} <= set(OUTCOMES)
    assert not [figure for figure, (_, found) in results.items() if "not measured" in found]
    assert {(s, f) for s, own in papers._results().items() for f in own} == set(results)
    assert papers.result_of("auc", "fig9") == (papers.NOT_COMPARABLE, "It was not measured here.")


@pytest.mark.parametrize(("setting", "figure"), papers.AXES)
def test_a_drawing_is_an_image_with_its_methods_inside_its_frame(setting, figure):
    svg, alt = papers.drawing(setting, figure)
    root = ET.fromstring(svg)
    methods = {point.method for point in papers.points_of(setting, figure)}
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert all(any(method in text for text in texts) for method in methods)
    assert all(method in alt for method in methods)
    for circle in root.iter("{http://www.w3.org/2000/svg}circle"):
        assert papers.LEFT <= float(circle.get("cx")) <= papers.WIDTH
        assert papers.TOP <= float(circle.get("cy")) <= papers.HEIGHT - papers.BOTTOM


def test_the_page_shows_statement_result_and_drawing_of_each_figure(monkeypatch, tmp_path):
    monkeypatch.setenv("DSGLAB_STORE", str(tmp_path / "runs.sqlite"))
    app = checked(open_page("papers"))
    said = [markdown.value for markdown in app.markdown]
    assert sum("The paper: " in text for text in said) == len(FIGURES)
    marked = [text for text in said if any(f"**{outcome.capitalize()}.**" in text for outcome in OUTCOMES)]
    assert len(marked) == len(FIGURES)
    assert len(app.get("image")) == len(papers.AXES)
    missing = [caption.value for caption in app.caption if caption.value == "Not drawn here."]
    assert len(missing) == len(FIGURES) - len(papers.AXES)

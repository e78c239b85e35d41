"""The Papers page: each statement with our result, its mark, and a drawing of our numbers."""

import xml.etree.ElementTree as ET

import pictures_of_papers as papers
import pytest
from opened_pages import checked, open_page
from test_papers import FIGURES

from pages.pictures.kept import file_of
from pages.pictures.results import NOT_COMPARABLE, OUTCOMES, result_of, results


def test_every_figure_has_a_result_with_a_mark():
    found = {(s, f.name): result_of(s, f.name) for s, f in FIGURES}
    assert {outcome for outcome, _ in found.values()} <= set(OUTCOMES)
    assert not [figure for figure, (_, said) in found.items() if "not measured" in said]
    assert {(s, f) for s, own in results().items() for f in own} == set(found)
    assert result_of("auc", "fig9") == (NOT_COMPARABLE, "It was not measured here.")


@pytest.mark.parametrize(("setting", "figure"), papers.AXES)
def test_a_drawing_shows_the_numbers_of_the_benchmark_note_inside_its_frame(setting, figure):
    svg = file_of(f"paper-{setting}-{figure}").read_text(encoding="utf-8")
    assert svg == papers.drawn(setting, figure)
    root = ET.fromstring(svg)
    alt = root.get("aria-label")
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

"""The papers' figures as studies: each opens on the Explore page as the study that it is, and can be asked at the paper's size."""

import re
from pathlib import Path

import pytest
from opened_pages import checked, left_in_browser, open_page

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from dsgcore.studies import MEASURES, Study
from pages.studies.going import BUDGET
from pages.studies.study_links import link_to_study

FIGURES = [(setting, figure) for setting in SETTINGS for figure in profile_of(SETTINGS[setting]).figures]
# Of each paper, the figures and tables of its experiments.
NAMED = {
    "similar_unlabeled": ["fig1", "fig2", "fig3", "table4", "table5", "fig4"],
    "auc": ["fig1", "fig2"],
    "s3vm": ["fig2", "fig3"],
    "ordinal": ["fig1", "fig2"],
    "multiclass": ["fig1-left", "fig1-right", "table3"],
}
figures = pytest.mark.parametrize(("setting", "figure"), FIGURES, ids=[f"{s}-{f.name}" for s, f in FIGURES])


def keys(study):
    return [run.key for run in study.runs()]


def test_every_figure_of_the_experiments_is_there():
    assert {s: [f.name for f in profile_of(SETTINGS[s]).figures] for s in SETTINGS} == NAMED


@figures
def test_a_figure_is_a_study_at_both_sizes(setting, figure):
    small, full = (Study.from_dict(figure.study(setting, is_full=is_full)) for is_full in (False, True))
    assert not [run.refused for study in (small, full) for run in study.runs() if run.spec is None]
    assert len(full) > len(small) or set(keys(full)) != set(keys(small))
    axes = {axis["name"]: axis for axis in figure.study(setting, is_full=True)["axes"]}
    assert all(changes.items() <= axes[name].items() for name, changes in figure.full_axes.items())
    assert figure.measure in MEASURES
    assert figure.says.endswith(".")
    assert figure.differs.endswith(".")


@pytest.mark.compiled
@pytest.mark.usefixtures("store")
@figures
def test_a_figure_opens_on_the_explore_page_as_the_same_runs_and_leaves_a_link_to_them(setting, figure):
    study = Study.from_dict(figure.study(setting))
    app = checked(open_page("explore", **link_to_study(study, figure.measure)))
    assert not [*app.error, *app.warning]
    state = app.session_state["_exploring_explore"]
    assert keys(state.made.study) == keys(study)
    assert [axis.values for axis in state.made.study.axes] == [axis.values for axis in study.axes]
    assert state.price.seconds < BUDGET.seconds
    assert app.session_state["x_measure"] == figure.measure
    again = checked(open_page("explore", **left_in_browser(app)))
    assert keys(again.session_state["_exploring_explore"].made.study) == keys(study)


@pytest.mark.compiled
def test_the_page_has_a_card_and_a_link_for_each():
    app = checked(open_page("papers"))
    text = "".join(block.value for block in app.markdown)
    for _, figure in FIGURES:
        assert figure.says in text
        assert figure.differs in text
    links = app.get("page_link")
    assert len([link for link in links if link.proto.page == "explore"]) == len(FIGURES)


def test_every_figure_has_its_paragraph_and_every_drawing_is_there():
    folder = Path(__file__).parent / "benchmarks"
    text = (folder / "papers.md").read_text(encoding="utf-8")
    titles = [f"{profile_of(SETTINGS[s]).paper}, {figure.title.replace(',', '')}:" for s, figure in FIGURES]
    assert [title for title in titles if f"## {title}" not in text] == []
    drawings = re.findall(r"\]\((papers-[a-z0-9-]+\.svg)\)", text)
    assert sorted(drawings) == sorted(path.name for path in folder.glob("papers-*.svg"))

"""The papers' figures: each opens on the Explore page as the study that it is, and the Papers page says what came of it."""

import pytest
from cases import some
from opened_pages import checked, left_in_browser, open_page

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from dsgcore.studies import MEASURES, Study
from pages.pictures.results import NOT_COMPARABLE, OUTCOMES, result_of, results
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


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("setting", "figure"), some(FIGURES, 4))
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


@pytest.mark.usefixtures("store")
def test_the_page_shows_statement_result_drawing_and_link_of_each_figure():
    found = {(s, f.name): result_of(s, f.name) for s, f in FIGURES}
    assert {outcome for outcome, _ in found.values()} <= set(OUTCOMES)
    assert not [figure for figure, (_, said) in found.items() if "not measured" in said]
    assert {(s, f) for s, own in results().items() for f in own} == set(found)
    assert result_of("auc", "fig9") == (NOT_COMPARABLE, "It was not measured here.")
    app = checked(open_page("papers"))
    said = [markdown.value for markdown in app.markdown]
    for _, figure in FIGURES:
        assert any(figure.says in text for text in said)
        assert any(figure.differs in text for text in said)
    marked = [text for text in said if any(f"**{outcome.capitalize()}.**" in text for outcome in OUTCOMES)]
    assert len(marked) == len(FIGURES)
    assert len([link for link in app.get("page_link") if link.proto.page == "explore"]) == len(FIGURES)
    missing = [caption.value for caption in app.caption if caption.value == "Not drawn here."]
    assert len(app.get("image")) + len(missing) == len(FIGURES)
    assert len(missing) == 3  # the tables

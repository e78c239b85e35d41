"""A run's data and settings on their way to Explore, Convergence and the Data page, without a browser."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

pytest.importorskip("streamlit")
from opened_pages import checked, errors, run_of
from test_file_on_pages import OWN, chosen_on_data_page, opened, study_of

from dsgcore.data import DATASETS

pytestmark = pytest.mark.usefixtures("store")


def file_in_the_workbench():
    """Return the page Ranking with a file of which not everything is as guessed, and with settings of its own."""
    app = opened("auc", chosen_on_data_page(), data=OWN)
    app = checked(app.select_slider(key="n_labeled").set_value(50).run())
    return checked(app.select_slider(key="gamma").set_value(0.25).run())


def as_in(spec, other):
    return (spec.data.sha256, spec.data.recipe, spec.data.n_labeled, spec.problem.gamma, spec.kernel, spec.solver) == (
        other.data.sha256,
        other.data.recipe,
        other.data.n_labeled,
        other.problem.gamma,
        other.kernel,
        other.solver,
    )


def test_one_click_takes_a_file_with_its_recipe_labels_and_settings_to_explore():
    app = file_in_the_workbench()
    spec = run_of(app).spec
    app = checked(app.button(key="to-explore").click().run())
    study = study_of(app)
    assert errors(app) == []
    assert as_in(study.spec, spec)
    assert [axis.name for axis in study.axes] == ["solver.step_size", "kernel.sigma"]


@pytest.mark.ci
def test_its_convergence_and_its_data_are_one_click_away_from_the_tab_compare():
    app = file_in_the_workbench()
    spec = run_of(app).spec
    app = checked(app.button(key="to-convergence").click().run())
    kept = study_of(app, "ways").specs[-1]
    assert (kept.data, kept.problem.gamma, kept.kernel) == (spec.data, spec.problem.gamma, spec.kernel)
    app = checked(file_in_the_workbench().button(key="to-data").click().run())
    assert app.select_slider(key="data_n_labeled").value == 50
    assert app.selectbox(key="data_setting").value == "auc"
    assert "mid" in [box.value for box in app.selectbox]


@pytest.mark.parametrize(("page", "prefix"), [("explore", "x_"), ("convergence", "v_")])
def test_a_set_looked_at_on_the_data_page_goes_on_with_its_options(page, prefix):
    app = checked(chosen_on_data_page().select_slider(key="data_n_labeled").set_value(50).run())
    link = next(one.proto for one in app.get("page_link") if one.proto.page == page)
    app = opened(page, app, **{key: value[0] for key, value in parse_qs(link.query_string).items()})
    assert errors(app) == []
    spec = study_of(app, "ways" if page == "convergence" else page).spec
    assert (spec.data.path, spec.data.recipe.column("label"), spec.data.n_labeled) == ("table.csv", "kind", 50)
    assert app.selectbox(key=f"{prefix}data").value == "file"


def test_a_file_is_offered_where_another_set_is_shown_and_comes_back_by_one_click():
    app = opened("auc", chosen_on_data_page())
    assert run_of(app).spec.data.name in DATASETS
    button = app.button(key="own-data")
    assert button.label == r"Use table\.csv"
    app = checked(button.click().run())
    assert run_of(app).spec.data.path == "table.csv"
    assert not [button for button in app.button if button.key == "own-data"]

"""Hidden parts of a setting's page: they are not drawn, and their controls keep the values of the link."""

import pytest
from opened_pages import OF_EACH_ENGINE, bench_of, open_page, run_of, said
from test_app import PAGES, away_from_defaults

from dsgcore.experiments import SETTINGS, Health

DRAWN = ("slider", "select_slider", "selectbox", "toggle", "number_input", "text_input", "button_group", "tabs")


@pytest.mark.parametrize("name", OF_EACH_ENGINE)
def test_a_link_with_hidden_controls_gives_its_spec(name):
    _, link, spec = away_from_defaults(SETTINGS[name])
    app = open_page(name, hide="sidebar,transport,view,tabs", **{f"{PAGES[name]}seed": "3"}, **link)
    assert [sentence for sentence in said(app) if sentence != Health.GROWING.value] == []
    assert run_of(app, name).spec == spec
    assert {kind: [element.key for element in app.get(kind)] for kind in DRAWN if app.get(kind)} == {}
    kept = bench_of(app, name).link.texts
    prefix = PAGES[name]
    assert {key: kept.get(key) for key in link} == link
    assert kept[f"{prefix}seed"] == "3"
    app.run()
    assert run_of(app, name).spec == spec


def test_hidden_choices_of_the_view_are_those_of_the_link():
    link = {"map": "h", "log_objective": "true", "speed": "slow", "slider": "redo", "at": "2"}
    axes = {"data": "Breast cancer", "map_x": "mean radius"}
    app = open_page("auc", hide="sidebar,transport,view", **link, **axes)
    assert said(app) == []
    view = bench_of(app, "auc").view
    assert (view.on_map, view.is_log, view.speed) == ("h", True, "slow")
    assert app.session_state["slider"] == "redo"
    assert view.axes == (0, None)
    assert not [box.label for box in app.selectbox if box.label.startswith("Axis")]


def test_another_link_to_the_page_sets_hidden_controls_again():
    app = open_page("auc", hide="sidebar", lam="0.01", at="2")
    assert bench_of(app, "auc").spec.solver.lam == 0.01
    app.switch_page("pages/ordinal.py").run()
    app.query_params.clear()
    app.query_params["hide"], app.query_params["lam"] = "sidebar", "0.02"
    app.switch_page("pages/auc.py").run()
    assert not app.exception
    assert bench_of(app, "auc").spec.solver.lam == 0.02


def test_controls_that_appear_again_have_their_values():
    app = open_page("auc", hide="sidebar", lam="0.01", at="2")
    del app.query_params["hide"]
    app.run()
    assert not app.exception
    assert app.select_slider(key="lam").value == 0.01


def test_the_sidebar_stays_for_a_file_of_ones_own():
    app = open_page("auc", hide="sidebar", data="Your own file")
    assert not app.exception
    assert app.selectbox(key="data").value is not None

"""A person's own file on its way from page to page: what was chosen of it, and the values of a link to it, stay."""

import io
import json

import numpy as np
import pytest
from cases import each, some
from opened_pages import checked, errors, left_in_browser, open_page, run_of
from own_tables import lines

from dsgcore.experiments import Run, Spec, script
from dsgcore.studies import Store
from pages.controls.own_file import OwnFile
from pages.upload import choosing
from pages.workbench import tabs

pytestmark = pytest.mark.usefixtures("store")

OWN = "Your own file"


def table(n=240, wide=1.0):
    rng = np.random.default_rng(0)
    X = wide * rng.normal(size=(n, 2))
    kinds = np.array(["low", "mid", "top"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0).astype(int)]
    return lines(
        "row,x,z,kind,other",
        *(f"{7 * i},{a},{b},{k},{'uv'[i % 2]}" for i, ((a, b), k) in enumerate(zip(X, kinds, strict=True))),
    )


def opened(page, app=None, **link):
    if app is None:
        return checked(open_page(page, **link))
    app.query_params.clear()
    for name, value in link.items():
        app.query_params[name] = value
    return checked(app.switch_page(f"pages/{page}.py").run())


def give(app, content, name="table.csv"):
    return checked(app.file_uploader[0].upload(name, content, "text/csv").run())


def box(app, label):
    return next(box for box in app.selectbox if box.label == label)


def choose(app, label, value):
    return checked(box(app, label).select(value).run())


def study_of(app, place="explore"):
    return app.session_state[f"_exploring_{place}"].made.study


def chosen_on_data_page():
    """Return the app with a file on the Data page, of which something else is chosen than is guessed."""
    app = give(opened("data", **{"data.name": OWN}), table())
    app = choose(app, "Label", "kind")
    app = choose(app, "Positive class", "mid")
    return choose(app, "Missing numbers", "drop")


def test_what_was_chosen_of_a_file_on_the_data_page_is_not_lost_on_the_settings_page():
    app = opened("auc", chosen_on_data_page(), **{"data.name": OWN})
    recipe = run_of(app).spec.data.recipe
    assert (recipe.column("label"), recipe.positive, recipe.missing) == ("kind", "mid", "drop")
    assert run_of(app).split.class_names == ("not mid", "mid")
    app = choose(app, "Positive class", "top")
    assert run_of(opened("auc", opened("home", app), **{"data.name": OWN})).spec.data.recipe.positive == "top"


@pytest.mark.parametrize("setting", some(["s3vm", "multiclass", "ordinal"], 2))
def test_what_was_chosen_of_a_file_is_not_lost_in_another_setting(setting):
    app = opened(setting, chosen_on_data_page(), **{"data.name": OWN})
    assert errors(app) == []
    recipe = run_of(app, setting).spec.data.recipe
    assert (recipe.column("label"), recipe.missing) == ("kind", "drop")
    if setting == "s3vm":
        assert recipe.positive == "mid"
    else:
        assert len(run_of(app, setting).split.class_names) == 3


def test_a_column_that_is_left_out_stays_left_out_in_another_setting():
    app = chosen_on_data_page()
    last = app.session_state[choosing.LAST]
    last.edited = last.edited | {"row": "number", "other": "ignore"}  # as the table of columns notes it
    last.own = last.own.__class__(**{**last.own.__dict__, "recipe": last.own.recipe})
    recipe = run_of(opened("s3vm", app, **{"data.name": OWN}), "s3vm").spec.data.recipe
    assert (recipe.role("row"), recipe.role("other")) == ("number", "ignore")


@pytest.mark.ci
@pytest.mark.parametrize(("page", "prefix", "place"), [("explore", "x_", "explore"), ("convergence", "v_", "ways")])
def test_another_setting_keeps_the_file_and_does_not_take_a_default_set(page, prefix, place):
    app = opened(page, chosen_on_data_page())
    assert study_of(app, place).spec.data.name != "file"  # a page that is opened begins as ever
    app = checked(app.selectbox(key=f"{prefix}data").select("file").run())
    assert study_of(app, place).spec.data.path == "table.csv"
    for setting, data in (("s3vm", "svm_data"), ("ordinal", "ord_data")):
        app = checked(app.selectbox(key=f"{prefix}setting").select(setting).run())
        assert errors(app) == []
        assert app.selectbox(key=f"{prefix}{data}").value == "file"
        spec = study_of(app, place).spec
        assert (spec.problem.name, spec.data.path, spec.data.recipe.column("label")) == (setting, "table.csv", "kind")


RARE = lines("x,z,label", *(f"{i},{i % 7},{'ab'[i % 2]}" for i in range(60)), "1,2,c")


@pytest.mark.parametrize(("page", "key"), [("explore", "x_data"), ("convergence", "v_data")])
def test_what_does_not_fit_of_a_file_is_said_before_any_run(page, key):
    app = give(opened(page, **{"data.name": OWN}), RARE)
    app = choose(app, "Positive class", "c")
    assert "each class must have at least 2 rows, got 1 of 'c'" in errors(app)[0]
    assert app.selectbox(key=key).value == "file"
    app = choose(app, "Positive class", "a")
    assert errors(app) == []


def test_runs_that_fail_say_so_and_why():
    app = give(opened("explore", **{"data.name": OWN}), table())
    state = app.session_state["_exploring_explore"]
    state.made.failed = {run.place: "the file is gone" for run in state.made.runs}
    app = checked(app.run())
    n = len(state.made.runs)
    assert f"{n} of {n} runs failed. The file is gone." in errors(app)


def test_pinned_runs_of_two_files_of_one_name_and_of_a_set_are_made_and_kept_with_the_session(tmp_path):
    app = give(opened("auc", **{"data.name": OWN, "solver.n_iter": "20"}), table())
    own = run_of(app).spec
    app = give(app, table(n=120))
    other = run_of(app).spec
    solver = {"n_iter": 20, "n_features": 16, "batch_size": 8}
    plain = Spec.from_dict(
        {"setting": "auc", "data": {"name": "two_moons", "n": 200, "n_labeled": 20}, "solver": solver}
    )
    assert own.data.path == other.data.path
    assert own.data.sha256 != other.data.sha256
    app.session_state["_pins"] = {spec.sha256: spec for spec in (plain, own, other)}
    app = opened("pinned", app, seeds="1")
    app = checked(app.button(key="pinned-start").click().run())
    state = app.session_state["_exploring_pinned"]
    assert state.job.wait(120)
    app = checked(app.run())
    assert errors(app) == []
    assert not state.made.failed
    assert state.made.n_there == 3
    assert not Store(tmp_path / "runs.sqlite").get(state.made.hashes)


def test_a_file_chosen_on_the_explore_page_has_the_values_that_it_has_when_it_comes_from_the_data_page():
    wide = table(wide=50.0)
    here = study_of(give(opened("explore", **{"data.name": OWN}), wide)).spec
    app = give(opened("data", **{"data.name": OWN}), wide)
    there = study_of(checked(opened("explore", app).selectbox(key="x_data").select("file").run())).spec
    assert here.to_dict() == there.to_dict()


def values(app, prefix=""):
    return {slider.key: slider.value for slider in app.select_slider if slider.key and slider.key.startswith(prefix)}


def test_a_link_to_a_file_shows_the_same_values_before_and_after_the_upload():
    app = give(opened("auc", **{"data.name": OWN}), table(wide=50.0))
    app = checked(app.select_slider(key="lam").set_value(0.1).run())
    made, file = values(app), left_in_browser(app)["data.file"]
    assert json.loads(file)["facts"]["n"] == 240
    other = opened("auc", **{"data.name": OWN, "solver.lam": "0.1", "data.file": file})
    assert values(other) == {key: made[key] for key in values(other)}
    moved = checked(other.select_slider(key="batch_size").set_value(64).run())
    after = give(moved, table(wide=50.0))
    assert values(after) == made | {"batch_size": 64}
    assert run_of(after).spec.kernel.sigma == run_of(app).spec.kernel.sigma
    assert run_of(after).spec.solver.batch_size == 64


def test_a_link_to_a_study_of_a_file_shows_the_same_values_before_and_after_the_upload():
    app = give(opened("explore", **{"data.name": OWN}), table(wide=50.0))
    made, file = values(app, "x_"), left_in_browser(app)["data.file"]
    other = opened("explore", **{"data.name": OWN, "data.file": file})
    assert values(other, "x_") == made
    after = give(other, table(wide=50.0))
    assert values(after, "x_") == made
    assert study_of(after).to_dict() == study_of(app).to_dict()


FACTS = {"n": 9, "d": 1, "n_known": 9, "n_pairs": None, "share": 0.5, "sigma": 1.0, "classes": 2}


@each("facts", [[], {"n": "9"}, FACTS | {"share": 2.0}, FACTS | {"found": {"lam": -1}}, FACTS | {"found": {"x": 1}}])
def test_what_a_link_says_of_a_file_is_left_out_where_it_is_not_possible(facts):
    said = {"name": "table.csv", "sha256": "0" * 64, "facts": facts}
    assert OwnFile.from_link(said) is None
    assert OwnFile.from_link(said | {"facts": FACTS}) is not None


def test_a_page_whose_link_says_what_is_not_possible_asks_for_the_file():
    file = json.dumps({"name": "table.csv", "sha256": "0" * 64, "recipe": {}, "facts": FACTS | {"share": 2.0}})
    app = opened("auc", **{"data.name": OWN, "data.file": file})
    assert errors(app) == []
    assert any("This link needs the file table" in warning.value for warning in app.warning)


def answered_as_by_a_browser(app, before):
    """Draw the page again with the browser's values: a widget that stays sends its last value, unless the server set one."""
    kept = {state.id: state for state in before.widgets}
    is_set = {
        node.proto.id: getattr(node.proto, "set_value", False)
        for node in app._tree
        if hasattr(node, "proto") and hasattr(node.proto, "id")
    }
    states = app._tree.get_widget_states()
    for state in states.widgets:
        if state.id in kept and not is_set.get(state.id, False):
            state.CopyFrom(kept[state.id])
    app._run(states)
    return checked(app)


@pytest.mark.ci
@pytest.mark.parametrize(("page", "prefix", "place"), [("explore", "x_", "explore"), ("convergence", "v_", "ways")])
def test_values_that_a_browser_keeps_of_other_data_do_not_change_the_study_at_the_first_start(page, prefix, place):
    app = opened(page, chosen_on_data_page())
    app = checked(app.selectbox(key=f"{prefix}data").run())
    before = app._tree.get_widget_states()
    choice = app.selectbox(key=f"{prefix}data").proto.id
    before.widgets.remove(next(state for state in before.widgets if state.id == choice))
    app = checked(app.selectbox(key=f"{prefix}data").select("file").run())
    asked = study_of(app, place).to_dict()
    assert study_of(answered_as_by_a_browser(app, before), place).to_dict() == asked


def test_options_that_a_browser_keeps_of_another_set_are_not_those_of_the_set_that_is_looked_at():
    app = opened("data", **{"data.name": "Two moons"})
    app = checked(app.select_slider(key="data_n_labeled").set_value(10).run())
    before = app._tree.get_widget_states()
    choice = app.selectbox(key="set").proto.id
    before.widgets.remove(next(state for state in before.widgets if state.id == choice))
    app = checked(app.selectbox(key="set").select("Digits").run())
    shown = values(app, "data_")
    assert (shown["data_n"], shown["data_n_labeled"]) == (1797, 200)
    assert values(answered_as_by_a_browser(app, before), "data_") == shown


def test_options_of_a_link_to_a_file_on_the_data_page_survive_the_upload():
    app = give(opened("data", **{"data.name": OWN, "data.n_labeled": "20"}), table())
    assert values(app, "data_")["data_n_labeled"] == 20


@each("page, prefix", [("auc", ""), ("s3vm", "svm_"), ("ordinal", "ord_"), ("similar_unlabeled", "su_")])
def test_more_labels_than_a_file_has_are_clamped_and_said(page, prefix):
    app = give(opened(page, **{"data.name": OWN}), table(n=100))
    next(slider for slider in app.select_slider if slider.key == f"{prefix}n_labeled").set_value(200).run()
    assert errors(app) == []
    assert any("200 labels or pairs are not possible" in warning.value for warning in app.warning)
    number = app.session_state[f"{prefix}n_labeled"]
    assert run_of(app, page).spec.data.n_labeled == number < 100
    checked(app.run())
    assert run_of(app, page).spec.data.n_labeled == number


def test_the_data_page_clamps_the_labels_and_keeps_the_file_in_another_setting():
    app = give(opened("data", **{"data.name": OWN}), table(n=100))
    slider = next(slider for slider in app.select_slider if slider.key == "data_n_labeled")
    checked(slider.set_value(200).run())
    assert errors(app) == []
    assert any("200 labels or pairs are not possible" in warning.value for warning in app.warning)
    assert app.session_state["data_n_labeled"] < 100
    assert app.get("plotly_chart") or app.get("bidi_component")  # the views are there
    uploader = app.file_uploader[0].key
    for setting in ("ordinal", "multiclass", "s3vm"):
        choose(app, "Hide labels as in", setting)
        assert app.file_uploader[0].key == uploader
        assert app.session_state[uploader] is not None
        assert errors(app) == []


@each("t", [120, 40])
def test_the_model_of_the_page_and_of_its_script_are_the_same(t, tmp_path, monkeypatch):
    run = Run(Spec.from_dict({"setting": "auc", "data": {"n": 200}, "solver": {"n_iter": 120, "average": "tail"}}))
    run.advance(t)
    monkeypatch.chdir(tmp_path)
    exec(compile(script(run.spec, run.tried), "repeat_run.py", "exec"), {"__name__": "__main__"})
    with np.load(io.BytesIO(tabs._model_bytes(run))) as page, np.load(tmp_path / "model.npz") as repeated:
        assert sorted(page) == sorted(repeated)
        for name in page:
            np.testing.assert_array_equal(page[name], repeated[name], err_msg=name)

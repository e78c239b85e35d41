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


@pytest.mark.ci
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


def values(app, prefix=""):
    return {slider.key: slider.value for slider in app.select_slider if slider.key and slider.key.startswith(prefix)}


@pytest.mark.ci
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


FACTS = {"n": 9, "d": 1, "n_known": 9, "n_pairs": None, "share": 0.5, "sigma": 1.0, "classes": 2}


@each("facts", [[], {"n": "9"}, FACTS | {"share": 2.0}, FACTS | {"found": {"lam": -1}}, FACTS | {"found": {"x": 1}}])
def test_what_a_link_says_of_a_file_is_left_out_where_it_is_not_possible(facts):
    said = {"name": "table.csv", "sha256": "0" * 64, "facts": facts}
    assert OwnFile.from_link(said) is None
    assert OwnFile.from_link(said | {"facts": FACTS}) is not None


@each("page, prefix", some([("auc", ""), ("s3vm", "svm_"), ("ordinal", "ord_"), ("similar_unlabeled", "su_")], 2, 4))
def test_more_labels_than_a_file_has_are_clamped_and_said(page, prefix):
    app = give(opened(page, **{"data.name": OWN}), table(n=100))
    next(slider for slider in app.select_slider if slider.key == f"{prefix}n_labeled").set_value(200).run()
    assert errors(app) == []
    assert any("200 labels or pairs are not possible" in warning.value for warning in app.warning)
    number = app.session_state[f"{prefix}n_labeled"]
    assert run_of(app, page).spec.data.n_labeled == number < 100
    checked(app.run())
    assert run_of(app, page).spec.data.n_labeled == number


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

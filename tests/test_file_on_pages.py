"""Data on the pages, without a browser: a person's own file in every setting and in a link, the Data page, controls."""

import gc
import io
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, some
from hostile_files import GOOD, REFUSED
from live_page import status
from opened_pages import bench_of, checked, errors, left_in_browser, open_page, run_of, said
from own_tables import iris_csv, lines
from streamlit.runtime.scriptrunner import StopException
from test_usual_values import ESTIMATORS as WITHOUT_MULTICLASS

from dsgcore import PS3VT
from dsgcore.__main__ import main
from dsgcore.experiments import SETTINGS, Run, Spec, script
from dsgcore.settings import profile_of
from dsgcore.studies import Store
from pages.controls.own_file import OwnFile
from pages.gallery.data_views import as_written
from pages.studies import going
from pages.upload import upload
from pages.workbench import tabs
from pages.workbench.head import REFUSED_FILE

pytestmark = pytest.mark.usefixtures("store")
ESTIMATORS = WITHOUT_MULTICLASS | {"multiclass": PS3VT}
OWN = "Your own file"


def table(n=240, wide=1.0):
    X = wide * np.random.default_rng(0).normal(size=(n, 2))
    kinds = np.array(["low", "mid", "top"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0).astype(int)]
    rows = (
        f"{7 * i},2024-05-{1 + i % 28:02},{a},{b},{k},{'uv'[i % 2]}"
        for i, ((a, b), k) in enumerate(zip(X, kinds, strict=True))
    )
    return lines("row,day,x,z,kind,other", *rows)


def opened(page, app=None, **link):
    if app is None:
        return checked(open_page(page, **link))
    app.query_params.clear()
    for name, value in link.items():
        app.query_params[name] = value
    return checked(app.switch_page(f"pages/{page}.py").run())


def open_own(setting="auc", **link):
    return open_page(setting, **{"data.name": OWN, **link})


def give(app, name="table.csv", content=None):
    content = table() if content is None else content
    return checked(app.file_uploader[0].upload(name, content, "application/octet-stream").run())


def box(app, label):
    return next(box for box in app.selectbox if box.label == label)


def choose(app, label, value):
    return checked(box(app, label).select(value).run())


def study_of(app, place="explore"):
    return app.session_state[f"_exploring_{place}"].made.study


def written(app):
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


def sound(app):
    assert errors(checked(app)) == []
    return app


def values(app):
    return {slider.key: slider.value for slider in app.select_slider if slider.key}


# --- one page


@pytest.mark.parametrize("setting", ESTIMATORS)
def test_a_file_is_learned_from_in_every_setting(setting):
    rows = iris_csv().splitlines()
    rows[10::8] = [row.rsplit(b",", 1)[0] + b"," for row in rows[10::8]]  # some without a label
    app = give(open_own(setting), "iris.csv", b"\n".join(rows))
    assert errors(app) == []
    run, usual = run_of(app, setting), ESTIMATORS[setting]()  # it begins as the estimator does
    assert (run.split.y_hidden == -1).sum() == 18
    assert run.spec.data.path == "iris.csv"
    assert run.split.X_train.shape[1] == 4
    assert run.t > 0
    n_iter = getattr(usual, "most_iterations", lambda y: usual.n_iter)(run.split.y_train)
    assert (run.spec.solver.average, run.spec.solver.n_iter) == (usual.average, n_iter)
    assert (run.spec.solver.step_size is None) == (setting != "multiclass")  # whose fit takes a step for its graph
    assert run.spec.kernel.sigma == pytest.approx(0.25)  # "scale" of four standardised features
    assert run.spec.data.scaling == "standard"
    assert max(len(stop) for slider in app.select_slider for stop in slider.options) <= 9  # computed ones, too
    assert any("cells separated by comma" in text.value.replace("\\", "") for text in app.markdown)
    assert "iris" in left_in_browser(app)["data.file"]


def test_names_of_a_file_become_no_link_picture_or_formula_and_the_app_goes_on_after_a_bad_file():
    nasty = "![x](http://127.0.0.1:1/x.png) $e$ :red[r] <b>"
    rows = lines(f'"{nasty}",z,label', *(f"{i},{i % 7},{'ab'[i % 2]}" for i in range(30)), "oops,1,a")
    app = give(open_own(), f"{nasty.replace('/', '')}.csv", rows)
    assert "oops" in errors(app)[0]
    for element in (*app.error, *app.markdown, *app.caption):
        assert "![x](" not in element.value
    assert len(app.error) == 1
    for name, (file_name, content) in some(REFUSED.items(), 4, 10):
        give(app, file_name, content)
        assert len(app.error) == 1, name
        assert "\n" not in app.error[0].value
        assert "Traceback" not in app.error[0].value
        assert [info.value for info in app.main.info] == [REFUSED_FILE], name
    give(app, "good.csv", GOOD)
    assert errors(app) == []
    assert run_of(app).spec.data.path == "good.csv"


def test_a_drawing_that_a_click_ends_leaves_no_control_without_the_value_that_suits_the_file(monkeypatch):
    undisturbed, suited = run_of(give(open_own(), "iris.csv", iris_csv())).spec, upload.suited_to_own

    def first_only(problem):
        yield next(iter(suited(problem)))
        monkeypatch.setattr(upload, "suited_to_own", suited)
        raise StopException

    monkeypatch.setattr(upload, "suited_to_own", first_only)
    spec = run_of(give(open_own(), "iris.csv", iris_csv()).run()).spec
    assert (spec.kernel, spec.data) == (undisturbed.kernel, undisturbed.data)


@pytest.mark.filterwarnings("ignore:.*still moving")  # says the estimator's fit, after so few iterations
@each("t", [120, 40])
def test_the_model_of_the_page_and_of_its_script_are_the_same(t, tmp_path, monkeypatch):
    run = Run(Spec.from_dict({"setting": "auc", "data": {"n": 200}, "solver": {"n_iter": 120, "average": "tail"}}))
    run.advance(t)
    monkeypatch.chdir(tmp_path)
    exec(compile(script(run), "repeat_run.py", "exec"), {"__name__": "__main__"})
    with np.load(io.BytesIO(tabs._model_bytes(run))) as page, np.load(tmp_path / "model.npz") as repeated:
        assert sorted(page) == sorted(repeated)
        for name in page:
            np.testing.assert_array_equal(page[name], repeated[name], err_msg=name)


def test_a_format_that_is_changed_in_a_second_setting_guesses_the_columns_anew():
    app = opened("s3vm", give(open_own()), **{"data.name": OWN})
    (above,) = [number for number in app.number_input if number.label == "Lines above the table"]
    app = sound(above.set_value(1).run())
    assert box(app, "Label").value == run_of(app, "s3vm").spec.data.recipe.column("label") != "kind"


@each("labels, setting, is_ordered", [
    (["low", "medium", "high"], "multiclass", True),
    (["yes", "no"], "auc", False),
    ([f"{i}.5" for i in range(60)], "ordinal", True),
])  # fmt: skip
def test_the_data_page_begins_with_the_setting_that_suits_a_files_labels_and_does_not_call_three_two(
    labels, setting, is_ordered
):
    rows = [f"{i % 7},{labels[i % len(labels)]}" for i in range(60)]
    app = give(open_own("data"), "own.csv", "\n".join(["a,label", *rows, "1,", ""]).encode())
    assert "1 of them without a label · 1 feature ·" in written(app)
    assert "61 rows, 1 feature, " in written(app)
    assert "; 1 row without a label" in written(app)
    assert box(app, "Hide labels as in").value == setting
    app = choose(app, "Hide labels as in", "auc")
    assert ("so there is nothing to order" in written(app)) != is_ordered


# --- from page to page


def chosen_on_data_page():
    """Return the app with a file on the Data page, of which something else is chosen than is guessed."""
    app = give(opened("data", **{"data.name": OWN}))
    first = [box(app, label).value for label in ("Missing numbers", "Label", "Positive class")]
    assert first == ["mean", "other", "v"]
    for label, value in (("Label", "kind"), ("Positive class", "mid"), ("Missing numbers", "drop")):
        app = choose(app, label, value)
    return app


WEEKLY = [pytest.param(setting, marks=pytest.mark.weekly) for setting in ("auc", "ordinal")]


@pytest.mark.parametrize("setting", ["s3vm", "multiclass", *WEEKLY])
def test_what_was_chosen_of_a_file_is_not_lost_in_a_setting_nor_on_the_way_home(setting):
    app = opened(setting, chosen_on_data_page(), **{"data.name": OWN})
    assert errors(app) == []
    recipe = run_of(app, setting).spec.data.recipe
    assert (recipe.column("label"), recipe.missing) == ("kind", "drop")
    assert [recipe.role(name) for name in ("day", "x", "other")] == ["date", "number", "category"]
    if setting in ("multiclass", "ordinal"):
        assert len(run_of(app, setting).split.class_names) == 3
        return
    recipe = run_of(choose(app, "Missing numbers", "median"), setting).spec.data.recipe
    assert recipe.missing == "median"
    assert "begun anew with reading of the file, missing median" in status(app)
    assert run_of(app, setting).split.class_names == ("not mid", "mid")
    app = opened("home", choose(app, "Positive class", "top"))
    app = opened(setting, app, **{"data.name": OWN})
    assert run_of(app, setting).spec.data.recipe.positive == "top"
    recipe = run_of(choose(app, "Label", "x"), setting).spec.data.recipe  # numbers
    assert errors(app) == []
    assert (recipe.column("label"), recipe.bins, recipe.role("kind")) == ("x", 2, "category")


def test_runs_that_fail_say_so_and_why():
    app = give(opened("explore", **{"data.name": OWN}))
    state = app.session_state["_exploring_explore"]
    state.made.failed = {run.place: "the file is gone" for run in state.made.runs}
    n = len(state.made.runs)
    assert f"{n} of {n} runs failed. The file is gone." in errors(checked(app.run()))


def test_pinned_runs_of_two_files_of_one_name_and_of_a_set_are_made_and_kept_with_the_session(tmp_path):
    app = give(open_own(**{"solver.n_iter": "20"}))
    own = run_of(app).spec
    other = run_of(give(app, content=table(n=120))).spec
    solver, data = {"n_iter": 20, "n_features": 16, "batch_size": 8}, {"name": "two_moons", "n": 200, "n_labeled": 20}
    plain = Spec.from_dict({"setting": "auc", "data": data, "solver": solver})
    assert own.data.path == other.data.path
    assert own.data.sha256 != other.data.sha256
    app.session_state["_pins"] = {spec.sha256: spec for spec in (plain, own, other)}
    app = checked(opened("pinned", app, seeds="1").button(key="pinned-start").click().run())
    state = app.session_state["_exploring_pinned"]
    assert state.job.wait(120)
    assert errors(checked(app.run())) == []
    assert (state.made.failed, state.made.n_there) == ({}, 3)
    assert not Store(tmp_path / "runs.sqlite").get(state.made.hashes)


def test_a_study_of_a_file_is_there_again_after_a_reload_which_ends_the_session_and_the_file_on_its_disk(tmp_path):
    link = {"data.name": OWN, "steps": "as chosen at the side", "seeds": "1", "solver.n_iter": "20"}
    app = give(opened("convergence", **link))
    app = checked(app.button(key="ways-start").click().run())
    state = app.session_state["_exploring_ways"]
    assert state.job.wait(120)
    assert [path.suffix for path in state.folders[()].path.rglob("*") if path.is_file()] == [".csv"]
    again = give(opened("convergence", **left_in_browser(checked(app.run()))))
    made = again.session_state["_exploring_ways"]
    assert (made.made.n_there, made.waits, made.folders[()] is state.folders[()]) == (1, False, False)
    assert made.store.file == state.store.file != tmp_path / "runs.sqlite"
    assert "It " in next(one.value for one in again.markdown if one.value.startswith("- **"))
    other = give(opened("convergence", **link), content=table(n=120)).session_state["_exploring_ways"]
    assert other.store.file != state.store.file


def test_runs_on_a_file_are_removed_an_hour_after_the_last_session_that_has_it_and_the_file_at_once(monkeypatch):
    spec, ends = SimpleNamespace(data=SimpleNamespace(name="file", sha256="ab" * 32)), []
    made = SimpleNamespace(study=SimpleNamespace(specs=[spec]))
    monkeypatch.setattr(going, "Timer", lambda seconds, end: ends.append(end) or SimpleNamespace(start=list))
    first, other = (going.Exploring(made=made) for _ in range(2))
    runs, own = first.store.file.parent, first.folders[()].path
    assert other.store.file.parent == runs != own
    del first
    gc.collect()
    assert (own.exists(), runs.exists()) == (False, True)
    while ends:  # an hour later
        ends.pop()()
    del other
    gc.collect()
    assert (going.Exploring(made=made).store.file.parent, runs.exists()) == (runs, True)
    gc.collect()
    while ends:
        ends.pop()()
    assert not runs.exists()


@pytest.mark.parametrize(
    "setting", ["auc", *[pytest.param(name, marks=pytest.mark.ci) for name in ("ordinal", "multiclass")]]
)
def test_a_study_of_a_file_in_the_app_and_the_same_one_by_command_share_their_runs(setting, tmp_path):
    app = give(opened("explore", **{"setting": profile_of(SETTINGS[setting]).short, "data.name": OWN}))
    study, store, made = replace(study_of(app), axes=(), seeds=(0,)), tmp_path / "runs.sqlite", tmp_path / "made.json"
    (tmp_path / "table.csv").write_bytes(table())
    by_hand = {"setting": setting, "data": {"name": "file", "path": "table.csv"}}  # all else is guessed
    for spec, n_new in ((study.spec.to_dict(), 1), (by_hand, 0)):
        (tmp_path / "study.json").write_text(json.dumps({"spec": spec, "seeds": [0]}))
        words = ["sweep", str(tmp_path / "study.json"), "--store", str(store), "--json", str(made)]
        assert main(words) == 0
        assert (json.loads(made.read_text())["new"], [*Store(store).get(run.key for run in study.runs())]) == (
            n_new,
            [run.key for run in study.runs()],
        )


# --- in a link


def test_a_link_asks_for_its_file_takes_up_its_recipe_and_a_bad_one_names_no_file():
    first = give(open_own(), "iris.csv", iris_csv())
    spec = run_of(choose(first, "Positive class", "versicolor")).spec
    recipe = {"format": "delimited", "roles": {"species": "label"}, "positive": "versicolor"}
    link = json.dumps({"name": "iris.csv", "sha256": spec.data.sha256, "recipe": recipe})
    second = open_own(**{"data.file": link})
    assert "This link needs the file" in said(second)[0]
    assert bench_of(second).live is None
    give(second, "renamed.csv", iris_csv())
    assert not any("This link" in sentence for sentence in said(second))
    assert run_of(second).spec.data.recipe == spec.data.recipe
    bad = give(open_own(**{"data.file": '{"name": "a", "sha256": "b", "recipe": 7}'}), "good.csv", GOOD)
    assert errors(bad) == []
    assert run_of(bad).spec.data.path == "good.csv"


@pytest.mark.ci
def test_a_link_to_a_file_shows_the_same_values_before_and_after_the_upload():
    app = give(open_own(), content=table(wide=50.0))
    app = checked(app.select_slider(key="lam").set_value(0.1).run())
    made, file = values(app), left_in_browser(app)["data.file"]
    assert json.loads(file)["facts"]["n"] == 240
    other = open_own(**{"solver.lam": "0.1", "data.file": file})
    assert values(other) == {key: made[key] for key in values(other)}
    moved = checked(other.select_slider(key="batch_size").set_value(64).run())
    after = give(moved, content=table(wide=50.0))
    assert values(after) == made | {"batch_size": 64}
    assert run_of(after).spec.kernel.sigma == run_of(app).spec.kernel.sigma
    assert run_of(after).spec.solver.batch_size == 64


FACTS = {"n": 9, "d": 1, "n_known": 9, "n_pairs": None, "share": 0.5, "sigma": 1.0, "classes": 2}


@each("facts", [[], {"n": "9"}, FACTS | {"share": 2.0}, FACTS | {"found": {"lam": -1}}, FACTS | {"found": {"x": 1}}])
def test_what_a_link_says_of_a_file_is_left_out_where_it_is_not_possible(facts):
    said = {"name": "table.csv", "sha256": "0" * 64, "facts": facts}
    assert OwnFile.from_link(said) is None
    assert OwnFile.from_link(said | {"facts": FACTS}) is not None


# --- the Data page: the gallery, a close look, and its link


def test_the_table_shows_the_numbers_of_the_file_and_not_those_of_its_precision():
    said = np.array([[19927.94, 0.1, -1.25e-9], [16777215.0, 0.0, np.nan], [3.4e38, -2.5, 1 / 3]])
    shown = as_written(said.astype(np.float32))
    np.testing.assert_allclose(shown, [*said[:2], [3.4e38, -2.5, 0.3333333]], rtol=1e-7)
    assert shown[0].tolist() == said[0].tolist()
    assert as_written(said) is said


def test_minus_one_beside_two_classes_is_unlabeled_on_the_page_and_a_switch_says_otherwise():
    X = np.random.default_rng(0).normal(size=(240, 2))
    content = lines("a,b,label", *(f"{a},{b},{i % 3 - 1}" for i, (a, b) in enumerate(X)))
    app = give(open_own(**{"solver.n_iter": "5"}), "table.csv", content)
    assert run_of(app).split.class_names == ("0", "1")
    assert "80 rows without a label" in written(app).replace("\\", "")
    switch = next(box for box in app.text_input if box.label == "A label that means “not labeled”")
    assert switch.value == "auto"
    switch.set_value("none").run()
    assert not app.exception
    assert "240 rows, 2 features, 2 classes: not" in written(app).replace("\\", "")
    assert "without a label" not in written(app)

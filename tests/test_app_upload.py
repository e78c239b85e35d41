"""A user's file on the pages, without a browser: all settings, hostile files, links, and the choices."""

import json

import pandas as pd
import pytest
from cases import some
from hostile_files import GOOD, REFUSED, parquet
from live_page import has_run
from opened_pages import bench_of, errors, left_in_browser, open_page, run_of, said
from own_tables import iris_csv
from streamlit.runtime.scriptrunner import StopException
from test_usual_values import ESTIMATORS as WITHOUT_MULTICLASS

from dsgcore import PS3VT
from pages.upload import upload

WORDS = b"".join(b"%d.5,%d,%s\n" % (i % 7, i * i % 11, [b"low", b"mid", b"top"][i % 3]) for i in range(60))
ESTIMATORS = WITHOUT_MULTICLASS | {"multiclass": PS3VT}
SETTINGS = ("auc", "s3vm", "similar_unlabeled", "ordinal", "multiclass")


def open_own(setting="auc", **link):
    return open_page(setting, **{"data.name": "Your own file", **link})


def give(app, name, content):
    app.file_uploader[0].upload(name, content, "application/octet-stream").run()
    assert not app.exception
    return app


def test_an_order_that_the_file_declares_is_that_of_the_page():
    grades = pd.Categorical(["zinc", "iron", "gold"] * 20, ["zinc", "iron", "gold"], ordered=True)
    frame = pd.DataFrame({"a": range(60), "b": [i * i % 11 for i in range(60)], "grade": grades})
    app = give(open_own("ordinal"), "t.parquet", parquet(frame=frame))
    assert errors(app) == []
    assert run_of(app, "ordinal").split.class_names == ("zinc", "iron", "gold")


def assert_waiting(app):
    """Check that the page says what to do, and that there is nothing to start, pause or step."""
    assert not app.exception
    assert any("Choose a file in the sidebar" in info.value for info in app.main.info)
    bar = {button.key: button for button in app.main.button}
    assert bar["play"].label == "Play"
    assert all(bar[key].disabled for key in ("play", "step", "reset"))
    assert not has_run(app)
    assert not [chart for chart in app.get("bidi_component") if "chart-" in chart.proto.id]


def test_before_a_file_is_chosen_the_page_says_what_to_do_and_nothing_can_be_played():
    app = open_own()
    assert_waiting(app)
    give(app, "iris.csv", iris_csv())
    assert not any("Choose a file in the sidebar" in info.value for info in app.main.info)
    assert not any(button.disabled for button in app.main.button)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_file_is_learned_from_in_every_setting(setting):
    app = open_own(setting)
    assert said(app) == []
    assert "Choose a file" in app.info[0].value
    rows = iris_csv().splitlines()
    rows[10::8] = [row.rsplit(b",", 1)[0] + b"," for row in rows[10::8]]  # some without a label
    give(app, "iris.csv", b"\n".join(rows))
    assert errors(app) == []
    run = run_of(app, setting)
    assert (run.split.y_hidden == -1).sum() == 18
    assert run.spec.data.path == "iris.csv"
    assert run.split.X_train.shape[1] == 4
    assert run.t > 0
    solver, problem, usual = run.spec.solver, run.spec.problem, ESTIMATORS[setting]()  # it begins as the estimator does
    assert (solver.average, solver.n_iter) == (usual.average, usual.n_iter)
    assert (solver.step_size is None) == (setting != "multiclass")  # whose fit takes a step for its graph, too
    for name in ("gamma", "pairing", "is_pooled", "correction", "loss", "is_balanced"):
        if setting != "multiclass" and hasattr(problem, name):
            assert getattr(problem, name) == getattr(usual, name)
    assert run.spec.kernel.sigma == pytest.approx(0.25)  # "scale" of four standardised features
    assert run.spec.data.scaling == "standard"
    assert max(len(stop) for slider in app.select_slider for stop in slider.options) <= 9  # computed ones, too
    assert any("cells separated by comma" in text.value.replace("\\", "") for text in app.markdown)
    assert "iris" in left_in_browser(app)["data.file"]


def test_every_hostile_file_gets_one_sentence_and_the_app_goes_on():
    """The small ones one after another in one session; the large ones are tried where memory is limited."""
    app = open_own()
    small = [(name, *refused) for name, refused in REFUSED.items() if not callable(refused[1])]
    for name, file_name, content, _ in some(small, 10):
        give(app, file_name, content)
        assert len(app.error) == 1, name
        assert "\n" not in app.error[0].value
        assert "Traceback" not in app.error[0].value
    give(app, "good.csv", GOOD)
    assert errors(app) == []
    assert run_of(app).spec.data.path == "good.csv"


def test_names_of_a_file_are_shown_as_they_are():
    """No name becomes a link, a picture or a formula on the page."""
    nasty = "![x](http://127.0.0.1:1/x.png) $e$ :red[r] <b>"
    rows = f'"{nasty}",z,label\n' + "".join(f"{i},{i % 7},{'ab'[i % 2]}\n" for i in range(30)) + "oops,1,a\n"
    app = give(open_own(), f"{nasty.replace('/', '')}.csv", rows.encode())
    assert "oops" in errors(app)[0]
    for element in (*app.error, *app.markdown, *app.caption):
        assert "![x](" not in element.value


def test_the_label_the_class_and_the_gaps_can_be_chosen():
    app = give(open_own(), "iris.csv", iris_csv())
    labels = [box for box in app.selectbox if box.label in ("Label", "Positive class", "Missing numbers")]
    assert [box.value for box in labels] == ["mean", "species", "setosa"]
    by_label = {box.label: box for box in labels}
    by_label["Positive class"].select("virginica").run()
    assert run_of(app).split.class_names == ("not virginica", "virginica")
    next(box for box in app.selectbox if box.label == "Missing numbers").select("drop").run()
    assert run_of(app).spec.data.recipe.missing == "drop"
    next(box for box in app.selectbox if box.label == "Label").select("sepal width").run()
    assert errors(app) == []
    recipe = run_of(app).spec.data.recipe
    assert (recipe.column("label"), recipe.bins, recipe.role("species")) == ("sepal width", 2, "category")


def test_a_link_asks_for_its_file_and_takes_up_its_recipe():
    first = give(open_own(), "iris.csv", iris_csv())
    next(box for box in first.selectbox if box.label == "Positive class").select("versicolor").run()
    spec = run_of(first).spec
    recipe = {"format": "delimited", "roles": {"species": "label"}, "positive": "versicolor"}
    link = json.dumps({"name": "iris.csv", "sha256": spec.data.sha256, "recipe": recipe})
    second = open_own(**{"data.file": link})
    assert "This link needs the file" in said(second)[0]
    assert bench_of(second).live is None
    give(second, "renamed.csv", iris_csv())
    assert not any("This link" in sentence for sentence in said(second))
    assert run_of(second).spec.data.recipe == spec.data.recipe


LONG = json.dumps({"name": "x" * 30_000, "sha256": "b"})


def test_a_bad_link_is_no_file():
    app = give(open_own(**{"data.file": '{"name": "a", "sha256": "b", "recipe": 7}'}), "good.csv", GOOD)
    assert errors(app) == []
    assert run_of(app).spec.data.path == "good.csv"


def test_a_file_chosen_in_one_setting_is_there_in_another():
    app = give(open_own(), "iris.csv", iris_csv())
    app.query_params["data.name"] = "Your own file"
    app.switch_page("pages/multiclass.py").run()
    app.selectbox(key="mc_data").select("file").run()
    assert not app.exception
    assert run_of(app, "multiclass").split.class_names == ("setosa", "versicolor", "virginica")


def test_a_drawing_that_a_click_ends_leaves_no_control_without_the_value_that_suits_the_file(monkeypatch):
    undisturbed = run_of(give(open_own(), "iris.csv", iris_csv())).spec
    suited = upload.suited_to_own

    def first_only(problem):
        yield next(iter(suited(problem)))
        monkeypatch.setattr(upload, "suited_to_own", suited)
        raise StopException

    monkeypatch.setattr(upload, "suited_to_own", first_only)
    app = give(open_own(), "iris.csv", iris_csv()).run()
    spec = run_of(app).spec
    assert (spec.kernel, spec.data) == (undisturbed.kernel, undisturbed.data)

"""A user's file on the pages, without a browser: all settings, hostile files, links, and the choices."""

import json

import pytest
from cases import each, some
from hostile_files import GOOD, REFUSED
from live_page import has_run
from opened_pages import bench_of, errors, left_in_browser, open_page, run_of, said, shown
from own_tables import iris_csv, with_pairs
from streamlit.runtime.scriptrunner import StopException
from test_usual_values import ESTIMATORS as WITHOUT_MULTICLASS

from dsgcore import PS3VT
from dsgcore.data.reading import File
from pages.upload import choosing, upload
from pages.upload.choosing import linked_file

ROWS = b"".join(b"%d.5,%d,%d\n" % (i % 7, i, i % 4) for i in range(60))
WORDS = b"".join(b"%d.5,%d,%s\n" % (i % 7, i * i % 11, [b"low", b"mid", b"top"][i % 3]) for i in range(60))
ESTIMATORS = WITHOUT_MULTICLASS | {"multiclass": PS3VT}
SETTINGS = ("auc", "s3vm", "similar_unlabeled", "ordinal", "multiclass")


def open_own(setting="auc", **link):
    return open_page(setting, **{"data.name": "Your own file", **link})


def give(app, name, content):
    app.file_uploader[0].upload(name, content, "application/octet-stream").run()
    assert not app.exception
    return app


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


def test_a_run_on_other_data_is_not_shown_while_a_file_is_waited_for():
    app = open_own(**{"data.name": "Two moons"}, at="5")
    assert has_run(app)
    app.selectbox(key="data").select("file").run()
    assert_waiting(app)
    app.selectbox(key="data").select("two_moons").run()
    assert not app.exception
    assert has_run(app)


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
    assert any("cells separated by comma" in text.value.replace("\\", "") for text in app.markdown)
    assert "iris" in left_in_browser(app)["data.file"]


def test_pairs_of_the_file_are_the_pairs_of_the_run():
    app = give(open_own("similar_unlabeled"), "pairs.csv", with_pairs())
    run = run_of(app, "similar_unlabeled")
    assert run.spec.data.n_labeled == 12
    assert len(run.labeled_rows) == 24


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


def test_a_split_that_is_not_possible_is_told():
    rows = b"x,z,label\n" + b"".join(b"%d,%d,a\n" % (i, i % 3) for i in range(30)) + b"1,2,b\n"
    app = give(open_own(), "rare.csv", rows)
    assert "each class must have at least 2 rows, got 1 of 'b'" in errors(app)[0]


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


@each("text", ["{", "[1]", '{"name": "a"}', '{"name": "a", "sha256": 7}', "[" * 10_000, LONG])
def test_a_text_that_describes_no_file_is_no_file(text, monkeypatch):
    monkeypatch.setattr(choosing, "given", lambda name: text)
    assert linked_file("file") is None


def test_a_bad_link_is_no_file():
    app = give(open_own(**{"data.file": '{"name": "a", "sha256": "b", "recipe": 7}'}), "good.csv", GOOD)
    assert errors(app) == []
    assert run_of(app).spec.data.path == "good.csv"


def test_a_links_recipe_that_is_not_one_is_told():
    digest = __import__("hashlib").sha256(GOOD).hexdigest()
    link = json.dumps({"name": "a", "sha256": digest, "recipe": {"format": "delimited", "bins": "many"}})
    app = give(open_own(**{"data.file": link}), "good.csv", GOOD)
    assert "bins must be a whole number" in errors(app)[0]


def test_a_file_chosen_in_one_setting_is_there_in_another():
    app = give(open_own(), "iris.csv", iris_csv())
    app.query_params["data.name"] = "Your own file"
    app.switch_page("pages/multiclass.py").run()
    app.selectbox(key="mc_data").select("file").run()
    assert not app.exception
    assert run_of(app, "multiclass").split.class_names == ("setosa", "versicolor", "virginica")


def ended_once(function, when):
    """Return the function, but let it end the drawing of the page at its first call with such arguments, as a click does."""
    ended = []

    def called(*arguments):
        if not ended and when(*arguments):
            ended.append(True)
            raise StopException
        return function(*arguments)

    return called


def test_a_drawing_that_a_click_ends_has_not_read_the_file_in_vain(monkeypatch):
    read = []

    def counted(self, recipe, labels, rows=None, *more):
        read.append(rows is None)
        return points(self, recipe, labels, rows, *more)

    points = File.points
    monkeypatch.setattr(File, "points", counted)
    monkeypatch.setattr(upload, "_use_suited", ended_once(upload._use_suited, lambda *_: True))
    app = give(open_own(), "iris.csv", iris_csv())
    assert bench_of(app).live is None
    app.run()
    assert run_of(app).spec.data.path == "iris.csv"
    assert read == [True, False]  # to describe it, and as the training rows say


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


def test_an_index_and_cells_that_are_read_as_missing_are_said_without_opening_anything():
    rows = "\n".join(f"{i},{'NA' if i % 10 == 0 else i * 7 % 11},{'ab'[i % 2]}" for i in range(60))
    app = give(open_own(), "table.csv", f",size,label\n{rows}\n".encode())
    texts = [one.value.replace("\\", "") for one in app.markdown]
    assert any(
        "1 of 3 columns is left out: 'column 1' ('column 1': names or numbers the rows)" in text for text in texts
    )
    assert any(
        "Read as missing: 6 cells 'NA' (in 'size'). You can change these words under *Format*" in t for t in texts
    )
    app.text_input(
        key=next(one.key for one in app.text_input if one.key and one.key.endswith("-missing_words"))
    ).set_value("?")
    app.run()
    assert any("'size' must hold numbers, got 'NA' in row 1" in error for error in errors(app))
    assert not any("(--" in error for error in errors(app))


def test_what_may_be_a_mistake_is_said_in_words_of_the_page():
    rows = "\n".join(f"{-999 if i % 5 == 0 else i % 9},{i % 4},{'ab'[i % 2]}" for i in range(60))
    app = give(open_own(), "table.csv", f"age,x,label\n{rows}\n".encode())
    texts = [shown(one.value) for one in app.markdown if "mean missing in" in one.value]
    (question,) = (text for text in texts if "Add it to *Cells that mean a missing value* under *Format*." in text)
    assert "--missing" not in question
    assert not [
        one.value for one in (*app.markdown, *app.warning, *app.error, *app.caption) if "--" in shown(one.value)
    ]


# A table, a setting, a control by the end of its key with another value, and what the recipe then says of it.
CONTROLS = {
    "header of numbers": ("ordinal", b"1100,1102,grade\n" + ROWS, "header", False, ("header", False)),
    "decimal comma": (
        "auc",
        b"a;b;grade\n" + ROWS.replace(b",", b";").replace(b".", b","),
        "decimal",
        ".",
        ("decimal", "."),
    ),
    "encoding": ("auc", b"a,b,grade\n" + ROWS, "encoding", "cp1252", ("encoding", "cp1252")),
    "delimiter": ("auc", b"a,b,grade\n" + ROWS, "delimiter", ";", ("delimiter", ";")),
    "missing words": ("auc", b"a,b,grade\n" + ROWS, "missing_words", "3.5, x", ("missing_words", ("", "3.5", "x"))),
    "missing": ("auc", b"a,b,grade\n" + ROWS, "missing", "median", ("missing", "median")),
    "lines above": ("auc", b"Harvest,of,2020\na,b,grade\n" + ROWS, "above", 0, ("above", 0)),
    "units": ("auc", b"a,b,grade\n" + ROWS, "units", True, ("units", True)),
    "comments": ("auc", b"a,b,grade\n" + ROWS, "comment", "#", ("comment", "#")),
    "escape": ("auc", b"a,b,grade\n" + ROWS, "escape", True, ("escape", True)),
    "order": ("ordinal", b"a,b,grade\n" + WORDS, "order", "top, mid, low", ("order", ("top", "mid", "low"))),
    "positive": ("auc", b"a,b,grade\n" + WORDS, "positive", "low", ("positive", "low")),
    "unlabeled": ("ordinal", b"a,b,grade\n" + ROWS, "unlabeled", "2", ("unlabeled", "2")),
    "bins": ("ordinal", b"a,b,grade\n" + ROWS, "few", 2, ("bins", 2)),
    "label": ("multiclass", b"a,b,grade\n" + ROWS, "label", "b", ("label", "b")),
}


@each("what", some(CONTROLS, 6))
def test_what_a_table_means_has_a_control(what):
    setting, content, name, value, said = CONTROLS[what]
    app = give(open_own(setting), "t.csv", content)
    widgets = [*app.text_input, *app.selectbox, *app.toggle, *app.number_input]
    (control,) = [one for one in widgets if str(one.key).startswith("own-") and f"-{name}-" in f"{one.key}-"]
    control.set_value(value).run()
    assert not app.exception
    own = app.session_state[f"_choosing_{setting}"].own
    field, meant = said
    assert errors(app) or own is not None
    if own is not None:
        assert (own.recipe.column("label") if field == "label" else getattr(own.recipe, field)) == meant

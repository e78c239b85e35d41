"""Data on the pages, without a browser: a person's own file in every setting and in a link, the Data page, controls."""

import gc
import io
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, some
from hostile_files import GOOD, REFUSED
from live_page import figure, has_run, status
from opened_pages import bench_of, checked, errors, left_in_browser, open_page, run_of, said, shown
from own_tables import iris_csv, lines
from streamlit.runtime.scriptrunner import StopException
from test_usual_values import ESTIMATORS as WITHOUT_MULTICLASS

from dsgcore import PS3VT
from dsgcore.__main__ import main
from dsgcore.data import DATASETS
from dsgcore.data.inspection import Coverage
from dsgcore.data.reading.sources import READABLE
from dsgcore.experiments import SETTINGS, Run, Spec, script
from dsgcore.experiments.data_of import load_dataset
from dsgcore.settings import profile_of
from dsgcore.studies import Store
from pages.controls.own_file import OwnFile
from pages.gallery.data_views import agreement, as_written
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


def test_before_a_file_is_chosen_the_page_says_what_to_do_and_nothing_can_be_played():
    app = open_own()
    assert any("Choose a file in the sidebar" in info.value for info in app.main.info)
    assert any(f"{READABLE}." in caption.value for caption in app.sidebar.caption)  # as the reader's refusals say
    bar = {button.key: button for button in app.main.button}
    assert all(bar[key].disabled for key in ("play", "step", "reset"))
    assert not has_run(app)
    assert not [chart for chart in app.get("bidi_component") if "chart-" in chart.proto.id]
    give(app, "iris.csv", iris_csv())
    assert not any("Choose a file in the sidebar" in info.value for info in app.main.info)
    assert not any(button.disabled for button in app.main.button)


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
    small = [(name, *refused[:2]) for name, refused in REFUSED.items() if not callable(refused[1])]
    for name, file_name, content in some(small, 4, 10):
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


@each("page, prefix", some([("auc", ""), ("s3vm", "svm_"), ("ordinal", "ord_"), ("similar_unlabeled", "su_")], 2, 4))
def test_more_labels_than_a_file_has_are_clamped_and_said(page, prefix):
    app = give(open_own(page), content=table(n=100))
    app.select_slider(key=f"{prefix}n_labeled").set_value(200).run()
    assert errors(app) == []
    (warned,) = (shown(warning.value) for warning in app.warning if "are not possible" in warning.value)
    number = app.session_state[f"{prefix}n_labeled"]
    assert warned.startswith("200 similar pairs" if page == "similar_unlabeled" else "200 labeled points")
    assert f"so the slider is at {number}: " in warned  # also where one number leads to another
    assert "n_labeled" not in warned
    for one in (app, app.run()):
        assert run_of(checked(one), page).spec.data.n_labeled == number < 100
    assert said(app.select_slider(key=f"{prefix}n_labeled").set_value(10).run()) == []  # the slider is no longer there


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


@each("place", ["explore", "convergence"])
@each("content", [None, b"a,b,c\n1,2\n"])
def test_a_page_of_studies_without_a_file_says_beside_its_question_where_to_choose_one(place, content):
    app = open_own(place)
    app = app if content is None else give(app, content=content)
    (said,) = [info.value for info in app.main.info]
    assert "choose one in the sidebar" in said


def test_the_data_page_looks_closely_at_a_file_and_another_one_begins_with_labels_that_suit_it():
    app = checked(open_own("data"))
    assert any("one row for each point" in info.value for info in app.info)
    give(app, "own.csv", iris_csv())
    assert "150 points · 4 features · 3 classes" in written(app)  # all of its classes, as the commands take them
    assert any("Every training point has a label" in info.value for info in app.info)  # all of a file's labels count
    app = checked(app.select_slider(key="data_n_labeled").set_value(100).run())
    for key in ("chart-plane", "chart-data-balance", "chart-data-coverage"):
        assert figure(app, key)["data"]
    rows = iris_csv().splitlines()
    give(app, "small.csv", b"\n".join([rows[0], *rows[1::5]]))
    assert "30 points" in written(app)
    choose(app, "Hide labels as in", "auc")
    assert "30 points · 4 features · 2 classes" in written(app)
    assert figure(app, "chart-data-balance")["data"]


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


@each("gap, note", [
    ("", "60 empty cells. You can change what replaces missing numbers under *Columns*."),
    ("NA", "60 cells 'NA' (in 'a'). You can change these words under *Format*."),
])  # fmt: skip
def test_a_note_on_missing_cells_stands_once_and_names_what_can_be_changed(gap, note):
    rows = [f"{gap if i % 3 else i % 7},{-999 if i % 5 == 0 else i % 11},{'uv'[i % 2]}" for i in range(90)]
    app = give(open_own("data"), "own.csv", lines("a,b,label", *rows))
    assert f"Read as missing: {note}" in shown(written(app))
    assert shown(written(app)).count("Does -999 mean missing") == 2  # above the table, and where it says what was done


def test_a_file_that_is_refused_can_be_read_in_another_format():
    content = lines("a;b;label", *(f"{i};{i % 7};{'äö'[i % 2]}" for i in range(60)))
    app = give(open_own("data"), "own.csv", content.replace("ä".encode(), b"\xe4", 5))
    (said,) = errors(app)
    assert re.search(r"^Line \d.*under \*Columns\* and \*Format\*", said)
    app = choose(app, "Encoding", "cp1252")
    assert errors(app) == []
    assert "60 rows" in written(app)


def test_rows_that_sum_others_are_said_above_the_table_too():
    rows = [f"{'Total' if i == 29 else f'r{i % 5}'},{i % 7},{'uv'[i % 2]}" for i in range(30)]
    app = give(open_own("data"), "own.csv", lines("name,a,label", *rows))
    assert shown(written(app)).count("Row 30 holds 'Total' in 'name': delete rows that sum others.") == 2


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


def spec_shown(app):
    return json.loads(next(c.value for c in app.code if c.language == "python").split('r"""')[1].split('"""')[0])


def links(app):
    """Every way to another page: its label, page, query, and whether it is open."""
    seen = ((p.label.partition(" *")[0], p) for p in (e.proto for e in app.get("page_link")))  # the rest is heard alone
    return [(label, p.page, p.query_string, p.disabled) for label, p in seen]


def traces(app, key):
    return figure(app, key)["data"]


def names(app, key):
    return {trace["name"] for trace in traces(app, key)}


def test_the_gallery_has_a_card_for_every_set_that_leads_to_settings_and_to_a_close_look():
    app = sound(open_page("data"))
    text = written(app)
    for entry in DATASETS.values():
        assert f"**{entry.title}**" in text
        assert entry.sentence in text
        assert f"{entry.n:,} points · {entry.d} features · {len(entry.class_names)}" in text
        assert (entry.licence in text) or entry.is_generated
    assert f"{READABLE}." in text
    assert len(app.get("image")) == len(DATASETS)
    assert len(links(app)) == len(SETTINGS) * len(DATASETS)
    assert len([button for button in app.button if button.key.startswith("look-")]) == len(DATASETS) + 1  # one's own
    closed = [label for label, _, _, is_disabled in links(app) if is_disabled]
    assert closed == ["Ordered classes"] * sum(not entry.suits("ordinal") for entry in DATASETS.values())
    assert all(("does not fit" in e.proto.label) == e.proto.disabled for e in app.get("page_link"))  # heard, not seen
    assert ("Gaps", "s3vm", "data.name=iris", False) in links(app)
    assert ("Ranking", "auc", "data.name=ten_digits", False) in links(app)
    app = sound(app.button(key="look-wine").click().run())
    assert left_in_browser(app) == {"data.name": "wine"}
    assert "## Wine" in written(app)
    app = sound(next(b for b in app.button if b.label == "All data sets").click().run())
    assert left_in_browser(app) == {}
    assert "**Two moons**" in written(app)


@each("name", ["iris", "diabetes"])
def test_a_close_look_at_a_set(name):
    entry = DATASETS[name]
    app = sound(open_page("data", **{"data.name": entry.title}))
    assert f"## {entry.title}" in written(app)
    assert names(app, "chart-plane") == names(app, "chart-feature") == set(entry.class_names)
    assert sum(len(trace["x"]) for trace in traces(app, "chart-plane")) == pytest.approx(entry.n * 0.7, abs=1)
    balance = traces(app, "chart-data-balance")
    assert [trace["name"] for trace in balance] == ["labeled", "unlabeled", "test"]
    assert sum(int(text.replace(",", "")) for trace in balance for text in trace["text"]) == entry.n
    assert len(traces(app, "chart-data-coverage")) == 2
    columns, table = app.dataframe
    assert len(columns.value) == entry.d
    assert list(table.value.columns[:2]) == ["class", "used as"]
    assert set(table.value["used as"]) == {"labeled", "unlabeled", "test"}
    assert "Leaks" in written(app)
    why = "Ordered classes: The classes of Iris have no order, so there is nothing to rank."
    assert (why in written(app)) == (name == "iris")


def test_a_click_goes_back_to_the_file_from_another_set():
    app = choose(give(open_own(), "iris.csv", iris_csv()), "Data", "Two moons")
    assert run_of(app).spec.data.name == "two_moons"
    (button,) = (one for one in app.button if shown(one.label) == "Use iris.csv")
    assert run_of(sound(button.click().run())).spec.data.path == "iris.csv"


def test_the_table_of_a_run_is_that_of_its_data():
    app = sound(open_page("auc", at="2", **{"data.name": "Breast cancer", "view.columns": "true"}))
    (table,) = (one.value for one in app.dataframe if "used as" in one.value.columns)
    split = run_of(app).split
    is_here = split.train_rows < len(table)
    used = np.where(split.y_train < 0, "unlabeled", "labeled")[is_here]
    assert table["used as"][split.train_rows[is_here]].tolist() == used.tolist()
    dataset = load_dataset(run_of(app).spec)
    assert table.iloc[:, 2].to_numpy() == pytest.approx(dataset.X[: len(table), 0], rel=1e-5)


def test_the_table_shows_the_numbers_of_the_file_and_not_those_of_its_precision():
    said = np.array([[19927.94, 0.1, -1.25e-9], [16777215.0, 0.0, np.nan], [3.4e38, -2.5, 1 / 3]])
    shown = as_written(said.astype(np.float32))
    np.testing.assert_allclose(shown, [*said[:2], [3.4e38, -2.5, 0.3333333]], rtol=1e-7)
    assert shown[0].tolist() == said[0].tolist()
    assert as_written(said) is said


def test_a_link_holds_the_set_the_setting_and_the_options():
    own = {"data.name": "Iris", "data.positive": "virginica", "data.label_noise": "0.2", "setting": "Gaps", "seed": "3"}
    views = {"view.across": "petal length (cm)", "view.feature": "petal width (cm)"}
    app = sound(open_page("data", **own, **views))
    assert not any(one.startswith("In the link") for one in said(app))
    assert names(app, "chart-plane") == {"not virginica", "virginica"}
    assert figure(app, "chart-plane")["layout"]["xaxis"]["title"]["text"] == "petal length (cm)"
    assert figure(app, "chart-feature")["layout"]["title"]["text"] == "petal width (cm), by class"
    query = next(query for label, _, query, _ in links(app) if label == "Gaps")
    assert set(query.split("&")) == {"data.name=iris", "data.positive=virginica", "data.label_noise=0.2", "seed=3"}
    app = sound(open_page("s3vm", at="1", **dict(pair.split("=") for pair in query.split("&"))))
    assert any("virginica against the rest" in one for one in written(app).splitlines())
    pairs = sound(
        open_page(
            "data",
            **{"data.name": "Gaussian mixture", "data.imbalance": "0.6", "data.n_labeled": "100", "setting": "Pairs"},
        )
    )
    query = next(query for label, _, query, _ in links(pairs) if label == "Pairs")
    assert "problem.prior=0.6" in query.split("&")  # the unlabeled points' share of positives, which pairs do not have


# --- data in the workbench


def test_other_data_bring_the_options_that_suit_them():
    app = sound(open_page("similar_unlabeled", **{"solver.n_iter": "5"}))
    for box, choice, prior in (("su_data", "wine", 0.33), ("su_positive", "class_1", 0.4)):  # 59 and 71 of 178
        app = sound(app.selectbox(key=box).select(choice).run())
        assert spec_shown(app)["data"]["name"] == "wine"
        assert spec_shown(app)["problem"]["prior"] == prior
    assert spec_shown(app)["data"]["convert"] == "one against the rest"
    assert spec_shown(app)["data"]["positive"] == 1


def test_the_data_tab_shows_balance_coverage_pairs_and_leaks():
    app = sound(open_page("similar_unlabeled", at="3", **{"data.label_noise": "0.5"}))
    assert [len(traces(app, f"chart-tab-{chart}")) for chart in ("balance", "coverage")] == [3, 2]
    assert "25 of 50 pairs share a class" in written(app)
    assert "No test point equals a training point." in written(app)


LABELED, IN_PAIR = "the nearest labeled point has the same", "the nearest point in a pair has the same"
OF_KNOWN = "For 9 of 11 unlabeled points whose class the source gives, "


@each("right, known, is_pairs, sentence", [
    (9, 11, False, f"{OF_KNOWN}{LABELED}"),
    (9, 11, True, f"{OF_KNOWN}{IN_PAIR}"),
    (98, 100, False, f"For **98 %** of 100 unlabeled points, {LABELED} class: the labels"),
    (60, 100, False, "the unlabeled points have to fill the gaps."),
    (60, 100, True, f"For **60 %** of 100 unlabeled points, {IN_PAIR} class."),
    (0, 0, False, "The source gives no classes"),
])  # fmt: skip
def test_a_share_says_of_how_many_points_it_is_and_concludes_nothing_from_few(right, known, is_pairs, sentence):
    said = agreement(Coverage(np.zeros(100), np.zeros(100), right, known), is_pairs=is_pairs)
    assert sentence in said
    assert ("too few points for a conclusion" in said) is (known == 11)


# --- the note beside the picker of the data set: which controls a choice of data has set


def notes(app):
    """Return the notes of the sidebar that say what the data have set."""
    titles = tuple(f"{entry.title} set " for entry in DATASETS.values())
    return [caption.value for caption in checked(app).sidebar.caption if caption.value.startswith(titles)]


def test_a_change_of_data_says_which_controls_it_set_and_to_what():
    app = open_page("auc", **{"kernel.sigma": "3", "solver.lam": "0.01"})
    assert notes(app) == []  # the link's values
    app = app.selectbox(key="data").select("two_moons").run()
    assert app.session_state["sigma"] == 10.0
    assert notes(app) == ["Two moons set labeled points to 200, noise to 0.15 and inverse bandwidth to 10."]
    app = app.selectbox(key="data").select("breast_cancer").run()
    (note,) = notes(app)
    assert note.startswith("Breast cancer set step size to auto, ")  # the sliders that come first
    assert note.endswith(" more controls.")
    (every,) = [caption.help for caption in app.sidebar.caption if caption.value == note]
    for label, name in (("regularisation", "lam"), ("step size", "step_size"), ("trust in the labels", "gamma")):
        value = app.session_state[name]
        assert f"{label} to {'auto' if value is None else format(value, 'g')}" in every

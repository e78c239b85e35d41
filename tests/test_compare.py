"""Compared on pages, without a browser: pinned runs beside each other, a run over ten seeds, and methods on one's own data."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each
from opened_pages import checked, errors, open_page, run_of, said, shown
from sklearn.datasets import load_iris
from streamlit.testing.v1 import AppTest
from test_edits import send
from test_explore import figure, fill, opened
from test_file_on_pages import written
from test_usual_values import own_rows

from dsgcore import label
from dsgcore.cli.options import command_parser, reading_of
from dsgcore.comparing import Background, Sample, rounds
from dsgcore.data.reading import File, Recipe
from dsgcore.experiments import Spec, default_spec
from dsgcore.jobs import shared_queue
from pages.comparing import which_method
from pages.studies.going import BUDGET

DATA = {"name": "two_moons", "n": 200, "n_labeled": 20}
SPEC = Spec.from_dict({"setting": "auc", "data": DATA, "solver": {"n_iter": 6, "n_features": 8}})
SEEDS = (0, 1, 2)


def pinned(store, *specs, more=(), **link):
    """Keep the pins of some specs, and open the page that compares them."""
    for spec in specs:
        store.keep("pin", [(spec.sha256, spec.to_json(), None)])
    return opened(page="pinned", runs=",".join([*(spec.sha256[:12] for spec in specs), *more]), **link)


# --- pinned runs


def test_a_link_adds_as_many_pins_as_there_are_places_beside_the_sessions(store):
    own, other = ([replace(SPEC, seed=seed) for seed in seeds] for seeds in (range(5), range(5, 11)))
    pinned(store, *own, *other)
    app = opened("data")
    app.session_state["_pins"] = {spec.sha256: spec for spec in own}
    app.query_params["runs"] = ",".join(spec.sha256[:12] for spec in (own[1], *other))
    (notice,) = said(app.switch_page("pages/pinned.py").run())
    assert list(app.session_state["_pins"].values()) == [*own, *other[:3]]
    (pin,) = [button for button in app.switch_page("pages/auc.py").run().button if button.key == "pin-auc"]
    assert pin.disabled
    assert "8 runs are pinned" in pin.help
    assert notice.endswith(f"runs of the link: {', '.join(spec.sha256[:12] for spec in other[3:])}.")


UNREADABLE = ["", "null", "[]", "{", '{"setting": "auk"}', '{"data": 3}']
UNREADABLE += ['{"setting": "auc", "solver": {"step_size": "x"}}']


def test_a_hostile_link_pins_that_are_no_longer_valid_and_two_settings_get_a_sentence(store):
    app = opened(page="pinned", runs="' OR 1=1 --,%,zz" + "f" * 500)
    assert "runs that are not pinned" in app.warning[0].value
    assert "different settings" in pinned(store, SPEC, default_spec("s3vm")).info[0].value
    names = [f"{place:x}" * 64 for place in range(1, 1 + len(UNREADABLE))]
    store.keep("pin", [(name, text, None) for name, text in zip(names, UNREADABLE, strict=True)])
    short = [name[:12] for name in names]
    (notice,) = said(opened(page="pinned", runs=",".join(short)))
    assert f"runs that are not pinned or no longer valid: {', '.join(short)}" in notice


# --- a run over ten seeds


def test_a_run_of_the_workbench_is_shown_over_ten_seeds_once_they_are_there(store):
    app = opened(page="auc", **{"at": "2", "solver.n_iter": "16", "solver.n_features": "16"})
    app.session_state["tab"] = "Race"
    app.run()
    state = app.session_state["_exploring_repeats_auc"]
    assert len(state.made.runs) == 20  # with the twin
    assert app.button(key="repeats-start").label == "Run with 10 seeds"
    fill(store, state.made, is_diverging=False)
    words = written(checked(app.run()))
    assert "mean and standard error of 10 seeds" in words
    # The twin has the scores of the later places: higher by the same amount for each seed.
    effect = next(m.value for m in app.markdown if "HURTS" in m.value)
    for part in ("−0.1 [−0.1, −0.1]", "paired over 10 seeds", "its 95 % interval lies below 0"):
        assert part in effect
    assert "labels only, median" in [trace.get("name") for trace in figure(app, "chart-repeats")["data"]]
    app.button(key="pin-auc").click().run()
    assert len(app.session_state["_pins"]) == 1


@pytest.mark.usefixtures("store")
def test_ten_seeds_can_be_run_again_after_an_edit_that_fits_one_seed_is_undone():
    app = open_page("auc", at="2", **{"view.by_hand": "true", "solver.n_iter": "4"})
    assert app.button(key="repeats-start")
    app = checked(send(app, {"do": "erase", "rows": [int(run_of(app).split.train_rows[-1])]}))
    (refused,) = (caption.value for caption in app.caption if caption.value.startswith("Over 10 seeds"))
    app = checked(send(app, {"do": "undo"}, first=2))
    assert refused not in [caption.value for caption in app.caption]
    assert app.button(key="repeats-start")


# --- "Which method for my data?" of the Data page

TWO = ["LogisticRegression", "SVC"]


@pytest.fixture
def only_two(monkeypatch, store):
    """Let the page compare two quick methods."""

    def begun(*arguments, **options):
        return Background(*arguments, **options | {"methods": TWO, "curves": True, "seconds": None})

    monkeypatch.setattr(which_method, "Background", begun)


@pytest.fixture
def begun(monkeypatch, store):
    """The arguments and options of each comparison that the page begins; none goes on."""
    given = []
    monkeypatch.setattr(which_method, "Background", lambda *rows, **options: given.append((rows, options)))
    return given


def of_file(table):
    app = open_page("data", **{"data.name": "Your own file"})
    return checked(app.file_uploader[0].upload("own.csv", table.to_csv(index=False).encode(), "text/csv").run())


def test_a_session_cannot_take_more_time_or_memory_than_its_share(begun):
    app = checked(open_page("data", **{"data.name": "Iris"}))
    checked(app.selectbox(key="which_seconds").select(max(which_method.TIMES)).run())
    app.button(key="compare-methods").click().run()
    ((_, options),) = begun
    expected = (BUDGET.run.memory, 300.0, shared_queue())
    assert (options["memory_limit"], options["seconds"], options["jobs"]) == expected
    assert options["seconds"] < BUDGET.seconds


def test_a_files_comparison_prepares_each_split_as_the_command_does(begun):
    table = own_rows("s3vm")
    checked(of_file(table).button(key="compare-methods").click().run())
    (((rows, y), options),) = begun
    read = File.of_frame(table, "own")
    recipe = read.recipe("classes", target="label", is_asked=True)  # as `dsg-lab compare` does
    kept, data = read.kept(recipe), read.labels(recipe, "classes")
    ours = Sample.of(rows, y, n_labeled=None, is_ordered=False, recipe=options["recipe"])
    commands = Sample.of(kept, data.y, n_labeled=None, is_ordered=False, recipe=recipe)
    split, same = (sample.split(1, sample.n_labeled) for sample in (ours, commands))
    for name in ("X_train", "y_train", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(split, name), getattr(same, name))


@each("changes", [
    {"roles": {"x0": "ignore", "x1": "category", "label": "label"}, "missing": "median", "unlabeled": "c"},
    {"roles": {"x2": "label", "label": "category", "a, b": "ignore"}, "missing_words": ["", "-9", "a,b"], "bins": 3},
    {"roles": {"label": "label", "id": "index", "when": "date"}, "missing_words": [""]},  # no word means missing
    {"roles": {"label": "label"}, "header": False, "decimal": ",", "delimiter": ";", "order": ["b", "a"]},
    {"roles": {"label": "label", "id": "index", "when": "date"}},  # as it is guessed
])  # fmt: skip
def test_the_options_beside_a_verdict_are_read_as_the_recipe_that_they_stand_for(changes):
    guess = Recipe.from_dict({"format": "delimited", "roles": {"label": "label", "id": "index", "when": "date"}})
    recipe = Recipe.from_dict(guess.to_dict() | changes)
    given = command_parser().parse_args(["fit", "SVC", "own.csv", "--out", "out", *recipe.options(guess)])
    read = {name: value for name, value in reading_of(given).items() if value not in (None, [], {})}
    roles = read.pop("roles", {}) | dict.fromkeys(read.pop("drop", ()), "ignore")
    changed = {name: recipe.role(name) for name in {**dict(guess.roles), **dict(recipe.roles)}}
    assert roles == {name: role for name, role in changed.items() if role not in (guess.role(name), "label")}
    words = {"missing_words": tuple(filter(None, recipe.missing_words))} if "missing_words" in changes else {}
    assert read == {name: getattr(recipe, name) for name in changes if name != "roles"} | words


def test_an_upload_leads_over_a_verdict_with_table_and_curves_to_a_labeled_file(only_two):
    table = own_rows("ordinal")  # three classes, of which the page's setting makes two
    app = of_file(table)
    next(box for box in app.selectbox if box.label == "Missing numbers").select("median").run()
    app.number_input(key="which_labels").set_value(30).run()
    app.number_input(key="which_seeds").set_value(3).run()
    checked(app.button(key="compare-methods").click().run())
    app.session_state["_which_method"].wait(120)
    app, found = checked(app.run()), app.session_state["_which_method"].progress
    assert found.n_labeled == 30
    method = found.verdict.recommended
    assert method in TWO
    assert which_method.plain(found.verdict.sentence) in written(app)
    (ranked,) = [frame.value for frame in app.dataframe if "method" in frame.value]
    assert set(ranked["method"]) == set(TWO)
    assert {"Report (HTML)", "Table (CSV)"} <= {button.label for button in app.get("download_button")}
    assert "How many labels would you need?" in [sub.value for sub in app.subheader]
    assert not app.button(key="compare-methods").disabled
    assert app.button(key="label-rows").label == f"Label 80 rows with {method}"
    assert f"dsg-lab fit {method} own.csv --target label --missing=median --out model" in [
        code.value for code in app.code
    ]
    app.multiselect(key="which_keep").select("kind").run()
    app.button(key="label-rows").click().run()
    job = app.session_state["_label_rows"]
    assert job.wait(120)
    assert not job.error
    checked(app.run())
    assert which_method.plain(job.result.sentence) in written(app)
    report, (unused,) = next(c.value for c in app.caption if "Label next" in c.value), job.result.warnings
    assert "Ordered classes on the page Data" in unused
    assert which_method.plain(unused) not in report  # it stands above the table
    assert which_method.plain(which_method.with_minus(job.result.promise)) in report
    assert {"Labeled rows (CSV)", "Report (text)"} <= {button.label for button in app.get("download_button")}
    same = label(table.replace("", None), "label", method=method, keep=["kind"], ask=10, missing="median")
    pd.testing.assert_frame_equal(job.result.table, same.table)
    assert job.result.ask == same.ask
    assert job.result.expected == same.expected


def test_a_comparison_is_stopped_on_its_page_before_its_last_seed(only_two):
    app = of_file(own_rows("s3vm"))
    app.number_input(key="which_seeds").set_value(100).run()
    app = checked(app.button(key="compare-methods").click().run())
    going = app.session_state["_which_method"]
    checked(app.button(key="stop-comparing").click().run())
    going.wait(60)
    assert going.is_over
    assert len(going.progress.fits) < 100 * len(TWO)


def test_a_comparison_is_said_to_go_on_leads_to_the_methods_page_and_goes_with_its_data(monkeypatch, store):
    verdict = SimpleNamespace(recommended="PS3VT", contenders=("SVC", "Ridge"))
    found = SimpleNamespace(fits=range(12), verdict=verdict, ranking=())
    cancelled = []
    going = SimpleNamespace(is_over=False, error="", progress=found, seconds=3.2, cancel=lambda: cancelled.append(1))
    monkeypatch.setattr(which_method, "Background", lambda *rows, **options: going)
    app = open_page("data", **{"data.name": "Iris"})
    app = checked(app.button(key="compare-methods").click().run())
    assert "12 fits done, 3 s. 3 methods may still be the best." in written(app)
    assert app.button(key="compare-methods").disabled
    going.is_over, going.error = True, "The store is full."
    app = checked(app.run())
    assert errors(app) == ["The store is full."]
    assert "See PS3VT learn on" in written(app)
    assert not cancelled
    app = checked(app.selectbox(key="set").select("Wine").run())
    assert cancelled
    assert app.session_state["_which_method"] is None


def test_where_classes_have_one_label_it_is_said_that_no_comparison_is_possible():
    def page():
        from types import SimpleNamespace

        import numpy as np

        from pages.comparing import which_method

        dataset = SimpleNamespace(X=np.eye(6), y=np.array([0, 1, 1, 1, -1, -1]), class_names=("a", "b"))
        which_method.which_method(dataset, "few", None, is_ordered=False)

    (caption,) = checked(AppTest.from_function(page).run()).caption
    assert shown(caption.value).startswith("No comparison is possible: ")
    assert shown(caption.value).endswith("label more rows of 'a' (1).")


def test_labels_of_another_comparison_end_with_it_and_rows_that_all_have_one_get_none(monkeypatch):
    cancelled = []
    job = SimpleNamespace(is_over=False, cancel=lambda: cancelled.append(1))

    def page(y, method):
        from types import SimpleNamespace

        import numpy as np
        import pandas as pd

        from pages.comparing import label_rows

        rows = pd.DataFrame({"a": range(len(y))})
        found = SimpleNamespace(verdict=SimpleNamespace(recommended=method))
        label_rows.label_rows((rows, None, np.array(y), "ab"), found, "digest", is_ordered=False)

    buttons = []
    for y, method in (([0, 1, -1], None), ([0, 1, 1], "SVC"), ([0, 1, -1], "SVC")):
        app = AppTest.from_function(page, args=(y, method))
        app.session_state["_label_rows"], app.session_state["_label_rows_for"] = job, ("digest", "Ridge")
        buttons.append([one.label for one in checked(app.run()).button])
    assert buttons == [[], [], ["Label 1 row with SVC"]]
    assert cancelled == [1]


@each("how", ["cancelled", "left"])
def test_a_comparison_ends_if_nobody_wants_it(how):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "LEASE", -1.0 if how == "left" else 90.0)
        given = {"n_labeled": 30, "seeds": 100, "methods": TWO, "curves": False, "store": None, "jobs": 1}
        going = Background(*load_iris(return_X_y=True), **given)
        if how == "cancelled":
            going.cancel()
        going.wait(60)
    assert going.is_over
    assert 0 < len(going.progress.fits) < 200
    assert np.isfinite(going.seconds)

"""The pages without a browser: what they say, and that bad input never shows a traceback."""

import json
import threading
from contextlib import suppress
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each, some
from live_page import figure, figures, has_run, numbers, status
from opened_pages import APP, checked, open_page, run_of, said
from real_sets import as_csv
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from small_specs import OWN_LESSON
from streamlit.testing.v1 import AppTest
from test_file_on_pages import give, open_own

from dsgcore import Spec, lessons
from dsgcore.data import DATASETS, load
from dsgcore.estimators.inputs import width
from dsgcore.experiments import SETTINGS, FileStore, SpecError, default_spec, read_spec
from dsgcore.experiments.spec import FINE, SIGMAS
from dsgcore.experiments.theory import words_of
from dsgcore.kernels import KERNELS, Matern
from dsgcore.kernels.widths import like_scale, usual_sigma
from pages.controls import controls
from pages.controls.control import automatic_of, names_of_stops
from pages.controls.link import with_changes
from pages.session.bench import Bench, begin
from pages.shell import warm_up

SLIDERS = ("step_size", "n_features", "lam", "gamma", "sigma", "batch_size", "n_iter", "patience", "tolerance")
SLIDERS += ("n_labeled", "test_share")
PAGES = tuple(SETTINGS)


def refused(notices, names):
    """Whether there is one sentence for each of the link's names, and no other."""
    return len(notices) == len(names) and all(
        sum(f"In the link, {name} must " in notice for notice in notices) == 1 for name in names
    )


@each("text", ["abc", "NaN", "inf", "-1e9", "1e400", "", "[1]", "true", "auto"])
def test_a_text_is_a_number_only_if_the_parameter_allows_it(text):
    offered = controls.controls_for(SETTINGS["auc"], "two_moons")
    automatic = [name for name in SLIDERS if text == "auto" and offered[name].parameter.optional]
    read = []
    for name in SLIDERS:
        with suppress(ValueError):
            offered[name].read(text)
            read.append(name)
    assert read == automatic


@each("at", ["0", "301", "٣", "9" * 5000])
def test_a_run_does_not_go_to_an_iteration_that_is_not_allowed(at):
    bench = Bench(FileStore())
    begin(bench, default_spec("auc"), at)
    assert refused(bench.link.notices, ["at"])
    assert bench.live.run.t == 0


@each("value", ["abc", "3:lam=NaN", "3:lam=0.5", "3:sigma=1", "9999:lam=0.01", "," * 5000])
def test_a_record_of_changes_that_does_not_fit_is_refused_in_one_sentence(value):
    with pytest.raises(SpecError) as caught:
        with_changes(default_spec("auc"), value)
    assert "\n" not in str(caught.value)


def test_the_page_says_how_far_the_core_is_until_it_is_ready(monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def compiling():
        begun.set()
        go_on.wait(30)

    monkeypatch.setattr("pages.shell.warm_up.warm_up_steps", lambda: {"values": compiling})
    warm_up.warm_up.clear()
    try:
        app = AppTest.from_file(APP, default_timeout=60).run()
        assert begun.wait(30)
        app.switch_page("pages/auc.py").run()
        assert not app.exception
        assert not has_run(app)
        assert "values (1 of 1)" in app.get("progress")[0].proto.text
        go_on.set()
        warm_up.warm_up().thread.join(30)
        assert len(numbers(app.run())) == 3
    finally:
        go_on.set()
        warm_up.warm_up.clear()


def test_where_the_loops_must_be_compiled_another_process_compiles_the_last_one_meanwhile(monkeypatch):
    done = []

    def submit(function):
        done.append(function.__name__)
        return SimpleNamespace(wait=lambda seconds: done.append("waited"))

    steps = {name: partial(done.append, name) for name in ("values", warm_up.LAST_STEP)}
    monkeypatch.setattr(warm_up, "shared_queue", lambda *given: SimpleNamespace(submit=submit))
    monkeypatch.setattr(warm_up, "warm_up_steps", lambda: steps)
    alone = ["values", warm_up.LAST_STEP]
    for is_kept, expected in ((False, ["compile_last_step", "values", "waited", warm_up.LAST_STEP]), (True, alone)):
        done.clear()
        monkeypatch.setattr(warm_up.loops, "is_kept", lambda loop, is_kept=is_kept: is_kept)
        warm_up.WarmUp().thread.join(30)
        assert done == expected


@each("name", ["home", "lessons", "methods", "data", "explore", "convergence", "papers", "pinned", "take_away", "auc"])
def test_what_is_pressed_has_a_name_of_its_own_on_each_page(name):
    app = open_page(name)
    pressed = [(one.label, one.key) for one in app.button]
    for block in (node for node in walked(app.main) if node.type in ("popover", "expander")):
        pressed.append((getattr(block.proto, "label", "") or block.proto.popover.label, id(block)))
    for link in (element.proto for element in app.get("page_link")):
        pressed.append((link.label, (link.page, link.query_string)))
    if name not in (
        "home",
        "methods",
    ):  # there a moving picture and its last frame, of which one is hidden, have one text
        pressed += [(image.proto.imgs[0].alt, number) for number, image in enumerate(app.get("image"))]
    aims = {label: {aim for other, aim in pressed if other == label} for label, _ in pressed}
    assert {label: len(own) for label, own in aims.items() if len(own) > 1} == {}


def walked(node):
    yield node
    for child in getattr(node, "children", {}).values():
        yield from walked(child)


@pytest.mark.ci
@pytest.mark.parametrize("name", some(PAGES, 2))
def test_every_lesson_of_every_page_runs(name):
    app = open_page(name, **{"solver.n_iter": "20"})
    for place in range(len([button for button in app.button if (button.key or "").startswith("preset-")])):
        app = app.button(key=f"preset-{place}").click().run()
        assert not app.exception
        assert len(app.error) == 0


# --- a first run on a table brought by a person, beside what people install on the same few labels

PEERS = {
    "s3vm": ("codrna", "y", SVC()),
    "multiclass": ("pendigits", "y", LinearSVC()),
    "ordinal": ("kin40k", "y5", SVR()),
}


@pytest.mark.weekly
@pytest.mark.parametrize("setting", PEERS)
def test_a_first_run_on_few_labels_of_a_real_set_is_at_least_as_good_as_a_peer_on_the_labels_alone(setting):
    name, label, peer = PEERS[setting]
    app = give(open_own(setting), f"{name}.csv", as_csv(name, rows=1000, label=label))  # with all labels
    labels = next(slider for slider in app.select_slider if slider.key.endswith("n_labeled"))
    run = run_of(checked(labels.set_value(50).run()), setting)
    run.advance()
    split = run.split
    assert len(split.labeled) == 50
    peer.fit(split.X_train[split.labeled], split.y_train[split.labeled])
    if setting == "ordinal":  # whose score is no share of right answers
        own = run.spec.problem.score(split.y_test, peer.predict(split.X_test))
    else:
        own = peer.score(split.X_test, split.y_test)
    assert run.history.last()["score_average"] >= round(own, 3)


# --- the choice of the kernel: the offer, its values for the data, and its words


def test_the_stop_of_an_automatic_value_is_where_that_value_is():
    offered = controls.controls_for(SETTINGS["multiclass"], "two_moons").values()
    found = [(automatic_of(c.parameter), c.options) for c in offered if None in (c.options or ())]
    found = [(automatic, options) for automatic, options in found if automatic is not None]
    assert found
    for automatic, options in found:
        place = options.index(None)
        assert all(stop <= automatic for stop in options[:place])
        assert all(stop > automatic for stop in options[place + 1 :])
        assert 0 < place < len(options) - 1


def test_the_names_of_stops_that_links_add_are_not_kept_forever():
    for extra in range(1100):
        names_of_stops((0.5, 1 + extra / 7))
    assert names_of_stops.cache_info().currsize < 1100


@each("setting", SETTINGS)
def test_the_first_values_of_every_kernel_make_a_spec_with_every_data_set_whose_width_is_that_of_a_plain_spec(setting):
    problem = SETTINGS[setting]
    if "kernel" in problem.defaults:
        assert default_spec(setting).kernel.sigma == problem.defaults["kernel"]["sigma"]
    for dataset in [name for name, entry in DATASETS.items() if entry.suits(problem.labels)]:
        for kernel in problem.kernels:
            offered = controls.controls_for(problem, dataset, kernel)
            values = {name: c.parameter.default for name, c in offered.items()} | {"kernel": kernel}
            spec = controls.to_spec(problem, values, dataset, seed=0)
            assert spec.kernel.name == kernel
            for p in spec.kernel.parameters:
                assert getattr(spec.kernel, p.name) == offered[p.name].parameter.default
                assert getattr(spec.kernel, p.name) in offered[p.name].options
            plain = Spec.from_dict({"setting": setting, "data": {"name": dataset}, "kernel": {"name": kernel}})
            assert plain.kernel == spec.kernel
    if len(problem.kernels) > 1:  # before a file is read, the kernel is the Gaussian one
        own_file, *_ = controls.dataset_choice(problem).options
        assert controls.controls_for(problem, own_file, "matern")["kernel"].parameter.default == "gaussian"


# --- the pages


def test_a_kernel_that_is_picked_again_in_a_lesson_has_the_values_of_the_lesson(tmp_path, monkeypatch):
    monkeypatch.setenv(lessons.FOLDER, str(tmp_path))
    begun = 'controls = ["kernel"]\nvalues = { kernel = "matern", length = 5.0, nu = "1/2" }'
    (tmp_path / "mine.toml").write_text(OWN_LESSON.replace('controls = ["n_labeled"]', begun))
    app = open_page("auc", lesson="mine:2")
    for kernel in ("gaussian", "matern"):
        app = checked(app.selectbox(key="kernel").select(kernel).run())
    assert run_of(app).spec.kernel == Matern(5.0, "1/2")


# --- one rule for a kernel's usual width: the command line, specs and the app take the same for the same data


@each("setting, kernel", [("auc", "gaussian"), ("auc", "matern"), ("s3vm", "gaussian"), ("s3vm", "matern")])
def test_a_spec_file_with_a_file_of_data_takes_the_width_that_suits_its_points(setting, kernel, tmp_path):
    X, y = np.random.default_rng(0).normal(size=(90, 3)) * (1.0, 10.0, 0.1), np.arange(90) % 2
    np.savez(tmp_path / "points.npz", X=X, y=y)
    plain = {"setting": setting, "data": {"name": "file", "path": "points.npz"}}

    def read(**given):
        text = json.dumps(plain | {"kernel": {"name": kernel, **given}})
        (tmp_path / "spec.json").write_text(text, encoding="utf-8")
        return read_spec(tmp_path / "spec.json").kernel

    usual = like_scale(kernel, 1.0 / 3.0, 3)
    assert {name: getattr(read(), name) for name in usual} == pytest.approx(usual)
    assert [getattr(read(**{other: 7.0}), other) for other in usual] == [7.0] * len(usual)


def test_the_width_follows_the_median_distance_of_points_scaled_to_one_and_the_table_has_it_for_each_set():
    X = load("wine").X.astype(float)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    squares = [np.sum((a - b) ** 2) for i, a in enumerate(scaled) for b in scaled[:i]]
    assert usual_sigma(X) == min((0.5, 1.0, 2.0, 5.0), key=lambda s: abs(np.log(s * np.median(squares) / 2.5)))
    assert usual_sigma(X * 1000.0 - 5.0) == usual_sigma(X)
    assert usual_sigma(np.ones((5, 2))) == usual_sigma(np.ones((1, 2))) == 1.0
    assert [name for name in DATASETS if name not in FINE and SIGMAS[name] != usual_sigma(load(name).X)] == []


@each("kernel", KERNELS)
def test_a_files_width_is_the_estimators_scale_of_standardised_points(kernel):
    X = StandardScaler().fit_transform(load("wine").X.astype(float))
    for name, value in like_scale(kernel, 1.0 / X.shape[1], X.shape[1]).items():
        own = next(p for p in KERNELS[kernel].parameters if p.name == name)
        assert value == pytest.approx(width(own, "scale", X, kernel))


def saved_as(app):
    alone = [c.proto for c in app.get("bidi_component") if c.proto.bytes and "live-head" not in c.proto.id]
    names = [json.loads(proto.bytes.split(b"\n", 1)[0])["save"] for proto in alone]
    return [*names, *(key.removeprefix("chart-") for key in figures(app))]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_runs_at_once_and_has_its_details(name):
    app = open_page(name, at="20")
    assert said(app) == []
    assert status(app).startswith("step 20 of 300 · paused")
    assert any(caption.value.startswith("This tab shows step 20.") for caption in app.caption)
    assert figure(app, "chart-details")["data"]
    shown, score = figure(app, "chart-score")["layout"]["title"]["text"], run_of(app, name).problem.score_name
    assert shown.lower().startswith(score.lower())
    assert {"map", "objective", "score", "terms"} <= set(saved_as(app)) or name == "multiclass"
    assert len(set(saved_as(app))) == len(saved_as(app))
    assert all(saved_as(app))
    assert len(app.error) == 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_runs_on_its_page(kernel):
    app = open_page("auc", **{"kernel.name": words_of(kernel).title}, at="3")
    assert said(app) == []
    assert run_of(app).spec.kernel.name == kernel

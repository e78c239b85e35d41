"""The choice of the kernel on the pages: the offer, its values for the data, and its words."""

import json

import numpy as np
import pytest
from cases import each
from live_page import figure
from opened_pages import open_page, run_of, said, shown
from sklearn.preprocessing import StandardScaler

from dsgcore import Spec
from dsgcore.core.parameters import Real, grid
from dsgcore.data import DATASETS, load
from dsgcore.estimators.kernel import width
from dsgcore.experiments import SETTINGS, Run, StopReason, default_spec, read_spec, theory_of
from dsgcore.experiments.kernel_words import words_of
from dsgcore.experiments.rivals import competitors, fixed_parameters, kernel_note
from dsgcore.experiments.settings import FINE, SIGMAS, kernel_names
from dsgcore.kernels import KERNELS
from dsgcore.kernels.widths import like_gaussian, like_scale, usual_sigma
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.controls import OWN_KEYS, kernel_title

STOCHASTIC = [name for name, setting in SETTINGS.items() if len(kernel_names(setting)) > 1]
CUT = {setting: profile_of(SETTINGS[setting]).prefix for setting in STOCHASTIC}


def spec_with(setting, kernel, **own):
    return Spec.from_dict({"setting": setting, "kernel": {"name": kernel, **own}})


def code(app):
    return " ".join("".join(block.value for block in app.code).split())


# --- what is offered


def test_all_settings_but_multiclass_offer_every_kernel_by_its_title():
    assert set(STOCHASTIC) == {"supervised", "auc", "s3vm", "similar_unlabeled", "ordinal"}
    for setting in STOCHASTIC:
        picker = controls.controls_for(SETTINGS[setting], "spirals")["kernel"]
        assert picker.parameter.options == tuple(KERNELS)
        for name in KERNELS:
            assert f"**{kernel_title(name)}**" in picker.parameter.sentence
    assert "kernel" not in controls.controls_for(SETTINGS["multiclass"], "spirals")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("setting", STOCHASTIC)
def test_the_first_values_of_every_kernel_make_a_spec_with_every_data_set(setting, kernel):
    problem = SETTINGS[setting]
    own_file, *datasets = controls.dataset_choice(problem).options
    assert controls.controls_for(problem, own_file, kernel)["kernel"].parameter.default == "gaussian"
    for dataset in datasets:
        offered = controls.controls_for(problem, dataset, kernel)
        values = {name: c.parameter.default for name, c in offered.items()} | {"kernel": kernel}
        spec = controls.to_spec(problem, values, dataset, seed=0)
        assert spec.kernel.name == kernel
        for p in spec.kernel.parameters:
            assert getattr(spec.kernel, p.name) == offered[p.name].parameter.default
            assert getattr(spec.kernel, p.name) in offered[p.name].options


def test_without_a_kernel_the_controls_ask_for_the_one_that_there_was_before():
    for setting in SETTINGS:
        spec = default_spec(setting)
        offered = controls.controls_for(SETTINGS[setting], spec.data.name)
        values = {name: c.parameter.default for name, c in offered.items() if name != "kernel"}
        made = controls.to_spec(SETTINGS[setting], values, spec.data.name, seed=0)
        assert made.kernel == spec.kernel


def test_parameters_of_one_name_and_another_meaning_have_controls_of_their_own():
    keys = {}
    for kernel in KERNELS:
        for p in KERNELS[kernel].parameters:
            keys.setdefault(OWN_KEYS.get((kernel, p.name), p.name), set()).add((p.label, p.symbol, p.sentence))
    assert all(len(meanings) == 1 for meanings in keys.values())


# --- what goes with the data


@pytest.mark.parametrize(("setting", "kernel"), [("auc", "dot_product"), ("ordinal", "matern"), ("s3vm", "laplacian")])
def test_a_run_with_the_first_values_of_another_kernel_does_not_diverge(setting, kernel):
    problem = SETTINGS[setting]
    dataset = "ordinal_rings" if setting == "ordinal" else "two_moons"
    values = {n: c.parameter.default for n, c in controls.controls_for(problem, dataset, kernel).items()}
    run = Run(controls.to_spec(problem, values | {"kernel": kernel, "power": "5", "n_iter": 60}, dataset, seed=0))
    run.advance()
    assert run.stop_reason is StopReason.FINISHED


# --- words


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_theory_speaks_of_the_runs_kernel(kernel):
    said_of = theory_of(spec_with("auc", kernel))
    assert f"**{words_of(kernel).title} kernel.**" in said_of.statement
    assert said_of.statement.count("$") % 2 == 0
    (bounded,) = (a for a in said_of.assumptions if "features are bounded" in a.sentence)
    assert bounded.holds == (kernel != "dot_product")


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_competitor_without_the_runs_kernel_says_so_in_one_sentence(kernel):
    for setting in STOCHASTIC:
        spec = spec_with(setting, kernel)
        for kind in competitors(setting):
            note = kernel_note(spec, kind)
            assert bool(note) == (fixed_parameters(spec, kind).get("kernel", kernel) != kernel)
            assert note == "" or (note.startswith(kind.title) and note.endswith(".") and note.count(". ") == 0)


# --- the pages


@pytest.mark.parametrize("setting", ["auc", "ordinal"])
def test_another_kernel_begins_a_new_run_and_a_lesson_sets_it_back(setting):
    key = CUT[setting]
    app = open_page(setting, **{"solver.n_iter": "20"})
    assert '"name": "gaussian"' in code(app)
    app = app.selectbox(key=f"{key}kernel").select("matern").run()
    assert said(app) == []
    assert '"name": "matern"' in code(app)
    assert app.selectbox(key=f"{key}nu").value == "3/2"
    changed = next(table.value for table in app.dataframe if "parameter" in table.value.columns).set_index("parameter")
    assert changed.loc["Kernel"].tolist() == ["Matérn", "Gaussian"]
    assert changed.loc["Bandwidth", "previous run"] == changed.loc["Inverse bandwidth", "this run"] == "–"
    if profile_of(SETTINGS[setting]).lessons:
        app = app.button(key="preset-0").click().run()
        assert said(app) == []
        assert '"name": "gaussian"' in code(app)


def test_a_kernel_that_is_picked_has_its_defaults_and_another_one_of_the_same_width_keeps_it():
    app = open_page("auc", **{"data.name": "Digits", "kernel.sigma": "2", "solver.n_iter": "20"})
    app = app.selectbox(key="kernel").select("orthogonal_gaussian").run()
    assert app.select_slider(key="sigma").value == 2.0
    app = app.selectbox(key="kernel").select("matern").run()
    app = app.selectbox(key="nu").select("1/2").run()
    app = app.select_slider(key="length").set_value(5.0).run()
    assert '"kernel": { "length": 5.0, "name": "matern", "nu": "1/2" }' in code(app)
    app = app.selectbox(key="kernel").select("dot_product").run()
    assert '"kernel": { "name": "dot_product", "power": "3", "sigma": 0.05 }' in code(app)
    app = app.selectbox(key="kernel").select("matern").run()
    assert '"kernel": { "length": 2.0, "name": "matern", "nu": "3/2" }' in code(app)
    app = app.selectbox(key="data").select("blobs").run()
    assert '"length": 0.1' in code(app)
    assert said(app) == []


VIEW = {
    "speed",
    "slider",
    "map",
    "class_map",
    "log_objective",
    "seed",
    "data",
    "changes",
    "at",
    "file",
    "hide",
    "embed",
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_parameter_takes_a_name_that_the_view_has_in_the_link(setting):
    problem = SETTINGS[setting]
    for kernel in kernel_names(problem):
        keys = {c.key for c in controls.controls_for(problem, default_spec(setting).data.name, kernel).values()}
        assert not keys & VIEW


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_runs_on_its_page(kernel):
    app = open_page("auc", **{"kernel.name": words_of(kernel).title}, at="3")
    assert said(app) == []
    assert run_of(app).spec.kernel.name == kernel


def test_a_link_opens_with_its_kernel_and_the_unbounded_one_draws_no_bound():
    app = open_page("auc", **{"kernel.name": "Dot product", "kernel.power": "5", "kernel.sigma": "0.03"}, at="30")
    assert said(app) == []
    assert '"kernel": { "name": "dot_product", "power": "5", "sigma": 0.03 }' in code(app)
    traces = {trace.get("name"): trace["y"] for trace in figure(app, "chart-bound")["data"]}
    assert all(value is None for value in traces.get("paper's bound (Lemma 1)", []))
    assert any(value is not None for value in traces["measured"])


def test_what_is_not_allowed_of_a_kernel_in_a_link_gets_one_sentence():
    (notice,) = said(open_page("auc", **{"kernel.name": "bogus"}))
    assert "In the link, kernel.name must be" in notice
    of_length, of_nu = said(open_page("auc", **{"kernel.name": "Matérn", "kernel.nu": "7/2", "kernel.length": "1e9"}))
    assert "In the link, kernel.length must be" in of_length
    assert "In the link, kernel.nu must be" in of_nu
    (of_sigma,) = said(open_page("auc", **{"kernel.name": "Dot product", "kernel.sigma": "1e9"}))
    assert "In the link, kernel.sigma must be" in of_sigma


def test_a_competitor_without_the_kernel_is_announced_on_the_page():
    app = open_page("s3vm", **{"kernel.name": "Matérn", "solver.n_iter": "20"})
    assert said(app) == []
    (note,) = [shown(box.value) for box in app.info]
    assert "has no Matérn kernel: it gets a Gaussian one" in note
    assert [box.value for box in open_page("s3vm", **{"solver.n_iter": "20"}).info] == []


# --- one rule for a kernel's usual width: the command line, specs and the app take the same for the same data


PLACES = [
    (setting, name)
    for setting, problem in SETTINGS.items()
    for name, entry in DATASETS.items()
    if entry.suits(problem.labels)
]


@each("setting, name", PLACES)
def test_a_spec_that_leaves_the_width_out_has_the_apps(setting, name):
    controls = pytest.importorskip("pages.controls.controls", exc_type=ImportError)
    problem = SETTINGS[setting]
    for kernel in kernel_names(problem):
        offered = controls.controls_for(problem, name, kernel)
        values = {name: control.parameter.default for name, control in offered.items()} | {"kernel": kernel}
        of_the_app = controls.to_spec(problem, values, name, seed=0)
        plain = Spec.from_dict({"setting": setting, "data": {"name": name}, "kernel": {"name": kernel}})
        assert plain.kernel == of_the_app.kernel


@each("setting", [name for name, setting in SETTINGS.items() if "kernel" in setting.defaults])
def test_a_setting_begins_with_its_own_width_and_a_width_that_is_said_stays(setting):
    own = default_spec(setting)
    assert own.kernel.sigma == own.problem.defaults["kernel"]["sigma"]
    for name in ("two_moons", "ten_digits"):
        if DATASETS[name].suits(SETTINGS[setting].labels):
            said = Spec.from_dict({"setting": setting, "data": {"name": name}, "kernel": {"sigma": 3.25}})
            assert said.kernel.sigma == 3.25


@pytest.mark.parametrize("setting", ["auc", "s3vm"])
@pytest.mark.parametrize("kernel", ["gaussian", "matern"])
def test_a_spec_file_with_a_file_of_data_takes_the_width_that_suits_its_points(setting, kernel, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)) * (1.0, 10.0, 0.1), np.arange(90) % 2
    np.savez(tmp_path / "points.npz", X=X, y=y)
    plain = {"setting": setting, "kernel": {"name": kernel}, "data": {"name": "file", "path": "points.npz"}}
    (tmp_path / "spec.json").write_text(json.dumps(plain), encoding="utf-8")
    usual, spec = like_scale(kernel, 1.0 / 3.0, 3), read_spec(tmp_path / "spec.json")
    assert {name: getattr(spec.kernel, name) for name in usual} == pytest.approx(usual)
    for other in usual:
        plain["kernel"] = {"name": kernel, other: 7.0}
        (tmp_path / "spec.json").write_text(json.dumps(plain), encoding="utf-8")
        assert getattr(read_spec(tmp_path / "spec.json").kernel, other) == 7.0


def test_the_width_follows_the_median_distance_of_points_scaled_to_one():
    X = load("wine").X.astype(float)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    squares = [np.sum((a - b) ** 2) for i, a in enumerate(scaled) for b in scaled[:i]]
    assert usual_sigma(X) == min((0.5, 1.0, 2.0, 5.0), key=lambda s: abs(np.log(s * np.median(squares) / 2.5)))
    assert usual_sigma(X * 1000.0 - 5.0) == usual_sigma(X)
    assert usual_sigma(np.ones((5, 2))) == usual_sigma(np.ones((1, 2))) == 1.0


@each("kernel", KERNELS)
def test_a_files_width_is_the_estimators_scale_of_standardised_points(kernel):
    X = StandardScaler().fit_transform(load("wine").X.astype(float))
    for name, value in like_scale(kernel, 1.0 / X.shape[1], X.shape[1]).items():
        own = next(p for p in KERNELS[kernel].parameters if p.name == name)
        assert value == pytest.approx(width(own, "scale", X, kernel))


@each("d", [1, 2, 13, 64, 1000])
@each("sigma", [0.01, 0.5, 30.0])
def test_widths_are_stops_of_the_slider_near_to_what_a_gaussian_width_says(sigma, d):
    assert like_gaussian("orthogonal_gaussian", sigma, d) == {"sigma": sigma}
    assert like_gaussian("matern", sigma, d)["length"] * (2 * sigma) ** 0.5 == pytest.approx(1, rel=0.6)
    for name in ("laplacian", "matern", "dot_product"):
        own = KERNELS[name].parameters[0]
        assert isinstance(own, Real)
        assert like_gaussian(name, sigma, d)[own.name] in grid(own)


@each("name", DATASETS)
def test_a_spec_takes_the_whole_range_of_a_data_sets_options(name):
    entry = DATASETS[name]
    setting = next(s for s, problem in SETTINGS.items() if entry.is_made_for(problem.labels))
    for option in entry.options:
        for value in (option.low, option.high):
            spec = Spec.from_dict({"setting": setting, "data": {"name": name, option.name: value}})
            assert getattr(spec.data, option.name) == value


@pytest.mark.weekly
@pytest.mark.parametrize(("name", "least"), [("gaussian_mixture", 0.85), ("spirals", 0.75), ("blobs", 0.9)])
def test_a_set_of_fine_structure_is_learned_with_its_usual_width(name, least):
    controls = pytest.importorskip("pages.controls.controls", exc_type=ImportError)
    for seed in range(3):  # the median distance's width gave .61 to .70
        run = Run(controls.to_spec(SETTINGS["s3vm"], {}, name, seed))
        run.advance()
        assert run.history.last()["score_test"] > least


@each("name", DATASETS)
def test_the_table_of_widths_is_that_of_the_points(name):
    assert name in FINE or SIGMAS[name] == usual_sigma(load(name).X)

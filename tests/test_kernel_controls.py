"""The choice of the kernel on the pages: the offer, its values for the data, and its words."""

import json

import numpy as np
import pytest
from cases import each
from opened_pages import bench_of, checked, open_page, run_of, said, shown
from sklearn.preprocessing import StandardScaler
from small_specs import OWN_LESSON

from dsgcore import Spec, lessons
from dsgcore.data import DATASETS, load
from dsgcore.estimators.inputs import width
from dsgcore.experiments import SETTINGS, Run, StopReason, default_spec, read_spec
from dsgcore.experiments.spec import FINE, SIGMAS
from dsgcore.experiments.theory import words_of
from dsgcore.kernels import KERNELS, Matern
from dsgcore.kernels.widths import like_scale, usual_sigma
from pages.controls import controls
from pages.controls.control import automatic_of, names_of_stops
from pages.workbench import steering


def code(app):
    assert said(app) == []
    return " ".join("".join(block.value for block in app.code).split())


# --- what is offered


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


@each("setting, kernel", [("auc", "dot_product"), ("ordinal", "matern"), ("s3vm", "laplacian")])
def test_a_run_with_the_first_values_of_another_kernel_does_not_diverge(setting, kernel):
    problem = SETTINGS[setting]
    dataset = "ordinal_rings" if setting == "ordinal" else "two_moons"
    values = {n: c.parameter.default for n, c in controls.controls_for(problem, dataset, kernel).items()}
    run = Run(controls.to_spec(problem, values | {"kernel": kernel, "power": "5", "n_iter": 60}, dataset, seed=0))
    run.advance()
    assert run.stop_reason is StopReason.FINISHED


# --- the pages


def test_another_kernel_begins_a_new_run_beside_the_one_before_and_a_lesson_sets_it_back():
    app = open_page("ordinal", **{"solver.n_iter": "20"})
    assert '"name": "gaussian"' in code(app)
    app = app.selectbox(key="ord_kernel").select("matern").run()
    assert '"name": "matern"' in code(app)
    changed = next(table.value for table in app.dataframe if "parameter" in table.value.columns).set_index("parameter")
    assert changed.loc["Kernel"].tolist() == ["Matérn", "Gaussian"]
    assert changed.loc["Bandwidth", "previous run"] == changed.loc["Inverse bandwidth", "this run"] == "–"
    assert '"name": "gaussian"' in code(app.button(key="preset-0").click().run())


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
    steering.take(bench_of(app), {"length": 0.5})  # as advice on the width does
    assert '"length": 0.5' in code(app.run())


def test_a_kernel_that_is_picked_again_in_a_lesson_has_the_values_of_the_lesson(tmp_path, monkeypatch):
    monkeypatch.setenv(lessons.FOLDER, str(tmp_path))
    begun = 'controls = ["kernel"]\nvalues = { kernel = "matern", length = 5.0, nu = "1/2" }'
    (tmp_path / "mine.toml").write_text(OWN_LESSON.replace('controls = ["n_labeled"]', begun))
    app = open_page("auc", lesson="mine:2")
    for kernel in ("gaussian", "matern"):
        app = checked(app.selectbox(key="kernel").select(kernel).run())
    assert run_of(app).spec.kernel == Matern(5.0, "1/2")


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_runs_on_its_page(kernel):
    app = open_page("auc", **{"kernel.name": words_of(kernel).title}, at="3")
    assert said(app) == []
    assert run_of(app).spec.kernel.name == kernel


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


def test_the_tab_code_says_that_its_script_fits_an_estimator_where_it_does():
    app = open_page("auc", **{"solver.n_iter": "20"})
    for t in (5, 20):
        run_of(app).advance(t - run_of(app).t)
        app = app.run()
        is_said = any("and fits the estimator" in shown(one.value) for one in checked(app).markdown)
        assert is_said == ("model.fit(" in code(app)) == (t == 20)

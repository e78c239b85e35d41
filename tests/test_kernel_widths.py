"""One rule for a kernel's usual width: the command line, specs and the app take the same for the same data."""

import json

import numpy as np
import pytest
from cases import each
from sklearn.preprocessing import StandardScaler

from dsgcore import Spec
from dsgcore.core.parameters import Real, grid
from dsgcore.data import DATASETS, load
from dsgcore.estimators.kernel import width
from dsgcore.experiments import SETTINGS, Run, default_spec, read_spec
from dsgcore.experiments.settings import FINE, SIGMAS, kernel_names
from dsgcore.kernels import KERNELS
from dsgcore.kernels.widths import like_gaussian, like_scale, usual_sigma

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


@pytest.mark.parametrize("setting", SETTINGS)
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
    for said in usual:
        plain["kernel"] = {"name": kernel, said: 7.0}
        (tmp_path / "spec.json").write_text(json.dumps(plain), encoding="utf-8")
        assert getattr(read_spec(tmp_path / "spec.json").kernel, said) == 7.0


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

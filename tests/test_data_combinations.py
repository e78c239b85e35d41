"""Every data set in every setting that it suits: the run starts, trains, and is drawn."""

import logging

import numpy as np
import plotly.graph_objects as go
import pytest
from cases import each

from dsgcore import SpecError
from dsgcore.data import DATASETS, convert
from dsgcore.experiments import SETTINGS, LiveRun, Plane, Spec, load_dataset
from pages.charts.run_map import decision_heats, run_map
from pages.controls import controls
from pages.gallery import data_charts, data_views
from pages.gallery.thumbnails import class_colors, thumbnail
from pages.live import curves, map_view
from pages.live.curves import is_multiclass
from pages.session.view import View

# Whole runs: without the compiler they take minutes.

GRID = 12
logging.getLogger("streamlit").setLevel(logging.ERROR)  # figures are made without a page here


def asked(setting, dataset, conversion, **more):
    """The spec that the page's controls ask for, made small."""
    problem = SETTINGS[setting]
    values = {name: c.parameter.default for name, c in controls.controls_for(problem, dataset).items()}
    values |= {"convert": conversion, "n": 150, "n_labeled": 20, "n_iter": 3, "n_features": 16, "batch_size": 8, **more}
    if problem.labels == "pairs":
        values["n_labeled"] = 8
    plain = controls.to_spec(problem, values, dataset, seed=1).to_dict()
    plain["diagnostics"]["n_probes"] = 8
    return Spec.from_dict(plain)


def drawn(figure):
    """Have plotly check a figure's every property; return its traces."""
    return go.Figure(figure).data


@pytest.mark.parametrize("dataset", list(DATASETS))
def test_a_set_in_a_setting_starts_trains_and_is_drawn(dataset):
    for setting, problem in SETTINGS.items():
        for conversion in DATASETS[dataset].conversions_for(problem.labels):
            check_combination(setting, dataset, conversion)


def check_combination(setting, dataset, conversion):
    spec = asked(setting, dataset, conversion)
    assert spec.data.convert == conversion
    live = LiveRun(spec)
    live.advance()
    run = live.run
    assert run.t == 3
    assert all(np.isfinite(value) for name, value in run.history.last().items() if name != "|f - f*|")
    assert 0 <= run.history.last()["score_test"] <= 1
    assert set(np.unique(run.split.y_hidden)) == set(range(len(run.split.class_names)))
    theme = ("light", "dark")[len(dataset) % 2]
    assert drawn(map_figure(run, theme))
    assert drawn(curves.objective_figure(live, View(theme), "1"))
    assert drawn(curves.score_figure(live, View(theme), "1"))
    assert drawn(
        curves.spectrum_figure(live, theme, "1") if is_multiclass(run) else curves.error_figure(live, View(theme), "1")
    )
    draw_data(spec, run)


def map_figure(run, theme):
    state = map_view._new_map(run, (None, None))
    shown = "classes" if is_multiclass(run) else "f"
    state.values = map_view._values(run, state, shown)
    return run_map(
        run,
        state.plane,
        decision_heats(run, state.plane, [state.values], shown=map_view.KINDS[shown], theme=theme)[0],
        title=shown,
        theme=theme,
        revision="1",
    )


def draw_data(spec, run):
    """Return the drawings of the data page and the Data tab."""
    data, split, labels = load_dataset(spec), run.split, spec.problem.labels
    made = convert(data, spec.data.convert, spec.data.positive)
    np.testing.assert_array_equal(made.y[split.train_rows], split.y_hidden)
    look = data_views.look_at(split, labels)
    assert look.balance.to_numpy().sum() == len(split.y_train) + len(split.y_test)
    assert (look.pairs is not None) == (labels == "pairs")
    colors = class_colors(DATASETS[spec.data.name].target, len(split.class_names))
    xy = Plane.through(split.X_train).project(split.X_train)
    points = data_charts.PlanePoints(xy, split.y_hidden, split.y_train >= 0)
    words = {"names": split.class_names, "colors": colors, "axes": data_views.AXES, "theme": "light"}
    assert sum(len(trace.x) for trace in drawn(data_charts.plane_chart(points, **words))) == len(split.y_train)
    assert drawn(data_charts.balance_chart(look.balance, theme="dark"))
    samples = [
        data_charts.Sample(name, xy[split.y_hidden == code, 0], colors[code])
        for code, name in enumerate(split.class_names)
    ]
    assert drawn(data_charts.spread_chart(samples, title="x", axis="x", theme="light"))


@each(
    "setting, dataset",
    [(s, e.name) for s, problem in SETTINGS.items() for e in DATASETS.values() if not e.suits(problem.labels)],
)
def test_a_set_that_does_not_suit_a_setting_is_refused_with_the_reason(setting, dataset):
    entry = DATASETS[dataset]
    with pytest.raises(SpecError) as caught:
        Spec.from_dict({"setting": setting, "data": {"name": dataset}})
    assert entry.why_not(SETTINGS[setting].labels) in str(caught.value)
    assert dataset not in controls.dataset_choice(SETTINGS[setting]).options


@pytest.mark.parametrize("name", list(DATASETS))
def test_every_set_has_a_small_picture(name):
    picture = thumbnail(name)
    assert picture.startswith("<svg ")
    assert picture.count("<path") == len(DATASETS[name].class_names)
    assert len(picture) < 6000
    assert picture == thumbnail(name)


@each("setting", SETTINGS)
def test_the_first_controls_of_every_set_make_a_spec_that_can_be_split(setting):
    problem = SETTINGS[setting]
    for name in controls.dataset_choice(problem).options:
        if name not in DATASETS:
            continue
        values = {n: c.parameter.default for n, c in controls.controls_for(problem, name).items()}
        live = LiveRun(controls.to_spec(problem, values, name, seed=0))
        assert np.sum(live.run.split.y_train < 0) > 0

"""Data sets known by name, conversions, hidden labels, assumptions broken on purpose, and one's own table in a spec."""

import csv
import logging
import runpy
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from cases import each, tiers
from hostile_files import GOOD, parquet
from hypothesis import given, settings
from hypothesis import strategies as st
from own_tables import own_spec, sniff, table
from sample_files import FOLDER
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_friedman1
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from dsgcore.data import (
    DATASETS,
    DataError,
    Dataset,
    broken,
    convert,
    equal_frequency_bins,
    hide_labels,
    load,
    sets,
)
from dsgcore.data.inspection import coverage, leaks
from dsgcore.data.splits import fit_scaling
from dsgcore.experiments import FileStore, LiveRun, Run, Spec, load_dataset, load_split, script
from dsgcore.experiments.spec import SETTINGS
from pages.charts.run_map import decision_heats, run_map
from pages.controls import controls
from pages.gallery import data_charts, data_views
from pages.live import curves, map_view
from pages.live.curves import is_multiclass
from pages.session.bench import View

ARRAYS = ("X_train", "y_train", "y_hidden", "X_test", "y_test", "labeled", "train_rows", "test_rows")
seeds = st.integers(0, 2**32 - 1)
few_examples = settings(max_examples=25)


def assert_well_formed(data):
    assert (data.X.dtype, data.y.dtype, data.X.flags.c_contiguous) == (np.float32, np.int64, True)
    assert data.X.shape == (len(data.y), len(data.feature_names))
    assert set(np.unique(data.y)) == set(range(len(data.class_names)))
    assert np.isfinite(data.X).all()


def dataset_of(X, y, k=None):
    X, names = np.asarray(X, dtype=np.float32), tuple("abcdefgh"[: k or int(np.max(y)) + 1])
    return Dataset("made", X, np.asarray(y), tuple(f"x{j}" for j in range(X.shape[1])), names, "test", "none")


def labeled_data(counts, d=3):
    """Return random points with given class counts, sorted by class."""
    y = np.repeat(np.arange(len(counts)), counts)
    return dataset_of(np.random.default_rng(0).standard_normal((len(y), d)) * 50 + 7, y, len(counts))


def assert_same(first, second):
    for name in ARRAYS:
        a, b = getattr(first, name), getattr(second, name)
        assert a.dtype == b.dtype == (np.float32 if name.startswith("X") else np.int64)
        assert a.flags.c_contiguous
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", list(DATASETS))
def test_an_entry_describes_what_it_loads(name):
    entry, data = DATASETS[name], load(name)
    assert_well_formed(data)
    assert data.X.shape == (entry.n, entry.d)
    assert (data.name, data.licence, data.source) == (name, entry.licence, entry.source)
    assert data.class_names == entry.class_names
    options = {option.name for option in entry.options}
    assert ("imbalance" in options) == (entry.target == "binary")
    assert ("n_classes" in options) == (entry.target in ("ordinal", "regression"))
    for option in entry.options:  # the ends of its range are accepted, and what is beyond is refused by its name
        for end in (option.low, min(option.high, 2000)):
            assert_well_formed(load(name, **{option.name: end}))
        for wrong in (option.low - 1, option.high + 1, float("nan"), "some"):
            with pytest.raises(DataError, match=f"^{option.name} must be"):
                load(name, **{option.name: wrong})
    for wrong, said in (
        (f"{name}-", "the data set must be one of .*"),
        (name, f"the options of {name} are .*, got 'gamma'"),
    ):
        with pytest.raises(DataError, match=rf"^{said}"):
            load(wrong, gamma=1)


# --- drawn sets


def test_clean_shapes_are_what_they_say():
    rings, square, mixture = sets.circles(noise=0), sets.xor(noise=0, imbalance=0.2), sets.gaussian_mixture(noise=0)
    np.testing.assert_allclose(np.linalg.norm(rings.X, axis=1), np.where(rings.y == 1, 0.5, 1.0), rtol=1e-6)
    np.testing.assert_array_equal(square.X.prod(axis=1) > 0, square.y == 1)
    assert [len(np.unique(mixture.X[own], axis=0)) for own in (slice(None), mixture.y == 1)] == [6, 3]
    arms, other, corners = sets.spirals(noise=0.0), sets.spirals(noise=0.0, seed=1), sets.blobs(noise=0.0)
    assert np.linalg.norm(arms.X, axis=1).max() <= 1 + 1e-6
    assert KNeighborsClassifier(1).fit(arms.X, arms.y).score(other.X, other.y) == 1.0
    assert LogisticRegression().fit(arms.X, arms.y).score(arms.X, arms.y) < 0.8  # no straight lines
    np.testing.assert_allclose(np.linalg.norm(corners.X, axis=1), 1.5, rtol=1e-6)
    assert len(np.unique(corners.X.round(4), axis=0)) == 6


def test_ordered_classes_follow_the_height_that_is_cut():
    rings, ramp = sets.ordinal_rings(noise=0.0, n_classes=7), sets.ordinal_ramp(noise=0.0, n_classes=7)
    friedman = sets.friedman(noise=0.0)
    X = friedman.X.astype(np.float64)
    target = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    assert X.shape[1] == make_friedman1(20)[0].shape[1] == 10
    for data, height in (
        (rings, np.linalg.norm(rings.X, axis=1)),
        (ramp, ramp.X[:, 0] + 0.5 * np.sin(3 * ramp.X[:, 1])),
        (friedman, target),
    ):
        for j in range(len(data.class_names) - 1):
            # float32 points: Friedman's target is right to about 1e-5.
            assert height[data.y == j].max() <= height[data.y == j + 1].min() + 1e-4 * (data is friedman)


# --- sets that come with scikit-learn, and the files of sample_data


COPIES = {
    "digits": load_digits,
    "breast_cancer": load_breast_cancer,
    "wine": load_wine,
    "iris": load_iris,
    "diabetes": lambda: load_diabetes(scaled=False),
}


@each("name", COPIES)
def test_a_file_equals_scikit_learns_copy_and_is_what_the_app_loads(name):
    # As text first: pandas' own reading of numbers is not exact in every release.
    table, bunch = pd.read_csv(FOLDER / f"{name}.csv", dtype=str), COPIES[name]()
    data, points = load("ten_digits" if name == "digits" else name), table.iloc[:, :-1].to_numpy()
    # scikit-learn 1.6 holds some numbers as 4.803999999999999, later releases as 4.804.
    np.testing.assert_array_max_ulp(points.astype(float), bunch.data, maxulp=1)
    np.testing.assert_array_equal(points.astype(np.float32), bunch.data.astype(np.float32))
    np.testing.assert_array_equal(points.astype(np.float32), data.X)
    assert list(table.columns) == [*map(str, bunch.feature_names), "class"]
    shown = [f"bin {label}" if name == "diabetes" else label for label in table["class"]]
    assert shown == [data.class_names[code] for code in data.y]
    if name in ("digits", "diabetes"):
        codes = bunch.target if name == "digits" else equal_frequency_bins(bunch.target, 5) + 1
        np.testing.assert_array_equal(table["class"].astype(int), codes)
    else:
        np.testing.assert_array_equal(table["class"], bunch.target_names[bunch.target])
    if name == "digits":
        np.testing.assert_array_equal(load("digits").X, bunch.data)
        np.testing.assert_array_equal(load("digits").y, bunch.target % 2 == 0)
    if name == "breast_cancer":  # malignant is positive here and 0 in scikit-learn
        assert data.class_names == ("benign", "malignant")


# --- conversions


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=200), k=st.integers(2, 20))
def test_bins_are_as_equal_as_equal_values_let_them_be_and_keep_the_order(values, k):
    bins = equal_frequency_bins(np.array(values), k)
    assert sorted(set(bins)) == list(range(bins.max() + 1))
    most = np.unique(values, return_counts=True)[1].max()
    assert bins.max() + 1 == k if most == 1 else bins.max() < k
    assert np.bincount(bins).max() <= len(values) / k + 1 + 2 * (most - 1)
    highest = -np.inf
    for j in range(bins.max() + 1):
        own = np.array(values)[bins == j]
        assert highest < own.min()  # equal values are in one bin
        highest = own.max()


def spec(setting, **data):
    return Spec.from_dict({"setting": setting, "data": {"n_labeled": 20, **data}})


# --- hidden labels


@few_examples
@given(seed=seeds, size=st.floats(1e-20, 1e20))
def test_training_rows_fill_the_unit_interval_exactly_and_test_rows_are_not_clipped(seed, size):
    data = labeled_data([400, 600], d=5)
    data.X[:] *= np.float32(size)
    split = hide_labels(data, 10, 0.5, seed)
    np.testing.assert_array_equal(split.X_train.min(axis=0), 0)
    np.testing.assert_array_equal(split.X_train.max(axis=0), 1)
    raw = data.X[split.test_rows].astype(np.float64)
    expected = (raw - split.scaling.offset) / split.scaling.width
    # float32: half a unit in the last place for the difference and for the quotient; values are of order 1.
    np.testing.assert_allclose(split.X_test, expected, rtol=3e-7, atol=3e-7)
    np.testing.assert_array_equal(split.scaling.apply(data.X[split.test_rows]), split.X_test)
    assert split.X_test.min() < 0 or split.X_test.max() > 1


@each("scaling", ["unit", "standard"])
def test_standard_scaling_has_mean_zero_and_deviation_one_and_constant_features_become_zero(scaling):
    data = labeled_data([400, 600], d=70)
    rows = hide_labels(data, 10, 0.3, 1).test_rows
    data.X[:, 0] = 0.1
    data.X[rows[0], 0] = 9.0
    split = hide_labels(data, 10, 0.3, 1, scaling=scaling)
    assert not split.X_train[:, 0].any()
    assert not split.X_test[:, 0].any()
    assert split.scaling.width[0] == 0
    if scaling == "standard":  # float32 means of 700 values of order 1: rounding errors below 1e-6
        np.testing.assert_allclose(split.X_train.mean(axis=0, dtype=np.float64), 0, atol=1e-6)
        np.testing.assert_allclose(split.X_train.std(axis=0, dtype=np.float64)[1:], 1, atol=1e-6)


@few_examples
@given(seed=seeds, n_labeled=st.integers(4, 300))
def test_labeled_counts_follow_the_prior_but_reach_every_class(seed, n_labeled):
    split = hide_labels(labeled_data([10, 90, 300, 600]), n_labeled, 0.3, seed)
    np.testing.assert_array_equal(np.bincount(split.y_hidden), [7, 63, 210, 420])
    labeled = np.bincount(split.y_train[split.labeled], minlength=4)
    ideal = n_labeled * np.array([0.01, 0.09, 0.3, 0.6])
    assert (labeled >= 1).all()
    # Rounding moves a count by one half, making the sum right by one more; the two rarest may be raised to 1.
    assert (labeled - ideal <= 1.5).all()
    assert (ideal - labeled <= 2.5).all()
    small = hide_labels(labeled_data([2, 40]), 2, 0.9, seed)  # a class of two rows: one for testing and one label
    assert sorted(small.y_train[small.labeled]) == [0, 1]
    assert np.bincount(small.y_test).tolist() == [1, 37]
    with pytest.raises(DataError, match="at least 2 training rows must be left, got 0 of 4"):
        hide_labels(labeled_data([2, 2]), 2, 0.9, seed)
    # The labels that rare classes get beyond their share are taken from the large classes alike.
    many = hide_labels(labeled_data([4] * 20 + [300, 300]), 40, 0.5, seed)
    assert np.bincount(many.y_train[many.labeled]).tolist() == [1] * 20 + [10, 10]


# --- facts about a set


def line(n=40):
    """Points on a line, one class left and one right."""
    return dataset_of(np.stack([np.arange(n), np.zeros(n)], axis=1), (np.arange(n) >= n // 2).astype(np.int64))


def test_coverage_is_the_distance_to_the_nearest_labeled_point():
    split = hide_labels(line(40), 4, 0.5, 3, scaling="none")
    found = coverage(split)
    labeled, rows = split.X_train[split.labeled, 0], np.flatnonzero(split.y_train == -1)
    np.testing.assert_allclose(found.to_labeled, np.abs(split.X_train[rows, 0][:, None] - labeled).min(axis=1))
    others = np.abs(split.X_train[rows, 0][:, None] - split.X_train[:, 0])
    np.testing.assert_allclose(found.to_any, np.sort(others, axis=1)[:, 1])
    assert 0.5 < found.n_right / found.n_known <= 1
    nothing = coverage(hide_labels(line(40), 20, 0.5, 3))
    assert (len(nothing.to_labeled), nothing.n_right, nothing.n_known) == (0, 0, 0)


def test_duplicates_across_train_and_test_are_found():
    data = line(40)
    clean = hide_labels(data, 10, 0.5, 0)
    assert len(leaks(clean).test_rows) == leaks(clean).within_training == 0
    data.X[clean.test_rows[:3]] = data.X[clean.train_rows[[4, 5, 5]]]
    data.X[clean.train_rows[7]] = data.X[clean.train_rows[5]]
    found = leaks(hide_labels(data, 10, 0.5, 0))
    assert found.test_rows.tolist() == clean.test_rows[:3].tolist()
    assert found.train_rows.tolist() == clean.train_rows[[4, 5, 5]].tolist()
    assert found.contradicting == int(np.sum(data.y[found.test_rows] != data.y[found.train_rows]))
    assert found.within_training == 1


# --- assumptions broken on purpose


def run_of(setting, **data):
    data = {"name": "two_moons", "n": 300, "imbalance": 0.7, "n_labeled": 30, **data}
    run = Run(Spec.from_dict({"setting": setting, "data": data, "solver": {"n_iter": 3, "n_features": 8}, "seed": 5}))
    run.advance()
    return run


@each("setting", ["auc", "s3vm", "similar_unlabeled", "multiclass"])
def test_a_run_with_broken_assumptions_is_its_specs(setting):
    run, plain = run_of(setting, label_noise=0.2, prior_shift=-0.5), run_of(setting)
    again = Run(Spec.from_json(run.spec.to_json()))
    again.advance()
    assert_same(run.split, again.split)
    assert run.history.last() == again.history.last()
    damage = {"label_noise": 0.2, "prior_shift": -0.5, "seed": 5}
    assert_same(run.split, broken(plain.split, **damage, is_pairs=setting == "similar_unlabeled"))
    assert len(run.split.X_train) < len(plain.split.X_train)
    assert run.split.X_test.tobytes() == plain.split.X_test.tobytes()


@each("name", ["wine", "file"])
def test_the_data_of_a_spec_are_those_that_its_split_holds(name, tmp_path):
    rows = (FOLDER / "wine.csv").read_text(encoding="utf-8").splitlines()
    rows[5] = "," + rows[5].split(",", 1)[1]  # a missing number: the training rows' mean takes its place
    (tmp_path / "mine.csv").write_text("\n".join(rows), encoding="utf-8")
    own = spec("multiclass", name=name, **{"path": str(tmp_path / "mine.csv")} if name == "file" else {})
    split = load_split(own)
    data = load_dataset(own, fitted_rows=split.train_rows)
    scaled = fit_scaling(data.X, split.train_rows, own.data.scaling).apply(data.X[split.train_rows])
    np.testing.assert_allclose(scaled, split.X_train, rtol=0, atol=1e-6)  # a file's points are scaled in float64
    np.testing.assert_array_equal(data.y[split.test_rows], split.y_test)


# --- one's own table in a spec, and every set in every setting that it suits


def test_the_script_reads_the_file_beside_it_and_gives_the_same_numbers(tmp_path, monkeypatch):
    frame = table()
    frame.loc[::7, "size"] = np.nan
    content = parquet(frame=frame)
    spec, files = own_spec(content, sniff(content, "my table.parquet"), name="my table.parquet")
    run = Run(spec, load_split(spec, files=files))
    run.advance()
    (own := tmp_path / "own").mkdir()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (own / "my table.parquet").write_bytes(content)
    (own / "repeat_run.py").write_text(script(run), encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    runpy.run_path(str(own / "repeat_run.py"), run_name="__main__")
    with (elsewhere / "history.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    written = np.array([[float(cell or "nan") for cell in row] for row in rows])
    here = np.stack([run.history.column(name) for name in header], axis=1)
    np.testing.assert_allclose(written, here, rtol=1e-12, atol=0)
    (own / "my table.parquet").write_bytes(content + b" ")
    with pytest.raises(SystemExit, match="differs from the spec's file"):
        runpy.run_path(str(own / "repeat_run.py"), run_name="__main__")


def test_a_name_cannot_get_out_of_the_script():
    spec, files = own_spec(GOOD, sniff(GOOD, "a.csv"), name='a"""\nimport os; os.abort()\nb"""\\.csv')
    split = load_split(spec, files=files)
    of_label = own_spec(GOOD, replace(sniff(GOOD, "a.csv"), positive='"""\nabort()\n"""'))[0]
    for named in (spec, of_label):
        assert "abort" not in compile(script(Run(named, split)), "repeat_run.py", "exec").co_names


def test_a_spec_wants_its_own_file_whatever_the_case_of_its_digest_and_a_session_one_of_its_own(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(GOOD)
    spec, files = own_spec(GOOD, sniff(GOOD, "table.csv"), name=str(path))
    loud, plain = (
        Spec.from_dict(spec.to_dict() | {"data": spec.data.to_dict() | {"sha256": sha256}})
        for sha256 in (spec.data.sha256.upper(), None)
    )
    assert loud == spec
    for where in ({"files": files}, {}):
        np.testing.assert_array_equal(load_split(loud, **where).X_train, load_split(spec, **where).X_train)
    for asked in (spec, plain):
        with pytest.raises(DataError, match=r"this session does not have the file 'table\.csv'"):
            load_split(asked, files=FileStore())
    path.write_bytes(GOOD + b"1,2,yes\n")
    with pytest.raises(DataError, match=r"the file 'table\.csv' differs from the spec's file"):
        load_split(spec)


# --- every data set in every setting that it suits: the run starts, trains, and is drawn


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


# The first one is always tried: it is the toy where test_toys.py adds one.
@pytest.mark.parametrize("dataset", tiers(sorted(DATASETS, key=lambda name: not name.startswith("toy")), 4, 7))
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
    third = curves.spectrum_figure if is_multiclass(run) else curves.error_figure
    for figure in (curves.objective_figure, curves.score_figure, third):
        assert drawn(figure(live, View(theme), "1"))
    data, split = load_dataset(spec), run.split
    made = convert(data, spec.data.convert, spec.data.positive)
    np.testing.assert_array_equal(made.y[split.train_rows], split.y_hidden)
    look = data_views.look_at(split, spec.problem.labels)
    assert (look.pairs is not None) == (spec.problem.labels == "pairs")
    assert drawn(data_charts.balance_chart(look.balance, theme=theme))


def map_figure(run, theme):
    state = map_view._new_map(run, (None, None))
    shown = "classes" if is_multiclass(run) else "f"
    state.values = map_view._values(run, state, shown)
    heats = decision_heats(run, state.plane, [state.values], shown=map_view.KINDS[shown], theme=theme)
    return run_map(run, state.plane, heats[0], title=shown, theme=theme, revision="1")

"""Points far away: a model's value there is right, or refused in one sentence; never is it NaN with a class beside it."""

import inspect

import numpy as np
import pandas as pd
import pytest
from cases import each
from four_estimators import make as small
from own_tables import read, sniff_file
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from dsgcore import LRCMC, PS3VT, QS3ORAO, QSGS2AUC, SSMC, TSGS3VM, TSGSU, LinearMC
from dsgcore.baselines import COMPETITORS
from dsgcore.cli.predict import write_scores
from dsgcore.core.errors import DSGError
from dsgcore.data import rows_of
from dsgcore.kernels import KERNELS

pytestmark = [pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]
X = np.random.default_rng(0).normal(size=(120, 2))
Y = np.where(np.arange(120) % 3 == 0, (X[:, 0] > 0).astype(int), -1)
SMALL = {"n_iter": 20, "n_features": 16, "random_state": 0}
FAR = (1e20, 3e38, 1e39, 1e155, 1.7e308)
STOCHASTIC = [
    *(QSGS2AUC(kernel=kernel, dtype=dtype, **SMALL) for kernel in KERNELS for dtype in ("float32", "float64")),
    *(cls(dtype=dtype, **SMALL) for cls in (TSGS3VM, QS3ORAO) for dtype in ("float32", "float64")),
    TSGSU(y_holds="classes", prior=0.7, **SMALL),
]
PRESETS = (PS3VT, SSMC, LRCMC, LinearMC)
OF_CLASSES = [cls(feature_map=kind, **SMALL) for cls in PRESETS for kind in ("linear", "fourier")]


def baselines():
    """Return every competitor, with each of its kernels."""
    made = {}
    for setting, classes in COMPETITORS.items():
        of_pairs = {"prior": 0.7, "y_holds": "classes"} if setting == "similar_unlabeled" else {}
        for cls in classes:
            known = inspect.signature(cls).parameters
            for kernel in cls.kernels if "kernel" in known else (None,):
                given = {"random_state": 0, "n_iter": 20, "kernel": kernel, **of_pairs}
                made[cls.__name__, kernel] = cls(**{name: value for name, value in given.items() if name in known})
    return list(made.values())


def values(model, points):
    of = model.ranking_function if hasattr(model, "ranking_function") else model.decision_function
    return of(points)


def refused(call):
    """Whether a call is refused in one sentence; else its result."""
    try:
        return call(), False
    except DSGError as error:
        said = str(error)
    assert "\n" not in said
    assert "scale" in said or "diverged" in said
    return None, True


def test_the_point_that_is_too_far_for_its_scores_is_named():
    model, points = LinearMC(**SMALL).fit(X, Y), np.where(np.arange(120)[:, None] == 7, 1.7e308, X)
    with pytest.raises(DSGError, match=r"^X\[7\] is so far away that its scores overflow float64"):
        model.decision_function(points)


@pytest.mark.ci
@each("model", [*STOCHASTIC, *OF_CLASSES, *baselines()])
def test_a_class_is_predicted_only_where_there_is_a_value(model):
    model = clone(model).fit(X, Y)
    near = values(model, X)
    for size in FAR:
        points = np.array([[0.5, 0.5], [size, -size], [size, 0.5]])
        found, is_refused = refused(lambda points=points: values(model, points))
        assert is_refused or np.isfinite(found).all()
        assert refused(lambda points=points: model.predict(points))[1] == is_refused
    assert np.array_equal(values(model, X), near)


@each("size", [1e37, 1e155, 1e300])
@each("model", [*STOCHASTIC, *OF_CLASSES])
def test_a_fit_on_far_points_is_right_or_refused(model, size):
    is_linear = isinstance(model, PRESETS) and model.feature_map == "linear"
    for sigma in ("scale", 1.0):
        model = clone(model).set_params(sigma=sigma)
        fitted, is_refused = refused(lambda model=model: model.fit(X / np.abs(X).max() * size, Y))
        assert is_refused or is_linear
        if fitted is not None:
            assert fitted.score(X * size, X[:, 0] > 0) > 0.9


@each("size", [1e155, 1e300])
@each("model", baselines())
def test_a_baselines_fit_on_far_points_is_refused(model, size):
    assert refused(lambda: clone(model).fit(X * size, Y))[1]


@each("number", [1e39, 1e300])
@each("dtype", ["float32", "float64"])
def test_partial_fit_refuses_far_points_and_leaves_the_model(number, dtype):
    model = QSGS2AUC(dtype=dtype, **SMALL).partial_fit(X, Y, classes=[0, 1])
    before = model.decision_function(X)
    assert refused(lambda: model.partial_fit(X * number, Y))[1] or dtype == "float32"
    assert np.array_equal(model.decision_function(X), before)


@each("dtype", ["float32", "float64"])
@each("size", [1e30, 1e39, 1e300])
def test_files_with_far_points_get_no_scores(tmp_path, dtype, size):
    QSGS2AUC(dtype=dtype, **SMALL).fit(X, Y).model_.save(tmp_path / "model.npz")
    pd.DataFrame(np.vstack([X, [[size, 0.0]]]), columns=["a", "b"]).to_parquet(tmp_path / "far.parquet")
    with pytest.raises(DSGError):
        write_scores(tmp_path / "model.npz", tmp_path / "far.parquet", tmp_path / "scores")
    assert not list((tmp_path / "scores").glob("*.parquet"))


# --- coordinates that floating-point numbers round too coarsely: kept text has the warnings


NEAR = np.random.default_rng(0).normal(size=(150, 2))
LABELS = np.where(np.arange(150) % 3 == 0, (NEAR[:, 0] > 0).astype(int), -1)
EPOCH = 1.7e9
TIMES = pd.DataFrame({"size": NEAR[:, 0], "time": NEAR[:, 1] + EPOCH})


def make(cls=QSGS2AUC, **parameters):
    return small(cls, **{"n_iter": 100, "n_features": 32, "batch_size": 64, **parameters})


def test_whole_numbers_are_not_rounded_on_the_way_to_float64(tmp_path):
    whole = np.round(4 * NEAR).astype(np.int64) + 1_700_000_000
    pd.DataFrame(whole, columns=["a", "b"]).assign(label=LABELS).to_parquet(tmp_path / "whole.parquet")

    def fitted(*rows):
        return make(dtype="float64", sigma=0.03).fit(*rows)

    exact = fitted(whole.astype(float), LABELS).decision_function(whole.astype(float))
    for held in (whole, pd.DataFrame(whole), whole.tolist(), whole.astype(object)):
        assert np.array_equal(fitted(held, LABELS).decision_function(held), exact)
    of_file, of_array = fitted(tmp_path / "whole.parquet", "label").model_, fitted(whole, LABELS).model_
    assert np.array_equal(of_file.evaluate(whole.astype(float)), of_array.evaluate(whole))


def test_scaling_loses_nothing_of_large_numbers():
    given = TIMES.to_numpy()
    for scaling in ("unit", "standard"):
        rows, _ = rows_of([given], LABELS, scaling=scaling)  # a warning would be an error
        off = given - given.min(axis=0)
        size = off.max(axis=0) if scaling == "unit" else off.std(axis=0)
        scaled = (off - (0 if scaling == "unit" else off.mean(axis=0))) / size
        np.testing.assert_allclose(rows[:], scaled, atol=1e-5)


# Writers of two clouds whose first column counts seconds since 1970.
CLASSES = np.arange(150) % 2
SECONDS = np.column_stack([4.0 * CLASSES + EPOCH, NEAR[:, 1]])
TABLE = pd.DataFrame({"time": SECONDS[:, 0], "b": SECONDS[:, 1], "label": CLASSES})
COUNTS = np.column_stack([SECONDS[:, 0], 100 * CLASSES]).astype(np.int32)
WRITERS = {
    "csv": lambda file: TABLE.to_csv(file, index=False),
    "parquet": TABLE.to_parquet,
    "npz": lambda file: np.savez(file, X=SECONDS, y=CLASSES),
    "whole.npz": lambda file: np.savez(file, X=COUNTS, y=CLASSES),
    "txt": lambda file: dump_svmlight_file(SECONDS, CLASSES, str(file)),
}


@each("kind", WRITERS)
def test_a_file_of_large_numbers_keeps_their_differences_and_says_how(kind, tmp_path):
    file = tmp_path / f"table.{kind}"
    WRITERS[kind](file)
    recipe = sniff_file(file, target="y" if kind.endswith("npz") else "label")
    data = read(file.read_bytes(), recipe, name=file.name, labels="classes")
    assert sorted(set(np.round(data.X[:, 0] - data.X[0, 0]))) == [0.0, 4.0]
    assert sum("is subtracted from every row" in said for said in data.report) == 1

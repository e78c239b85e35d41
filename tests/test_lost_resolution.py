"""Warnings about coordinates that floating-point numbers round too coarsely: the column, and a remedy."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cases import each
from four_estimators import FOUR
from four_estimators import make as small
from own_tables import read, sniff_file
from sklearn.datasets import dump_svmlight_file

from dsgcore import QSGS2AUC
from dsgcore.data import rows_of
from dsgcore.kernels import KERNELS
from dsgcore.kernels.far_points import ResolutionWarning

X = np.random.default_rng(0).normal(size=(150, 2))
Y = np.where(np.arange(150) % 3 == 0, (X[:, 0] > 0).astype(int), -1)
EPOCH = 1.7e9


def make(cls=QSGS2AUC, **parameters):
    return small(cls, **{"n_iter": 100, "n_features": 32, "batch_size": 64, **parameters})


@each("cls", FOUR)
def test_a_fit_and_a_prediction_in_float32_say_so(cls):
    far = X + EPOCH
    with pytest.warns(ResolutionWarning, match=r'columns 0, 1 of X hold numbers of size 1.7e\+09.*dtype="float64"'):
        model = make(cls).fit(far, Y)
    with pytest.warns(ResolutionWarning, match="float32 rounds to steps"):
        model.predict(far[:1])
    near = make(cls).fit(X, Y)
    with pytest.warns(ResolutionWarning):
        near.predict(far)
    with pytest.warns(ResolutionWarning):
        make(cls).partial_fit(far, Y, classes=[0, 1])


@each("kernel", [name for name in KERNELS if name != "dot_product"])
def test_float64_resolves_them_and_nothing_is_said(kernel):
    given = {"kernel": kernel, "dtype": "float64"}
    near = make(**given).fit(X, Y).decision_function(X)
    far = make(**given).fit(X + EPOCH, Y).decision_function(X + EPOCH)
    assert np.mean((near > 0) == (far > 0)) > 0.9


def test_whole_numbers_are_not_rounded_on_the_way_to_float64():
    whole = np.round(4 * X).astype(np.int64) + 1_700_000_000
    given = {"dtype": "float64", "sigma": 0.03}
    exact = make(**given).fit(whole.astype(float), Y).decision_function(whole.astype(float))
    for held in (whole, pd.DataFrame(whole), whole.tolist(), whole.astype(object)):
        assert np.array_equal(make(**given).fit(held, Y).decision_function(held), exact)


def test_the_column_is_named_and_others_are_not():
    table = pd.DataFrame({"size": X[:, 0], "time": X[:, 1] + EPOCH})
    with pytest.warns(ResolutionWarning, match="column 'time' of X holds numbers") as said:
        make(sigma=0.5).fit(table, Y)
    assert "size'" not in str(said[0].message)


def test_rows_out_of_core_are_looked_at_as_well(tmp_path):
    table = pd.DataFrame({"a": X[:, 0], "time": X[:, 1] + EPOCH, "label": Y})
    table.to_parquet(tmp_path / "table.parquet")
    with pytest.warns(ResolutionWarning, match="column 'time'"):
        make(sigma=0.5).fit(tmp_path / "table.parquet", "label")
    whole = np.round(4 * X).astype(np.int64) + 1_700_000_000
    pd.DataFrame(whole, columns=["a", "b"]).assign(label=Y).to_parquet(tmp_path / "whole.parquet")
    given = {"dtype": "float64", "sigma": 0.03}
    model = make(**given).fit(tmp_path / "whole.parquet", "label")
    exact = make(**given).fit(whole, Y)
    assert all(np.array_equal(a, b) for a, b in zip(model.model_.blocks, exact.model_.blocks, strict=True))


def test_scaling_loses_nothing_of_large_numbers():
    given = np.column_stack([X[:, 0], X[:, 1] + EPOCH])
    for scaling in ("unit", "standard"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rows, _ = rows_of([given], Y, scaling=scaling)
        off = given - given.min(axis=0)
        size = off.max(axis=0) if scaling == "unit" else off.std(axis=0)
        scaled = (off - (0 if scaling == "unit" else off.mean(axis=0))) / size
        np.testing.assert_allclose(rows[:], scaled, atol=1e-5)


@each("held", [X, 100 * X, X + 1e3, (1000 * X).astype(int), X.astype(np.float32), X * [1, 1e-3]])
def test_where_nothing_is_lost_nothing_is_said(held):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResolutionWarning)
        make(n_iter=4, sigma=1e-3).fit(held, Y).predict(held)


def written(kind, folder):
    """Write two clouds whose first column counts seconds since 1970, and return the file."""
    y, seconds = np.arange(150) % 2, np.column_stack([4.0 * (np.arange(150) % 2) + EPOCH, X[:, 1]])
    file = folder / f"table.{kind}"
    table = pd.DataFrame({"time": seconds[:, 0], "b": seconds[:, 1], "label": y})
    {
        "csv": lambda: table.to_csv(file, index=False),
        "parquet": lambda: table.to_parquet(file),
        "npz": lambda: np.savez(file, X=seconds, y=y),
        "whole.npz": lambda: np.savez(file, X=np.column_stack([seconds[:, 0], 100 * y]).astype(np.int32), y=y),
        "txt": lambda: dump_svmlight_file(seconds, y, str(file)),
    }[kind]()
    return file


@each("kind", ["csv", "parquet", "npz", "whole.npz", "txt"])
def test_a_file_of_large_numbers_keeps_their_differences_and_says_how(kind, tmp_path):
    file = written(kind, tmp_path)
    read = read_file(file, "y" if kind.endswith("npz") else "label")
    assert sorted(set(np.round(read.X[:, 0] - read.X[0, 0]))) == [0.0, 4.0]
    assert sum("is subtracted from every row" in said for said in read.report) == 1


def test_numbers_that_float32_tells_apart_are_not_moved(tmp_path):
    table = pd.DataFrame({"a": 1000 * X[:, 0] + 5, "constant": 1e9, "label": np.arange(150) % 2})
    table.to_csv(tmp_path / "a.csv", index=False)
    read = read_file(tmp_path / "a.csv", "label")
    assert np.array_equal(read.X[:, 0], (1000 * X[:, 0] + 5).astype(np.float32))
    assert not any("is subtracted" in said for said in read.report)


def read_file(file, label):
    return read(file.read_bytes(), sniff_file(file, target=label), name=file.name, labels="classes")

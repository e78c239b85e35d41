"""The files of sample_data/ are scikit-learn's own copies, and what the app loads."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from dsgcore.data import DATASETS, equal_frequency_bins, load
from dsgcore.data.samples import write_samples

FOLDER = Path(__file__).parents[1] / "sample_data"
SETS = {
    "digits": load_digits,
    "breast_cancer": load_breast_cancer,
    "wine": load_wine,
    "iris": load_iris,
    "diabetes": lambda: load_diabetes(scaled=False),
}


@pytest.mark.parametrize("name", SETS)
def test_a_file_equals_scikit_learns_copy(name):
    # As text first: pandas' own reading of numbers is not exact in every release.
    table, bunch = pd.read_csv(FOLDER / f"{name}.csv", dtype=str), SETS[name]()
    np.testing.assert_array_equal(table.iloc[:, :-1].to_numpy().astype(float), bunch.data)
    assert list(table.columns) == [*map(str, bunch.feature_names), "class"]
    labels = table["class"].to_numpy()
    if name == "digits":
        np.testing.assert_array_equal(labels.astype(int), bunch.target)
    elif name == "diabetes":
        np.testing.assert_array_equal(labels.astype(int), equal_frequency_bins(bunch.target, 5) + 1)
    else:
        np.testing.assert_array_equal(labels, bunch.target_names[bunch.target])


@pytest.mark.parametrize(("file", "name"), [(name, {"digits": "ten_digits"}.get(name, name)) for name in SETS])
def test_a_file_holds_the_rows_that_the_app_loads(file, name):
    table, data = pd.read_csv(FOLDER / f"{file}.csv"), load(name)
    np.testing.assert_array_equal(table.iloc[:, :-1].to_numpy(np.float32), data.X)
    shown = {"diabetes": lambda label: f"bin {label}"}.get(file, str)
    assert [shown(label) for label in table["class"]] == [data.class_names[code] for code in data.y]


def test_writing_them_anew_gives_the_same_bytes(tmp_path):
    written = write_samples(tmp_path / "new")
    assert sorted(file.name for file in written) == sorted(file.name for file in FOLDER.glob("*.csv"))
    for file in written:
        assert file.read_bytes() == (FOLDER / file.name).read_bytes()


def test_the_readme_lists_each_file_with_its_size_source_and_licence():
    rows = re.findall(r"^\| `(\w+)\.csv` \| (\d+) \| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", _readme(), re.M)
    assert sorted(row[0] for row in rows) == sorted(SETS)
    for name, n, d, task, source, licence in rows:
        entry = DATASETS[{"digits": "ten_digits"}.get(name, name)]
        assert (int(n), int(d)) == (entry.n, entry.d)
        assert f"{len(entry.class_names)} " in task
        assert source
        assert licence == entry.licence


def _readme():
    return (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_files_are_small():
    assert sum(file.stat().st_size for file in FOLDER.glob("*.csv")) < 500_000

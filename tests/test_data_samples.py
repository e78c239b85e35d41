"""Files of sample_data/: they equal scikit-learn's copies and the app's sets."""

import re

import numpy as np
import pandas as pd
from cases import each
from sample_files import FOLDER, write_samples
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from dsgcore.data import DATASETS, equal_frequency_bins, load

NAMES = {"digits": "ten_digits"}  # of a file, by which the app loads the same rows
SETS = {
    "digits": load_digits,
    "breast_cancer": load_breast_cancer,
    "wine": load_wine,
    "iris": load_iris,
    "diabetes": lambda: load_diabetes(scaled=False),
}


@each("name", list(SETS))
def test_a_file_equals_scikit_learns_copy_and_is_what_the_app_loads(name):
    # As text first: pandas' own reading of numbers is not exact in every release.
    table, bunch, data = pd.read_csv(FOLDER / f"{name}.csv", dtype=str), SETS[name](), load(NAMES.get(name, name))
    points = table.iloc[:, :-1].to_numpy()
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


def test_writing_them_again_gives_the_same_bytes(tmp_path):
    written = write_samples(tmp_path)
    assert sorted(file.name for file in written) == sorted(file.name for file in FOLDER.glob("*.csv"))
    for file in written:
        assert file.read_bytes() == (FOLDER / file.name).read_bytes()
    assert sum(file.stat().st_size for file in written) < 500_000


def test_the_readme_lists_each_file_with_its_size_source_and_licence():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\.csv` \| (\d+) \| (\d+) \| ([^|]+) \| [^|]+ \| ([^|]+) \|$", text, re.M)
    assert sorted(row[0] for row in rows) == sorted(SETS)
    for name, n, d, task, licence in rows:
        entry = DATASETS[NAMES.get(name, name)]
        assert (int(n), int(d), licence) == (entry.n, entry.d, entry.licence)
        assert f"{len(entry.class_names)} " in task

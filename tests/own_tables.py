"""Tables as files of a user: to be sniffed, read, and used by a spec."""

import csv
import io
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from dsgcore.data.reading import File, Limits, Source
from dsgcore.experiments import FileStore, Spec


def lines(*given, encoding="utf-8"):
    return ("\n".join(given) + "\n").encode(encoding)


def sniff(content, name, *, labels="binary", limits=None):
    """Return the guessed recipe of an uploaded file."""
    return File(Source.of_bytes(content, name), limits or Limits()).recipe(labels)


def read(content, recipe, *, name="file", labels="binary", limits=None, fitted_rows=None):
    """Return the data set of an uploaded file."""
    return File(Source.of_bytes(content, name), limits or Limits()).prepared(recipe, labels, fitted_rows)[0]


def read_sniffed(content, name="table.csv", labels="classes", **changes):
    return read(content, replace(sniff(content, name, labels=labels), **changes), name=name, labels=labels)


def sniff_file(path, labels="classes", target=None, **given):
    """Return the guessed recipe of a file on disk, or of a folder of files."""
    return File.of_path(path).recipe(labels, target=target, **given)


def iris_table():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def iris_csv(delimiter=",", decimal=".", encoding="utf-8", header=True):
    X, y = iris_table()
    rows = [["sepal length", "sepal width", "petal length", "petal width", "species"]] if header else []
    rows += [[*(str(value).replace(".", decimal) for value in x), label] for x, label in zip(X, y, strict=True)]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode(encoding)


def table(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "size": rng.normal(size=n),
            "is big": rng.integers(0, 2, n).astype(bool),
            "color": np.array(["red", "green", "blue"])[rng.integers(0, 3, n)],
            "when": pd.date_range("2020-01-01", periods=n),
            "note": [f"the {['old', 'new', 'odd'][i % 3]} house number {i} on hill {i % 7}" for i in range(n)],
            "key": [f"k{i}" for i in range(n)],
            "kind": np.array(["a", "b"])[rng.integers(0, 2, n)],
        }
    )


def with_pairs(n_pairs=12, n=60):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    pair = np.full(n, "", dtype=object)
    for label in (0, 1):
        rows = np.flatnonzero(y == label)[:n_pairs]
        pair[rows] = [f"p{label}{i // 2}" for i in range(len(rows))]
    return lines("x,z,label,pair_id", *(f"{rng.normal()},{v},{'ab'[v]},{p}" for v, p in zip(y, pair, strict=True)))


def own_spec(content, recipe, setting="auc", name="table.csv", **data):
    files = FileStore()
    section = {"name": "file", "path": name, "sha256": files.add(content), "recipe": recipe.to_dict(), **data}
    section = {"n_labeled": 20, **section}
    small = {"n_iter": 5, "n_features": 16, "batch_size": 8}
    return Spec.from_dict({"setting": setting, "data": section, "solver": small}), files

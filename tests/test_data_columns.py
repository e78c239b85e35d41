"""Columns of a user's table: the use of each kind, and statistics that come from training rows only."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import each
from hostile_files import GOOD, parquet
from own_tables import lines, own_spec, read, read_sniffed, sniff, table

from dsgcore.data import DataError
from dsgcore.data.reading import Limits, Recipe
from dsgcore.experiments import load_split

# --- columns


def test_roles_are_guessed():
    recipe = sniff(parquet(frame=table()), "a.parquet")
    guessed = {"id": "index", "color": "category", "when": "date", "note": "text", "key": "ignore", "kind": "label"}
    assert dict(recipe.roles) == guessed


def test_categories_become_columns_of_zeros_and_ones():
    frame = table()
    frame.loc[3, "color"] = None
    dataset = read_sniffed(parquet(frame=frame[["size", "color", "kind"]]))
    assert dataset.feature_names == ("size", "color: blue", "color: green", "color: red")
    expected = pd.get_dummies(frame["color"])[["blue", "green", "red"]].to_numpy()
    np.testing.assert_array_equal(dataset.X[:, 1:], expected)
    assert not dataset.X[3, 1:].any()
    assert any("3 categories" in sentence and "1 rows without one" in sentence for sentence in dataset.report)


def test_too_many_categories_are_refused():
    frame = pd.DataFrame({"x": [f"v{i}" for i in range(120)], "label": ["a", "b"] * 60})
    content = parquet(frame=frame)
    recipe = Recipe(format="parquet", roles=(("label", "label"), ("x", "category")))
    with pytest.raises(DataError, match="column 'x' must have at most 50 categories, got 120"):
        read(content, recipe)
    assert read(content, recipe, limits=Limits(categories=200)).X.shape == (120, 120)


@each("missing, filled", [("mean", 3.0), ("median", 2.0), ("most frequent", 1.0), ("drop", None)])
def test_missing_numbers_are_replaced_or_dropped_and_told(missing, filled):
    values = [1, 1, 2, 4, 7, None]
    content = lines("x,z,label", *(f"{'' if v is None else v},{i},{'ab'[i % 2]}" for i, v in enumerate(values)))
    dataset = read_sniffed(content, missing=missing)
    assert any("1 missing number in 'x'" in sentence for sentence in dataset.report)
    if filled is None:
        assert dataset.X[:, 0].tolist() == values[:-1]
        assert len(dataset.y) == 5
    else:
        assert dataset.X[:, 0].tolist() == [*values[:-1], filled]


def test_empty_columns_are_left_out_and_told():
    content = lines("x,empty,label", *(f"{i},,{'ab'[i % 2]}" for i in range(9)))
    dataset = read_sniffed(content)
    assert dataset.feature_names == ("x",)
    assert any("holds no value and is left out" in sentence for sentence in dataset.report)


def test_unknown_columns_in_a_recipe_are_refused():
    with pytest.raises(DataError, match="gives 'bogus' the role ignore"):
        read(GOOD, Recipe(roles=(("bogus", "ignore"), ("label", "label"))))


# --- what depends on the training rows


def test_text_and_means_are_learned_from_training_rows_only():
    frame = table()
    frame.loc[::5, "size"] = np.nan
    content = parquet(frame=frame)
    recipe = replace(sniff(content, "a.parquet"), text_dimensions=4)
    spec, files = own_spec(content, recipe, scaling="none")
    split = load_split(spec, files=files)
    names = read(content, recipe).feature_names
    size, text = names.index("size"), [j for j, name in enumerate(names) if name.startswith("note: direction")]
    assert len(text) == 4
    train = frame["size"].to_numpy()[split.train_rows]
    filled = split.X_test[np.isnan(frame["size"].to_numpy()[split.test_rows]), size]
    np.testing.assert_allclose(filled, np.float32(np.nanmean(train)), rtol=1e-6)
    # Other words in the test rows change no training point.
    other = frame.copy()
    other.loc[split.test_rows, "note"] = "completely different words here"
    other.loc[split.test_rows, "size"] = 1e6
    changed, more = own_spec(parquet(frame=other), recipe, scaling="none")
    np.testing.assert_array_equal(load_split(changed, files=more).X_train, split.X_train)


def test_singular_directions_are_those_of_tf_idf():
    from sklearn.feature_extraction.text import TfidfVectorizer

    frame = table()
    roles = {name: {"note": "text", "kind": "label"}.get(name, "ignore") for name in sorted(frame)}
    recipe = Recipe(format="parquet", text_dimensions=5, roles=tuple(roles.items()))
    X = read(parquet(frame=frame), recipe).X
    weights = TfidfVectorizer().fit_transform(frame["note"]).toarray()
    u, s, _ = np.linalg.svd(weights, full_matrices=False)
    expected = np.abs(u[:, :5] * s[:5])
    np.testing.assert_allclose(np.abs(X)[:, :2], expected[:, :2], atol=1e-3)  # the randomised method's accuracy

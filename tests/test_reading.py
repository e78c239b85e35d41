"""One reader of text, sparse text and arrays: dialects, encodings, first rows, and lines that are told by their numbers."""

import csv
import gzip
import io
import lzma
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import each
from hostile_files import GOOD, npz, parquet
from hypothesis import given, settings
from hypothesis import strategies as st
from own_tables import iris_table, lines, read, read_sniffed
from sklearn.datasets import dump_svmlight_file

from dsgcore.data import DataError
from dsgcore.data.reading import DELIMITERS, LOCAL, File, Recipe, Source, parse, svmlight

N = 40
KIND = ["wheat", "rye"] * (N // 2)
WORDS = ["plain", "two words", 'a "quoted" one', "semi;colon", "comma, and bar|", "grün", "déjà vu"]


@settings(max_examples=80)
@given(data=st.data(), delimiter=st.sampled_from(list(DELIMITERS)))
def test_a_table_written_in_any_dialect_is_read_back_equal(data, delimiter):
    n = data.draw(st.integers(12, 30))
    decimal = "." if delimiter in (",", " ") else data.draw(st.sampled_from([".", ","]))
    missing = data.draw(st.sampled_from(["NA", "?", "null"] if delimiter == " " else ["", "NA", "?", "null"]))
    sizes = data.draw(st.lists(st.integers(-99_999, 99_999), min_size=n, max_size=n))
    is_missing = data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda given: sum(given) < n / 2))
    words = data.draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n))
    has_names = data.draw(st.booleans())
    rows = [["size", "count", "note", "kind"]] if has_names else []
    for i in range(n):
        size = missing if is_missing[i] else f"{sizes[i] / 100:.2f}".replace(".", decimal)
        rows.append([size, i % 7, words[i], KIND[i]])
    written = io.StringIO(newline="")
    how = data.draw(st.sampled_from([{}, {"quoting": csv.QUOTE_ALL}, {"escapechar": "\\", "doublequote": False}]))
    newline = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    csv.writer(written, delimiter=delimiter, lineterminator=newline, **how).writerows(rows)
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"]))
    file = File(Source.of_bytes(written.getvalue().encode(encoding), "t"), LOCAL)
    # A colon may also stand inside cells, so it is not guessed.
    known = {"delimiter": ":"} if delimiter == ":" else {}
    recipe = file.recipe("classes", target="kind" if has_names else "x4", **known)
    frame = file.table(recipe).frame
    assert recipe.header == has_names
    assert list(frame.columns) == (rows[0] if has_names else ["x1", "x2", "x3", "x4"])
    size, count, note, kind = (frame[name] for name in frame.columns)
    np.testing.assert_allclose(size, np.where(is_missing, np.nan, np.array(sizes) / 100))
    assert count.tolist() == [i % 7 for i in range(n)]
    assert (note.tolist(), kind.tolist()) == (words, KIND[:n])


def test_a_few_bytes_of_another_encoding_are_told():
    content = lines("x,label", *(f"{i % 9},{['junge', 'mädchen'][i % 2]}é" for i in range(N)))
    with pytest.raises(DataError, match=r"bytes that are not utf-8: choose another encoding"):
        read_sniffed(content.replace("é".encode(), b"\xe9", 3))


# --- sparse text, arrays, and tables of lists


@each("n", [1, 50, 6])
def test_sparse_text_keeps_its_columns(n):
    content = b"# first\n1 qid:3 2:0.5 6:1 # a comment\n\n-1 1:2\n" * n
    dataset = read_sniffed(content, "a.svm")
    np.testing.assert_array_equal(dataset.X, [[0, 0.5, 0, 0, 0, 1], [2, 0, 0, 0, 0, 0]] * n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svmlight, "LINES", 3)
        np.testing.assert_array_equal(read_sniffed(content, "a.svm").X, dataset.X)
    without_first = read_sniffed(b"1 2:1 4:3\n2 3:1\n", "a.svm")  # its columns keep their places
    np.testing.assert_array_equal(without_first.X, [[0, 1, 0, 3], [0, 0, 1, 0]])
    zero_based = read_sniffed(b"1 0:1 2:3\n2 1:1\n", "a.svm")
    np.testing.assert_array_equal(zero_based.X, [[1, 0, 3], [0, 1, 0]])


def test_sparse_text_and_an_archive_give_the_points_of_a_table():
    X, y = iris_table()
    codes = np.unique(y, return_inverse=True)[1]
    sparse = io.BytesIO()
    dump_svmlight_file(X, codes, sparse, zero_based=False)
    arrays = npz(X=X, y=y, split=np.zeros(150), about=np.zeros(3), letters=np.array(["a"] * 150))
    for content in (sparse.getvalue(), arrays, gzip.compress(sparse.getvalue()), lzma.compress(arrays)):
        dataset = read_sniffed(content)
        np.testing.assert_array_equal(dataset.X, X.astype(np.float32))
        np.testing.assert_array_equal(dataset.y, codes)


@each("size", [16, 2**20])
def test_a_line_of_libsvm_text_has_its_number_whatever_the_pieces(size, monkeypatch):
    content = lines("# first", "", *(f"{i % 2} 1:{i} 2:0.5" for i in range(30)), "1 1:3 two:4")
    monkeypatch.setattr(parse, "PIECE", size)
    with pytest.raises(DataError, match=r"^line 33 must have whole indices"):
        read_sniffed(content, "t.svm")


@each("content, said", [
    (b"# 1 1:2\n# -1 2:1\n", r"the file has no rows"),
    (b"1 # a\n-1 # b\n1\n", r"no row has any index:value pair"),
    (b"1 qid:1 1:2\n-1 qid:1 2:1 x\n", r"line 2 must hold index:value pairs, got 'x'"),
    (b"1 1:2\n-1 2:1,5\n", r"line 2 must hold index:value pairs, got '2:1,5': write its decimal comma as a point"),
    (b"1 1:2\n-1 99:1\n", r"an index must be at most 9, got 99 \(.*line 2\): rows would be too wide"),
])  # fmt: skip
def test_what_a_person_calls_libsvm_text_and_is_none_is_refused_with_its_line(content, said):
    recipe = Recipe.from_dict({"format": "svmlight", "roles": {"label": "label"}})
    with pytest.raises(DataError, match=f"^{said}$"):
        read(content, recipe, limits=replace(LOCAL, columns=9))
    with pytest.raises(DataError, match=r"^the recipe must name its format, one of delimited, "):
        Recipe.from_dict({"roles": {"label": "label"}})


@each("names", [["x", "text", "list", "label"], ["x", "x", "list", "label"], ["x", "y", "x", "label"]])
def test_a_table_with_lists_is_read_whole_whatever_its_row_groups_and_names(names):
    columns = [np.arange(40.0), [f"word {i % 7}" for i in range(40)], [[i] for i in range(40)], np.arange(40) % 2]
    content = io.BytesIO()
    pq.write_table(pa.table([pa.array(column) for column in columns], names=names), content, row_group_size=10)
    frame = File(Source.of_bytes(content.getvalue(), "a.parquet")).table(Recipe(format="parquet")).frame
    np.testing.assert_array_equal(frame.iloc[:, 0], columns[0])
    assert [list(frame.iloc[:, 1]), list(frame.iloc[:, 3])] == [columns[1], list(columns[3])]
    assert (frame.iloc[:, 2] == "(nested)").all()


@each("content, recipe, said", [
    (GOOD, Recipe(roles=(("bogus", "ignore"), ("label", "label"))), "gives 'bogus' the role ignore"),
    (GOOD, Recipe(format="parquet"), "the recipe is for the format parquet, and the file is text"),
    (parquet(), Recipe(), "the recipe is for the format delimited, and the file is parquet"),
])  # fmt: skip
def test_a_recipe_for_columns_that_are_not_there_or_for_another_format_is_refused(content, recipe, said):
    with pytest.raises(DataError, match=said):
        read(content, recipe)

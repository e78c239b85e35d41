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
from own_tables import iris_csv, iris_table, lines, read, read_sniffed, sniff
from sklearn.datasets import dump_svmlight_file

from dsgcore.__main__ import main
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


@each("header", [True, False])
def test_lines_are_counted_with_one_that_names_the_delimiter_and_with_names_or_without(header):
    content = b"sep=;\r\n" + iris_csv(";", ",", header=header)
    dataset = read_sniffed(content)
    np.testing.assert_array_equal(dataset.X, iris_table()[0].astype(np.float32))
    assert dataset.class_names == ("setosa", "versicolor", "virginica")
    with pytest.raises(DataError, match=f"line {3 + header} has 3 cells, and the first has 2"):
        read_sniffed(lines("sep=;", *["a;b"] * header, "1;2", "3;4;5"), delimiter=";", header=header)


ROW = "{a:.2f},{b:.2f},{kind}"


@each("first, row, has_names", [
    ("1100,1102,class", ROW, True),
    ("1990,1991,class", ROW, True),
    ("a,b,c", ROW, True),
    ("0.31,0.42,wheat", ROW, False),
    ("0.5,1.5,red", "{a:.3f},{b:.3f},red", False),
    *((first, "{a:.3f},{b:.3f},{i}", False) for first in ("5.1,?,0", "5.1,NA,1", "1,2,0")),
])  # fmt: skip
def test_a_first_row_of_data_names_no_columns_numbers_may_and_a_person_may_say_so(first, row, has_names):
    rows = [row.format(a=0.3 + i / 100, b=0.4 + i / 90, kind=KIND[i], i=i % 2) for i in range(N)]
    file = File(Source.of_bytes(lines(first, *rows), "t.csv"))
    assert file.sniff().header == has_names
    for said in (True, False) if row is ROW else ():
        assert len(file.table(file.recipe("classes", header=said)).frame) == N + (not said)


WORDS_IN = {
    "cp1251": ["мужчина", "женщина"],
    "koi8-r": ["мужчина", "женщина"],
    "gbk": ["男人", "女人"],
    "shift_jis": ["おとこ", "おんな"],
    "latin-1": ["junge", "mädchen"],
    "cp1250": ["mądra", "miła"],
    "cp1252": ["ÄÖÜ", "ÖL"],  # capitals, which are small letters in KOI8-R
    "windows-1252": ["Nm³h", "hola¿que mañana"],  # no Polish
}


@each("encoding", WORDS_IN)
def test_words_of_other_languages_are_read_and_a_wrong_encoding_is_told(encoding):
    words = WORDS_IN[encoding]
    names = f"@relation x\n@attribute x real\n@attribute label {{{', '.join(words)}}}\n@data"  # of ARFF
    for head in (names, "x,label"):
        content = lines(head, *(f"{i % 9},{words[i % 2]}" for i in range(N)), encoding=encoding)
        recipe = sniff(content, "t.csv", labels="classes")
        data = read(content, recipe, labels="classes")
        assert set(data.class_names) == set(words)
        assert f"The text is read as {recipe.encoding}, with words such as " in " ".join(data.report)
    few_wrong = lines("x,label", *(f"{i % 9},{words[i % 2]}é" for i in range(N))).replace("é".encode(), b"\xe9", 3)
    with pytest.raises(DataError, match=r"bytes that are not utf-8: choose another encoding"):
        read_sniffed(few_wrong)
    with pytest.raises(DataError, match=r"line 1 .* not utf-8: choose another encoding, such as cp1252"):
        read(content, replace(recipe, encoding="utf-8"))


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


def test_libsvm_text_and_json_with_a_byte_order_mark_are_read_and_in_utf_16_are_refused():
    rows = [f"{i % 2} 1:{i} 2:{2 * i}" for i in range(20)]
    assert read_sniffed(lines(*rows, encoding="utf-8-sig")).feature_names == ("x1", "x2")
    with pytest.raises(DataError, match="LIBSVM text must be in UTF-8, and this file is in utf-16: save it as UTF-8"):
        sniff(lines(*rows, encoding="utf-16"), "points.txt")
    records = [f'{{"a": {i}, "k": "{"uv"[i % 2]}"}}' for i in range(20)]
    assert read_sniffed(lines(*records, encoding="utf-8-sig")).feature_names == ("a",)
    with pytest.raises(DataError, match="JSON must be in UTF-8, and this file is in utf-16: save it as UTF-8"):
        sniff(lines(*records, encoding="utf-16"), "points.json")


def test_a_model_of_libsvm_text_knows_its_first_and_its_last_index(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(N, 3)).round(3)
    for name, start, columns in (("train", 0, (0, 1, 2)), ("test", 0, (1, 2)), ("one", 1, (0, 1, 2))):
        rows = (" ".join([str(i % 2), *(f"{j + start}:{X[i, j]}" for j in columns)]) for i in range(N))
        (tmp_path / name).write_bytes(lines(*rows))
    (tmp_path / "zero").write_text("1 0:1 1:2\n")
    (tmp_path / "beyond").write_text("1 1:1 4:2\n")

    def command(*words, out):
        return main([words[0], *map(str, words[1:]), "--out", str(tmp_path / out), "--quiet"])

    small = ("--set", "n_iter=10", "--set", "n_features=16")
    for name in ("train", "one"):
        assert command("fit", "TSGS3VM", tmp_path / name, *small, out=f"m-{name}") == 0
    assert command("predict", tmp_path / "m-train", tmp_path / "test", out="scores") == 0
    capsys.readouterr()
    for name, said in (
        ("zero", "has the index 0, and the first index"),
        ("beyond", "has the index 4, and the largest"),
    ):
        assert command("predict", tmp_path / "m-one", tmp_path / name, out="none") == 2
        assert f"line 1 {said} of the training file is" in capsys.readouterr().err


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

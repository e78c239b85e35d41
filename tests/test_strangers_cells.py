"""Cells as strangers write them: numbers, words for what is missing, and columns that hold no numbers."""

import numpy as np
import pyarrow as pa
import pytest
from cases import each, some
from own_tables import read, sniff, sniff_file
from test_strangers_files import SMALL, N, frame

from dsgcore import QSGS2AUC
from dsgcore.__main__ import main
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import describe_file


def csv_of(cells, decimal="."):
    delimiter = "," if decimal == "." else ";"
    rows = [delimiter.join((f'"{cell}"', str(i % 7), "xy"[i % 2])) for i, cell in enumerate(cells)]
    return "\n".join([delimiter.join(("price", "b", "label")), *rows]).encode()


WRITTEN = {
    "(1.5)": -1.5,
    "( 1.5 )": -1.5,
    "12 %": 0.12,
    "12%": 0.12,
    "(12 %)": -0.12,
    "(12) %": -0.12,
    "（3）": -3.0,
    "−3.5": -3.5,
    "–3": -3.0,
    "1e−3": 0.001,
    "-2": -2.0,
}


@each("cell", WRITTEN)
@each("decimal", [".", ","])
@each("share", some([1, 3, 20], 1))
def test_brackets_per_cent_and_unicode_minus_are_read_as_numbers(cell, decimal, share):
    cells = [cell if i % share == 0 else f"{i}.25" for i in range(40)]
    content = csv_of([one.replace(".", decimal) for one in cells], decimal)
    data = read(content, sniff(content, "t.csv"))
    assert data.feature_names == ("price", "b")
    is_adorned = cell.endswith(("%", ")", "）"))
    assert any(f"is read as {WRITTEN[cell]:g}" in sentence for sentence in data.report) == is_adorned
    expected = [WRITTEN[cell] if i % share == 0 else i + 0.25 for i in range(40)]
    np.testing.assert_allclose(data.X[:, 0], expected, rtol=1e-6)


def test_brackets_may_hold_a_mark_of_thousands():
    content = csv_of([f"({1 + i % 9},{100 + i}.50)" for i in range(40)])
    assert read(content, sniff(content, "t.csv")).X[0, 0] == -1100.5


@each("n_bad", [1, 9, 19])
@each("word", ["#DIV/0!", "#REF!", "#WERT!", "Err:502", "unknown"])
@each("decimal", [".", ","])
def test_a_column_that_is_mostly_numbers_is_refused_with_its_mistakes(n_bad, word, decimal):
    cells = [word if 2 <= i < 2 + n_bad else f"{i}{decimal}5" for i in range(40)]
    content = csv_of(cells, decimal)
    several = f", the first of {n_bad} cells that are no numbers" if n_bad > 1 else ""
    error = "" if word == "unknown" else " (a spreadsheet's error)"
    said = f"column 'price' must hold numbers, got '{word}'{error} in row 3{several}: correct "
    with pytest.raises(DataError) as caught:
        read(content, sniff(content, "t.csv"))
    assert str(caught.value).startswith(said)


@each("decimal", [".", ","])
def test_each_remedy_of_a_mistake_is_an_option_of_the_command(decimal, tmp_path, capsys):
    file = tmp_path / "t.csv"
    file.write_bytes(csv_of(["Err:502" if i == 2 else f"{i}{decimal}5" for i in range(40)], decimal))
    assert main(["data", "describe", str(file)]) == 2
    assert "must hold numbers, got 'Err:502' (a spreadsheet's error) in row 3: correct " in capsys.readouterr().err
    for remedy in (["--missing-words", "Err:502"], ["--drop", "price"], ["--category", "price"]):
        assert main(["data", "describe", str(file), *remedy]) == 0


def test_mistakes_are_counted_in_the_whole_file_whatever_its_pieces(tmp_path):
    content = csv_of(["bad" if i % 1000 == 999 else f"{i}.5" for i in range(45_000)])
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match="got 'bad' in row 1000, the first of 45 cells that are no numbers"):
        describe_file(tmp_path / "t.csv")


@each("word", some(["NA", "n/a", "<NA>", "null", "#N/A", "NaN", "None", "?", " NA "], 4))
@each("kind", ["csv", "parquet", "npz"])
def test_words_that_mean_missing_are_the_same_in_every_format_and_said(word, kind, tmp_path, capsys):
    table = frame().astype({"label": object})
    table["label"] = np.where(np.arange(N) % 4 == 0, word, np.where(table.label == 1, "x", "y"))
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    elif kind == "parquet":
        table.to_parquet(path)
    else:
        np.savez(path, X=table[["a", "b"]], y=table.label.to_numpy().astype(str))
    assert main(["data", "describe", str(path)]) == 0
    printed = capsys.readouterr().out
    name = "y" if kind == "npz" else "label"
    assert f"Read as missing labels: 15 cells '{word.strip()}' (in '{name}')" in printed
    assert "2 classes" in printed
    assert main(["data", "describe", str(path), "--missing-words", "-"]) == 0
    assert "3 classes" in capsys.readouterr().out
    if kind == "parquet":
        rows, labels = rows_of(path, "label")
        assert set(labels.tolist()) == {"x", "y", -1}
        assert rows.guesses == (f"Read as missing labels: 15 cells '{word.strip()}' (in 'label').",)
        assert len(set(rows_of(path, "label", missing_words=())[1].tolist())) == 3
        with pytest.warns(UserWarning, match="Read as missing labels: 15 cells"):
            QSGS2AUC(**SMALL).fit(path, "label")


def test_a_number_can_mean_missing_in_every_format(tmp_path):
    table = frame().assign(b=np.where(np.arange(N) % 5 == 0, -999, np.arange(N)))
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    described = [describe_file(path, sniff_file(path, missing_words=["-999"])) for path in tmp_path.iterdir()]
    assert [one.missing["b"] for one in described] == [12, 12]


def decimals():
    from decimal import Decimal

    table = frame()
    price = pa.array([Decimal(i) / 4 for i in range(N)], pa.decimal128(12, 2))
    return pa.table({"price": price, "a": table.a, "label": table.label})


def test_decimals_and_true_and_false_are_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    flags = pa.array([None if i == 3 else i % 2 == 0 for i in range(N)])
    pa.parquet.write_table(decimals().append_column("flag", flags), path)
    rows, _ = rows_of(path, "label", missing="mean")
    data = read(path.read_bytes(), sniff(path.read_bytes(), path.name))
    assert rows.names == data.feature_names == ("price", "a", "flag")
    np.testing.assert_allclose(rows[:], data.X, rtol=1e-6)


def nested():
    table = decimals()
    lists = pa.array([[1.0, 2.0]] * N)
    table = table.append_column("emb", lists).append_column("s", pa.array([{"u": 1}] * N))
    return table.append_column("town", pa.array(["x", "y"] * (N // 2)))


def test_columns_that_are_no_numbers_are_named_with_what_they_hold(tmp_path, capsys):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(nested(), path)
    rows, _ = rows_of(path, "label")
    assert rows.names == ("price", "a", "town: x", "town: y")
    assert "'emb' (lists or other nested values), 's' (lists or other nested values)" in " ".join(rows.guesses)
    assert rows_of(path, "label", drop=["emb", "s", "town"])[0].names == ("price", "a")
    given = ["--target", "label", "--out", str(tmp_path / "out"), "--quiet", "--set", "n_iter=2"]
    drop = [word for name in ("emb", "s", "town") for word in ("--drop", name)]
    assert main(["fit", "QSGS2AUC", str(path), *given, *drop]) == 0
    assert main(["data", "describe", str(path)]) == 0
    assert "'emb' (lists or other nested values)" in capsys.readouterr().out
    pa.parquet.write_table(nested().select(["emb", "s", "label"]), path)
    assert main(["data", "describe", str(path)]) == 2
    assert "no column of features is left: besides the label, the table has 'emb' (lists" in capsys.readouterr().err


@each(
    "line, said",
    [
        ("1:0.5 2:{i}", "line 1 must begin with one number as its label, got '1:0.5', an index:value pair"),
        (" 1:0.5 2:{i}", "line 1 must begin with one number as its label, got '1:0.5', an index:value pair"),
        ("1,3 1:0.5 2:{i}", "line 1 must begin with one number as its label, got '1,3', several labels"),
        ("cat 1:0.5 2:{i}", "line 1 must begin with one number as its label, got 'cat': number the classes"),
    ],
)
def test_sparse_text_without_one_label_a_line_names_the_line_and_the_cell(line, said, tmp_path, capsys):
    path = tmp_path / "t.txt"
    path.write_text("\n".join(line.format(i=i) for i in range(N)))
    with pytest.raises(DataError, match=said):
        sniff(path.read_bytes(), path.name)
    assert main(["data", "describe", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_libsvm_text_with_a_byte_order_mark_is_read_and_in_utf_16_is_refused(tmp_path):
    text, file = "".join(f"{i % 2} 1:{i} 2:{2 * i}\n" for i in range(20)), tmp_path / "points.txt"
    file.write_text(text, encoding="utf-8-sig")
    read_ = describe_file(file, sniff_file(file))
    assert tuple(read_.features.names) == ("x1", "x2")
    file.write_text(text, encoding="utf-16")
    with pytest.raises(DataError, match="LIBSVM text must be in UTF-8, and this file is in utf-16: save it as UTF-8"):
        sniff_file(file)


@each("wrong", ["lable", "Label", "outcome"])
def test_a_wrong_label_is_named_with_those_that_there_are(wrong, tmp_path, capsys):
    path, csv = tmp_path / "t.parquet", tmp_path / "t.csv"
    table = frame().assign(town="x")
    table.to_parquet(path)
    table.to_csv(csv, index=False)
    hint = "" if wrong == "outcome" else r" \(did you mean 'label'\?\)"
    said = rf"there is no column '{wrong}'{hint}: the table has 'a', 'b', 'label', 'town'"
    with pytest.raises(DataError, match=said):
        rows_of(path, wrong)
    with pytest.raises(DataError, match=said):
        QSGS2AUC().fit(path, wrong)
    with pytest.raises(DataError, match=said):
        sniff_file(csv, target=wrong)
    assert main(["fit", "QSGS2AUC", str(path), "--target", wrong, "--out", str(tmp_path / "out")]) == 2
    assert "did you mean" in (errors := capsys.readouterr().err) or wrong == "outcome"
    assert errors.count("\n") == 1
    frames = pytest.importorskip("dask.dataframe")
    with pytest.raises(DataError, match=said):
        rows_of(frames.from_pandas(table, npartitions=2), wrong)

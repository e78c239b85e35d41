"""Numbers with thousands set apart, recognised by column."""

import numpy as np
import pandas as pd
import pytest
from cases import each
from hostile_files import parquet
from own_tables import lines, own_spec, read, read_sniffed, sniff, sniff_file

from dsgcore.data.converting import convert_file
from dsgcore.data.reading import File
from dsgcore.experiments import load_split

FORMS = {
    "1.234,56": ("1.234,56", "12,5", "1.250.000,25", "7"),
    "1,234.56": ("1,234.56", "12.5", "1,250,000.25", "7"),
    "1'234.56": ("1'234.56", "12.5", "1'250'000.25", "7"),
    "1,23,456.5": ("1,23,456.5", "12.5", "12,50,000.25", "7"),
    "1 234,56": ("1 234,56", "12,5", "1 250 000,25", "7"),
}
VALUES = [1234.56, 12.5, 1250000.25, 7.0]


def table(cells, delimiter=";"):
    rows = [f"{cells[i % 4]}{delimiter}{i}{delimiter}{'ab'[i % 2]}" for i in range(40)]
    return lines(delimiter.join(("price", "z", "label")), *rows)


@each("form", FORMS)
def test_thousands_separators_are_recognised_by_column_and_said(form):
    data = read_sniffed(table(FORMS[form]))
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


def test_a_parquet_of_text_has_marks_too():
    frame = pd.DataFrame({"price": list(FORMS["1.234,56"]) * 10, "label": ["a", "b"] * 20})
    data = read_sniffed(parquet(frame=frame), "a.parquet")
    np.testing.assert_allclose(data.X[:4, 0], VALUES, rtol=1e-6)


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

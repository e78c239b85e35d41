"""Files as strangers write them: the same features, classes and rows without a label, whatever writes them and by every way in."""

import bz2
import gzip
import io
import json
import lzma
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import each, some
from four_estimators import SMALL
from hypothesis import given, settings
from hypothesis import strategies as st
from opened_pages import errors, run_of
from own_tables import lines, read, sniff, sniff_file
from pyarrow import csv, parquet
from sklearn.datasets import dump_svmlight_file
from test_file_on_pages import give, open_own
from test_file_on_pages import written as shown_text

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.__main__ import main
from dsgcore.baselines import EverydayLogisticRegression
from dsgcore.core.errors import DSGError
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import describe_file
from dsgcore.data.reading import LOCAL, File, Source, Step, take_steps
from dsgcore.estimators.inputs import encode

polars = pytest.importorskip("polars")
N, EMPTY = 60, 3
BIG, LARGE = 2**53, 2**63
KIND = ["wheat", "rye"] * (N // 2)


def frame(index=None, labels=KIND, kind=None):
    """Return a table whose labels come again and again."""
    labels = pd.array([labels[i % len(labels)] for i in range(N)], dtype=kind)
    a = np.random.default_rng(0).normal(5, 1, N).round(2)
    return pd.DataFrame({"a": a, "b": np.arange(N) % 7 + 0.5, "label": labels}, index=index)


# --- ways in: each returns the features, the classes, and the number of rows without a label


def name_of(one):
    return str(int(one)) if isinstance(one, float) else str(one)


def names(classes):
    return tuple(sorted(map(name_of, np.asarray(classes).tolist())))


def found_in(features, labels):
    classes, codes = encode(labels)
    return list(features), names(classes), int(np.sum(codes < 0))


def by_description(path, **known):
    described = describe_file(path, sniff_file(path, **known))
    sizes = described.class_sizes
    assert described.n in (N, N - EMPTY), "no row is lost, but those without any value"
    return list(described.features.names), tuple(sorted(sizes)), described.n - sum(sizes.values())


def by_words(path):
    return by_description(path, missing_words=["-999"])


@cache
def uploaded(path):
    *_, (_, points) = take_steps(path.read_bytes(), path.name, Step("look", "classes"))
    if isinstance(points, DSGError):
        raise points
    return points, [name.removeprefix("'") for name in points.class_names]


def by_upload(path):
    points, classes = uploaded(path)
    return list(points.feature_names), tuple(sorted(classes)), int(np.sum(points.y < 0))


def by_conversion(path):
    made = Path(mkdtemp(dir=path.parent))
    assert main(["data", "convert", str(path), str(made), "--quiet"]) == 0
    return by_description(made)


@cache
def rows_in(path):
    return rows_of(path, "label")


def by_rows(path):
    rows, labels = rows_in(path)
    return found_in(rows.names, labels)


def by_estimator(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what is left out
        model = TSGS3VM(**SMALL).fit(path, "label")
    return list(model.feature_names_in_), names(model.classes_), by_rows(path)[2]


def fit(path, *more, estimator="TSGS3VM"):
    """Fit by the command, and return the model's folder and what it says of itself."""
    out = Path(mkdtemp(dir=path.parent))
    given = ["--target", "label", "--out", str(out / "model"), "--set", "n_iter=4", "--set", "n_features=8", *more]
    assert main(["fit", estimator, str(path), *given]) == 0
    return out / "model", json.loads((out / "model" / "fit.json").read_text())


def scores(model, path):
    to = Path(mkdtemp(dir=path.parent)) / "scores"
    assert main(["predict", str(model), str(path), "--out", str(to), "--quiet"]) == 0
    return pd.read_parquet(to)["score"].to_numpy()


def by_command(path):
    model, facts = fit(path, "--quiet")
    assert len(scores(model, path)) == len(rows_in(path)[0])
    return facts["features"], names(facts["classes"]), by_rows(path)[2]


def by_dask(path):
    dask = pytest.importorskip("dask.dataframe")
    rows, labels = rows_of(dask.from_pandas(pd.read_parquet(path), npartitions=3), "label")
    return found_in(rows.names, labels)


OF_TABLES, OF_ROWS = (by_description, by_upload, by_conversion), (by_rows, by_estimator, by_command)


# --- formats


def text(sep=",", decimal=".", encoding="utf-8", **more):
    return frame().to_csv(index=False, sep=sep, decimal=decimal, **more).encode(encoding)


def packed(write):
    content = io.BytesIO()
    write(content)
    return content.getvalue()


def in_zip(content, name="t.csv"):
    def write(to):
        with zipfile.ZipFile(to, "w") as archive:
            archive.writestr(name, content)

    return packed(write)


def streamed(to):
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    with pa.ipc.new_stream(to, table.schema) as stream:
        stream.write_table(table)


def enumerated(to):
    own = polars.from_pandas(frame())
    own.with_columns(own["label"].cast(polars.Enum(["rye", "wheat"]))).write_ipc(to)


def by_excel(above=0, **options):
    to = io.BytesIO()
    with pd.ExcelWriter(to) as book:
        frame().to_excel(book, startrow=above, index=False, **options)
        if above:
            book.sheets["Sheet1"]["A1"] = "Harvest of 2020"
        frame().head(3).to_excel(book, sheet_name="notes")
    return to.getvalue()


CELLS = [*frame().itertuples(index=False)]
ROWS = [f"{a},{b},{c}" for a, b, c in CELLS]
FORMATS = {
    "comma": text(),
    "decimal comma": text(";", ","),
    "tab": text("\t"),
    "bar, UTF-16": text("|", encoding="utf-16"),
    "tab, UTF-16 without a mark": text("\t", encoding="utf-16-le"),
    "tab, decimal comma, UTF-16 without a mark, the other way round": text("\t", ",", "utf-16-be"),
    "white space": text(" "),
    "sep=": b"sep=;\r\n" + text(";"),
    'sep= in quotes, with a mark': ('"sep=,"\r\n' + text().decode()).encode("utf-8-sig"),
    "SEP= in UTF-16": ("SEP=|\r\n" + text("|").decode()).encode("utf-16"),
    "title": b"Harvest of 2020\n\n" + text(),
    "title of a sheet": b"Harvest of 2020,,\n,,\n" + text(),
    "title and a name in two lines": lines("Harvest of 2020", 'a,b,"label', '"', *ROWS),
    "title and units": lines("Harvest of 2020", "a,b,label", "[mm],,", *ROWS),
    "units": lines("a,b,label", "mm,kg,", *ROWS),
    "comments": lines("# by us", "# twice", "a,b,label", *ROWS, "# end"),
    "savetxt": lines("# a b label", *(row.replace(",", " ") for row in ROWS)),
    "blanks before quotes": lines('"a", "b", "note", "label"', *(f'{a}, "{b}", "", "{c}"' for a, b, c in CELLS)),
    "blanks in names": lines("a , b , label ", *ROWS),
    "R": lines('"a" "b" "label"', *(f'"{i + 1}" {row.replace(",", " ")}' for i, row in enumerate(ROWS))),
    "trailing commas": lines("a,b,label", *(f"{row}," for row in ROWS)),
    "empty rows": text() + b",,\n" * 50,
    "units in cells": lines("a,b,label", *(f"{a} kg,${b},{c}" for a, b, c in CELLS)),
    **{f"{pack.__module__}, {n} streams": b"".join(map(pack, (text()[:cut], text()[cut:])))
       for pack in (gzip.compress, bz2.compress, lzma.compress) for n, cut in ((1, len(text())), (2, 100))},
    "zstd": pa.compress(text(), "zstd", asbytes=True),
    "zip": in_zip(text()),
    "zip in a folder": in_zip(text(), "data/t.csv"),
    "JSON lines": frame().to_json(orient="records", lines=True).encode(),
    "JSON": frame().to_json(orient="records").encode(),
    **{f"JSON of numbers and words{', a list' * is_list}": frame().assign(a=[str(a) if i % 9 == 4 else a for i, (a, *_) in
        enumerate(CELLS)]).to_json(orient="records", lines=not is_list).encode() for is_list in (False, True)},
    "Arrow stream": packed(streamed),
    "ARFF": lines("@relation x", "@attribute a real", "@attribute b real", "@attribute label {rye, wheat}", "@data", *ROWS),
    "ARFF of two kinds of quotes": lines("@relation x", "@attribute a real", "@attribute 'b' REAL",
        "@attribute label {rye, wheat}", "@data", *(f"{a},'{b}',\"{c}\"" for a, b, c in CELLS)),
    **{f"sparse ARFF, weights {weight!r}": lines("@relation x", "@attribute a real", "@attribute b real",
        "@attribute label {wheat, rye}", "@data", *(f"{{0 {a}, 1 {b}{', 2 rye' * (c == 'rye')}}}{weight}" for a, b, c in CELLS))
       for weight in ("", ", {2.5}")},
    "ARFF of tabs": lines("@relation x", "@attribute a real", "@attribute b real", "@attribute label {rye, wheat}", "@data",
        *(row.replace(",", "\t") for row in ROWS)),
    "Feather": packed(frame().to_feather),
    "ORC": packed(frame().to_orc),
    "Parquet": packed(frame().to_parquet),
    "Parquet in data.csv": packed(frame().to_parquet),
    "CSV in data.parquet": text(),
    "Parquet in xz": lzma.compress(packed(frame().to_parquet)),
    "Arrow by polars": lambda: packed(enumerated),
    "Excel": by_excel,
    "Excel in a zip": lambda: in_zip(by_excel(), "t.xlsx"),
    "Excel with a title": lambda: by_excel(3),
    "Excel from the third column on": lambda: by_excel(2, startcol=2),
}  # fmt: skip


@each("name", FORMATS)
def test_a_table_is_the_same_however_it_is_written_and_whatever_writes_it(name):
    content = FORMATS[name]() if callable(FORMATS[name]) else FORMATS[name]
    file = File(Source.of_bytes(content, name), LOCAL)  # the name decides nothing
    data = file.prepared(file.recipe("classes", is_asked=True), "classes")[0]
    assert data.feature_names == ("a", "b")
    np.testing.assert_allclose(data.X, frame()[["a", "b"]], rtol=1e-6)
    assert (data.X.dtype, data.X.flags.c_contiguous) == (np.float32, True)
    assert [data.class_names[code] for code in data.y] == KIND
    assert len(data.sha256) == 64


@dataclass(frozen=True)
class Case:
    """A file: its name, how it is written, what each way in must find in it, and the ways."""

    file: str
    write: Callable[[Path], object]
    features: tuple[str, ...] = ("a", "b")
    classes: tuple[str, ...] = ("rye", "wheat")
    unlabeled: int = 0
    ways: tuple[Callable, ...] = (*OF_TABLES, by_rows)


# --- an index is no feature


SHUFFLED = np.random.default_rng(1).permutation(N)
INDEXES = {
    "default": None,
    "shifted": pd.RangeIndex(7, 7 + N),
    "unnamed": SHUFFLED,
    "named": pd.Index(SHUFFLED, name="row of before"),
    "several levels": pd.MultiIndex.from_arrays([SHUFFLED, np.arange(N) % 7], names=["sample", None]),
    "text": pd.Index([f"s{i}" for i in range(N)], name="name"),
    "dates": pd.date_range("2020-01-01", periods=N, name="day"),
    "fractions": pd.Index(np.linspace(0, 1, N), name="position"),
}


def as_pandas(table, path):
    table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path, index=False)


def as_arrow(table, path):
    table = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    csv.write_csv(table, path) if path.suffix == ".csv" else parquet.write_table(table, path, row_group_size=17)


def as_polars(table, path):
    table = polars.from_arrow(pa.Table.from_pandas(table, preserve_index=False))
    table.write_csv(path) if path.suffix == ".csv" else table.write_parquet(path)


WRITERS = {"pandas": as_pandas, "pyarrow": as_arrow, "polars": as_polars}


def in_dask(path, table):
    frames = pytest.importorskip("dask.dataframe")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask calls what pandas has deprecated
        parts = frames.from_pandas(table, npartitions=3, sort=False)
        parts.to_parquet(path, compute_kwargs={"scheduler": "synchronous"})


PARTS = [frame().iloc[part].reset_index(drop=True) for part in np.split(np.arange(N), 3)]


def in_parts(path):
    path.mkdir()
    for number, part in enumerate(PARTS):
        part.rename_axis("id").reset_index().to_parquet(path / f"{number}.parquet")


def in_hive(path, end, name="part"):
    """Write a folder of text as Spark does, with numbers in the names of its folders, and a part of no rows before the others."""
    for number, part in enumerate(PARTS):
        (folder := path / f"{name}={number}").mkdir(parents=True)
        if end == "csv":
            part.to_csv(folder / "1.csv", index=False)
        else:
            part.to_json(folder / "1.jsonl", orient="records", lines=True)
    (path / f"{name}=1" / f"2.{end}").write_bytes(b"")
    if end == "csv":
        (path / f"{name}=0" / "0.csv").write_text("a,b,label\n")


def in_spark(path):
    """Write a folder of packed text as Spark does, whose first part is empty."""
    path.mkdir()
    for number, part in enumerate([b"", *(part.to_csv(index=False).encode() for part in PARTS)]):
        (path / f"part-{number}.csv.gz").write_bytes(gzip.compress(part))


def in_unlike_parts(path):
    """Write a folder of CSV whose first file has numbers alone where another one has words."""
    path.mkdir()
    for number, part in enumerate(PARTS):
        codes = ["001", "A02"] if number else ["001"]
        part.assign(label=np.resize(codes, len(part))).to_csv(path / f"{number}.csv", index=False)


def numbered(name, start=0):
    table = frame()
    table.insert(0, name, np.arange(start, start + N))
    return table


def in_any_order(name):
    table = numbered(name)
    table[name] = np.random.default_rng(1).permutation(10**6)[:N]
    return table


def like_an_index(name):
    """Return a table whose first column looks like an index: by its name, or by its numbers."""
    table = in_any_order(name) if name == "bid" else numbered(name)
    return table.assign(id=table["id"] % 7) if name == "id" else table


def with_gaps():
    """Return a table of which three rows have no value, and others some."""
    table = frame().astype({"label": object})
    table.loc[[3, 4, 20]] = None
    table.loc[30, "a"], table.loc[31, ["a", "b"]], table.loc[32, "label"] = None, None, None
    return table


def as_numbers(labels, path):
    X, y = frame()[["a", "b"]].to_numpy(), np.resize(labels, N)
    if path.suffix == ".npz":
        np.savez(path, X=X, y=y)
    else:
        path.write_text("".join(f"{one} 1:{a} 2:{b}\n" for one, (a, b) in zip(y, X, strict=True)))


NUMBERING = ["id", "ID", "Row", "row_id", "PassengerId", "customer_id", "sampleid", "#", "S.No.", "lfd. Nr.", "rn", ""]
CODES = np.unique(KIND, return_inverse=True)[1]
X_Y = {"features": ("x1", "x2"), "classes": ("0", "1")}
ALL = (*OF_TABLES, *OF_ROWS)
BY_EVERY_WAY = {
    **{name: Case("table", lambda path, name=name: path.write_bytes(FORMATS[name]), ways=ALL)
       for name in ("decimal comma", "title and units", "R", "zip", "Feather", "Parquet")},
    "an index of several levels": Case("t.parquet", lambda path: frame(INDEXES["several levels"]).to_parquet(path), ways=ALL),
    **{f"numbers in the names of folders, and empty parts, {end}": Case("folder", lambda path, end=end: in_hive(path, end),
        ("a", "b", "part"), ways=(by_description, by_conversion, *OF_ROWS)) for end in ("csv", "jsonl")},
    "numbers in one file of a folder and words in others": Case("folder", in_unlike_parts, classes=("001", "A02"),
        ways=(by_description, by_conversion, *OF_ROWS)),
    "years named y in the names of folders": Case("folder", lambda path: in_hive(path, "csv", "y"), ("a", "b", "y"),
        ways=(by_description, by_rows)),
    "an empty part, packed": Case("folder", in_spark, ways=(by_description, by_conversion, by_rows)),
    "numbers as FITS has them": Case("t.npz", lambda path: np.savez(path, X=frame()[["a", "b"]].to_numpy(">f4"), y=CODES.astype(
        ">i8")), **X_Y, ways=OF_TABLES),
    "the label as the index": Case("t.parquet", lambda path: frame().set_index("label").to_parquet(path), ways=ALL),
    "Parquet, customer_id in any order": Case("t.parquet", lambda path: in_any_order("customer_id").to_parquet(path),
        ways=ALL),
    **{f"a column named self, {end}": Case(f"t.{end}",  # as an argument of pandas
        lambda path: as_pandas(frame().rename(columns={"a": "self"}), path), ("self", "b"), ways=(*ALL, by_words))
       for end in ("csv", "parquet")},
    "blanks around names": Case("t.parquet", lambda path:
        as_pandas(frame().rename(columns={"a": " a ", "label": "label "}), path), ways=ALL),
    **{f"a column named {name}": Case("t.csv", lambda path, name=name:  # as binary files begin
        as_pandas(frame().rename(columns={"a": name}), path), (name, "b"), ways=ALL if name == "PAR1" else (*OF_TABLES, by_rows))
       for name in ("PAR1", "ORCID", "ARROW1", "FEA1", "MZ", "BZh", "GIF8", "Rar!", "MATLAB 5.0", "SQLite format 3")},
    "a feature without a name": Case("t.parquet", lambda path: as_pandas(in_any_order("").assign(**{"": SHUFFLED / 7}), path),
        ("column 1", "a", "b"), ways=ALL),
    "a number without a name, and gaps": Case("t.parquet", lambda path:
        as_pandas(numbered("").assign(label=with_gaps()["label"]), path), unlabeled=4, ways=ALL),
    **{f"rows without any value, {end}": Case(f"t.{end}", lambda path: as_pandas(with_gaps(), path), unlabeled=1,
        ways=(*ALL, *[by_dask] * (end == "parquet"))) for end in ("csv", "parquet")},
}  # fmt: skip
INDEXED = {
    **{f"pandas, {name} index": Case("t.parquet",
        lambda path, index=index: frame(index).to_parquet(path, index=None), ways=ALL)
       for name, index in INDEXES.items()},
    "pandas, index kept": Case("t.parquet", lambda path: frame().to_parquet(path, index=True), ways=ALL),
    "pyarrow, without metadata": Case("t.parquet", lambda path:
        parquet.write_table(pa.Table.from_pandas(frame(SHUFFLED)).replace_schema_metadata(None), path), ways=ALL),
    "Dask, unnamed index": Case("folder", lambda path: in_dask(path, frame(SHUFFLED)), ways=OF_ROWS),
    "Dask, named index": Case("folder", lambda path: in_dask(path, frame(pd.Index(SHUFFLED, name="place"))),
        ways=OF_ROWS),
    "a number that begins again in each part": Case("folder", in_parts, ways=OF_ROWS),
    "a number in Parquet": Case("t.parquet", lambda path: numbered("ID", 1).to_parquet(path), ways=ALL),
    "polars": Case("t.parquet", lambda path: as_polars(numbered("index"), path), ways=ALL),
    "CSV by polars": Case("t.csv", lambda path: as_polars(numbered("row_nr"), path)),
    "CSV, default index": Case("t.csv", lambda path: frame().to_csv(path)),
    "CSV, shuffled index": Case("t.csv", lambda path: frame(SHUFFLED).to_csv(path)),
    "CSV, drawn with repeats": Case("t.csv", lambda path: frame().sample(N, replace=True, random_state=0).to_csv(path)),
    "CSV of CSV": Case("t.csv", lambda path: frame().reset_index(names="Unnamed: 0").to_csv(path)),
    "CSV of parts": Case("t.csv", lambda path: pd.concat(PARTS).to_csv(path)),
    "TSV": Case("t.tsv", lambda path: frame().to_csv(path, sep="\t", index_label="index")),
    "LIBSVM": Case("t.txt", lambda path: dump_svmlight_file(frame()[["a", "b"]], CODES, str(path)), **X_Y),
    "npz": Case("t.npz", lambda path: np.savez(path, X=frame()[["a", "b"]], y=CODES, id=np.arange(N)), **X_Y,
        ways=OF_TABLES),
    **{f"CSV, {name} in any order": Case("t.csv", lambda path, name=name: as_pandas(in_any_order(name), path))
       for name in ("id", "customerid", "User ID", "PassengerId", "uuid")},
    **{f"CSV without names, {'numbered' if index else 'plain'}": Case("t.csv",
        lambda path, index=index: frame().assign(a=np.random.default_rng(0).permutation(N)).to_csv(
            path, header=False, index=index),
        ("x2", "x3") if index else ("x1", "x2"), ways=OF_TABLES) for index in (True, False)},
    **{f"the feature {name}, {end}": Case(f"t.{end}", lambda path, name=name: as_pandas(like_an_index(name), path),
        (name, "a", "b"))
       for name in ("x", "time", "position", "grid", "humid", "bid", "x1", "id") for end in ("csv", "parquet")},
    **{f"numbers as names, {labels}, {last}, {index}": Case("t.csv", lambda path, labels=labels, last=last, index=index:
        frame(labels=labels).set_axis([0, 1, last], axis=1).to_csv(path, index=index), ("0", "1"), names(labels),
        ways=OF_TABLES) for labels in (("rye", "wheat"), (0, 1)) for last in ("label", 2) for index in (True, False)},
}  # fmt: skip
NUMBERED = {
    f"CSV, {name} from {start}": Case("t.csv", lambda path, own=(name, start): as_pandas(numbered(*own), path))
    for name in NUMBERING
    for start in (0, 1)
}


# --- labels, as each program writes them: the labels of rows in order, the classes, how many have none, and pandas' type


LABELS = {
    "-1 beside two": ((-1, 0, 1), ("0", "1"), 1),
    "-1 and one other": ((-1, 1), ("-1", "1"), 0),
    "-1, one other, and missing": ((-1, 1, None), ("-1", "1"), 1, "Int64"),
    "-1 beside text": (("ham", "-1", "spam"), ("ham", "spam"), 1),
    "text and missing": (("ham", None, "spam"), ("ham", "spam"), 1),
    "-1, missing and two": ((0, 1, -1, None), ("0", "1"), 2, "Int64"),
    "floats and missing": ((0.0, 1.0, None), ("0", "1"), 1, "Float64"),
    "large and missing": ((BIG, BIG + 1, None), (str(BIG), str(BIG + 1)), 1, "Int64"),
    "large and -1": ((BIG, BIG + 1, -1), (str(BIG), str(BIG + 1)), 1),
    "beyond int64 and missing": ((LARGE, LARGE + 1, None), (str(LARGE), str(LARGE + 1)), 1, "UInt64"),
    "truth values and missing": ((True, False, None), ("False", "True"), 1, "boolean"),
    "truth values": ((True, False), ("False", "True"), 0),
    "another negative class": ((-2, -1, -2), ("-1", "-2"), 0),
    "forms of a word": (("Yes", "YES", "YES", "no"), ("YES", "no"), 0),
    "a word that means no label": (("a", "b", "unlabeled"), ("a", "b"), 1),
    "text with white space": ((" spam", "spam", "two\nlines", "two  lines"), ("spam", "two lines"), 0),
    "dates": ((date(2020, 1, 1), date(2021, 1, 1), None), ("2020-01-01", "2021-01-01"), 1),
    **{f"the word {word!r}": ((word, "x", "y"), ("x", "y"), 1)
       for word in some(["NA", "n/a", "<NA>", "null", "#N/A", "NaN", "None", "?", " NA "], 4)},
}  # fmt: skip
IN_PARQUET = {
    "fractions of single precision": ((0.1, 2.0, None), ("0.1", "2"), 1, "Float32"),
    "times of a zone": ((pd.Timestamp(0, tz="UTC"), pd.Timestamp(9**9, tz="UTC"), None),
        ("1970-01-01 00:00:00+00:00", "1970-01-01 00:00:00.387420489+00:00"), 1),
    "durations": ((pd.Timedelta("1D"), pd.Timedelta("2D"), None), ("1 days 00:00:00", "2 days 00:00:00"), 1),
    "bytes that are no text": ((b"\xff", b"\xfe", None), ("\\xfe", "\\xff"), 1),
    "a word that means missing, as bytes": ((b"NA", b"x", b"y"), ("x", "y"), 1),
}  # fmt: skip


def labeled(name, writer="pandas", end="parquet"):
    """Return the case of a kind of labels. In Parquet one writer's is tried by every way in, and those of others by Dask, too."""
    labels, classes, unlabeled, *kind = (LABELS | IN_PARQUET)[name]
    in_dask = end == "parquet" and not any(
        word in name for word in ("large", "beyond", "the word")
    )  # pandas makes floats of large numbers
    ways = ALL if (writer, end) == ("pyarrow", "parquet") else (*OF_TABLES, by_rows, *[by_dask] * in_dask)
    unlabeled = unlabeled * N // len(labels)
    return Case(
        f"t.{end}",
        lambda path: WRITERS[writer](frame(None, labels, *kind), path),
        ("a", "b"),
        classes,
        unlabeled,
        ways,
    )


IN_CSV = {f"{name}, CSV": labeled(name, end="csv") for name in LABELS}
BY_OTHERS = {
    f"{name}, {writer}, {end}": labeled(name, writer, end)
    for name in LABELS
    for writer, end in (("polars", "csv"), ("polars", "parquet"), ("pyarrow", "csv"))
}
BY_ARROW = {f"{name}, pyarrow": labeled(name, "pyarrow") for name in (*IN_PARQUET, *LABELS)}


def in_sparse_files(path, *groups):
    """Write a folder of LIBSVM files, each with labels of its own."""
    path.mkdir()
    for number, labels in enumerate(groups):
        rows = zip(np.resize(labels, N // len(groups)), *frame()[["a", "b"]].to_numpy().T, strict=False)
        (path / f"{number}.svm").write_text("".join(f"{one} 1:{a} 2:{b}\n" for one, a, b in rows))


SIGNED = {
    **{f"signs of a folder, {order}": Case("folder", lambda path, order=order: in_sparse_files(path, *order), ("x1", "x2"),
        classes, unlabeled, (by_description, by_conversion, by_rows)) for order, classes, unlabeled in (
        ((("+1", "-1"), ("0",)), ("-1", "1"), 30),  # of which no file has all signs
        ((("0",), ("+1", "-1")), ("-1", "1"), 30),
        ((("+1", "-1", "0"), ("1", "-1")), ("0", "1"), 25),  # SVMlight writes no 1 without its sign
    )},
}  # fmt: skip
SPARSE = {
    f"{labels}, {end}": Case(f"t.{end}", lambda path, labels=labels: as_numbers(labels, path), ("x1", "x2"), classes, unlabeled,
        OF_TABLES if end == "npz" else (*OF_TABLES, by_rows))
    for end in ("svm", "npz") for labels, classes, unlabeled in (
        ((-1, 0, 1), ("0", "1"), 20),
        ((-1, 1), ("-1", "1"), 0),
        *[((BIG, BIG + 2, -1), (str(BIG), str(BIG + 2)), 20), ((BIG + 1, BIG + 3), (str(BIG + 1), str(BIG + 3)), 0)] * (
            end == "npz"),
        *[(("+1", "-1", "0"), ("-1", "1"), 20)] * (end == "svm"),  # as SVMlight writes them: there 0 is the unlabeled one
    )
}  # fmt: skip
CASES = BY_EVERY_WAY | {name: labeled(name) for name in LABELS} | IN_CSV | SPARSE | SIGNED | INDEXED
CASES |= dict([*some(NUMBERED.items(), 12, 24), *some(BY_ARROW.items(), 5, 20), *some(BY_OTHERS.items(), 3, 20)])


def check(path, ways, *expected):
    """Fail unless all ways find the same in a file, and the page and the rows have the same points and labels in one order."""
    for way in ways:
        assert way(path) == expected, way.__name__
    if {by_upload, by_rows} <= {*ways}:
        (points, known), (rows, labels) = uploaded(path), rows_in(path)
        np.testing.assert_allclose(rows[:], points.X, rtol=1e-5)
        classes, codes = encode(labels)
        assert len(codes) in (N, N - EMPTY)
        found = [name_of(np.asarray(classes).tolist()[code]) if code >= 0 else None for code in codes]
        assert found == [known[code] if code >= 0 else None for code in points.y]


# They take longest: README's command tries each file by one of them in turn, .ci/run by two.
IN_TURN = (by_description, by_conversion, by_estimator, by_command)


@each("number, name", enumerate(CASES))
def test_features_and_classes_are_the_same_by_every_way_in(number, name, tmp_path_factory):
    case = CASES[name]
    path = tmp_path_factory.mktemp("written") / case.file
    case.write(path)
    later = [way for way in case.ways if way in IN_TURN]
    start = number % max(len(later), 1)
    ways = [way for way in case.ways if way not in IN_TURN] + some([*later[start:], *later[:start]], 1)
    check(path, ways, list(case.features), case.classes, case.unlabeled)


@settings(max_examples=len(some(range(20), 12, 20)))
@given(data=st.data(), writer=st.sampled_from(list(WRITERS)), end=st.sampled_from(["csv", "parquet"]))
def test_a_number_of_the_row_is_no_feature_whatever_the_labels_and_whoever_writes_them(
    data, writer, end, tmp_path_factory
):
    labels, classes, unlabeled, *kind = LABELS[data.draw(st.sampled_from(list(LABELS)))]
    table, place = frame(None, labels, *kind), data.draw(st.sampled_from([0, 2, None]))
    if place is not None:
        table.insert(place, data.draw(st.sampled_from(NUMBERING)), np.arange(N) + data.draw(st.sampled_from([0, 1, 7])))
    WRITERS[writer](table, path := tmp_path_factory.mktemp("written") / f"t.{end}")
    once_more = data.draw(st.sampled_from([by_description, by_conversion]))
    check(path, (by_upload, by_rows, once_more), ["a", "b"], classes, unlabeled * N // len(labels))


@each("ending", ["csv", "parquet"])
def test_an_index_that_is_left_out_and_what_is_taken_for_unlabeled_are_said(ending, tmp_path, capsys):
    path, table = tmp_path / f"t.{ending}", numbered("id").assign(label=np.resize([-1, 0, 1], N))
    (table.to_parquet if ending == "parquet" else table.to_csv)(path, index=False)
    index = "'id' names or numbers the rows, so it is no feature"
    unlabeled = "The label '-1' beside other labels is taken for “not labeled”"
    fit(path)
    from_fit = capsys.readouterr().err
    assert main(["data", "describe", str(path)]) == 0
    content = path.read_bytes()
    report = " ".join(read(content, sniff(content, path.name, labels="classes"), labels="classes").report)
    rows = rows_of(path, "label")[0]
    for said in (from_fit, report, " ".join((*rows.notes, *rows.guesses))):
        assert index in said
        assert unlabeled in said
    assert index in capsys.readouterr().out
    with pytest.warns(UserWarning, match=index):
        QSGS2AUC(**SMALL).fit(path, "label")


@each("ending", ["csv", "parquet"])
def test_a_class_that_begins_as_a_formula_is_itself_in_models_and_predictions(ending, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("formula")
    as_pandas(frame(labels=("+", "-")), path := tmp_path / f"t.{ending}")
    assert sorted(TSGS3VM(**SMALL).fit(path, "label").classes_) == ["+", "-"]
    model, facts = fit(path, "--quiet")
    assert facts["classes"] == ["+", "-"]
    out, csv_file = tmp_path / "out", tmp_path / "out.csv"
    assert main(["predict", str(model), str(path), "--out", str(out), "--csv", str(csv_file), "--quiet"]) == 0
    assert set(pd.read_parquet(out)["class"]) <= {"+", "-"}
    assert set(pd.read_csv(csv_file)["class"]) <= {"'+", "'-"}  # which a spreadsheet opens


def test_a_model_predicts_files_with_another_index_or_none(tmp_path):
    for name, index in INDEXES.items():
        frame(index).to_parquet(tmp_path / f"{name}.parquet")
    model, _ = fit(tmp_path / "named.parquet", "--quiet", "--scaling", "unit")
    first, *others = (scores(model, tmp_path / f"{name}.parquet") for name in INDEXES)
    assert all(np.array_equal(one, first) for one in others)


MODELS = {
    "QSGS2AUC": QSGS2AUC(**SMALL),
    "PS3VT": PS3VT(n_iter=20, tol=None),
    "EverydayLogisticRegression": EverydayLogisticRegression(),
}


@each("name", MODELS)
def test_columns_in_another_order_are_refused_wherever_the_rows_are(name, tmp_path):
    frame().to_parquet(tmp_path / "t.parquet")
    frame()[["b", "a", "label"]].to_parquet(tmp_path / "u.parquet")
    (rows, labels), (others, _) = rows_of(tmp_path / "t.parquet", "label"), rows_of(tmp_path / "u.parquet", "label")
    model = MODELS[name].fit(rows, labels)
    table = frame()[["a", "b"]]
    assert np.array_equal(model.predict(rows), model.predict(table))
    for points in (others, table[["b", "a"]], table.rename(columns={"a": "c"}), table[["a"]]):
        for use in (model.predict, lambda X: model.score(X, labels)):
            with pytest.raises(ValueError, match="feature names should match"):
                use(points)
    if name == "QSGS2AUC":
        with pytest.raises(ValueError, match="feature names should match"):
            model.partial_fit(others, labels)
    assert list(model.feature_names_in_) == ["a", "b"]
    takes_paths = name == "QSGS2AUC"
    for use, *labels in ((model.predict,), *[(model.fit, "label")] * (not takes_paths)):
        with pytest.raises(
            DataError, match=r"X must hold points, got the path .*: give dsgcore.data.rows_of.*its own means"
        ):
            use(tmp_path / "t.parquet", *labels)


def test_large_numbers_that_have_been_floats_are_refused(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    table = frame(labels=(BIG, BIG + 1, None), kind="Int64")
    rows, exact = rows_of(dask.from_pandas(table, npartitions=2), "label")
    assert found_in(rows.names, exact) == (["a", "b"], (str(BIG), str(BIG + 1)), N // 3)
    floats = dask.from_pandas(table.astype({"label": "float64"}), npartitions=2)
    with pytest.raises(DSGError, match=r"exact labels, got the float 9007199254740992.* give integers"):
        rows_of(floats, "label")
    np.savez(tmp_path / "a.npz", X=np.zeros((20, 2)), y=(np.arange(20) % 2 + 2**24).astype(np.float32))
    said = "'y' must hold exact labels, got the float 16777216: float32 skips whole numbers"
    with pytest.raises(DSGError, match=said):
        describe_file(tmp_path / "a.npz")


def test_arrows_types_in_dask_mean_what_the_table_does():
    dask = pytest.importorskip("dask.dataframe")
    table = frame().assign(c=["u", "v", None] * (N // 3), n=pd.array([1, None, 3] * (N // 3), "Int64"))
    rows, labels = rows_of(
        table := dask.from_pandas(table.convert_dtypes(dtype_backend="pyarrow"), npartitions=3), "label"
    )
    assert found_in(rows.names, labels) == (["a", "b", "n", "c: u", "c: v"], ("rye", "wheat"), 0)
    here = File.of_table(table.compute())
    points = here.prepared(here.recipe("classes", target="label"), "classes")[0].X
    np.testing.assert_allclose(rows[:], points, rtol=1e-6)


ORDERED = pd.Series(pd.Categorical(["mid", "low", "high"] * 20, ["low", "mid", "high", "none"], ordered=True))


@each("writer", WRITERS)
def test_ordered_categories_of_files_keep_their_order(tmp_path, writer):
    table, path = frame().assign(label=ORDERED), tmp_path / "table.parquet"
    if writer == "polars":  # of which pandas' type makes categories without an order
        enum = polars.Series(ORDERED.tolist(), dtype=polars.Enum(["low", "mid", "high", "none"]))
        polars.from_pandas(table.drop(columns="label")).with_columns(label=enum).write_parquet(path)
    else:
        WRITERS[writer](table, path)
    assert sniff_file(path, "ordinal").order == ("low", "mid", "high")
    points = take_steps(path.read_bytes(), path.name, Step("look", "ordinal"))[-1][1]  # what a page asks for
    assert points.class_names == ("low", "mid", "high")
    assert encode(rows_of(path, "label")[1], is_ordered=True)[0].tolist() == ["low", "mid", "high"]
    assert QS3ORAO(**SMALL).fit(path, "label").classes_.tolist() == ["low", "mid", "high"]


@each("reading", [
    {"header": False, "roles": {"x2": "category"}},
    {"header": True, "delimiter": ";", "roles": {"b": "category"}, "order": ["wheat", "rye"]},
    {"decimal": ",", "roles": {"b": "ignore"}},
    {"encoding": "cp1252"},
    {"below": 2},
])  # fmt: skip
def test_rows_take_the_options_of_the_commands(reading, tmp_path_factory):
    path = tmp_path_factory.mktemp("options") / "t.csv"
    frame().to_csv(path, sep=";", decimal=",", index=False, header=reading.get("header", True))
    target = "label" if reading.get("header", True) else "x3"
    rows, labels = rows_of(path, target, **reading)
    file = File.of_path(path)
    data = file.prepared(file.recipe("classes", target=target, **reading), "classes")[0]
    assert (rows.names, [*encode(labels, is_ordered="order" in reading)[0]]) == (
        data.feature_names,
        [*data.class_names],
    )
    np.testing.assert_allclose(rows[:], data.X, rtol=1e-6)


def test_labels_of_a_file_whose_class_is_minus_one_are_learned_and_scored(tmp_path):
    as_pandas(frame(labels=(-1, 1, None), kind="Int64"), path := tmp_path / "t.parquet")
    rows, labels = rows_of(path, "label")
    assert isinstance(labels, np.ma.MaskedArray)
    model = TSGS3VM(**SMALL).fit(rows, labels)
    assert model.classes_.tolist() == [-1, 1]
    X = pd.read_parquet(path)[["a", "b"]]
    assert model.score(X, labels) == np.mean(model.predict(X)[~labels.mask] == np.asarray(labels)[~labels.mask])
    assert set(model.predict(X)) <= {-1, 1}


def test_minus_one_beside_two_classes_is_unlabeled_on_the_page_and_a_switch_says_otherwise():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(240, 2)), columns=["a", "b"])
    content = X.assign(label=np.resize([-1, 0, 1], 240)).to_csv(index=False).encode()
    app = give(open_own(**{"solver.n_iter": "5"}), "table.csv", content)
    assert errors(app) == []
    split = run_of(app).split
    assert split.class_names == ("0", "1")
    assert (np.concatenate([split.y_hidden, split.y_test]) == -1).sum() == 80
    assert "80 rows without a label" in shown_text(app).replace("\\", "")
    switch = next(box for box in app.text_input if box.label == "A label that means “not labeled”")
    assert switch.value == "auto"
    switch.set_value("none").run()
    assert not app.exception
    assert "240 rows, 2 features, 2 classes: not" in shown_text(app).replace("\\", "")
    assert "without a label" not in shown_text(app)

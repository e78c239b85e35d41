"""Files as strangers write them: the same features, classes and rows without a label, whatever writes them and by every way in."""

import bz2
import gzip
import io
import json
import lzma
import warnings
import zipfile
from collections.abc import Callable
from datetime import date
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import each, some
from four_estimators import SMALL
from hypothesis import given, settings
from hypothesis import strategies as st
from own_tables import lines, sniff_file
from pyarrow import csv, parquet
from sklearn.datasets import dump_svmlight_file
from stranger_files import BIG, N, frame, packed, text

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.__main__ import main
from dsgcore.baselines import EverydayLogisticRegression
from dsgcore.core.errors import DSGError
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import describe_file
from dsgcore.data.reading import LOCAL, File, Source, Step, take_steps
from dsgcore.estimators.inputs import encode

polars = pytest.importorskip("polars")
dask = pytest.importorskip("dask.dataframe")
EMPTY, LARGE = 3, 2**63
KIND = frame()["label"].tolist()


# --- ways in: each returns the features, the classes, and the number of rows without a label


def name_of(one):
    return str(int(one)) if isinstance(one, float) else str(one)


def names(classes):
    return tuple(sorted(map(name_of, np.asarray(classes).tolist())))


def found_in(features, labels):
    classes, codes = encode(labels)
    return list(features), names(classes), int(np.sum(codes < 0))


def by_description(path):
    described = describe_file(path, sniff_file(path))
    sizes = described.class_sizes
    assert described.n in (N, N - EMPTY), "no row is lost, but those without any value"
    return list(described.features.names), tuple(sorted(sizes)), described.n - sum(sizes.values())


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


def fit(path, *more):
    """Fit by the command, and return the model's folder and what it says of itself."""
    out = Path(mkdtemp(dir=path.parent)) / "model"
    small = ["--set", "n_iter=4", "--set", "n_features=8", "--quiet", *more]
    assert main(["fit", "TSGS3VM", str(path), "--target", "label", "--out", str(out), *small]) == 0
    return out, json.loads((out / "fit.json").read_text())


def scores(model, path, *more):
    to = Path(mkdtemp(dir=path.parent)) / "scores"
    assert main(["predict", str(model), str(path), "--out", str(to), "--quiet", *more]) == 0
    return pd.read_parquet(to)


def by_command(path):
    model, facts = fit(path)
    assert len(scores(model, path)) == len(rows_in(path)[0])
    return facts["features"], names(facts["classes"]), by_rows(path)[2]


def by_dask(path):
    rows, labels = rows_of(dask.from_pandas(pd.read_parquet(path), npartitions=3), "label")
    return found_in(rows.names, labels)


OF_TABLES, OF_ROWS = (by_description, by_upload, by_conversion), (by_rows, by_estimator, by_command)
ALL, OF_FOLDERS = (*OF_TABLES, *OF_ROWS), (by_description, by_conversion, *OF_ROWS)


# --- one table in many formats


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
ARFF = ["@relation x", "@attribute a real", "@attribute 'b' REAL", "@attribute label {wheat, rye}", "@data"]
WORDS_TOO = frame().assign(a=[str(a) if i % 9 == 4 else a for i, (a, *_) in enumerate(CELLS)])  # numbers and words
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
    **{f"JSON of {name}, {lines}": table.to_json(orient="records", lines=lines).encode()
       for name, table in {"numbers": frame(), "numbers and words": WORDS_TOO}.items() for lines in (False, True)},
    "Arrow stream": packed(streamed),
    "ARFF": lines(*ARFF, *ROWS),
    "ARFF of two kinds of quotes": lines(*ARFF, *(f"{a},'{b}',\"{c}\"" for a, b, c in CELLS)),
    **{f"sparse ARFF, weights {weight!r}": lines(*ARFF,
        *(f"{{0 {a}, 1 {b}{', 2 rye' * (c == 'rye')}}}{weight}" for a, b, c in CELLS)) for weight in ("", ", {2.5}")},
    "ARFF of tabs": lines(*ARFF, *(row.replace(",", "\t") for row in ROWS)),
    "Feather": packed(frame().to_feather),
    "ORC": packed(frame().to_orc),
    "Parquet": packed(frame().to_parquet),
    "Parquet in data.csv": packed(frame().to_parquet),
    "CSV in data.parquet": text(),
    "Parquet in xz": lzma.compress(packed(frame().to_parquet)),
    "Arrow by polars": packed(enumerated),
    "Excel": by_excel(),
    "Excel in a zip": in_zip(by_excel(), "t.xlsx"),
    "Excel with a title": by_excel(3),
    "Excel from the third column on": by_excel(2, startcol=2),
}  # fmt: skip


@each("name", FORMATS)
def test_a_table_is_the_same_however_it_is_written_and_whatever_writes_it(name):
    file = File(Source.of_bytes(FORMATS[name], name), LOCAL)  # the name decides nothing
    data = file.prepared(file.recipe("classes", is_asked=True), "classes")[0]
    assert data.feature_names == ("a", "b")
    np.testing.assert_allclose(data.X, frame()[["a", "b"]], rtol=1e-6)
    assert (data.X.dtype, data.X.flags.c_contiguous) == (np.float32, True)
    assert [data.class_names[code] for code in data.y] == KIND
    assert len(data.sha256) == 64


# --- an index is no feature, and labels are as each program writes them


class Case(NamedTuple):
    """A file: its name, how it is written, what each way in must find in it, and the ways."""

    file: str
    write: Callable[[Path], object]
    features: tuple[str, ...] = ("a", "b")
    classes: tuple[str, ...] = ("rye", "wheat")
    unlabeled: int = 0
    ways: tuple[Callable, ...] = ALL


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


def file_of(table, end="csv", *expected, writer=as_pandas, **more):
    """Return the case of a table that is written to a file."""
    return Case(f"t.{end}", partial(writer, table), *expected, **more)


def in_dask(path, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask calls what pandas has deprecated
        parts = dask.from_pandas(table, npartitions=3, sort=False)
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


def sparse(labels, n=N):
    rows = zip(np.resize(labels, n), *frame()[["a", "b"]].to_numpy().T, strict=False)
    return "".join(f"{one} 1:{a} 2:{b}\n" for one, a, b in rows)


def in_sparse_files(path, *groups):
    """Write a folder of LIBSVM files, each with labels of its own."""
    path.mkdir()
    for number, labels in enumerate(groups):
        (path / f"{number}.svm").write_text(sparse(labels, N // len(groups)))


def numbered(name, numbers=range(N)):
    table = frame()
    table.insert(0, name, numbers)
    return table


def with_gaps():
    """Return a table of which three rows have no value, and others some."""
    table = frame().astype({"label": object})
    table.loc[[3, 4, 20]] = None
    table.loc[30, "a"], table.loc[31, ["a", "b"]], table.loc[32, "label"] = None, None, None
    return table


NUMBERING = ["id", "ID", "Row", "row_id", "PassengerId", "customer_id", "sampleid", "#", "S.No.", "lfd. Nr.", "rn", ""]
ANY_ORDER = np.random.default_rng(1).permutation(10**6)[:N]
POINTS, CODES = frame()[["a", "b"]], np.unique(KIND, return_inverse=True)[1]
X_Y = ("x1", "x2"), ("0", "1")
MAGIC = ("PAR1", "ORCID", "ARROW1", "FEA1", "MZ", "BZh", "GIF8", "Rar!", "MATLAB 5.0", "SQLite format 3")
# Names of first columns that look like those of an index and are features, and their numbers.
FEATURES = dict.fromkeys(("x", "time", "position", "grid", "humid", "x1"), range(N))
FEATURES |= {"bid": ANY_ORDER, "id": np.arange(N) % 7}
BY_EVERY_WAY = {
    **{name: Case("table", lambda path, name=name: path.write_bytes(FORMATS[name]))
       for name in ("decimal comma", "title and units", "R", "zip", "Feather", "Parquet")},
    **{f"numbers in the names of folders, and empty parts, {end}": Case("folder", lambda path, end=end: in_hive(path, end),
        ("a", "b", "part"), ways=OF_FOLDERS) for end in ("csv", "jsonl")},
    "numbers in one file of a folder and words in others": Case("folder", in_unlike_parts, classes=("001", "A02"), ways=OF_FOLDERS),
    "years named y in the names of folders": Case("folder", lambda path: in_hive(path, "csv", "y"), ("a", "b", "y"),
        ways=(by_description, by_rows)),
    "an empty part, packed": Case("folder", in_spark, ways=OF_FOLDERS),
    "numbers as FITS has them": Case("t.npz", lambda path: np.savez(path, X=POINTS.to_numpy(">f4"), y=CODES.astype(">i8")),
        *X_Y, ways=OF_TABLES),
    "the label as the index": Case("t.parquet", frame().set_index("label").to_parquet),
    **{f"a column named self, {end}": file_of(frame().rename(columns={"a": "self"}), end, ("self", "b"))
       for end in ("csv", "parquet")},  # as an argument of pandas
    "blanks around names": file_of(frame().rename(columns={"a": " a ", "label": "label "}), "parquet"),
    **{f"a column named {name}": file_of(frame().rename(columns={"a": name}), "csv", (name, "b")) for name in MAGIC},
    "a feature without a name": file_of(numbered("", SHUFFLED / 7), "parquet", ("column 1", "a", "b")),
    "a number without a name, and gaps": file_of(numbered("").assign(label=with_gaps()["label"]), "parquet", unlabeled=4),
    **{f"rows without any value, {end}": file_of(with_gaps(), end, unlabeled=1, ways=(*ALL, *[by_dask] * (end == "parquet")))
       for end in ("csv", "parquet")},
}  # fmt: skip
INDEXED = {
    **{f"pandas, {name} index": Case("t.parquet", frame(index=index).to_parquet) for name, index in INDEXES.items()},
    "pandas, index kept": Case("t.parquet", lambda path: frame().to_parquet(path, index=True)),
    "pyarrow, without metadata": Case("t.parquet", lambda path:
        parquet.write_table(pa.Table.from_pandas(frame(index=SHUFFLED)).replace_schema_metadata(None), path)),
    **{f"Dask, index {name}": Case("folder", lambda path, name=name: in_dask(path, frame(index=INDEXES[name])), ways=OF_ROWS)
       for name in ("unnamed", "named")},
    "a number that begins again in each part": Case("folder", in_parts, ways=OF_ROWS),
    "CSV, default index": Case("t.csv", frame().to_csv),
    "CSV, shuffled index": Case("t.csv", frame(index=SHUFFLED).to_csv),
    "CSV, drawn with repeats": Case("t.csv", frame().sample(N, replace=True, random_state=0).to_csv),
    "CSV of CSV": Case("t.csv", frame().reset_index(names="Unnamed: 0").to_csv),
    "CSV of parts": Case("t.csv", pd.concat(PARTS).to_csv),
    "TSV": Case("t.tsv", lambda path: frame().to_csv(path, sep="\t", index_label="index")),
    "LIBSVM": Case("t.txt", lambda path: dump_svmlight_file(POINTS, CODES, str(path)), *X_Y, ways=(*OF_TABLES, by_rows)),
    "npz": Case("t.npz", lambda path: np.savez(path, X=POINTS, y=CODES, id=np.arange(N)), *X_Y, ways=OF_TABLES),
    **{f"{name} in any order, {end}": file_of(numbered(name, ANY_ORDER), end)
       for name in ("id", "customerid", "User ID", "PassengerId", "uuid") for end in ("csv", "parquet")},
    **{f"CSV without names, {'numbered' if index else 'plain'}": Case("t.csv", partial(
            frame().assign(a=np.random.default_rng(0).permutation(N)).to_csv, header=False, index=index),
        ("x2", "x3") if index else ("x1", "x2"), ways=OF_TABLES) for index in (True, False)},
    **{f"the feature {name}, {end}": file_of(numbered(name, own), end, (name, "a", "b"), ways=(*OF_TABLES, by_rows))
       for name, own in FEATURES.items() for end in ("csv", "parquet")},
    **{f"numbers as names, {labels}, {last}, {index}": Case("t.csv", partial(
            frame(labels).set_axis([0, 1, last], axis=1).to_csv, index=index), ("0", "1"), names(labels), ways=OF_TABLES)
       for labels in (("rye", "wheat"), (0, 1)) for last in ("label", 2) for index in (True, False)},
}  # fmt: skip
# The labels of rows in order, the classes, how many have none, and pandas' type.
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


def labeled(name, end):
    labels, classes, unlabeled, *kind = (LABELS | IN_PARQUET)[name]
    # Dask makes floats of large numbers, and text of bytes.
    is_in_dask = end == "parquet" and not any(word in name for word in ("large", "beyond", "word", "bytes"))
    ways = (*ALL, *[by_dask] * is_in_dask)
    own = frame(labels, *kind)
    return file_of(own, end, classes=classes, unlabeled=unlabeled * N // len(labels), ways=ways, writer=as_arrow)


BIG_ONES = [((BIG, BIG + 2, -1), (str(BIG), str(BIG + 2)), 20), ((BIG + 1, BIG + 3), (str(BIG + 1), str(BIG + 3)), 0)]
SMALL_ONES = [((-1, 0, 1), ("0", "1"), 20), ((-1, 1), ("-1", "1"), 0)]
SIGNED = {
    **{f"{labels}, npz": Case("t.npz", lambda path, labels=labels: np.savez(path, X=POINTS, y=np.resize(labels, N)), X_Y[0],
        *expected, ways=OF_TABLES) for labels, *expected in (*SMALL_ONES, *BIG_ONES)},
    **{f"{labels}, svm": Case("t.svm", lambda path, labels=labels: path.write_text(sparse(labels)), X_Y[0], *expected,
        ways=(*OF_TABLES, by_rows))  # SVMlight's 0 is the unlabeled one
       for labels, *expected in (*SMALL_ONES, (("+1", "-1", "0"), ("-1", "1"), 20))},
    **{f"signs of a folder, {order}": Case("folder", lambda path, order=order: in_sparse_files(path, *order), X_Y[0],
        *expected, ways=(by_description, by_conversion, by_rows)) for order, *expected in (
        ((("+1", "-1"), ("0",)), ("-1", "1"), 30),  # of which no file has all signs
        ((("0",), ("+1", "-1")), ("-1", "1"), 30),
        ((("+1", "-1", "0"), ("1", "-1")), ("0", "1"), 25),  # SVMlight writes no 1 without its sign
    )},
}  # fmt: skip
CASES = BY_EVERY_WAY | INDEXED | SIGNED
CASES |= {f"{name}, {end}": labeled(name, end) for name in LABELS for end in ("csv", "parquet")}
CASES |= {name: labeled(name, "parquet") for name in IN_PARQUET}


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


@settings(max_examples=len(some(range(40), 24, 40)))
@given(data=st.data(), writer=st.sampled_from(list(WRITERS)), end=st.sampled_from(["csv", "parquet"]))
def test_a_number_of_the_row_is_no_feature_whatever_the_labels_and_whoever_writes_them(
    data, writer, end, tmp_path_factory
):
    labels, classes, unlabeled, *kind = LABELS[data.draw(st.sampled_from(list(LABELS)))]
    table, place = frame(labels, *kind), data.draw(st.sampled_from([0, 2, None]))
    if place is not None:
        table.insert(place, data.draw(st.sampled_from(NUMBERING)), np.arange(N) + data.draw(st.sampled_from([0, 1, 7])))
    WRITERS[writer](table, path := tmp_path_factory.mktemp("written") / f"t.{end}")
    once_more = data.draw(st.sampled_from([by_description, by_conversion]))
    check(path, (by_upload, by_rows, once_more), ["a", "b"], classes, unlabeled * N // len(labels))


def test_a_class_that_begins_as_a_formula_is_itself_in_models_and_predictions(tmp_path):
    as_pandas(frame(("+", "-")), path := tmp_path / "t.csv")
    assert sorted(TSGS3VM(**SMALL).fit(path, "label").classes_) == ["+", "-"]
    model, facts = fit(path)
    assert facts["classes"] == ["+", "-"]
    assert set(scores(model, path, "--csv", str(tmp_path / "out.csv"))["class"]) <= {"+", "-"}
    assert set(pd.read_csv(tmp_path / "out.csv")["class"]) <= {"'+", "'-"}  # which a spreadsheet opens


def test_a_model_predicts_files_with_another_index_or_none(tmp_path):
    for name, index in INDEXES.items():
        frame(index=index).to_parquet(tmp_path / f"{name}.parquet")
    model, _ = fit(tmp_path / "named.parquet", "--scaling", "unit")
    first, *others = (scores(model, tmp_path / f"{name}.parquet")["score"] for name in INDEXES)
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
    assert np.array_equal(model.predict(rows), model.predict(POINTS))
    uses = [model.predict, lambda X: model.score(X, labels)]
    uses += [lambda X: model.partial_fit(X, labels)] * (name == "QSGS2AUC")
    for points in (others, POINTS[["b", "a"]], POINTS.rename(columns={"a": "c"}), POINTS[["a"]]):
        for use in uses:
            with pytest.raises(ValueError, match="feature names should match"):
                use(points)
    for use, *labels in ((model.predict,), *[(model.fit, "label")] * (name != "QSGS2AUC")):
        with pytest.raises(DataError, match=r"X must hold points, got the path .*: give dsgcore.data.rows_of.*"):
            use(tmp_path / "t.parquet", *labels)


def test_dasks_large_labels_are_exact_and_arrows_types_mean_what_the_table_does():
    table = frame((BIG, BIG + 1, None), "Int64")
    rows, exact = rows_of(dask.from_pandas(table, npartitions=2), "label")
    assert found_in(rows.names, exact) == (["a", "b"], (str(BIG), str(BIG + 1)), N // 3)
    with pytest.raises(DSGError, match=r"exact labels, got the float 9007199254740992.* give integers"):
        rows_of(dask.from_pandas(table.astype({"label": "float64"}), npartitions=2), "label")
    table = frame(c=["u", "v", None] * (N // 3), n=pd.array([1, None, 3] * (N // 3), "Int64"))
    table = dask.from_pandas(table.convert_dtypes(dtype_backend="pyarrow"), npartitions=3)
    rows, labels = rows_of(table, "label")
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
    order = ("low", "mid", "high")
    points = take_steps(path.read_bytes(), path.name, Step("look", "ordinal"))[-1][1]  # what a page asks for
    assert sniff_file(path, "ordinal").order == points.class_names == order
    assert tuple(encode(rows_of(path, "label")[1], is_ordered=True)[0].tolist()) == order
    assert tuple(QS3ORAO(**SMALL).fit(path, "label").classes_.tolist()) == order


@each("reading", [
    {"header": False, "roles": {"x2": "category"}},
    {"header": True, "delimiter": ";", "roles": {"b": "category"}, "order": ["wheat", "rye"]},
    {"decimal": ",", "roles": {"b": "ignore"}},
    {"encoding": "cp1252"},
    {"below": 2},
])  # fmt: skip
def test_rows_take_the_options_of_the_commands(reading, tmp_path_factory):
    path, has_names = tmp_path_factory.mktemp("options") / "t.csv", reading.get("header", True)
    frame().to_csv(path, sep=";", decimal=",", index=False, header=has_names)
    target = "label" if has_names else "x3"
    rows, labels = rows_of(path, target, **reading)
    file = File.of_path(path)
    data = file.prepared(file.recipe("classes", target=target, **reading), "classes")[0]
    classes = [*encode(labels, is_ordered="order" in reading)[0]]
    assert (rows.names, classes) == (data.feature_names, [*data.class_names])
    np.testing.assert_allclose(rows[:], data.X, rtol=1e-6)


def test_labels_of_a_file_whose_class_is_minus_one_are_learned_and_scored(tmp_path):
    as_pandas(frame((-1, 1, None), "Int64"), path := tmp_path / "t.parquet")
    rows, labels = rows_of(path, "label")
    model = TSGS3VM(**SMALL).fit(rows, labels)
    assert model.classes_.tolist() == [-1, 1]
    assert model.score(POINTS, labels) == np.mean((model.predict(POINTS) == np.asarray(labels))[~labels.mask])

"""Files and folders as strangers write them, one function each, for results that are kept."""

import gzip
import io
import tarfile
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

N, BIG = 60, 2**53


def frame(labels=("wheat", "rye"), kind=None, index=None, **more):
    """Return a table whose labels come again and again."""
    labels = pd.array([labels[i % len(labels)] for i in range(N)], dtype=kind)
    a = np.random.default_rng(0).normal(5, 1, N).round(2)
    return pd.DataFrame({"a": a, "b": np.arange(N) % 7 + 0.5, "label": labels} | more, index=index)


def written(table, path):
    """Write a table in the format that the name ends with, to folders that are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        table.to_parquet(path, row_group_size=17, index=False)
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


def parts(folder, end, *names):
    for name, rows in zip(names, np.array_split(np.arange(N), len(names)), strict=True):
        written(frame().iloc[rows], folder / f"{name}.{end}")


def with_others(folder, end):
    parts(folder, end, "part.0", "part.1", "part.2")
    (folder / "README.txt").write_text("These are harvests.\nPlease, cite us.\n" * 999)
    (folder / "paper.pdf").write_bytes(b"%PDF-1.7" + bytes(99_999))
    (folder / f"~$part.1.{end}").write_bytes(b"open in Excel")
    (folder / "_SUCCESS").write_bytes(b"")


def with_empty_rows(folder, end):
    for number in range(3):
        own = frame().astype({"label": object})
        own.loc[list(range(number))] = None
        written(own, folder / f"{number}.{end}")


def of_arrow(column, folder):
    table = pa.Table.from_pandas(frame()[["b", "label"]])
    parquet.write_table(table.append_column("c", column), folder / "t.parquet")


def packed(write):
    write(content := io.BytesIO())
    return content.getvalue()


def text(sep=",", decimal=".", encoding="utf-8"):
    return frame().to_csv(index=False, sep=sep, decimal=decimal).encode(encoding)


def in_zip(folder, members):
    with zipfile.ZipFile(folder / "t.dat", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def in_tar(folder, mode):
    with tarfile.open(folder / "t.dat", f"w:{mode}") as archive:
        (member := tarfile.TarInfo("t.csv")).size = len(text())
        archive.addfile(member, io.BytesIO(text()))


def workbook(folder, before=None):
    with pd.ExcelWriter(folder / "t.xlsx") as book:
        if before is None:
            frame().to_excel(book, index=False)
            book.sheets["Sheet1"]["A5"] = "#DIV/0!"
            book.sheets["Sheet1"].merge_cells("C2:C3")
        else:
            pd.DataFrame(before).to_excel(book, sheet_name="About", header=False, index=False)
            frame().to_excel(book, sheet_name="Data", index=False)
            pd.DataFrame().to_excel(book, sheet_name="Empty")  # it is not said to be left out


def of_labels(labels, end, folder, kind=None, **more):
    written(frame(labels, kind, **more), folder / f"t.{end}")


def sparse(folder, *files):
    for name, content in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content * 20)


COLUMNS = {
    "tensors": pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((N, 2, 2))),
    "lists of any length": pa.array([[1.0]] * N, pa.large_list(pa.float64())),
    "views of text": pa.array(["x", "y"] * (N // 2), pa.string_view()),
    "views of bytes": pa.array([b"x", b"y"] * (N // 2), pa.binary_view()),
    "decimals of 256 bits": pa.array(range(N), pa.int64()).cast(pa.decimal256(50, 2)),
    "words with gaps, each once": pa.array(["x", None, "z"] * (N // 3)).dictionary_encode(),
    "decimals": pa.array(range(N), pa.int64()).cast(pa.decimal128(21, 2)),
    "truth values with gaps": pa.array([True, None, False] * (N // 3)),
    "days too far": pa.array([10**12 + i for i in range(N)], pa.timestamp("s")),
}
HELD = {  # columns of tables in memory that are left out
    "dates that are left out": pd.date_range("2020-01-01", periods=N),
    "durations that are left out": pd.to_timedelta(np.arange(N), "h"),
    "complex numbers": np.arange(N) * 1j,
}
TYPES = {  # of columns of tables in memory
    "categories": pd.Categorical(np.resize(["ulm", "bonn", "jena"], N), ["ulm", "jena", "bonn"], ordered=True),
    "times of a zone": pd.date_range("2020-01-01", periods=N, tz="Asia/Tokyo"),
}
ARCHIVES = {
    "a zip of a table and notes": {"d/t.csv": text(), "d/README.md": b"x", "d/.DS_Store": b"x"},
    "Parquet in a zip": {"t.parquet": packed(frame().to_parquet)},
    "Parquet and notes in a zip": {"t.parquet": packed(frame().to_parquet), "README.md": b"x"},
    "a zip of two tables": {"a.csv": text(), "b.csv": text()},
    "gzip in a zip": {"t.csv.gz": gzip.compress(text())},
    "a document of LibreOffice": dict.fromkeys(("mimetype", "content.xml", "styles.xml"), b"\0"),
    "a document of Numbers": dict.fromkeys(("Index/Document.iwa", "preview.jpg"), b"\0"),
    "a workbook, xlsb": dict.fromkeys(("[Content_Types].xml", "xl/workbook.bin", "xl/worksheets/sheet1.bin"), b"\0"),
}
COUNTS, EYE = np.arange(N) % 3, np.arange(2.0 * N).reshape(N, 2)
ARRAYS = {
    "no rows": {"X": np.zeros((0, 2)), "y": np.zeros(0)},
    "no columns": {"X": np.zeros((N, 0)), "y": COUNTS},
    "a flat X": {"X": COUNTS, "y": COUNTS},
    "complex numbers": {"X": EYE + 1j, "y": COUNTS},
    "fewer labels": {"X": EYE, "y": COUNTS[1:]},
    "labels in a table": {"X": EYE, "y": EYE},
    "no X": {"points": EYE, "y": COUNTS},
    "objects": {"X": EYE, "y": COUNTS.astype(object)},
    "columns and others": {
        "X": EYE,
        "y": COUNTS[:, None],
        "w": COUNTS[:, None] + 1,
        "x1": COUNTS * 2,
        "few": EYE[0],
        "t": COUNTS * 1j,
        "label": np.array(["x", "y"] * (N // 2)),
        "b": np.array([b"u", b"v"] * (N // 2)),
    },
}
SHEETS = {"notes": [["Harvests"], ["by us"], ["cite us"]], "names": [["name", "means"], ["a", "length"]]}
PAIRS = pd.array([BIG, BIG, BIG + 1, BIG + 1, *[None] * (N - 4)], dtype="Int64")
TEXTS = ("csv", "parquet")
# What writes the files, each of them into a folder.
FILES = {
    **{f"labels {labels}": partial(of_labels, labels, "parquet")
       for labels in ((-1, 0, 1), (None, "a", "b"), ("unlabeled", "a", "b"))},
    **{f"infinite labels, {end}": partial(of_labels, (np.inf, 0.0, 1.0), end) for end in TEXTS},
    **{f"large pair numbers, {end}": partial(of_labels, ("u", "v"), end, pair=PAIRS) for end in TEXTS},
    **{f"long labels, {end}": partial(of_labels, ("x" * 120 + "a", "x" * 120 + "b"), end) for end in TEXTS},
    **{f"other files of a folder, {end}": partial(with_others, end=end) for end in ("csv", "tsv", "parquet", "csv.gz")},
    **{f"rows without any value, {end}": partial(with_empty_rows, end=end) for end in TEXTS},
    **{f"names of folders without a column, {end}": lambda folder, end=end: parts(folder, end, "rye/x", "wheat/x")
       for end in TEXTS},
    **{f"one folder, {end}": lambda folder, end=end: parts(folder, end, "rye/x", "rye/y") for end in TEXTS},
    **{f"folders of {name}": lambda folder, name=name: parts(folder, "csv", *(f"{one}/x" for one in name.split()))
       for name in ("y=0 y=1", "y=2020 y=2021", "a=1 a=2")},
    "large labels of LIBSVM text": lambda folder: sparse(folder, ("t.svm", f"{BIG} 1:2\n{BIG + 1} 1:3\n")),
    "LIBSVM text with comments, in which 0 is no class": lambda folder: sparse(
        folder, ("t.svm", "# by hand\n+1 1:2 2:3 # first\n-1 1:3\n0 2:1\n")),
    "LIBSVM text in folders of years": lambda folder: sparse(
        folder, *((f"year={year}/a.svm", "1 1:2\n-1 2:1\n") for year in (2020, 2021))),
    **{f"an archive of {name}": lambda folder, own=own: np.savez(folder / "t.npz", **own) for name, own in ARRAYS.items()},
    "labels of an archive in a column": lambda folder: np.savez(
        folder / "t.npz", X=frame()[["a", "b"]], y=np.resize(["y", "X"], N)[:, None]),
    "single precision that skips whole numbers": lambda folder: np.savez(
        folder / "t.npz", X=np.zeros((20, 2)), y=(np.arange(20) % 2 + 2**24).astype(np.float32)),
    **{f"a column of {name}": partial(of_arrow, column) for name, column in COLUMNS.items()},
    **{name: partial(in_zip, members=members) for name, members in ARCHIVES.items()},
    **{f"tar {mode}": partial(in_tar, mode=mode) for mode in ("", "gz")},
    "an index with a blank before its name": lambda folder: frame().set_index(
        pd.Index(np.arange(N) * 7 % N / 3, name=" no")).to_parquet(folder / "t.parquet"),
    "two columns of one name": lambda folder: parquet.write_table(
        pa.table([[1.0, 2.0]] * 3, names=["a", "a", "label"]), folder / "1.parquet"),
    "a wrong byte in a text of UTF-8": lambda folder: (folder / "t.csv").write_bytes(
        b"a,label\n" + "1,grün\n2,weiß\n".encode() * 15 + b"3,gr\xff\n"),
    "merged cells and errors of a workbook": workbook,
    **{f"a sheet of {name} before the table": partial(workbook, before=rows) for name, rows in SHEETS.items()},
}  # fmt: skip


def folder_of(folder, tables):
    """Write tables to a folder; the names of the files have `/` for a folder, and their endings."""
    for name, table in tables.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        table.to_parquet(file, index=False)


def piece(start, n=20, **more):
    return pd.DataFrame({"a": np.arange(start, start + n) * 0.5, "t": np.arange(n) % 2} | more)


def two(first, second):
    """Return two tables whose columns b have these values."""
    return {"1.parquet": piece(0, b=first), "2.parquet": piece(20, b=second)}


COUNT = np.arange(20)
HIDDEN = ("_temporary/0/x.parquet", ".ipynb_checkpoints/1.parquet", "._1.parquet", "_metadata.parquet")
AWAY = {name: np.arange(60) + 100 * (np.arange(60) % 2 == i) for i, name in enumerate(("over", "under"))}
# Tables in folders of Parquet files, by the names of the files.
FOLDERS = {
    "files that are hidden or being written": two(1, 2) | dict.fromkeys(HIDDEN, piece(50)),
    "endings": {"1.pq": piece(0), "2.PARQUET": piece(20), "3.parq": piece(40)},
    "folders in folders": {"a/1.parquet": piece(0), "b/c/2.parquet": piece(20)},
    "partitions": {"year=2020/x.parquet": piece(0), "year=2021/x.parquet": piece(20)},
    "partitions of which some have one more key": {"k=0.5/x.parquet": piece(0), "k=2/m=3/x.parquet": piece(20),
        "k=2/m=4/x.parquet": piece(40)},
    "no files": {},
    "a feature that the last one does not have": {"1.parquet": piece(0), "2.parquet": piece(20).drop(columns="a")},
    "a feature that the first one does not have": {"1.parquet": piece(0).drop(columns="a"), "2.parquet": piece(20)},
    "a label that the last one does not have": {"1.parquet": piece(0), "2.parquet": piece(20).drop(columns="t")},
    "numbers, then text": {"1.parquet": piece(0), "2.parquet": piece(20, a=list("ab") * 10)},
    "partitions named as a column": {"a=1/x.parquet": piece(0), "a=2/x.parquet": piece(20)},
    "partitions of fractions": {"k=0.5/x.parquet": piece(0), "k=2/x.parquet": piece(20)},
    "partitions of the label": {"t=no/x.parquet": piece(0)[["a"]], "t=yes/x.parquet": piece(20)[["a"]]},
    "partitions of the label in numbers": {"t=0/x.parquet": piece(0)[["a"]], "t=1/x.parquet": piece(20)[["a"]]},
    "columns in another order": {"1.parquet": piece(0, b=1.5), "2.parquet": piece(20, b=2.5)[["b", "t", "a"]]},
    "unsigned numbers, then signed ones": two(np.full(20, 2**63, np.uint64), -3),
    "Boolean values, then fractions": two(COUNT % 2 == 0, COUNT / 8),
    "no value, then numbers": {"1.parquet": piece(0, n=2, b=[None, None]), "2.parquet": piece(2, b=COUNT * 1.0)},
    "no value": {"1.parquet": piece(0, b=None)},
    "whole numbers, then fractions": two(COUNT, COUNT / 8),
    "small whole numbers, then large ones": two(COUNT.astype(np.int8), np.full(20, 1000, np.int16)),
    "single precision, then double": two(np.float32(COUNT), 1e-9),
    "numbers as categories, then numbers": two(pd.Categorical(COUNT), COUNT),
    "what may be a mistake": {"1.parquet": piece(0, 60, m=np.where(np.arange(60) % 6 == 0, -999, np.arange(60) % 5),
        same=np.arange(60) % 2 * 7, **AWAY)},
}  # fmt: skip

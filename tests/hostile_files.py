"""Broken, too large and malicious files, each with the expected message; and files that a number makes of good ones, damaged.

As a job of another process, `read_seeds` reads those of numbers as the app does.
"""

import bz2
import gzip
import io
import lzma
import pickle
import zipfile
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from own_tables import lines

from dsgcore.data import DataError
from dsgcore.data.reading import Step, take_steps

GOOD = b"a,b,label\n" + b"".join(b"%d,%d,%s\n" % (i, i * i % 7, [b"no", b"yes"][i % 2]) for i in range(40))


def npz(**arrays) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def parquet(**options) -> bytes:
    content = io.BytesIO()
    frame = options.pop("frame", None)
    frame = pd.read_csv(io.BytesIO(GOOD)) if frame is None else frame
    frame.to_parquet(content, **options)
    return content.getvalue()


def stata() -> bytes:
    content = io.BytesIO()
    pd.read_csv(io.BytesIO(GOOD)).to_stata(content)
    return content.getvalue()


def arrow(columns, **options) -> bytes:
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content, **options)
    return content.getvalue()


def archive(**members: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as made:
        for name, member in members.items():
            made.writestr(name.replace("__", "."), member)
    return content.getvalue()


def header(rows: int) -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f4", "fortran_order": False, "shape": (rows, 1024)})
    return content.getvalue()


def zip_bomb() -> bytes:
    """An archive of 1 MB whose X says it has, and has, 320 MB of zeros."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        with made.open("X.npy", "w", force_zip64=True) as member:
            member.write(header(80 * 2**10))
            for _ in range(320):
                member.write(bytes(2**20))
        made.writestr("y.npy", b"")
    return content.getvalue()


def lying_npz() -> bytes:
    """An archive whose X has a header of 4 TB and no data."""
    return archive(X__npy=header(2**30) + bytes(64), y__npy=header(2**30))


class Bomb:
    def __reduce__(self):
        return (print, ("unpickled!",))


def gzip_bomb() -> bytes:
    """Half a gigabyte of zeros in half a megabyte."""
    return gzip.compress(bytes(2**20)) * 512


def parquet_bomb() -> bytes:
    """A small Parquet file of 400 MB of one number."""
    column = pa.array(np.zeros(1_000_000))
    return arrow({f"c{j}": column for j in range(50)}, compression="zstd", use_dictionary=False)


def parquet_many_rows() -> bytes:
    return arrow({"a": np.zeros(1_000_001, dtype=np.int8), "label": np.arange(1_000_001) % 2})


def xz_of_large_dictionary() -> bytes:
    """A good file whose header says that unpacking it takes 1.5 GB: its size in the LZMA2 filter's properties, and the check."""
    packed = bytearray(lzma.compress(GOOD, format=lzma.FORMAT_XZ))
    start = 12  # of the block's header, after the stream's
    size = (packed[start] + 1) * 4
    at = packed.index(b"\x21\x01", start) + 2
    packed[at] = 39  # 2^31 + 2^30
    packed[start + size - 4 : start + size] = zlib.crc32(packed[start : start + size - 4]).to_bytes(4, "little")
    return bytes(packed)


def rows(n: int, cell: str = "{i},{j},{label}") -> list[str]:
    return [cell.format(i=i, j=i % 5, label="ab"[i % 2]) for i in range(n)]


HEAD = "x,z,label"
# name: (file name, content, what the sentence says); contents that are large are made when they are needed.
REFUSED = {
    "empty": ("empty.csv", b"", "the file is empty"),
    "blank lines": ("blank.csv", b"\n\n  \n\n", "blank lines"),
    "header only": ("header.csv", lines(HEAD), "no rows below its header"),
    "one column": ("one.csv", lines("label", *"abab"), "the table has one column, 'label', and there must"),
    "one column of numbers": ("one.csv", lines("x", "1", "2", "3"), "one column, .x., and there must be a label and a"),
    "one row": ("row.csv", lines(HEAD, "1,2,a"), "between 2 and 1000 classes"),
    "one class": ("class.csv", lines(HEAD, *(f"{i},{i},a" for i in range(9))), "2 and 1000 classes, got 'a' alone"),
    "no labels": ("none.csv", lines(HEAD, *(f"{i},{i}," for i in range(9))), "between 2 and 1000 classes, got 0"),
    "all NaN": ("nan.csv", lines(HEAD, *(f"NaN,NaN,{'ab'[i % 2]}" for i in range(9))), "no column of features is left"),
    "infinite": ("inf.csv", lines(HEAD, *rows(5), "inf,2,a"), "column 'x' .* got inf in row 6"),
    "1e308": ("big.csv", lines(HEAD, *rows(5), "1e308,2,a"), "column 'x' .* at most 1e\\+30 .* got 1e\\+308 in row 6"),
    "1e400": ("big.csv", lines(HEAD, *rows(5), "1e400,2,a"), "column 'x' .* in row 6"),
    "mixed types": ("mixed.csv", lines(HEAD, *rows(30), "1,abc,a"),
        "column 'z' must hold numbers, got 'abc' in row 31"),
    "long row": ("long.csv", lines(HEAD, *rows(5), "1,2,a,4"), "line 7 has 4 cells, and the first has 3"),
    "short row": ("short.csv", lines(HEAD, *rows(5), "1,2"), "line 7 has 2 cells, and the first has 3"),
    "open quote": ("quote.csv", lines(HEAD, *rows(5), '1,"2,a'), "a quote is opened and never closed"),
    "text after quote": ("quote.csv", lines(HEAD, *rows(5), '1,"2"3,a'), "line 7 cannot be read"),
    "endless cell": ("cell.csv", lines(HEAD, *rows(5), "1," + "9" * 200_000 + ",a"), "column .z. .* row 6"),
    "endless first cell": ("cell.csv", lines(HEAD, "1," + "x" * 200_000 + ",a", *rows(5)),
        "line 2 .* more than 131072"),
    "number of many digits": ("digits.csv", lines(HEAD, *rows(30), "1," + "9" * 50_000 + ",a"), "column 'z' .* row 31"),
    "10,000 columns": ("wide.csv", lines(",".join(f"c{j}" for j in range(10_000))),
        "at most 5,000 columns, got 10,000"),
    "NUL bytes": ("nul.csv", lines(HEAD, *rows(5), "1,\0,a"), "line 7 holds a NUL byte: remove it"),
    "binary noise": ("noise.csv", np.random.default_rng(0).bytes(5000), "NUL byte|cells|cannot be read|that are not"),
    "wrong encoding": ("utf16.csv", lines(HEAD, *rows(5), encoding="utf-16")[:-1], "not utf-16"),
    "a picture": ("cat.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "the file is a picture"),
    "a PDF": ("paper.csv", b"%PDF-1.7\n...", "the file is a PDF document"),
    "an Excel workbook": ("book.xlsx", archive(**{"[Content_Types]__xml": b"<Types/>", "word/document__xml": b""}),
        "Office document"),
    "an HDF5 file": ("data.h5", b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 file"),
    "a data set of Stata": ("data.dta", stata(),
        "a data set of Stata; those that can be read are CSV"),
    "one of its new versions": ("data.dta", b"<stata_dta><header><release>118" + bytes(100), "a data set of Stata"),
    "a data set of SPSS": ("data.sav", b"$FL2@(#) SPSS DATA FILE" + bytes(100), "a data set of SPSS, SAS or R"),
    "a data set of SAS": ("data.sas7bdat", bytes(12) + b"\xc2\xea\x81\x60" + bytes(300), "a data set of SPSS, SAS or R"),
    "a data set of R": ("data.rds", gzip.compress(b"X\n\0\0\0\3\0\4" + bytes(100)), "a data set of SPSS, SAS or R"),
    "several of R": ("data.RData", gzip.compress(b"RDX3\nX\n" + bytes(100)), "a data set of SPSS, SAS or R"),
    "a web page": ("page.csv", b"<HTML>\n<BODY>a,b,label\n1,2,x\n", "a web page or XML"),
    "a program in SQL": ("t.csv", b"CREATE TABLE t (a int, b int);\nINSERT INTO t VALUES (1, 2);\n", "a program in SQL"),
    "a database": ("data.db", b"SQLite format 3\0" + bytes(100), "an SQLite database"),
    "a single array": ("X.npy", b"\x93NUMPY\x01\0v\0", "a single NumPy array"),
    "a zip of two tables": ("table.zip", archive(a__csv=GOOD, b__csv=GOOD), "zip archive of 2 files"),
    "a pickle": ("data.pkl", pickle.dumps(Bomb()), "a pickle of Python objects"),
    "truncated Parquet": ("cut.parquet", parquet()[:-40], "the Parquet file is damaged"),
    "Parquet without its end": ("cut.parquet", b"PAR1" + bytes(50), "the Parquet file is damaged"),
    "Parquet with a lying footer": ("cut.parquet", parquet()[:-8] + b"\xff\xff\xff\x7fPAR1",
        "Parquet file is damaged"),
    "Parquet without rows": ("none.parquet", parquet(frame=pd.DataFrame({"a": [], "label": []})),
        "have rows and columns"),
    "Parquet of lists": ("lists.parquet", parquet(frame=pd.DataFrame({"a": [[1, 2], [3]] * 5, "label": ["x",
        "y"] * 5})), "no column of features is left"),
    "Parquet with inf": ("inf.parquet", parquet(frame=pd.DataFrame({"a": [1.0, np.inf] * 5, "label": ["x",
        "y"] * 5})), "column 'a' .* got inf in row 2"),
    "Parquet of too many rows": ("rows.parquet", parquet_many_rows, "at most 1,000,000 rows, got 1,000,001"),
    "Parquet bomb": ("bomb.parquet", parquet_bomb, "must unpack to at most 256 MB"),
    "npz with two columns of labels": ("points.npz", npz(X=np.zeros((3, 2)), y=np.ones((3, 2))), r"y must have shape \(3,\)"),
    "Avro": ("t.avro", b"Obj\1\2\x16avro.schema\x94\1", "the file is an Avro file"),
    "npz without X": ("points.npz", npz(Z=np.zeros((3, 2)), y=np.arange(3)), "must hold an array 'X'"),
    "npz without labels": ("points.npz", npz(X=np.zeros((3, 2))), "role label"),
    "npz of objects": ("bad.npz", npz(X=np.array([[Bomb(), 1]] * 3, dtype=object), y=np.arange(3)), "Python objects"),
    "npz of pickled labels": ("bad.npz", npz(X=np.zeros((2, 2)), y=np.array([Bomb(), 1], dtype=object)),
        "Python objects"),
    "npz of text points": ("text.npz", npz(X=np.array([["a", "b"]] * 3), y=np.arange(3)), "real numbers"),
    "npz of complex points": ("complex.npz", npz(X=np.zeros((3, 2), dtype=complex), y=np.arange(3)), "real numbers"),
    "npz of one dimension": ("flat.npz", npz(X=np.zeros(3), y=np.arange(3)), r"shape \(n, d\)"),
    "npz of unequal lengths": ("lengths.npz", npz(X=np.zeros((3, 2)), y=np.arange(4)), r"y must have shape \(3,\)"),
    "npz with NaN in all": ("nan.npz", npz(X=np.full((4, 2), np.nan), y=[0, 1, 0, 1]),
        "no column of features is left"),
    "truncated npz": ("cut.npz", npz(X=np.zeros((30, 2)), y=np.arange(30) % 2)[:-30], "damaged|cannot be read"),
    "npz with a broken member": ("bad.npz", archive(X__npy=b"\x93NUMPY\x01\0garbage", y__npy=b"junk"),
        "cannot be read"),
    "npz that lies about its size": ("lie.npz", lying_npz, "cannot be read|at most"),
    "npz bomb": ("bomb.npz", zip_bomb, "must unpack to at most 256 MB"),
    "gzip bomb": ("bomb.csv.gz", gzip_bomb, "must unpack to at most 256 MB"),
    "bzip2 bomb": ("bomb.csv.bz2", lambda: bz2.compress(bytes(2**20)) * 300, "must unpack to at most 256 MB"),
    "truncated gzip": ("cut.csv.gz", gzip.compress(GOOD)[:-20], "packed by gzip and damaged or cut off"),
    "a zip in gzip": ("t.csv.gz", gzip.compress(archive(a__csv=GOOD)), "zip archive of 1 files"),
    "broken xz": ("data.csv.xz", b"\xfd7zXZ\x00" + bytes(64), "packed by xz and damaged or cut off"),
    "xz that wants 1.5 GB of memory": ("data.csv.xz", xz_of_large_dictionary, "packed by xz and damaged.*emory"),
    "gzip of nothing": ("none.csv.gz", gzip.compress(b""), "packed and empty"),
    "SVMlight with a negative index": ("a.libsvm", b"1 1:2 3:4\n-1 -5:1\n1 2:1\n", "line 2 must have whole indices"),
    "SVMlight with an index of 1e9": ("a.libsvm", b"1 1:2\n-1 1000000000:1\n",
        r"at most 5000, got 1000000000 \(a.libsvm: line 2\)"),
    "SVMlight with an index beyond 64 bits": ("a.libsvm", b"1 1:2\n-1 99999999999999999999:1\n",
        "must have whole indices"),
    "SVMlight with falling indices": ("a.libsvm", b"1 1:2 3:1\n-1 3:1 2:1\n1 1:1\n", "must have increasing indices"),
    "SVMlight without a value": ("a.libsvm", b"1 1:2 3:1\n-1 2:\n1 1:1\n", "line 2 must hold index:value pairs"),
    "SVMlight with an underscore": ("a.libsvm", b"1 1:2 2:1\n-1 2:1_000\n", "a number holds an underscore"),
    "JSON cut off": ("a.json", b'[{"a": 1, "label": "x"}, {"a"', "cannot be read|not valid|damaged"),
    "JSON of numbers": ("a.json", b"[1, 2, 3]", "the file is JSON, but no records"),
    "JSON lines with a number": ("a.json", b'{"a": 1, "label": "x"}\n3\n', "list of records, or a record on each line"),
    "JSON of lists": ("a.json", b'{"a": [1, 2], "label": ["x", "y"]}', "got one record of lists"),
    "Arrow without rows": ("a.arrow", arrow({"a": [], "label": []}), "must have rows and columns, got 0 x 2"),
    "SVMlight with inf": ("a.libsvm", b"1 1:2 3:1\n-1 2:inf\n1 1:1\n", "column 'x2' .* got inf in row 2"),
    "too many bytes": ("large.csv", lambda: b"1,2,a\n" * (9 * 2**20), "at most 50 MB"),
    "too many rows": ("rows.csv", lambda: b"1,2,a\n" * 1_000_001, "at most 1,000,000 rows"),
    "too many labels": ("labels.csv", lines("x,label", *(f"{i},number {i}" for i in range(2000))),
        "1000 classes, got 2000"),
    "words in a label of numbers": ("a.csv", lines("x,label", *(f"{i},{i}.5" for i in range(2000)), "1,abc"),
        "2 and 1000 classes"),
}  # fmt: skip


# --- files of numbers


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
LABELS = ("binary", "classes", "ordinal", "pairs")
WORDS = (
    *(b"9" * 400, b"1e999", b"-inf", b"nan", b"\0", b'"', b'""', b"\r", b"\xff\xfe"),
    *(b"=cmd()", b"1,000", b"{a}", b"<b>", b"\xe2\x80\xa8"),
)


def wide() -> bytes:
    numbers = np.random.default_rng(0).normal(size=(200, 30))
    cells = [[*(f"{v:.3g}" for v in row), "ab"[i % 2]] for i, row in enumerate(numbers)]
    return lines(",".join([*(f"c{j}" for j in range(30)), "label"]), *map(",".join, cells))


def table(**options) -> bytes:
    frame = pd.read_csv(io.BytesIO(GOOD)).assign(text="some words", when=pd.Timestamp("2020-01-01"))
    return parquet(frame=pd.concat([frame] * 20), **options)


MADE = {
    "a.csv": lambda: GOOD,
    "wide.csv": wide,
    "words.csv": lambda: lines(
        "text;kind;label", *(f"some words {i * i % 17} of many;k{i % 3};{i % 2}" for i in range(80))
    ),
    "a.libsvm": lambda: lines(*(f"{i % 2} 1:{i} 3:{i % 7}.5 7:1e{i % 5}" for i in range(60))),
    "a.npz": lambda: npz(X=np.random.default_rng(1).normal(size=(90, 4)).astype(np.float32), y=np.arange(90) % 2),
    "a.parquet": table,
    "plain.parquet": lambda: table(compression=None, use_dictionary=False),
    "zstd.parquet": lambda: table(compression="zstd", row_group_size=50),
}


def flipped(content: bytes, rng) -> bytes:
    """Turn over one to thirty bits."""
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    bits[rng.integers(0, len(bits), rng.integers(1, 31))] ^= 1
    return np.packbits(bits).tobytes()


def damaged(content: bytes, rng) -> bytes:
    """Turn over bits, or cut off the rest after a place, a part up to another one, or put something there."""
    a, b = np.sort(rng.integers(0, len(content), 2))
    part, n = content[a : b + 1], int(rng.integers(1, 200))
    ways = (
        *[lambda: flipped(content, rng)] * 3,
        lambda: content[:a],
        lambda: content[:a] + content[b:],
        lambda: content[:a] + WORDS[rng.integers(len(WORDS))] * int(rng.choice([1, 2, 1000])) + content[a:],
        lambda: content[:a] + rng.bytes(n) + content[a + n :],
        lambda: content[:b] + part * (int(rng.choice([2, 20])) * 10**6 // len(part)) + content[b:],
    )
    return ways[rng.integers(len(ways))]()


def made_from(seed: int) -> tuple[str, bytes]:
    """Return the file of a number: its name and content."""
    rng = np.random.default_rng(seed)
    name = list(MADE)[rng.integers(len(MADE))]
    content = MADE[name]()
    packer = rng.choice([*PACKERS, "", ""]) if name.endswith(("csv", "libsvm")) else ""
    if not packer:
        return name, damaged(content, rng)
    pack, is_inside = PACKERS[packer], rng.random() < 0.5
    return f"{name}.{packer}", pack(damaged(content, rng)) if is_inside else damaged(pack(content), rng)


def read_seeds(seeds: list[int], *, report) -> list[tuple[int, str, str]]:
    """Read the files of some numbers, and what usually follows; return each number, a foreign error, and the refusal."""
    found = []
    for seed in seeds:
        report(seed)
        name, content = made_from(seed)
        try:
            last = take_steps(content, name, Step("look", LABELS[seed % len(LABELS)]))[-1][1]
            found.append((seed, "", str(last) if isinstance(last, DataError) else ""))
        except MemoryError:
            raise
        except Exception as error:
            found.append((seed, f"{type(error).__name__}: {error}", ""))
    return found

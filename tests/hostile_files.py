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
# name: (file name, content); what is said of each is kept in tests/golden/data_hostile.txt
REFUSED = {
    "empty": ("empty.csv", b""),
    "blank lines": ("blank.csv", b"\n\n  \n\n"),
    "header only": ("header.csv", lines(HEAD)),
    "one column": ("one.csv", lines("label", *"abab")),
    "one column of numbers": ("one.csv", lines("x", "1", "2", "3")),
    "one row": ("row.csv", lines(HEAD, "1,2,a")),
    "one class": ("class.csv", lines(HEAD, *(f"{i},{i},a" for i in range(9)))),
    "no labels": ("none.csv", lines(HEAD, *(f"{i},{i}," for i in range(9)))),
    "all NaN": ("nan.csv", lines(HEAD, *(f"NaN,NaN,{'ab'[i % 2]}" for i in range(9)))),
    "infinite": ("inf.csv", lines(HEAD, *rows(5), "inf,2,a")),
    "1e308": ("big.csv", lines(HEAD, *rows(5), "1e308,2,a")),
    "1e400": ("big.csv", lines(HEAD, *rows(5), "1e400,2,a")),
    "mixed types": ("mixed.csv", lines(HEAD, *rows(30), "1,abc,a")),
    "long row": ("long.csv", lines(HEAD, *rows(5), "1,2,a,4")),
    "short row": ("short.csv", lines(HEAD, *rows(5), "1,2")),
    "open quote": ("quote.csv", lines(HEAD, *rows(5), '1,"2,a')),
    "text after quote": ("quote.csv", lines(HEAD, *rows(5), '1,"2"3,a')),
    "endless cell": ("cell.csv", lines(HEAD, *rows(5), "1," + "9" * 200_000 + ",a")),
    "endless first cell": ("cell.csv", lines(HEAD, "1," + "x" * 200_000 + ",a", *rows(5))),
    "number of many digits": ("digits.csv", lines(HEAD, *rows(30), "1," + "9" * 50_000 + ",a")),
    "10,000 columns": ("wide.csv", lines(",".join(f"c{j}" for j in range(10_000)))),
    "NUL bytes": ("nul.csv", lines(HEAD, *rows(5), "1,\0,a")),
    "binary noise": ("noise.csv", np.random.default_rng(0).bytes(5000)),
    "wrong encoding": ("utf16.csv", lines(HEAD, *rows(5), encoding="utf-16")[:-1]),
    "a picture": ("cat.csv", b"\x89PNG\r\n\x1a\n" + bytes(100)),
    "a PDF": ("paper.csv", b"%PDF-1.7\n..."),
    "an Excel workbook": ("book.xlsx", archive(**{"[Content_Types]__xml": b"<Types/>", "word/document__xml": b""})),
    "an HDF5 file": ("data.h5", b"\x89HDF\r\n\x1a\n" + bytes(100)),
    "a data set of Stata": ("data.dta", stata()),
    "one of its new versions": ("data.dta", b"<stata_dta><header><release>118" + bytes(100)),
    "a data set of SPSS": ("data.sav", b"$FL2@(#) SPSS DATA FILE" + bytes(100)),
    "a data set of SAS": ("data.sas7bdat", bytes(12) + b"\xc2\xea\x81\x60" + bytes(300)),
    "a data set of R": ("data.rds", gzip.compress(b"X\n\0\0\0\3\0\4" + bytes(100))),
    "several of R": ("data.RData", gzip.compress(b"RDX3\nX\n" + bytes(100))),
    "a web page": ("page.csv", b"<HTML>\n<BODY>a,b,label\n1,2,x\n"),
    "a program in SQL": ("t.csv", b"CREATE TABLE t (a int, b int);\nINSERT INTO t VALUES (1, 2);\n"),
    "a database": ("data.db", b"SQLite format 3\0" + bytes(100)),
    "a single array": ("X.npy", b"\x93NUMPY\x01\0v\0"),
    "a zip of two tables": ("table.zip", archive(a__csv=GOOD, b__csv=GOOD)),
    "a pickle": ("data.pkl", pickle.dumps(Bomb())),
    "truncated Parquet": ("cut.parquet", parquet()[:-40]),
    "Parquet without its end": ("cut.parquet", b"PAR1" + bytes(50)),
    "Parquet with a lying footer": ("cut.parquet", parquet()[:-8] + b"\xff\xff\xff\x7fPAR1"),
    "Parquet without rows": ("none.parquet", parquet(frame=pd.DataFrame({"a": [], "label": []}))),
    "Parquet of lists": ("lists.parquet", parquet(frame=pd.DataFrame({"a": [[1, 2], [3]] * 5, "label": ["x", "y"] * 5}))),
    "Parquet with inf": ("inf.parquet", parquet(frame=pd.DataFrame({"a": [1.0, np.inf] * 5, "label": ["x", "y"] * 5}))),
    "npz with two columns of labels": ("points.npz", npz(X=np.zeros((3, 2)), y=np.ones((3, 2)))),
    "Avro": ("t.avro", b"Obj\1\2\x16avro.schema\x94\1"),
    "npz without X": ("points.npz", npz(Z=np.zeros((3, 2)), y=np.arange(3))),
    "npz without labels": ("points.npz", npz(X=np.zeros((3, 2)))),
    "npz of objects": ("bad.npz", npz(X=np.array([[Bomb(), 1]] * 3, dtype=object), y=np.arange(3))),
    "npz of pickled labels": ("bad.npz", npz(X=np.zeros((2, 2)), y=np.array([Bomb(), 1], dtype=object))),
    "npz of text points": ("text.npz", npz(X=np.array([["a", "b"]] * 3), y=np.arange(3))),
    "npz of complex points": ("complex.npz", npz(X=np.zeros((3, 2), dtype=complex), y=np.arange(3))),
    "npz of one dimension": ("flat.npz", npz(X=np.zeros(3), y=np.arange(3))),
    "npz of unequal lengths": ("lengths.npz", npz(X=np.zeros((3, 2)), y=np.arange(4))),
    "npz with NaN in all": ("nan.npz", npz(X=np.full((4, 2), np.nan), y=[0, 1, 0, 1])),
    "truncated npz": ("cut.npz", npz(X=np.zeros((30, 2)), y=np.arange(30) % 2)[:-30]),
    "npz with a broken member": ("bad.npz", archive(X__npy=b"\x93NUMPY\x01\0garbage", y__npy=b"junk")),
    "truncated gzip": ("cut.csv.gz", gzip.compress(GOOD)[:-20]),
    "a zip in gzip": ("t.csv.gz", gzip.compress(archive(a__csv=GOOD))),
    "broken xz": ("data.csv.xz", b"\xfd7zXZ\x00" + bytes(64)),
    "gzip of nothing": ("none.csv.gz", gzip.compress(b"")),
    "SVMlight with a negative index": ("a.libsvm", b"1 1:2 3:4\n-1 -5:1\n1 2:1\n"),
    "SVMlight with an index of 1e9": ("a.libsvm", b"1 1:2\n-1 1000000000:1\n"),
    "SVMlight with an index beyond 64 bits": ("a.libsvm", b"1 1:2\n-1 99999999999999999999:1\n"),
    "SVMlight with falling indices": ("a.libsvm", b"1 1:2 3:1\n-1 3:1 2:1\n1 1:1\n"),
    "SVMlight without a value": ("a.libsvm", b"1 1:2 3:1\n-1 2:\n1 1:1\n"),
    "SVMlight with an underscore": ("a.libsvm", b"1 1:2 2:1\n-1 2:1_000\n"),
    "JSON cut off": ("a.json", b'[{"a": 1, "label": "x"}, {"a"'),
    "JSON of numbers": ("a.json", b"[1, 2, 3]"),
    "JSON lines with a number": ("a.json", b'{"a": 1, "label": "x"}\n3\n'),
    "JSON of lists": ("a.json", b'{"a": [1, 2], "label": ["x", "y"]}'),
    "Arrow without rows": ("a.arrow", arrow({"a": [], "label": []})),
    "SVMlight with inf": ("a.libsvm", b"1 1:2 3:1\n-1 2:inf\n1 1:1\n"),
    "too many labels": ("labels.csv", lines("x,label", *(f"{i},number {i}" for i in range(2000)))),
    "words in a label of numbers": ("a.csv", lines("x,label", *(f"{i},{i}.5" for i in range(2000)), "1,abc")),
}  # fmt: skip
# name: (file name, a function that makes the content, what the sentence says): these are large
LARGE = {
    "Parquet of too many rows": ("rows.parquet", parquet_many_rows, "at most 1,000,000 rows, got 1,000,001"),
    "Parquet bomb": ("bomb.parquet", parquet_bomb, "must unpack to at most 256 MB"),
    "npz that lies about its size": ("lie.npz", lying_npz, "cannot be read|at most"),
    "npz bomb": ("bomb.npz", zip_bomb, "must unpack to at most 256 MB"),
    "gzip bomb": ("bomb.csv.gz", gzip_bomb, "must unpack to at most 256 MB"),
    "bzip2 bomb": ("bomb.csv.bz2", lambda: bz2.compress(bytes(2**20)) * 300, "must unpack to at most 256 MB"),
    "xz that wants 1.5 GB of memory": ("data.csv.xz", xz_of_large_dictionary, "packed by xz and damaged.*emory"),
    "too many bytes": ("large.csv", lambda: b"1,2,a\n" * (9 * 2**20), "at most 50 MB"),
    "too many rows": ("rows.csv", lambda: b"1,2,a\n" * 1_000_001, "at most 1,000,000 rows"),
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

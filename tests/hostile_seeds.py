"""Hostile files from numbers: each damages a good file of some format, or lies in it.

As a job of another process, `read_seeds` reads them as the app does, and tells of each what came of it and what it took.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
from hostile_files import GOOD, REFUSED, npz, parquet

from dsgcore.data import DataError
from dsgcore.data.reading import Limits, Step, take_steps
from dsgcore.data.reading.recipe import UPLOADED
from dsgcore.jobs.memory import forget_peak, peak

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
LABELS = ("binary", "classes", "ordinal", "pairs")
WORDS = (
    *(b"9" * 400, b"1e999", b"-inf", b"nan", b"\0", b'"', b'""', b"\r", b"\xff\xfe"),
    *(b"=cmd()", b"1,000", b"{a}", b"<b>", b"\xe2\x80\xa8"),
)


@dataclass(frozen=True)
class Outcome:
    """Outcome of reading a file: the name of a foreign error, the sentence, and the cost."""

    seed: int
    name: str
    size: int
    strange: str
    sentence: str
    seconds: float
    megabytes: float


def svmlight() -> bytes:
    return b"".join(b"%d 1:%d 3:%d.5 7:1e%d\n" % (i % 2, i, i % 7, i % 5) for i in range(60))


def wide() -> bytes:
    rng = np.random.default_rng(0)
    names = b",".join(b"c%d" % j for j in range(30))
    rows = [b",".join(b"%.3g" % v for v in row) for row in rng.normal(size=(200, 30))]
    return b"\n".join([names + b",label", *(row + [b",a", b",b"][i % 2] for i, row in enumerate(rows))]) + b"\n"


def words() -> bytes:
    return b"text;kind;label\n" + b"".join(
        b"some words %d of many;k%d;%d\n" % (i * i % 17, i % 3, i % 2) for i in range(80)
    )


def arrays() -> bytes:
    rng = np.random.default_rng(1)
    return npz(X=rng.normal(size=(90, 4)).astype(np.float32), y=np.arange(90) % 2)


def table(**options) -> bytes:
    frame = pd.read_csv(io.BytesIO(GOOD)).assign(text="some words", when=pd.Timestamp("2020-01-01"))
    return parquet(frame=pd.concat([frame] * 20), **options)


MADE = {
    "a.csv": lambda: GOOD,
    "wide.csv": wide,
    "words.csv": words,
    "a.libsvm": svmlight,
    "a.npz": arrays,
    "a.parquet": table,
    "plain.parquet": lambda: table(compression=None, use_dictionary=False),
    "zstd.parquet": lambda: table(compression="zstd", row_group_size=50),
}


def flipped(content: bytes, rng) -> bytes:
    """Turn over one to thirty bits."""
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    bits[rng.integers(0, len(bits), rng.integers(1, 31))] ^= 1
    return np.packbits(bits).tobytes()


def cut(content: bytes, rng) -> bytes:
    return content[: rng.integers(0, len(content))]


def without_a_part(content: bytes, rng) -> bytes:
    a, b = np.sort(rng.integers(0, len(content), 2))
    return content[:a] + content[b:]


def with_a_word(content: bytes, rng) -> bytes:
    a = rng.integers(0, len(content))
    return content[:a] + WORDS[rng.integers(len(WORDS))] * int(rng.choice([1, 2, 1000])) + content[a:]


def much_of_it(content: bytes, rng) -> bytes:
    """A part of it so often that it has 2 to 20 MB."""
    a, b = np.sort(rng.integers(0, len(content), 2))
    part = content[a : b + 1]
    return content[:b] + part * (int(rng.choice([2, 20])) * 10**6 // len(part)) + content[b:]


def noise_within(content: bytes, rng) -> bytes:
    a, n = rng.integers(0, len(content)), int(rng.integers(1, 200))
    return content[:a] + rng.bytes(n) + content[a + n :]


WAYS = (flipped, flipped, flipped, cut, without_a_part, with_a_word, noise_within, much_of_it)


def made(seed: int) -> tuple[str, bytes]:
    """Return the file of a number: its name and content. The first ones are those that a person has thought of."""
    if seed < len(REFUSED):
        name, content, _ = list(REFUSED.values())[seed]
        return name, content() if callable(content) else content
    rng = np.random.default_rng(seed)
    name = list(MADE)[rng.integers(len(MADE))]
    content, way = MADE[name](), WAYS[rng.integers(len(WAYS))]
    packer = rng.choice([*PACKERS, "", ""]) if name.endswith(("csv", "libsvm")) else ""
    if not packer:
        return name, way(content, rng)
    pack, is_inside = PACKERS[packer], rng.random() < 0.5
    packed = pack(way(content, rng)) if is_inside else way(pack(content), rng)
    return f"{name}.{packer}", packed


def read_seed(seed: int, limits: Limits = UPLOADED) -> Outcome:
    """Read the file of a number, and all that usually follows."""
    name, content = made(seed)
    begun, strange, sentence = time.process_time(), "", ""
    forget_peak()
    try:
        last = take_steps(content, name, Step("look", LABELS[seed % len(LABELS)]), limits=limits)[-1][1]
        sentence = str(last) if isinstance(last, DataError) else ""
    except MemoryError:
        raise
    except Exception as error:
        strange = f"{type(error).__name__}: {error}"
    return Outcome(seed, name, len(content), strange, sentence, time.process_time() - begun, peak() / 1e6)


def read_seeds(seeds: list[int], limits: Limits = UPLOADED, *, report) -> list[Outcome]:
    """Read the files of some numbers, one after the other; before each, tell which."""
    outcomes = []
    for seed in seeds:
        report(seed)
        outcomes.append(read_seed(seed, limits))
    return outcomes

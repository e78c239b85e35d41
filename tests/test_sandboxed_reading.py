"""Strangers' files read in a separate process: their contents cost the server neither memory nor time."""

import gzip
import sys

import numpy as np
import pyarrow as pa
import pytest
from cases import each
from hostile_files import GOOD, arrow
from own_tables import lines, read, sniff

from dsgcore.data import DataError
from dsgcore.data.reading import Limits, Step, take_steps
from dsgcore.experiments import FileStore, data_of
from dsgcore.experiments.data_of import CANCELLED, begin_reading, results_of
from dsgcore.jobs import JobState
from dsgcore.jobs.memory import forget_peak, peak, resident

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory and time are limited as Linux does it")
FIRST = Step("look", "binary")
WIDE = b",".join([b"123456"] * 500_000) + b"\n"


def one_text_many_times(**options):
    """Return a file with one text of 1 MB that each row refers to."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2000, np.int32)), pa.array(["x" * 10**6]))
    return arrow({"a": texts, "label": ["a", "b"] * 1000}, compression="zstd", **options)


def many_booleans():
    return arrow({f"c{j}": np.zeros(300_000, bool) for j in range(1001)}, compression="zstd")


CELLS = "line 2 has 500000 cells, and the first has 2"
HOSTILE = {
    "dictionary": (lambda: one_text_many_times(store_schema=False), "unpack"),
    "typed dictionary": (one_text_many_times, "at most 256 MB"),
    "many booleans": (many_booleans, "at most 256 MB"),
    "one long line": (lambda: gzip.compress(b"1," * 2**24), "line 1 must have fewer than 4,000,000 characters"),
    "wide lines": (lambda: gzip.compress(WIDE * 40), "at most 5,000 columns, got 500,000"),
    "wide lines below names": (lambda: gzip.compress(b"a,b\n" + WIDE * 40), CELLS),
    "wide lines below one": (lambda: gzip.compress(b"1,2\n" + WIDE * 40), CELLS),
    "sparse lines": (lambda: gzip.compress(b"".join(b"%d 1:1 4999:1\n" % (i % 2) for i in range(26_000))),
        "at most 240 MB as numbers .* take 496 MB"),
}  # fmt: skip


@pytest.mark.ci
@each("name", HOSTILE)
def test_what_unpacks_to_much_is_refused_before_it_does(name):
    """Each took between 1.5 and 6 GB before it was refused."""
    make, said = HOSTILE[name]
    content = make()
    before = resident()
    forget_peak()
    with pytest.raises(DataError, match=said):
        read(content, sniff(content, name), name=name)
    assert peak() - before < 4e8


def test_too_many_columns_of_text_are_refused_before_all_are_described():
    words, rng = np.array([f"word{i}" for i in range(60)]), np.random.default_rng(0)
    rows = [",".join([*(" ".join(words[rng.integers(0, 60, 9)]) for _ in range(20)), "ab"[i % 2]]) for i in range(80)]
    content = lines(",".join([*(f"t{j}" for j in range(20)), "label"]), *rows)
    with pytest.raises(DataError, match="at most 120 columns, got 150"):
        results(take_steps(content, "t.csv", FIRST, limits=Limits(columns=120)))


def results(found):
    for _, result in found:
        if isinstance(result, DataError):
            raise result
    return found


def test_one_step_brings_those_that_usually_follow():
    found = results(take_steps(GOOD, "good.csv", FIRST))
    assert [step.name for step, _ in found] == ["look", "look", "look", "look", "points"]
    recipe, dataset = found[-1][0].recipe, found[-1][1]
    assert [step.recipe and step.recipe.positive for step, _ in found] == [None, None, None, "yes", "yes"]
    np.testing.assert_array_equal(dataset.X, read(GOOD, recipe).X)
    seen = found[1][1]
    assert (seen.n, seen.names, seen.recipe.column("label")) == (40, ("a", "b", "label"), "label")
    assert list(seen.first["a"][:3]) == ["0", "1", "2"]


def test_a_step_is_taken_once_and_so_is_its_refusal():
    taken = []

    def take(content, name, step):
        taken.append(step)
        return take_steps(content, name, step)

    files = FileStore(take)
    digest = files.add(GOOD)
    look = files.result(digest, "good.csv", FIRST)
    for recipe in (look.begun, look.recipe):
        assert files.result(digest, "good.csv", Step("look", "binary", recipe)) is look
    assert taken == [FIRST]
    for n_taken in (2, 3):  # chosen, and chosen again
        bad = files.add(b"%PDF")
        for _ in range(2):
            with pytest.raises(DataError, match="PDF"):
                files.result(bad, "a.csv", FIRST)
        assert taken == [FIRST] * n_taken


def finished(job, seconds=120):
    assert job.wait(seconds)
    return job


def test_another_process_gives_the_same_points():
    there = results(results_of(finished(begin_reading(GOOD, "good.csv", FIRST)), FIRST))
    here = take_steps(GOOD, "good.csv", FIRST)
    assert [step for step, _ in there] == [step for step, _ in here]
    np.testing.assert_array_equal(there[-1][1].X, here[-1][1].X)
    np.testing.assert_array_equal(there[-1][1].y, here[-1][1].y)
    there[-1][1].X[0, 0] = 7  # as those that are read here can be written


@linux
def test_a_reader_may_compute_for_so_long(monkeypatch):
    words = b" ".join(b"w%d" % i for i in range(200))
    content = b"text,label\n" + b"".join(words + b",%d\n" % (i % 2) for i in range(45_000))
    monkeypatch.setattr(data_of, "SECONDS", 0.25)
    job = finished(begin_reading(content, "texts.csv", FIRST))
    assert job.state is JobState.FAILED
    [(step, refusal)] = results_of(job, FIRST)
    assert step == FIRST
    assert str(refusal) == "the file cannot be read: this takes longer than its limit of 0.25 s"


@linux
def test_a_reader_may_take_so_much_memory(monkeypatch):
    content = b"x,label\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(500_000))
    monkeypatch.setattr(data_of, "MEMORY_LIMIT", 10**7)
    job = finished(begin_reading(content, "long.csv", FIRST))
    _, refusal = results_of(job, FIRST)[-1]
    assert isinstance(refusal, DataError)
    assert "memory" in str(refusal)


def test_reading_can_be_given_up():
    job = begin_reading(GOOD, "good.csv", FIRST)
    job.cancel()
    finished(job)
    [(_, refusal)] = results_of(job, FIRST)
    assert str(refusal) == CANCELLED

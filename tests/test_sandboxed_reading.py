"""Strangers' files read in a separate process: their contents cost the server neither memory nor time."""

import sys

import numpy as np
import pytest
from hostile_files import GOOD
from own_tables import read

from dsgcore.data import DataError
from dsgcore.data.reading import Step, take_steps
from dsgcore.experiments import FileStore, data_of
from dsgcore.experiments.data_of import CANCELLED, begin_reading, results_of
from dsgcore.jobs import JobState

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory and time are limited as Linux does it")
FIRST = Step("look", "binary")


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
    bad = files.add(b"%PDF")
    for _ in range(2):
        with pytest.raises(DataError, match="PDF"):
            files.result(bad, "a.csv", FIRST)
    assert taken == [FIRST, FIRST]
    files.add(b"%PDF")  # chosen again
    with pytest.raises(DataError, match="PDF"):
        files.result(bad, "a.csv", FIRST)
    assert taken == [FIRST, FIRST, FIRST]


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

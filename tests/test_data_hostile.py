"""Hostile contents of files: each is refused in one sentence, in bounded memory or in another process, and nothing in it is run."""

import csv
import gzip
import io
import json
import pickle
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import each, some
from hostile_files import GOOD, LARGE, REFUSED, arrow, made_from, parquet, read_seeds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from own_tables import read, sniff

from dsgcore.data import DataError
from dsgcore.data.reading import DELIMITERS, File, Recipe, Source, Step, take_steps
from dsgcore.experiments import FileStore, Spec, data_of, load_split
from dsgcore.experiments.data_of import CANCELLED, begin_reading, results_of
from dsgcore.jobs import JobQueue, JobState
from dsgcore.jobs.memory import forget_peak, peak, resident

# Of address space, over what the imports need: half of it is what the limits let a table unpack to.
SPARE = 1_200 * 2**20


@each("name", REFUSED)
def test_each_is_refused_in_one_sentence_and_takes_little_memory(name, capsys):
    file_name, content = REFUSED[name]
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as caught:
            read(content, sniff(content, file_name), name=file_name)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    sentence = str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == sentence  # as from a worker
    assert len(sentence) < 400
    assert sentence.isprintable()
    assert capsys.readouterr().out == ""  # nothing was unpickled
    assert taken < 40 * len(content) + 30 * 2**20
    assert read(GOOD, sniff(GOOD, "good.csv")).X.shape == (40, 2)  # a good file is read afterwards


CHILD = """
import resource, sys
sys.path.insert(0, {tests!r})
from hostile_files import LARGE
import pyarrow.parquet
from dsgcore.data import DataError
from own_tables import read, sniff
for name in sys.argv[1:]:
    file_name, content, _ = LARGE[name]
    content = content()
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + {spare}, resource.RLIM_INFINITY))
    try:
        read(content, sniff(content, file_name), name=file_name)
    except DataError as error:
        print(name, error, sep=": ")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
"""


@pytest.mark.ci
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited as Linux does it")
def test_large_files_are_refused_where_there_is_little_memory():
    script = CHILD.format(tests=str(Path(__file__).parent), spare=SPARE)
    command = [sys.executable, "-c", script, *LARGE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    sentences = done.stdout.splitlines()
    assert len(sentences) == len(LARGE)
    for name, sentence in zip(LARGE, sentences, strict=True):
        assert sentence.startswith(f"{name}: ")
        assert re.search(LARGE[name][2], sentence), sentence


# --- properties of every accepted table: finite float32 points of the stated shape, and a spec that reproduces them


LABELS = ("binary", "pairs", "ordinal", "classes")
SETTING = {"binary": "auc", "pairs": "similar_unlabeled", "ordinal": "ordinal", "classes": "multiclass"}
numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(-1e20, 1e20, allow_nan=False).map(repr),
    st.sampled_from(["", "NA", "nan", "-0.0", "1e-320", "1e25", "inf", "1e308", "007", " 3 ", "1_000", "0x1f", "1,5"]),
)
words = st.text(st.characters(codec="utf-8"), max_size=12)
labels = st.sampled_from(["a", "b", "c", "", "=1+1", "1", "1.0"])


@st.composite
def delimited(draw):
    """A table of numbers, of words or of both, and of labels, as text, with or without names, in some encoding."""
    n = draw(st.integers(1, 40))
    kinds = draw(st.lists(st.sampled_from((numbers, words, labels, st.one_of(numbers, words))), min_size=1, max_size=5))
    rows = list(zip(*(draw(st.lists(kind, min_size=n, max_size=n)) for kind in (*kinds, labels)), strict=True))
    if draw(st.booleans()):
        rows = [tuple(draw(words) for _ in rows[0]), *rows]
    text = io.StringIO()
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    csv.writer(text, delimiter=draw(st.sampled_from(list(DELIMITERS))), quoting=quoting).writerows(rows)
    return text.getvalue().encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"])))


def check_sentence(error):
    assert str(error).isprintable()
    assert 0 < len(str(error)) < 600


def check(content, kind):
    """Read a file; what is accepted must be finite and come again, what is not must be refused in one sentence."""
    try:
        recipe = sniff(content, "t.csv", labels=kind)
        dataset = read(content, recipe, name="t.csv", labels=kind)
    except DataError as error:
        return check_sentence(error)
    assert dataset.X.dtype == np.float32
    assert dataset.X.flags.c_contiguous
    assert dataset.X.shape == (len(dataset.y), len(dataset.feature_names))
    assert np.isfinite(dataset.X).all()
    assert dataset.y.min() >= -1
    assert dataset.y.max() == len(dataset.class_names) - 1
    assert all(name.isprintable() for name in (*dataset.feature_names, *dataset.class_names, *dataset.report))
    File(Source.of_bytes(content, "t.csv")).table(recipe).head()
    plain = json.loads(json.dumps(recipe.to_dict()))
    again = read(content, Recipe.from_dict(plain), name="t.csv", labels=kind)
    assert again.X.tobytes() == dataset.X.tobytes()
    assert again.y.tobytes() == dataset.y.tobytes()
    assert (again.class_names, again.feature_names) == (dataset.class_names, dataset.feature_names)
    # A spec that holds the recipe gives the same split from its JSON text, or there are too few rows of a class.
    files, others = FileStore(), FileStore()
    data = {"name": "file", "path": "t.csv", "sha256": files.add(content), "recipe": recipe.to_dict(), "n_labeled": 3}
    spec = Spec.from_dict({"setting": SETTING[kind], "data": data})
    try:
        first = load_split(spec, files=files)
    except DataError as error:
        return check_sentence(error)
    others.add(content)
    second = load_split(Spec.from_json(spec.to_json()), files=others)
    for name in ("X_train", "y_train", "y_hidden", "X_test", "y_test", "train_rows", "test_rows"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert np.isfinite(first.X_train).all()
    assert np.isfinite(first.X_test).all()


SPARSE = ["1", "-1", "2.5", "", "x", "3:1", "1:0.5", "2:nan", "4:inf", "0:1", "# c", "qid:1", "-2:1"]


@st.composite
def sparse(draw):
    parts = draw(st.lists(st.sampled_from(SPARSE), max_size=60))
    return "\n".join(["1 1:1", *(" ".join(parts[i : i + 4]) for i in range(0, len(parts), 4))]).encode()


@st.composite
def in_parquet(draw):
    n, columns = draw(st.integers(2, 30)), {}
    cells = st.sampled_from([st.floats(), st.integers(-(2**62), 2**62), words, st.booleans()])
    for j, cell in enumerate(draw(st.lists(cells, min_size=1, max_size=4))):
        columns[f"c{j}"] = draw(st.lists(st.one_of(st.none(), cell), min_size=n, max_size=n))
    columns["label"] = draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n))
    return parquet(frame=pd.DataFrame(columns))


@pytest.mark.parametrize("contents", [delimited(), sparse(), in_parquet()], ids=["text", "sparse text", "Parquet"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), kind=st.sampled_from(LABELS))
def test_any_file_is_read_the_same_again_or_refused(contents, data, kind):
    check(data.draw(contents), kind)


# --- files that a number makes of good ones, damaged in all ways: each is read, or refused in one sentence, and ends no process


@pytest.mark.ci
def test_damaged_files_are_read_or_refused_in_one_sentence():
    small = [seed for seed in range(86, 161) if len(made_from(seed)[1]) < 200_000][:60]
    seeds, queue = some(small, 30), JobQueue(1)
    try:
        job = queue.submit(read_seeds, seeds, memory_limit=10**9, time_limit=60.0)
        assert job.wait(300)
    finally:
        queue.close()
    assert job.state is JobState.DONE, (job.progress, job.error)
    assert [seed for seed, _, _ in job.result] == seeds
    assert [outcome for outcome in job.result if outcome[1]] == []
    said = [sentence for _, _, sentence in job.result if sentence]
    assert len(said) > len(seeds) // 3, len(said)
    assert [sentence for sentence in said if "\n" in sentence or len(sentence) > 500] == []


# --- strangers' files read in a separate process: their contents cost the server neither memory nor time


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
    "ARFF": (lambda: gzip.compress(b"@relation x\n@attribute a real\n@data\n" + b"1\n" * 140_000_000, 1), "at most 256 MB"),
    "sparse ARFF": (lambda: b"@relation x\n" + b"@attribute a real\n" * 4999 + b"@data\n" + b"{0 1}\n" * 100_000,
        "the sparse ARFF file must unpack to at most 256 MB"),
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
    there = results_of(finished(begin_reading(GOOD, "good.csv", FIRST)), FIRST)
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

"""Hostile contents of files: each is refused in one sentence, in bounded memory, and nothing in it is run."""

import contextlib
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from cases import each, some
from data_makers import assert_well_formed, few_examples
from hostile_files import GOOD, REFUSED, npz
from hypothesis import given
from hypothesis import strategies as st
from own_tables import read, sniff

from dsgcore.data import DataError

LARGE = [name for name, (_, content, _) in REFUSED.items() if callable(content)]
SMALL = [name for name in REFUSED if name not in LARGE]
# Of address space, over what the imports need: half of it is what the limits let a table unpack to.
SPARE = 1_200 * 2**20


def made(name):
    file_name, content, _ = REFUSED[name]
    return file_name, content() if callable(content) else content


def refusal(file_name, content):
    with pytest.raises(DataError) as caught:
        read(content, sniff(content, file_name), name=file_name)
    return str(caught.value)


@each("name", some(SMALL, 16))
def test_each_is_refused_in_one_sentence_and_takes_little_memory(name, capsys):
    file_name, content = made(name)
    tracemalloc.start()
    try:
        sentence = refusal(file_name, content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * len(content) + 30 * 2**20
    assert re.search(REFUSED[name][2], sentence), sentence
    assert "\n" not in sentence
    assert len(sentence) < 400
    assert sentence.isprintable()
    assert capsys.readouterr().out == ""  # nothing was unpickled
    assert read(GOOD, sniff(GOOD, "good.csv")).X.shape == (40, 2)  # a good file is read afterwards


CHILD = """
import resource, sys
sys.path.insert(0, {tests!r})
from hostile_files import REFUSED
import pyarrow.parquet
from dsgcore.data import DataError
from own_tables import read, sniff
for name in sys.argv[1:]:
    file_name, content, _ = REFUSED[name]
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
        assert re.search(REFUSED[name][2], sentence), sentence


@few_examples
@given(data=st.data())
def test_damaged_bytes_of_an_archive_give_a_data_error_or_a_data_set(data):
    content = bytearray(npz(X=np.arange(24.0).reshape(12, 2), y=np.arange(12) % 2))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(content[: data.draw(st.integers(0, len(content)))])
    with contextlib.suppress(DataError):
        assert_well_formed(read(content, sniff(content, "f")))

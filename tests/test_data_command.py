"""The command `data`: its output, and conversion in pieces that equals reading the whole file."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each
from commands import refusal
from hostile_files import GOOD, npz, parquet
from own_tables import sniff, sniff_file

from dsgcore.__main__ import main
from dsgcore.data import DataError
from dsgcore.data.converting import convert_file
from dsgcore.data.reading import File


def frame(n=90):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    x[::7] = np.nan
    color = np.array(["red", "green", None], dtype=object)[rng.integers(0, 3, n)]
    return pd.DataFrame(
        {"x": x, "z": rng.integers(0, 9, n), "color": color, "kind": np.array(["a", "b", ""])[rng.integers(0, 3, n)]}
    )


def as_bytes(write, **options):
    content = io.BytesIO()
    write(content, **options)
    return content.getvalue()


FILES = {
    "table.csv": as_bytes(frame().to_csv, index=False),
    "table.csv.gz": gzip.compress(as_bytes(frame().to_csv, index=False)),
    "table16.csv": as_bytes(frame().to_csv, index=False).decode().encode("utf-16"),
    "with an empty column.csv": as_bytes(frame().assign(none=None)[["x", "none", "kind"]].to_csv, index=False),
    "table.parquet": parquet(frame=frame(), row_group_size=40),
    "table.svm": b"".join(b"%d 2:%d 5:0.25\n" % (i % 3, i + 1) for i in range(90)),
    "table.npz": npz(X=frame()[["x", "z"]].to_numpy(), y=np.arange(90) % 3),
}


@pytest.fixture
def write(tmp_path):
    def to_file(name, content=None):
        path = tmp_path / name
        path.write_bytes(FILES[name] if content is None else content)
        return path

    return to_file


@pytest.mark.parametrize("name", FILES)
def test_a_converted_file_gives_what_the_file_gives(write, tmp_path, name):
    path, out = write(name), tmp_path / "out"
    recipe = sniff_file(path)
    assert recipe == sniff(FILES[name], name, labels="classes")
    assert convert_file(path, out, recipe, progress=None) == 90
    whole, made = (File.of_path(place) for place in (path, out))
    whole, made = (file.points(file.recipe("classes"), "classes") for file in (whole, made))
    np.testing.assert_array_equal(made.X, whole.X)
    np.testing.assert_array_equal(made.y, whole.y)
    assert (made.class_names, made.feature_names) == (whole.class_names, whole.feature_names)
    assert [file.name for file in out.iterdir()] == ["part-000000.parquet"]


def test_libsvm_text_is_converted_in_pieces(write, tmp_path, monkeypatch):
    path, said = write("table.svm"), []
    whole = File.of_path(path).table(recipe := sniff_file(path)).frame
    monkeypatch.setattr("dsgcore.data.reading.svmlight.LINES", 9)
    monkeypatch.setattr(File, "table", None)  # which reads it whole
    assert convert_file(path, tmp_path / "out", recipe, lambda *one: said.append(one)) == 90
    assert len(said) > 9
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out"), whole)


def test_a_failure_leaves_nothing_half_made_and_nothing_is_overwritten(write, tmp_path):
    path = write("bad.csv", FILES["table.csv"] + b"1,2,red\n")
    with pytest.raises(DataError, match="line 92 has 3 cells, and the first has 4"):
        convert_file(path, tmp_path / "out", sniff(FILES["table.csv"], "a"))
    assert not (tmp_path / "out").exists()
    path = write("cut.csv.gz", FILES["table.csv.gz"][:-30])
    with pytest.raises(DataError, match="packed by gzip and damaged"):
        convert_file(path, tmp_path / "out", sniff(FILES["table.csv"], "a"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="must be a new or empty folder"):
        convert_file(write("table.csv"), tmp_path / "mine", sniff(FILES["table.csv"], "a"))


MEMORY = """
import resource, sys
from dsgcore.data.converting import convert_file
from dsgcore.data.reading import File
small, large, out = sys.argv[1:]
recipe = File.of_path(small).recipe("classes")
convert_file(small, out + "1", recipe)  # all is imported
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
n = convert_file(large, out + "2", recipe)
print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
D = 100


@pytest.mark.weekly
def test_memory_does_not_grow_with_the_text(tmp_path):
    """240 MB of numbers, in a process that may take half of that more than for a hundredth of them."""
    files, n = [], 300_000
    for rows in (n // 100, n):
        files.append(str(tmp_path / f"{rows}.csv"))
        Path(files[-1]).write_bytes(b"".join((b"%d" + b",0.5" * (D - 1) + b",%d\n") % (i, i % 2) for i in range(rows)))
    command = [sys.executable, "-c", MEMORY, *files, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    made, grown = map(int, done.stdout.split())
    assert made == n
    assert grown * 1024 < 8 * n * D / 2


def test_describe_says_how_a_file_would_be_read_and_where_a_set_is(write, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path))
    for given, *said in (
        (write("table.csv"), "is read as delimited", "'kind': 'label'"),
        ("wine", "178 rows"),
        ("cod-rna", "59,535 rows", "data fetch cod-rna"),
    ):
        assert main(["data", "describe", str(given)]) == 0
        out = capsys.readouterr().out
        assert all(words in out for words in said)


@each("arguments, said", [
    (["describe", "GOOD", "--target", "bogus"], "there is no column 'bogus'"),
    (["describe", "GOOD", "--bins", "1"], "bins must be a whole number"),
    (["describe", "WIDE", "--delimiter", "semicolon"], "line 2 has 1 cells, and the first has 4"),
    (["convert", "EMPTY", "OUT"], "the file is empty"),
    (["convert", "GOOD", "FOLDER"], "must be a new or empty folder"),
])  # fmt: skip
def test_bad_input_gets_one_sentence_and_exit_code_2(write, tmp_path, capsys, arguments, said):
    places = {"GOOD": write("good.csv", GOOD), "EMPTY": write("empty.csv", b""), "FOLDER": tmp_path}
    places |= {"OUT": tmp_path / "out", "WIDE": write("wide.csv", b"a;b;c;kind\n" + b"1,1,x\n" * 9)}
    assert said in refusal(capsys, ["data", *(places.get(a, a) for a in arguments)])


@each("content, said", [
    ("x\n1\n2\n3\n4\n", "another one must be a feature"),
    ("x,label\n1,a\n", "the table must have at least 2 rows, got 1"),
    ("name,label\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(40)), "no column of features"),
    ("x,label\n" + "1,a\n2,b\n", "each class must have at least 2 rows"),
])  # fmt: skip
def test_describe_refuses_what_nothing_can_be_learned_from(write, capsys, content, said):
    assert said in refusal(capsys, ["data", "describe", write("poor.csv", content.encode())])


def test_describe_says_what_is_in_the_file_and_which_settings_it_suits(write, capsys):
    rows = [f"{i},{'' if i % 5 == 0 else i % 7},k{i},{'abc'[i % 3] if i % 4 else ''}" for i in range(60)]
    path = write("own.csv", "\n".join(["x,z,code,label", *rows]).encode() + b"\n")
    assert main(["data", "describe", str(path)]) == 0
    said = capsys.readouterr().out
    assert "60 rows, 4 columns: 2 features, the label 'label', 1 left out ('code')" in said
    assert "3 classes: 'a' 15, 'b' 15, 'c' 15; 15 rows without a label" in said
    assert "Missing values: 12 in 'z'" in said
    suits = next(line for line in said.splitlines() if line.startswith("Suits"))
    assert all(word in suits for word in ("TSGSU", "QSGS2AUC", "TSGS3VM", "QS3ORAO", "PS3VT"))

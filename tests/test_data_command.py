"""The command `data`: its output, and conversion in pieces that equals reading the whole file."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each
from commands import refusal
from hostile_files import GOOD, npz, parquet

from dsgcore.__main__ import main
from dsgcore.data import DataError
from dsgcore.data.converting import convert_file, sniff_file
from dsgcore.data.reading import Recipe, read, sniff


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


def converted(folder):
    points = np.load(folder / "X.npy", mmap_mode="r")
    return points, np.load(folder / "y.npy"), json.loads((folder / "data.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_pieces_give_what_the_whole_gives(write, tmp_path, name):
    path, out = write(name), tmp_path / "out"
    sniffed = sniff(FILES[name], name, labels="classes")
    assert sniff_file(path) == sniffed
    for missing in ("mean", "median", "most frequent", "drop"):
        recipe = Recipe.from_dict(sniffed.to_dict() | {"missing": missing})
        whole = read(FILES[name], recipe, name=name, labels="classes")
        for rows in (7, 40, 1000) if missing == "mean" else (7,):
            made = convert_file(path, out, recipe, rows=rows)
            X, y, description = converted(out)
            assert (X.dtype, X.shape) == (np.float32, whole.X.shape) == (np.float32, (made.n, made.d))
            assert isinstance(X, np.memmap)
            np.testing.assert_allclose(X, whole.X, rtol=1e-6)  # the mean is summed in another order
            np.testing.assert_array_equal(y, whole.y)
            assert tuple(description["class_names"]) == whole.class_names
            assert tuple(description["feature_names"]) == whole.feature_names
            assert Recipe.from_dict(description["recipe"]) == recipe
            assert sorted(p.name for p in out.iterdir()) == ["X.npy", "data.json", "y.npy"]


def test_a_failure_leaves_nothing_half_made(write, tmp_path):
    content = FILES["table.csv"] + b"1,abc,red,a\n"
    path = write("bad.csv", content)
    with pytest.raises(DataError, match="column 'z' must hold numbers, got 'abc' in row 91"):
        convert_file(path, tmp_path / "out", sniff(FILES["table.csv"], "a"), rows=20)
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []
    path = write("cut.csv.gz", FILES["table.csv.gz"][:-30])
    with pytest.raises(DataError, match="packed by gzip and damaged"):
        convert_file(path, tmp_path / "out", sniff(FILES["table.csv"], "a"))


MEMORY = """
import resource, sys
from dsgcore.data.converting import convert_file, sniff_file
small, large, out = sys.argv[1:]
recipe = sniff_file(small)
convert_file(small, out + "1", recipe, rows=2000)  # all is imported
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
made = convert_file(large, out + "2", recipe, rows=2000)
print(made.n, made.d, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
D = 100
LINES = {
    "csv": (b"%d" + b",0.5" * (D - 1) + b",%d\n", lambda i: (i, i % 2)),
    "svm": (b"%d 1:%d " + b" ".join(b"%d:0.5" % j for j in range(10, D + 1, 10)) + b"\n", lambda i: (i % 2, i)),
}


def write_rows(path, n):
    if path.suffix == ".parquet":
        X = pd.DataFrame(np.tile(np.arange(n, dtype=np.float32)[:, None], D)).add_prefix("c")
        X.assign(label=np.arange(n) % 2).to_parquet(path, row_group_size=5000)
    else:
        line, cells = LINES[path.suffix[1:]]
        path.write_bytes(b"".join(line % cells(i) for i in range(n)))
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "svm", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path, kind):
    """12 MB of points, in a process that may take a third of that more than for a hundredth of them."""
    n = 30_000
    files = [write_rows(tmp_path / f"{rows}.{kind}", rows) for rows in (n // 100, n)]
    command = [sys.executable, "-c", MEMORY, *files, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    *shape, grown = map(int, done.stdout.split())
    assert shape == [n, D]
    assert grown * 1024 < 4 * n * D / 3


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


def test_convert_takes_what_the_arguments_say(write, tmp_path, capsys):
    arguments = ["--labels", "binary", "--target", "color", "--positive", "red", "--drop", "z", "--missing", "drop"]
    assert main(["data", "convert", str(write("table.csv")), "--out", str(tmp_path / "out"), *arguments]) == 0
    X, y, description = converted(tmp_path / "out")
    assert description["class_names"] == ["green", "red"]
    assert description["feature_names"] == ["x", "kind: a", "kind: b"]
    assert set(y) == {-1, 0, 1}
    assert not np.isnan(X).any()
    assert "float32" in capsys.readouterr().out


def test_a_set_of_the_archives_knows_its_columns(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path))
    (tmp_path / "sgemm").mkdir()
    header = "MWG,NWG,Run1 (ms),Run2 (ms),Run3 (ms),Run4 (ms)\n"
    rows = "".join(f"{i % 4},{i % 3},{i}.5,{i}.6,{i}.7,{i}.8\n" for i in range(60))
    (tmp_path / "sgemm" / "sgemm_product.csv").write_text(header + rows, encoding="utf-8")
    out = tmp_path / "out"
    assert main(["data", "convert", "sgemm", "--out", str(out), "--labels", "ordinal", "--bins", "5", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    _, y, description = converted(out)
    assert description["feature_names"] == ["MWG", "NWG"]
    assert np.bincount(y).tolist() == [12] * 5


@each(
    "arguments, said",
    [
        (["describe", "nowhere.csv"], "there is no file 'nowhere.csv'"),
        (["convert", "nowhere.csv", "--out", "x"], "there is no file 'nowhere.csv'"),
        (["convert", "GOOD", "--out", "OUT", "--drop", "bogus"], "there is no column 'bogus'"),
        (["convert", "GOOD", "--out", "OUT", "--target", "bogus"], "there is no column 'bogus'"),
        (["convert", "GOOD", "--out", "OUT", "--bins", "1"], "bins must be a whole number"),
        (["convert", "EMPTY", "--out", "OUT"], "the file is empty"),
        (["convert", "FOLDER", "--out", "OUT"], "it is not a readable file"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(write, tmp_path, capsys, arguments, said):
    places = {"GOOD": write("good.csv", GOOD), "EMPTY": write("empty.csv", b""), "FOLDER": tmp_path}
    places["OUT"] = tmp_path / "out"
    assert said in refusal(capsys, ["data", *(places.get(a, a) for a in arguments)])


def test_a_spec_beside_its_file_runs(write, tmp_path, capsys):
    path = write("good.csv", GOOD)
    spec = {"setting": "auc", "data": {"name": "file", "path": "good.csv", "n_labeled": 10}, "solver": {"n_iter": 3}}
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    assert path.exists()
    assert main(["run", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))["data"]["d"] == 2


def fails_at(monkeypatch, step):
    """Let the `step`-th call of whatever writes, saves or renames fail, and return the calls."""
    calls = []

    def failing(function):
        def called(*given, **options):
            calls.append(function.__name__)
            if len(calls) == step:
                raise OSError("no space left on device")
            return function(*given, **options)

        return called

    monkeypatch.setattr("os.replace", failing(os.replace))
    monkeypatch.setattr("numpy.save", failing(np.save))
    monkeypatch.setattr("pathlib.Path.write_text", failing(Path.write_text))
    return calls


def test_a_failure_at_any_step_leaves_the_conversion_before_as_a_whole(write, tmp_path, monkeypatch):
    first, second, is_done = write("table.csv"), write("table.svm"), []
    recipes = sniff_file(first), sniff_file(second)
    for step in range(1, 10):
        out = tmp_path / f"out {step}"
        convert_file(first, out, recipes[0])
        (out / "notes.txt").write_text("mine", encoding="utf-8")
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        with monkeypatch.context() as broken:
            calls = fails_at(broken, step)
            try:
                convert_file(second, out, recipes[1])
            except OSError:
                assert {path.name: path.read_bytes() for path in out.iterdir()} == before
        is_done.append(len(calls) < step)
        if is_done[-1]:  # nothing was left to fail
            assert json.loads((out / "data.json").read_text(encoding="utf-8"))["file"] == "table.svm"
            assert sorted(path.name for path in out.iterdir()) == sorted(before)
        else:
            convert_file(second, out, recipes[1])
            assert converted(out)[0].shape == (90, 5)
    assert set(is_done) == {True, False}


def test_a_failure_where_nothing_was_leaves_nothing(write, tmp_path, monkeypatch):
    path = write("table.csv")
    recipe = sniff_file(path)
    for step in range(1, 6):
        with monkeypatch.context() as broken:
            fails_at(broken, step)
            with pytest.raises(OSError, match="no space"):
                convert_file(path, tmp_path / "out", recipe)
        assert not (tmp_path / "out").exists()


def test_a_folder_in_a_results_place_is_left_there_with_what_it_holds(write, tmp_path, capsys):
    (mine := tmp_path / "out" / "y.npy" / "mine.txt").parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")
    assert main(["data", "convert", str(write("table.csv")), "--out", str(tmp_path / "out")]) == 2
    assert "y.npy must be a file path, but it is a folder" in capsys.readouterr().err
    assert mine.read_text(encoding="utf-8") == "mine"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["y.npy"]


LARGE = b"x,z,label\n" + b"".join(b"%d,%d,%s\n" % (i, i % 3, b"ab"[i % 2 : i % 2 + 1]) for i in range(20))


def test_a_cell_of_hundreds_of_digits_gets_one_sentence(write, tmp_path, capsys):
    spec = write("spec.json", b'{"setting": "auc", "data": {"name": "file", "path": "large.csv", "n_labeled": 10}}')
    out = str(tmp_path / "out")
    for digits in (400, 5000):
        path = str(write("large.csv", LARGE + b"9" * digits + b",1,a\n"))
        for command in (["data", "describe", path], ["data", "convert", path], ["run", str(spec)]):
            assert main([*command, *(["--out", out] if "describe" not in command else [])]) == 2, command
            said = capsys.readouterr().err
            assert "column 'x' must hold" in said
            assert "in row 21" in said
            assert len(said) < 300


@each(
    "content, said",
    [
        ("x\n1\n2\n3\n4\n", "another one must be a feature"),
        ("x,label\n1,a\n", "the table must have at least 2 rows, got 1"),
        ("name,label\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(40)), "no column of features"),
        ("x,label\n" + "1,a\n2,b\n", "each class must have at least 2 rows"),
    ],
)
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
    assert all(word in suits for word in ("TSGSU", "QSG-S2AUC", "TSGS3VM", "QS3ORAO", "PS3VT"))


def test_two_classes_have_no_order_to_learn(write, capsys):
    assert main(["data", "describe", str(write("good.csv", GOOD))]) == 0
    suits = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Suits"))
    assert "QSG-S2AUC" in suits
    assert "QS3ORAO" not in suits

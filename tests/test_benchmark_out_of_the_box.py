"""The script that compares default arguments: it runs, goes on where it was ended, and says what a fit did not get."""

import json
import os
import subprocess
import sys
from pathlib import Path

import box_sets
import numpy as np
import out_of_the_box
import pytest
from box_tables import difference
from own_process import ONE_THREAD

pytestmark = [
    pytest.mark.weekly,
    pytest.mark.skipif(sys.platform != "linux", reason="its bounds on memory and time are Linux's"),
]

SCRIPT = Path(__file__).parent / "benchmarks" / "out_of_the_box.py"
# Its imports take longer than its fits, so one process runs it several times.
RUNS = (
    "import json, runpy, sys\nfor sys.argv in json.loads(sys.argv[1]): runpy.run_path(sys.argv[0], run_name='__main__')"
)


def run(*commands):
    """Run the script with the arguments of each command, in one process without threads; return what all have printed."""
    told = json.dumps([[str(SCRIPT), *map(str, arguments)] for arguments in commands])
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": os.pathsep.join([str(SCRIPT.parent), *sys.path])}
    done = subprocess.run([sys.executable, "-c", RUNS, told], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    """A folder with one set of two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    np.savez(tmp_path / "tiny.npz", X=rng.normal(size=(120, 3)) + y[:, None], y=np.where(y > 0, 1, -1))
    return tmp_path


def test_it_runs_and_goes_on(folder):
    rows, first, out = folder / "rows.jsonl", folder / "first.md", folder / "out.md"
    asked = ["--sets", folder, "--only", "tiny", "--parts", "sets", "--rows", rows]
    asked += ["--estimators", "TSGS3VM,EverydaySVC"]
    again = [*asked, "--out", out, "--seeds", 2, "--again", "EverydaySVC"]
    run([*asked, "--out", first, "--seeds", 1], again)
    assert "too few seeds" in first.read_text()
    fits = [json.loads(line) for line in rows.read_text().splitlines()]
    made = [(fit["cell"]["seed"], fit["cell"]["estimator"]) for fit in fits]  # each in two scalings
    assert sorted(made[:4]) == [(0, "EverydaySVC")] * 2 + [(0, "TSGS3VM")] * 2
    assert sorted(made[4:]) == [(0, "EverydaySVC")] * 2 + [(1, "EverydaySVC")] * 2 + [(1, "TSGS3VM")] * 2
    assert all(50 < fit["scores"]["accuracy"] <= 100 and fit["seconds"] >= 0 and not fit["failure"] for fit in fits)
    text = out.read_text()
    assert "### AUC in %, binary, to [0, 1]" in text
    assert text.count("| tiny: 120 × 3, 84 |") == 4
    assert "2 seeds" in text
    assert f"python {SCRIPT} --sets {folder}" in text


def test_a_fit_out_of_memory_or_time_is_said_and_larger_ones_are_not_tried(tmp_path):
    rows = tmp_path / "rows.jsonl"
    asked = ["--parts", "scale", "--only", "like SUSY (made)", "--seeds", 1, "--rows", rows, "--largest", 10_000]
    out = run(
        [*asked, "--estimators", "EverydaySpreadingRBF", "--gigabytes", 0.02],
        [*asked, "--estimators", "EverydaySpreadingKNN", "--seconds", 0.0],
    )
    assert "| SpreadingRBF | out of memory (0.02 GB) | out of memory (0.02 GB) |" in out
    assert "| SpreadingKNN | out of time (0 s) |" in out
    failures = [json.loads(line)["failure"] for line in rows.read_text().splitlines()]
    assert set(failures) == {"out of memory (0.02 GB)", "out of time (0 s)"}


def test_what_is_no_folder_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["out_of_the_box.py", "--sets", str(tmp_path / "none")])
    with pytest.raises(SystemExit, match=r"^--sets must name a folder of .npz files, got "):
        out_of_the_box.main()


def test_a_win_is_an_interval_without_zero():
    three = {0: 1.0, 1: 2.0, 2: 3.0}
    apart = difference({0: 4.0, 1: 5.1, 2: 5.9}, three)
    assert (apart.verdict, apart.n_seeds) == ("win", 3)
    assert str(apart) == "+3.0 ± 0.2"
    assert difference(three, {0: 4.0, 1: 5.1, 2: 5.9}).verdict == "loss"
    assert difference({0: 0.0, 1: 4.0, 2: 2.5}, three).verdict == "tie"
    assert difference(three, three).verdict == "tie"
    assert difference({0: 4.0, 1: 5.0}, three).verdict == ""  # the spread of two is too often none
    assert difference({7: 4.0}, three) is None


def test_labels_are_hidden_but_two_of_each_class(folder):
    (source,) = [s for s in box_sets.sources(folder) if s.name == "tiny"]
    split = box_sets.drawn(source, seed=0, n=80, scaling="to [0, 1]")
    assert split.X.shape == (80, 3)
    assert len(split.y_test) == 36
    assert (split.X.min(), split.X.max()) == (0.0, pytest.approx(1.0))
    assert np.sum(split.y >= 0) == 40  # half at most, of 200
    few = box_sets.drawn(source, seed=0, n=80, scaling="standardised", n_labeled=1)
    assert np.bincount(few.y[few.y >= 0]).tolist() == [2, 2]


def test_pairs_are_of_one_class_and_apart_from_all_other_points():
    y = (np.arange(9000) % 4 == 0).astype(int)
    X = np.stack([np.arange(9000.0), y + 0.0], axis=1)
    source = box_sets.Source("made up", "pairs", 9000, lambda: (X, y))
    split = box_sets.drawn(source, seed=0, n=1, scaling="to [0, 1]")
    assert split.prior == 0.25
    members = split.y >= 0
    assert members.sum() == 1000
    assert (~members).sum() == 2500
    classes = split.X[members, 1].reshape(500, 2)
    assert (classes[:, 0] == classes[:, 1]).all()
    assert 0.05 < classes[:, 0].mean() < 0.15  # 1 / 10 of the pairs
    assert len(np.unique(np.concatenate([split.X, split.X_test])[:, 0])) == 3500 + len(split.X_test)


def test_made_points_have_a_law_and_another_draw_for_every_seed():
    first, again, other = (box_sets.made("like HIGGS (made)", seed=s, n=500, n_labeled=50) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    assert (first.X != other.X).any()
    assert first.X.shape == (500, 28)
    assert np.sum(first.y >= 0) == 50
    assert 0.3 < np.mean(first.y_test) < 0.7

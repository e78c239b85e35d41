"""Training from Parquet files by command, and checkpoints from which a run continues bit for bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from cases import each
from clocks import interrupt_after
from commands import refusal
from four_estimators import same
from own_tables import sniff_file

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, load_model
from dsgcore.__main__ import main
from dsgcore.data.reading import File
from dsgcore.solver.checkpoint import Checkpoint

pytest.importorskip("pyarrow")

N, D = 4000, 3
SMALL = {"n_iter": 40, "n_features": 16, "batch_size": 16, "tol": None}
SET = [word for name, value in SMALL.items() for word in ("--set", f"{name}={json.dumps(value)}")]


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D)).astype(np.float32)
    return X, np.where(rng.random(N) < 0.1, (X[:, 0] > 0).astype(int), -1)


@pytest.fixture(scope="module")
def data(points, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    table = pd.DataFrame(points[0], columns=list("abc")).assign(label=points[1].astype(np.int8), town="x")
    for number, own in enumerate(np.split(np.arange(N), [1300, 1301])):
        table.iloc[own].to_parquet(folder / f"{number}.parquet", row_group_size=700)
    return folder


def command(data, out, *options, method="QSGS2AUC"):
    given = [data, "--target", "label", "--features", "a,b,c", "--out", out, *SET, "--scaling", "none", *options]
    return ["fit", method, *map(str, given)]


@pytest.mark.parametrize("cls", [QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU])
def test_it_writes_the_model_of_the_estimator_and_where_its_values_are_cut(points, data, tmp_path, cls, capsys):
    of_classes = {"y_holds": "classes", "prior": 0.7} if cls is TSGSU else {}
    more = [word for name, value in of_classes.items() for word in ("--set", f"{name}={value}")]
    assert main(command(data, tmp_path / "out", *more, method=cls.__name__)) == 0
    model = cls(random_state=0, **SMALL, **of_classes).fit(*points)
    same(load_model(tmp_path / "out" / "model.npz"), model.model_)
    said = json.loads((tmp_path / "out" / "fit.json").read_text())
    assert said["features"] == ["a", "b", "c"]
    assert said["classes"] == [0, 1]
    assert said["parameters"] == model.get_params()
    for name in ("n_iter", "step_size", "lam", "threshold", "thresholds", "shift", "prior"):
        assert np.array_equal(said.get(name, 0.0), getattr(model, f"{name}_", 0.0))
    assert "is trained in 40 iterations, which are all of n_iter" in capsys.readouterr().out
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["fit.json", "model.npz", "preparation.joblib"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("cls", [QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU])
@pytest.mark.parametrize("batch_size", [16, 5000])
def test_a_run_goes_on_from_its_file_to_the_same_bits(points, tmp_path, monkeypatch, cls, dtype, batch_size):
    of_classes = {"y_holds": "classes", "prior": 0.7} if cls is TSGSU else {}
    if batch_size > N:  # so many visits that all points are carried
        monkeypatch.setattr("dsgcore.solver.carried.MAX_VISITS_PER_POINT", 10)
    given = {**SMALL, **of_classes, "dtype": dtype, "batch_size": batch_size, "n_iter": 12, "random_state": 0}
    here, file, made = cls(**given).fit(*points), tmp_path / "run.npz", []

    def end(iterate):
        made.append(iterate.t)
        if iterate.t == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cls(**given).fit(*points, checkpoint=file, every=5, callback=end)
    gone_on = cls(**given).fit(*points, checkpoint=file, every=5, callback=lambda iterate: made.append(iterate.t))
    assert made == [*range(1, 9), *range(6, 13)]
    same(gone_on.iterate_, here.iterate_)


def test_who_is_killed_goes_on_and_writes_the_same_files(data, tmp_path):
    out = tmp_path / "out"
    slow = (
        "import sys, threading; from dsgcore.solver.checkpoint import Checkpoint; from dsgcore.__main__ import main\n"
        "keep = Checkpoint.keep\n"
        "def late(self, model):\n    keep(self, model); threading.Event().wait(0.05)\n"
        "Checkpoint.keep = late\nsys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen([sys.executable, "-c", slow, *command(data, out, "--every", 3, "--quiet")])
    deadline = time.monotonic() + 120
    while not (out / "checkpoint.npz").exists() and process.poll() is None and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < len(load_model(out / "checkpoint.npz")) < 40
    assert main(command(data, out, "--every", 3, "--quiet")) == 0
    assert main(command(data, tmp_path / "whole", "--quiet")) == 0
    for name in ("model.npz", "fit.json"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (out / "checkpoint.npz").exists()


def test_who_stops_it_is_told_that_it_goes_on(data, tmp_path, monkeypatch, capsys):
    interrupt_after(monkeypatch, Checkpoint, 20)
    assert main(command(data, tmp_path, "--every", 10)) == 130
    assert "checkpoint.npz, and the same command continues from them" in capsys.readouterr().err
    assert len(load_model(tmp_path / "checkpoint.npz")) == 20


@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        ("Forest", [], "METHOD must be one of "),
        ("QSGS2AUC", ["--set", "depth=3"], "--set must be NAME=VALUE, of "),
        ("QSGS2AUC", ["--set", "n_iter"], "--set must be NAME=VALUE, of "),
        ("QSGS2AUC", ["--set", "n_iter=many"], "n_iter must be a whole number"),
        ("QSGS2AUC", ["--features", "a,a"], "the features must name each column once, got 'a' twice"),
        ("QSGS2AUC", ["--features", "label"], "column 'label' is the label"),
        ("QSGS2AUC", ["--every", "0"], "every must be a whole number"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(data, tmp_path, capsys, method, options, said):
    assert said in refusal(capsys, command(data, tmp_path, "--quiet", *options, method=method))


@pytest.fixture(scope="module")
def with_gaps(points, tmp_path_factory):
    """The points in other units, with one of twenty numbers missing, in two files."""
    X = points[0] * np.float32([1, 100, 0.01]) + np.float32([0, 50, 0])
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    folder = tmp_path_factory.mktemp("gaps")
    for number, own in enumerate(np.split(np.arange(N), 2)):
        table = pd.DataFrame(X[own], columns=list("abc")).assign(label=points[1][own].astype(np.int8), town="x")
        table.to_parquet(folder / f"{number}.parquet", row_group_size=700)
    return folder


def test_missing_numbers_are_replaced_and_features_scaled_and_so_they_are_for_the_models_values(with_gaps, tmp_path):
    out, scores = tmp_path / "out", tmp_path / "scores"
    assert main(command(with_gaps, out, "--missing", "mean", "--scaling", "standard", "--quiet")) == 0
    file = File.of_path(with_gaps)
    data, features = file.prepared(
        sniff_file(with_gaps, "binary", "label", drop=["town"]), "binary", scaling="standard"
    )
    np.testing.assert_allclose([data.X.mean(axis=0), data.X.std(axis=0)], [[0] * D, [1] * D], atol=1e-5)
    model = QSGS2AUC(random_state=0, **SMALL).fit(data.X, data.y)
    same(load_model(out / "model.npz"), model.model_)
    rows = features.transform(file.table(features.recipe).frame)
    assert main(["predict", *map(str, (out, with_gaps)), "--out", str(scores), "--quiet"]) == 0
    written = pd.concat([pd.read_parquet(file) for file in sorted(scores.iterdir())])["score"]
    assert np.array_equal(written, model.model_.evaluate(rows))
    # Of the model's file alone nothing is known of that: what is missing is an error.
    assert main(["predict", *map(str, (out / "model.npz", with_gaps)), "--out", str(tmp_path / "none")]) == 2


@each(
    "options, said",
    [
        (["--bins", "1"], "bins must be a whole number"),
        (["--role", "a=king"], "the role of 'a' must be one of"),
        (["--role", "a"], "--role must be COLUMN=ROLE"),
        (["--encoding", "rot13"], "encoding must be one of"),
    ],
)
def test_what_is_done_to_rows_is_asked_for_in_known_words(with_gaps, tmp_path, options, said, capsys):
    assert main(command(with_gaps, tmp_path / "out", *options, "--quiet")) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "must be a model's file, or a folder that"),
        ("[]", "must be a model's file, or a folder that"),
        ('{"features": ["a", "b", "c"]}', "model.npz does not exist"),
    ],
)
def test_a_folder_that_no_fit_has_written_is_refused_in_one_sentence(data, tmp_path, content, said, capsys):
    if content is not None:
        (tmp_path / "fit.json").write_text(content, encoding="utf-8")
    assert said in refusal(capsys, ["predict", tmp_path, data, "--out", tmp_path / "scores", "--quiet"])

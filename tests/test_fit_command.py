"""Training from Parquet files by command, and checkpoints from which a run continues bit for bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from cases import each, some, tiers
from commands import refusal
from four_estimators import same
from hostile_files import Bomb
from own_tables import sniff_file
from sklearn.datasets import dump_svmlight_file

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, load_model
from dsgcore.__main__ import main
from dsgcore.baselines.everyday import Everyday
from dsgcore.comparing import METHODS
from dsgcore.data.reading import File, binary

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
        monkeypatch.setattr("dsgcore.solver.loop.MAX_VISITS_PER_POINT", 10)
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


@pytest.mark.ci
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


@each(
    "method, options, said",
    [
        ("Forest", [], "METHOD must be one of "),
        ("QSGS2AUC", ["--set", "depth=3"], "--set must be NAME=VALUE, of "),
        ("QSGS2AUC", ["--set", "n_iter"], "--set must be NAME=VALUE, of "),
        ("QSGS2AUC", ["--set", "n_iter=many"], "n_iter must be a whole number"),
        ("QSGS2AUC", ["--features", "a,a"], "the features must name each column once, got 'a' twice"),
        ("QSGS2AUC", ["--features", "label"], "column 'label' is the label"),
        ("QSGS2AUC", ["--every", "0"], "every must be a whole number"),
        ("QSGS2AUC", ["--bins", "1"], "bins must be a whole number"),
        ("QSGS2AUC", ["--role", "a=king"], "the role of 'a' must be one of"),
        ("QSGS2AUC", ["--role", "a"], "--role must be COLUMN=ROLE"),
        ("QSGS2AUC", ["--encoding", "rot13"], "encoding must be one of"),
        ("QSGS2AUC", ["--target", "sort"], "there is no column 'sort'"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(data, tmp_path, capsys, method, options, said):
    assert said in refusal(capsys, command(data, tmp_path, "--quiet", *options, method=method))


def test_arrays_without_points_are_refused(tmp_path, capsys):
    np.savez(tmp_path / "rows.npz", points=np.zeros((3, 2)))
    assert "must hold an array 'X'" in refusal(
        capsys, ["fit", "PS3VT", tmp_path / "rows.npz", "--out", tmp_path / "model"]
    )


@each("model", ["model.joblib", "."])
def test_no_pickle_is_run_before_a_model_is_checked(model, tmp_path_factory, capsys):
    folder = tmp_path_factory.mktemp("sent")
    (folder / "model.npz").write_bytes(b"no model")
    (folder / "fit.json").write_text('{"features": ["a"]}')
    joblib.dump(Bomb(), folder / ("preparation.joblib" if model == "." else model))
    assert main(["predict", str(folder / model), str(folder / "fit.json"), "--out", str(folder / "out")]) == 2
    said = capsys.readouterr()
    assert "not a model file" in said.err
    assert said.out == ""  # nothing was unpickled


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


# --- the commands fit and predict on CSV, LIBSVM and npz files: any method, with classes, scores and kept columns


N_ROWS = 240
BRIEF = {"n_iter": 20, "n_features": 16, "batch_size": 16, "tol": None}
OURS = {"QSGS2AUC": QSGS2AUC, "TSGS3VM": TSGS3VM, "QS3ORAO": QS3ORAO, "PS3VT": PS3VT}
THEIRS = {name: method.estimator for name, method in METHODS.items() if issubclass(method.estimator, Everyday)}


def frame_of(k=2):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N_ROWS, 3)).round(3)
    y = np.digitize(X[:, 0] + 0.2 * X[:, 1], np.linspace(-1, 1, k + 1)[1:-1])
    return X, np.where(np.arange(N_ROWS) < 60, y, -1)


def table(k=2):
    X, y = frame_of(k)
    names = np.array([f"class {code}" for code in range(k)], dtype=object)
    labels = np.where(y < 0, "", names[y])
    return pd.DataFrame(X, columns=list("abc")).assign(id=[f"row {i}" for i in range(N_ROWS)], kind=labels)


def made(method, file, out, *options, ours=None):
    given = BRIEF if ours is None else ours
    said = [word for name, value in given.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    assert main(["fit", method, str(file), "--out", str(out), "--quiet", "--scaling", "none", *said, *options]) == 0
    return json.loads((out / "fit.json").read_text())


def scored(model, file, out, *options):
    assert main(["predict", str(model), str(file), "--out", str(out), "--quiet", *options]) == 0
    return pd.concat([pd.read_parquet(part) for part in sorted(out.glob("*.parquet"))], ignore_index=True)


FILES = [("TSGS3VM", ";"), *((method, ",") for method in (*OURS, *THEIRS))]


@pytest.mark.parametrize(("method", "mark"), tiers(FILES, 5, 9))
def test_a_csv_file_leads_to_classes_scores_and_kept_columns(method, mark, tmp_path):
    file, rows = tmp_path / "rows.csv", table(3 if method in ("QS3ORAO", "PS3VT") else 2)
    rows.to_csv(file, index=False, sep=mark)
    ours = {"PS3VT": {"n_iter": 20}}.get(method, BRIEF) if method in OURS else {}
    made(method, file, tmp_path / "model", "--target", "kind", "--features", "a,b,c", ours=ours)
    out = scored(tmp_path / "model", file, tmp_path / "scores", "--keep", "id", "--csv", str(tmp_path / "all.csv"))
    X, y = (
        rows[["a", "b", "c"]].to_numpy(np.float32),
        np.where(rows["kind"] == "", -1, rows["kind"].to_numpy(dtype=object)),
    )
    kind = OURS.get(method) or THEIRS[method]
    seeded = {"random_state": 0} if "random_state" in kind().get_params() else {}
    model = kind(**ours, **seeded).fit(X, y)
    assert out["id"].tolist() == rows["id"].tolist()
    assert out["class"].tolist() == model.predict(X).tolist()
    assert len(set(out["class"])) > 1
    assert "score" in out or "score class 2" in out
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "all.csv"), out, check_dtype=False, rtol=1e-6)
    again = scored(tmp_path / "model", file, tmp_path / "scores", "--keep", "id")
    pd.testing.assert_frame_equal(again, out)


def test_a_method_that_learns_from_labels_alone_is_given_no_other_row(tmp_path):
    file, rows = tmp_path / "rows.csv", table()
    rows.to_csv(file, index=False)
    made("SafeTSGS3VM-labels", file, tmp_path / "model", "--target", "kind", "--features", "a,b,c")
    found = scored(tmp_path / "model", file, tmp_path / "scores")["score"]
    X, y = frame_of()
    alone = METHODS["SafeTSGS3VM-labels"].make(0)
    alone.estimator.set_params(**BRIEF)
    alone.fit(X[y >= 0], y[y >= 0])
    np.testing.assert_allclose(found, alone.decision_function(X), rtol=1e-5, atol=1e-6)


def test_classes_of_a_balanced_machine_are_those_of_its_shifted_values(tmp_path):
    file, rows = tmp_path / "rows.csv", table()
    rows.to_csv(file, index=False)
    X, y = frame_of()
    model = TSGS3VM(**BRIEF, is_balanced=True, random_state=0).fit(X.astype(np.float32), y)
    made("TSGS3VM", file, tmp_path / "m", "--target=kind", "--features=a,b,c", ours=BRIEF | {"is_balanced": True})
    found = scored(tmp_path / "m", file, tmp_path / "scores")["class"]
    assert abs(model.shift_) > 0.01
    assert found.tolist() == [f"class {code}" for code in model.predict(X.astype(np.float32))]


@pytest.mark.parametrize("ending", ["libsvm", "npz"])
def test_files_without_names_have_their_labels_in_y(ending, tmp_path):
    X, y = frame_of()
    file = tmp_path / f"rows.{ending}"
    if ending == "npz":
        np.savez(file, X=X, y=y)
    else:
        dump_svmlight_file(X, y, str(file), zero_based=False)
    facts = made("QSGS2AUC", file, tmp_path / "model", "--unlabeled", "-1")
    assert facts["features"] == ["x1", "x2", "x3"]
    out = scored(tmp_path / "model", file, tmp_path / "scores")
    model = QSGS2AUC(**BRIEF, random_state=0).fit(X, y)
    assert out["class"].tolist() == model.predict(X).tolist()


@pytest.fixture
def folder(tmp_path):
    """Write a folder of Parquet files: gaps, categories of which one is in the last file alone, text, an index, words as labels."""
    rng, n = np.random.default_rng(0), 240
    table = pd.DataFrame({"id": np.arange(n), "a": rng.normal(size=n), "b": rng.integers(0, 50, n)})
    table["kind"] = [["red", "green", "blue"][i % 3] for i in range(n - 1)] + ["violet"]
    table["said"] = [f"{['good', 'bad', 'so so'][i % 3]} and {['hot', 'cold'][i % 2]} word{i % 7}" for i in range(n)]
    table["grade"] = np.array(["low", "mid", "top"])[np.digitize(table["a"], [-0.4, 0.4])]
    table.loc[::9, "a"], table.loc[1::2, "grade"] = np.nan, None
    table["kind"] = table["kind"].astype("category")
    table["number"] = table["b"].where(table.index % 3 > 0) + 0.5
    (tmp_path / "folder").mkdir()
    for k in range(3):
        table[80 * k : 80 * (k + 1)].to_parquet(tmp_path / "folder" / f"{k}.parquet", row_group_size=50, index=False)
    return tmp_path / "folder"


OPTIONS = {
    "positive": ("TSGS3VM", "--target=grade", "--positive=mid", "--drop=number"),
    "order": ("QS3ORAO", "--target=grade", "--order=top,mid,low", "--drop=number"),
    "bins": ("QS3ORAO", "--target=number", "--bins=4", "--drop=grade,b", "--missing=median"),
    "roles": ("QSGS2AUC", "--target=grade", "--positive=top", "--category=kind,b", "--role=said=text", "--drop=number"),
    "classes": ("PS3VT", "--target=grade", "--features=a,kind", "--scaling=none"),
    "words": ("TSGS3VM", "--target=grade", "--unlabeled=mid", "--missing-words=0,green", "--drop=number,said"),
}


@each("name", some(OPTIONS, 2, 3))
def test_a_table_that_is_not_read_whole_means_what_it_means_in_memory(name, folder, tmp_path, monkeypatch, capsys):
    options, found = OPTIONS[name], {}
    for where, most in (("memory", binary.LARGE), ("parts", 0)):
        monkeypatch.setattr(binary, "LARGE", most)
        model, out, csv = (str(tmp_path / f"{name} {what} {where}") for what in ("model", "out", "csv"))
        assert main(["fit", options[0], str(folder), "--out", model, "--quiet", *options[1:]]) == 0
        assert main(["predict", model, str(folder), "--out", out, "--csv", csv, "--keep=id", "--quiet"]) == 0
        facts = json.loads((Path(model) / "fit.json").read_text())
        found[where] = pd.read_csv(csv), facts["features"], facts["recipe"]
    (scores, *rest), (others, *same) = found.values()
    pd.testing.assert_frame_equal(scores, others)
    assert rest == same
    assert len(list((tmp_path / f"{name} out parts").glob("part-*"))) == 6

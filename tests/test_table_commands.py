"""The commands fit, predict and data on tables of every kind, and checkpoints from which a run continues bit for bit."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import re
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
from hostile_files import Bomb, npz, parquet
from own_tables import sniff, sniff_file
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, load_model
from dsgcore.__main__ import main
from dsgcore.baselines.everyday import Everyday
from dsgcore.cli.ending import Progress
from dsgcore.comparing import METHODS
from dsgcore.data import DataError, load
from dsgcore.data.converting import convert_file
from dsgcore.data.reading import File, binary
from dsgcore.data.reading.sources import streamed
from dsgcore.experiments import Run, read_spec
from dsgcore.experiments.verdict import predicted_classes

pytest.importorskip("pyarrow")

N, D = 4000, 3
SMALL = {"n_iter": 40, "n_features": 16, "batch_size": 16, "tol": None}
OF_CLASSES = {TSGSU: {"y_holds": "classes", "prior": 0.7}}


def to_set(parameters):
    said = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
    return [word for name, value in said.items() for word in ("--set", f"{name}={value}")]


SET = to_set(SMALL)


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


@pytest.mark.parametrize("batch_size", [16, 5000])
@pytest.mark.parametrize(
    ("cls", "dtype"), [(TSGS3VM, "float32"), (QS3ORAO, "float64"), (TSGSU, "float32"), (QSGS2AUC, "float64")]
)
def test_a_run_goes_on_from_its_file_to_the_same_bits(points, tmp_path, monkeypatch, cls, dtype, batch_size):
    if batch_size > N:  # so many visits that all points are carried
        monkeypatch.setattr("dsgcore.solver.loop.MAX_VISITS_PER_POINT", 10)
    given = SMALL | OF_CLASSES.get(cls, {}) | {"n_iter": 12, "random_state": 0}
    given |= {"dtype": dtype, "batch_size": batch_size}
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


def files_of(out):
    return {file.name: file.read_bytes() for file in out.iterdir() if file.suffix != ".joblib"}


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """The files of a run that nobody has stopped."""
    out = tmp_path_factory.mktemp("whole") / "out"
    assert main(command(data, out, "--quiet")) == 0
    return files_of(out)


@pytest.mark.ci
def test_who_is_killed_goes_on_and_writes_the_same_files(data, whole, tmp_path):
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
    assert files_of(out) == whole


def test_control_c_says_what_is_kept_and_the_same_command_goes_on_from_there(
    data, whole, tmp_path, monkeypatch, capsys
):
    out, parts = tmp_path / "out", []

    def part(_line, done, _of, _words, is_new):
        parts.append((done, is_new))
        if len(parts) == 8:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "part", part)
    in_file = f"the iterations so far are in {out / 'checkpoint.npz'}, and the"
    for every, kept in (("50", "nothing is kept"), ("3", in_file)):
        parts.clear()
        assert main(command(data, out, "--every", every, "--quiet")) == 130
        assert f"dsg-lab: stopped; {kept}" in capsys.readouterr().err
    assert main(command(data, out, "--every", "3", "--quiet")) == 0
    assert parts[8:10] == [(7, False), (8, True)]
    assert files_of(out) == whole


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


def test_missing_numbers_are_replaced_and_features_scaled_and_so_they_are_for_the_models_values(points, tmp_path):
    X, folder = points[0] * np.float32([1, 100, 0.01]) + np.float32([0, 50, 0]), tmp_path / "gaps"
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    folder.mkdir()
    for number, own in enumerate(np.split(np.arange(N), 2)):
        table = pd.DataFrame(X[own], columns=list("abc")).assign(label=points[1][own].astype(np.int8), town="x")
        table.to_parquet(folder / f"{number}.parquet", row_group_size=700)
    out, scores = tmp_path / "out", tmp_path / "scores"
    assert main(command(folder, out, "--missing", "mean", "--scaling", "standard", "--quiet")) == 0
    file, recipe = File.of_path(folder), sniff_file(folder, "binary", "label", drop=["town"])
    data, features = file.prepared(recipe, "binary", scaling="standard")
    np.testing.assert_allclose([data.X.mean(axis=0), data.X.std(axis=0)], [[0] * D, [1] * D], atol=1e-5)
    model = QSGS2AUC(random_state=0, **SMALL).fit(data.X, data.y)
    same(load_model(out / "model.npz"), model.model_)
    written = scored(out, folder, scores)["score"]
    assert np.array_equal(written, model.model_.evaluate(features.transform(file.table(features.recipe).frame)))
    # Of the model's file alone nothing is known of that: what is missing is an error.
    assert main(["predict", *map(str, (out / "model.npz", folder)), "--out", str(tmp_path / "none")]) == 2


# --- the commands fit and predict on CSV, LIBSVM and npz files: any method, with classes, scores and kept columns


N_ROWS = 240
BRIEF = {"n_iter": 20, "n_features": 16, "batch_size": 16, "tol": None}
OURS = {cls.__name__: cls for cls in (QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU, PS3VT)}
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


def made(method, file, out, *options, ours=BRIEF):
    given = ["fit", method, str(file), "--out", str(out), "--quiet", "--scaling", "none", *to_set(ours), *options]
    assert main(given) == 0
    return json.loads((out / "fit.json").read_text())


def scored(model, file, out, *options):
    assert main(["predict", str(model), str(file), "--out", str(out), "--quiet", *options]) == 0
    return pd.concat([pd.read_parquet(part) for part in sorted(out.glob("*.parquet"))], ignore_index=True)


@pytest.mark.parametrize("method", [*OURS, "TSGS3VM balanced", *tiers(THEIRS, 1, 4)])
def test_a_csv_file_leads_to_the_model_of_the_estimator_classes_scores_and_kept_columns(method, tmp_path):
    method, balance = method.split()[0], {"is_balanced": True} if "balanced" in method else {}
    file, rows = tmp_path / "rows.csv", table(3 if method in ("QS3ORAO", "PS3VT") else 2)
    rows.to_csv(file, index=False, sep=";" if balance else ",")
    kind = OURS.get(method) or THEIRS[method]
    ours = (
        {"n_iter": 20}
        if method == "PS3VT"
        else {**BRIEF, **balance, **OF_CLASSES.get(kind, {})}
        if method in OURS
        else {}
    )
    facts = made(method, file, tmp_path / "model", "--target", "kind", "--features", "a,b,c", ours=ours)
    out = scored(tmp_path / "model", file, tmp_path / "scores", "--keep", "id", "--csv", str(tmp_path / "all.csv"))
    X = rows[["a", "b", "c"]].to_numpy(np.float32)
    y = np.where(rows["kind"] == "", -1, rows["kind"].to_numpy(dtype=object))
    seeded = {"random_state": 0} if "random_state" in kind().get_params() else {}
    model = kind(**ours, **seeded).fit(X, y)
    assert facts["features"] == ["a", "b", "c"]
    assert facts["classes"] == model.classes_.tolist()
    if method in OURS and method != "PS3VT":
        same(load_model(tmp_path / "model" / "model.npz"), model.model_)
        assert facts["parameters"] == model.get_params()
        for name in ("n_iter", "step_size", "lam", "threshold", "thresholds", "shift", "prior"):
            assert np.array_equal(facts.get(name, 0.0), getattr(model, f"{name}_", 0.0)), name
        assert files_of(tmp_path / "model").keys() == {"fit.json", "model.npz"}
    assert out["id"].tolist() == rows["id"].tolist()
    assert out["class"].tolist() == model.predict(X).tolist()
    assert len(set(out["class"])) > 1
    assert "score" in out or "score class 2" in out
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "all.csv"), out, check_dtype=False, rtol=1e-6)
    again = scored(tmp_path / "model", file, tmp_path / "scores", "--keep", "id")
    pd.testing.assert_frame_equal(again, out)


RUNS = {
    "two classes": ("s3vm", 2, {}),
    "of an average": ("s3vm", 2, {"average": "tail"}),
    "ranks": ("auc", 2, {}),
    "an order": ("ordinal", 3, {}),
    "several classes": ("multiclass", 3, {}),
    "a set": ("auc", 2, None),
}


@each("name", some(RUNS, 6))
def test_the_folder_of_a_run_gives_the_runs_values_and_classes_of_rows_as_they_are(name, tmp_path):
    (setting, k, solver), place = RUNS[name], tmp_path / name
    place.mkdir()
    frame, file = table(k), place / "own.csv"
    frame["kind"] = frame["kind"].str.removeprefix("class ")
    spec = {"setting": setting, "data": {"name": "file", "path": str(file), "n_labeled": 30, "target": "kind"}}
    if solver is None:
        spec["data"], dataset = {"name": "two_moons", "n": 200, "n_labeled": 30}, load("two_moons", n=200)
        frame = pd.DataFrame(dataset.X, columns=list(dataset.feature_names))
    frame.to_csv(file, index=False)
    spec["solver"] = {"n_iter": 30, **(solver or {})}
    (place / "spec.json").write_text(json.dumps(spec))
    assert main(["run", str(place / "spec.json"), "--out", str(place / "out"), "--quiet"]) == 0
    made = Run(read_spec(place / "spec.json"))
    made.advance()
    found = scored(place / "out", file, place / "scores")
    values = made.result_at(made.split.X_test)
    rows = made.split.test_rows
    columns = [own for own in found if own.startswith("score")]
    np.testing.assert_allclose(found[columns].to_numpy()[rows].squeeze(), values, atol=1e-4)
    codes = predicted_classes(made, values)
    assert np.mean(found["class"].to_numpy()[rows] == np.array(made.split.class_names)[codes]) > 0.99


DAMAGES = [
    ("fit.json", lambda _: b""),
    ("fit.json", lambda _: b"[1]"),
    ("fit.json", lambda facts: facts[:40]),
    ("fit.json", lambda facts: facts.replace(b'"shift": 0.0', b'"shift": "a"')),
    ("fit.json", lambda facts: re.sub(rb'"classes": \[[^]]*\]', b'"classes": 3', facts)),
    ("preparation.joblib", lambda _: b""),
    ("preparation.joblib", lambda prepared: prepared[:300]),
    ("preparation.joblib", lambda _: b"garbage"),
    ("preparation.joblib", lambda _: pickled([1])),
    ("preparation.joblib", lambda prepared: prepared.replace(b"Features", b"Futures.")),  # of another version
    ("preparation.joblib", lambda prepared: prepared.replace(b"dsgcore", b"dsgcare")),
]


def pickled(value):
    joblib.dump(value, content := io.BytesIO())
    return content.getvalue()


def test_a_damaged_folder_of_a_model_is_said_to_be(tmp_path, capsys):
    data, folder = tmp_path / "rows.csv", tmp_path / "out"
    table().to_csv(data, index=False)
    made("TSGS3VM", data, folder, "--target", "kind", "--features", "a,b,c", "--scaling", "unit")
    says = {
        "fit.json": "a folder that `dsg-lab fit` or `dsg-lab run` has written",
        "preparation.joblib": "(preparation.joblib' is damaged, or|out') was written by another version",
    }
    capsys.readouterr()  # notes about the data
    for name, damage in DAMAGES:
        kept = (folder / name).read_bytes()
        assert damage(kept) != kept
        (folder / name).write_bytes(damage(kept))
        said = refusal(capsys, ["predict", folder, data, "--out", tmp_path / "scores"])
        assert re.search(says[name], said), damage(kept)
        (folder / name).write_bytes(kept)
    (folder / "preparation.joblib").unlink()  # as of a copy without it
    assert main(["predict", str(folder), str(data), "--out", str(tmp_path / "scores")]) == 2


def test_a_preparation_of_an_earlier_version_is_read_or_refused_in_a_sentence(data, tmp_path, capsys):
    features, weights = "dsgcore.data.reading.features", csr_array([[0.0, 2.0]])
    assert pickle.loads(f"c{features}\n_dense\n.".encode())(weights).tolist() == [[0.0, 2.0]]
    assert pickle.loads(f"c{features}\n_less\n.".encode())(np.ones(2), centre=np.ones(2)).tolist() == [0.0, 0.0]
    assert main(command(data, tmp_path / "out", "--quiet")) == 0
    file, _ = tmp_path / "out" / "preparation.joblib", capsys.readouterr()
    for name in (b"Features", b"dsgcore"):  # a class, and a module, that is elsewhere now
        there = file.read_bytes()
        assert name in there
        file.write_bytes(there.replace(name, name[::-1]))
        said = refusal(capsys, ["predict", tmp_path / "out", data, "--out", tmp_path / "scores"])
        assert "was written by another version of DSG Lab: train again" in said
        file.write_bytes(there)


def test_who_learns_from_labels_alone_is_given_no_other_row(tmp_path):
    file, (X, y) = tmp_path / "rows.csv", frame_of()
    table().to_csv(file, index=False)
    made("SafeTSGS3VM-labels", file, tmp_path / "safe", "--target", "kind", "--features", "a,b,c")
    alone = METHODS["SafeTSGS3VM-labels"].make(0)
    alone.estimator.set_params(**BRIEF)
    alone.fit(X[y >= 0], y[y >= 0])
    found = scored(tmp_path / "safe", file, tmp_path / "scores")["score"]
    np.testing.assert_allclose(found, alone.decision_function(X), rtol=1e-5, atol=1e-6)


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


def test_rows_without_any_value_are_left_out_of_scores_and_counted(folder, tmp_path, monkeypatch, capsys):
    model, whole = str(tmp_path / "model"), pd.read_parquet(folder)
    assert main(["fit", "QSGS2AUC", str(folder), "--out", model, "--quiet", "--target=grade", "--positive=top"]) == 0
    is_empty, found = np.arange(len(whole)) % 50 < 2, []
    is_empty[-1] = True
    whole[~is_empty].reindex(whole.index).to_parquet(tmp_path / "gaps.parquet", row_group_size=75)
    for most in (binary.LARGE, 0):
        monkeypatch.setattr(binary, "LARGE", most)
        out, csv = str(tmp_path / f"out {most}"), str(tmp_path / f"{most}.csv")
        capsys.readouterr()
        assert main(["predict", model, str(tmp_path / "gaps.parquet"), "--out", out, "--csv", csv, "--keep=id"]) == 0
        assert capsys.readouterr().err.count(f"{is_empty.sum()} rows without any value are left out.") == 1
        found.append(pd.read_csv(csv))
    pd.testing.assert_frame_equal(*found)
    assert len(found[0]) == np.sum(~is_empty)


# --- the command data: its output, and conversion in pieces that equals reading the whole file


def mixed(n=90):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    x[::7] = np.nan
    color = np.array(["red", "green", None], dtype=object)[rng.integers(0, 3, n)]
    z, kind = rng.integers(0, 9, n), np.array(["a", "b", ""])[rng.integers(0, 3, n)]
    return pd.DataFrame({"x": x, "z": z, "color": color, "kind": kind})


def as_csv(frame):
    return frame.to_csv(index=False).encode()


CONVERTED = {
    "table.csv": as_csv(mixed()),
    "table.csv.gz": gzip.compress(as_csv(mixed())),
    "table16.csv": as_csv(mixed()).decode().encode("utf-16"),
    "with an empty column.csv": as_csv(mixed().assign(none=None)[["x", "none", "kind"]]),
    "table.parquet": parquet(frame=mixed(), row_group_size=40),
    "table.svm": b"".join(b"%d 2:%d 5:0.25\n" % (i % 3, i + 1) for i in range(90)),
    "table.npz": npz(X=mixed()[["x", "z"]].to_numpy(), y=np.arange(90) % 3),
}


@pytest.fixture
def write(tmp_path):
    def to_file(name, content=None):
        path = tmp_path / name
        path.write_bytes(CONVERTED[name] if content is None else content)
        return path

    return to_file


@pytest.mark.parametrize("name", CONVERTED)
def test_a_converted_file_gives_what_the_file_gives(write, tmp_path, name):
    path, out = write(name), tmp_path / "out"
    recipe = sniff_file(path)
    assert recipe == sniff(CONVERTED[name], name, labels="classes")
    assert convert_file(path, out, recipe, progress=None) == 90
    whole, made = (File.of_path(place) for place in (path, out))
    whole, made = (file.prepared(file.recipe("classes"), "classes")[0] for file in (whole, made))
    np.testing.assert_array_equal(made.X, whole.X)
    np.testing.assert_array_equal(made.y, whole.y)
    assert (made.class_names, made.feature_names) == (whole.class_names, whole.feature_names)
    assert [file.name for file in out.iterdir()] == ["part-000000.parquet"]


def test_convert_unpacks_the_files_of_a_folder_one_after_the_other(tmp_path, monkeypatch):
    (folder := tmp_path / "folder").mkdir()
    for number in range(3):
        pd.DataFrame({"a": range(9), "k": list("uvw") * 3}).to_csv(folder / f"{number}.csv", index=False)
    unpacked = list[str]()
    monkeypatch.setattr(
        "dsgcore.cli.data.streamed", lambda one, limits: unpacked.append(one.name) or streamed(one, limits)
    )
    assert main(["data", "convert", str(folder), str(tmp_path / "out"), "--quiet"]) == 0
    assert unpacked == ["0.csv"]  # the first one tells how all are written


def test_libsvm_text_is_converted_in_pieces(write, tmp_path, monkeypatch):
    path, said = write("table.svm"), []
    whole = File.of_path(path).table(recipe := sniff_file(path)).frame
    monkeypatch.setattr("dsgcore.data.reading.svmlight.LINES", 9)
    monkeypatch.setattr(File, "table", None)  # which reads it whole
    assert convert_file(path, tmp_path / "out", recipe, lambda *one: said.append(one)) == 90
    assert len(said) > 9
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out"), whole)


def test_a_failure_leaves_nothing_half_made_and_nothing_is_overwritten(write, tmp_path):
    recipe = sniff(CONVERTED["table.csv"], "a")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    for name, content, to, said in (
        ("bad.csv", CONVERTED["table.csv"] + b"1,2,red\n", "out", "line 92 has 3 cells, and the first has 4"),
        ("cut.csv.gz", CONVERTED["table.csv.gz"][:-30], "out", "packed by gzip and damaged"),
        ("names.csv", CONVERTED["table.csv"].split(b"\n")[0] + b"\n", "out", "the table has no rows"),
        ("table.csv", None, "mine", "must be a new or empty folder"),
    ):
        with pytest.raises(DataError, match=said):
            convert_file(write(name, content), tmp_path / to, recipe)
        assert not (tmp_path / "out").exists()


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


@pytest.mark.weekly
def test_memory_does_not_grow_with_the_text(tmp_path):
    """240 MB of numbers, in a process that may take half of that more than for a hundredth of them."""
    files, n, d = [], 300_000, 100
    for rows in (n // 100, n):
        files.append(str(tmp_path / f"{rows}.csv"))
        Path(files[-1]).write_bytes(b"".join((b"%d" + b",0.5" * (d - 1) + b",%d\n") % (i, i % 2) for i in range(rows)))
    command = [sys.executable, "-c", MEMORY, *files, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    made, grown = map(int, done.stdout.split())
    assert made == n
    assert grown * 1024 < 8 * n * d / 2


def test_rows_of_pairs_with_gaps_are_dropped_if_that_was_asked_for(tmp_path, capsys):
    ids = np.where(np.arange(120) < 60, np.arange(120) // 2, -1)
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["a", "b"]).assign(pair=ids)
    pairs = ["--target", "pair", "--missing", "drop", *SET, "--set", "y_holds=pairs", "--set", "prior=0.7", "--quiet"]
    for name, frame in {"gaps": table.assign(a=table["a"].where(table.index < 110)), "whole": table.head(110)}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        assert main(["fit", "TSGSU", str(tmp_path / f"{name}.csv"), *pairs, "--out", str(tmp_path / name)]) == 0
    same(*(load_model(tmp_path / name / "model.npz") for name in ("gaps", "whole")))
    capsys.readouterr()
    table.loc[3, "a"] = np.nan
    table.to_csv(tmp_path / "half.csv", index=False)
    half = ["fit", "TSGSU", str(tmp_path / "half.csv"), *pairs, "--out", str(tmp_path / "half")]
    assert "each on exactly two rows, got '1' on 1" in refusal(capsys, half)

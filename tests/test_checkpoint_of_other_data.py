"""A checkpoint of other data, labels or settings is refused in a sentence that says what differs; the same run goes on from it."""

import json

import numpy as np
import pandas as pd
import pytest
from cases import each
from clocks import interrupt_after
from four_estimators import FOUR, same
from four_estimators import make as small

from dsgcore import QS3ORAO, QSGS2AUC, TSGSU, load_model
from dsgcore.__main__ import main
from dsgcore.solver.model_files import ModelError

N, D = 600, 3


def make(cls=QSGS2AUC, **parameters):
    return small(cls, **{"n_iter": 20, "batch_size": 8, **parameters})


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    return X, np.where(np.arange(N) % 3 == 0, (X[:, 0] > 0).astype(int), -1)


def refused(model, X, y, file, said):
    with pytest.raises(ModelError) as error:
        model.fit(X, y, checkpoint=file, every=5)
    message = str(error.value)
    assert message.startswith(f"{file} belongs to another run: ")
    assert said in message
    assert message.endswith("; choose another file, or delete it")
    assert "\n" not in message
    return message


@pytest.fixture
def file(points, tmp_path):
    make().fit(*points, checkpoint=tmp_path / "run.npz", every=5)
    return tmp_path / "run.npz"


@each("cls", FOUR)
def test_other_labels_and_other_points_are_refused(points, tmp_path_factory, cls):
    X, y = points
    file = tmp_path_factory.mktemp("run") / "run.npz"
    make(cls).fit(X, y, checkpoint=file, every=5)
    said = "the visited points differ" if cls is TSGSU else "the labels differ"  # from these it draws its pairs
    message = refused(make(cls), X, np.where(y < 0, y, 1 - y), file, said)
    assert cls is TSGSU or "points" not in message  # they are the same
    other = np.where(np.arange(N) % 4 == 0, (X[:, 1] > 0).astype(int), -1)
    refused(make(cls), X, other, file, "the labels differ")
    for points_then in (X[:, ::-1], 2 * X):
        refused(make(cls), points_then, y, file, "the visited points differ")


def test_one_visited_row_that_differs_is_enough(points, file):
    X, y = points
    changed = X.copy()
    changed[np.flatnonzero(y >= 0)[::2]] += 1e-3
    refused(make(sigma=0.5), changed, y, file, "the visited points differ")


@each(
    "parameters, said",
    [
        ({"random_state": 3}, "seed was 0 and is 3"),
        ({"lam": 0.5}, "and is 0.5"),
        ({"step_size": 0.25}, "and is 0.25"),
        ({"gamma": 0.25}, "gamma was 0.9 and is 0.25"),
        ({"sigma": 2.0}, "and is 2.0"),
        ({"kernel": "laplacian"}, "kernel was gaussian and is laplacian"),
        ({"batch_size": 16}, "batch_size was 8 and is 16"),
        ({"dtype": "float64"}, "dtype was float32 and is float64"),
        ({"schedule": "theta/t"}, "schedule was constant and is theta/t"),
        ({"n_features": 32}, "n_features was 16 and is 32"),
        ({"n_iter": 12}, "n_iter is 12"),
    ],
)
def test_other_parameters_are_refused_by_name(points, file, parameters, said):
    assert "points" not in refused(make(**parameters), *points, file, said)


def test_the_same_data_in_another_container_go_on(points, file, tmp_path):
    X, y = points
    whole, table = make().fit(X, y), pd.DataFrame(X, columns=list("abc"))
    table.assign(label=y).to_parquet(tmp_path / "table.parquet", row_group_size=70)
    parquet = tmp_path / "table.parquet", "label"
    for held in ((X.copy(), y), (table, y), ([X[:100], X[100:]], y), parquet):
        same(make().fit(*held, checkpoint=file, every=5).iterate_, whole.iterate_)


def test_a_longer_run_goes_on_where_its_steps_are_the_same(points, file):
    assert make(n_iter=30).fit(*points, checkpoint=file, every=5).n_iter_ == 30
    changed = 2 * points[0], points[1]
    refused(make(n_iter=40, sigma=0.5), *changed, file, "the visited points differ")


def test_a_file_that_does_not_say_its_data_is_refused(points, tmp_path):
    make().fit(*points).iterate_.save(tmp_path / "old.npz")
    with pytest.raises(ModelError, match=r"old.npz has no record of its data.*choose another file, or delete it$"):
        make().fit(*points, checkpoint=tmp_path / "old.npz")


def test_many_weights_do_not_make_the_file_unreadable(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(2400, 2)), np.arange(2400) % 300
    gamma = tuple(np.random.default_rng(0).random(299))
    given = {"gamma": gamma, "n_iter": 4, "batch_size": 2, "lam": 0.1, "step_size": 0.01}
    make(QS3ORAO, **given).fit(X, y, checkpoint=tmp_path / "run.npz", every=2)
    assert make(QS3ORAO, **given).fit(X, y, checkpoint=tmp_path / "run.npz", every=2).n_iter_ == 4
    refused(make(QS3ORAO, **{**given, "gamma": gamma[::-1]}), X, y, tmp_path / "run.npz", "gamma")


@pytest.fixture(scope="module")
def data(points, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    table = pd.DataFrame(points[0], columns=list("abc")).assign(label=points[1])
    table["other"] = np.where(points[1] < 0, -1, (points[0][:, 1] > 0).astype(int))
    table.to_parquet(folder / "all.parquet", row_group_size=70)
    return folder


def command(data, out, *options, label="label", n_iter=20):
    size = ["--set", f"n_iter={n_iter}", "--set", "n_features=16", "--set", "batch_size=8", "--set", "tol=null"]
    given = [data, "--target", label, "--features", "a,b,c", "--out", out, "--quiet", "--every", 5, *size, *options]
    return ["fit", "QSGS2AUC", *map(str, given)]


@pytest.fixture
def stopped(data, tmp_path, monkeypatch):
    """A folder in which the command was stopped after ten iterations."""
    from dsgcore.solver.checkpoint import Checkpoint

    with monkeypatch.context() as patch:
        interrupt_after(patch, Checkpoint, 10)
        assert main(command(data, tmp_path / "out")) == 130
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("options", "label", "said"),
    [
        ((), "other", "the labels differ"),
        (("--scaling", "none"), "label", "the visited points differ"),
        (("--features", "a,c"), "label", "the visited points differ"),
    ],
)
def test_the_command_does_not_go_on_from_another_run(data, stopped, capsys, options, label, said):
    before = (stopped / "checkpoint.npz").read_bytes()
    assert main(command(data, stopped, *options, label=label)) == 2
    printed = capsys.readouterr().err.splitlines()[-1]
    assert "checkpoint.npz belongs to another run: " in printed
    assert said in printed
    assert (stopped / "checkpoint.npz").read_bytes() == before
    assert main(command(data, stopped)) == 0
    assert len(load_model(stopped / "model.npz")) == 20


@pytest.mark.parametrize(
    ("options", "label", "said"),
    [
        ((), "other", "target was 'label' and is 'other'"),
        (("--features", "a,c"), "label", "features was ['a', 'b', 'c'] and is ['a', 'c']"),
        (("--set", "gamma=0.2"), "label", "gamma was 0.9 and is 0.2"),
    ],
)
def test_a_finished_model_is_replaced_by_the_same_command_alone(data, tmp_path, capsys, options, label, said):
    out = tmp_path / "out"
    assert main(command(data, out)) == 0
    before = (out / "model.npz").read_bytes()
    assert main(command(data, out, *options, label=label)) == 2
    printed = capsys.readouterr().err.splitlines()[-1]
    assert f"{out} holds the model of another run: " in printed
    assert said in printed
    assert "take another folder for --out, or delete" in printed
    assert (out / "model.npz").read_bytes() == before
    assert main(command(data, out)) == 0
    assert (out / "model.npz").read_bytes() == before
    assert json.loads((out / "fit.json").read_text())["target"] == "label"


def test_iterations_of_the_file_are_printed_without_an_objective(points, tmp_path, capsys):
    file = tmp_path / "run.npz"
    make(n_iter=50, verbose=1).fit(*points, checkpoint=file, every=5)
    assert "iteration 50: batch objective" in capsys.readouterr().out
    make(n_iter=50, verbose=1).fit(*points, checkpoint=file, every=5)
    assert "iteration 50: from the checkpoint, change" in capsys.readouterr().out

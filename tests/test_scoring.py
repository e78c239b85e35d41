"""Values at many points: lazy on Dask's collections, and from Parquet files to Parquet files."""

import itertools

import numpy as np
import pandas as pd
import pytest

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.__main__ import main
from dsgcore.cli.predict import write_scores

parquet = pytest.importorskip("pyarrow.parquet")

N, D, GROUP = 2000, 3, 100
SMALL = {"n_iter": 12, "n_features": 16, "batch_size": 16, "random_state": 0, "tol": None}


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D)).astype(np.float32)
    return X, np.where(np.arange(N) < 200, np.digitize(X[:, 0], [-0.5, 0.5]), -1)


@pytest.fixture(scope="module")
def stored(points, tmp_path_factory):
    """A model's file, a folder of two files of ten row groups each, and the model."""
    folder = tmp_path_factory.mktemp("stored")
    X, y = points
    model = QSGS2AUC(**SMALL).fit(X, np.where(y == 2, 1, y))
    model.model_.save(folder / "model.npz")
    (folder / "data").mkdir()
    for number, own in enumerate(np.split(X, 2)):
        file = folder / "data" / f"{number}.parquet"
        pd.DataFrame(own, columns=list("abc")).to_parquet(file, row_group_size=GROUP)
    return folder, model.model_


@pytest.mark.parametrize("cls", [QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU])
def test_estimators_stay_lazy_on_collections_of_dask(points, cls):
    array = pytest.importorskip("dask.array", reason="dask is not installed: pip install dsg-lab[dask]")
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed: pip install dsg-lab[dask]")
    X, y = points
    of_classes = {"y_holds": "classes", "prior": 0.7} if cls is TSGSU else {}
    model = cls(**SMALL, **of_classes).fit(X, y if cls is QS3ORAO else np.where(y == 2, 1, y))
    edges = [0, 700, 701, N]
    pieces = [X[a:b] for a, b in itertools.pairwise(edges)]
    lazy = array.from_array(X, chunks=((700, 1, 1299), (2, 1)))
    table = pd.DataFrame(X).set_index(np.arange(N) + 7)
    tables = frames.from_pandas(table, npartitions=3)
    for method in ("decision_function", "predict"):
        of_pieces = np.concatenate([getattr(model, method)(piece) for piece in pieces])
        made = getattr(model, method)(lazy)
        assert isinstance(made, array.Array)
        assert np.array_equal(made.compute(), of_pieces)
        assert made.dtype == of_pieces.dtype
        assert made.compute().shape == of_pieces.shape
        series = getattr(model, method)(tables)
        assert series.npartitions == 3
        computed = series.compute()
        assert list(computed.index) == list(table.index)
        np.testing.assert_allclose(computed.to_numpy().astype(float), of_pieces.astype(float), atol=1e-4)


def scores(folder):
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"part-{number:06}.parquet" for number in range(len(files))]
    return np.concatenate([parquet.read_table(file).column("score").to_numpy() for file in files])


def predict(folder, out, *options):
    return main(["predict", str(folder / "model.npz"), str(folder / "data"), "--out", str(out), *options])


def test_every_row_group_has_its_file_of_scores(points, stored, tmp_path, capsys):
    folder, model = stored
    assert predict(folder, tmp_path / "out") == 0
    expected = [model.evaluate(points[0][start : start + GROUP]) for start in range(0, N, GROUP)]
    assert np.array_equal(scores(tmp_path / "out"), np.concatenate(expected))
    assert "20 of 20 parts, 20 new" in capsys.readouterr().out
    assert predict(folder, tmp_path / "out") == 0  # nothing is made twice
    assert "20 of 20 parts, 0 new" in capsys.readouterr().out
    assert predict(folder, tmp_path / "other", "--features", "c,b,a", "--quiet") == 0
    turned = np.concatenate([model.evaluate(points[0][start : start + GROUP, ::-1]) for start in range(0, N, GROUP)])
    assert np.array_equal(scores(tmp_path / "other"), turned)


def test_files_that_have_changed_since_the_last_call_are_read_anew(stored, points, tmp_path):
    (data := tmp_path / "data").mkdir()
    for out, (name, n) in enumerate((("0", 50), ("1", 60), ("0", 80))):
        pd.DataFrame(points[0][:n], columns=list("abc")).to_parquet(data / f"{name}.parquet")
        write_scores(stored[0] / "model.npz", data, tmp_path / str(out))
    assert [len(scores(tmp_path / str(out))) for out in range(3)] == [50, 110, 140]


def test_what_cannot_be_done_is_said_in_one_sentence(stored, tmp_path, capsys):
    folder = stored[0]
    assert predict(folder, tmp_path, "--features", "a,b") == 2
    assert "the model needs 3 feature columns, got 2" in capsys.readouterr().err
    (tmp_path / "part-000000.parquet").write_bytes(b"something else")
    assert predict(folder, tmp_path) == 2
    assert "or one that this command has written, but" in capsys.readouterr().err
    assert main(["predict", str(folder / "model.npz"), str(tmp_path / "no"), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("dsg-lab: there is no file or folder")


def test_whole_numbers_with_a_type_for_missing_ones_are_scored_on_dask():
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed: pip install dsg-lab[dask]")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=90), "g": pd.array(rng.integers(0, 4, 90), dtype="Int64")})
    model = QSGS2AUC(**SMALL).fit(table, np.arange(90) % 2)
    lazy = frames.from_pandas(table, npartitions=3)
    np.testing.assert_allclose(model.decision_function(lazy).compute(), model.decision_function(table), atol=1e-5)
    assert len(model.predict(lazy[lazy.a > 0]).compute()) == (table["a"] > 0).sum()

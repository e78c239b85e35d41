"""The commands fit and predict on CSV, LIBSVM and npz files: any method, with classes, scores and kept columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each, some
from sklearn.datasets import dump_svmlight_file

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.__main__ import main
from dsgcore.baselines.everyday import Everyday
from dsgcore.comparing import METHODS
from dsgcore.data.reading import binary

pytest.importorskip("pyarrow")

N = 240
SMALL = {"n_iter": 20, "n_features": 16, "batch_size": 16, "tol": None}
OURS = {"QSGS2AUC": QSGS2AUC, "TSGS3VM": TSGS3VM, "QS3ORAO": QS3ORAO, "PS3VT": PS3VT}
THEIRS = {name: method.estimator for name, method in METHODS.items() if issubclass(method.estimator, Everyday)}


def points(k=2):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N, 3)).round(3)
    y = np.digitize(X[:, 0] + 0.2 * X[:, 1], np.linspace(-1, 1, k + 1)[1:-1])
    return X, np.where(np.arange(N) < 60, y, -1)


def table(k=2):
    X, y = points(k)
    names = np.array([f"class {code}" for code in range(k)], dtype=object)
    labels = np.where(y < 0, "", names[y])
    return pd.DataFrame(X, columns=list("abc")).assign(id=[f"row {i}" for i in range(N)], kind=labels)


def made(method, file, out, *options, ours=None):
    given = SMALL if ours is None else ours
    said = [word for name, value in given.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    assert main(["fit", method, str(file), "--out", str(out), "--quiet", "--scaling", "none", *said, *options]) == 0
    return json.loads((out / "fit.json").read_text())


def scored(model, file, out, *options):
    assert main(["predict", str(model), str(file), "--out", str(out), "--quiet", *options]) == 0
    return pd.concat([pd.read_parquet(part) for part in sorted(out.glob("*.parquet"))], ignore_index=True)


@pytest.mark.parametrize(("method", "mark"), [*((method, ",") for method in (*OURS, *THEIRS)), ("TSGS3VM", ";")])
def test_a_csv_file_leads_to_classes_scores_and_kept_columns(method, mark, tmp_path):
    file, rows = tmp_path / "rows.csv", table(3 if method in ("QS3ORAO", "PS3VT") else 2)
    rows.to_csv(file, index=False, sep=mark)
    ours = {"PS3VT": {"n_iter": 20}}.get(method, SMALL) if method in OURS else {}
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


@pytest.mark.parametrize("ending", ["libsvm", "npz"])
def test_files_without_names_have_their_labels_in_y(ending, tmp_path):
    X, y = points()
    file = tmp_path / f"rows.{ending}"
    if ending == "npz":
        np.savez(file, X=X, y=y)
    else:
        dump_svmlight_file(X, y, str(file), zero_based=False)
    facts = made("QSGS2AUC", file, tmp_path / "model", "--unlabeled", "-1")
    assert facts["features"] == ["x1", "x2", "x3"]
    out = scored(tmp_path / "model", file, tmp_path / "scores")
    model = QSGS2AUC(**SMALL, random_state=0).fit(X, y)
    assert out["class"].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "Forest", "rows.csv", "--target", "kind"], "METHOD must be one of"),
        (["fit", "PS3VT", "rows.csv", "--target", "sort"], "there is no column 'sort'"),
        (["fit", "PS3VT", "rows.npz"], "must hold an array 'X'"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table().to_csv("rows.csv", index=False)
    np.savez("rows.npz", points=np.zeros((3, 2)))
    assert main([*arguments, "--out", "model"]) == 2
    assert sentence in capsys.readouterr().err


def test_a_column_that_is_not_there_cannot_be_kept(tmp_path, capsys):
    table().to_csv(tmp_path / "rows.csv", index=False)
    made("QSGS2AUC", tmp_path / "rows.csv", tmp_path / "model", "--target", "kind", "--features", "a,b,c")
    given = ["predict", str(tmp_path / "model"), str(tmp_path / "rows.csv"), "--out", str(tmp_path / "scores")]
    assert main([*given, "--keep", "town"]) == 2
    assert "there is no column 'town'" in capsys.readouterr().err


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


@each("name", some(OPTIONS, 3))
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


def test_rows_cannot_be_dropped_from_a_table_that_is_not_read_whole(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(binary, "LARGE", 0)
    given = [str(folder), "--target=grade", "--positive=mid", "--missing=drop", "--out", str(tmp_path / "m")]
    assert main(["fit", "TSGS3VM", *given]) == 2
    assert "--missing mean" in capsys.readouterr().err

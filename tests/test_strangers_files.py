"""Files as strangers write them: the same columns are features in every way to read them."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import each, some
from own_tables import read, sniff, sniff_file
from pyarrow import parquet
from sklearn.datasets import dump_svmlight_file

from dsgcore import PS3VT, QSGS2AUC
from dsgcore.__main__ import main
from dsgcore.baselines import EverydayLogisticRegression
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import describe_file
from dsgcore.data.reading import Step, take_steps

N = 60
SMALL = {"n_iter": 4, "n_features": 8, "batch_size": 8, "random_state": 0, "tol": None}


def frame(index=None):
    rng = np.random.default_rng(0)
    label = np.arange(N) % 3 == 0
    table = {"a": rng.normal(size=N), "b": rng.normal(size=N) + label, "label": label.astype(int)}
    return pd.DataFrame(table, index=index)


SHUFFLED = np.random.default_rng(1).permutation(N)
INDEXES = {
    "default": None,
    "shifted": pd.RangeIndex(7, 7 + N),
    "unnamed": SHUFFLED,
    "named": pd.Index(SHUFFLED, name="row of before"),
    "several levels": pd.MultiIndex.from_arrays([SHUFFLED, np.arange(N) % 7], names=["sample", None]),
    "text": pd.Index([f"s{i}" for i in range(N)], name="name"),
    "dates": pd.date_range("2020-01-01", periods=N, name="day"),
    "fractions": pd.Index(np.linspace(0, 1, N), name="position"),
}


def without_metadata(table, path):
    whole = pa.Table.from_pandas(table).replace_schema_metadata(None)
    parquet.write_table(whole, path)


def by_polars(path, column):
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(frame()).with_row_index(column)
    (table.write_parquet if path.suffix == ".parquet" else table.write_csv)(path)


def by_dask(path, table):
    frames = pytest.importorskip("dask.dataframe")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask calls what pandas has deprecated
        parts = frames.from_pandas(table, npartitions=3, sort=False)
        parts.to_parquet(path, compute_kwargs={"scheduler": "synchronous"})


def in_parts(path, table):
    path.mkdir()
    for number, part in enumerate(np.split(np.arange(N), 3)):
        table.iloc[part].reset_index(drop=True).rename_axis("id").reset_index().to_parquet(path / f"{number}.parquet")


def in_one_csv(path):
    parts = [frame().iloc[part].reset_index(drop=True) for part in np.split(np.arange(N), 3)]
    pd.concat(parts).to_csv(path)


def numbered(name, start=0):
    table = frame()
    table.insert(0, name, np.arange(start, start + N))
    return table


NUMBERING = ["id", "ID", "Row", "row_id", "PassengerId", "customer_id", "sampleid", "#", "S.No.", "lfd. Nr.", "rn", ""]
WRITERS = {
    **{f"pandas, {name} index": ("t.parquet", lambda path, index=index: frame(index).to_parquet(path,
        index=None)) for name, index in INDEXES.items()},
    "pandas, index kept": ("t.parquet", lambda path: frame().to_parquet(path, index=True)),
    "pyarrow, without metadata": ("t.parquet", lambda path: without_metadata(frame(SHUFFLED), path)),
    "polars": ("t.parquet", lambda path: by_polars(path, "index")),
    "Dask, unnamed index": ("folder", lambda path: by_dask(path, frame(SHUFFLED))),
    "Dask, named index": ("folder", lambda path: by_dask(path, frame(pd.Index(SHUFFLED, name="place")))),
    "a number that begins again in each part": ("folder", lambda path: in_parts(path, frame())),
    "a number in Parquet": ("t.parquet", lambda path: numbered("ID", 1).to_parquet(path)),
    "CSV, default index": ("t.csv", lambda path: frame().to_csv(path)),
    "CSV, shuffled index": ("t.csv", lambda path: frame(SHUFFLED).to_csv(path)),
    "CSV, drawn with repeats": ("t.csv", lambda path: frame().sample(N, replace=True, random_state=0).to_csv(path)),
    "CSV of CSV": ("t.csv", lambda path: frame().reset_index(names="Unnamed: 0").to_csv(path)),
    "CSV of parts": ("t.csv", in_one_csv),
    "CSV by polars": ("t.csv", lambda path: by_polars(path, "row_nr")),
    "TSV": ("t.tsv", lambda path: frame().to_csv(path, sep="\t", index_label="index")),
    "LIBSVM": ("t.txt", lambda path: dump_svmlight_file(frame()[["a", "b"]], frame().label, str(path))),
    "npz": ("t.npz", lambda path: np.savez(path, X=frame()[["a", "b"]], y=frame().label, id=np.arange(N))),
    **{f"CSV, {name} from {start}": ("t.csv", lambda path, own=(name, start): numbered(*own).to_csv(path,
        index=False)) for name in NUMBERING for start in (0, 1)},
}  # fmt: skip


def features_of_estimator(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = QSGS2AUC(**SMALL).fit(path, "label")
    return list(model.feature_names_in_)


def features_of_fit_command(path):
    import json

    out = path.parent / "out"
    given = ["--target", "label", "--out", str(out), "--quiet", "--set", "n_iter=4", "--set", "n_features=8"]
    assert main(["fit", "QSGS2AUC", str(path), *given]) == 0
    return json.loads((out / "fit.json").read_text())["features"]


def features_of_upload(path):
    *_, (_, points) = take_steps(path.read_bytes(), path.name, Step("look", "binary"))
    return list(points.feature_names)


OF_TABLES = {
    "sniffed": lambda path: list(read(path.read_bytes(), sniff(path.read_bytes(), path.name)).feature_names),
    "describe": lambda path: list(describe_file(path, sniff_file(path)).features.names),
    "upload": features_of_upload,
}
OF_PARQUET = {
    "rows_of": lambda path: list(rows_of(path, "label")[0].names),
    "estimator": features_of_estimator,
    "fit": features_of_fit_command,
}


@each("writer", some(WRITERS, 5))
def test_an_index_is_no_feature_in_whichever_way_its_file_is_read(writer, tmp_path_factory):
    name, write = WRITERS[writer]
    path = tmp_path_factory.mktemp("written") / name
    write(path)
    ways = OF_TABLES if path.is_file() else {}
    if path.suffix in (".parquet", ""):
        ways = {**ways, **OF_PARQUET}
    expected = ["x1", "x2"] if path.suffix in (".txt", ".npz") else ["a", "b"]
    assert {way: read(path) for way, read in ways.items()} == dict.fromkeys(ways, expected)


@pytest.mark.ci
@each("is_indexed", [True, False])
def test_columns_without_names_of_their_own_are_named_as_pandas_does(is_indexed, tmp_path):
    table = frame().set_axis([0, 1, "label"], axis=1)
    table.to_csv(tmp_path / "t.csv", index=is_indexed)
    table.set_axis([0, 1, 2], axis=1).to_csv(tmp_path / "u.csv", index=is_indexed)
    for name in ("t.csv", "u.csv"):
        for features in OF_TABLES.values():
            assert features(tmp_path / name) == ["0", "1"]
        described = describe_file(tmp_path / name, sniff_file(tmp_path / name))
        assert described.class_sizes == {"0": 40, "1": 20}


@each("first", ["5.1,?,0", "5.1,NA,1", "1,2,0", "0.5,1.5,red"])
def test_a_first_row_of_data_names_no_columns(first, tmp_path):
    rows = [first, *(f"{a:.3f},{b:.3f},{'red' if first.endswith('red') else i % 2}" for i, (a, b) in enumerate(VALUES))]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    assert not sniff_file(tmp_path / "t.csv").header


VALUES = np.random.default_rng(2).normal(size=(20, 2))


@each("name", ["x", "time", "position", "grid", "humid", "id"])
def test_a_feature_that_only_looks_like_an_index_stays_one(name, tmp_path):
    values = np.arange(N) % 7 if name == "id" else np.arange(N)
    table = frame()
    table.insert(0, name, values)
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv", index=False)
    assert features_of_upload(tmp_path / "t.csv") == [name, "a", "b"]
    assert list(rows_of(tmp_path / "t.parquet", "label")[0].names) == [name, "a", "b"]


def test_an_index_that_a_person_names_is_used(tmp_path, capsys):
    path, csv = tmp_path / "t.parquet", tmp_path / "t.csv"
    frame(pd.Index(SHUFFLED, name="place")).to_parquet(path)
    frame().to_csv(csv, index_label="id")
    rows, _ = rows_of(path, "label", features=["place", "a"])
    assert rows.names == ("place", "a")
    assert np.array_equal(rows[:][:, 0], SHUFFLED)
    rows, labels = rows_of(path, "place")
    assert sorted(set(labels))[:2] == ["bin 1 (from 0)", "bin 2 (from 12)"]
    assert "The label 'place' was cut into 5 bins of about equally many rows." in rows.guesses
    assert main(["data", "describe", str(csv), "--features", "id,b"]) == 0
    assert "2 features" in capsys.readouterr().out
    assert sniff_file(csv, features=["id", "b"]).to_dict()["roles"] == {"label": "label", "a": "ignore"}
    content = csv.read_bytes()
    assert read(content, sniff_file(csv, features=["id"])).X[:, 0].tolist() == list(range(N))


def test_an_index_that_is_left_out_is_said(tmp_path, capsys):
    path, csv = tmp_path / "t.parquet", tmp_path / "t.csv"
    numbered("id").to_parquet(path)
    numbered("id").to_csv(csv, index=False)
    said = "'id' names or numbers the rows, so it is no feature"
    given = ["--target", "label", "--out", str(tmp_path / "out"), "--quiet", "--set", "n_iter=2"]
    assert main(["fit", "QSGS2AUC", str(path), *given]) == 0
    assert said in capsys.readouterr().err
    for file in (path, csv):
        assert main(["data", "describe", str(file)]) == 0
        assert said in capsys.readouterr().out
        assert said in " ".join(read(file.read_bytes(), sniff(file.read_bytes(), file.name)).report)
    with pytest.warns(UserWarning, match=said):
        QSGS2AUC(**SMALL).fit(path, "label")


@each("column", ["b", "label"])
def test_a_column_that_only_some_files_have_is_named_with_the_file(column, tmp_path):
    frame().to_parquet(tmp_path / "0.parquet")
    frame().drop(columns=column).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(DataError, match=f"1.parquet has no column '{column}', and another file has"):
        rows_of(tmp_path, "label")


def test_a_label_may_be_the_index(tmp_path):
    frame().set_index("label").to_parquet(tmp_path / "t.parquet")
    found = {way: read(tmp_path / "t.parquet") for way, read in (OF_TABLES | OF_PARQUET).items()}
    assert all(features == ["a", "b"] for features in found.values()), found


def test_a_model_predicts_files_with_another_index_or_none(tmp_path):
    for name, index in INDEXES.items():
        frame(index).to_parquet(tmp_path / f"{name}.parquet")
    given = ["--target", "label", "--out", str(tmp_path / "out"), "--quiet", "--scaling", "unit", "--set", "n_iter=2"]
    assert main(["fit", "QSGS2AUC", str(tmp_path / "named.parquet"), *given]) == 0
    scores = []
    for name in INDEXES:
        to = tmp_path / f"scores of {name}"
        places = [str(tmp_path / "out"), str(tmp_path / f"{name}.parquet"), "--out", str(to)]
        assert main(["predict", *places, "--quiet"]) == 0
        scores.append(pd.read_parquet(to)["score"].to_numpy())
    assert all(np.array_equal(one, scores[0]) for one in scores)


MODELS = {
    "QSGS2AUC": QSGS2AUC(**SMALL),
    "PS3VT": PS3VT(n_iter=20, tol=None),
    "EverydayLogisticRegression": EverydayLogisticRegression(),
}


@each("name", MODELS)
def test_columns_in_another_order_are_refused_wherever_the_rows_are(name, tmp_path):
    frame().to_parquet(tmp_path / "t.parquet")
    frame()[["b", "a", "label"]].to_parquet(tmp_path / "u.parquet")
    (rows, labels), (others, _) = rows_of(tmp_path / "t.parquet", "label"), rows_of(tmp_path / "u.parquet", "label")
    model = MODELS[name].fit(rows, labels)
    assert list(model.feature_names_in_) == ["a", "b"]
    table = frame()[["a", "b"]].astype("float64")
    assert np.array_equal(model.predict(rows), model.predict(table))
    for points in (others, table[["b", "a"]], table.rename(columns={"a": "c"}), table[["a"]]):
        for use in (model.predict, lambda X: model.score(X, labels)):
            with pytest.raises(ValueError, match="feature names should match"):
                use(points)
    if name == "QSGS2AUC":
        with pytest.raises(ValueError, match="feature names should match"):
            model.partial_fit(others, labels)
        assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(DataError, match=r"X must hold points, got the path .*: give dsgcore.data.rows_of"):
        model.predict(tmp_path / "t.parquet")

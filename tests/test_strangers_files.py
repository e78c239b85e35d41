"""Files as strangers write them: the same columns are features in every way to read them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cases import each
from sklearn.datasets import dump_svmlight_file

from dsgcore import PS3VT, QSGS2AUC
from dsgcore.__main__ import main
from dsgcore.baselines import EverydayLogistic
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import convert_file, describe_file, sniff_file
from dsgcore.data.reading import Step, read, sniff, take_steps

pa = pytest.importorskip("pyarrow")
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
    pa.parquet.write_table(whole, path)


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
    **{
        f"pandas, {name} index": ("t.parquet", lambda path, index=index: frame(index).to_parquet(path, index=None))
        for name, index in INDEXES.items()
    },
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
    **{
        f"CSV, {name} from {start}": ("t.csv", lambda path, own=(name, start): numbered(*own).to_csv(path, index=False))
        for name in NUMBERING
        for start in (0, 1)
    },
}


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
    *_, (_, points) = take_steps(path.read_bytes(), path.name, Step("sniff", "binary"))
    return list(points.feature_names)


OF_TABLES = {
    "sniffed": lambda path: list(read(path.read_bytes(), sniff(path.read_bytes(), path.name)).feature_names),
    "describe": lambda path: list(describe_file(path, sniff_file(path)).looked.features.names),
    "upload": features_of_upload,
}
OF_PARQUET = {
    "rows_of": lambda path: list(rows_of(path, "label")[0].names),
    "estimator": features_of_estimator,
    "fit": features_of_fit_command,
}


@each("writer", WRITERS)
def test_an_index_is_no_feature_in_whichever_way_its_file_is_read(writer, tmp_path_factory):
    name, write = WRITERS[writer]
    path = tmp_path_factory.mktemp("written") / name
    write(path)
    ways = OF_TABLES if path.is_file() else {}
    if path.suffix in (".parquet", ""):
        ways = {**ways, **OF_PARQUET}
    expected = ["x1", "x2"] if path.suffix in (".txt", ".npz") else ["a", "b"]
    assert {way: read(path) for way, read in ways.items()} == dict.fromkeys(ways, expected)


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
    assert rows_of(path, "place")[1].tolist() == SHUFFLED.tolist()
    assert main(["data", "describe", str(csv), "--features", "id,b"]) == 0
    assert "2 features" in capsys.readouterr().out
    assert sniff_file(csv, features=["id", "b"]).to_dict()["roles"] == {"label": "label", "a": "ignore"}
    converted = convert_file(csv, tmp_path / "out", sniff_file(csv, features=["id"]))
    assert np.load(converted.points)[:, 0].tolist() == list(range(N))


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
    with pytest.raises(DataError, match=f"1.parquet has no column '{column}', and the first file has"):
        rows_of(tmp_path, "label")


def test_a_label_may_be_the_index(tmp_path):
    frame().set_index("label").to_parquet(tmp_path / "t.parquet")
    found = {way: read(tmp_path / "t.parquet") for way, read in (OF_TABLES | OF_PARQUET).items()}
    assert all(features == ["a", "b"] for features in found.values()), found


@each("name", ["t.csv", "t.npz"])
def test_what_is_no_parquet_file_is_refused_in_a_sentence_of_ours(name, tmp_path):
    frame().to_csv(tmp_path / name)
    said = f"{name} cannot be read: it is no Parquet file, so save the table as one"
    with pytest.raises(DataError, match=said):
        QSGS2AUC().fit(tmp_path / name, "label")


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


MODELS = {"QSGS2AUC": QSGS2AUC(**SMALL), "PS3VT": PS3VT(n_iter=20, tol=None), "EverydayLogistic": EverydayLogistic()}


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


def test_an_index_of_a_dask_table_that_was_reset_is_no_feature():
    frames = pytest.importorskip("dask.dataframe")
    table = frames.from_pandas(frame(), npartitions=3).reset_index()
    rows, _ = rows_of(table, "label")
    assert rows.names == ("a", "b")
    assert rows_of(table, "label", features=["index", "a"])[0].names == ("index", "a")


@each("wrong", ["lable", "Label", "outcome"])
def test_a_wrong_label_is_named_with_those_that_there_are(wrong, tmp_path, capsys):
    path, csv = tmp_path / "t.parquet", tmp_path / "t.csv"
    table = frame().assign(town="x")
    table.to_parquet(path)
    table.to_csv(csv, index=False)
    hint = "" if wrong == "outcome" else r" \(did you mean 'label'\?\)"
    said = rf"there is no column '{wrong}'{hint}: the table has 'a', 'b', 'label', 'town'"
    with pytest.raises(DataError, match=said):
        rows_of(path, wrong)
    with pytest.raises(DataError, match=said):
        QSGS2AUC().fit(path, wrong)
    with pytest.raises(DataError, match=said):
        sniff_file(csv, target=wrong)
    assert main(["fit", "QSGS2AUC", str(path), "--target", wrong, "--out", str(tmp_path / "out")]) == 2
    assert "did you mean" in (errors := capsys.readouterr().err) or wrong == "outcome"
    assert errors.count("\n") == 1
    frames = pytest.importorskip("dask.dataframe")
    with pytest.raises(DataError, match=said):
        rows_of(frames.from_pandas(table, npartitions=2), wrong)


def csv_of(cells, decimal="."):
    delimiter = "," if decimal == "." else ";"
    rows = [delimiter.join((f'"{cell}"', str(i % 7), "xy"[i % 2])) for i, cell in enumerate(cells)]
    return "\n".join([delimiter.join(("price", "b", "label")), *rows]).encode()


WRITTEN = {
    "(1.5)": -1.5,
    "( 1.5 )": -1.5,
    "12 %": 0.12,
    "12%": 0.12,
    "(12 %)": -0.12,
    "(12) %": -0.12,
    "（3）": -3.0,
    "−3.5": -3.5,
    "–3": -3.0,
    "1e−3": 0.001,
    "-2": -2.0,
}


@each("cell", WRITTEN)
@each("decimal", [".", ","])
@each("share", [1, 3, 20])
def test_brackets_per_cent_and_unicode_minus_are_read_as_numbers(cell, decimal, share):
    cells = [cell if i % share == 0 else f"{i}.25" for i in range(40)]
    content = csv_of([one.replace(".", decimal) for one in cells], decimal)
    data = read(content, sniff(content, "t.csv"))
    assert data.feature_names == ("price", "b")
    is_adorned = cell.endswith(("%", ")", "）"))
    assert any(f"is read as {WRITTEN[cell]:g}" in sentence for sentence in data.report) == is_adorned
    expected = [WRITTEN[cell] if i % share == 0 else i + 0.25 for i in range(40)]
    np.testing.assert_allclose(data.X[:, 0], expected, rtol=1e-6)
    content = csv_of([f"({1 + i % 9},{100 + i}.50)" for i in range(40)])  # thousands in brackets
    assert read(content, sniff(content, "t.csv")).X[0, 0] == -1100.5


@each("n_bad", [1, 9, 19])
@each("word", ["#DIV/0!", "#REF!", "#WERT!", "Err:502", "unknown"])
@each("decimal", [".", ","])
def test_a_column_that_is_mostly_numbers_is_refused_with_its_mistakes(n_bad, word, decimal, tmp_path, capsys):
    cells = [word if 2 <= i < 2 + n_bad else f"{i}{decimal}5" for i in range(40)]
    content = csv_of(cells, decimal)
    several = f", the first of {n_bad} cells that are no numbers" if n_bad > 1 else ""
    error = "" if word == "unknown" else " (a spreadsheet's error)"
    said = f"column 'price' must hold numbers, got '{word}'{error} in row 3{several}: correct "
    with pytest.raises(DataError) as caught:
        read(content, sniff(content, "t.csv"))
    assert str(caught.value).startswith(said)
    if n_bad > 1:
        return
    (tmp_path / "t.csv").write_bytes(content)
    assert main(["data", "describe", str(tmp_path / "t.csv")]) == 2
    assert said in capsys.readouterr().err
    for remedy in (["--missing-words", word], ["--drop", "price"], ["--category", "price"]):
        assert main(["data", "describe", str(tmp_path / "t.csv"), *remedy]) == 0


def test_numbers_that_often_have_letters_before_them_are_no_numbers_with_mistakes():
    content = csv_of([f"A/{i} {i * 37}" if i % 4 == 0 else str(i * 1013) for i in range(200)])
    recipe = sniff(content, "t.csv")
    assert recipe.role("price") == "ignore"
    assert "1 column is ignored: 'price' (text, such as 'A/0 0')." in read(content, recipe).report


def test_mistakes_are_counted_in_the_whole_file_whatever_its_pieces(tmp_path):
    content = csv_of(["bad" if i % 1000 == 999 else f"{i}.5" for i in range(45_000)])
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match="got 'bad' in row 1000, the first of 45 cells that are no numbers"):
        convert_file(tmp_path / "t.csv", tmp_path / "out", sniff_file(tmp_path / "t.csv"))


@each("word", ["NA", "n/a", "<NA>", "null", "#N/A", "NaN", "None", "?", " NA "])
@each("kind", ["csv", "parquet", "npz"])
def test_words_that_mean_missing_are_the_same_in_every_format_and_said(word, kind, tmp_path, capsys):
    table = frame().astype({"label": object})
    table["label"] = np.where(np.arange(N) % 4 == 0, word, np.where(table.label == 1, "x", "y"))
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    elif kind == "parquet":
        table.to_parquet(path)
    else:
        np.savez(path, X=table[["a", "b"]], y=table.label.to_numpy().astype(str))
    assert main(["data", "describe", str(path)]) == 0
    printed = capsys.readouterr().out
    name = "y" if kind == "npz" else "label"
    assert f"Read as missing: 15 cells '{word.strip()}' (in '{name}')" in printed
    assert "2 classes" in printed
    assert main(["data", "describe", str(path), "--missing-words", "-"]) == 0
    assert "3 classes" in capsys.readouterr().out
    if kind == "parquet":
        rows, labels = rows_of(path, "label")
        assert set(labels.tolist()) == {"x", "y", -1}
        assert rows.notes == (f"Read as missing: 15 cells '{word.strip()}' (in 'label').",)
        assert len(set(rows_of(path, "label", missing_words=())[1].tolist())) == 3
        with pytest.warns(UserWarning, match="Read as missing: 15 cells"):
            QSGS2AUC(**SMALL).fit(path, "label")


def test_a_number_can_mean_missing_in_every_format(tmp_path):
    table = frame().assign(b=np.where(np.arange(N) % 5 == 0, -999, np.arange(N)))
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    described = [describe_file(path, sniff_file(path, missing_words=["-999"])) for path in tmp_path.iterdir()]
    assert [one.looked.missing["b"] for one in described] == [12, 12]


def decimals():
    from decimal import Decimal

    table = frame()
    price = pa.array([Decimal(i) / 4 for i in range(N)], pa.decimal128(12, 2))
    return pa.table({"price": price, "a": table.a, "label": table.label})


def test_decimals_and_true_and_false_are_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    flags = pa.array([None if i == 3 else i % 2 == 0 for i in range(N)])
    pa.parquet.write_table(decimals().append_column("flag", flags), path)
    rows, _ = rows_of(path, "label", missing="mean")
    data = read(path.read_bytes(), sniff(path.read_bytes(), path.name))
    assert rows.names == data.feature_names == ("price", "a", "flag")
    np.testing.assert_allclose(rows[:], data.X, rtol=1e-6)


def nested():
    table = decimals()
    lists = pa.array([[1.0, 2.0]] * N)
    table = table.append_column("emb", lists).append_column("s", pa.array([{"u": 1}] * N))
    return table.append_column("town", pa.array(["x", "y"] * (N // 2)))


def test_columns_that_are_no_numbers_are_named_with_what_they_hold(tmp_path, capsys):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(nested(), path)
    with pytest.raises(DataError) as caught:
        rows_of(path, "label")
    said = "3 columns hold no numbers, 'emb' (lists or other nested values), 's' (structs), 'town' (text or bytes): make them"
    assert said in str(caught.value)
    assert rows_of(path, "label", drop=["emb", "s", "town"])[0].names == ("price", "a")
    given = ["--target", "label", "--out", str(tmp_path / "out"), "--quiet", "--set", "n_iter=2"]
    drop = [word for name in ("emb", "s", "town") for word in ("--drop", name)]
    assert main(["fit", "QSGS2AUC", str(path), *given, *drop]) == 0
    assert main(["data", "describe", str(path)]) == 0
    assert "'emb' (lists or other nested values)" in capsys.readouterr().out
    pa.parquet.write_table(nested().select(["emb", "s", "label"]), path)
    assert main(["data", "describe", str(path)]) == 2
    assert "no column of features is left: besides the label, the table has 'emb' (lists" in capsys.readouterr().err


@each(
    "line, said",
    [
        ("1:0.5 2:{i}", "line 1 must begin with one number as its label, got '1:0.5', an index:value pair"),
        (" 1:0.5 2:{i}", "line 1 must begin with one number as its label, got '1:0.5', an index:value pair"),
        ("1,3 1:0.5 2:{i}", "line 1 must begin with one number as its label, got '1,3', several labels"),
        ("cat 1:0.5 2:{i}", "line 1 must begin with one number as its label, got 'cat': number the classes"),
    ],
)
def test_sparse_text_without_one_label_a_line_names_the_line_and_the_cell(line, said, tmp_path, capsys):
    path = tmp_path / "t.txt"
    path.write_text("\n".join(line.format(i=i) for i in range(N)))
    with pytest.raises(DataError, match=said):
        sniff(path.read_bytes(), path.name)
    assert main(["data", "describe", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_an_infinite_number_is_not_told_to_be_replaced_by_the_mean(tmp_path):
    table = frame()
    table.loc[41, "b"] = np.inf
    table.to_parquet(tmp_path / "t.parquet")
    for missing in (None, "mean"):
        with pytest.raises(DataError, match=r"infinite or too large for float64 in row 42, column 'b': correct it"):
            rows_of(tmp_path / "t.parquet", "label", missing=missing, scaling="unit")
    with pytest.raises(DataError, match=r"a number that is infinite.*row 42, column 'b'"):
        rows_of(tmp_path / "t.parquet", "label")[0][:]
    table.loc[41, "b"] = np.nan
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"NaN, a missing number .*--missing mean.*row 42, column 'b'"):
        rows_of(tmp_path / "t.parquet", "label")[0][:]
    with pytest.raises(DataError, match="numbers are missing, the first in row 42, column 'b'"):
        rows_of(tmp_path / "t.parquet", "label", scaling="unit")


def test_libsvm_text_with_a_byte_order_mark_is_read_and_in_utf_16_is_refused(tmp_path):
    text, file = "".join(f"{i % 2} 1:{i} 2:{2 * i}\n" for i in range(20)), tmp_path / "points.txt"
    file.write_text(text, encoding="utf-8-sig")
    read_ = describe_file(file, sniff_file(file)).looked
    assert tuple(read_.features.names) == ("x1", "x2")
    file.write_text(text, encoding="utf-16")
    with pytest.raises(DataError, match="LIBSVM text must be in UTF-8, and this file is in utf-16: save it as UTF-8"):
        sniff_file(file)

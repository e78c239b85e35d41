"""Labels of strangers' files: the same classes, and the same rows without a label, by every way in."""

import json
from itertools import product
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd
import polars
import pytest
from cases import each, some
from opened_pages import errors, run_of
from own_tables import read, sniff, sniff_file
from sklearn.datasets import dump_svmlight_file
from strangers_labels import (
    BIG,
    CASES,
    IN_PARQUET,
    SMALL,
    WRITERS,
    Case,
    N,
    frame_of,
    names,
    written,
)
from test_data_page import written as shown_text
from test_file_on_pages import give, open_own

from dsgcore import QS3ORAO, TSGS3VM
from dsgcore.__main__ import main
from dsgcore.core.errors import DSGError
from dsgcore.data import rows_of
from dsgcore.data.converting import convert_file, describe_file
from dsgcore.data.reading.unlabeled import unlabeled_among
from dsgcore.estimators.inputs import encode


def found_in(labels):
    """Return the classes in the result of `rows_of`, and the number of rows without a label."""
    classes, codes = encode(labels)
    return names(classes), int(np.sum(codes < 0))


def by_description(path):
    described = describe_file(path, sniff_file(path))
    return tuple(sorted(described.class_sizes)), N - sum(described.class_sizes.values())


def by_upload(path):
    content = path.read_bytes()
    dataset = read(content, sniff(content, path.name, labels="classes"), name=path.name, labels="classes")
    return tuple(sorted(name.removeprefix("'") for name in dataset.class_names)), int(np.sum(dataset.y < 0))


def by_conversion(path):
    made = Path(mkdtemp(dir=path.parent))
    convert_file(path, made, recipe := sniff_file(path))
    unlabeled = recipe.unlabeled  # LIBSVM's signs are not in a table
    described = describe_file(made, sniff_file(made, unlabeled=unlabeled))
    return tuple(sorted(described.class_sizes)), N - sum(described.class_sizes.values())


def by_rows(path):
    return found_in(rows_of(path, "label")[1])


def by_fit(path):
    model = TSGS3VM(**SMALL).fit(path, "label")
    return names(model.classes_), by_rows(path)[1]


def by_command(path):
    out = path.parent / "out"
    given = [word for name in ("n_iter", "n_features", "batch_size") for word in ("--set", f"{name}={SMALL[name]}")]
    assert main(["fit", "TSGS3VM", str(path), "--target", "label", "--out", str(out), "--quiet", *given]) == 0
    return names(json.loads((out / "fit.json").read_text())["classes"]), by_rows(path)[1]


def by_dask(path):
    dask = pytest.importorskip("dask.dataframe")
    return found_in(rows_of(dask.from_pandas(pd.read_parquet(path), npartitions=3), "label")[1])


READERS = {"csv": (by_description, by_upload, by_conversion)}
READERS["parquet"] = (*READERS["csv"], by_rows, by_fit, by_command)


@pytest.mark.parametrize(("writer", "ending"), some(product(WRITERS, READERS), 1, 2))
def test_files_have_the_same_classes_by_every_way_in(tmp_path_factory, writer, ending):
    for name, case in (CASES | (IN_PARQUET if (writer, ending) == ("pyarrow", "parquet") else {})).items():
        path = written(frame_of(case), tmp_path_factory.mktemp("written"), writer, ending)
        # One writer is enough to see that a fit and the command take what `rows_of` reads.
        for reader in READERS[ending] if writer == "pyarrow" else READERS[ending][:4]:
            assert reader(path) == (case.classes, case.unlabeled * N // len(case.labels)), (name, reader.__name__)


@each("ending", READERS)
def test_an_infinite_label_is_refused_in_a_sentence(tmp_path, ending):
    path = written(frame_of(Case((np.inf, 0.0, 1.0), (), 0)), tmp_path, "pandas", ending)
    for reader in READERS[ending][:-1]:
        with pytest.raises(DSGError, match=r"infinite|finite numbers, got inf"):
            reader(path)


ORDERED = pd.Series(pd.Categorical(["mid", "low", "high"] * 20, ["low", "mid", "high", "none"], ordered=True))


@each("writer", WRITERS)
def test_ordered_categories_of_files_keep_their_order(tmp_path, writer):
    frame = frame_of(Case((0, 1), (), 0)).assign(label=ORDERED)
    path = tmp_path / "table.parquet"
    if writer == "polars":  # of which pandas' type makes categories without an order
        enum = polars.Series(ORDERED.tolist(), dtype=polars.Enum(["low", "mid", "high", "none"]))
        polars.from_pandas(frame.drop(columns="label")).with_columns(label=enum).write_parquet(path)
    else:
        WRITERS[writer](frame, path)
    assert sniff_file(path, "ordinal").order == ("low", "mid", "high")
    assert encode(rows_of(path, "label")[1], is_ordered=True)[0].tolist() == ["low", "mid", "high"]
    assert QS3ORAO(**SMALL).fit(path, "label").classes_.tolist() == ["low", "mid", "high"]


@each("case", [case for case in CASES if "large" not in case and "beyond" not in case])
def test_dask_has_the_same_classes(tmp_path, case):
    wanted = CASES[case].classes, CASES[case].unlabeled * N // len(CASES[case].labels)
    assert by_dask(written(frame_of(CASES[case]), tmp_path, "pandas", "parquet")) == wanted


def test_large_numbers_that_dask_has_made_floats_are_refused(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    frame = frame_of(CASES["large and missing"])
    exact = rows_of(dask.from_pandas(frame, npartitions=2), "label")[1]
    assert found_in(exact) == (CASES["large and missing"].classes, N // 3)
    floats = dask.from_pandas(frame.astype({"label": "float64"}), npartitions=2)
    with pytest.raises(DSGError, match=r"exact labels, got the float 9007199254740992.* give integers"):
        rows_of(floats, "label")


@each("labels", [(-1, 0, 1), (-1, 1), (BIG, BIG + 2, -1), (BIG + 1, BIG + 3)])
def test_svmlight_text_and_archives_have_the_same_classes(tmp_path, labels):
    y = np.resize(labels, N)
    X = np.random.default_rng(0).normal(size=(N, 2))
    has_unlabeled = len(labels) == 3
    wanted = tuple(sorted(str(one) for one in labels if not has_unlabeled or one != -1)), N // 3 * has_unlabeled
    np.savez(tmp_path / "table.npz", X=X, y=y)
    lines = [f"{label} 1:{a} 2:{b}" for label, (a, b) in zip(y, X, strict=True)]
    (tmp_path / "table.svm").write_text("\n".join(lines) + "\n")
    for name in ("table.npz", "table.svm"):
        for reader in READERS["csv"]:
            assert reader(tmp_path / name) == wanted, (name, reader.__name__)


def test_zero_is_unlabeled_beside_plus_one_and_minus_one_as_svmlight_writes_them(tmp_path):
    path = tmp_path / "signed.svm"
    path.write_text("".join(f"{('+1', '-1', '0')[i % 3]} 1:{i} 2:{i * i % 7}\n" for i in range(N)))
    assert by_description(path) == by_upload(path) == by_conversion(path) == (("-1", "1"), N // 3)
    with (tmp_path / "plain.svm").open("wb") as file:
        X = np.random.default_rng(0).normal(size=(N, 2))
        dump_svmlight_file(X, np.resize([-1, 0, 1], N), file, zero_based=False)
    assert by_description(tmp_path / "plain.svm") == (("0", "1"), N // 3)


@pytest.mark.parametrize(
    ("unlabeled", "classes", "n"), [("none", ("-1", "0", "1"), 0), ("0", ("-1", "1"), 20), ("-1", ("0", "1"), 20)]
)
def test_one_option_says_otherwise_everywhere(tmp_path, capsys, unlabeled, classes, n):
    path = written(frame_of(CASES["-1 beside two"]), tmp_path, "pandas", "parquet")
    assert found_in(rows_of(path, "label", unlabeled=unlabeled)[1]) == (classes, n)
    content, recipe = path.read_bytes(), sniff_file(path, unlabeled=unlabeled)
    dataset = read(content, recipe, name="table.parquet", labels="classes")
    assert (dataset.class_names, int(np.sum(dataset.y < 0))) == (classes, n)
    assert main(["data", "describe", str(path), "--unlabeled", unlabeled]) == 0
    assert f"{len(classes)} classes" in capsys.readouterr().out
    fit = ["fit", "QS3ORAO", str(path), "--target", "label", "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*fit, "--set", "n_iter=10", "--unlabeled", unlabeled]) == 0
    assert names(json.loads((tmp_path / "out" / "fit.json").read_text())["classes"]) == classes


def test_rows_of_a_file_have_the_classes_of_the_reader(tmp_path):
    (tmp_path / "t.csv").write_text("x,label\n" + "".join(f"{i},{('Yes', 'YES', 'no')[i % 3]}\n" for i in range(N)))
    assert by_rows(tmp_path / "t.csv") in ((("YES", "no"), 0), (("Yes", "no"), 0))
    (tmp_path / "t.svm").write_text("".join(f"{i % 2} 1:{i} 2:{i % 5}\n" for i in range(N)))
    assert rows_of(tmp_path / "t.svm", "label")[1].tolist() == [i % 2 for i in range(N)]
    (tmp_path / "w.csv").write_text("x,label\n" + "".join(f"{i},{('a', 'b', 'unlabeled')[i % 3]}\n" for i in range(N)))
    for reader in (by_description, by_upload, by_rows):
        assert reader(tmp_path / "w.csv") == (("a", "b"), N // 3)


def test_what_is_taken_for_unlabeled_is_said(tmp_path, capsys):
    path = written(frame_of(CASES["-1 beside two"]), tmp_path, "pandas", "parquet")
    said = "The label '-1' beside other labels is taken for “not labeled”"
    assert said in " ".join(rows_of(path, "label")[0].notes)
    assert any(said in sentence for sentence in read(path.read_bytes(), sniff_file(path), labels="classes").report)
    fit = ["fit", "TSGS3VM", str(path), "--target", "label", "--out", str(tmp_path / "o"), "--set", "n_iter=5"]
    assert main(fit) == 0
    assert said in capsys.readouterr().err


@each("said, unlabeled", [
    (("-1", "0", "1"), {"-1"}),
    (("-1", "1"), set()),
    (("-2", "-1", "0"), set()),
    (("-1.0", "a", "b"), {"-1.0"}),
    (("\N{MINUS SIGN}1", "a", "b"), {"\N{MINUS SIGN}1"}),
    (("unlabeled", "a", "b"), {"unlabeled"}),
    (("Not labelled", "-1", "0", "1"), {"Not labelled", "-1"}),
    (("no label", "-1", "1"), {"no label"}),
    (("unlabeled", "a"), set()),
])  # fmt: skip
def test_the_rule_for_files(said, unlabeled):
    assert unlabeled_among(said) == unlabeled
    assert unlabeled_among(said, "none") == unlabeled_among(said, None) == frozenset()
    assert not unlabeled_among(said, classes=said)


@each("ending", ["csv", "parquet"])
def test_pair_numbers_of_files_stay_apart_beside_missing_ones(tmp_path, ending):
    pair = pd.array([BIG, BIG, BIG + 1, BIG + 1, *[None] * (N - 4)], dtype="Int64")
    frame = frame_of(Case((0, 1), ("0", "1"), 0)).assign(pair=pair)
    path = written(frame, tmp_path, "pandas", ending)
    content = path.read_bytes()
    dataset = read(content, sniff(content, path.name, labels="pairs"), name=path.name, labels="pairs")
    assert dataset.pairs[:5].tolist() == [0, 0, 1, 1, -1]


def test_labels_of_a_file_whose_class_is_minus_one_are_learned_and_scored(tmp_path):
    path = written(frame_of(CASES["-1, one other, and missing"]), tmp_path, "pandas", "parquet")
    rows, labels = rows_of(path, "label")
    assert isinstance(labels, np.ma.MaskedArray)
    model = TSGS3VM(**SMALL).fit(rows, labels)
    assert model.classes_.tolist() == [-1, 1]
    X = pd.read_parquet(path)[["a", "b"]]
    given = np.asarray(labels)[~labels.mask]
    assert model.score(X, labels) == np.mean(model.predict(X)[~labels.mask] == given)
    assert set(model.predict(X)) <= {-1, 1}


def test_labels_of_an_archive_that_float32_may_have_made_equal_are_refused(tmp_path):
    y = (np.arange(20) % 2 + 2**24).astype(np.float32)
    np.savez(tmp_path / "a.npz", X=np.arange(40.0).reshape(20, 2), y=y)
    with pytest.raises(
        DSGError, match="'y' must hold exact labels, got the float 16777216: float32 skips whole numbers"
    ):
        describe_file(tmp_path / "a.npz")


def test_long_labels_that_are_cut_to_the_same_name_stay_two_classes_with_two_names(tmp_path):
    pair = ("x" * 120 + "a", "x" * 120 + "b")
    file = tmp_path / "t.csv"
    pd.DataFrame({"x": np.arange(40.0), "label": [pair[i % 2] for i in range(40)]}).to_csv(file, index=False)
    content = file.read_bytes()
    table = read(content, sniff(content, file.name, labels="classes"), name=file.name, labels="classes")
    assert len(set(table.class_names)) == 2
    assert len(set(table.y)) == 2


# --- strangers' labels on the pages: the unlabeled points are named, with a switch and the true counts


def table(labels, n=240):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return pd.DataFrame(X, columns=["a", "b"]).assign(label=labels).to_csv(index=False).encode()


def test_minus_one_beside_two_classes_is_unlabeled_and_a_switch_says_otherwise():
    app = give(open_own(**{"solver.n_iter": "5"}), "table.csv", table(np.resize([-1, 0, 1], 240)))
    assert errors(app) == []
    split = run_of(app).split
    assert split.class_names == ("0", "1")
    assert (np.concatenate([split.y_hidden, split.y_test]) == -1).sum() == 80
    said = shown_text(app).replace("\\", "")
    assert "The label '-1' beside other labels is taken for “not labeled”" in said
    assert "80 rows without a label" in said
    switch = next(box for box in app.text_input if box.label == "A label that means “not labeled”")
    assert switch.value == "auto"
    switch.set_value("none").run()
    assert not app.exception
    assert "240 rows, 2 features, 2 classes: not" in shown_text(app).replace("\\", "")
    assert "without a label" not in shown_text(app)

"""Labels as strangers write them: the same classes, and the same rows without a label, by every way in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import each
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.__main__ import main
from dsgcore.baselines import LRCMC, PNUAUC, SSMC, EverydayLogistic, EverydayOrdinalSVC, LinearMC
from dsgcore.core.errors import DSGError
from dsgcore.data import load_npz, rows_of
from dsgcore.data.converting import convert_file, describe_file, sniff_file
from dsgcore.data.reading import read, sniff
from dsgcore.data.reading.unlabeled import UnlabeledWarning, labels_given, unlabeled_among
from dsgcore.estimators.inputs import encode
from dsgcore.estimators.pairs import pair_ids
from dsgcore.model_selection import LabeledFolds, accuracy, auc_score

pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
N, BIG, LARGE = 60, 2**53, 2**63
SMALL = {"n_iter": 12, "n_features": 16, "batch_size": 16, "tol": None, "random_state": 0}


@dataclass(frozen=True)
class Case:
    """Labels of rows in order, with the classes as written, and the number of rows without a label."""

    labels: tuple[Any, ...]
    classes: tuple[str, ...]
    unlabeled: int  # of so many labels
    kind: str | None = None  # pandas' type


CASES = {
    "-1 beside two": Case((-1, 0, 1), ("0", "1"), 1),
    "-1 and one other": Case((-1, 1), ("-1", "1"), 0),
    "-1, one other, and missing": Case((-1, 1, None), ("-1", "1"), 1, "Int64"),
    "-1 beside text": Case(("ham", "-1", "spam"), ("ham", "spam"), 1),
    "text and missing": Case(("ham", None, "spam"), ("ham", "spam"), 1),
    "-1, missing and two": Case((0, 1, -1, None), ("0", "1"), 2, "Int64"),
    "floats and missing": Case((0.0, 1.0, None), ("0", "1"), 1, "Float64"),
    "large and missing": Case((BIG, BIG + 1, None), (str(BIG), str(BIG + 1)), 1, "Int64"),
    "large and -1": Case((BIG, BIG + 1, -1), (str(BIG), str(BIG + 1)), 1),
    "beyond int64 and missing": Case((LARGE, LARGE + 1, None), (str(LARGE), str(LARGE + 1)), 1, "UInt64"),
    "truth values and missing": Case((True, False, None), ("False", "True"), 1, "boolean"),
    "truth values": Case((True, False), ("False", "True"), 0),
    "another negative class": Case((-2, -1, -2), ("-1", "-2"), 0),
}
CASES |= {
    "text with white space": Case((" spam", "spam", "two\nlines", "two  lines"), ("spam", "two lines"), 0),
    "dates": Case((date(2020, 1, 1), date(2021, 1, 1), None), ("2020-01-01", "2021-01-01"), 1),
}
IN_PARQUET = {
    "times of a zone": Case(
        (pd.Timestamp(0, tz="UTC"), pd.Timestamp(9**9, tz="UTC"), None),
        ("1970-01-01 00:00:00+00:00", "1970-01-01 00:00:00.387420489+00:00"),
        1,
    ),
    "durations": Case((pd.Timedelta("1D"), pd.Timedelta("2D"), None), ("1 days 00:00:00", "2 days 00:00:00"), 1),
    "bytes that are no text": Case((b"\xff", b"\xfe", None), ("\\xfe", "\\xff"), 1),
}
UNSIGNED = Case((0, 1, 255), ("0", "1"), 1, "uint8")


def frame_of(case):
    X = np.random.default_rng(0).normal(size=(N, 2))
    labels = [case.labels[i % len(case.labels)] for i in range(N)]
    return pd.DataFrame(X, columns=["a", "b"]).assign(label=pd.array(labels, dtype=case.kind))


def as_pandas(frame, path):
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path, index=False)


def as_arrow(frame, path):
    from pyarrow import csv, parquet

    table = pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    csv.write_csv(table, path) if path.suffix == ".csv" else parquet.write_table(table, path, row_group_size=17)


def as_polars(frame, path):
    table = polars.from_arrow(pyarrow.Table.from_pandas(frame, preserve_index=False))
    table.write_csv(path) if path.suffix == ".csv" else table.write_parquet(path)


WRITERS = {"pandas": as_pandas, "pyarrow": as_arrow, "polars": as_polars}


def written(frame, tmp_path, writer, ending):
    path = tmp_path / f"table.{ending}"
    WRITERS[writer](frame, path)
    return path


def names(classes):
    return tuple(sorted(str(int(one)) if isinstance(one, float) else str(one) for one in np.asarray(classes).tolist()))


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
    made = convert_file(path, path.parent / "made", sniff_file(path), rows=7)
    said = json.loads(made.description.read_text())["class_names"]
    return tuple(sorted(name.removeprefix("'") for name in said)), int(np.sum(np.load(made.labels) < 0))


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


@pytest.mark.parametrize(("writer", "ending"), [(writer, ending) for writer in WRITERS for ending in READERS])
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


def test_what_minus_one_becomes_in_an_unsigned_column_is_unlabeled(tmp_path):
    path = written(frame_of(UNSIGNED), tmp_path, "pyarrow", "parquet")
    with pytest.warns(UserWarning, match="'255' beside other labels"):
        by_fit(path)
    for reader in (by_description, by_upload, by_conversion, by_rows):
        assert reader(path) == (("0", "1"), N // 3)


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
    loaded = load_npz(tmp_path / "table.npz")
    assert (tuple(sorted(loaded.class_names)), int(np.sum(loaded.y < 0))) == wanted


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
    made = tmp_path / "made"
    assert main(["data", "convert", str(path), "--out", str(made), "--quiet", "--unlabeled", unlabeled]) == 0
    assert np.sum(np.load(made / "y.npy") < 0) == n
    fit = ["fit", "QS3ORAO", str(path), "--target", "label", "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*fit, "--set", "n_iter=10", "--unlabeled", unlabeled]) == 0
    assert names(json.loads((tmp_path / "out" / "fit.json").read_text())["classes"]) == classes


def test_what_is_taken_for_unlabeled_is_said(tmp_path, capsys):
    path = written(frame_of(CASES["-1 beside two"]), tmp_path, "pandas", "parquet")
    said = "The label '-1' beside other labels is taken for “not labeled”"
    assert said in rows_of(path, "label")[0].notes[0]
    assert any(said in sentence for sentence in read(path.read_bytes(), sniff_file(path), labels="classes").report)
    fit = ["fit", "TSGS3VM", str(path), "--target", "label", "--out", str(tmp_path / "o"), "--set", "n_iter=5"]
    assert main(fit) == 0
    assert said in capsys.readouterr().err


@each(
    "said, top, unlabeled",
    [
        (("-1", "0", "1"), None, {"-1"}),
        (("-1", "1"), None, set()),
        (("-2", "-1", "0"), None, set()),
        (("-1.0", "a", "b"), None, {"-1.0"}),
        (("\N{MINUS SIGN}1", "a", "b"), None, {"\N{MINUS SIGN}1"}),
        (("0", "1", "255"), 255, {"255"}),
        (("0", "255"), 255, set()),
        (("0", "254", "255"), 255, set()),
    ],
)
def test_the_rule_for_files(said, top, unlabeled):
    assert unlabeled_among(said, top=top) == unlabeled
    assert unlabeled_among(said, "none", top=top) == unlabeled_among(said, None) == frozenset()
    assert not unlabeled_among(said, classes=said, top=top)


IN_MEMORY = {
    "list": ["ham", "spam", -1],
    "list with None": ["ham", "spam", None],
    "list with NaN": ["ham", "spam", np.nan],
    "text": np.array(["ham", "spam", "-1"]),
    "text with nan": np.array(["ham", "spam", np.nan]),
    "bytes": np.array([b"ham", b"spam", b"-1"]),
    "objects": np.array(["ham", "spam", -1], dtype=object),
    "NaT": np.array(["ham", "spam", pd.NaT], dtype=object),
    "pandas' text": pd.Series(["ham", "spam", pd.NA], dtype="string"),
    "pandas' text with -1": pd.Series(["ham", "spam", "-1"]),
    "Arrow's text": pd.Series(["ham", "spam", None], dtype="string[pyarrow]"),
    "Arrow's own": pyarrow.array(["ham", "spam", None]),
    "Polars": polars.Series(["ham", "spam", None]),
    "categories": pd.Categorical(["ham", "spam", None]),
    "categories with -1": pd.Categorical(["ham", "spam", "-1"]),
    "ordered categories": pd.Series(pd.Categorical(["ham", "spam", "-1"], ["ham", "spam", "-1"], ordered=True)),
    "NumPy's text": np.array(["ham", "spam", None], dtype=np.dtypes.StringDType(na_object=None)),
    "another index": pd.Series(["ham", "spam", None], index=[7, 8, 9]),
    "a masked array": np.ma.MaskedArray(["ham", "spam", "ham"], [False, False, True]),
}
ESTIMATORS = [
    QSGS2AUC(**SMALL),
    TSGS3VM(**SMALL),
    QS3ORAO(**SMALL),
    TSGSU(y_holds="classes", prior=0.7, **SMALL),
    *(cls(n_iter=20, tol=None, random_state=0) for cls in (PS3VT, LinearMC, LRCMC, SSMC)),
    PNUAUC(random_state=0),
    EverydayLogistic(),
    EverydayOrdinalSVC(),
]


def test_ordered_labels_of_arrow_and_polars_keep_their_order():
    enum = polars.Series(["mid", "low", None], dtype=polars.Enum(["low", "mid"]))
    arrow = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0, None]), ["low", "mid"], ordered=True)
    for y in (enum, arrow, pyarrow.chunked_array([arrow])):
        classes, codes = encode(y, is_ordered=True)
        assert (classes.tolist(), codes.tolist()) == (["low", "mid"], [1, 0, -1])


def test_labels_are_what_their_own_type_says_they_are():
    for y in (polars.Series([0, 1, 255, None], dtype=polars.UInt8), pyarrow.array([0, 1, 255, None], pyarrow.uint8())):
        with pytest.warns(UnlabeledWarning, match="holds 255"):
            assert encode(y)[1].tolist() == [0, 1, -1, -1]
    assert encode([True, False, -1])[0].tolist() == [False, True]
    assert encode([date(2020, 1, 1), date(2021, 1, 1), None])[1].tolist() == [0, 1, -1]
    assert encode([b"\xff", b"\xfe", None])[0].tolist() == ["\\xfe", "\\xff"]
    assert encode(np.array([b"\xff", b"\xfe"]))[0].tolist() == ["\\xfe", "\\xff"]
    assert encode(np.array([0, 1, -1], dtype=np.float16))[1].tolist() == [0, 1, -1]


def repeated(y):
    """Return the labels ten times, in the same kind of container."""
    if isinstance(y, list):
        return y * 10
    if isinstance(y, pyarrow.Array):
        return pyarrow.chunked_array([y] * 10)
    if isinstance(y, polars.Series):
        return polars.concat([y] * 10)
    if isinstance(y, pd.Series):
        return y.iloc[[0, 1, 2] * 10]
    return y.take(np.tile(np.arange(3), 10))


@each("kind", IN_MEMORY)
def test_labels_in_memory_are_the_same_whatever_holds_them(kind):
    for is_ordered in (False, True):
        classes, codes = encode(IN_MEMORY[kind], is_ordered=is_ordered)
        assert classes.tolist() == ["ham", "spam"]
        assert codes.tolist() == [0, 1, -1]


@each("model", ESTIMATORS)
def test_every_estimator_takes_them_so(model):
    X = np.random.default_rng(0).normal(size=(30, 2))
    numbered = clone(model).fit(X, np.resize([0, 1, -1], 30)).decision_function(X)
    for kind in ("text", "list with None", "Arrow's text", "categories with -1"):
        y = repeated(IN_MEMORY[kind])
        model.fit(X, y)
        assert list(model.classes_) == ["ham", "spam"], kind
        assert set(model.predict(X)) <= {"ham", "spam"}
        assert 0.0 <= model.score(X, y) <= 1.0
        np.testing.assert_array_equal(model.decision_function(X), numbered)


@each(
    "y, classes",
    [
        (pd.Series([0, 1, np.nan]), [0, 1]),
        (pd.Series([0, 1, pd.NA], dtype="Int64"), [0, 1]),
        ([BIG + 1, BIG, None], [BIG, BIG + 1]),
        ([LARGE + 1, LARGE, -1], [LARGE, LARGE + 1]),
        (polars.Series([BIG + 1, BIG, None]), [BIG, BIG + 1]),
        (pd.Series([LARGE + 1, LARGE, None], dtype="UInt64"), [LARGE, LARGE + 1]),
        (pd.Series([True, False, None], dtype="boolean"), [False, True]),
        ([True, False, None], [False, True]),
        ([1, "a", -1], ["1", "a"]),
    ],
)
def test_missing_numbers_and_truth_values_are_unlabeled(y, classes):
    found, codes = encode(y)
    assert found.tolist() == classes
    assert codes[2] == -1
    assert (codes[:2] >= 0).all()


def test_what_minus_one_becomes_in_an_unsigned_array_is_unlabeled_with_a_warning():
    y = np.array([0, 1, -1]).astype(np.uint8)
    with pytest.warns(UnlabeledWarning, match="holds 255, which -1 becomes .* y.astype"):
        assert encode(y)[1].tolist() == [0, 1, -1]
    assert encode(y.astype(object))[0].tolist() == [0, 1, 255]
    assert encode(np.array([0, 255], dtype=np.uint8))[0].tolist() == [0, 255]


@each(
    "y, said",
    [
        ([0.5, 1.0], "Unknown label type: continuous.* -1 for unlabeled points, got 0.5"),
        ([np.inf, 1.0], "Unknown label type: infinite.* -1 for unlabeled points"),
        (np.array([{1}, {2}], dtype=object), "Unknown label type: unknown.* -1 for unlabeled points"),
        (np.array([2**24 + 1, np.nan], dtype=np.float32), "exact labels, got the float 16777216: float32 skips"),
        ([2.0**60, 1.0], "exact labels, got the float 1152921504606846976"),
    ],
)
def test_what_cannot_be_labels_is_refused_in_a_sentence_that_names_minus_one(y, said):
    with pytest.raises(DSGError, match=said):
        labels_given(y)


def test_pair_numbers_stay_apart_beside_missing_ones():
    ids = [BIG, BIG, BIG + 1, BIG + 1, None]
    for y in (ids, pd.Series(ids, dtype="Int64"), polars.Series(ids)):
        assert pair_ids(y).tolist() == [*ids[:4], -1]
    large = pair_ids(pd.Series([LARGE, LARGE, LARGE + 1, LARGE + 1, None], dtype="UInt64"))
    assert large.tolist() == [0, 0, 1, 1, -1]


@each("ending", ["csv", "parquet"])
def test_pair_numbers_of_files_stay_apart_beside_missing_ones(tmp_path, ending):
    pair = pd.array([BIG, BIG, BIG + 1, BIG + 1, *[None] * (N - 4)], dtype="Int64")
    frame = frame_of(Case((0, 1), ("0", "1"), 0)).assign(pair=pair)
    path = written(frame, tmp_path, "pandas", ending)
    content = path.read_bytes()
    dataset = read(content, sniff(content, path.name, labels="pairs"), name=path.name, labels="pairs")
    assert dataset.pairs[:5].tolist() == [0, 0, 1, 1, -1]


# --- Scores


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(240, noise=0.2, random_state=0)
    return X, y, np.where(np.arange(240) < 80, y, -1)


@each("model", ESTIMATORS)
def test_score_leaves_unlabeled_points_out(moons, model):
    X, y, few = moons
    model.fit(X, few)
    labeled = few != -1
    weights = np.random.default_rng(0).random(240)
    assert model.score(X, few) == pytest.approx(model.score(X[labeled], y[labeled]))
    weighted = model.score(X, few, sample_weight=weights)
    assert weighted == pytest.approx(model.score(X[labeled], y[labeled], sample_weight=weights[labeled]))
    missing = pd.Series(few).where(labeled)
    assert model.score(X, missing) == model.score(X, few)
    if not isinstance(model, QSGS2AUC | QS3ORAO):
        assert model.score(X, few) == pytest.approx(np.mean(model.predict(X[labeled]) == y[labeled]))
    with pytest.raises(DSGError, match="a score needs labeled points, got none"):
        model.score(X[~labeled], few[~labeled])


@each("model", ESTIMATORS)
def test_a_score_says_what_is_wrong_with_it(moons, model):
    X, y, few = moons
    with pytest.raises(NotFittedError):
        clone(model).score(X, y)
    model.fit(X, few)
    for weights, said in (
        ([1.0, 2.0], "a number for each of 240 points, got 2"),
        (1.0, "a number for each of 240 points, got 1"),
        (-np.ones(240), "finite numbers of at least 0, got -1"),
        (np.full(240, np.nan), "finite numbers of at least 0, got nan"),
    ):
        with pytest.raises(DSGError, match=f"sample_weight must h.* {said}"):
            model.score(X, few, sample_weight=weights)
    assert model.score(X, few, sample_weight=pd.Series(1.0, range(9, 249))) == pytest.approx(model.score(X, few))


def test_a_fit_of_classes_that_lie_apart_warns_of_nothing():
    X = np.random.default_rng(0).normal(size=(120, 3))
    assert PS3VT(n_iter=20, tol=None, random_state=0).fit(X, (X[:, 0] > 0).astype(int)).score(X, X[:, 0] > 0) > 0.9


def test_score_is_what_the_method_is_for(moons):
    X, y, few = moons
    model = QSGS2AUC(**SMALL).fit(X, few)
    assert model.score(X, y) == pytest.approx(roc_auc_score(y, model.decision_function(X)))
    assert model.score(X, few) == auc_score(model, X, few)
    ordinal = QS3ORAO(**SMALL).fit(X, np.where(few == 1, 1 + (X[:, 0] > 1), few))
    rings = np.where(y == 1, 1 + (X[:, 0] > 1), y)
    assert ordinal.score(X, rings) == ordinal.mean_auc(X, rings)
    weights = np.ones(240)
    assert ordinal.score(X, rings, sample_weight=weights) == pytest.approx(ordinal.mean_auc(X, rings))


def test_a_search_over_labels_with_minus_one_scores_labeled_points_alone(moons):
    X, _, few = moons
    folds = LabeledFolds(3, unlabeled="train", random_state=0)
    model = TSGS3VM(n_iter=100, tol=None, random_state=0)
    for scoring in (None, accuracy):
        assert cross_val_score(model, X, few, cv=folds, scoring=scoring).min() > 0.8
    search = GridSearchCV(model, {"sigma": [0.01, 5.0]}, cv=folds).fit(X, few)
    assert search.best_params_ == {"sigma": 5.0}
    assert search.score(X, few) > 0.8
    assert cross_val_score(model, X, few, cv=3).min() > 0.8  # scikit-learn's own folds


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
    with pytest.raises(DSGError, match="y must hold exact labels, got the float 16777216: float32 skips whole numbers"):
        load_npz(tmp_path / "a.npz")


def test_long_labels_that_are_cut_to_the_same_name_stay_two_classes_with_two_names(tmp_path):
    pair = ("x" * 120 + "a", "x" * 120 + "b")
    file = tmp_path / "t.csv"
    pd.DataFrame({"x": np.arange(40.0), "label": [pair[i % 2] for i in range(40)]}).to_csv(file, index=False)
    content = file.read_bytes()
    table = read(content, sniff(content, file.name, labels="classes"), name=file.name, labels="classes")
    assert len(set(table.class_names)) == 2
    assert len(set(table.y)) == 2

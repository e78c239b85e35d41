"""Labels in memory: the same classes, and the same points without a label, whatever holds them."""

from datetime import date

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from cases import each
from sklearn.base import clone
from strangers_labels import BIG, ESTIMATORS, LARGE

from dsgcore.core.errors import DSGError
from dsgcore.data.reading.unlabeled import UnlabeledWarning, labels_given
from dsgcore.estimators.inputs import encode
from dsgcore.estimators.pairs import pair_ids

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

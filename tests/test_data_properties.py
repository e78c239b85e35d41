"""Properties of every accepted table: finite float32 points of the stated shape, and a spec that reproduces them."""

import csv
import io
import json

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from own_tables import read, sniff

from dsgcore.data import DataError
from dsgcore.data.reading import DELIMITERS, File, Recipe, Source
from dsgcore.experiments import FileStore, Spec, load_split

LABELS = ("binary", "pairs", "ordinal", "classes")
WITHOUT_ORDER = ("binary", "pairs", "classes")  # ordered classes need words whose order is known
SETTING = {"binary": "auc", "pairs": "similar_unlabeled", "ordinal": "ordinal", "classes": "multiclass"}
numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(-1e20, 1e20, allow_nan=False).map(repr),
    st.sampled_from(["", "NA", "nan", "-0.0", "1e-320", "1e25", "inf", "1e308", "007", " 3 ", "1_000", "0x1f", "1,5"]),
)
words = st.text(st.characters(codec="utf-8"), max_size=12)
labels = st.sampled_from(["a", "b", "c", "", "=1+1", "1", "1.0"])


plain_numbers = st.one_of(st.integers(-(10**6), 10**6).map(str), st.floats(-1e20, 1e20).map(repr), st.just(""))


ALL_KINDS = (numbers, words, labels, st.one_of(numbers, words))


@st.composite
def tables(draw, kinds=ALL_KINDS, fewest=1):
    """A table as rows of cells: columns of numbers, of words or of both, and one of labels."""
    n = draw(st.integers(fewest, 40))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5))
    columns = [draw(st.lists(kind, min_size=n, max_size=n)) for kind in (*chosen, labels)]
    return list(zip(*columns, strict=True))


@st.composite
def delimited(draw):
    """A table as text, with or without names, in some encoding."""
    rows = draw(tables())
    if draw(st.booleans()):
        rows = [tuple(draw(words) for _ in rows[0]), *rows]
    text = io.StringIO()
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    csv.writer(text, delimiter=draw(st.sampled_from(list(DELIMITERS))), quoting=quoting).writerows(rows)
    return text.getvalue().encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"])))


def is_one_sentence(error):
    return bool(str(error)) and str(error).isprintable() and len(str(error)) < 600


def attempt(make):
    """Return the result, or the error that refuses the file."""
    try:
        return make(), None
    except DataError as error:
        return None, error


def check(content, kind):
    """Read a file; what is accepted must be finite and come again, what is not must be refused in one sentence."""
    recipe, refused = attempt(lambda: sniff(content, "t.csv", labels=kind))
    if refused is None:
        dataset, refused = attempt(lambda: read(content, recipe, name="t.csv", labels=kind))
    if refused is not None:
        assert is_one_sentence(refused)
        return False
    assert dataset.X.dtype == np.float32
    assert dataset.X.flags.c_contiguous
    assert dataset.X.shape == (len(dataset.y), len(dataset.feature_names))
    assert np.isfinite(dataset.X).all()
    assert dataset.y.min() >= -1
    assert dataset.y.max() == len(dataset.class_names) - 1
    assert all(name.isprintable() for name in (*dataset.feature_names, *dataset.class_names, *dataset.report))
    File(Source.of_bytes(content, "t.csv")).table(recipe).head()
    plain = json.loads(json.dumps(recipe.to_dict()))
    again = read(content, Recipe.from_dict(plain), name="t.csv", labels=kind)
    assert again.X.tobytes() == dataset.X.tobytes()
    assert again.y.tobytes() == dataset.y.tobytes()
    assert (again.class_names, again.feature_names) == (dataset.class_names, dataset.feature_names)
    check_spec(content, recipe, kind)
    return True


def check_spec(content, recipe, kind):
    """A spec that holds the recipe gives the same split from its JSON text."""
    files = FileStore()
    data = {"name": "file", "path": "t.csv", "sha256": files.add(content), "recipe": recipe.to_dict(), "n_labeled": 3}
    spec = Spec.from_dict({"setting": SETTING[kind], "data": data})
    first, refused = attempt(lambda: load_split(spec, files=files))
    if refused is not None:  # too few rows of a class
        assert is_one_sentence(refused)
        return
    again = FileStore()
    again.add(content)
    second = load_split(Spec.from_json(spec.to_json()), files=again)
    for name in ("X_train", "y_train", "y_hidden", "X_test", "y_test", "train_rows", "test_rows"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert np.isfinite(first.X_train).all()
    assert np.isfinite(first.X_test).all()


settled = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])


@settled
@given(delimited(), st.sampled_from(LABELS))
def test_any_text(content, kind):
    check(content, kind)


@settled
@given(st.one_of(st.binary(max_size=400), st.text(max_size=200).map(str.encode)), st.sampled_from(LABELS))
def test_any_bytes(content, kind):
    check(content, kind)


@settled
@given(
    st.lists(
        st.sampled_from(["1", "-1", "2.5", "", "x", "3:1", "1:0.5", "2:nan", "4:inf", "0:1", "# c", "qid:1", "-2:1"]),
        max_size=60,
    ),
    st.sampled_from(LABELS),
)
def test_any_sparse_text(parts, kind):
    lines = [" ".join(["1", "1:1"]), *(" ".join(parts[i : i + 4]) for i in range(0, len(parts), 4))]
    check("\n".join(lines).encode(), kind)


@settled
@given(st.integers(2, 30), st.data(), st.sampled_from(LABELS))
def test_any_parquet(n, data, kind):
    columns = {}
    cells = st.sampled_from([st.floats(), st.integers(-(2**62), 2**62), words, st.booleans()])
    for j, cell in enumerate(data.draw(st.lists(cells, min_size=1, max_size=4))):
        columns[f"c{j}"] = data.draw(st.lists(st.one_of(st.none(), cell), min_size=n, max_size=n))
    columns["label"] = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n))
    content = io.BytesIO()
    pd.DataFrame(columns).to_parquet(content)
    check(content.getvalue(), kind)


def test_plain_tables_are_accepted():
    """The properties would say nothing of tables that are all refused."""
    accepted = []

    @settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
    @given(tables(kinds=(plain_numbers, labels), fewest=8), st.sampled_from(WITHOUT_ORDER))
    def look(rows, kind):
        accepted.append(check(as_csv(rows), kind))

    look()
    assert np.mean(accepted) > 0.5


def as_csv(rows):
    text = io.StringIO()
    csv.writer(text).writerows([[f"c{j}" for j in range(len(rows[0]) - 1)] + ["label"], *rows])
    return text.getvalue().encode()

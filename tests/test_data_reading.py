"""Reading one's own table: classes, bins, order and pairs."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each
from own_tables import iris_csv, lines, read, read_sniffed, sniff, sniff_file, with_pairs

from dsgcore.data import DataError, draw_pairs, hide_labels
from dsgcore.data.reading import Recipe, parse
from dsgcore.data.reading.cells import written


def test_empty_labels_stay_unlabeled_and_are_never_used_for_testing():
    content = lines("x,z,label", *(f"{i},{i * 7 % 11},{'' if i % 3 == 0 else 'ab'[i % 2]}" for i in range(90)))
    dataset = read_sniffed(content, labels="binary")
    assert np.sum(dataset.y == -1) == 30
    assert any("30 rows have no label" in sentence for sentence in dataset.report)
    split = hide_labels(dataset, 10, 0.3, seed=0)
    without = np.flatnonzero(dataset.y == -1)
    assert set(without) <= set(split.train_rows)
    assert not set(without) & set(split.test_rows)
    assert len(split.test_rows) == 18
    assert np.sum(split.y_hidden == -1) == 30
    assert np.all(split.y_hidden[split.labeled] >= 0)
    pairs = draw_pairs(dataset, 5, 0.3, seed=0)
    assert np.all(pairs.y_hidden[pairs.labeled] >= 0)
    assert np.sum(pairs.y_hidden == -1) == 30


def test_one_class_against_the_rest():
    content = iris_csv()
    recipe = sniff(content, "iris.csv", labels="binary")
    assert recipe.positive == "setosa"  # the first of the most frequent
    dataset = read(content, replace(recipe, positive="versicolor"))
    assert dataset.class_names == ("not versicolor", "versicolor")
    assert dataset.y.sum() == 50
    with pytest.raises(DataError, match="the positive label must be one of"):
        read(content, replace(recipe, positive="rose"))
    with pytest.raises(DataError, match="needs the positive one named"):
        read(content, replace(recipe, positive=None))


@each("labels, bins", [("binary", 2), ("ordinal", 5), ("classes", 5)])
def test_a_label_of_many_numbers_is_cut_into_bins(labels, bins):
    rng = np.random.default_rng(0)
    content = lines("x,target", *(f"{rng.normal()},{rng.normal():.4f}" for _ in range(100)), "1,")
    recipe = sniff(content, "a.csv", labels=labels)
    assert recipe.bins == bins
    dataset = read(content, recipe, labels=labels)
    assert np.bincount(dataset.y[:-1]).tolist() == [100 // bins] * bins
    assert dataset.y[-1] == -1
    assert any(f"cut into {bins} bins" in sentence for sentence in dataset.report)


def test_a_number_that_means_no_label_is_in_no_bin():
    content = lines("x,target", *(f"{i},{-1 if i % 4 == 0 else i + 0.5}" for i in range(100)))
    recipe = replace(sniff(content, "a.csv", labels="ordinal"), unlabeled="-1")
    dataset = read(content, recipe, labels="ordinal")
    assert np.flatnonzero(dataset.y < 0).tolist() == list(range(0, 100, 4))
    assert dataset.class_names[0] == "bin 1 (from 1.5)"


@each(
    "value, said",
    [(3.0, "3"), (2.5, "2.5"), (-0.0, "0"), (3e9, "3000000000"), (2.0**52, "4503599627370496"), (True, "True")],
)
def test_a_value_of_a_label_is_written_as_people_write_it(value, said):
    assert written(value) == said


def test_a_label_is_no_feature_and_a_feature_is_named_once(tmp_path):
    (tmp_path / "t.csv").write_bytes(lines("a,b,label", *(f"{i},{i * 7 % 11},{'xy'[i % 2]}" for i in range(20))))
    with pytest.raises(DataError, match="'label' is the label: it can be neither a feature nor left out"):
        sniff_file(tmp_path / "t.csv", target="label", features=["a", "label"])
    with pytest.raises(DataError, match="'label' is the label"):
        sniff_file(tmp_path / "t.csv", target="label", drop=["label"])
    with pytest.raises(DataError, match="must name each column once, got 'a' twice"):
        sniff_file(tmp_path / "t.csv", target="label", features=["a", "b", "a"])


@pytest.mark.parametrize("size", [16, 2**20])
def test_a_line_of_libsvm_text_has_its_number_whatever_the_pieces(size, monkeypatch):
    content = lines("# first", "", *(f"{i % 2} 1:{i} 2:0.5" for i in range(30)), "1 1:3 two:4")
    monkeypatch.setattr(parse, "PIECE", size)
    with pytest.raises(DataError, match=r"^line 33 must have whole indices"):
        read_sniffed(content, "t.svm")


def test_equal_numbers_are_in_one_bin_and_the_report_says_so():
    rows = [-2.30259] * 60 + [i + 0.5 for i in range(40)]
    content = lines("x,price", *(f"{i},{value}" for i, value in enumerate(rows)))
    dataset = read(content, sniff(content, "t.csv", labels="ordinal"), labels="ordinal")
    assert dataset.class_names == ("bin 1 (from -2.30259)", "bin 2 (from 0.5)", "bin 3 (from 20.5)")
    assert np.bincount(dataset.y).tolist() == [60, 20, 20]
    assert any("cut into 3 bins" in said and "not 5, because equal values" in said for said in dataset.report)
    content = lines("x,price", *(f"{i},2.5" for i in range(20)))
    with pytest.raises(DataError, match="cut into bins, must have between 2 and"):
        read(content, replace(sniff(content, "t.csv"), bins=4), labels="ordinal")


def test_ordered_classes_take_the_order_that_is_given():
    content = lines("x,label", *(f"{i},{['low', 'high', 'mid'][i % 3]}" for i in range(30)))
    recipe = sniff(content, "a.csv", labels="ordinal")
    assert read(content, recipe, labels="ordinal").class_names == ("low", "mid", "high")
    order = ("mid", "high", "low")
    assert read(content, replace(recipe, order=order), labels="ordinal").class_names == order
    with pytest.raises(DataError, match="must name each class once"):
        read(content, replace(recipe, order=("low", "high")), labels="ordinal")


def test_pairs_that_the_file_gives_are_used():
    content = with_pairs()
    dataset = read_sniffed(content, labels="pairs")
    assert dataset.feature_names == ("x", "z")
    assert dataset.pairs.max() == 11
    split = draw_pairs(dataset, 8, 0.3, seed=3)
    ids, counts = np.unique(split.y_train[split.y_train >= 0], return_counts=True)
    assert (ids.tolist(), set(counts)) == (list(range(8)), {2})
    for own in ids:
        members = split.train_rows[split.y_train == own]
        assert len(set(dataset.pairs[members])) == 1
    assert np.all(dataset.pairs[split.test_rows] == -1)
    assert not set(split.test_rows) & set(split.train_rows)
    # The pairs that were not drawn are set aside: they are no sample of all points.
    assert len(split.train_rows) + len(split.test_rows) == 60 - 2 * 4
    with pytest.raises(DataError, match="between 1 and 12"):
        draw_pairs(dataset, 13, 0.3, seed=3)
    assert read_sniffed(content, labels="binary").pairs is None


def test_a_pair_id_must_be_on_two_rows():
    content = with_pairs().replace(b"p01", b"p00")
    with pytest.raises(
        DataError, match=r"pair id must be on exactly two rows, got 'p00' on 4 \(rows 1, 5, 6, 9, the header"
    ):
        read_sniffed(content, labels="pairs")


@each("name", ["[K+]", "{a}", "<x>", "[1]", "{}x", "<b", "@relation_to"])
def test_a_name_in_brackets_may_begin_a_header(name):
    dataset = read_sniffed(lines(f"{name},label", *(f"{i},{'ab'[i % 2]}" for i in range(30))))
    assert dataset.feature_names == (name if name[0] != "@" else f"'{name}",)


@each(
    "text, what",
    [
        ("[\n  [1, 2],\n  [3, 4]\n]", "JSON, but no records"),
        ("[1.5, 2, 3]", "JSON, but no records"),
        ("{}", "JSON, but no records"),
        ("<!-- a --><html>", "a web page or XML"),
        ("<html lang='en'>\n<body>\ntext", "a web page or XML"),
        ("<rows>\n<row>1, 2</row>\n</rows>\n", "a web page or XML"),
        ("<rows><row>1</row></rows>", "a web page or XML"),
        ("<?xml version='1.0'?>\nx", "a web page or XML"),
    ],
)
def test_what_is_no_table_is_called_by_its_name(text, what):
    with pytest.raises(DataError, match=f"the file is {what}; those that can be read are"):
        sniff(text.encode(), "a.csv")


@each("sign", "^~§¦")
def test_another_sign_between_cells_is_named_with_those_that_are_read(sign):
    rows = [sign.join(("0.5", str(i), "ab"[i % 2])) for i in range(20)]
    with pytest.raises(
        DataError, match=r"seem to be separated by .*, and the delimiter must be one of comma, semicolon"
    ):
        sniff(lines(sign.join("xyk"), *rows), "a.csv")


LONG = "q" * 100_000


@each(
    "given",
    [
        *({"bins": LONG}, {"roles": {"x": LONG}}, {"roles": {LONG: "pair"}}),
        *({"positive": LONG}, {"order": [LONG]}, {LONG: 1}),
    ],
)
def test_no_message_repeats_a_page_of_what_was_given(given):
    content = lines("x,label", *(f"{i},{'ab'[i % 2]}" for i in range(30)))
    plain = sniff(content, "a.csv").to_dict() | given | {"roles": {"label": "label"} | given.get("roles", {})}
    with pytest.raises(DataError) as refused:
        read(content, Recipe.from_dict(plain), labels="binary")
    assert len(str(refused.value)) < 400

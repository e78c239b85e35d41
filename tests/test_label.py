"""Labels for unlabeled rows: classes, probabilities and what to expect of them, in Python and by the command."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each, some
from pandas.testing import assert_frame_equal
from sklearn.datasets import make_moons

from dsgcore import DSGError, label
from dsgcore.comparing import METHODS, Sample, samples
from dsgcore.comparing import label as module
from dsgcore.comparing.label import expected_share
from dsgcore.comparing.methods import SCORES, suited
from dsgcore.core.metrics import Difference
from dsgcore.data.reading import File
from dsgcore.problems import UNLABELED
from dsgcore.tuning.calibrated import Confidence

QUICK = {"method": "LogisticRegression"}


def moons(n=200, n_labeled=60, **more):
    """A table of two features, text, gaps and a label column with gaps; and all labels."""
    X, y = make_moons(n, noise=0.15, random_state=0)
    kind = np.array(["no", "yes"])[y]
    table = pd.DataFrame({"id": [f"r{i}" for i in range(n)], "a": X[:, 0], "b": X[:, 1]})
    table["where"] = np.where(X[:, 0] > 0.5, "east side", "west coast")
    table.loc[::7, "b"] = np.nan
    is_known = np.random.default_rng(1).permutation(n) < n_labeled
    return table.assign(kind=np.where(is_known, kind, None), **more), kind


def test_every_unlabeled_row_gets_a_class_and_is_counted_by_its_place_and_so_many_are_right_as_expected():
    table, kind = moons()
    found = label(table, "kind", ask=5, keep=["id"], **QUICK)
    assert found.table["row"].tolist() == np.flatnonzero(table["kind"].isna()).tolist()
    assert (found.table["id"] == table["id"].to_numpy()[found.table["row"]]).all()
    right = np.mean(found.table["class"].to_numpy() == kind[found.table["row"]])
    assert found.expected.low <= right <= found.expected.high
    unsure = found.table.set_index("row")["probability"]
    assert unsure[list(found.ask)].tolist() == sorted(unsure)[:5]
    assert json.loads(json.dumps(found.to_dict()))["ask"] == list(found.ask)
    moved = table.set_index(np.arange(200)[::-1] * 3)
    before = moved.copy()
    assert_frame_equal(label(moved, "kind", keep=["id"], **QUICK).table, found.table)
    assert_frame_equal(moved, before)


def test_rows_without_any_value_get_no_class_and_are_counted_by_every_way(tmp_path):
    table, _ = moons()
    table.loc[[5, 6, 150]] = None
    table.to_parquet(tmp_path / "t.parquet", row_group_size=70, index=False)
    table.to_csv(tmp_path / "t.csv", index=False)
    found = {data: label(data, "kind", **QUICK) for data in (tmp_path / "t.csv", tmp_path / "t.parquet")}
    of_python = found["Python"] = label(table, "kind", **QUICK)
    for name, one in found.items():
        assert not {5, 6, 150} & set(one.table["row"]), name
        assert one.notes[0] == "3 rows without any value are left out.", name
        assert_frame_equal(one.table, of_python.table)


def with_empty_rows(table):
    table.loc[[5, 6, 150]] = None
    return table


LARGE = {
    "mixed": (lambda table: table, 70, samples.MOST_ROWS),
    "labeled rows alone": (lambda table: table.sort_values("kind", na_position="last"), 40, samples.MOST_ROWS),
    "rows without any value": (with_empty_rows, 70, samples.MOST_ROWS),
    "more labels than are learned from": (lambda table: table, 70, 50),
}


@pytest.mark.parametrize("how", LARGE)
def test_a_table_larger_than_memory_is_labeled_in_parts(how, tmp_path, monkeypatch):
    (change, rows, most), (table, _) = LARGE[how], moons(300, 60)
    file, options = tmp_path / "own.parquet", {"keep": ["id"], "drop": ["id"], "ask": 3, **QUICK}
    change(table).to_parquet(file, row_group_size=rows, index=False)
    monkeypatch.setattr(samples, "MOST_ROWS", most)
    whole = label(file, "kind", **options)
    monkeypatch.setattr(module, "is_large", lambda path: True)
    monkeypatch.setattr(module, "VALUES_AT_A_TIME", 200)
    parted = label(file, "kind", **options)
    if how.startswith("more labels"):  # then it learns from others
        assert len(parted.table) == len(whole.table) == 240
        assert parted.n_labels == whole.n_labels == 50
        return
    assert_frame_equal(parted.table, whole.table)
    assert (parted.ask, parted.expected, parted.warnings) == (whole.ask, whole.expected, whole.warnings)
    left_out = [[note for note in one.notes if "without any value" in note] for one in (parted, whole)]
    assert left_out[0] == left_out[1]
    assert len(left_out[0]) == (how == "rows without any value")
    with pytest.raises(DSGError, match="nowhere"):
        label(file, "kind", **options | {"keep": ["nowhere"]})
    moons(300, 300)[0].to_parquet(file, row_group_size=rows, index=False)
    with pytest.raises(DSGError, match="every row has a label in 'kind'"):
        label(file, "kind", **options)


@each("name", some(suited("binary"), 2, 4))
def test_a_methods_classes_are_those_of_its_own_fit_and_predict(name, monkeypatch):
    monkeypatch.setattr(module, "FOLDS_OF_FEW", 2)
    table, _ = moons(90, 40)
    found = label(table, "kind", method=name, drop=["id", "where"])
    cells = table[["a", "b"]].fillna(table[["a", "b"]].mean())
    X = ((cells - cells.mean()) / cells.std(ddof=0)).to_numpy(np.float32)
    y = table["kind"].map({"no": 0, "yes": 1}).fillna(-1).to_numpy(int)
    rows = np.arange(90) if METHODS[name].uses_unlabeled else np.flatnonzero(y >= 0)
    own = METHODS[name].make(0).fit(X[rows], y[rows])
    assert np.mean(np.array(["no", "yes"])[own.predict(X[y < 0])] == found.table["class"]) >= 0.98  # rounding of X


def test_without_a_method_the_verdict_of_a_comparison_decides(monkeypatch):
    asked, real = [], module.compare

    def compared(X, y, **options):
        asked.append(options)
        return real(X, y, **options | {"methods": ["LogisticRegression", "SVC"], "store": None, "jobs": 1, "seeds": 3})

    monkeypatch.setattr(module, "compare", compared)
    found = label(moons()[0], "kind", seconds=30.0, ask=10)
    assert asked[0]["seconds"] == 30.0
    assert found.method == found.comparison.verdict.recommended == found.to_dict()["verdict"]["recommended"]
    assert found.comparison.verdict.sentence in found.why
    assert "10 labels more of rows drawn at random change the accuracy by" in found.promise
    assert found.promise in found.report


def test_a_method_that_many_others_were_compared_with_must_be_further_above_one_class(monkeypatch):
    hits, same = np.arange(200) < 128, np.arange(200) % 2 == 0  # 64 % beside 50 %: 2.9 standard errors
    monkeypatch.setattr(module, "_held_out", lambda *given: (hits, np.ones(200), same))
    table, _ = moons()
    file = File.of_table(table)
    recipe = file.recipe("classes", target="kind", is_asked=True)
    labels = file.labels(recipe, "classes")
    for n_scored, is_said in ((1, False), (18, True)):
        verdict = SimpleNamespace(recommended="LogisticRegression", sentence="It is ahead.")
        found = SimpleNamespace(n_scored=n_scored, verdict=verdict, warnings=())
        made = module.label_rows(file.kept(recipe), recipe, labels.y, labels.class_names, found=found)
        assert any("not clearly better than one class" in one for one in made.warnings) is is_said


@each("score, change", [("mean_absolute_error", "-0.100 classes (95 % -0.150 to -0.050)"), ("mean_auc", "+0.1 points")])
def test_an_error_is_promised_to_fall(score, change):
    gain = Difference(0.1, 0.05, 0.15, 5)
    found = SimpleNamespace(score=SCORES[score], gain_of_labels=lambda method, more: gain)
    made = module.Labeled(pd.DataFrame(), (1, 2), "QS3ORAO", "", gain, 20, comparison=found)
    assert change in made.promise


def test_of_many_classes_the_twelve_largest_have_their_shares_and_the_others_are_counted():
    table = pd.DataFrame({"class": [f"c{i}" for i in range(15) for _ in range(20 - i)]})
    said = module.Labeled(table, (), "SVC", "", Difference(), 20).report
    assert re.search(r"Classes of these rows: c0 10 %, c1 10 %, [^.]*, c11 5 % and 3 more\.", said)


def test_a_share_to_expect_has_an_interval_for_both_samples():
    hits = np.arange(100) < 90
    wide, narrow = expected_share(hits, 50), expected_share(hits, 10**6)
    assert wide.low < narrow.low < 0.9 < narrow.high < wide.high
    wilson = (0.8256, 0.9448)  # of 90 of 100 independent hits
    assert narrow.low < wilson[0] < wilson[1] < narrow.high
    assert expected_share(np.arange(150) < 135, 10**8).low == pytest.approx(wilson[0], abs=1e-3)
    assert expected_share(np.ones(20, dtype=bool), 20).high == pytest.approx(1.0)
    assert np.isnan(expected_share(hits[:0], 5).mean)


def test_confidence_is_the_share_that_is_right():
    rng = np.random.default_rng(0)
    ahead = rng.exponential(size=4000)
    hits = rng.random(4000) < 1.0 / (1.0 + np.exp(-2.0 * ahead))
    found = Confidence(2).fit(ahead, hits)
    assert found.probability(ahead).mean() == pytest.approx(hits.mean(), abs=0.01)
    assert found.probability(np.array([1.0])) == pytest.approx(1.0 / (1.0 + np.exp(-2.0)), abs=0.02)
    few, n = hits[:20], hits[:20].sum()  # the mean probability is that of Platt's targets
    wanted = (n * (n + 1.0) / (n + 2.0) + (20 - n) / (20 - n + 2.0)) / 20
    assert Confidence(99).fit(ahead[:20], few).probability(ahead[:20]).mean() == pytest.approx(wanted, abs=1e-4)
    assert (Confidence(2).fit(ahead, np.ones(4000, dtype=bool)).probability(ahead) > 0.99).all()
    assert (Confidence(2).fit(ahead, ahead < 0.1).probability(np.array([0.0, 9.0])) >= 0.5).all()


def test_labels_that_have_two_of_three_named_classes_are_binary_as_for_a_comparison():
    X, y = make_moons(80, noise=0.1, random_state=0)
    table = pd.DataFrame(X, columns=["a", "b"])
    table["label"] = np.where(y == 1, "c", "a")
    recipe = File.of_table(table).recipe("classes", target="label", is_asked=True)
    codes = np.where(np.arange(80) < 40, 2 * y, UNLABELED)
    made = module.label_rows(table, recipe, codes, ("a", "b", "c"), method="SafeTSGS3VM", seconds=1.0)
    assert set(made.table["class"]) == {"a", "c"}
    assert Sample.of(X, codes, n_labeled=None, is_ordered=True).kind == "binary"

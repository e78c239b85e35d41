"""Labels for unlabeled rows: classes, probabilities and what to expect of them, in Python and by the command."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each, some
from commands import refusal
from pandas.testing import assert_frame_equal
from sklearn.datasets import load_iris, make_moons

from dsgcore import DSGError, label
from dsgcore.__main__ import main
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


def test_every_unlabeled_row_gets_a_class_and_a_probability_and_is_counted_by_its_place():
    table, kind = moons()
    found = label(table, "kind", ask=5, keep=["id"], **QUICK)
    assert list(found.table) == ["row", "class", "probability", "id"]
    assert found.table["row"].tolist() == np.flatnonzero(table["kind"].isna()).tolist()
    assert (found.table["id"] == table["id"].to_numpy()[found.table["row"]]).all()
    assert found.table["probability"].between(0.5, 1.0).all()
    right = np.mean(found.table["class"].to_numpy() == kind[found.table["row"]])
    assert found.expected.low <= right <= found.expected.high
    assert found.expected.n == found.n_labels == 60
    share, interval = re.findall(r"Expect ([\d.]+) %.*\(95 % interval ([\d.]+ to [\d.]+) %\)", found.sentence)[0]
    mean, low, high = (f"{100 * value:.1f}" for value in (found.expected.mean, found.expected.low, found.expected.high))
    assert (float(share), interval) == (float(mean), f"{low} to {high}")
    unsure = found.table.set_index("row")["probability"]
    assert unsure[list(found.ask)].tolist() == sorted(unsure)[:5]
    assert "counts the rows of the data from 0" in found.report
    assert json.loads(json.dumps(found.to_dict()))["ask"] == list(found.ask)
    moved = table.set_index(np.arange(200)[::-1] * 3)
    before = moved.copy()
    assert_frame_equal(label(moved, "kind", keep=["id"], **QUICK).table, found.table)
    assert_frame_equal(moved, before)
    dropped = label(table, "kind", missing="drop", drop=["id"], **QUICK)
    assert dropped.warnings[-1] == "Warning: rows with missing numbers are left out, and have no class."


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


def test_a_slow_method_says_from_how_many_unlabeled_rows_it_learns(tmp_path, monkeypatch):
    table, _ = moons()
    monkeypatch.setattr(samples, "MOST_OF_SLOW", 50)
    found = label(table, "kind", method="SelfTraining", drop=["id"])
    said = "Warning: SelfTraining learns from 50 of 140 unlabeled rows, to be fast enough."
    assert said in found.warnings
    assert said in found.report
    assert not [one for one in label(table, "kind", **QUICK).warnings if "learns from" in one]


def test_whole_numbers_stay_numbers_and_minus_one_means_unlabeled():
    X, y = load_iris(return_X_y=True)
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(np.arange(150) % 3, -1, y))
    found = label(table, "kind", **QUICK)
    assert len(found.table) == 100
    assert found.table["class"].dtype.kind == "i"
    assert np.mean(found.table["class"] == y[found.table["row"]]) > 0.85


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


def test_ordered_classes_keep_their_order():
    table, _ = moons(150, 90)
    levels = np.array(["low", "medium", "high"])[np.digitize(table["a"], [-0.3, 1.0])]
    table["kind"] = np.where(table["kind"].isna(), None, levels)
    found = label(table, "kind", method="SVR", ordered=True, drop=["id"])
    assert np.mean(found.table["class"] == levels[found.table["row"]]) > 0.85
    table["kind"] = table["kind"].map({"low": "red", "medium": "blue", "high": "green"})
    with pytest.raises(DSGError, match="words without a known order"):
        label(table, "kind", method="SVR", ordered=True)
    assert len(label(table, "kind", method="SVR", order=("red", "blue", "green")).table) == 60


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


@pytest.mark.ci
def test_what_may_mislead_is_warned_of():
    def warnings(table):
        return " ".join(label(table, "kind", drop=["id", "where"], **QUICK).warnings)

    table, kind = moons(300, 100)
    assert warnings(table) == ""
    assert "'answer' gives the label away" in warnings(table.assign(answer=np.where(kind == "yes", 1.0, 0.0)))
    is_known = (table["a"] > 0.3) & (np.arange(300) % 4 > 0)
    assert "look different" in warnings(table.assign(kind=np.where(is_known, kind, None)))
    shuffled = table.assign(kind=np.random.default_rng(0).permutation(table["kind"].to_numpy()))
    is_known = table["kind"].notna()
    is_rare = table["a"] > table["a"][is_known].nlargest(4).iloc[-1]  # of three labels, which "a" tells
    rare = table.assign(kind=np.where(is_known, np.where(is_rare, "yes", "no"), None))
    for one in (shuffled, rare):
        said = warnings(one)
        assert "LogisticRegression is not clearly better than one class for all rows, which is right for" in said
        assert "or a class too rare to be predicted" in said


BAD = (
    ({"kind": "a"}, "must have between 2 and"),
    ({"kind": np.where(np.arange(30) % 2, "a", "b")}, "every row has a label in 'kind'"),
    ({"method": "Nothing"}, "method must be one of LogisticRegression, SVC"),
    ({"method": "SVR"}, "method must be one of LogisticRegression"),
    ({"ask": -1}, "ask must be"),
    ({"seconds": 0.0}, "seconds must be"),
    ({"keep": ["nowhere"]}, "nowhere"),
    ({"keep": ["class"], "class": 1.0}, "cannot be kept"),
    ({"keep": ["class"], "class": [[1, 2]] * 30}, "cannot be kept, because it holds lists"),
    ({"target": "nowhere"}, "nowhere"),
)


@each("change, message", BAD)
def test_bad_input_is_refused_in_a_sentence(change, message):
    kind = np.where(np.arange(30) % 3 == 0, None, np.where(np.arange(30) % 2, "a", "b"))
    table = pd.DataFrame({"a": np.arange(30.0), "class": 2.0, "kind": kind})
    columns = {name: value for name, value in change.items() if name in table}
    options = QUICK | {name: value for name, value in change.items() if name not in table}
    with pytest.raises(DSGError, match=message):
        label(table.assign(**columns), options.pop("target", "kind"), **options)


@pytest.mark.ci
def test_columns_of_any_type_and_name_are_taken():
    table, _ = moons(90, 40)
    plain = label(table, "kind", drop=["id"], **QUICK).table
    odd = table.assign(nested=[[1, 2]] * 90, wave=table["a"] + 1j, told=[{"a": 1}] * 90)
    found = label(odd, "kind", drop=["id"], **QUICK)
    assert_frame_equal(found.table, plain)
    said = " ".join(found.notes)
    assert "4 columns are ignored: 'id' " in said
    assert "'nested' (lists or other nested values), 'wave' (complex numbers), 'told' (lists" in said
    arrow = label(table.convert_dtypes(dtype_backend="pyarrow"), "kind", drop=["id"], **QUICK).table
    assert (arrow["class"] == plain["class"]).all()
    numbered = label(table.set_axis(range(5), axis=1), 4, drop=["0"], keep="0", **QUICK).table
    assert (numbered["class"] == plain["class"]).all()


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


def test_the_command_writes_the_rows_and_a_report(tmp_path, capsys):
    file, out = tmp_path / "own.csv", tmp_path / "labeled.csv"
    moons()[0].to_csv(file, index=False)
    given = ["label", str(file), "--target", "kind", "--method", "SVC", "--keep", "id", "--ask", "3", "--out", str(out)]
    assert main([*given, "--json", str(tmp_path / "report.json")]) == 0
    said = capsys.readouterr().out
    assert "SVC gives 140 rows a class, from 60 labels. Expect" in said
    expected = label(file, "kind", method="SVC", keep=["id"], ask=3)
    assert out.read_text() == expected.to_csv()
    report = json.loads((tmp_path / "report.json").read_text())
    assert {"command": "dsg-lab label", "out": str(out), **json.loads(json.dumps(expected.to_dict()))} == report
    assert main([*given, "--quiet"]) == 0  # the file is its own
    out.write_text("my notes\n")
    assert "no earlier result of this command" in refusal(capsys, given)
    assert out.read_text() == "my notes\n"


def test_labels_that_have_two_of_three_named_classes_are_binary_as_for_a_comparison():
    X, y = make_moons(80, noise=0.1, random_state=0)
    table = pd.DataFrame(X, columns=["a", "b"])
    table["label"] = np.where(y == 1, "c", "a")
    recipe = File.of_table(table).recipe("classes", target="label", is_asked=True)
    codes = np.where(np.arange(80) < 40, 2 * y, UNLABELED)
    made = module.label_rows(table, recipe, codes, ("a", "b", "c"), method="SafeTSGS3VM", seconds=1.0)
    assert set(made.table["class"]) == {"a", "c"}
    assert Sample.of(X, codes, n_labeled=None, is_ordered=True).kind == "binary"

"""Comparisons on one's own data: the statistics against naive twins, splits, verdicts, rounds, what is kept, bad input, files."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from cases import each
from commands import refusal
from scipy import stats
from sklearn.datasets import load_iris, make_moons

from dsgcore.__main__ import main
from dsgcore.comparing import METHODS, Comparison, ComparisonError, Fit, FitRequest, Help, Sample, compare, html_of
from dsgcore.comparing.carrying_out import is_worse
from dsgcore.comparing.curve_figure import curve_figure
from dsgcore.comparing.kept import KeptFits
from dsgcore.comparing.methods import ORDINAL, chosen_methods, chosen_score
from dsgcore.comparing.report import text_of
from dsgcore.comparing.workers import _shared_out
from dsgcore.core.metrics import mean_half_width, resampled_half_width
from dsgcore.core.parameters import ParameterError
from dsgcore.data import load
from dsgcore.model_selection import compare as compare_of_model_selection
from dsgcore.studies import Store

IRIS = load_iris(return_X_y=True)
TWO = ["LogisticRegression", "SVC"]
QUICK = {"n_labeled": 30, "methods": TWO, "curves": False, "store": None, "jobs": 1, "seconds": None}


def of(scores, *, score="accuracy", overlap=0.0, n_labeled=20, **more):
    """Return a comparison with these scores: for each method a list over the seeds, with None for a missing score."""
    fits = [
        Fit(FitRequest(name, seed, n_labeled), {score: float(value)}, 0.5, 10.0)
        for name, values in scores.items()
        for seed, value in enumerate(values)
        if value is not None
    ]
    return Comparison(tuple(fits), tuple(scores), score, n_labeled, 100, 50, overlap, **more)


def rng_scores(seed=0, n=8):
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n)
    return {name: 80 + hard + rng.normal(size=n) + 0.3 * i for i, name in enumerate(("SVC", "PS3VT", "SpreadingKNN"))}


@each("overlap", (0.0, 1 / 3))
def test_the_table_is_that_of_a_naive_twin(overlap):
    scores = rng_scores()
    table = of(scores, overlap=overlap).table.set_index("method")
    means = {name: sum(values) / len(values) for name, values in scores.items()}
    best = max(means, key=means.get)
    for name, values in scores.items():
        row = table.loc[METHODS[name].title]
        gaps = [a - b for a, b in zip(values, scores[best], strict=True)]
        n, mean = len(gaps), sum(gaps) / len(gaps)
        assert row["score"] == pytest.approx(means[name])
        assert row["difference"] == pytest.approx(mean)
        assert (row["wins"], row["ties"], row["losses"]) == tuple(
            sum(is_so) for is_so in zip(*[(g > 0, g == 0, g < 0) for g in gaps], strict=True)
        )
        if name == best:
            assert math.isnan(row["low"])
            continue
        variance = sum((g - mean) ** 2 for g in gaps) / (n - 1)
        reach = stats.t.ppf(0.975, n - 1) * math.sqrt((1 / n + overlap) * variance)
        assert (row["low"], row["high"]) == pytest.approx((mean - reach, mean + reach))


def test_equal_gains_of_a_few_test_points_are_no_proof():
    found = of({"SVC": [80.0, 90.0, 84.0], "LogisticRegression": [80.0, 90.0, 84.0]})
    gains = found.gains("SVC", "LogisticRegression")
    assert found.half_width(gains) == pytest.approx(mean_half_width(np.array([0.0, 0.0, 100 / 50])))
    assert found.half_width(gains + 1e-12 * np.arange(3)) == pytest.approx(found.half_width(gains))
    assert found.verdict.help is not Help.DOES_NOT


def test_without_overlap_the_interval_is_students():
    gaps = np.random.default_rng(1).normal(size=7)
    assert resampled_half_width(gaps, 0.0) == mean_half_width(gaps)
    low, high = stats.t.interval(0.95, 6, gaps.mean(), stats.sem(gaps))
    assert resampled_half_width(gaps, 0.0) == pytest.approx((high - low) / 2)


@pytest.mark.slow
def test_the_corrected_interval_covers_where_the_plain_one_does_not():
    """Splits of one small sample: the difference of two thresholds' accuracies, whose expectation is known."""
    rng, hits, n_samples = np.random.default_rng(0), {0.0: 0, 1 / 3: 0}, 400
    for _ in range(n_samples):
        gains = np.where(rng.random(60) < 0.5, 1.0, -1.0)  # what each point adds to the difference; its mean is zero
        gaps = np.array([gains[rng.permutation(60)[:15]].mean() for _ in range(10)])
        for overlap in hits:
            hits[overlap] += abs(gaps.mean()) <= resampled_half_width(gaps, overlap)
    assert hits[0.0] / n_samples < 0.9
    assert hits[1 / 3] / n_samples > 0.92


def test_a_loss_ranks_the_lowest_first_and_its_difference_is_positive():
    found = of({"SVR": [0.5, 0.6, 0.4], "QS3ORAO": [0.7, 0.7, 0.7]}, score="mean_absolute_error")
    assert found.ranking == ("SVR", "QS3ORAO")
    row = found.table.iloc[1]
    assert row["difference"] == pytest.approx(0.2)
    assert row["low"] < 0.2 < row["high"]
    assert (row["wins"], row["losses"]) == (0, 3)


def test_a_method_with_fewer_seeds_is_ranked_by_the_shared_seeds():
    # The second seed is harder; a plain mean would put the method without it first.
    found = of({"LogisticRegression": [90, 70, 80], "SVC": [89, None, None], "PS3VT": [91, 71, 81]})
    assert found.ranking == ("PS3VT", "LogisticRegression", "SVC")
    assert found.mean("SVC") == pytest.approx(79)
    assert found.table["seeds"].tolist() == [3, 3, 1]
    assert found.table["note"].tolist() == ["", "", "no time for more seeds"]


def test_the_verdict_counts_the_seeds_of_what_it_compares():
    found = of({"LogisticRegression": [90, 70, 80, 85], "PS3VT": [91, 71, 81.5, None]})
    assert found.verdict.seeds == 3
    assert "3 seeds" in found.verdict.sentence
    assert "0.0" in text_of(of({"SVC": [80, 81, 82], "PS3VT": [79.99, 80.98, 82]}))
    assert "-0.0 " not in text_of(of({"SVC": [80, 81, 82], "PS3VT": [79.99, 80.98, 82]}))


def test_a_method_with_too_few_seeds_for_an_interval_does_not_lead():
    found = of({"SVC": [80, 81, 82], "PS3VT": [79, 80.5, 81], "Nystroem": [99, None, None]})
    assert found.ranking == ("SVC", "PS3VT", "Nystroem")
    assert of({"SVC": [80], "Nystroem": [99]}).ranking == ("Nystroem", "SVC")


def test_a_clearly_worse_method_is_known_by_its_interval():
    found = of({"SVC": [90, 80, 85], "PS3VT": [80.1, 70, 75.2], "LogisticRegression": [91, 77, 86]})
    assert is_worse(found, "PS3VT")
    assert not is_worse(found, "LogisticRegression")
    assert not is_worse(of({"SVC": [90, 80], "PS3VT": [80, 70]}), "PS3VT")  # two seeds have no interval


VERDICTS = (
    ({"SVC": [80, 81, 82], "PS3VT": [85, 86.1, 87]}, "PS3VT", Help.HELPS, "unlabeled data help here"),
    ({"SVC": [80, 81, 82], "PS3VT": [79, 80.1, 81]}, "SVC", Help.DOES_NOT, "unlabeled data do not help here"),
    ({"SVC": [80, 81, 82], "PS3VT": [79, 83, 84]}, "PS3VT", Help.UNCLEAR, "not clear yet"),
    # A little worse, but simpler.
    (
        {"LogisticRegression": [80, 81, 82], "SVC": [80.1, 81.12, 82.08], "PS3VT": [79, 80, 81.1]},
        "LogisticRegression",
        Help.DOES_NOT,
        "Use logistic regression; 1 other method is not clearly worse; unlabeled data do not help here (PS3VT less SVC: -1.1",
    ),
    (
        {"SVC": [80, 81, 82], "LogisticRegression": [79, 79, 81]},
        "SVC",
        None,
        "Use SVC; 1 other method is not clearly worse (3 seeds).",
    ),
    ({"SVC": [80, 81, 82], "LogisticRegression": [78, 79.1, 80]}, "SVC", None, "Use SVC (3 seeds)."),
)


@each("scores, recommended, effect, sentence", VERDICTS)
def test_the_verdict_says_which_method_and_if_unlabeled_data_help(scores, recommended, effect, sentence):
    verdict = of(scores).verdict
    assert (verdict.recommended, verdict.help) == (recommended, effect)
    assert sentence in verdict.sentence
    assert "3 seeds" in verdict.sentence


@each(
    "scores, sentence",
    (
        ({"SVC": [80, 81], "PS3VT": [85, 86]}, "No verdict yet: it needs at least 3 seeds, and there are 2."),
        ({"SVC": [80], "PS3VT": [85]}, "No verdict yet: it needs at least 3 seeds, and there is 1."),
        ({"SVC": [80, 81, 82], "PS3VT": []}, "No verdict: fewer than two methods have enough seeds."),
        ({"SVC": [], "PS3VT": []}, "No verdict yet: it needs at least 3 seeds, and there are 0."),
    ),
)
def test_without_a_spread_there_is_no_verdict(scores, sentence):
    found = of(scores)
    assert found.verdict.recommended is None
    assert found.verdict.sentence == sentence
    assert sentence in text_of(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdict"]["recommended"] is None


def test_splits_are_disjoint_and_labels_are_nested():
    X, y = IRIS
    sample = Sample.of(X, np.where(np.arange(150) % 3 == 0, y, -1), n_labeled=None, is_ordered=False)
    assert (sample.n_known, sample.n_test, sample.n_labeled) == (50, 12, 38)
    few, many = sample.split(3, 10), sample.split(3, 20)
    assert (few.X_train == many.X_train).all()
    assert set(few.labeled) < set(many.labeled)
    assert (len(few.labeled), len(many.labeled)) == (10, 20)
    assert not set(few.train_rows) & set(few.test_rows)
    assert (few.y_test >= 0).all()
    assert (sample.split(4, 10).test_rows != few.test_rows).any()


def test_the_interval_is_corrected_only_where_splits_share_labels():
    X, y = IRIS
    assert Sample.of(X, y, n_labeled=30, is_ordered=False).overlap == 0.0
    assert Sample.of(X, y, n_labeled=None, is_ordered=False).overlap == pytest.approx(38 / 112)


def test_of_very_many_rows_a_part_is_used_with_all_labels():
    y = np.full(30_000, -1)
    y[:100] = np.arange(100) % 2
    sample = Sample.of(np.arange(30_000.0)[:, None], y, n_labeled=None, is_ordered=False)
    assert (len(sample.y), sample.n_known) == (20_000, 100)


def test_large_offsets_do_not_lose_differences():
    X, y = IRIS
    far = Sample.of(X + 1e7, y, n_labeled=30, is_ordered=False)
    assert far.split(0, 30).X_train == pytest.approx(
        Sample.of(X, y, n_labeled=30, is_ordered=False).split(0, 30).X_train, abs=1e-4
    )


@each(
    "change, message",
    (
        ({"y": np.zeros(150)}, "y must hold labels of at least two classes"),
        ({"y": np.where(np.arange(150) < 3, IRIS[1], -1)}, "at least two classes"),
        ({"y": np.where(np.arange(150) % 50 == 0, IRIS[1], -1)}, "needs at least 3 others"),
        ({"n_labeled": 2}, "n_labeled must be a whole number from 3, one for each class, to 112"),
        ({"n_labeled": 113}, "got 113"),
        ({"n_labeled": True}, "got True"),
        ({"X": IRIS[0][:10]}, "X must have the shape (150, d)"),
        ({"X": IRIS[0][:, 0]}, "one row for each label, got (150,)"),
        ({"X": [["a"]] * 150}, "X must hold numbers only"),
        ({"X": np.where(IRIS[0] > 7.8, np.nan, IRIS[0])}, "fill in missing numbers first"),
        ({"X": np.where(IRIS[0] > 7.8, 1e39, IRIS[0])}, "X must hold finite numbers, got 1e+39"),
        ({"score": "auc"}, "score must be one of accuracy for these labels, got 'auc'"),
        ({"methods": ["SVC", "TSGS3VM"]}, "methods must be of LogisticRegression, SVC"),
        ({"methods": ["SVC"]}, "at least two methods, got SVC"),
        ({"seeds": 0}, "seeds must be"),
        ({"seconds": 0.0}, "seconds must be"),
        ({"jobs": 0}, "jobs must be"),
    ),
)
def test_bad_input_is_refused_in_a_sentence(change, message):
    given = {"X": IRIS[0], "y": IRIS[1], **QUICK, **change}
    with pytest.raises((ComparisonError, ParameterError)) as error:
        compare(given.pop("X"), given.pop("y"), **given)
    assert message in str(error.value)


def test_each_kind_has_its_methods_and_its_score():
    assert [chosen_score(None, kind) for kind in ("binary", "classes", "ordinal")] == [
        "accuracy",
        "accuracy",
        "mean_auc",
    ]
    names = {kind: {m.name for m in chosen_methods(None, kind)} for kind in ("binary", "classes", "ordinal")}
    assert names["ordinal"] == {"SVR", "OrdinalSVC", "QS3ORAO", "QS3ORAO-labels"}
    assert names["binary"] - names["classes"] == {"TSGS3VM", "TSGS3VM-labels", "QSGS2AUC", "QSGS2AUC-labels"}
    for method in METHODS.values():
        assert method.make(0).get_params().items() >= dict(method.parameters).items()


def scores_only(table):
    """A table without what differs from run to run."""
    return table.drop(columns=["seconds", "megabytes"])


@pytest.mark.compiled
def test_a_comparison_is_the_same_again_and_grows_with_more_seeds(tmp_path):
    store = tmp_path / "fits.sqlite"
    first = compare(*IRIS, **QUICK | {"store": store, "seeds": 3})
    again = compare_of_model_selection(*IRIS, **QUICK | {"store": Store(store), "seeds": 3})
    pd.testing.assert_frame_equal(first.table, again.table)  # its times, too: nothing was fitted again
    more = compare(*IRIS, **QUICK | {"store": store, "seeds": 5})
    for name in TWO:
        assert list(more.scores(name).values())[:3] == list(first.scores(name).values())
        assert list(more.scores(name)) == [0, 1, 2, 3, 4]
    fresh = compare(*IRIS, **QUICK | {"seeds": 5})
    pd.testing.assert_frame_equal(scores_only(fresh.table), scores_only(more.table))
    assert fresh.is_complete
    assert fresh.verdict.sentence == more.verdict.sentence


@pytest.mark.compiled
def test_an_interrupted_comparison_goes_on(tmp_path):
    store, made = tmp_path / "fits.sqlite", []

    def interrupt(so_far):
        made.append(len(so_far.fits))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(*IRIS, **QUICK | {"store": store, "seeds": 3}, tell=interrupt)
    sample = Sample.of(*IRIS, n_labeled=30, is_ordered=False)
    requests = [FitRequest(name, seed, 30) for name in TWO for seed in range(3)]
    kept = KeptFits(sample, Store(store)).get(requests)
    assert 0 < len(kept) < 6
    whole = compare(*IRIS, **QUICK | {"store": store, "seeds": 3})
    assert all(fit in whole.fits for fit in kept.values())
    pd.testing.assert_frame_equal(scores_only(whole.table), scores_only(compare(*IRIS, **QUICK | {"seeds": 3}).table))


@pytest.mark.compiled
def test_a_method_that_cannot_learn_says_why_and_the_others_go_on():
    found = compare(*IRIS, **QUICK | {"n_labeled": 3, "seeds": 3, "methods": [*TWO, "SelfTraining"]})
    row = found.table.set_index("method").loc["Self-training SVC"]
    assert row["seeds"] == 0
    assert "at least two labels of each class" in row["note"]
    assert found.verdict.recommended in TWO
    assert "at least two labels" in text_of(found)
    assert "at least two labels" in html_of(found)


@pytest.mark.compiled
def test_of_a_very_short_time_there_is_no_verdict_but_a_table():
    found = compare(*make_moons(2000, noise=0.2, random_state=0), seconds=1.0, store=None, jobs=1)
    assert not found.is_complete
    assert len(found.table) == len(chosen_methods(None, "binary"))
    assert found.table["note"].str.contains("time").any()
    assert "The time was over" in text_of(found)


def test_slow_fits_come_last_and_alone():
    names = ["SelfTraining", *TWO, "SpreadingRBF"]
    lists = _shared_out([FitRequest(name, seed, 20) for seed in range(30) for name in names], 2)
    assert [len(one) for one in lists] == [12] * 5 + [1] * 60
    assert {fit.method for one in lists[:5] for fit in one} == set(TWO)


@pytest.mark.compiled
def test_ordered_classes_and_curves():
    X, y = load("ordinal_ramp", n=200).X, load("ordinal_ramp", n=200).y
    found = compare(X, y, n_labeled=50, seeds=1, methods=["SVR", "OrdinalSVC"], ordered=True, store=None, jobs=1)
    assert set(found.curves["labels"]) == {20, 50, 100}
    assert set(found.curves["method"]) == {"SVR", "SVC"}
    assert found.score.title == "mean AUC"
    assert Sample.of(X, y, n_labeled=50, is_ordered=True).kind == ORDINAL


@pytest.mark.compiled
def test_the_command_has_the_numbers_of_python(tmp_path, capsys):
    X, y = load("iris").X, load("iris").y
    files = {name: tmp_path / f"out.{name}" for name in ("json", "csv", "html")}
    given = [
        "compare",
        "iris",
        "--n-labeled",
        "30",
        "--seeds",
        "3",
        "--methods",
        ",".join(TWO),
        "--no-curves",
        "--jobs",
        "1",
    ]
    given += ["--store", str(tmp_path / "s.sqlite"), *(f"--{name}={file}" for name, file in files.items())]
    assert main(given) == 0
    shown = capsys.readouterr()
    expected = compare(X, y, **QUICK | {"seeds": 3, "store": tmp_path / "s.sqlite"}, name="iris")
    said = json.loads(files["json"].read_text())
    assert said == json.loads(json.dumps(expected.to_dict()))
    assert files["csv"].read_text() == expected.to_csv()
    assert pd.read_csv(files["csv"])["method"].tolist() == expected.table["method"].tolist()
    assert expected.verdict.sentence in shown.out
    assert expected.verdict.sentence in files["html"].read_text(encoding="utf-8")
    assert "best so far" in shown.err


@pytest.mark.compiled
def test_the_command_reads_a_file_and_its_unlabeled_rows(tmp_path, capsys):
    X, y = make_moons(120, noise=0.1, random_state=0)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(
        kind=np.where(np.arange(120) % 2, "", np.array(["no", "yes"])[y])
    )
    table.to_csv(tmp_path / "own.csv", index=False)
    given = ["compare", str(tmp_path / "own.csv"), "--target", "kind", "--seeds", "1", "--methods", ",".join(TWO)]
    assert main([*given, "--no-curves", "--jobs", "1", "--quiet", "--store", str(tmp_path / "s.sqlite")]) == 0
    said = capsys.readouterr()
    assert "draws 45 labels and 60 unlabeled points" in said.out
    assert not said.err


@each(
    "arguments, message",
    (
        (["nowhere.csv"], "there is no file 'nowhere.csv', and no set of that name"),
        (["iris", "--n-labeled", "1000"], "n_labeled must be a whole number from 3"),
        (["iris", "--seeds", "0"], "--seeds must be at least 1"),
        (["iris", "--score", "r2"], "score must be one of accuracy"),
        (["iris", "--json", "nowhere/x.json"], "the folder nowhere does not exist"),
    ),
)
def test_the_command_refuses_bad_input_in_a_sentence(arguments, message, capsys):
    assert message in refusal(capsys, ["compare", *arguments])


def with_curves():
    base = of(rng_scores(), name="<b>file</b> & co")
    more = [
        replace(fit, request=replace(fit.request, n_labeled=n), scores={"accuracy": fit.scores["accuracy"] + shift})
        for n, shift in ((50, 3.0), (100, 5.0))
        for fit in base.fits
    ]
    return replace(base, fits=(*base.fits, *more))


def test_the_report_is_one_file_that_asks_for_nothing_else():
    text = html_of(with_curves())
    assert "<b>file" not in text
    assert "&lt;b&gt;file" in text
    assert all(word not in text for word in ("src=", "href=", "<script", "@import"))
    assert text.count("<tr") == 1 + 3
    assert "<svg" in text
    assert "<svg" not in html_of(of(rng_scores()))  # one number of labels is no curve


def test_curves_have_bands_and_rise_in_the_figure():
    found = with_curves()
    own = found.curves[found.curves["method"] == "SVC"]
    assert own["labels"].tolist() == [20, 50, 100]
    values = np.array([*found.scores("SVC", 50).values()])
    low, high = stats.t.interval(0.95, 7, values.mean(), stats.sem(values))
    assert (own["low"].iloc[1], own["high"].iloc[1]) == pytest.approx((low, high))
    figure = curve_figure(found.curves, "accuracy, %")
    assert figure.count("<polyline") == figure.count("<polygon") == 3
    heights = [float(pair.split(",")[1]) for pair in figure.split('<polyline points="')[1].split('"')[0].split()]
    assert all(later < earlier for earlier, later in pairwise(heights))

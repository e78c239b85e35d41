"""Comparisons of given scores: the statistics against naive twins, verdicts, the report and its figure."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from scipy import stats

from dsgcore.comparing import METHODS, Comparison, Fit, FitRequest, Help, html_of
from dsgcore.comparing.report import text_of
from dsgcore.core.metrics import mean_half_width, paired_difference


def of(scores, *, score="accuracy", overlap=0.0, n_labeled=20, **more):
    """Return a comparison with these scores: for each method a list over the seeds, with None for a missing score."""
    fits = [
        Fit(FitRequest(name, seed, n_labeled), {score: float(value)}, 0.5, 10.0)
        for name, values in scores.items()
        for seed, value in enumerate(values)
        if value is not None
    ]
    return Comparison(tuple(fits), tuple(scores), score, n_labeled, 100, 50, {n_labeled: overlap}, **more)


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
        row = table.loc[name]
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
    width = mean_half_width(np.array([0.0, 0.0, 100 / 50]))
    assert found.difference("SVC", "LogisticRegression").half_width == pytest.approx(width)
    nearly = paired_difference(80 + 1e-12 * np.arange(3), [80.0] * 3, step=100 / 50)
    assert (nearly.mean, nearly.half_width, nearly.ties) == (0.0, pytest.approx(width), 3)
    assert found.verdict.help is not Help.DOES_NOT


def test_without_overlap_the_interval_is_students():
    gaps = np.random.default_rng(1).normal(size=7)
    low, high = stats.t.interval(0.95, 6, gaps.mean(), stats.sem(gaps))
    assert mean_half_width(gaps, 0.0) == pytest.approx((high - low) / 2)


def test_the_corrected_interval_covers_where_the_plain_one_does_not():
    """Splits of one small sample: the difference of two thresholds' accuracies, whose expectation is known."""
    rng, hits, n_samples = np.random.default_rng(0), {0.0: 0, 1 / 3: 0}, 400
    for _ in range(n_samples):
        gains = np.where(rng.random(60) < 0.5, 1.0, -1.0)  # what each point adds to the difference; its mean is zero
        gaps = np.array([gains[rng.permutation(60)[:15]].mean() for _ in range(10)])
        for overlap in hits:
            hits[overlap] += abs(gaps.mean()) <= mean_half_width(gaps, overlap)
    assert hits[0.0] / n_samples < 0.9
    assert hits[1 / 3] / n_samples > 0.92


def test_a_loss_ranks_the_lowest_first_and_its_difference_is_positive():
    found = of({"SVR": [0.5, 0.6, 0.4], "QS3ORAO": [0.7, 0.7, 0.7]}, score="mean_absolute_error")
    assert found.ranking == ("SVR", "QS3ORAO")
    row = found.table.iloc[1]
    assert row["difference"] == pytest.approx(0.2)
    assert row["low"] < 0.2 < row["high"]
    assert (row["wins"], row["losses"]) == (0, 3)


def test_a_method_with_too_few_seeds_has_no_rank_and_a_sentence_says_why():
    # The second seed is harder, so a plain mean would put the method without it first.
    found = of({"LogisticRegression": [90, 70, 80], "SVC": [89, None, None], "PS3VT": [91, 71, 81]})
    assert (found.ranking, found.unranked) == (("PS3VT", "LogisticRegression"), ("SVC",))
    row = found.table.set_index("method").loc["SVC"]
    assert row[["rank", "score"]].isna().all()
    assert (row["difference"], row["seeds"], row["note"]) == (-2.0, 1, "no time for more seeds")
    assert of({"SVC": [80, 81, 82], "PS3VT": [79, 80.5, 81], "Nystroem": [99, None, None]}).ranking == ("SVC", "PS3VT")
    assert of({"SVC": [80], "Nystroem": [99]}).ranking == ("Nystroem", "SVC")
    early = of({"SVC": [80, 81], "PS3VT": [79, 80.5], "Nystroem": [99, None]})  # no interval yet, so all have a rank
    assert (early.ranking, early.seeds) == (("Nystroem", "SVC", "PS3VT"), {0})


HIGHEST = {"accuracy": 100.0, "auc": 100.0, "mean_auc": 100.0, "mean_absolute_error": 2.0}


@each("score", tuple(HIGHEST))
def test_whatever_lacks_nothing_is_above_the_possible_and_ranks_are_of_shared_seeds(score):
    """Easy and hard seeds, of which methods lack any: ten comparisons near the end of the scale."""
    rng, most = np.random.default_rng(5), HIGHEST[score]
    for _ in range(10):
        n, easy = rng.integers(1, 12), rng.random(12)
        scores = {
            name: [
                None if seed >= has or rng.random() < 0.1 else most * min(1.0, easy[seed] + 0.1 * rng.random())
                for seed in range(n)
            ]
            for name, has in zip(list(METHODS)[:6], rng.integers(0, n + 1, 6), strict=True)
        }
        found = of(scores, score=score, n_classes=3)
        table = found.table
        ranked = table[table["rank"].notna()]
        assert ranked["rank"].tolist() == list(range(1, len(ranked) + 1))
        assert (
            ranked["score"].is_monotonic_increasing if found.score.is_loss else ranked["score"].is_monotonic_decreasing
        )
        for name, row in zip(found.ranking, ranked.to_dict("records"), strict=True):
            own = {seed: value for seed, value in enumerate(scores[name]) if value is not None}
            assert found.seeds <= own.keys()
            assert row["score"] == pytest.approx(np.mean([own[seed] for seed in found.seeds]))
            assert row["difference"] == pytest.approx(row["score"] - ranked["score"].iloc[0])
        others = table[table["rank"].isna()]
        assert others["score"].isna().all()
        assert (others["note"] != "").all()
        assert not table[["difference", "low", "high"]].abs().gt(most + 1e-9).any(axis=None)
        for frame in (ranked[["score"]], found.curves[["score", "low", "high"]]):
            assert not (frame.gt(most + 1e-9) | frame.lt(-1e-9)).any(axis=None)
        if found.verdict.recommended is not None:
            assert found.verdict.recommended in found.ranking
            assert len(found.seeds) >= 3
        text, said = text_of(found), json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert "e-" not in found.verdict.sentence
        assert [row["rank"] for row in said["table"]] == [
            None if np.isnan(r) else r for r in table["rank"].astype(float)
        ]
        assert all(note in text for note in table["note"])
        assert found.to_csv().count("\n") == 7


def test_a_rounding_error_is_no_difference():
    found = of({"SVC": [80.1, 80.2, 80.3], "PS3VT": [80.3, 80.1, 80.2]})
    assert found.difference("SVC", "PS3VT").mean == 0.0
    assert "0.0 points of accuracy, 95 % -0.4 to +0.4" in found.verdict.sentence


def test_the_verdict_counts_the_seeds_of_what_it_compares():
    found = of({"LogisticRegression": [90, 70, 80, 85], "PS3VT": [91, 71, 81.5, None]})
    assert found.verdict.seeds == 3
    assert "3 seeds" in found.verdict.sentence
    assert "0.0" in text_of(of({"SVC": [80, 81, 82], "PS3VT": [79.99, 80.98, 82]}))
    assert "-0.0 " not in text_of(of({"SVC": [80, 81, 82], "PS3VT": [79.99, 80.98, 82]}))


def test_a_clearly_worse_method_is_known_by_its_interval():
    found = of({"SVC": [90, 80, 85], "PS3VT": [80.1, 70, 75.2], "LogisticRegression": [91, 77, 86]})
    assert found.is_worse("PS3VT")
    assert not found.is_worse("LogisticRegression")
    assert not of({"SVC": [90, 80], "PS3VT": [80, 70]}).is_worse("PS3VT")  # two seeds have no interval


VERDICTS = (
    ({"SVC": [80, 81, 82], "PS3VT": [85, 86.1, 87]}, "PS3VT", Help.HELPS, "unlabeled data help here"),
    (
        {"SVC": [80, 81, 82], "PS3VT": [79, 80.1, 81]},
        "SVC",
        Help.HURTS,
        "unlabeled data hurt here (PS3VT less SVC: -1.0",
    ),
    ({"SVC": [80, 81, 82], "PS3VT": [80.1, 80.9, 82]}, "SVC", Help.DOES_NOT, "unlabeled data do not help here"),
    # Better by chance, so the simpler one stays.
    ({"SVC": [80, 81, 82], "PS3VT": [79, 83, 84]}, "SVC", Help.UNCLEAR, "it cannot be told yet if unlabeled data help"),
    # A little worse, but simpler.
    (
        {"LogisticRegression": [80, 81, 82], "SVC": [80.1, 81.12, 82.08], "PS3VT": [79, 80, 81.1]},
        "LogisticRegression",
        Help.HURTS,
        "Nothing clearly beats LogisticRegression here: use that (accuracy 81.0, 95 % 78.5 to 83.5, 3 seeds); 1 other method "
        "is not clearly worse; unlabeled data hurt here (PS3VT less SVC: -1.1",
    ),
    # More than one standard error better, but not with 95 %.
    (
        {"SVC": [80, 81, 82], "LogisticRegression": [79, 79, 81]},
        "SVC",
        None,
        "3 seeds); 1 other method is not clearly worse.",
    ),
    (
        {"SVC": [78, 81, 82], "LogisticRegression": [79, 79, 81]},
        "LogisticRegression",
        None,
        "3 seeds); 1 other method is not clearly worse, and 1 may be more than 0.5 points better, which is too close to call.",
    ),
    (
        {"SVC": [80, 81, 82], "LogisticRegression": [78, 79.1, 80]},
        "SVC",
        None,
        "Use SVC, the simplest method that nothing clearly beats here (accuracy 81.0, 95 % 78.5 to 83.5, 3 seeds).",
    ),
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


def test_the_interval_of_a_score_is_that_of_the_tested_rows_at_least():
    scores = {"SVC": [100.0] * 10, "LogisticRegression": [90.0] * 10}
    few, unknown = (of(scores, overlap=1 / 3, n_known=n).interval("SVC") for n in (60, 0))
    assert few.low < 93.0 < unknown.low
    assert few.high == unknown.high == 100.0
    noisy = {"SVC": [60.0, 100.0] * 5, "LogisticRegression": [90.0] * 10}
    assert of(noisy, overlap=1 / 3, n_known=10**6).interval("SVC") == of(noisy, overlap=1 / 3).interval("SVC")


def test_what_would_tell_is_said_and_falls_with_the_square_of_the_width():
    hard = np.random.default_rng(0).normal(size=10)
    scores = {"SVC": 80.0 + 0 * hard, "PS3VT": 80.5 + 4 * (hard - hard.mean())}
    found = of(scores, overlap=1 / 3, n_known=100)
    gain = found.verdict.gain
    assert found.verdict.help is Help.UNCLEAR
    needed = 100 * ((gain.half_width / gain.mean) ** 2 - 1.0)
    said = int(found.verdict.sentence.split("; about ")[1].split(" labels more would tell")[0].replace(",", ""))
    assert said == pytest.approx(needed, rel=0.06)
    assert " seeds more would tell" in of(scores, n_known=100).verdict.sentence  # with labels to spare
    assert "would tell" not in of(scores, overlap=1 / 3).verdict.sentence

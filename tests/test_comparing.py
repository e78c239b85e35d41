"""Comparisons: splits, rounds, what is kept, bad input, the command; and of given scores the statistics, verdicts and report."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from contextlib import nullcontext
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each, some
from clocks import Clock
from job_functions import report_one_and_wait
from scipy import stats
from sklearn.datasets import load_iris, make_moons
from sklearn.dummy import DummyClassifier

from dsgcore.__main__ import main
from dsgcore.comparing import (
    METHODS,
    Comparison,
    Fit,
    FitRequest,
    Help,
    Sample,
    rounds,
    samples,
)
from dsgcore.comparing.methods import Method, in_units, suited
from dsgcore.comparing.report import text_of
from dsgcore.comparing.samples import about_shift
from dsgcore.core.metrics import mean_half_width, paired_difference, scores_of_chance
from dsgcore.data.reading import File
from dsgcore.jobs import JobQueue, tasks
from dsgcore.jobs.tasks import CUT_OFF, NOT_BEGUN, Finished, finished
from dsgcore.model_selection import compare
from dsgcore.studies import Store

IRIS = load_iris(return_X_y=True)
TWO = ["LogisticRegression", "SVC"]
QUICK = {"n_labeled": 30, "methods": TWO, "curves": False, "store": None, "jobs": 1, "seconds": None}


def of_iris(n_labeled=30, y=IRIS[1], X=IRIS[0]):
    return Sample.of(X, y, n_labeled=n_labeled, is_ordered=False)


def quick(X=IRIS[0], y=IRIS[1], **options):
    return compare(X, y, **QUICK | options)


# --- splits


def test_splits_are_disjoint_labels_are_nested_and_intervals_corrected_only_where_splits_share_labels():
    sample = of_iris(None, np.where(np.arange(150) % 3 == 0, IRIS[1], -1))
    assert (sample.n_known, sample.n_test, sample.n_labeled) == (50, 12, 38)
    few, many = sample.split(3, 10), sample.split(3, 20)
    assert (few.X_train == many.X_train).all()
    assert set(few.labeled) < set(many.labeled)
    assert (len(few.labeled), len(many.labeled)) == (10, 20)
    assert not set(few.train_rows) & set(few.test_rows)
    assert (few.y_test >= 0).all()
    assert (sample.split(4, 10).test_rows != few.test_rows).any()
    assert [of_iris().overlap_at(n) for n in (20, 30, 56)] == [0.0] * 3
    assert [of_iris().overlap_at(n) for n in (57, 100, 112)] == pytest.approx([38 / 112] * 3)


def test_of_very_many_rows_a_part_is_used_with_all_labels_and_large_offsets_lose_no_differences():
    y = np.where(np.arange(30_000) < 100, np.arange(30_000) % 2, -1)
    sample = of_iris(None, y, np.arange(30_000.0)[:, None])
    assert (len(sample.y), sample.n_known) == (20_000, 100)
    far, near = (of_iris(X=IRIS[0] + offset).split(0, 30).X_train for offset in (1e7, 0.0))
    assert far == pytest.approx(near, abs=1e-4)


# --- methods and their fits


def test_a_slow_method_learns_from_a_part_of_the_unlabeled_points_and_says_so(monkeypatch):
    monkeypatch.setattr(samples, "MOST_OF_SLOW", 50)
    sizes = {}

    class Recorder(DummyClassifier):
        def fit(self, X, y):
            sizes[len(y)] = set(np.unique(y))
            return super().fit(X, np.maximum(y, 0))

    monkeypatch.setattr(Method, "make", lambda self, seed: Recorder())
    X, y = make_moons(400, random_state=0)
    split, names = of_iris(20, y, X).split(0, 20), ("SelfTraining", "PS3VT", "SVC")
    notes = [samples.fit(FitRequest(name, 0, 20), split, "classes").note for name in names]
    assert sizes == {70: {-1, 0, 1}, 300: {-1, 0, 1}, 20: {0, 1}}
    assert notes == ["learns from 50 of 280 unlabeled points, to be fast enough", "", ""]


@pytest.mark.compiled
def test_a_job_prepares_the_points_of_a_seed_once(monkeypatch):
    made, reported, split = [], [], Sample.split
    monkeypatch.setattr(Sample, "split", lambda self, *given: made.append(given) or split(self, *given))
    requests = [FitRequest(name, seed, 30) for seed in range(2) for name in TWO]
    samples.fit_some(of_iris(), requests, report=reported.append)
    assert [fit.request for fit in reported] == requests
    assert made == [(0, 30), (1, 30)]


# --- a comparison


def scores_only(found):
    """A table without what differs from run to run."""
    return found.table.drop(columns=["seconds", "megabytes"])


def test_a_comparison_is_the_same_again_and_grows_with_more_seeds(tmp_path, monkeypatch):
    opened, connect = [], sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: opened.append(given) or connect(*given, **more))
    store = tmp_path / "fits.sqlite"
    first = quick(store=store, seeds=3)
    assert len(opened) <= 12  # six fits: the store is asked once for each
    again = quick(store=Store(store), seeds=3)
    pd.testing.assert_frame_equal(first.table, again.table)  # its times, too: nothing was fitted again
    more, fresh = quick(store=store, seeds=5), quick(seeds=5)
    assert [list(more.scores(name)) for name in TWO] == [[0, 1, 2, 3, 4]] * 2
    assert all(first.scores(name).items() <= more.scores(name).items() for name in TWO)
    pd.testing.assert_frame_equal(scores_only(fresh), scores_only(more))
    assert fresh.is_complete
    assert fresh.verdict.sentence == more.verdict.sentence


def test_when_the_time_is_over_a_fit_that_goes_on_is_cut_off_and_the_others_do_not_begin(monkeypatch):
    clock = Clock(0.0)
    monkeypatch.setattr(tasks, "time", SimpleNamespace(monotonic=clock, sleep=time.sleep))
    with JobQueue(1) as queue:
        going = finished(queue, report_one_and_wait, (), [["a", "b", "c"], ["d"]], end=1.0)
        assert next(going) == ("a", "A", "")
        clock.now = 1.0
        assert sorted(going) == [("b", None, CUT_OFF), ("c", None, NOT_BEGUN), ("d", None, NOT_BEGUN)]
    refused = SimpleNamespace(n_at_a_time=1, submit=lambda *given, **options: pytest.fail("a fit has begun"))
    assert list(finished(refused, print, (), [["a"]], end=1.0)) == [("a", None, NOT_BEGUN)]


def test_a_difference_between_rows_that_chance_explains_is_not_warned_of():
    y = np.where(np.arange(20) % 2, -1, np.arange(20) // 2 % 2)
    for seed in (3, 8, 22):  # samples of one distribution that a forest tells apart with an AUC above 0.6
        X = np.random.default_rng(seed).normal(size=(20, 2))
        assert list(about_shift(X, y)) == []
        assert len(list(about_shift(X + 3.0 * (y < 0)[:, None], y))) == 1


def test_the_command_has_the_numbers_of_python_and_reads_unlabeled_rows(tmp_path, capsys):
    X, y = make_moons(120, noise=0.1, random_state=0)
    kind = np.where(np.arange(120) % 2, "", np.array(["no", "yes"])[y])
    pd.DataFrame(X, columns=["a", "b"]).assign(kind=kind).to_csv(tmp_path / "own.csv", index=False)
    files = {name: tmp_path / f"out.{name}" for name in ("json", "csv", "html")}
    given = [
        "compare",
        str(tmp_path / "own.csv"),
        *f"--target=kind --methods={','.join(TWO)} --no-curves --jobs=1".split(),
    ]
    given += ["--store", str(tmp_path / "s.sqlite"), *(f"--{name}={file}" for name, file in files.items())]
    assert main([*given, "--seeds=3", "--quiet"]) == 0
    shown = capsys.readouterr()
    assert not shown.err
    assert "draws 45 labels and 60 unlabeled points" in shown.out
    file = File.of_path(tmp_path / "own.csv")
    recipe = file.recipe("classes", target="kind", is_asked=True)
    data = file.labels(recipe, "classes")
    same = {"recipe": recipe, "class_names": data.class_names, "name": "own", "store": tmp_path / "s.sqlite"}
    expected = quick(file.kept(recipe), data.y, n_labeled=None, seeds=3, **same)
    said = json.loads(files["json"].read_text())
    assert said == {"command": "dsg-lab compare", **json.loads(json.dumps(expected.to_dict()))}
    assert files["csv"].read_text() == expected.to_csv()
    assert expected.verdict.sentence in shown.out
    assert expected.verdict.sentence in files["html"].read_text(encoding="utf-8")
    assert main([*given, "--seeds=1"]) == 1  # the files are its own, but there is no verdict
    said = capsys.readouterr().out
    assert said.startswith("No verdict")
    assert f"The files are written: {', '.join(map(str, files.values()))}." in said


# --- rounds of made-up scores

THREE = {"n_labeled": 30, "methods": [*TWO, "Nystroem"], "curves": False, "store": None}
# Gain of SVC over logistic regression: its mean, and its spread over the seeds.
EQUAL, UNCLEAR, BETTER, CLEAR = (0.1, 0.1), (0.1, 5.0), (2.0, 3.5), (10.0, 0.1)


@pytest.fixture
def race(monkeypatch):
    """Return a function that compares methods with made-up scores, whose fits take 0.1 s of a made-up clock."""
    clock = [0.0]

    def run(gain, slow=(), begun=None, **options):
        def score(request):
            rng, sign = np.random.default_rng(request.seed), 1.0 if request.seed % 2 else -1.0
            hard = 80.0 + rng.normal()
            more = {"SVC": gain[0] + gain[1] * sign, "Nystroem": rng.normal() - 30.0}
            more["SelfTraining"] = 0.1 * rng.normal() - 0.3
            return hard + more.get(request.method, 0.0)

        def made(queue, function, shared, lists, *, end, memory_limit):
            for (request,) in lists:
                if clock[0] >= end:
                    return
                if request.method in slow:  # it would take longer than there is time
                    clock[0] = end
                    yield Finished(request, None, CUT_OFF)
                    return
                clock[0] += 0.1
                if begun is not None:
                    begun.append(request)
                yield Finished(request, Fit(request, {"accuracy": score(request)}, 0.1, 1.0))

        monkeypatch.setattr(rounds, "finished", made)
        monkeypatch.setattr(rounds, "_shared_out", lambda requests, n: [[one] for one in requests])
        monkeypatch.setattr(rounds, "queue_of", lambda *given: nullcontext(SimpleNamespace(n_at_a_time=1)))
        monkeypatch.setattr(rounds, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        return compare(*IRIS, **THREE | options)

    return run


def seeds_of(found):
    return {name: len(found.scores(name)) for name in found.methods}


ROUNDS = (
    (EQUAL, {}, 10),
    (CLEAR, {}, 10),  # a simple method that is clearly worse gets its seeds, too
    (BETTER, {}, 15),  # until SVC clearly beats the simpler one, which cannot be much better
    (UNCLEAR, {}, 50),
    (UNCLEAR, {"seeds": 10}, 10),
    (UNCLEAR, {"seeds": 20}, 20),
    (UNCLEAR, {"n_labeled": None}, 50),  # the splits share labels
)


@each("gain, options, seeds", ROUNDS)
def test_seeds_are_added_until_the_choice_is_clear(gain, options, seeds, race):
    found = race(gain, **options)
    # Every method is in the first three rounds that give an interval. One that is clearly worse then gets no more.
    assert seeds_of(found) == {"LogisticRegression": seeds, "SVC": seeds, "Nystroem": 3}
    assert found.is_complete
    assert bool(found.verdict.contenders) is (gain is UNCLEAR)
    assert ("too close to call" in found.verdict.sentence) is (gain is UNCLEAR)
    assert text_of(found).count("behind the best one: no more seeds") == 1


def test_a_method_that_cannot_be_much_better_gets_no_more_seeds(race):
    # Label spreading is as good as logistic regression, and the verdict compares it with SVC. Self-training is a little worse.
    found = race(UNCLEAR, methods=[*THREE["methods"], "SpreadingKNN", "SelfTraining"])
    assert seeds_of(found) == dict.fromkeys([*TWO, "SpreadingKNN"], 50) | {"Nystroem": 3, "SelfTraining": 10}
    assert "hardly much better: no more seeds" in text_of(found)


def test_a_method_that_has_not_begun_comes_before_more_seeds_of_others(race):
    names = [name for name, method in METHODS.items() if "classes" in method.kinds]
    found = race(EQUAL, methods=names, seconds=1.8)  # the first round of 13 fits may take half of it
    assert len(names) == 13
    assert min(seeds_of(found).values()) == 1


def test_a_method_whose_first_fit_takes_too_long_takes_half_of_the_tables_time(race):
    found = race(UNCLEAR, slow=("Nystroem",), seconds=10.0)
    assert seeds_of(found)["Nystroem"] == 0
    # It may take 3.25 s. Of the other 6.75 s each of the two methods gets a tenth for a seed.
    assert 30 <= seeds_of(found)["SVC"] <= 36
    found = race(UNCLEAR, slow=THREE["methods"], seconds=10.0)
    assert not found.is_complete
    assert found.verdict.recommended is None
    assert found.table["note"].str.contains("time").all()
    assert len(found.table) == 3


@each("curves", (False, True))
def test_only_when_the_time_is_over_does_a_comparison_say_so(curves, race):
    found = race(UNCLEAR, seconds=20.0, curves=curves)
    # Ten seeds take 2.3 s, 50 take 10.3, and the curves 5.1: of 20 s the table may take 13 before the curves.
    assert found.is_complete
    assert "time was over" not in text_of(found)
    found = race(UNCLEAR, seconds=8.0, curves=curves)
    assert found.seconds == pytest.approx(8.0, abs=0.2)
    assert not found.is_complete
    assert text_of(found).count("The time was over before all seeds were done.") == 1
    assert "too close to call" in found.verdict.sentence
    assert len(found.seeds) > 20


def test_a_comparison_that_is_stopped_goes_on_to_the_same_table(race, tmp_path):
    def stop(so_far):
        if len(so_far.fits) == 30:  # the race begins with 23 fits
            raise KeyboardInterrupt

    store, before, after = tmp_path / "fits.sqlite", [], []
    with pytest.raises(KeyboardInterrupt):
        race(UNCLEAR, begun=before, store=store, callback=stop)
    found = race(UNCLEAR, begun=after, store=store)
    assert not set(before) & set(after)  # what was kept is not made again
    pd.testing.assert_frame_equal(found.table, race(UNCLEAR).table)


# --- given scores: statistics against naive twins, verdicts, the report and its figure


def of(scores, *, score="accuracy", overlap=0.0, n_labeled=20, chance=math.nan, **more):
    """Return a comparison with these scores: for each method a list over the seeds, with None for a missing score."""
    fits = [
        Fit(FitRequest(name, seed, n_labeled), {score: float(value)}, 0.5, 10.0, chance={score: chance})
        for name, values in scores.items()
        for seed, value in enumerate(values)
        if value is not None
    ]
    return Comparison(tuple(fits), tuple(scores), score, n_labeled, 100, 50, {n_labeled: overlap}, **more)


def rng_scores(seed=0, n=8):
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n)
    return {name: 80 + hard + rng.normal(size=n) + 0.3 * i for i, name in enumerate(("SVC", "PS3VT", "SpreadingKNN"))}


@each("score, sign, overlap", (("accuracy", 1, 0.0), ("accuracy", 1, 1 / 3), ("mean_absolute_error", -1, 0.0)))
def test_the_table_is_that_of_a_naive_twin(score, sign, overlap):
    scores = {name: values / (100.0 if sign < 0 else 1.0) for name, values in rng_scores().items()}
    found = of(scores, score=score, overlap=overlap)
    means = {name: sum(values) / len(values) for name, values in scores.items()}
    ranking = sorted(means, key=lambda name: -sign * means[name])
    assert found.ranking == tuple(ranking)
    for name, values in scores.items():
        row = found.table.set_index("method").loc[name]
        gaps = [a - b for a, b in zip(values, scores[ranking[0]], strict=True)]
        n, mean = len(gaps), sum(gaps) / len(gaps)
        assert row["score"] == pytest.approx(means[name])
        assert row["difference"] == pytest.approx(mean)
        wins = [sum(is_so) for is_so in zip(*[(sign * g > 0, g == 0, sign * g < 0) for g in gaps], strict=True)]
        assert row[["wins", "ties", "losses"]].tolist() == wins
        variance = sum((g - mean) ** 2 for g in gaps) / (n - 1)
        reach = stats.t.ppf(1 - 0.025 / 2, n - 1) * math.sqrt((1 / n + overlap) * variance)
        expected = (math.nan, math.nan) if name == ranking[0] else (mean - reach, mean + reach)
        assert (row["low"], row["high"]) == pytest.approx(expected, nan_ok=True)


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


# Tables without a best method: all are equally good, or the labels are drawn at random; the rows are fresh, or of one small pool
# that all splits share, in which some methods are lucky.
def equal_methods(rng, n, names):
    return 70 + 3 * rng.normal(size=n) + 1.5 * rng.normal(size=(len(names), n)), 50.0


def equal_on_a_pool(rng, n, names, share=0.8):
    right, tested = rng.random((len(names), 60)) < share, [rng.permutation(60)[:15] for _ in range(n)]
    return np.array([[100 * own[rows].mean() for rows in tested] for own in right]), 50.0


def random_labels(rng, n, names):
    return 50 + 2 * rng.normal(size=n) + 3 * rng.normal(size=(len(names), n)), 51.0


def random_labels_of_a_pool(rng, n, names):
    return equal_on_a_pool(rng, n, names, share=0.5)[0], 51.0


NO_BEST = (equal_methods, equal_on_a_pool, random_labels, random_labels_of_a_pool)


@each("table, n", product(NO_BEST, (3, 10)))
def test_of_many_methods_none_is_said_to_be_best_where_luck_chose_it(table, n):
    names, wrong, seeds = list(suited("binary")), {"use": 0, "help": 0, "chance": 0}, some(range(100), 40)
    for seed in seeds:
        scores, chance = table(np.random.default_rng([seed, n]), n, names)
        overlap = 1 / 3 if "pool" in table.__name__ else 0.0
        verdict = of(dict(zip(names, scores, strict=True)), chance=chance, overlap=overlap).verdict
        is_simplest = METHODS[verdict.recommended].effort == 0
        wrong["use"] += verdict.sentence.startswith("Use ") or (verdict.is_clear and not is_simplest)
        wrong["help"] += verdict.help in (Help.HELPS, Help.HURTS)
        wrong["chance"] += "random" in table.__name__ and "one answer for all rows" not in verdict.sentence
        assert verdict.sentence.startswith("Use ") <= verdict.is_clear
    assert max(wrong.values()) <= len(seeds) / 20, wrong


def test_a_method_that_is_better_than_all_others_is_named_also_among_many():
    names = list(suited("binary"))
    scores, chance = equal_methods(np.random.default_rng(0), 10, names)
    found = of(dict(zip(names, scores, strict=True)) | {"SVC": scores[0] + 6}, chance=chance)
    assert found.verdict.sentence.startswith("Use SVC, the simplest method that nothing clearly beats here (")
    assert found.verdict.is_clear
    assert f"for all {len(names)} methods at once" in text_of(found)
    own = found.interval("SVC")
    half = stats.t.ppf(1 - 0.025 / len(names), 9) * np.std(scores[0] + 6, ddof=1) / 10**0.5
    assert own.half_width == pytest.approx(half)
    curve = found.curves.set_index("method").loc["SVC"]  # the same as in the table
    assert (curve["low"], curve["high"]) == pytest.approx((own.low, own.high))
    alone = paired_difference(scores[2], scores[0])
    assert found.difference(names[2], names[0], is_alone=True).low == pytest.approx(alone.low)
    wider = stats.t.ppf(1 - 0.025 / (len(names) - 1), 9) / stats.t.ppf(0.975, 9)
    assert found.difference(names[2], names[0]).half_width == pytest.approx(wider * alone.half_width)


def test_the_score_of_one_answer_is_that_of_the_most_frequent_or_middle_class_of_all_labels():
    labels, y = np.array([0, 0, 1, 2]), np.array([0, 0, 1, 2, 2])
    chance = {"accuracy": 0.4, "auc": 0.5, "mean_auc": 0.5, "mean_absolute_error": 0.8}
    assert scores_of_chance(y, labels) == pytest.approx(chance)
    assert in_units(chance, "ordinal") == {"mean_auc": 50.0, "mean_absolute_error": 0.8}
    # Two labels, one of each class, do not say which one is frequent, and a few test points can be lucky.
    assert scores_of_chance(np.array([0, 1, 1, 1]), np.array([0, 1]))["accuracy"] == 0.75
    assert scores_of_chance(np.array([0, 1, 1]), np.array([0, 0, 0, 1]))["accuracy"] == pytest.approx(1 / 3)
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(np.arange(60) < 40, np.arange(60) % 4 == 0, -1).astype(int)  # the columns say nothing of it
    found = compare(X, y, seeds=3, methods=["LogisticRegression", "SVC"], curves=False, store=None)
    assert found.verdict.sentence.startswith("No method clearly beats one answer for all rows here (accuracy 80.0)")

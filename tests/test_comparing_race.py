"""Number of seeds of a comparison: by default more of them for the methods between which the choice is not clear."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each
from sklearn.datasets import load_iris

from dsgcore.comparing import METHODS, Fit, carrying_out, compare
from dsgcore.comparing.report import text_of

IRIS = load_iris(return_X_y=True)
GIVEN = {"n_labeled": 30, "methods": ["LogisticRegression", "SVC", "Nystroem"], "curves": False, "store": None}
# Gain of SVC over logistic regression: its mean, and its spread over the seeds.
EQUAL, UNCLEAR, BETTER = (0.1, 0.1), (0.1, 5.0), (2.0, 3.5)


@pytest.fixture
def race(monkeypatch):
    """Return a function that compares methods with made-up scores, whose fits take 0.1 s of a made-up clock."""
    clock = [0.0]

    def run(gain, **options):
        def score(request):
            rng = np.random.default_rng(request.seed)
            hard, sign = rng.normal(), 1.0 if request.seed % 2 else -1.0
            more = {
                "SVC": gain[0] + gain[1] * sign,
                "Nystroem": rng.normal() - 30.0,
                "SelfTraining": 0.1 * rng.normal() - 0.3,
            }
            return 80.0 + hard + more.get(request.method, 0.0)

        def make(kept, requests, end):
            for request in requests:
                if clock[0] >= end:
                    return
                if not kept.get([request]):
                    clock[0] += 0.1
                    kept.put([Fit(request, {"accuracy": score(request)}, 0.1, 1.0)])
                    yield kept.get([request]).values()

        @contextmanager
        def workers(sample, kept, jobs, memory):
            yield SimpleNamespace(
                kept=kept,
                make=lambda requests, end: make(kept, requests, end),
                queue=SimpleNamespace(n_at_a_time=1),
                cut_off=set(),
            )

        monkeypatch.setattr(carrying_out, "workers_for", workers)
        monkeypatch.setattr(carrying_out, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        return compare(*IRIS, **GIVEN | options)

    return run


def seeds_of(found):
    return {name: len(found.scores(name)) for name in found.methods}


@each(
    "gain, options, seeds",
    (
        (EQUAL, {}, (10, 10)),
        (BETTER, {}, (15, 15)),
        (UNCLEAR, {}, (50, 50)),
        (UNCLEAR, {"seeds": 10}, (10, 10)),
        (UNCLEAR, {"seeds": 20}, (20, 20)),
        (UNCLEAR, {"n_labeled": None}, (50, 50)),  # the splits share labels
    ),
)
def test_seeds_are_added_until_the_choice_is_clear(gain, options, seeds, race):
    found = race(gain, **options)
    # Every method is in the first three rounds that give an interval. One that is clearly worse then gets no more.
    assert seeds_of(found) == {"LogisticRegression": seeds[0], "SVC": seeds[1], "Nystroem": 3}
    assert found.is_complete
    assert bool(found.verdict.contenders) is (gain is UNCLEAR)
    assert ("too close to call" in found.verdict.sentence) is (gain is UNCLEAR)
    assert text_of(found).count("clearly worse: no more seeds") == 1


def test_a_method_that_cannot_be_much_better_gets_no_more_seeds(race):
    # Label spreading is as good as logistic regression, and the verdict compares it with SVC. Self-training is a little worse.
    found = race(UNCLEAR, methods=[*GIVEN["methods"], "SpreadingKNN", "SelfTraining"])
    assert seeds_of(found) == {
        "LogisticRegression": 50,
        "SVC": 50,
        "Nystroem": 3,
        "SpreadingKNN": 50,
        "SelfTraining": 10,
    }
    assert "surely not much better: no more seeds" in text_of(found)


def test_a_method_that_has_not_begun_comes_before_more_seeds_of_others(race):
    names = [name for name, method in METHODS.items() if "classes" in method.kinds]
    found = race(EQUAL, methods=names, seconds=1.4)  # the first round of ten fits may take half of it
    assert len(names) == 10
    assert min(seeds_of(found).values()) == 1


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


def test_a_race_that_is_stopped_goes_on_to_the_same_table(race, tmp_path):
    def stop(so_far):
        if len(so_far.fits) == 30:  # the race begins with 23 fits
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race(UNCLEAR, store=tmp_path / "fits.sqlite", tell=stop)
    pd.testing.assert_frame_equal(race(UNCLEAR, store=tmp_path / "fits.sqlite").table, race(UNCLEAR).table)

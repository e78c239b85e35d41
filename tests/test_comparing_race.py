"""Rounds of a comparison: clearly worse methods drop out, and what lacks time is said."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each
from sklearn.datasets import load_iris

from dsgcore.comparing import METHODS, Fit, compare, rounds
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

        monkeypatch.setattr(rounds, "workers_for", workers)
        monkeypatch.setattr(rounds, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        return compare(*IRIS, **GIVEN | options)

    return run


def seeds_of(found):
    return {name: len(found.scores(name)) for name in found.methods}


@each(
    "gain, options, seeds",
    ((EQUAL, {}, 10), (BETTER, {}, 10), (UNCLEAR, {}, 10), (UNCLEAR, {"seeds": 2}, 2), (UNCLEAR, {"seeds": 25}, 25)),
)
def test_a_clearly_worse_method_drops_out_of_the_rounds(gain, options, seeds, race):
    found = race(gain, **options)
    # Three seeds are the first that give an interval.
    assert seeds_of(found) == {"LogisticRegression": seeds, "SVC": seeds, "Nystroem": min(seeds, 3)}
    assert found.is_complete
    if seeds > 2:
        assert bool(found.verdict.contenders) is (gain is not EQUAL)
        assert ("too close to call" in found.verdict.sentence) is (gain is not EQUAL)
        assert text_of(found).count("clearly worse: no more seeds") == 1


def test_a_method_that_has_not_begun_comes_before_more_seeds_of_others(race):
    names = [name for name, method in METHODS.items() if "classes" in method.kinds]
    found = race(EQUAL, methods=names, seconds=1.4)  # the first round of ten fits may take half of it
    assert len(names) == 10
    assert min(seeds_of(found).values()) == 1


@each("curves", (False, True))
def test_only_when_the_time_is_over_does_a_comparison_say_so(curves, race):
    # Ten seeds take 2.3 s, and the curves 5.1: the table may take 65 % of the time before the curves.
    for seconds, is_complete in ((9.0, True), (1.9, False)):
        found = race(UNCLEAR, seconds=seconds, curves=curves)
        assert found.is_complete is is_complete
        assert text_of(found).count("The time was over before all seeds were done.") == (not is_complete)
    assert found.seconds == pytest.approx(1.9, abs=0.2)


def test_seeds_that_lacked_time_before_the_curves_are_made_after_them(race):
    found = race(UNCLEAR, seconds=12.0, seeds=40, curves=True)  # the table needs 8.3 s, of which 7.8 come first
    assert seeds_of(found) == {"LogisticRegression": 40, "SVC": 40, "Nystroem": 3}


def test_a_comparison_that_is_stopped_goes_on_to_the_same_table(race, tmp_path):
    def stop(so_far):
        if len(so_far.fits) == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race(UNCLEAR, store=tmp_path / "fits.sqlite", tell=stop)
    pd.testing.assert_frame_equal(race(UNCLEAR, store=tmp_path / "fits.sqlite").table, race(UNCLEAR).table)

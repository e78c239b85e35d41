"""Fits of comparisons: points that a slow method gets, limits of memory and time, and what a kill leaves."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing, suppress

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.dummy import DummyClassifier
from test_comparing import scores_only

from dsgcore.__main__ import main
from dsgcore.comparing import FitRequest, Sample, compare, fits
from dsgcore.comparing.fits import KeptFits
from dsgcore.comparing.methods import Method
from dsgcore.studies import Store

IRIS = load_iris(return_X_y=True)
TWO = ["LogisticRegression", "SVC"]


def test_a_slow_method_learns_from_a_part_of_the_unlabeled_points_and_says_so(monkeypatch):
    monkeypatch.setattr(fits, "MOST_OF_SLOW", 50)
    sizes = {}

    class Recorder(DummyClassifier):
        def fit(self, X, y):
            sizes[len(y)] = set(np.unique(y))
            return super().fit(X, np.maximum(y, 0))

    monkeypatch.setattr(Method, "make", lambda self, seed: Recorder())
    sample = Sample.of(*make_moons(400, random_state=0), n_labeled=20, is_ordered=False)
    split = sample.split(0, 20)
    fit, other, alone = (
        fits.fit(FitRequest(name, 0, 20), split, "classes") for name in ("SelfTraining", "SpreadingKNN", "SVC")
    )
    assert sizes == {70: {-1, 0, 1}, 300: {-1, 0, 1}, 20: {0, 1}}
    assert fit.note == "learns from 50 of 280 unlabeled points, to be fast enough"
    assert other.note == alone.note == ""


@pytest.mark.compiled
def test_a_method_that_needs_too_much_memory_or_time_ends_and_is_tried_again(tmp_path):
    X, y = make_moons(9000, noise=0.5, random_state=0)
    few = {"n_labeled": 20, "seeds": 1, "curves": False, "store": tmp_path / "fits.sqlite", "jobs": 1}
    methods = ["LogisticRegression", "SpreadingRBF"]
    found = compare(X, y, **few, methods=methods, memory_limit=5 * 10**7, seconds=None)
    assert "memory" in found.table["note"][1]
    assert found.scores("LogisticRegression")
    sample = Sample.of(X, y, n_labeled=20, is_ordered=False)
    assert not KeptFits(sample, Store(few["store"])).get([FitRequest("SpreadingRBF", 0, 20)])
    many = few | {"n_labeled": 6000}
    found = compare(X, y, **many, methods=["LogisticRegression", "SelfTraining"], seconds=5.0)
    assert found.table["note"][1] == fits.CUT_OFF
    assert not found.is_complete


def n_kept(store):
    """Return the number of fits in a store that another process may not have made yet."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store)) as connection, suppress(sqlite3.OperationalError):
        return connection.execute("SELECT count(*) FROM kept WHERE kind = 'fit'").fetchone()[0]
    return 0


@pytest.mark.compiled
def test_a_killed_command_goes_on_to_the_same_table(tmp_path):
    given = ["compare", "iris", "--n-labeled", "30", "--seeds", "4", "--jobs", "1", "--methods", ",".join(TWO)]
    given += ["--no-curves", "--seconds", "600", "--csv", str(tmp_path / "table.csv"), "--store"]
    command = [sys.executable, "-m", "dsgcore", *given, str(tmp_path / "one.sqlite")]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while killed.poll() is None and not n_kept(tmp_path / "one.sqlite"):
        pass
    killed.kill()
    assert killed.wait() < 0
    tables = []
    for store in ("one.sqlite", "two.sqlite"):
        assert main([*given, str(tmp_path / store)]) == 0
        tables.append(scores_only(pd.read_csv(tmp_path / "table.csv")))
    pd.testing.assert_frame_equal(*tables)

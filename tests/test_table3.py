import csv
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import table3
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from dsgcore import PS3VT


@pytest.fixture
def small(monkeypatch):
    """A grid of a few short runs in place of the real one."""
    base = replace(table3.GRIDS["paper"].base, batch_size=None, n_iter=40)
    steps = [{"radius": 10.0, "step_size": step} for step in (0.3, 1.0)]
    grid = table3.Grid(base, first=steps, tau_I=[0.0, 1e-3], tau_S=[0.0, 1e-1], theta=[0.33])
    monkeypatch.setitem(table3.GRIDS, "paper", grid)
    return grid


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_writes_a_row_per_split_and_method_and_every_searched_setting(small, monkeypatch, tmp_path, capsys):
    out = tmp_path / "errors.csv"
    argv = ["table3.py", "--sets", "iris,nowhere", "--splits", "2", "--selection", "1", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", argv)
    table3.main()
    rows = read(out)
    assert [(row["method"], row["split"]) for row in rows] == [(m, str(s)) for s in range(2) for m in table3.METHODS]
    assert all(0 <= float(row["error"]) < 66 for row in rows)  # chance is 66.7 %
    searched = [json.loads(row["setting"]) for row in read(tmp_path / "errors.search.csv")]
    assert searched[:2] == small.first
    # Linear-MC's two, one more for SS-MC and LRC-MC each, both together: nothing twice.
    assert 4 <= len(searched) <= 5
    said = capsys.readouterr().out
    assert "nowhere is left out: there is no " in said
    assert "| iris | 2 |" in said


def test_an_error_is_that_of_the_estimator(small):
    X, y = load_iris(return_X_y=True)
    split = table3.Split(minmax_scale(X), y, 3)
    setting = {"radius": 10.0, "step_size": 1.0, "tau_I": 1e-3, "tau_S": 0.1, "theta": 0.33}
    train, test = split.parts
    hidden = np.where(np.isin(train, split.labeled), y[train], -1)
    # All labeled points in every step: no draw, so only the order of sums differs.
    model = PS3VT(lam=1e-6, batch_size=None, n_iter=40, start=None, **setting).fit(split.X[train], hidden)
    error = split.error(small, setting, split.labeled, test)
    assert error == pytest.approx(100 * (1 - model.score(split.X[test], y[test])))


def test_the_cautious_choice_leaves_linear_mc_for_clear_gains_only(small):
    search = table3.Search("iris", small, [], 5, table3.Table(None, ()), is_cautious=True)
    X, y = load_iris(return_X_y=True)
    search.splits.append(table3.Split(X, y, 0))
    linear, smooth, low_rank = small.first[0], {"tau_I": 1e-3}, {"tau_S": 0.1, "theta": 0.33}
    errors = {
        str({}): [20.0, 22.0, 20.0, 22.0],
        str(smooth): [18.0, 20.0, 18.0, 21.0],  # always better
        str(low_rank): [10.0, 27.0, 21.0, 22.0],  # better on average, by one fold
        str({**smooth, **low_rank}): [17.0, 19.0, 17.0, 20.0],
    }
    for added in ({}, smooth, low_rank, {**smooth, **low_rank}):
        search.found[replace(small.base, **linear, **added)] = np.array(errors[str(added)])
    search.found[replace(small.base, **small.first[1])] = np.full(4, 50.0)
    expected = [linear, linear, {**linear, **smooth}, {**linear, **smooth, **low_rank}]
    assert list(search.choose().values()) == expected


def test_folds_hide_every_labeled_point_once_and_classes_evenly():
    X, y = load_iris(return_X_y=True)
    split = table3.Split(X, y, 0)
    hidden = [rows for _, rows in split.folds(5)]
    assert sorted(np.concatenate(hidden)) == sorted(split.labeled)
    assert all(len(np.intersect1d(kept, rows)) == 0 for kept, rows in split.folds(5))
    counts = np.array([np.bincount(y[rows], minlength=3) for rows in hidden])
    assert np.ptp(counts, axis=0).max() <= 1


def test_without_the_data_a_set_is_said_to_be_absent(monkeypatch, tmp_path):
    monkeypatch.setenv("DSGLAB_DATA", str(tmp_path))
    assert table3.read("glass") is None
    np.savez(tmp_path / "glass.npz", X=np.ones((3, 2), np.float32), y=np.arange(3, dtype=np.int8))
    X, y = table3.read("glass")
    assert X.shape == (3, 2)
    assert y.tolist() == [0, 1, 2]

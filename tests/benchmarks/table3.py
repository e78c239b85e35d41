"""Table 3 of PS3VT's paper: test errors of Linear-MC, LRC-MC, SS-MC and PS3VT on ten data sets.

    python tests/benchmarks/table3.py --sets iris,wine --splits 30 --out table3.csv

Protocol (J. Li, Y. Liu, R. Yin and W. Wang, IJCAI 2019, Section 5): 70 % of the points are for training, and 30 % of
these, stratified, keep their labels. Features are scaled to [0, 1], without a bias. The parameters are chosen once
per data set, "before a method runs", by 5-fold cross-validation on the labeled points of separate splits. The graph
covers all training points. Every method sees the same splits and the same mini-batches.

The search has stages: first Linear-MC's parameters (step, and norm or ridge), then tau_I (SS-MC) and tau_S with theta
(LRC-MC) beside them, then both together (PS3VT). Each grid has 0, like the paper's. The first of equal errors in the
list wins.

Each split and method is added to the file `--out` at once; the searched errors go to the same name with
`.search.csv`. The table is printed in Markdown. iris and wine are scikit-learn's. The other sets are files NAME.npz
in the folder that DSGLAB_DATA names, or in ../shared/data beside the project; absent ones are left out.
"""

from __future__ import annotations

import csv
import itertools
import json
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reporting import arrays_of, command_line, data_file, names, show, table
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.graph import laplacian, smoothness
from dsgcore.multiclass.loop import descend
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.task import MultiClassTask

METHODS = ("Linear-MC", "LRC-MC", "SS-MC", "PS3VT")
# Table 3: mean test error in %, in the order of METHODS.
PAPER = {
    "iris": (27.12, 24.57, 23.53, 23.71),
    "wine": (8.77, 8.33, 8.20, 7.63),
    "glass": (48.68, 47.46, 46.68, 46.28),
    "svmguide2": (23.31, 22.42, 22.33, 21.37),
    "vowel": (47.40, 47.05, 46.66, 45.74),
    "dna": (8.83, 8.69, 8.56, 8.56),
    "segment": (26.69, 26.84, 26.28, 26.09),
    "pendigits": (10.22, 8.37, 7.24, 6.46),
    "usps": (7.19, 7.09, 7.10, 7.06),
    "letter": (28.31, 26.98, 26.92, 26.91),
}
# Splits in which parameters are chosen are counted from here: none of them is one in which errors are measured.
SELECTION = 1000
# So many of them that cross-validation has about this many labeled points.
SELECTION_LABELS = 1000


@dataclass(frozen=True)
class Grid:
    """What is searched: `base` holds what is fixed, `first` what Linear-MC has, the others what is added to it."""

    base: MultiClass
    first: list[dict[str, Any]]
    tau_I: list[float]
    tau_S: list[float]
    theta: list[float]
    per_point: int = 0
    # The run goes in as many equal parts; in each, 1/mu is this times the step.
    cuts: tuple[float, ...] = (1.0,)

    def problem(self, setting: dict[str, Any], n_labeled: int) -> MultiClass:
        """Return the problem; it has at least `per_point` iterations for each labeled point."""
        problem = replace(self.base, **setting)
        return replace(problem, n_iter=max(problem.n_iter, self.per_point * n_labeled))

    def train(self, task: MultiClassTask) -> NDArray:
        """Run all parts, each from the weights of the one before."""
        whole, W, t = task.problem, task.start(), 0
        for number, cut in enumerate(self.cuts, start=1):
            n_iter = whole.n_iter * number // len(self.cuts)
            part = replace(whole, step_size=whole.step_size * cut, n_iter=n_iter)
            for iterate in descend(replace(task, problem=part), W, t):
                W, t = iterate.W, iterate.t
        return W

    def smooth(self) -> list[dict[str, Any]]:
        return [{"tau_I": tau_I} for tau_I in self.tau_I]

    def low_rank(self, d: int, n_classes: int) -> list[dict[str, Any]]:
        # The columns of W sum to zero: its rank is below K. Leaving K - 1 values out of the tail leaves out all of them.
        most = min(d, n_classes - 1) - 1
        thetas = [theta for theta in self.theta if replace(self.base, theta=theta).n_kept(d, n_classes) <= most]
        pairs = itertools.product([tau_S for tau_S in self.tau_S if tau_S > 0], thetas)
        return [{"tau_S": 0.0}, *({"tau_S": tau_S, "theta": theta} for tau_S, theta in pairs)]


def _pairs(name: str, steps: dict[float, list[float]]) -> list[dict[str, Any]]:
    return [{name: value, "step_size": step} for value, its_steps in steps.items() for step in its_steps]


LINEAR = MultiClass(lam=1e-6, tau_I=0.0, tau_S=0.0)
GRIDS = {
    # Algorithm 1, in the ball and with the first step that cross-validation takes; the step is cut three times.
    "paper": Grid(
        base=replace(LINEAR, batch_size=32, n_iter=1000),
        first=_pairs("radius", {1.0: [0.01, 0.1], 10.0: [0.3, 1.0], 100.0: [1.0, 3.0, 10.0]}),
        tau_I=[0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3],
        tau_S=[0.0, 1e-4, 1e-3, 1e-2, 1e-1],
        theta=[0.33, 0.6],
        per_point=2,
        cuts=(1.0, 0.3, 0.1, 0.03),
    ),
    # Algorithm 1 to the letter: W in the unit ball, 1/mu from 10 up, one point a step.
    "printed": Grid(
        base=replace(LINEAR, batch_size=1, n_iter=1),
        first=_pairs("radius", {1.0: [1e1, 1e3, 1e5]}),
        tau_I=[0.0, 1e-8, 1e-6],
        tau_S=[0.0, 1e-4, 1e-1],
        theta=[0.33, 0.6],
        per_point=10,
    ),
}


def read(name: str) -> tuple[NDArray, NDArray] | None:
    """Return points and classes 0 to K - 1, or None where the set is absent."""
    if name in ("iris", "wine"):
        return (load_iris if name == "iris" else load_wine)(return_X_y=True)
    if not data_file(name).exists():
        return None
    held = arrays_of(name)
    return held["X"].astype(float), held["y"].astype(np.intp)


@dataclass(frozen=True)
class Split:
    """One random split: rows of X for training, for the test, and those training rows that keep their label."""

    X: NDArray
    y: NDArray
    number: int

    @cached_property
    def parts(self) -> tuple[NDArray, NDArray]:
        return train_test_split(np.arange(len(self.y)), test_size=0.3, random_state=self.number)

    @cached_property
    def labeled(self) -> NDArray:
        rows = self.parts[0]
        return train_test_split(rows, train_size=0.3, random_state=self.number, stratify=self.y[rows])[0]

    @cached_property
    def graph(self) -> NDArray:
        """X L X' over all training points, whichever of them are labeled: the same in every fold."""
        X = self.X[self.parts[0]]
        return smoothness(X, laplacian(X))

    def error(self, grid: Grid, setting: dict[str, Any], labeled: NDArray, test: NDArray) -> float:
        """Train on the rows `labeled`; return the share of wrong labels in the rows `test`, in %."""
        problem = grid.problem(setting, len(labeled))
        M = self.graph if problem.tau_I > 0.0 else None
        features = FixedFeatures("linear", 1.0, 1, self.number)
        n_classes = int(self.y.max()) + 1
        task = MultiClassTask(problem, features, self.X[labeled], self.y[labeled], n_classes, M, self.number)
        W = grid.train(task)
        return 100.0 * float(np.mean((self.X[test] @ W).argmax(axis=1) != self.y[test]))

    def folds(self, n_folds: int) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield labeled rows to train on, and labeled rows whose label is hidden."""
        kept = self.labeled
        # Class by class; one with fewer labeled points than there are folds is absent from some of them.
        parts = np.empty(len(kept), dtype=int)
        for k in np.unique(self.y[kept]):
            rows = np.flatnonzero(self.y[kept] == k)
            parts[rows] = (np.arange(len(rows)) + k) % n_folds
        for fold in range(n_folds):
            yield kept[parts != fold], kept[parts == fold]


class Table:
    """Rows that go to a file as they come."""

    def __init__(self, path: Path | None, columns: tuple[str, ...]) -> None:
        self.path, self.columns, self.rows = path, columns, []
        if path is not None and not path.exists():
            self._write(columns)

    def add(self, *values: object) -> None:
        self.rows.append(dict(zip(self.columns, values, strict=True)))
        self._write(values)

    def _write(self, values: Iterable[object]) -> None:
        if self.path is not None:
            with self.path.open("a", newline="") as file:
                csv.writer(file).writerow(values)


@dataclass
class Search:
    """The search on one data set: errors in cross-validation, each problem's computed once."""

    name: str
    grid: Grid
    splits: list[Split]
    n_folds: int
    table: Table
    is_cautious: bool = False
    found: dict[MultiClass, NDArray] = field(default_factory=dict)

    def error(self, setting: dict[str, Any]) -> float:
        return float(self.errors(setting).mean())

    def errors(self, setting: dict[str, Any]) -> NDArray:
        """Return the errors in all folds of all splits."""
        key = replace(self.grid.base, **setting)
        if key not in self.found:
            self.found[key] = np.array(list(self._fold_errors(setting)))
            self.table.add(self.name, json.dumps(setting, sort_keys=True), f"{self.found[key].mean():.3f}")
        return self.found[key]

    def is_clearly_better(self, setting: dict[str, Any], linear: dict[str, Any]) -> bool:
        """Say whether the gain over Linear-MC is more than its standard error over the folds."""
        gain = self.errors(linear) - self.errors(setting)
        return bool(gain.mean() > gain.std(ddof=1) / len(gain) ** 0.5)

    def _fold_errors(self, setting: dict[str, Any]) -> Iterator[float]:
        for split in self.splits:
            for labeled, hidden in split.folds(self.n_folds):
                yield split.error(self.grid, setting, labeled, hidden)

    @property
    def shape(self) -> tuple[int, int]:
        split = self.splits[0]
        return split.X.shape[1], int(split.y.max()) + 1

    def best(self, settings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(settings, key=self.error)

    def choose(self) -> dict[str, dict[str, Any]]:
        """Return every method's setting."""
        linear = self.best(self.grid.first)[0]
        smooth = self.best({**linear, **c} for c in self.grid.smooth())
        low_rank = self.best({**linear, **c} for c in self.grid.low_rank(*self.shape))
        # Together: the two best of each (the winners with the other one's 0 are known already).
        both = [smooth[0], low_rank[0], *({**a, **b} for a, b in itertools.product(smooth[:2], low_rank[:2]))]
        settings = [linear, low_rank[0], smooth[0], self.best(both)[0]]
        if self.is_cautious:
            settings = [setting if self.is_clearly_better(setting, linear) else linear for setting in settings]
        return dict(zip(METHODS, settings, strict=True))


def run_set(name: str, data: tuple[NDArray, NDArray], args: Namespace, errors: Table, searched: Table) -> None:
    """Choose the parameters on one data set, then measure every method on every split."""
    X, y = data
    X = X if args.raw else minmax_scale(X, tuple(args.scale))
    if args.bias:
        X = np.column_stack([X, np.ones(len(X))])
    grid, start = GRIDS[args.grid], time.perf_counter()
    n_selection = args.selection or max(1, round(SELECTION_LABELS / (0.7 * 0.3 * len(y))))
    splits = [Split(X, y, SELECTION + args.first + i) for i in range(n_selection)]
    settings = Search(name, grid, splits, args.folds, searched, args.cautious).choose()
    for number in range(args.first, args.first + args.splits):
        split = Split(X, y, number)
        for method, setting in settings.items():
            error = split.error(grid, setting, split.labeled, split.parts[1])
            errors.add(name, method, number, f"{error:.4f}", json.dumps(setting, sort_keys=True))
    print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the table: mean and standard deviation of the test error in %, and the paper's mean in brackets."""
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        cells = []
        for method, published in zip(METHODS, PAPER[name], strict=True):
            errors = [float(row["error"]) for row in rows if (row["set"], row["method"]) == (name, method)]
            cells.append(f"{np.mean(errors):.2f} ± {np.std(errors):.2f} ({published:.2f})")
        lines.append((name, len(errors), *cells))
    return table(("set", "splits", *METHODS), lines)


def main() -> None:
    """Run what the command line asks for."""
    more = {"scale": [0.0, 1.0], "raw": False, "bias": False, "cautious": False, "out": Path}
    args = command_line(__doc__, sets=names, splits=30, first=0, selection=int, folds=5, grid=tuple(GRIDS), **more)
    errors = Table(args.out, ("set", "method", "split", "error", "setting"))
    searched = Table(args.out and args.out.with_suffix(".search.csv"), ("set", "setting", "error"))
    for name in args.sets or PAPER:
        if (data := read(name)) is None:
            print(f"{name} is left out: there is no {data_file(name)}, set DSGLAB_DATA to another folder")
        else:
            run_set(name, data, args, errors, searched)
    show(markdown(errors.rows))


if __name__ == "__main__":
    main()

"""The methods of `out_of_the_box.py` with their default arguments, and one fit of one of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from box_sets import BINARY, MADE, MULTICLASS, ORDINAL, PAIRS, Source, Split, drawn, made
from box_tables import Cell, Fit
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.baselines import COMPETITORS
from dsgcore.jobs.memory import forget_peak, peak
from dsgcore.problems.thresholds import mean_auc

EVERYDAY = {kind.__name__: kind for setting in ("s3vm", "ordinal") for kind in COMPETITORS[setting] if kind.is_everyday}
PAPERS = {kind.__name__: kind for setting in ("similar_unlabeled", "ordinal") for kind in COMPETITORS[setting][:1]}
OURS: dict[str, Callable[..., Any]] = {
    "PS3VT": PS3VT,
    "PS3VT(features='fourier')": partial(PS3VT, features="fourier"),
    "TSGS3VM": TSGS3VM,
    "QSGS2AUC": QSGS2AUC,
    "QS3ORAO": QS3ORAO,
    "TSGSU": TSGSU,
}
FOR_CLASSES = tuple(name for name in EVERYDAY if name not in ("EverydaySVR", "EverydayOrdinalSVC"))
ESTIMATORS: dict[str, tuple[str, ...]] = {
    MULTICLASS: ("PS3VT", "PS3VT(features='fourier')", *FOR_CLASSES),
    BINARY: ("TSGS3VM", "QSGS2AUC", *FOR_CLASSES),
    ORDINAL: ("QS3ORAO", "EverydaySVR", "EverydayOrdinalSVC", "SVOREX"),
    PAIRS: ("TSGSU", "SUSL"),
}
SCORES = {MULTICLASS: ("accuracy",), BINARY: ("accuracy", "AUC"), ORDINAL: ("mean AUC",), PAIRS: ("accuracy",)}
WARM_UP = 60


def make(name: str, seed: int, prior: float) -> Any:
    """Make an estimator with its default arguments, a seed, and no bound on memory but the process's."""
    kind = OURS.get(name) or EVERYDAY.get(name) or PAPERS[name]
    known = kind().get_params()
    given = {"random_state": seed}
    if name in ESTIMATORS[PAIRS]:
        given["prior"] = prior
    return kind(**{key: value for key, value in given.items() if key in known})


def evaluated(model: Any, split: Split, kind: str) -> dict[str, float]:
    """Return the scores in percent."""
    if kind == ORDINAL:
        return {"mean AUC": 100 * mean_auc(split.y_test, model.ranking_function(split.X_test))}
    scores = {"accuracy": 100 * float(np.mean(model.predict(split.X_test) == split.y_test))}
    if kind == BINARY:
        scores["AUC"] = 100 * float(roc_auc_score(split.y_test, model.decision_function(split.X_test)))
    return scores


def fit(cell: Cell, known: dict[tuple[str, str], Source]) -> Fit:
    """Fit one estimator, and measure what it takes and how good it is; this is what a process does."""
    warnings.simplefilter("ignore")  # what has not converged says so in its note
    if cell.name in MADE:
        split = made(cell.name, seed=cell.seed, n=cell.n, n_labeled=cell.n_labeled)
    else:
        source, labels = known[cell.kind, cell.name], cell.n_labeled or None
        split = drawn(source, seed=cell.seed, n=cell.n, scaling=cell.scaling, n_labeled=labels)
    model = make(cell.estimator, cell.seed, split.prior)
    make(cell.estimator, cell.seed, split.prior).fit(*few_of(split, cell.kind))
    before, start = forget_peak(), time.process_time()
    model.fit(split.X, split.y)
    seconds, used = time.process_time() - start, peak() - before
    note = "" if getattr(model, "converged_", True) else "not converged"
    return Fit(cell, evaluated(model, split, cell.kind), seconds, used / 1e6, *split.X.shape, note)


def few_of(split: Split, kind: str) -> tuple[NDArray, NDArray]:
    """Return a few training points, so that what is compiled and loaded at a first fit is not measured."""
    if kind == PAIRS:
        rows = np.r_[:WARM_UP, -WARM_UP:0]
        return split.X[rows], split.y[rows]
    labeled, others = np.flatnonzero(split.y >= 0), np.flatnonzero(split.y < 0)
    of_each = np.concatenate([labeled[split.y[labeled] == label][:5] for label in np.unique(split.y[labeled])])
    rows = np.concatenate([of_each, others[:WARM_UP]])
    return split.X[rows], split.y[rows]

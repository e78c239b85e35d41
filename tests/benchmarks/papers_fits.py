"""Fits behind `papers.py`: the sets, methods and seeds of each figure, and the results of one fit."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import similar_unlabeled_real as pairs
import table3
from numpy.typing import NDArray
from reporting import arrays_of, data_file
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.baselines import (
    BGS3VM,
    BLS3VM,
    CUU,
    FRS3VM,
    MPNUAUC,
    MSAMULT,
    PNUAUC,
    SAMULT,
    SUDH,
    SUSL,
    SVOREX,
    S3VMLight,
)
from dsgcore.model_selection import LabeledFolds

ITERATIONS = (12, 25, 50, 100)
# The number of similar points, and of unlabeled ones.
BATCH = 256
POWERS = [2.0**k for k in (-3, 0, 3)]
# A separate draw, in which parameters are chosen.
SELECTION = 1000
N_TEST = 2000
# At x (iterations, or a share of labels; 0 where there is none): what a fit came to, and its CPU seconds.
Found = list[tuple[float, float, float]]


@dataclass(frozen=True)
class Figure:
    """Measurements of a figure: its panels, methods and seeds, and the function that makes one fit of the three."""

    panels: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: int
    measure: Callable[[str, str, int], Found]


def present(*names: str, instead: str) -> tuple[str, ...]:
    """Return those of the sets that are there; where there is none, a set that comes with scikit-learn."""
    return tuple(name for name in names if data_file(name).exists()) or (instead,)


def seconds_of(fit: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a fit returns, and its CPU seconds."""
    warnings.simplefilter("ignore")
    start = time.process_time()
    return fit(), time.process_time() - start


# Similar pairs and unlabeled points.


@dataclass(frozen=True)
class OfPairs:
    """A set's kernel and ridge (of `similar_unlabeled_real.md`), and how many points are drawn."""

    n_unlabeled: int
    n_pairs: int
    kernel: dict[str, Any]
    lam: float
    n_features: int = 500


GAUSSIAN = {"kernel": "gaussian", "sigma": 0.5}
PAIRS = {
    "covtype20k": OfPairs(900, 225, GAUSSIAN, 1 / 32),
    "covtype20k, 2,700 unlabeled": OfPairs(2700, 675, GAUSSIAN, 1 / 32),
    "covtype20k, 60 pairs": OfPairs(300, 60, {"kernel": "gaussian", "sigma": 4.0}, 1e-4),
    "mnist10k-unit": OfPairs(600, 150, {"kernel": "dot_product", "sigma": 1.0, "power": 5}, 1 / 64, 64),
    "digits": OfPairs(600, 100, {"kernel": "gaussian", "sigma": 0.5}, 1 / 32, 250),
}


@cache
def _points(name: str) -> tuple[NDArray, NDArray]:
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return np.float32(X / 16), (y < 3).astype(int)
    return pairs.load(name.split(",")[0])


def of_pairs(panel: str, method: str, seed: int) -> Found:
    """Return accuracies after so many iterations, or one of a method that has none."""
    said, (X, y) = PAIRS[panel], _points(panel)
    sample = pairs.draw(X, y, said.n_unlabeled, said.n_pairs, seed)
    points = np.concatenate([sample.similar, sample.unlabeled])
    n_pairs = len(sample.similar) // 2
    ids = np.concatenate([np.repeat(np.arange(n_pairs), 2), np.full(len(sample.unlabeled), -1)])
    common = {**said.kernel, "lam": said.lam, "prior": sample.prior}
    found = []
    for n_iter in ITERATIONS if method in AT_ITERATIONS else (0,):
        model, seconds = seconds_of(partial(_of_method(method, n_iter, common, said, seed).fit, points, ids))
        found.append((n_iter, 100 * float(model.score(sample.test, sample.classes)), seconds))
    return found


AT_ITERATIONS = ("TSGSU", "TSGSU, no correction", "CUU (all)", "CUU (200)")


def _of_method(method: str, n_iter: int, common: dict[str, Any], said: OfPairs, seed: int) -> Any:
    if method.startswith("TSGSU"):
        correction = "identity" if "no" in method else "absolute value"
        sizes = {"n_features": said.n_features, "batch_size": BATCH, "average": None, "tol": None}
        return TSGSU(**common, **sizes, correction=correction, n_iter=n_iter, random_state=seed)
    if method.startswith("CUU"):
        centers = None if "all" in method else 200
        return CUU(**common, centers=centers, n_iter=n_iter, batch_size=BATCH, random_state=seed)
    return {"SU-SL": SUSL, "SU-DH": SUDH}[method](**common, penalty="half rkhs")


# Two classes, and ordered ones.


def drawn(name: str, seed: int, n: int, n_labeled: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return n training points to [0, 1] with some labels left, and test points with all."""
    if name in ("breast_cancer", "diabetes"):
        X, y = (load_breast_cancer if name == "breast_cancer" else load_diabetes)(return_X_y=True)
        y = y if name == "breast_cancer" else np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
    else:
        held = arrays_of(name)
        X, y = held["X"].astype(float), held["y5" if "y5" in held else "y"].astype(int)
    y = (y == 1).astype(int) if name in ("covtype20k", "w6a") or set(np.unique(y)) == {-1, 1} else y - y.min()
    order = np.random.default_rng([seed, zlib.crc32(name.encode())]).permutation(len(y))
    n = min(n, len(y) * 7 // 10)
    train, test = order[:n], order[n : n + N_TEST]
    scaled = minmax_scale(X[order[: n + N_TEST]])
    few = min(n_labeled, n // 2)
    return scaled[:n], np.where(np.arange(n) < few, y[train], -1), scaled[n:], y[test]


def chosen(make: Callable[..., Any], grid: dict[str, list[Any]], X: NDArray, y: NDArray, score: Any) -> dict[str, Any]:
    """Return the grid's best values by the labels' five folds."""
    search = GridSearchCV(make(), grid, scoring=score, cv=LabeledFolds(5, random_state=0), refit=False)
    return dict(search.fit(X, y).best_params_)


def _labeled_auc(model: Any, X: NDArray, y: NDArray) -> float:
    return float(roc_auc_score(y[y >= 0], model.decision_function(X[y >= 0])))


AUC_METHODS: dict[str, Callable[..., Any]] = {
    "QSG-S2AUC": partial(QSGS2AUC, gamma=0.5, random_state=0),
    "SAMULT": partial(SAMULT, gamma=0.5),
    "PNU-AUC": partial(PNUAUC, eta=0.1),
}


# For speed ours gets the values that are chosen for this one, though their ridges are of different norms.
SAME_AS = {"QSG-S2AUC": "SAMULT", "QS3ORAO": "M-SAMULT"}


@cache
def _auc_values(panel: str, method: str) -> dict[str, Any]:
    X, y, _, _ = drawn(panel, SELECTION, 700, 200)
    return chosen(AUC_METHODS[method], {"sigma": POWERS, "lam": POWERS}, X, y, _labeled_auc)


def auc(panel: str, method: str, seed: int) -> Found:
    """Return the AUC on test points."""
    X, y, X_test, y_test = drawn(panel, seed, 800, 200)
    model, seconds = seconds_of(
        partial(AUC_METHODS[method](**_auc_values(panel, SAME_AS.get(method, method))).fit, X, y)
    )
    return [(0, 100 * float(roc_auc_score(y_test, model.decision_function(X_test))), seconds)]


S3VM_METHODS: dict[str, Callable[..., Any]] = {
    "TSGS3VM": partial(TSGS3VM, random_state=0),
    "BLS3VM": BLS3VM,
    "S3VM-light": S3VMLight,
    "BGS3VM": partial(BGS3VM, n_passes=10, random_state=0),
    "FRS3VM": partial(FRS3VM, random_state=0),
}
# The last two weigh the mean loss of the labeled points, the others each point's.
BY_MEAN = ("BGS3VM", "FRS3VM")
C_OF_A_POINT = 5.0


@cache
def _svc_width(panel: str) -> float:
    X, y, _, _ = drawn(panel, SELECTION, 1200, 200)
    widths = {"gamma": [0.01, 0.1, 1.0, 10.0, 100.0]}
    return float(GridSearchCV(SVC(C=C_OF_A_POINT), widths, cv=5).fit(X[y >= 0], y[y >= 0]).best_params_["gamma"])


def s3vm(panel: str, method: str, seed: int) -> Found:
    """Return the test error."""
    X, y, X_test, y_test = drawn(panel, seed, 800, 200)
    C = C_OF_A_POINT * (int(np.sum(y >= 0)) if method in BY_MEAN else 1)
    model, seconds = seconds_of(partial(S3VM_METHODS[method](C=C, sigma=_svc_width(panel)).fit, X, y))
    return [(0, 100 * float(np.mean(model.predict(X_test) != y_test)), seconds)]


ORDINAL_METHODS: dict[str, Callable[..., Any]] = {
    "QS3ORAO": partial(QS3ORAO, gamma=0.5, random_state=0),
    "M-SAMULT": partial(MSAMULT, gamma=0.5),
    "M-PNU-AUC": partial(MPNUAUC, eta=0.1),
    "SVOREX": SVOREX,
}


def _labeled_mean_auc(model: Any, X: NDArray, y: NDArray) -> float:
    return float(model.mean_auc(X[y >= 0], y[y >= 0]))


@cache
def _ordinal_values(panel: str, method: str) -> dict[str, Any]:
    X, y, _, _ = drawn(panel, SELECTION, 700, 350)
    ridge = {"C": [0.1, 1.0, 10.0]} if method == "SVOREX" else {"lam": POWERS}
    return chosen(ORDINAL_METHODS[method], {"sigma": POWERS, **ridge}, X, y, _labeled_mean_auc)


def ordinal(panel: str, method: str, seed: int) -> Found:
    """Return the mean AUC on test points."""
    X, y, X_test, y_test = drawn(panel, seed, 1000, 500)
    values = _ordinal_values(panel, SAME_AS.get(method, method))
    model, seconds = seconds_of(partial(ORDINAL_METHODS[method](**values).fit, X, y))
    return [(0, 100 * float(model.mean_auc(X_test, y_test)), seconds)]


# Several classes: the values that `table3.md` chose for pendigits.

OF_CLASSES = {
    "Linear-MC": {},
    "LRC-MC": {"tau_S": 1e-4, "theta": 0.33},
    "SS-MC": {"tau_I": 1e-8},
    "PS3VT": {"tau_I": 1e-8, "tau_S": 1e-4, "theta": 0.33},
}
MOST_POINTS = 3000
PARTS = (40, 100, 300, 1000)
SHARES = (0.05, 0.1, 0.3, 1.0)


def _of_classes(name: str, seed: int) -> table3.Split:
    X, y = load_digits(return_X_y=True) if name == "digits" else table3.read(name)
    kept = np.random.default_rng(seed).permutation(len(y))[:MOST_POINTS]
    return table3.Split(minmax_scale(X[kept]), y[kept], seed, "paper")


def _grid(n_iter: int) -> table3.Grid:
    grid = table3.GRIDS["paper"]
    return table3.replace(grid, base=table3.replace(grid.base, n_iter=n_iter), per_point=0)


def classes_by_iterations(panel: str, method: str, seed: int) -> Found:
    """Return the test error after runs of so many iterations."""
    split, setting = _of_classes(panel, seed), {"radius": 100.0, "step_size": 3.0, **OF_CLASSES[method]}
    found = []
    for n_iter in PARTS:
        error, seconds = seconds_of(partial(split.error, _grid(n_iter), setting, split.labeled, split.parts[1]))
        found.append((n_iter, error, seconds))
    return found


def classes_by_labels(panel: str, method: str, seed: int) -> Found:
    """Return the test error with so many labels, in percent of the training points."""
    split, setting = _of_classes(panel, seed), {"radius": 100.0, "step_size": 3.0, **OF_CLASSES[method]}
    rows = np.random.default_rng(seed).permutation(split.parts[0])
    found = []
    for share in SHARES:
        few = rows[: round(share * len(rows))]
        error, seconds = seconds_of(partial(split.error, _grid(PARTS[-1]), setting, few, split.parts[1]))
        found.append((100 * share, error, seconds))
    return found


# The second set replaces the first one if that is missing.
COVTYPE, DIGITS = ("covtype20k",), ("digits",)
HAS_COVTYPE, TSGSU_METHODS = data_file("covtype20k").exists(), ("TSGSU", "CUU (all)", "CUU (200)", "SU-SL", "SU-DH")
PENDIGITS = present("pendigits", instead="digits")
FIGURES = {
    "tsgsu-fig1": Figure(COVTYPE if HAS_COVTYPE else DIGITS, TSGSU_METHODS, 5, of_pairs),
    "tsgsu-fig2": Figure(("covtype20k, 2,700 unlabeled",) if HAS_COVTYPE else DIGITS, TSGSU_METHODS, 3, of_pairs),
    "tsgsu-fig3": Figure(
        (*COVTYPE, "covtype20k, 60 pairs") if HAS_COVTYPE else DIGITS, ("TSGSU", "TSGSU, no correction"), 10, of_pairs
    ),
    "tsgsu-fig4": Figure(
        ("mnist10k-unit",) if data_file("mnist10k").exists() else DIGITS, TSGSU_METHODS[:4], 5, of_pairs
    ),
    "auc-fig2": Figure(
        present("codrna", "covtype20k", "skin_nonskin", instead="breast_cancer"), tuple(AUC_METHODS), 6, auc
    ),
    "s3vm-fig3": Figure(present("codrna", "skin_nonskin", instead="breast_cancer"), tuple(S3VM_METHODS), 4, s3vm),
    "ordinal-fig2": Figure(present("kin40k", instead="diabetes"), tuple(ORDINAL_METHODS), 4, ordinal),
    "multiclass-fig1-left": Figure(PENDIGITS, tuple(OF_CLASSES), 3, classes_by_iterations),
    "multiclass-fig1-right": Figure(PENDIGITS, tuple(OF_CLASSES), 3, classes_by_labels),
}

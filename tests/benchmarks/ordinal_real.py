"""QS3ORAO on real data with 500 labels, beside the same method on the labels alone.

    python tests/benchmarks/ordinal_real.py --sets sgemm,kin40k --seeds 5 --out ordinal.jsonl

Protocol (W. Shi et al., AAAI 2020, Experiments): the target is cut into five classes of equal frequency, and features
are scaled to [0, 1]. 500 random points keep their labels, and all others lose them. The score is the mean AUC of the
four sub-problems on `--test` of the points without labels.

5-fold cross-validation on the labeled points chooses the parameters. lam and sigma are from 2^-3 .. 2^3, and gamma
(one for all sub-problems) is from 0, 0.2 .. 1, a subset of the paper's grid with steps of 0.1. The search does not
train the candidates, but solves them: the optimum of the same objective with 2000 unlabeled points, over functions in
the span of the kernel at the labeled points and `--landmarks` others. The run on the labels alone has a separate
search with gamma = 1, and its own lam and sigma.

A run has `--n-iter` iterations with the constant step 0.1, and a quarter of it in the last quarter of the run.
"exact" is the score of the solved optimum with the chosen parameters, for comparison. Each set and seed is added to
the file `--out` as a row of JSON at once, and rows that are in it are not computed again. The table is printed in
Markdown.

The sets are files NAME.npz, with X and the classes y5 (1 to 5), in the folder that DSGLAB_DATA names, or in
../shared/data beside the project.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from reporting import arrays_of, command_line, mean_and_deviation, measured_sets, names, show, table
from scipy.linalg import cho_factor, cho_solve
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import minmax_scale

from dsgcore.kernels import KERNELS
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.thresholds import mean_auc
from dsgcore.solver.carried import Carried
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import Change, Plan
from dsgcore.solver.task import Task

SETS = ("sgemm", "kin40k")
N_LABELED, N_UNLABELED_IN_SEARCH, BATCH_SIZE, STEP = 500, 2000, 128, 0.1
LAM = SIGMA = 2.0 ** np.arange(-3, 4)
GAMMA = np.arange(6) / 5.0
Features = Callable[[NDArray], NDArray]
Candidate = tuple[float, float, float]  # sigma, gamma, lam


@dataclass(frozen=True)
class Split:
    """All points, the labeled ones first; their classes 0 .. 4, known here for all of them."""

    X: NDArray
    y: NDArray

    @property
    def labeled(self) -> tuple[NDArray, NDArray]:
        return self.X[:N_LABELED], self.y[:N_LABELED]

    @property
    def codes(self) -> NDArray:
        return np.where(np.arange(len(self.y)) < N_LABELED, self.y, -1)


def draw(name: str, seed: int) -> Split:
    arrays = arrays_of(name)
    X, y = minmax_scale(arrays["X"].astype(np.float32)), arrays["y5"].astype(int) - 1
    order = np.random.default_rng(seed).permutation(len(y))
    return Split(X[order], y[order])


def moments(F: NDArray) -> tuple[NDArray, NDArray]:
    return F.mean(axis=0), np.cov(F, rowvar=False, bias=True)


def optima(problem: SemiSupervisedOrdinal, mean: NDArray, covariance: NDArray, lams: NDArray) -> Iterator[NDArray]:
    """Yield w of the best f = w'F for every lam, from the mean and covariance of F on each source.

    The risk sum_ab W_ab [(1 - w'm_a + w'm_b)^2 + w'(V_a + V_b)w] is w'Hw / 2 + l'w + constant.
    """
    W = problem.risk_weights
    both = W + W.T
    degree = both.sum(axis=1)
    H = 2.0 * np.tensordot(degree, covariance, axes=1) + 2.0 * mean.T @ (np.diag(degree) - both) @ mean
    l = 2.0 * mean.T @ (W.sum(axis=0) - W.sum(axis=1))
    for lam in lams:
        yield -cho_solve(cho_factor(H + lam * np.eye(len(H))), l)


def feature_map(split: Split, sigma: float, n_landmarks: int) -> Features:
    """Return features whose inner product is the kernel, projected on its span at the labeled points and some more."""
    n = N_LABELED + n_landmarks
    return Nystroem(gamma=sigma, n_components=n, random_state=0).fit(split.X[:n].astype(float)).transform


def search(split: Split, n_landmarks: int, seed: int) -> dict[Candidate, float]:
    """Return the mean score in cross-validation of every candidate."""
    X, y = split.labeled
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    scores: dict[Candidate, list[float]] = {}
    for sigma in SIGMA:
        features = feature_map(split, sigma, n_landmarks)
        F, unlabeled = features(X), moments(features(split.X[N_LABELED:][:N_UNLABELED_IN_SEARCH]))
        for train, test in folds:
            known = [moments(F[train][y[train] == c]) for c in range(5)]
            mean, covariance = (np.array(part) for part in zip(*known, unlabeled, strict=True))
            for gamma in GAMMA:
                problem = SemiSupervisedOrdinal(float(gamma)).bind(y[train])
                for lam, w in zip(LAM, optima(problem, mean, covariance, LAM), strict=True):
                    scores.setdefault((sigma, gamma, lam), []).append(mean_auc(y[test], F[test] @ w))
    return {candidate: float(np.mean(each)) for candidate, each in scores.items()}


def exact_score(split: Split, candidate: Candidate, n_landmarks: int, n_test: int) -> float:
    sigma, gamma, lam = candidate
    features = feature_map(split, sigma, n_landmarks)
    X, y = split.labeled
    F, rest = features(X), slice(N_LABELED, N_LABELED + n_test)
    known = [moments(F[y == c]) for c in range(5)]
    Fu = features(split.X[rest])
    mean, covariance = (np.array(part) for part in zip(*known, moments(Fu), strict=True))
    (w,) = optima(SemiSupervisedOrdinal(gamma).bind(y), mean, covariance, np.array([lam]))
    return mean_auc(split.y[rest], Fu @ w)


def trained_score(X: NDArray, codes: NDArray, candidate: Candidate, split: Split, args: Namespace, seed: int) -> float:
    """Return the score on test points of the function that the solver learns from the points X with these labels."""
    sigma, gamma, lam = candidate
    problem = SemiSupervisedOrdinal(gamma).bind(codes)
    quarter = Change(3 * args.n_iter // 4 + 1, "step_size", STEP / 4.0)
    plan = Plan("constant", STEP, lam, args.features, args.n_iter, [quarter])
    rows = problem.rows(codes)
    task = Task(problem, KERNELS["gaussian"](sigma), X, rows, plan, BATCH_SIZE, seed, np.dtype(np.float32))
    model, rest = task.new_model(), slice(N_LABELED, N_LABELED + args.test)
    carried = Carried(split.X[rest], model)
    for _ in solve(task, model, carried=(carried,)):
        pass
    if len(model) < args.n_iter:
        raise SystemExit(f"the run diverged at iteration {len(model) + 1}")
    return mean_auc(split.y[rest], carried.values)


def measure(name: str, seed: int, args: Namespace) -> dict[str, object]:
    """Return one row of the results: mean AUC in percent."""
    start, split = time.perf_counter(), draw(name, seed)
    scores = search(split, args.landmarks, seed)
    best = {"ours": max(scores, key=scores.get), "twin": max((c for c in scores if c[1] == 1.0), key=scores.get)}
    data = {"ours": (split.X, split.codes), "twin": split.labeled}
    row: dict[str, object] = {"n_iter": args.n_iter, "features": args.features}
    for label, candidate in best.items():
        row |= {f"{label} {k}": v for k, v in zip(("sigma", "gamma", "lam"), candidate, strict=True)}
        row[f"{label} cv"] = 100 * scores[candidate]
        row[f"{label} exact"] = 100 * exact_score(split, candidate, args.landmarks, args.test)
        row[label] = 100 * trained_score(*data[label], candidate, split, args, seed)
    return {**row, "seconds": time.perf_counter() - start}


def said(found: dict[str, dict[str, NDArray]]) -> str:
    """Return mean scores (and deviations) of every set, in Markdown."""
    rows = []
    for name, of in found.items():
        gap, exact = of["ours"] - of["twin"], [f"{of[f'{k} exact'].mean():.2f}" for k in ("ours", "twin")]
        cells = mean_and_deviation(of["ours"]), mean_and_deviation(of["twin"])
        rows.append((name, *cells, f"{gap.mean():+.2f}", f"{gap.min():+.2f}", *exact))
    return table(("set", "QS3ORAO", "labels only", "difference", "its least", "exact: QS3ORAO", "labels only"), rows)


def main() -> None:
    sizes = {"features": 256, "n_iter": 400, "landmarks": 50, "test": 5000}
    asked = command_line(__doc__, sets=names, seeds=5, first_seed=0, out=Path("ordinal.jsonl"), **sizes)
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    show(said(measured_sets(asked.sets or SETS, seeds, asked.out, lambda name, seed: measure(name, seed, asked))))


if __name__ == "__main__":
    main()

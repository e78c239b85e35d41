"""TSGS3VM on real data with 200 labels, beside the same run without unlabeled points, and scikit-learn's SVC.

    python tests/benchmarks/s3vm_real.py --sets codrna,w6a --seeds 5 --out s3vm.jsonl

Protocol (X. Geng et al., IJCAI 2019, Section 6.1): 200 random points keep their labels. The others lose them and are
divided into five folds: the first is for training and the rest for testing (`--test` of these). Batches have 256
points of each source. There are ceil(sqrt(n)) random features, or `--features` if these are more, and lam = 1. With
100 coordinates or more the features are the orthogonal ones, which err less, and there are at least as
many as one rotation has. Coordinates are standardised by the means and deviations of the training points.

SVC's 5-fold cross-validation on the labeled points chooses C and sigma from 10^-3 .. 10^3; the first of equal errors
wins. This C weighs one labeled point, and TSGS3VM's C weighs their mean, so TSGS3VM gets 200 C. The loss of the
unlabeled points and their weight relative to the labels are set beforehand by `--loss` and `--ratio`.

A run has T = 2 C (of the mean) iterations, between 1000 and `--n-iter`. Its step is the constant 4 / max(C, T), and a
quarter of it in the last quarter of the run. A step of 1/t would begin with values near C, which are forgotten only
after T >> C iterations. The run with C* = 0 gets the same batches of labeled points, the same features and as many
iterations. Two numbers tell how far the runs have come: the points that changed sides in the last quarter, and the
points on which the run with C* = 0 differs from the exact solution of its problem, an SVM without intercept
(liblinear in coordinates of the kernel's span).

Each set and seed is added to the file `--out` as a row of JSON at once, and rows that are in it are not computed
again. The table is printed in Markdown.

The sets are files NAME.npz with X and y in the folder that DSGLAB_DATA names, or in ../shared/data beside the project.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from reporting import arrays_of, command_line, mean_and_deviation, measured_sets, names, show, table
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from dsgcore.kernels import KERNELS
from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.solver.carried import Carried
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import Change, Plan
from dsgcore.solver.task import Task

SETS = ("codrna", "skin_nonskin", "w6a", "dota2", "higgs7500")
N_LABELED, BATCH_SIZE = 200, 256
GRID = 10.0 ** np.arange(-3, 4)
MIN_ITER, STEP = 1000, 4.0
# With as many coordinates, orthogonal frequencies err less than independent ones.
MANY_COORDINATES = 100


@dataclass(frozen=True)
class Split:
    """Training points, the labeled ones first, with y = 1 and 0, and -1 for unlabeled; and test points."""

    X: NDArray
    y: NDArray
    X_test: NDArray
    y_test: NDArray

    @property
    def labeled(self) -> tuple[NDArray, NDArray]:
        return self.X[:N_LABELED], self.y[:N_LABELED]


@dataclass(frozen=True)
class Setting:
    """Options of the command line for all runs."""

    loss: str
    ratio: float
    features: int
    n_iter: int
    test: int


def draw(name: str, seed: int, n_test: int) -> Split:
    """Hide all labels but 200, and divide the points without a label into a training fold and four of test points."""
    arrays = arrays_of(name)
    X, y = arrays["X"].astype(np.float32), (arrays["y"] > 0).astype(int)
    order = np.random.default_rng(seed).permutation(len(y))
    unlabeled, test = np.split(order[N_LABELED:], [(len(y) - N_LABELED) // 5])
    train, test = np.concatenate([order[:N_LABELED], unlabeled]), test[:n_test]
    scaler = StandardScaler().fit(X[train])
    codes = np.where(np.arange(len(train)) < N_LABELED, y[train], -1)
    return Split(scaler.transform(X[train]), codes, scaler.transform(X[test]), y[test])


def tuned_svc(split: Split, seed: int) -> GridSearchCV:
    """Choose C and sigma on the labeled points."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # w6a has some six positives among 200
        return GridSearchCV(SVC(), {"C": GRID, "gamma": GRID}, cv=folds).fit(*split.labeled)


def exact_values(split: Split, C: float, sigma: float) -> NDArray:
    """Return the values at the test points of the exact solution on the labeled points alone."""
    X, y = split.labeled
    size, V = np.linalg.eigh(rbf_kernel(X, gamma=sigma))
    kept = size > 1e-9 * size[-1]
    root = np.sqrt(size[kept])
    svm = LinearSVC(C=C, loss="hinge", fit_intercept=False, max_iter=20_000, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Liblinear failed to converge")
        svm.fit(V[:, kept] * root, y)
    return rbf_kernel(split.X_test, X, gamma=sigma) @ (V[:, kept] @ (svm.coef_[0] / root))


def plan_of(C: float, split: Split, setting: Setting) -> Plan:
    (n, d), T = split.X.shape, int(np.clip(2 * C, MIN_ITER, setting.n_iter))
    one_rotation = 1 << (d - 1).bit_length() if d >= MANY_COORDINATES else 0
    m = max(setting.features, int(np.ceil(np.sqrt(n))), one_rotation)
    step = STEP / max(C, T)
    return Plan("constant", step, 1.0, m, T, [Change(last_quarter(T), "step_size", step / 4.0)])


def last_quarter(n_iter: int) -> int:
    return 3 * n_iter // 4 + 1


def task_of(X: NDArray, y: NDArray, problem: SemiSupervisedSVM, sigma: float, plan: Plan, seed: int) -> Task:
    kernel = KERNELS["orthogonal_gaussian" if X.shape[1] >= MANY_COORDINATES else "gaussian"](sigma)
    bound = problem.bind(y)
    return Task(bound, kernel, X, bound.rows(y), plan, BATCH_SIZE, seed, np.dtype(np.float32))


def train(task: Task, points: NDArray) -> tuple[NDArray, float]:
    """Return the values at the points, and the share of them that changed sides in the last quarter of the run."""
    model = task.new_model()
    carried = Carried(points, model)
    for iterate in solve(task, model, carried=(carried,)):
        if iterate.t == last_quarter(task.plan.n_iter) - 1:
            before = carried.values > 0
    if len(model) < task.plan.n_iter:
        raise SystemExit(f"the run diverged at iteration {len(model) + 1}")
    return carried.values, float(np.mean((carried.values > 0) != before))


def measure(name: str, seed: int, setting: Setting) -> dict[str, object]:
    """Return one row of the results: errors in percent."""
    start, split = time.perf_counter(), draw(name, seed, setting.test)
    search = tuned_svc(split, seed)
    C, sigma = N_LABELED * search.best_params_["C"], search.best_params_["gamma"]
    problem = SemiSupervisedSVM(C, setting.ratio * C, setting.loss)
    plan = plan_of(C, split, setting)
    f, changed = train(task_of(split.X, split.y, problem, sigma, plan, seed), split.X_test)
    # Without unlabeled points the labeled ones serve as such, and cost nothing more.
    twin, _ = train(task_of(*split.labeled, problem.baseline(), sigma, plan, seed), split.X_test)
    exact = exact_values(split, C / N_LABELED, sigma)
    values = {"ours": f, "twin": twin, "exact": exact, "svc": search.decision_function(split.X_test)}
    errors = {label: 100 * np.mean((each > 0) != split.y_test) for label, each in values.items()}
    return {
        **asdict(setting),
        **{"C": C / N_LABELED, "sigma": sigma, "n_unlabeled": len(split.X) - N_LABELED, "m": plan.n_features},
        **{"iterations": plan.n_iter, "changed": 100 * changed, "cv": 100 * (1 - search.best_score_), **errors},
        **{"twin_unlike_exact": 100 * np.mean((twin > 0) != (exact > 0)), "seconds": time.perf_counter() - start},
    }


def said(found: dict[str, dict[str, NDArray]]) -> str:
    """Return mean errors (and deviations) of every set, and their mean over the sets, in Markdown."""
    rows, means = [], []
    for name, of in found.items():
        errors = [of[k] for k in ("ours", "twin", "exact", "svc")]
        gaps = [f"{(of['ours'] - of[k]).mean():+.2f}" for k in ("twin", "svc")]
        length = f"{of['iterations'].min():.0f} to {of['iterations'].max():.0f}"
        rows.append((name, len(of["seed"]), *map(mean_and_deviation, errors), *gaps, length))
        means.append([values.mean() for values in errors])
    ours, twin, exact, svc = np.mean(means, axis=0)
    rows.append(
        ("mean", "", *(f"{v:.2f}" for v in (ours, twin, exact, svc)), f"{ours - twin:+.2f}", f"{ours - svc:+.2f}", "")
    )
    head = (
        "set",
        "draws",
        "TSGS3VM",
        "labels only",
        "exactly",
        "SVC",
        "difference to labels only",
        "to SVC",
        "iterations",
    )
    return table(head, rows)


def main() -> None:
    sizes = {"features": 128, "n_iter": 8000, "test": 3000}
    asked = command_line(
        __doc__, sets=names, seeds=5, first_seed=0, loss=tuple(LOSSES), ratio=0.1, out=Path("s3vm.jsonl"), **sizes
    )
    setting = Setting(asked.loss, asked.ratio, asked.features, asked.n_iter, asked.test)
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    show(said(measured_sets(asked.sets or SETS, seeds, asked.out, lambda name, seed: measure(name, seed, setting))))


if __name__ == "__main__":
    main()

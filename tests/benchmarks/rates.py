"""Rates of convergence to the limits in the papers' theorems, measured on 400 points.

    python tests/benchmarks/rates.py convex --seeds 16
    python tests/benchmarks/rates.py convex --lam 0.1
    python tests/benchmarks/rates.py non-convex
    python tests/benchmarks/rates.py average --lam 0.01 --seeds 8 --n-iter 4096

Convex cases (QSG-S2AUC, QS3ORAO, and TSGSU with the squared loss and without correction): with steps theta / t and
theta lam in (1, 2), E |f_t - f*|^2 = O(1 / t). The reason is |f_t - f*|^2 <= 2 |f_t - h_t|^2 + 2 kappa ||h_t -
f*||^2, and both parts have this rate. f* is computed exactly. The squares are means over all 400 points and over the
seeds. A slope is fitted by least squares to the logarithms of mean square and t, over the last decade of t, at points
evenly spaced in log t. Its standard error comes from resampling the seeds.

Non-convex cases (TSGSU with a correction, TSGS3VM): with a constant step theta / sqrt(T) or theta / T^(3/4), the
measurement is the running mean of ||grad J(h_t)||^2 in the kernel's space, relative to the start. J is the whole
sample's objective.

The average: with the constant step "auto", ||f_t - f*|| / ||f*|| beside the same for the mean of f_(t/2+1) .. f_t, at
t = 16, 32 ..

The tables are printed in Markdown. tests/test_rates.py checks the claims with shorter versions of the same
measurements.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from reporting import command_line, show, table

from dsgcore.kernels import Gaussian
from dsgcore.problems import Problem, SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.automatic_step import settle_step
from dsgcore.solver.carried import AllPoints
from dsgcore.solver.diagnostics import DualCoefficients, GradientNorm, exact_optimum, slope
from dsgcore.solver.loop import Iterate, solve
from dsgcore.solver.plan import Plan
from dsgcore.solver.task import Task

N = 400
KERNEL = Gaussian(1.0)
PARTS = ("f_to_optimum", "f_to_h", "h_to_optimum")
RESAMPLES = 500


class Case(NamedTuple):
    """A problem on its 400 points, and the steps it is solved with."""

    name: str
    problem: Problem
    X: NDArray
    y: NDArray
    plan: Plan
    batch_size: int

    def task(self, seed: int) -> Task:
        """Return the case as the solver takes it."""
        X = np.ascontiguousarray(self.X, dtype=np.float32)
        rows = self.problem.rows(self.y)
        return Task(self.problem, KERNEL, X, rows, self.plan, self.batch_size, seed, np.dtype(np.float32))

    def matrix(self) -> NDArray:
        """Return the kernel matrix of all points, in float64."""
        return KERNEL.matrix(self.X, self.X)

    def with_plan(self, **changes: float) -> Case:
        """Return the case with other steps."""
        return self._replace(plan=replace(self.plan, **changes))


def clusters(n_classes: int, distance: float, n_labeled: int) -> tuple[NDArray, NDArray]:
    """Return normal clusters in a row, in two dimensions, and the classes of the first points, -1 for the others."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, n_classes, N)
    X = rng.normal(size=(N, 2)) + distance * classes[:, None]
    return X, np.where(np.arange(N) < n_labeled, classes, -1)


def pairs_of_clusters(prior: float, distance: float, n_pairs: int) -> tuple[NDArray, NDArray]:
    """Return pairs of points of one of two clusters, then unlabeled points; and pair ids, -1 for the unlabeled."""
    rng = np.random.default_rng(0)
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    paired = np.repeat(rng.random(n_pairs) < share, 2)
    classes = np.concatenate([paired, rng.random(N - len(paired)) < prior])
    X = rng.normal(size=(N, 2)) + distance * classes[:, None]
    return X, np.concatenate([np.arange(2 * n_pairs) // 2, np.full(N - len(paired), -1)])


def _case(name: str, problem: Problem, sample: tuple[NDArray, NDArray], plan: Plan, batch_size: int) -> Case:
    X, y = sample
    return Case(name, problem.bind(y), X, y, plan, batch_size)


def convex_cases(*, n_iter: int, lam: float, product: float, n_features: int = 64, batch_size: int = 32) -> list[Case]:
    """Return the three convex cases with steps theta / t, where theta lam is `product`."""
    plan = Plan("theta/t", product / lam, lam, n_features, n_iter)
    without_correction = SimilarUnlabeled(0.7, correction="identity")
    return [
        _case("QSG-S2AUC", SemiSupervisedAUC(), clusters(2, 1.2, 80), plan, batch_size),
        _case("QS3ORAO", SemiSupervisedOrdinal(), clusters(4, 0.8, 120), plan, batch_size),
        _case("TSGSU, identity", without_correction, pairs_of_clusters(0.7, 1.5, 60), plan, batch_size),
    ]


def non_convex_cases(*, n_iter: int, n_features: int = 64, batch_size: int = 64) -> list[Case]:
    """Return TSGSU with its corrections and TSGS3VM with its losses, each with its theorem's constant step."""
    plan = Plan("theta/sqrt(T)", 5.0, 0.5, n_features, n_iter)
    sample = pairs_of_clusters(0.7, 1.5, 60)
    similar = [
        _case(f"TSGSU, {correction}", SimilarUnlabeled(0.7, correction=correction), sample, plan, batch_size)
        for correction in ("absolute value", "ReLU")
    ]
    plan = Plan("theta/T^(3/4)", 20.0, 1.0, n_features, n_iter)
    sample = clusters(2, 1.5, 80)
    svm = [
        _case(f"TSGS3VM, {loss}", SemiSupervisedSVM(C=4.0, C_star=2.0, loss=loss), sample, plan, batch_size)
        for loss in LOSSES
    ]
    return [*similar, *svm]


def iterates(task: Task) -> Iterator[tuple[Iterate, NDArray, NDArray]]:
    """Yield every iterate with f at all points and with h's dual coefficients after it; both change in place."""
    model = task.new_model()
    points, dual = AllPoints(task, model), DualCoefficients(len(task.X))
    for iterate in solve(task, model, training=points):
        rows = iterate.rows
        dual.advance(rows, iterate.weights, iterate.step.size, iterate.step.decay)
        yield iterate, points.values, dual.values


# Convex: the way to the optimum.


@dataclass(frozen=True, eq=False)
class Way:
    """Mean squares over all points on the way to the optimum.

    Attributes
    ----------
    t : ndarray of shape (k,)
    f_to_optimum, f_to_h, h_to_optimum : ndarray of shape (seeds, k)
    optimum : float
        Mean square of f*.
    """

    t: NDArray
    f_to_optimum: NDArray
    f_to_h: NDArray
    h_to_optimum: NDArray
    optimum: float

    def slope(self, part: str, *, end: float = 1.0, rows: NDArray | slice = slice(None)) -> float:
        """Return the slope of one of `PARTS`, averaged over the seeds, over the decade that ends at `end` of the run."""
        last = self.t[-1] * end
        used = (self.t >= last / 10) & (self.t <= last)
        return slope(self.t[used], getattr(self, part)[rows].mean(axis=0)[used])

    def slope_error(self, part: str) -> float:
        """Return the slope's standard error, by resampling the seeds."""
        rng, n = np.random.default_rng(0), len(self.f_to_h)
        return float(np.std([self.slope(part, rows=rng.integers(0, n, n)) for _ in range(RESAMPLES)]))

    def relative_error(self) -> NDArray:
        """Return ||f_T - f*|| / ||f*|| of every seed, over all points."""
        return np.sqrt(self.f_to_optimum[:, -1] / self.optimum)

    def peak(self) -> float:
        """Return the largest ||f_t - f*|| / ||f*|| on the way, from the mean over the seeds."""
        return float(np.sqrt(self.f_to_optimum.mean(axis=0).max() / self.optimum))


def way(case: Case, seeds: Sequence[int], *, per_decade: int = 20) -> Way:
    """Run a convex case once with every seed."""
    K, rows = case.matrix(), case.problem.rows(case.y)
    quadratic = case.problem.quadratic(rows, N)
    assert quadratic is not None
    optimum = K @ exact_optimum(K, *quadratic, case.plan.lam)
    n_iter = case.plan.n_iter
    t = np.unique(np.logspace(0, np.log10(n_iter), round(np.log10(n_iter) * per_decade) + 1).round().astype(int))
    squares = np.array([_squares(case.task(seed), K, optimum, set(t.tolist())) for seed in seeds])
    return Way(t, *np.moveaxis(squares, 2, 0), float(np.mean(optimum**2)))


def _squares(task: Task, K: NDArray, optimum: NDArray, at: set[int]) -> list[tuple[float, ...]]:
    found = []
    for iterate, f, dual in iterates(task):
        if iterate.t in at:
            h = K @ dual
            found.append(tuple(float(np.mean(d**2)) for d in (f - optimum, f - h, h - optimum)))
    return found


def averages(case: Case, seeds: Sequence[int]) -> tuple[NDArray, NDArray, NDArray]:
    """Return t = 16, 32 .., ||f_t - f*|| / ||f*|| and the same of the mean of the second half: over the seeds, in rms."""
    K = case.matrix()
    quadratic = case.problem.quadratic(case.problem.rows(case.y), N)
    assert quadratic is not None
    optimum = K @ exact_optimum(K, *quadratic, case.plan.lam)
    at = 2 ** np.arange(4, int(np.log2(case.plan.n_iter)) + 1)
    errors = np.array([_average_errors(case.task(seed), optimum, at) for seed in seeds])
    return at, *np.sqrt(np.mean(errors, axis=0) / np.mean(optimum**2)).T


def _average_errors(task: Task, optimum: NDArray, at: NDArray) -> list[tuple[float, float]]:
    settle_step(task)
    total, totals, found = np.zeros(N), {}, []
    for iterate, f, _ in iterates(task):
        total = total + f
        if iterate.t in (at[0] // 2, *at):
            totals[iterate.t] = total
        if iterate.t in at:
            mean = (total - totals[iterate.t // 2]) / (iterate.t // 2)
            found.append((float(np.mean((f - optimum) ** 2)), float(np.mean((mean - optimum) ** 2))))
    return found


# Non-convex: the gradient's norm.


@dataclass(frozen=True, eq=False)
class Norms:
    """||grad J(h_t)||^2 before every iteration, of shape (seeds, T), and of how many of them the risk was corrected."""

    squared: NDArray
    n_corrected: float

    def relative_mean(self) -> NDArray:
        """Return the running mean over its first value, averaged over the seeds, (T,)."""
        running = np.cumsum(self.squared, axis=1) / np.arange(1, self.squared.shape[1] + 1)
        return (running / self.squared[:, :1]).mean(axis=0)

    def relative_end(self) -> float:
        """Return the mean over the run's last tenth, over the first value."""
        last = self.squared[:, -max(1, self.squared.shape[1] // 10) :]
        return float((last.mean(axis=1) / self.squared[:, 0]).mean())


def norms(case: Case, seeds: Sequence[int]) -> Norms:
    """Run a non-convex case once with every seed."""
    K, lam = case.matrix(), case.plan.lam
    measured, corrected = [], []
    for seed in seeds:
        task = case.task(seed)
        norm = GradientNorm(task.problem, task.rows, K)
        squared = [norm.at(np.zeros(N), lam)]
        for iterate, _, dual in iterates(task):
            squared.append(norm.at(dual, lam))
            corrected.append(iterate.terms.get("correction", 0.0) != 0.0)
        measured.append(squared[:-1])
    return Norms(np.array(measured), float(np.mean(corrected)))


# Tables.


def _convex_row(case: Case, seeds: Sequence[int]) -> list[str]:
    found = way(case, seeds)
    slopes = [f"{found.slope(part):.2f} ± {found.slope_error(part):.2f}" for part in PARTS]
    error = found.relative_error()
    return [
        case.name,
        f"{case.plan.lam:g}",
        f"{case.plan.step_size:g}",
        *slopes,
        f"{found.slope('f_to_optimum', end=0.1):.2f}",
        f"{100 * error.mean():.2f} % ({100 * error.max():.2f} %)",
        f"{found.peak():.2g}",
    ]


def show_convex(arguments: Namespace) -> None:
    """Print slopes and final errors of the convex cases."""
    seeds = range(arguments.seeds)
    head = ["case", "λ", "θ", "f − f*", "f − h", "h − f*", "f − f*, decade before", "error at T (largest)", "peak"]
    settings = {"n_iter": arguments.n_iter, "n_features": arguments.features, "batch_size": arguments.batch}
    cases = [case for lam in arguments.lam for case in convex_cases(lam=lam, product=arguments.product, **settings)]
    show(table(head, (_convex_row(case, seeds) for case in cases if case.name.startswith(arguments.only))))


def _non_convex_row(case: Case, seeds: Sequence[int]) -> list[str]:
    found = norms(case, seeds)
    mean = found.relative_mean()
    at = [max(1, round(case.plan.n_iter * share)) for share in (0.01, 0.1, 1.0)]
    return [
        case.name,
        f"{case.plan.at(1).size:.3g}",
        *(f"{100 * mean[t - 1]:.2f} %" for t in at),
        f"{100 * found.relative_end():.2f} %",
        f"{100 * found.n_corrected:.1f} %",
    ]


def show_non_convex(arguments: Namespace) -> None:
    """Print the running mean of the squared gradient norm."""
    head = ["case", "step", "mean to T/100", "to T/10", "to T", "last tenth alone", "batches corrected"]
    cases = [case for case in non_convex_cases(n_iter=arguments.n_iter) if case.name.startswith(arguments.only)]
    show(table(head, (_non_convex_row(case, range(arguments.seeds)) for case in cases)))


def show_average(arguments: Namespace) -> None:
    """Print how far the iterates, and the means of their second halves, are from the optimum."""
    settings = {"n_iter": arguments.n_iter, "n_features": arguments.features, "batch_size": arguments.batch}
    for lam in arguments.lam:
        for case in convex_cases(lam=lam, product=arguments.product, **settings):
            if case.name.startswith(arguments.only):
                automatic = case.with_plan(schedule="constant", step_size=None)
                t, last, mean = averages(automatic, range(arguments.seeds))
                print(f"{case.name}, λ = {lam:g}\n")
                rows = [[name, *(f"{100 * e:.1f} %" for e in of)] for name, of in (("f", last), ("average", mean))]
                show(table(["t", *map(str, t)], rows))


COMMANDS: dict[str, Callable[[Namespace], None]] = {
    "convex": show_convex,
    "non-convex": show_non_convex,
    "average": show_average,
}


def main() -> None:
    """Measure what the command line asks for."""
    sizes = {"n_iter": 10_000, "features": 64, "batch": 32}
    asked = command_line(__doc__, COMMANDS, seeds=16, lam=[1.0, 0.5], only="", product=1.5, **sizes)
    for what in asked.what:
        COMMANDS[what](asked)


if __name__ == "__main__":
    main()

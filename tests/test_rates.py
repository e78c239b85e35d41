"""The papers' theorems on the way to the optimum, on 400 points.

Convex cases (QSG-S2AUC, QS3ORAO, and TSGSU with the squared loss and without correction): with steps theta / t and
theta lam in (1, 2), E |f_t - f*|^2 = O(1 / t). The reason is |f_t - f*|^2 <= 2 |f_t - h_t|^2 + 2 kappa ||h_t -
f*||^2, and both parts have this rate. f* is computed exactly. The squares are means over all 400 points and over the
seeds. A slope is fitted by least squares to the logarithms of mean square and t, over the last decade of t, at points
evenly spaced in log t.

Non-convex cases (TSGSU with a correction, TSGS3VM): with a constant step theta / sqrt(T) or theta / T^(3/4), the
measurement is the running mean of ||grad J(h_t)||^2 in the kernel's space, relative to the start. J is the whole
sample's objective.

The average: with the constant step "auto", ||f_t - f*|| / ||f*|| beside the same for the mean of f_(t/2+1) .. f_t, at
t = 16, 32 ..
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest
from cases import each
from naive_problems import exact_optimum, quadratic
from numpy.typing import NDArray

from dsgcore.kernels import Gaussian
from dsgcore.problems import Problem, SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.automatic_step import settle_step
from dsgcore.solver.exact import DualCoefficients, GradientNorm, slope
from dsgcore.solver.loop import AllPoints, Iterate, solve
from dsgcore.solver.task import Plan, Task

pytestmark = pytest.mark.weekly

N = 400
KERNEL = Gaussian(1.0)


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
        _case(
            f"TSGS3VM, {loss}",
            SemiSupervisedSVM(labeled_weight=4.0, unlabeled_weight=2.0, loss=loss),
            sample,
            plan,
            batch_size,
        )
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

    def relative_error(self) -> NDArray:
        """Return ||f_T - f*|| / ||f*|| of every seed, over all points."""
        return np.sqrt(self.f_to_optimum[:, -1] / self.optimum)


def the_way(case: Case, seeds: Sequence[int], *, per_decade: int = 20) -> Way:
    """Run a convex case once with every seed."""
    K, rows = case.matrix(), case.problem.rows(case.y)
    optimum = K @ exact_optimum(K, *quadratic(case.problem, rows, N), case.plan.lam)
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
    optimum = K @ exact_optimum(K, *quadratic(case.problem, case.problem.rows(case.y), N), case.plan.lam)
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


# --- what the theorems promise

N_ITER, LAM = 2000, 1.0
CONVEX = convex_cases(n_iter=N_ITER, lam=LAM, product=1.5)
NON_CONVEX = non_convex_cases(n_iter=1500)


@pytest.fixture(scope="module", params=CONVEX, ids=lambda case: case.name)
def way(request):
    """Two runs of a convex case, theta lam = 1.5, within the theorem's (1, 2)."""
    return the_way(request.param, range(2))


@pytest.mark.parametrize("part", ["f_to_optimum", "f_to_h"])
def test_the_distance_falls_as_one_over_t(way, part):
    assert way.slope(part) == pytest.approx(-1.0, abs=0.25)


def test_the_optimum_is_reached_to_three_per_cent(way):
    # Asked for by 10 000 iterations; where it falls as 1 / sqrt(t) that is 1.3 %.
    assert way.relative_error().mean() < 0.03


@each("case", NON_CONVEX)
def test_the_mean_squared_gradient_falls_below_a_twentieth_of_its_start(case):
    assert norms(case, [0]).relative_mean()[-1] < 0.05


def test_the_average_goes_on_where_the_last_iterate_stands_still():
    (case,) = (c for c in convex_cases(n_iter=512, lam=0.01, product=1.5) if c.name == "QSG-S2AUC")
    t, last, mean = averages(case.with_plan(schedule="constant", step_size=None), range(2))
    assert t.tolist() == [16, 32, 64, 128, 256, 512]
    # 23 and 9.5 % of |f*| over eight seeds where this was written.
    assert mean[-1] < 0.6 * last[-1]
    assert mean[-1] < 0.7 * mean[-3]
    assert last[-1] > 0.8 * last[-3]

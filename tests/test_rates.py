"""The papers' theorems on the way to the optimum, on 400 points.

Convex cases (QSG-S2AUC, QS3ORAO, and TSGSU with the squared loss and without correction): with steps theta / t and
theta lam in (1, 2), E |f_t - f*|^2 = O(1 / t). The reason is |f_t - f*|^2 <= 2 |f_t - h_t|^2 + 2 kappa ||h_t -
f*||^2, and both parts have this rate. f* is computed exactly. The squares are means over all 400 points and over the
seeds. A slope is fitted by least squares to the logarithms of mean square and t, over the last decade of t, at points
evenly spaced in log t.

Non-convex cases (TSGSU with a correction, TSGS3VM): with a constant step theta / sqrt(T) or theta / T^(3/4), the
measurement is the running mean of ||grad J(h_t)||^2 in the kernel's space, relative to the start. J is the whole
sample's objective.

The average: `test_convergence.py`, beside the last iterate of a run with a constant step.
"""

from dataclasses import replace

import numpy as np
import pytest
from cases import each
from naive_problems import exact_optimum, quadratic

from dsgcore.kernels import Gaussian
from dsgcore.problems import SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.loop import AllPoints, solve
from dsgcore.solver.measures import DualCoefficients, GradientNorm, slope
from dsgcore.solver.task import Plan, Task

pytestmark = pytest.mark.weekly

N, KERNEL = 400, Gaussian(1.0)


def clusters(n_classes, distance, n_labeled):
    """Normal clusters in a row, in two dimensions, and the classes of the first points, -1 for the others."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, n_classes, N)
    X = rng.normal(size=(N, 2)) + distance * classes[:, None]
    return X, np.where(np.arange(N) < n_labeled, classes, -1)


def pairs_of_clusters(prior=0.7, distance=1.5, n_pairs=60):
    """Pairs of points of one of two clusters, then unlabeled points; and pair ids, -1 for the unlabeled."""
    rng = np.random.default_rng(0)
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    paired = np.repeat(rng.random(n_pairs) < share, 2)
    classes = np.concatenate([paired, rng.random(N - len(paired)) < prior])
    X = rng.normal(size=(N, 2)) + distance * classes[:, None]
    return X, np.concatenate([np.arange(2 * n_pairs) // 2, np.full(N - len(paired), -1)])


# Problems on their points, by their name.
CONVEX = {
    "QSG-S2AUC": (SemiSupervisedAUC(), clusters(2, 1.2, 80)),
    "QS3ORAO": (SemiSupervisedOrdinal(), clusters(4, 0.8, 120)),
    "TSGSU, identity": (SimilarUnlabeled(0.7, correction="identity"), pairs_of_clusters()),
}
NON_CONVEX = [
    *(
        (SimilarUnlabeled(0.7, correction=correction), pairs_of_clusters(), Plan("theta/sqrt(T)", 5.0, 0.5, 64, 1500))
        for correction in ("absolute value", "ReLU")
    ),
    *(
        (
            SemiSupervisedSVM(labeled_weight=4.0, unlabeled_weight=2.0, loss=loss),
            clusters(2, 1.5, 80),
            Plan("theta/T^(3/4)", 20.0, 1.0, 64, 1500),
        )
        for loss in LOSSES
    ),
]


def task_of(problem, sample, plan, batch_size, seed):
    """Return the task, and the kernel matrix of all points, in float64."""
    X, y = sample
    problem, dtype = problem.bind(y), np.dtype(np.float32)
    task = Task(problem, KERNEL, X.astype(dtype), problem.rows(y), replace(plan), batch_size, seed, dtype)
    return task, KERNEL.matrix(X, X)


def iterates(task):
    """Yield every iterate's number with f at all points and h's dual coefficients after it; both change in place."""
    model = task.new_model()
    points, dual = AllPoints(task, model), DualCoefficients(N)
    for iterate in solve(task, model, training=points):
        dual.advance(iterate.rows, iterate.weights, iterate.step.size, iterate.step.decay)
        yield iterate.t, points.values, dual.values


@each("name", CONVEX)
def test_the_distance_falls_as_one_over_t_and_the_optimum_is_reached_to_three_per_cent(name):
    at, squares = np.unique(np.logspace(0, np.log10(2000), 67).round().astype(int)), []
    plan = Plan("theta/t", 1.5, 1.0, 64, 2000)  # theta lam = 1.5, within the theorem's (1, 2)
    for seed in range(2):
        task, K = task_of(*CONVEX[name], plan, 32, seed)
        optimum = K @ exact_optimum(K, *quadratic(task.problem, task.rows, N), plan.lam)
        squares.append(
            [(np.mean((f - optimum) ** 2), np.mean((f - K @ dual) ** 2)) for t, f, dual in iterates(task) if t in at]
        )
    for part in np.mean(squares, axis=0).T:
        assert slope(at[at >= 200], part[at >= 200]) == pytest.approx(-1.0, abs=0.25)
    # Asked for by 10 000 iterations; where it falls as 1 / sqrt(t) that is 1.3 %.
    assert np.sqrt(np.array(squares)[:, -1, 0] / np.mean(optimum**2)).mean() < 0.03


@each("problem, sample, plan", NON_CONVEX)
def test_the_mean_squared_gradient_falls_below_a_twentieth_of_its_start(problem, sample, plan):
    task, K = task_of(problem, sample, plan, 64, seed=0)
    norm = GradientNorm(task.problem, task.rows, K)
    squared = [norm.at(np.zeros(N), plan.lam), *(norm.at(dual, plan.lam) for _, _, dual in iterates(task))]
    assert np.mean(squared[:-1]) < 0.05 * squared[0]

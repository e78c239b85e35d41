"""Automatic parameters of PS3VT: ridge, graph weight, ball and step for the data's scale and the number of labels.

Both weights make a prior that counts as one labeled point:

- The ridge is (1/2) ||W||^2 v, with v the points' mean variance, as in a logistic regression with C = 1 on
  standardised columns.
- The graph weight is the same for the mean squared difference of the scores along the graph's links.

With many labels neither matters, and no graph is built. If the logistic loss is used on linear features, held-out
labels choose a factor of the ridge.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.multiclass.features import FixedFeatures, spread
from dsgcore.multiclass.graph import laplacian, largest_eigenvalue, smoothness
from dsgcore.multiclass.held_out import held_out_factor
from dsgcore.multiclass.problem import CURVATURES, MultiClass
from dsgcore.solver.problem import UNLABELED

# Ridge times n_l, for linear features of variance 1, and for Fourier features, which have norm 1. The logistic loss is
# never zero, and needs a smaller ridge if there are many features.
RIDGE = {
    ("linear", "hinge"): 0.5,
    ("linear", "logistic"): 0.5,
    ("fourier", "hinge"): 0.25,
    ("fourier", "logistic"): 0.01,
}
# Weight of the pull to low rank. For thousands of Fourier features, singular values would take most of an iteration's
# time.
TAIL = {"linear": 1e-3, "fourier": 0.0}
# With more labels the graph's automatic weight is 0. The graph is built over at most this many points.
MOST_LABELS, MOST_POINTS = 1000, 10_000
# The largest radius that the parameter allows.
FREE = 1e6
# Iterations of the search for the largest curvature. They give it to within a few percent.
POWER_ITERATIONS = 30


def settle_weights(
    problem: MultiClass, features: FixedFeatures, X: NDArray, y: NDArray
) -> tuple[MultiClass, NDArray | None]:
    """Return the problem with its ridge and graph weight, and the graph's matrix if the graph has a weight.

    `X` (n, d) are all points, and `y` (n,) their classes, -1 for unlabeled points.
    """
    n_labeled = int(np.count_nonzero(y != UNLABELED))
    if _is_open(problem, "lam"):
        problem = replace(problem, lam=_ridge(problem, X, y) / n_labeled)
    if _is_open(problem, "tau_S"):
        problem = replace(problem, tau_S=TAIL[features.kind])
    if not _is_open(problem, "tau_I"):
        L = laplacian(X, n_neighbors=problem.n_neighbors, variant=problem.variant) if problem.tau_I > 0.0 else None
        return problem, None if L is None else smoothness(features(X), L)
    # A product with the matrix of Fourier features would take longer than the rest of an iteration.
    if n_labeled > MOST_LABELS or features.kind == "fourier":
        return replace(problem, tau_I=0.0), None
    some = X[evenly_spread(len(X), MOST_POINTS)]
    L = laplacian(some, n_neighbors=problem.n_neighbors, variant=problem.variant)
    # The graph's term counts each link once, the degrees count it twice.
    weight = 2.0 / (n_labeled * max(L.diagonal().sum(), np.finfo(float).tiny))
    return replace(problem, tau_I=float(weight)), smoothness(features(some), L)


def _ridge(problem: MultiClass, X: NDArray, y: NDArray) -> float:
    """Return the ridge times the number of labels."""
    usual = RIDGE[problem.features, problem.loss]
    if problem.features != "linear":
        return usual
    usual *= spread(X) ** 2
    labeled = y != UNLABELED
    return usual if problem.loss == "hinge" else usual * held_out_factor(X[labeled], y[labeled], usual)


def _is_open(problem: MultiClass, name: str) -> bool:
    """Return True if a parameter is still automatic. Its type does not show this."""
    return getattr(problem, name) is None


def settle_step(problem: MultiClass, phi: NDArray, n_labeled: int, M: NDArray | None) -> MultiClass:
    """Return the problem with its step and ball, if the step is automatic: one over the curvature of mini-batches.

    The weights must be set already. `phi` (n_l, D) are features of the labeled points, or of some of them. `M` (D, D)
    is the graph's matrix, if any.
    """
    if not _is_open(problem, "step_size"):
        return problem
    size = problem.batch_size or n_labeled
    # E (x x')^2 of a mean over B points is at most (largest eigenvalue + mean ||x||^2 / B) times E x x'.
    curvature = (
        CURVATURES[problem.loss] * (_largest_moment(phi) + np.vdot(phi, phi) / len(phi) / size) + 2.0 * problem.lam
    )
    if M is not None:
        curvature += 2.0 * problem.tau_I * largest_eigenvalue(M)
    step = 1.0 / max(curvature, 1.0 / FREE)
    # The released variant divides by t + n_l.
    step *= n_labeled if problem.variant == "released" else 1.0
    radius = free_radius(problem.lam, problem.loss) if problem.radius is None else problem.radius
    return replace(problem, step_size=float(step), radius=radius)


def free_radius(lam: float, loss: str) -> float:
    """Return the radius of a ball that contains the minimiser.

    At its edge, the ridge alone equals the hinge objective at W = 0.
    """
    if loss != "hinge":
        return FREE
    return float(min(lam**-0.5, FREE)) if lam > 0.0 else FREE


def _largest_moment(phi: NDArray) -> float:
    """Return the largest eigenvalue of the features' mean x x', by power iteration."""
    v = phi.mean(axis=0) + np.sqrt(np.mean(phi**2, axis=0))
    for _ in range(POWER_ITERATIONS):
        v = phi.T @ (phi @ (v / (np.linalg.norm(v) or 1.0))) / len(phi)
    return float(np.linalg.norm(v))

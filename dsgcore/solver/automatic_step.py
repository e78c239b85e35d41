"""Automatic step size, from the curvature of the batch risk, or from the losses' slope and the features' size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dsgcore.core.sampling import generator
from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels.features import Cosines, as_points, explicit
from dsgcore.solver.task import SCHEDULES, Task, by_labels

# A quarter of the largest stable step, so that the remaining mini-batch noise is averaged away. With many labels and large
# mini-batches there is less of it, and the share is up to a half.
SHARE_OF_LARGEST = 0.25
# Iterations whose batches and features are examined, points of each source, and steps of the power iteration.
ITERATIONS, POINTS, POWERS = 4, 128, 12
# At most this many features are examined: more change the curvature little, and would take seconds. Up to so many of
# their values are kept.
MOST_FEATURES, MOST_NUMBERS = 8192, 2**20
# The largest slope moves a value from the wrong side to the other in about one step. With more than so many labels steps
# are longer: values have farther to go, and the mean of the iterates loses the noise.
STEPS_ACROSS, MANY_LABELS, MOST_ACROSS = 2.0, 512, 48.0
LOWEST, HIGHEST = 1e-6, 1e6
# Values so small that a run does not meet a correction of negative risks, or a kink.
SMALL = 1e-2


@dataclass(frozen=True)
class StepSizes:
    """Step sizes of a run, known before it begins."""

    automatic: float  # the schedule's theta that "auto" means
    # Above this constant step the risk's curvature makes the iterate diverge. None if the slopes are bounded.
    largest: float | None
    # Above this constant step the iterate diverges, by the curvature or by the ridge alone. None if there is neither.
    limit: float | None


def step_sizes(task: Task, t: int = 0) -> StepSizes:
    """Return the steps that suit a task, with the ridge and the features of iteration `t` (0: at the start).

    The same data, plan and seed give the same numbers.

    Squared losses: let mu be the largest eigenvalue of Q_B K_w for the batches B and features w of the first
    iterations. Q is the risk's second derivative and K_w the features' kernel. An iteration multiplies errors by up to
    1 - eta (lambda + mu). Few features and small batches make mu larger, and so the step smaller. Hinge losses have no
    curvature. For them one step moves a value by at most eta times the largest sum of |c_b| times k(x, x), and the step
    grows with the root of the number of labels.

    Mini-batches of b times 128 points have less noise. With so many labels that they are usual, steps are longer: by the
    factors of `by_labels`, at most b^(1/3), or b^(1/2) for a hinge loss. Those of at most 128 points change nothing.
    """
    # the step itself is not used
    now = replace(task.plan, schedule="constant", automatic_step=1.0, first_features=None).at(t)
    plan, slope = replace(task.plan, lam=now.lam, n_features=now.n_features), task.problem.largest_slope
    limit, many = 2.0 / plan.lam if plan.lam > 0 else None, by_labels(task.rows)
    larger = max(1.0, task.batch_size / by_labels(0).batch_size)
    if slope is None:
        mu = max(_curvature(task, t, plan.n_features) for t in range(1, ITERATIONS + 1))
        limit = largest = 2.0 / max(plan.lam + mu, 1.0 / HIGHEST)
        step = SHARE_OF_LARGEST * largest * min(many.step, larger ** (1 / 3))
    else:
        n_labeled = sum(len(rows) for source, rows in task.rows.items() if source != "unlabeled")
        across = STEPS_ACROSS * max(1.0, n_labeled / MANY_LABELS) ** 0.5
        if (longer := min(many.hinge_step, larger**0.5)) > 1.0:
            across = min(across * longer, MOST_ACROSS)
        if not np.isfinite(size := task.kernel.bound):  # the mean of k(x, x) over the first batches
            rows = task.joined_batches(0, 1).reshape(len(task.rows), -1)[:, :POINTS]
            points = as_points(task.X[rows.ravel()], np.dtype(float))
            size = float(np.mean([task.kernel.matrix(x[None], x[None])[0, 0] for x in points]))
        largest, step = None, across / (slope * size)
        if plan.lam > 0:
            step = min(step, 1.0 / plan.lam)
    theta = step / SCHEDULES[plan.schedule](1.0, 1, plan.n_iter)
    if slope is not None and plan.schedule == "theta/t" and plan.lam > 0:
        theta = 1.0 / plan.lam  # the values stay bounded, and smaller steps would not arrive
    return StepSizes(float(np.clip(theta, LOWEST, HIGHEST)), largest, limit)


def settle_step(task: Task) -> None:
    """Fill in the automatic step if an iteration of the task's plan uses it."""
    if task.plan.is_open:
        task.plan.automatic_step = step_sizes(task).automatic


def _curvature(task: Task, t: int, n_features: int) -> float:
    """Return the largest eigenvalue of v -> K_w Q_B v by power iteration, for the batches and so many features of an iteration."""
    rows = task.joined_batches(t - 1, t).reshape(len(task.rows), -1)[:, :POINTS]
    X, feature_map = as_points(task.X[rows.ravel()], task.dtype), task.kernel.feature_map
    W = task.new_model().frequencies(t, min(n_features, MOST_FEATURES))
    phi = explicit(X, W) if isinstance(feature_map, Cosines) and 2 * len(X) * W.shape[1] <= MOST_NUMBERS else None
    start, v, at_zero = generator(task.seed, "curvature", t).standard_normal(len(X)), np.zeros(len(X)), None
    size, tiny = 0.0, np.finfo(task.dtype).tiny
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        for _ in range(1 + POWERS):  # at 0 first: those coefficients are the part that does not change with v
            v *= SMALL / max(v.max(), -v.min(), tiny)
            slopes = task.problem.coefficients(dict(zip(task.rows, v.reshape(rows.shape), strict=True)))
            joined = np.concatenate([slopes[source] for source in task.rows])
            if at_zero is None:
                v, at_zero = start, joined
                continue
            before, c = v @ v, (joined - at_zero).astype(task.dtype)
            if phi is not None:
                v = (phi @ (phi.T @ c)).astype(float)
            else:
                values = np.zeros(len(X), dtype=task.dtype)
                feature_map.evaluate(X, W, feature_map.accumulate(X, c, W, -1.0), 0.0, values)
                v = values.astype(float)
            size = float(np.sqrt(v @ v) / np.sqrt(before))
            if not 0.0 < size < np.inf:
                break
    return size if np.isfinite(size) else HIGHEST

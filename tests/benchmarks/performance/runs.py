"""Whole runs in the papers' usual setting, against the papers' own algorithm and against scikit-learn's features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dsgcore.kernels import Gaussian, features
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.loop import VisitedPoints, solve
from dsgcore.solver.task import Plan, Task
from performance import plain
from performance.machine import Row, interleaved
from performance.measuring import Sizes, repeated

MAX_ROUNDS, GROWTH_ROUNDS = 5, 2
# Least ratio of the time of the papers' own algorithm, in our precision: at T iterations, and at `growth` times as
# many.
TARGET, TARGET_OF_LONGER = 20.0, 80.0


def paper_task(n: int, d: int, m: int, n_iter: int, batch_size: int) -> Task:
    """Return paper 1's problem on normal points: half of them in similar pairs, half unlabeled."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    rows = {"similar": np.arange(n // 2), "unlabeled": np.arange(n // 2, n)}
    plan = Plan("constant", 0.1, 1e-3, m, n_iter)
    return Task(SimilarUnlabeled(), Gaussian(0.5 / d), X, rows, plan, batch_size, 0, X.dtype)


def make(task: Task, points_of: Callable[..., Any] = VisitedPoints) -> Any:
    """Train from the start; return the tracked points, which `points_of` makes from the task and its model."""
    model = task.new_model()
    points = points_of(task, model)
    for _ in solve(task, model, training=points):
        pass
    assert len(model) == task.plan.n_iter, "the run diverged"
    return points


def train(task: Task) -> int:
    """Train from the start; return the number of evaluations: points tracked or accumulated, times features."""
    n_batch = len(task.rows) * task.batch_size
    return task.plan.n_features * (int(make(task).needed_after.sum()) + n_batch * task.plan.n_iter)


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the papers' setting."""
    s = sizes
    task = paper_task(s.n, s.d, s.m, s.n_iter, s.batch_size)
    wide = replace(task, X=task.X.astype(np.float64), dtype=np.dtype(np.float64))
    longer = replace(task, plan=replace(task.plan, n_iter=s.growth * s.n_iter))
    evaluations, few = train(task), max(1, s.plain_iter // 2)
    calls = {
        "ours": lambda: train(task),
        "longer": lambda: train(longer),
        "plain": lambda: plain.train(task, s.plain_iter),
        "plain, float64": lambda: plain.train(wide, few),
        "scikit-learn": rbf_iteration(task),
        "evaluations": repeated(one_evaluation(task), s.n_iter),
    }
    times = interleaved(min(s.repeats, MAX_ROUNDS), calls)
    ours = times["ours"]
    share_carried = evaluations / (s.m * s.n_iter * (s.n + len(task.rows) * s.batch_size))
    setting = f"paper 1's setting ({s.n} points, d = {s.d}, m = {s.m}, T = {s.n_iter})"
    yield Row(f"{setting}: time", ours, "s")
    yield from _against_plain(s, times, few)
    yield Row(
        "  RBFSampler and NumPy, the same evaluations (one iteration of T) / ours",
        times["scikit-learn"] * s.n_iter * share_carried / ours,
        "x",
    )
    kernel_time = evaluations * times["evaluations"] / (s.n * s.m * s.n_iter)
    yield Row("  evaluations x kernel time / whole time, all cores", kernel_time / ours, "", 0.85)


def _against_plain(s: Sizes, times: Mapping[str, float], few: int) -> Iterator[Row]:
    """Compare with the papers' own algorithm, whose time is extrapolated from a few iterations."""
    like_ours, default = "float32, as ours", "NumPy's default, float64"
    for name, own, T, iterations, precision, target in (
        ("plain", "ours", s.n_iter, s.plain_iter, like_ours, TARGET),
        ("plain", "longer", s.growth * s.n_iter, s.plain_iter, like_ours, TARGET_OF_LONGER),
        ("plain, float64", "ours", s.n_iter, few, default, None),
    ):
        whole = times[name] * plain.block_evaluations(T) / plain.block_evaluations(iterations)
        at = f"T = {T}, from T = {iterations}"
        yield Row(f"  plain NumPy algorithm in {precision} ({at}) / ours", whole / times[own], "x", target)


def measure_growth(sizes: Sizes) -> Iterator[Row]:
    """Measure how a run's time grows if one size of the papers' setting is larger, beside the growth of the others."""
    s = sizes
    base = {"n": s.n, "d": s.d, "m": max(1, s.m // 4), "n_iter": s.n_iter, "batch_size": s.batch_size}
    changed = {"T": ("n_iter", s.growth), "N": ("n", 2), "m": ("m", 2), "d": ("d", 2)}
    calls: dict[str, Callable[[], object]] = {"base": repeated(partial(train, paper_task(**base)), s.growth)}
    for letter, (name, factor) in changed.items():
        calls[letter] = partial(train, paper_task(**{**base, name: base[name] * factor}))
    times = interleaved(GROWTH_ROUNDS, calls)
    times["base"] /= s.growth
    yield Row(
        f"growth at m = {base['m']}: time(T = {s.growth * s.n_iter}) / time(T = {s.n_iter}); papers: {s.growth**2}",
        times["T"] / times["base"],
        "x",
        1.1 * s.growth,
        is_most=True,
    )
    for letter in ("N", "m", "d"):
        old = base[changed[letter][0]]
        yield Row(f"growth: time({letter} = {2 * old}) / time({letter} = {old})", times[letter] / times["base"], "x")


def one_evaluation(task: Task) -> Callable[[], None]:
    """Return the evaluation of one block at all points of a task, on all cores."""
    m = task.plan.n_features
    r = np.random.default_rng(0).random(m, dtype=np.float32)
    W, block = task.new_model().frequencies(1, m), np.stack([r, r])
    out = np.zeros(len(task.X), dtype=task.dtype)
    return lambda: features.evaluate(task.X, W, block, 1.0, out)


def rbf_iteration(task: Task) -> Callable[[], None]:
    """Return one iteration's accumulation and evaluation at all points, with features by scikit-learn."""
    from sklearn.kernel_approximation import RBFSampler

    X, m = task.X, task.plan.n_features
    assert isinstance(task.kernel, Gaussian)
    sigma, n_batch = task.kernel.sigma, len(task.rows) * task.batch_size
    values, weights = np.zeros(len(X), dtype=X.dtype), np.ones(n_batch, dtype=X.dtype)

    def iterate() -> None:
        sampler = RBFSampler(gamma=sigma, n_components=m, random_state=0).fit(X[:1])
        alpha = weights @ sampler.transform(X[np.arange(n_batch) % len(X)])
        values[:] = 0.999 * values + sampler.transform(X) @ alpha

    return iterate

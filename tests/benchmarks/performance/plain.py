"""The papers' Algorithms 1 and 2 in plain NumPy: every step draws and evaluates all earlier blocks' features again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dsgcore.kernels import block_frequencies
from dsgcore.solver.task import Task


def feature_map(task: Task, t: int, X: NDArray) -> NDArray:
    """Return phi_t of the rows of X, sqrt(1/m) [cos w_j'x .., sin w_j'x ..], of shape (n, 2m)."""
    m = task.plan.at(t).n_features
    W = block_frequencies(task.kernel, task.seed, t, X.shape[1], m, task.dtype)
    z = X @ (W * task.dtype.type(2 * np.pi))
    return np.concatenate([np.cos(z), np.sin(z)], axis=1) * task.dtype.type(m**-0.5)


def predict(task: Task, alphas: list[NDArray], X: NDArray) -> NDArray:
    """Return f at the rows of X: Algorithm 2."""
    f = np.zeros(len(X), dtype=task.dtype)
    for t, alpha in enumerate(alphas, start=1):
        f += feature_map(task, t, X) @ alpha
    return f


def train(task: Task, n_iter: int) -> list[NDArray]:
    """Return the coefficients alpha_t of `n_iter` iterations, (2m,) each: Algorithm 1."""
    alphas: list[NDArray] = []
    for t in range(1, n_iter + 1):
        step, batch = task.plan.at(t), task.batch(t)
        points = task.X[np.concatenate(list(batch.values()))]
        edges = np.cumsum([len(rows) for rows in batch.values()])[:-1]
        f = dict(zip(batch, np.split(predict(task, alphas, points), edges), strict=True))
        c = np.concatenate([task.problem.coefficients(f)[source] for source in batch]).astype(task.dtype)
        added = -task.dtype.type(step.size) * (c @ feature_map(task, t, points))
        alphas = [task.dtype.type(step.decay) * alpha for alpha in alphas] + [added]
    return alphas


def block_evaluations(n_iter: int) -> float:
    """Return how many times `n_iter` iterations compute a batch's features: the algorithm's cost."""
    return n_iter * (n_iter + 1) / 2

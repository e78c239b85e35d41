"""Exact-kernel twin h of PS3VT on random features: the same steps, with the kernel for the features' products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel

from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.problem import MultiClass


class KernelTwin:
    """Exact-kernel twin h at some probes.

    Every step keeps W = Phi' A, where Phi are the training points' features and A has one row per point. The
    sub-gradients of loss and ridge and the graph's term add to A. Thresholding and projection multiply W by a (K, K)
    matrix from the right, and so A. With the exact kernel the same A gives h(z) = sum_i k(z, x_i) A_i. Sub-gradients,
    links and singular values are those of f, as in the other settings.

    `X` (n, d) are all training points, and `probes` is of shape (p, d). `L` (n, n) is the graph's Laplacian, if there
    is a graph.
    """

    def __init__(self, features: FixedFeatures, X: NDArray, probes: NDArray, n_classes: int) -> None:
        self.features, self.X = features, X
        self.L: csr_array | None = None
        self.K = self._kernel(probes)
        self.A = np.zeros((len(X), n_classes))

    def _kernel(self, Z: NDArray) -> NDArray:
        """Return the exact kernel that the features' products approximate, plus that of the ones; of shape (p, n)."""
        K = rbf_kernel(Z, self.X, gamma=self.features.sigma)
        return K + 1.0 if self.features.has_ones else K

    def advance(
        self, problem: MultiClass, step: float, rows: NDArray, c: NDArray, f: NDArray, phi: NDArray, W: NDArray
    ) -> None:
        """Make the step that led to the weights `W` (D, K), with the problem of that time.

        `rows` (B,) are the batch among the training points. `c` (B, K) is the sub-gradient of its mean loss by the
        scores. `f` (n, K) and `phi` (n, D) are the scores of all training points before the step, and their features.
        """
        A = (1.0 - 2.0 * step * problem.lam) * self.A
        np.add.at(A, rows, -step * c)
        if problem.tau_I > 0.0 and self.L is not None:
            A -= 2.0 * step * problem.tau_I * (self.L @ f)
        self.A = A @ np.linalg.lstsq(phi.T @ A, W, rcond=None)[0]

    def values(self, Z: NDArray | None = None) -> NDArray:
        """Return h at the probes, or at the points `Z`; of shape (p, K)."""
        return (self.K if Z is None else self._kernel(Z)) @ self.A

    def compare(self, f: NDArray) -> dict[str, float]:
        """Return mean and largest |f - h|^2 over the probes, summed over the classes, and the mean |h|^2."""
        h = self.values()
        error = np.sum((f - h) ** 2, axis=1)
        scale = float(np.mean(np.sum(h**2, axis=1)))
        return {"error_mean": float(error.mean()), "error_max": float(error.max()), "h_squared": scale}

"""Exact-kernel twin h of PS3VT on random features: the same steps, with the kernel for the features' products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel

from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.problem import MultiClass
from dsgcore.solver.measures import feature_error

# Largest number of training points with an exact-kernel twin.
MAX_POINTS = 5000


class KernelTwin:
    """Exact-kernel twin h at some probes.

    Every step keeps W = Phi_l' A + Phi' L Phi V, where Phi are the training points' features, Phi_l those of the labeled
    ones, and L is the graph's Laplacian. A (n_l, K) has one row per labeled point: the sub-gradients of the loss add to
    it. The graph's term adds W to V (D, K). Thresholding and projection multiply W by a (K, K) matrix from the right, and
    so A and V. With the exact kernel instead of the features' products the same A and V give
    h(z) = k(z, X_l) A + k(z, X) L Phi V. Sub-gradients and singular values are those of f, as in the other settings.

    `X` (n, d) are all training points, `phi` (n, D) their features and `labeled` (n_l,) the labeled rows. `probes` is of
    shape (p, d).
    """

    def __init__(
        self, features: FixedFeatures, X: NDArray, phi: NDArray, labeled: NDArray, probes: NDArray, n_classes: int
    ) -> None:
        self.features, self.X, self.phi, self.labeled = features, X, phi, labeled
        self.K = self._kernel(probes)
        self.A, self.V = np.zeros((len(labeled), n_classes)), np.zeros((phi.shape[1], n_classes))
        self._L: csr_array | None = None
        # The factors of A and V at the probes.
        self._to_labeled, self._pulled = self.K[:, labeled], np.zeros((len(probes), phi.shape[1]))

    def _kernel(self, Z: NDArray) -> NDArray:
        """Return the exact kernel that the features' products approximate, plus that of the ones; of shape (p, n)."""
        K = rbf_kernel(Z, self.X, gamma=self.features.sigma)
        return K + 1.0 if self.features.has_ones else K

    def link(self, L: csr_array) -> None:
        """Use a graph's Laplacian (n, n)."""
        self._L = L
        self._pulled = (L @ self.K.T).T @ self.phi  # L is symmetric

    def advance(self, problem: MultiClass, rows: NDArray, c: NDArray, before: NDArray, Q: NDArray, W: NDArray) -> None:
        """Make the step from the weights `before` to the weights `W`, both (D, K), with the problem of that time.

        `rows` (B,) are the batch among the labeled points. `c` (B, K) is the sub-gradient of its mean loss by the scores.
        `Q` (D, K) are the weights after the sub-gradient step, before threshold and projection.
        """
        step = problem.step_size
        decay = 1.0 - 2.0 * step * problem.lam
        A, V = decay * self.A, decay * self.V
        np.add.at(A, rows, -step * c)
        if problem.tau_I > 0.0 and self._L is not None:
            V -= 2.0 * step * problem.tau_I * before
        turn = np.linalg.lstsq(Q, W, rcond=None)[0]
        self.A, self.V = A @ turn, V @ turn

    def values(self, Z: NDArray | None = None) -> NDArray:
        """Return h at the probes, or at the points `Z`; of shape (p, K)."""
        if Z is None:
            return self._to_labeled @ self.A + self._pulled @ self.V
        K = self._kernel(Z)
        h = K[:, self.labeled] @ self.A
        return h if self._L is None else h + K @ (self._L @ (self.phi @ self.V))

    def compare(self, f: NDArray) -> dict[str, float]:
        """Return the error of the scores `f` (p, K) at the probes."""
        return feature_error(f, self.values())

"""The risk of similar pairs, and its exact minimisers: all training points as centres, or a basis of 600 of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from dsgcore.kernels import Kernel
from dsgcore.kernels.kernels import DotProduct

ROWS_AT_ONCE = 1000
N_CENTRES = 600


class Sample(NamedTuple):
    """Members of similar pairs, two after two, unlabeled points, and test points with their classes in {0, 1}."""

    similar: NDArray
    unlabeled: NDArray
    test: NDArray
    classes: NDArray
    prior: float

    @property
    def similar_prior(self) -> float:
        """The share pi_S of pairs that are similar."""
        return self.prior**2 + (1 - self.prior) ** 2


def matrix(kernel: Kernel, X: NDArray, Z: NDArray, dtype: Any) -> NDArray:
    """Return the kernel matrix, made a few rows at a time."""
    out = np.empty((len(X), len(Z)), dtype=dtype)
    X, Z = X.astype(dtype), Z.astype(dtype)
    squares = (Z * Z).sum(axis=1)
    for i in range(0, len(X), ROWS_AT_ONCE):
        rows, part = X[i : i + ROWS_AT_ONCE], out[i : i + ROWS_AT_ONCE]
        np.matmul(rows, Z.T, out=part)
        if isinstance(kernel, DotProduct):
            part[:] = (kernel.sigma * part) ** int(kernel.power)
        else:
            part *= -2
            part += (rows * rows).sum(axis=1)[:, None] + squares
            np.exp(-kernel.sigma * np.maximum(part, 0, out=part), out=part)
    return out


def mean_similarity(kernel: Kernel, X: NDArray, Z: NDArray, dtype: Any) -> NDArray:
    """Return the mean over Z of k(x_i, z)."""
    pieces = range(0, len(X), ROWS_AT_ONCE)
    return np.concatenate([matrix(kernel, X[i : i + ROWS_AT_ONCE], Z, dtype).mean(axis=1, dtype=float) for i in pieces])


def exact_values(
    kernel: Kernel, sample: Sample, Z: NDArray, lams: Sequence[float], *, dtype: Any = np.float64, maxiter: int = 3000
) -> list[NDArray]:
    """Return the values at Z of the minimiser of the uncorrected risk with the squared loss, for each ridge.

    They are NaN where conjugate gradients have not converged, to 1e-10 in float64 and to 1e-4 in float32.
    """
    n, scale = len(sample.unlabeled), 1.0 / (2.0 * sample.prior - 1.0)
    K = matrix(kernel, sample.unlabeled, sample.unlabeled, dtype)
    at_unlabeled = scale * sample.similar_prior * mean_similarity(kernel, sample.unlabeled, sample.similar, dtype)
    at_Z = scale * sample.similar_prior * mean_similarity(kernel, Z, sample.similar, dtype)
    K_Z = matrix(kernel, Z, sample.unlabeled, dtype)
    found, rtol = [], 1e-10 if dtype == np.float64 else 1e-4
    for lam in lams:
        operator = LinearOperator(K.shape, lambda v, lam=lam: lam * v + (K @ v.astype(dtype)) / (2 * n), dtype=float)
        dual, failed = cg(operator, -(0.5 * scale + 0.5 * at_unlabeled / lam) / n, rtol=rtol, atol=0.0, maxiter=maxiter)
        found.append(np.full(len(Z), np.nan) if failed else K_Z @ dual.astype(dtype) + at_Z / lam)
    return found


@dataclass(frozen=True, eq=False)
class Moments:
    """Means over members of pairs (S) and unlabeled points (U) of phi phi' and phi, and the factors of the risks."""

    second_S: NDArray
    first_S: NDArray
    second_U: NDArray
    first_U: NDArray
    weight_S: float  # pi_S / (1 - 2 pi)
    weights_U: tuple[float, float]  # (1 - pi) and pi, each / (1 - 2 pi)

    def risks(self, w: NDArray) -> tuple[float, float]:
        """Return A_1 and A_2 of phi' w, of the squared loss."""
        squares_S, squares_U = w @ self.second_S @ w + 1, w @ self.second_U @ w + 1
        product_S, product_U = 2 * (w @ self.first_S), 2 * (w @ self.first_U)
        positive = self.weights_U[0] * (squares_U - product_U) - self.weight_S * (squares_S - product_S)
        negative = self.weight_S * (squares_S + product_S) - self.weights_U[1] * (squares_U + product_U)
        return positive / 4, negative / 4

    def minimiser(self, s: float, lam: float) -> NDArray | None:
        """Return the minimiser of s A_1 + A_2 + lam ||w||^2 / 2, or None where it has none."""
        of_U, of_S = s * self.weights_U[0] - self.weights_U[1], (1 - s) * self.weight_S
        H = 0.5 * (of_U * self.second_U + of_S * self.second_S) + lam * np.eye(len(self.first_U))
        slope_U, slope_S = s * self.weights_U[0] + self.weights_U[1], (1 + s) * self.weight_S
        try:
            return cho_solve(cho_factor(H), 0.5 * (slope_U * self.first_U - slope_S * self.first_S))
        except np.linalg.LinAlgError:
            return None

    def corrected(self, lam: float) -> NDArray:
        """Return a stationary point of |A_1| + |A_2| + lam ||w||^2 / 2: NaN where A_2 would have to be corrected too.

        Where A_1 of the uncorrected minimiser is negative, the point lies on A_1 = 0 and minimises
        s A_1 + A_2 + lam ||w||^2 / 2 for an s in [-1, 1], a subgradient of |A_1| at 0. A_1 falls as s grows.
        """
        low, high, w = -1.0, 1.0, self.minimiser(1.0, lam)
        if w is not None and self.risks(w)[0] < 0:
            while high - low > 1e-3:
                s = (low + high) / 2
                found = self.minimiser(s, lam)
                low, high = (s, high) if found is None or self.risks(found)[0] > 0 else (low, s)
                w = w if found is None else found
        return w if w is not None and self.risks(w)[1] >= 0 else np.full(len(self.first_U), np.nan)


def basis_values(
    kernel: Kernel, sample: Sample, Z: NDArray, lams: Sequence[float], *, is_corrected: bool
) -> list[NDArray]:
    """Return the values at Z of a minimiser of the risk, for each ridge, with 600 training points as centres.

    The corrected one is the same for the absolute value, ReLU and leaky ReLU wherever its s is in [0, 1].
    """
    points = np.concatenate([sample.similar, sample.unlabeled])
    centres = points[np.random.default_rng(0).permutation(len(points))[:N_CENTRES]]
    eigenvalues, vectors = np.linalg.eigh(matrix(kernel, centres, centres, float))
    kept = eigenvalues > 1e-6 * eigenvalues[-1]
    basis = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    S, U, at_Z = (matrix(kernel, A, centres, float) @ basis for A in (sample.similar, sample.unlabeled, Z))
    scale = 1 / (1 - 2 * sample.prior)
    weights = sample.similar_prior * scale, ((1 - sample.prior) * scale, sample.prior * scale)
    moments = Moments(S.T @ S / len(S), S.mean(axis=0), U.T @ U / len(U), U.mean(axis=0), *weights)
    found = [moments.corrected(lam) if is_corrected else moments.minimiser(1.0, lam) for lam in lams]
    return [np.full(len(Z), np.nan) if w is None else at_Z @ w for w in found]


def zero_one_risk(similar: NDArray, unlabeled: NDArray, sample: Sample) -> float:
    """Return the SU risk of the zero-one loss, from values at held-out members of pairs and unlabeled points.

    It is infinite where there are no values.
    """
    if np.isnan(similar).any():
        return float("inf")
    wrong = {1: lambda f: np.mean(f < 0), -1: lambda f: np.mean(f >= 0)}
    of_similar = sample.similar_prior * (wrong[1](similar) - wrong[-1](similar))
    of_unlabeled = sample.prior * wrong[-1](unlabeled) - (1 - sample.prior) * wrong[1](unlabeled)
    return float((of_similar + of_unlabeled) / (2 * sample.prior - 1))

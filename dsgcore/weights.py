"""The model of PS3VT: a matrix of weights on features that do not change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dsgcore.proximal import FeatureMap

# Numbers of features that are held at a time.
MAX_VALUES = 2**24


@dataclass(frozen=True, eq=False)
class Weights:
    """Scores of K classes, h(x) = W' phi(x).

    Attributes
    ----------
    features : FeatureMap
        phi.
    W : ndarray of shape (d, K)
    """

    features: FeatureMap
    W: NDArray

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the scores at the points `X` of shape (n, d), of shape (n, K)."""
        size = max(1, MAX_VALUES // len(self.W))
        pieces = [self.features(X[start : start + size]) @ self.W for start in range(0, len(X), size)]
        return np.concatenate(pieces) if pieces else np.zeros((0, self.W.shape[1]))

    def save(self, file: str | Path | IO[bytes]) -> None:
        """Write the weights, and what their features are drawn from, as a NumPy archive."""
        f = self.features
        np.savez(
            file, W=self.W, features=f.kind, sigma=f.sigma, n_features=f.n_features, seed=np.array(f.seed, np.uint64)
        )


def load(file: str | Path | IO[bytes]) -> Weights:
    """Read what `Weights.save` has written."""
    with np.load(file, allow_pickle=False) as held:
        features = FeatureMap(str(held["features"]), float(held["sigma"]), int(held["n_features"]), int(held["seed"]))
        return Weights(features, held["W"])

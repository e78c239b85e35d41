"""Model of PS3VT: a matrix of weights on fixed features."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Flag, Integer, ParameterError, parameter_like
from dsgcore.core.sampling import MAX_SEED
from dsgcore.kernels import Gaussian
from dsgcore.kernels.features import explicit
from dsgcore.kernels.kernels import LARGEST, too_far
from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.problem import MultiClass
from dsgcore.solver.model_files import (
    ModelError,
    ModelFile,
    check_fingerprint,
    check_points,
    damaged_header,
    fingerprint,
    write,
)

# Most numbers of features kept at a time.
MAX_VALUES = 2**24
MODEL = "weights"
_HEADER = {
    "kind": parameter_like(MultiClass, "feature_map"),
    "sigma": parameter_like(MultiClass, "sigma"),
    "n_features": parameter_like(MultiClass, "n_features"),
    "seed": Integer("seed", 0, low=0, high=MAX_SEED),
    "d": Integer("d", 1, low=1),
}
# Stored in a file only if they are true, or not zero.
_OTHERS: dict[str, Any] = {
    **{name: Flag(name, False) for name in ("has_ones", "is_orthogonal")},
    "n_blocks": Integer("n_blocks", 0, low=0),
}


@dataclass(frozen=True, eq=False)
class Weights:
    """Scores of K classes, h(x) = W' phi(x).

    Attributes
    ----------
    features : FixedFeatures
        The features phi.
    W : ndarray of shape (D, K)
        float64, one row per feature: D = d for linear features, 2m for random Fourier features.
    d : int
        Number of coordinates of a point.
    """

    features: FixedFeatures
    W: NDArray = field(repr=False)
    d: int

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the scores (n, K) at the points `X` (n, d); raise `ModelError` for other or far points."""
        X = np.asarray(X)
        check_points(X, self.d)
        size = max(1, MAX_VALUES // len(self.W))
        if self.features.kind == "fourier" and (said := too_far(X, Gaussian(self.features.sigma))):
            raise ModelError(said)
        with np.errstate(over="ignore", invalid="ignore"):  # the check of the scores reports overflow
            pieces = [self._scores(X[start : start + size]) for start in range(0, len(X), size)]
            scores = np.concatenate(pieces) if pieces else np.zeros((0, self.W.shape[1]))
        is_finite = np.isfinite(scores).all(axis=1)
        if not is_finite.all() and (np.abs(X[~is_finite]) > LARGEST).any():
            raise ModelError(
                f"X[{np.argmin(is_finite)}] is so far away that its scores overflow float64: scale the points"
            )
        return scores

    def _scores(self, X: NDArray) -> NDArray:
        if not self.features.n_blocks:
            return self.features(X) @ self.W
        scores, X = np.zeros((len(X), self.W.shape[1])), np.ascontiguousarray(X, dtype=self.W.dtype)
        for t, W in enumerate(np.split(self.W, self.features.n_blocks), start=1):
            scores += explicit(X, self.features.of_block(t, self.d)) @ W
        return scores

    def fingerprint(self) -> str:
        """Return a digest of the frequencies, empty for linear features.

        It differs if the same frequencies cannot be drawn again.
        """
        f = self.features
        return "" if f.kind == "linear" else fingerprint(Gaussian(f.sigma), f.seed, 0, self.d, f.n_features)

    def save(self, file: str | Path | IO[bytes]) -> None:
        """Write the weights, and the data to redraw their features from, to a NumPy archive without pickle."""
        said = {name: value for name, value in asdict(self.features).items() if value or name not in _OTHERS}
        header = {**said, "d": self.d, "fingerprint": self.fingerprint()}
        write(file, MODEL, header, W=self.W)


def restore(held: ModelFile) -> Weights:
    """Return the model in a file; raise `ModelError` as `dsgcore.load_model` does."""
    held.expect({*_HEADER, *(_OTHERS.keys() & held.header.keys()), "fingerprint"}, {"W"})
    header, W = held.header, held.arrays["W"]
    try:
        given = {name: parameter.check(header[name]) for name, parameter in _HEADER.items()}
        given |= {name: own.check(header.get(name, own.default)) for name, own in _OTHERS.items()}
    except ParameterError as error:
        raise damaged_header(error) from error
    if given["n_blocks"] and (given["kind"] == "linear" or given["has_ones"] or given["is_orthogonal"]):
        raise ModelError("not a model file: features of each iteration must be plain Fourier features")
    d = given.pop("d")
    features = FixedFeatures(**given)
    n_rows = features.width(d)
    if W.dtype != np.float64 or W.ndim != 2 or len(W) != n_rows or W.shape[1] < 2:
        shape = f"({n_rows}, K), of float64 and with K of at least 2"
        raise ModelError(f"not a model file: W must have shape {shape}, got {W.shape} of {W.dtype.name}")
    if not np.isfinite(W).all():
        raise ModelError("not a model file: its weights must be finite numbers")
    model = Weights(features, W, d)
    check_fingerprint(header["fingerprint"], model.fingerprint())
    return model

"""Squared pairwise risks between sets of points, as quadratic forms of a model's weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.design import Design, add_products
from dsgcore.baselines.progress import Watch


@dataclass(frozen=True)
class PairRisk:
    """A weighted sum of R_AB = mean over a in A, b in B of (1 - (f(a) - f(b)))^2; where A is B, a with itself counts.

    Parameters
    ----------
    weights : mapping from (A, B) to float
        By the sets' names.
    constant : float, default 0.0
        What is added.
    """

    weights: Mapping[tuple[str, str], float]
    constant: float = 0.0

    def sources(self) -> tuple[str, ...]:
        """Return the names of the sets that play a part."""
        return tuple(dict.fromkeys(name for pair, weight in self.weights.items() if weight for name in pair))

    def value(self, f: Mapping[str, NDArray]) -> float:
        """Return the risk at values f, from a set's name to (n_set,)."""
        return self.constant + sum(w * _pairwise(f[a], f[b]) for (a, b), w in self.weights.items() if w)

    def system(self, design: Design, sets: Mapping[str, NDArray], watch: Watch) -> tuple[NDArray, NDArray]:
        """Return H and h, with which the risk of f = psi'v is v'Hv - 2 h'v + `at_zero()`.

        Parameters
        ----------
        design : Design
            Its features psi.
        sets : mapping from name to ndarray of shape (n_set, d)
        watch : Watch
            Is told after each block of rows.
        """
        H, mean = np.zeros((design.basis.size,) * 2), {}
        room = np.empty_like(H)
        for source in self.sources():
            # H_AB = mean psi psi' over A, and over B, less the products of the two means.
            weight = sum(w * pair.count(source) for pair, w in self.weights.items()) / len(sets[source])
            mean[source] = np.zeros(design.basis.size)
            for psi in design.blocks(sets[source]):
                mean[source] += psi.sum(axis=0) / len(sets[source])
                add_products(H, psi, weight, room)
                watch.step()
        h = np.zeros(design.basis.size)
        for (a, b), w in self.weights.items():
            if w:
                np.multiply.outer(mean[a], w * mean[b], out=room)
                H -= room
                H -= room.T
                h += w * (mean[a] - mean[b])
        return H, h

    def at_zero(self) -> float:
        """Return the risk of f = 0."""
        return self.constant + sum(self.weights.values())


def _pairwise(a: NDArray, b: NDArray) -> float:
    """Return the mean of (1 - (a_i - b_j))^2 over all pairs."""
    difference = 1.0 - (a.mean() - b.mean())
    return float(difference**2 + a.var() + b.var())


def pnu_risk(eta: float, prior: float) -> PairRisk:
    """Return PNU-AUC's risk, for eta in [-1, 1] and a prior in [0, 1]: J of `dsgcore.baselines.PNUAUC` without the ridge.

    Raise ValueError where that would divide by zero.
    """
    if (eta > 0.0 and prior >= 1.0) or (eta < 0.0 and prior <= 0.0):
        raise ValueError(f"prior must be {'below 1' if eta > 0.0 else 'above 0'} with eta = {eta:g}, got {prior:g}")
    e = abs(eta)
    weights = {("positive", "negative"): 1.0 - e}
    if eta > 0.0:
        weights |= {("positive", "unlabeled"): e / (1.0 - prior), ("positive", "positive"): -e * prior / (1.0 - prior)}
    elif eta < 0.0:
        weights |= {("unlabeled", "negative"): e / prior, ("negative", "negative"): -e * (1.0 - prior) / prior}
    return PairRisk(weights)


def samult_risk(gamma: float) -> PairRisk:
    """Return SAMULT's risk, for gamma in [0, 1]: J of `dsgcore.baselines.SAMULT` without the ridge."""
    rest = 1.0 - gamma
    weights = {("positive", "negative"): gamma, ("positive", "unlabeled"): rest, ("unlabeled", "negative"): rest}
    return PairRisk(weights, constant=-rest / 2.0)

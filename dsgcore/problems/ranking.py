"""What the two ranking problems share: a weighted sum of squared pair losses between sources, and its derivatives."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from dsgcore.solver.problem import Problem, ProblemError, Values
from dsgcore.solver.start import SourceQuadratic


class RankingProblem(Problem, Protocol):
    """A problem whose risk is sum_ab W_ab R_ab over ordered pairs of sources, and perhaps a constant.

    R_ab is the mean over pairs (i, j) of (1 - f_a,i + f_b,j)^2: source a should score above source b. The coefficient of
    the i-th point of source a is (2 / n_a) sum_b [(W_ba - W_ab) + (W_ab + W_ba) (f_a,i - v_b)]. If points are paired,
    v_b is the i-th value of source b, else the mean of its values. So one mini-batch per source serves all pairs, in
    O(B) for each source.

    Attributes
    ----------
    gamma : float or tuple of float
        Weight of the pairs of labeled points.
    pairing : str
        "all" if a mini-batch takes every pair of points; otherwise it pairs the i-th points of its sources.
    """

    gamma: Any
    pairing: str

    @cached_property
    def risk_weights(self) -> NDArray:
        """W of shape (S, S), in the order of `sources`: weight of the risk that row should score above column."""
        ...

    @cached_property
    def variance_weights(self) -> NDArray:
        """The weights (S,) of the sources' unbiased variances, if the risk has such terms."""
        return np.zeros(len(self.sources))

    def coefficients(self, f: Values) -> dict[str, NDArray]:
        """Return the derivative of the batch objective by each value: QSG-S2AUC's (13)-(15), QS3ORAO's (10).

        Raise `ProblemError` if points are paired and the sources have different numbers of them.
        """
        values = [f[source] for source in self.sources]
        is_paired, sizes = self.pairing != "all", tuple(map(len, values))
        # P, Q and g by the sources' numbers of values: the coefficients of values v are P v + Q (their means) + g.
        parts = vars(self).setdefault("_affine_parts", {})
        if sizes not in parts:
            risk, per_value = self.near_risk(np.array(sizes)), 1.0 / np.array(sizes)[:, None]
            P, Q = np.diag(risk.spread), risk.between
            if is_paired:  # pairs of different sources have no means; the sources' own spread has
                own = np.diag(Q.diagonal())
                P, Q = P - (Q - own), own
            parts[sizes] = per_value * P, -per_value * Q, per_value[:, 0] * risk.linear
        of_values, of_means, constant = parts[sizes]
        if len(set(sizes)) == 1:  # a mini-batch is one array
            V = np.array(values, dtype=np.float64)  # in single precision the means would lose digits
            c = of_values @ V + (of_means @ (V.sum(axis=1) / sizes[0]) + constant)[:, None]
            return dict(zip(self.sources, c.astype(values[0].dtype, copy=False), strict=True))
        if is_paired:
            raise ProblemError(f"paired sources need the same number of values, got {list(sizes)}")
        rest, own_factors = of_means @ [own.mean(dtype=float) for own in values] + constant, np.diag(of_values)
        return {
            s: (a * v + r).astype(v.dtype, copy=False)
            for s, a, v, r in zip(self.sources, own_factors, values, rest, strict=True)
        }

    def terms(self, f: Values) -> dict[str, float]:
        """Return the terms over the mini-batch: those of the pairs, the constant, and that of the spread if it is pooled."""
        return self._terms(f, is_paired=self.pairing != "all", lost=1)

    def risk_terms(self, f: Values) -> dict[str, float]:
        """Return the same terms over all pairs of whole sources, in O(n)."""
        return self._terms(f, is_paired=False, lost=0)

    def _terms(self, f: Values, *, is_paired: bool, lost: int) -> dict[str, float]:
        """Return the terms over all pairs, in O(S n), or over pairs of the i-th points, in O(S^2 n).

        `lost` degrees of freedom correct the variances of the spread.
        """
        values = [f[source] for source in self.sources]
        # The mean of (1 - u + v)^2 is the square of the mean of 1 - u + v plus the variance of u - v.
        if is_paired:
            rows = np.concatenate(values).reshape(len(values), -1).astype(float)
            mean = np.add.reduce(rows, axis=1) / rows.shape[1]
            rows -= mean[:, None]
            covariance = rows @ rows.T / rows.shape[1]
            variance = covariance.diagonal()
        else:
            covariance, samples = 0.0, [own.astype(float, copy=False) for own in values]
            mean, variance = (np.array([moment(own) for own in samples]) for moment in (np.mean, np.var))
        risks = (1.0 - mean[:, None] + mean) ** 2 + variance[:, None] + variance - 2.0 * covariance
        parts = self.risk_weights * risks
        # Values that their own precision cannot square are those of a run that has diverged.
        parts[(risks > np.finfo(values[0].dtype).max) & (parts > 0.0)] = np.inf
        terms = self._named(parts) | {"constant": -0.5 * float(np.mean(1.0 - np.asarray(self.gamma, dtype=float)))}
        if getattr(self, "is_pooled", False):  # a field of one of the two
            sizes = np.array([len(own) for own in values])
            terms["pooled spread"] = float((variance * sizes / np.maximum(sizes - lost, 1)) @ self.variance_weights)
        return terms

    def _named(self, parts: NDArray) -> dict[str, float]:
        """Return the terms of the pairs by their names, from W_ab R_ab for all sources, (S, S)."""
        ...

    def near_risk(self, sizes: NDArray | None = None) -> SourceQuadratic:
        """Return the risk, from the weights of the sources' pairs and of their spread.

        For samples of so many values of each source (S,), their variances are unbiased.
        """
        W, more = self.risk_weights, 2.0 * self.variance_weights
        if sizes is not None:
            more = more * sizes / np.maximum(sizes - 1, 1)
        both = 2.0 * (W + W.T)
        return SourceQuadratic(both.sum(axis=1) + more, both + np.diag(more), 2.0 * (W.sum(axis=0) - W.sum(axis=1)))

    def baseline(self) -> Self:
        """Return the problem on the labeled pairs alone (gamma = 1)."""
        return cast(Self, replace(cast(Any, self), gamma=1.0))

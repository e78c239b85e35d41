"""BLS3VM: the semi-supervised support vector machine with a balance constraint, by the concave-convex procedure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.base import MAX_ITER, TOL, Watch
from dsgcore.baselines.s3vm import BALANCE_TARGET, HOLDERS, CentredS3VM, OrderedPoints, regress
from dsgcore.core.documented import estimator
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import like
from dsgcore.problems.s3vm import C_STAR, C, SemiSupervisedSVM

# The second kink of a labeled point's loss is at 1 + 2 / SCALE, so that values rarely reach it.
SCALE = 0.1
# Most times that the rows' weights are scaled down because a value reached the second kink.
MAX_RESCALES = 6


@estimator
class BLS3VM(CentredS3VM):
    """Semi-supervised support vector machine with the ramp loss and a balance constraint, by CCCP.

    CCCP is the concave-convex procedure: it solves a sequence of convex problems.

    Parameters
    ----------
    C_star
        Cost of an unlabeled point near the boundary. The default is C n_l / n_u.
    s
        Position of the ramp's kink. Unlabeled points closer to the boundary than −s no longer pull.
    tol
        Tolerance of each convex step: largest violation of the optimality conditions.
    max_iter
        Largest number of convex steps.

    Attributes
    ----------
    objectives_ : ndarray of shape (n_iter_,)
        Objective after each convex step. It never rises, except by rounding.
    converged_ : bool
        True if the last step left all unlabeled points on their part of the ramp.

    Notes
    -----
    Objective: ||w||^2 / 2 + C sum_L H_1(y f) + C* sum_U [R_s(f) + R_s(-f)], H_a(z) = max(0, a - z), R_s = H_1 - H_s,
    over f = ⟨w, phi⟩ + b with mean_U f = r. C weighs a sum, as in scikit-learn's SVC. Each step replaces -H_s(±f) by
    its tangent at the last f. The remaining objective

        ||w||^2 / 2 + C sum_L max(0, 1 - y f) + C* sum_U max(0, |f| - 1) + sum_U t f,  t = C* ([f < s] - [-f < s]),

    is convex. The features are centred on mean_U phi, so that the constraint becomes b = r. The remaining problem is a
    support vector regression with epsilon = 1, and libsvm solves it:

    - The regression's loss is the loss of the unlabeled points, and t shifts its targets.
    - A labeled point's features are multiplied by a small number, so that the other side of its loss is far away.

    libsvm stores kernel values in float32. If it cannot reach `tol`, ten or a hundred times `tol` is used instead.

    Source: R. Collobert, F. Sinz, J. Weston and L. Bottou, Large Scale Transductive SVMs, JMLR 7, 2006, (5)-(14),
    Algorithm 1.

    Deviation: the procedure begins with the machine on the labels under the balance constraint. The authors' program
    does the same, but their Algorithm 1 does not.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from dsgcore.baselines import BLS3VM
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> few = np.where(np.arange(200) < 20, y, -1)
    >>> BLS3VM(sigma=2.0).fit(X, few).score(X, y) > 0.9
    True
    """

    title = "BLS3VM"
    citation = "BLS3VM, Collobert, Sinz, Weston and Bottou, JMLR 2006"
    sentence = "learns a balanced semi-supervised support vector machine by a sequence of convex problems"
    extra = len(HOLDERS)

    C: float = like(C)
    C_star: float | None = like(C_STAR)
    s: float = like(SemiSupervisedSVM, "s")
    balance_target: float | None = like(BALANCE_TARGET)
    tol: float = like(TOL)
    max_iter: int = like(MAX_ITER)

    def _coefficients(self, K: NDArray, points: OrderedPoints, mean: float, s: dict[str, Any], watch: Watch) -> NDArray:
        C_star = s["C"] * points.n_labeled / points.n_unlabeled if s["C_star"] is None else s["C_star"]
        machine = _Machine(K, points, s["C"], C_star, s["s"], mean, s["tol"])
        watch.total = s["max_iter"]
        coef, f = machine.solve(np.zeros(points.n_unlabeled), 0.0)
        tangents = machine.tangents(f)
        for _ in range(s["max_iter"]):
            coef, f = machine.solve(tangents, C_star)
            watch.step(machine.objective(coef, f))
            last, tangents = tangents, machine.tangents(f)
            if np.array_equal(last, tangents):
                break
        else:
            watch.give_up(
                f"unlabeled points still change sides after {s['max_iter']} convex steps; try a larger max_iter"
            )
        if not machine.is_accurate:
            watch.give_up(
                f"libsvm missed a tolerance of {100 * s['tol']:.1g}; try a larger tol, a smaller C, or scaled points"
            )
        return coef


class _Machine:
    """The objective over centred features, and its convex steps."""

    def __init__(
        self, matrix: NDArray, points: OrderedPoints, C: float, C_star: float, s: float, mean: float, tol: float
    ) -> None:
        self.G, self.y, self.n_labeled, self.n = matrix, points.y, points.n_labeled, len(points.X)
        self.C, self.C_star, self.s, self.mean, self.tol = C, C_star, s, mean, tol
        self.is_accurate = True
        self.scale = np.ones(self.n)  # G = scale K scale on the points
        self._rescale(SCALE)

    def _rescale(self, by: float) -> None:
        """Multiply the labeled points' features by a number."""
        self.G[: self.n_labeled] *= by
        self.G[:, : self.n_labeled] *= by
        self.scale[: self.n_labeled] *= by

    def values(self, coef: NDArray) -> NDArray:
        """Return f at all points: K coef and its mean."""
        return self.G[: self.n, : self.n] @ (coef / self.scale) / self.scale + self.mean

    def tangents(self, f: NDArray) -> NDArray:
        """Return the slopes t of the linearised concave part at each unlabeled point."""
        u = f[self.n_labeled :]
        return self.C_star * ((u < self.s).astype(float) - (-u < self.s))

    def objective(self, coef: NDArray, f: NDArray) -> float:
        """Return the objective with the ramp losses."""
        u = f[self.n_labeled :]
        ramps = sum(np.clip(1.0 - z, 0.0, 1.0 - self.s).sum() for z in (u, -u))
        hinges = np.maximum(0.0, 1.0 - self.y * f[: self.n_labeled]).sum()
        return float(0.5 * coef @ (f - self.mean) + self.C * hinges + self.C_star * ramps)

    def solve(self, tangents: NDArray, C_star: float) -> tuple[NDArray, NDArray]:
        """Return the coefficients and values that minimise the convex objective for these tangents and this C*."""
        for _ in range(MAX_RESCALES):
            coef = self._solve(tangents, C_star)
            f = self.values(coef)
            if np.abs(f[: self.n_labeled]).max() < 1.0 / self.scale[0]:
                return coef, f
            self._rescale(SCALE)
        raise DSGError(f"BLS3VM needs points of a smaller scale: labeled points have values of {np.abs(f).max():.3g}")

    def _solve(self, tangents: NDArray, C_star: float) -> NDArray:
        n = self.n if C_star > 0 else self.n_labeled  # libsvm drops points of weight 0
        coef = np.concatenate([np.zeros(self.n_labeled), -tangents])
        targets = np.concatenate([self.y * (self.scale[0] + 1.0), np.zeros(len(tangents))])
        targets -= self.scale * self.values(coef)
        weights = np.concatenate([self.C / self.scale[: self.n_labeled], np.full(len(tangents), C_star)])
        rows = np.r_[:n, self.n : len(self.G)]
        G = self.G if n == self.n else self.G[np.ix_(rows, rows)]
        change, is_accurate = regress(G, targets[:n], weights[:n], epsilon=1.0, tol=self.tol * self.scale[0])
        self.is_accurate &= is_accurate
        coef[:n] += self.scale[:n] * change
        return coef

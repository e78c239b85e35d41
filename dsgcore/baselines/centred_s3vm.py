"""Semi-supervised support vector machines with a fixed mean over the unlabeled points: BLS3VM by CCCP, and QNS3VM."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit

from dsgcore.baselines.base import LAM, MAX_ITER, TOL, Watch
from dsgcore.baselines.basis import HasMatrix
from dsgcore.baselines.s3vm import HOLDERS, S3VMBaseline, expansion, kernel_matrix, regress
from dsgcore.core.documented import estimator
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Real, like
from dsgcore.problems.s3vm import C_STAR, C, SemiSupervisedSVM

BALANCE_TARGET = Real("balance_target", None, low=-1.0, high=1.0, optional=True, symbol="r")
# The second kink of a labeled point's loss is at 1 + 2 / SCALE, so that values rarely reach it.
SCALE = 0.1
# Most times that the rows' weights are scaled down because a value reached the second kink.
MAX_RESCALES = 6
# Steepness of the smooth hinge, and of the Gaussian loss of an unlabeled value around 0.
HINGE_SHARPNESS = 20.0
UNLABELED_SHARPNESS = 3.0
# The weight of the unlabeled points in each minimisation, as a share of `lam_u`.
SHARES = (0.0, 1e-6, 1e-4, 0.01, 0.1, 0.5, 1.0)
MEMORY = 50  # corrections kept by the quasi-Newton method
ROUNDING = 1e-12  # relative decrease of the objective below which a minimisation stops


class CentredS3VM(S3VMBaseline):
    """Base class of machines over the kernel centred on the unlabeled points, with a fixed mean of f over them.

    Parameters
    ----------
    balance_target : Mean value
        Fixed mean of the function over the unlabeled points. The default is the mean label of the labeled points.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_l + n_u,)
        Coefficients of the labeled points, then of the unlabeled ones, for the kernel centred on the latter.
    """

    extra: ClassVar[int] = 0  # rows and columns of zeros at the end of the matrix

    def _learn_from(self, X: NDArray, y: NDArray, kernel: HasMatrix, s: dict[str, Any], watch: Watch) -> None:
        mean = float(y.mean()) if s["balance_target"] is None else s["balance_target"]
        K = centred_matrix(kernel, X, len(y), extra=self.extra)
        self.dual_coef_ = self._coefficients(K, y, mean, s, watch)
        # The function over the centred kernel as an expansion in the kernel itself, with the right mean.
        coef = self.dual_coef_.copy()
        coef[len(y) :] -= coef.sum() / (len(X) - len(y))
        self.model_ = expansion(kernel, X, coef, 0.0)
        self.model_.coef[-1] = mean - self.model_.evaluate(X[len(y) :]).mean()

    def _coefficients(self, K: NDArray, y: NDArray, mean: float, s: dict[str, Any], watch: Watch) -> NDArray:
        """Return the coefficients `dual_coef_` of the function with this mean, from the centred kernel matrix."""
        raise NotImplementedError


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
    growth = 3.0
    extra = len(HOLDERS)

    C: float = like(C)
    C_star: float | None = like(C_STAR)
    s: float = like(SemiSupervisedSVM, "s")
    balance_target: float | None = like(BALANCE_TARGET)
    tol: float = like(TOL)
    max_iter: int = like(MAX_ITER)

    def _coefficients(self, K: NDArray, y: NDArray, mean: float, s: dict[str, Any], watch: Watch) -> NDArray:
        n_unlabeled = len(K) - self.extra - len(y)
        C_star = s["C"] * len(y) / n_unlabeled if s["C_star"] is None else s["C_star"]
        machine = _Machine(K, y, s["C"], C_star, s["s"], mean, s["tol"])
        watch.total = s["max_iter"]
        coef, f = machine.solve(np.zeros(n_unlabeled), 0.0)
        tangents = machine.tangents(f)
        for _ in range(s["max_iter"]):
            coef, f = machine.solve(tangents, C_star)
            u = f[len(y) :]
            ramps = sum(np.clip(1.0 - z, 0.0, 1.0 - s["s"]).sum() for z in (u, -u))
            hinges = np.maximum(0.0, 1.0 - y * f[: len(y)]).sum()
            watch.step(float(0.5 * coef @ (f - mean) + s["C"] * hinges + C_star * ramps))
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

    def __init__(self, G: NDArray, y: NDArray, C: float, C_star: float, s: float, mean: float, tol: float) -> None:
        self.G, self.y, self.n_labeled, self.n = G, y, len(y), len(G) - len(HOLDERS)
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

    def solve(self, tangents: NDArray, C_star: float) -> tuple[NDArray, NDArray]:
        """Return the coefficients and values that minimise the convex objective for these tangents and this C*."""
        n = self.n if C_star > 0 else self.n_labeled  # libsvm drops points of weight 0
        rows = np.r_[:n, self.n : len(self.G)]
        for _ in range(MAX_RESCALES):
            coef = np.concatenate([np.zeros(self.n_labeled), -tangents])
            targets = np.concatenate([self.y * (self.scale[0] + 1.0), np.zeros(len(tangents))])
            targets -= self.scale * self.values(coef)
            weights = np.concatenate([self.C / self.scale[: self.n_labeled], np.full(len(tangents), C_star)])
            G = self.G if n == self.n else self.G[np.ix_(rows, rows)]
            change, is_accurate = regress(G, targets[:n], weights[:n], epsilon=1.0, tol=self.tol * self.scale[0])
            self.is_accurate &= is_accurate
            coef[:n] += self.scale[:n] * change
            f = self.values(coef)
            if np.abs(f[: self.n_labeled]).max() < 1.0 / self.scale[0]:
                return coef, f
            self._rescale(SCALE)
        raise DSGError(f"BLS3VM needs points of a smaller scale: labeled points have values of {np.abs(f).max():.3g}")


@estimator
class QNS3VM(CentredS3VM):
    """Semi-supervised support vector machine by a quasi-Newton method on smooth losses.

    Parameters
    ----------
    lam
        Strength of the regularisation. Larger values give simpler functions.
    lam_u : Relative weight of the unlabeled points
        Cost of unlabeled points near the boundary. The cost of labeled points is 1.
    tol
        Tolerance: a minimisation stops when no derivative of the objective by a coefficient is larger.
    max_iter
        Largest number of iterations of each of the seven minimisations.

    Attributes
    ----------
    objectives_ : ndarray of shape (n_iter_,)
        Objective after each iteration, with the weight of the unlabeled points at that iteration.
    weights_ : ndarray of shape (n_iter_,)
        That weight. The objective falls while the weight stays the same.
    converged_ : bool
        True if all minimisations ended within `max_iter` iterations.

    Notes
    -----
    Objective, over f = sum_i c_i k'(., x_i) + r with k' the kernel centred on the unlabeled points, so that mean_U f =
    r:

        mean_L log(1 + exp(20 (1 - y f))) / 20 + lam_u mean_U exp(-3 f^2) + lam c'K'c.

    It is minimised for increasing weights lam_u of the unlabeled points. Each minimisation starts from the last
    result, the first one from c = 0.

    Source: F. Gieseke, A. Airola, T. Pahikkala and O. Kramer, Sparse Quasi-Newton Optimization for Semi-Supervised
    Support Vector Machines, ICPRAM 2012, (6)-(10) and Algorithm 1.

    For an example see `BLS3VM`.
    """

    title = "QN-S3VM"
    citation = "QN-S3VM, Gieseke, Airola, Pahikkala and Kramer, ICPRAM 2012"
    sentence = "learns a semi-supervised support vector machine with smooth losses, by a quasi-Newton method"

    lam: float = like(LAM, low=1e-9, usual=(1e-5, 10.0))
    lam_u: float = like(
        SemiSupervisedSVM,
        "unlabeled_weight",
        name="lam_u",
        default=1.0,
        optional=False,
        symbol="λ'",
        usual=(0.0, 100.0),
    )
    balance_target: float | None = like(BALANCE_TARGET)
    tol: float = like(TOL, low=1e-12)
    max_iter: int = like(MAX_ITER, default=5000)

    def _coefficients(self, K: NDArray, y: NDArray, mean: float, s: dict[str, Any], watch: Watch) -> NDArray:
        objective, most = Objective(K, y, s["lam"], s["lam_u"], mean), s["max_iter"]
        coef, weights, unfinished = np.zeros(len(K)), [], []
        watch.total = len(SHARES) * most
        options = {"maxcor": MEMORY, "gtol": s["tol"], "ftol": ROUNDING, "maxiter": most, "maxfun": 20 * most}

        def tell(intermediate_result: OptimizeResult) -> None:
            weights.append(share * s["lam_u"])
            watch.step(float(intermediate_result.fun))

        for share in SHARES if s["lam_u"] > 0 else SHARES[:1]:
            found = minimize(objective, coef, (share,), method="L-BFGS-B", jac=True, callback=tell, options=options)
            coef = found.x
            if not found.success:
                unfinished.append(f"{share * s['lam_u']:.3g}")
        if unfinished:
            watch.give_up(
                f"it stopped after {most} iterations with lam_u = {', '.join(unfinished)}; try a larger max_iter or tol"
            )
        self.weights_ = np.array(weights)
        return coef


class Objective:
    """Smooth objective over the coefficients for the centred kernel matrix K (n, n) and labels y (n_l,), and its gradient.

    The parameters are a ridge lam, the unlabeled points' weight lam_u, and the mean of f over these points.
    """

    def __init__(self, K: NDArray, y: NDArray, lam: float, lam_u: float, mean: float) -> None:
        self.K, self.y, self.lam, self.lam_u, self.mean = K, y, lam, lam_u, mean

    def __call__(self, coef: NDArray, share: float = 1.0) -> tuple[float, NDArray]:
        """Return the objective and its gradient of shape (n,), with a share of the unlabeled points' weight."""
        v = self.K @ coef
        labeled, unlabeled = np.split(v + self.mean, [len(self.y)])
        z = HINGE_SHARPNESS * (1.0 - self.y * labeled)
        weight = share * self.lam_u / len(unlabeled)
        bumps = weight * np.exp(-UNLABELED_SHARPNESS * unlabeled**2)
        value = np.logaddexp(0.0, z).mean() / HINGE_SHARPNESS + bumps.sum() + self.lam * coef @ v
        slopes = np.concatenate([-self.y * expit(z) / len(z), -2.0 * UNLABELED_SHARPNESS * unlabeled * bumps])
        return float(value), self.K @ (slopes + 2.0 * self.lam * coef)


def centred_matrix(kernel: HasMatrix, X: NDArray, n_labeled: int, *, extra: int = 0) -> NDArray:
    """Return the `kernel_matrix` of the points, centred in feature space on the mean of the unlabeled ones.

    With phi' = phi - mean_U phi, every function <w, phi'> has the mean 0 over the unlabeled points.
    """
    n = len(X)
    K = kernel_matrix(kernel, X, extra=extra)
    mean = K[:n, n_labeled:n].mean(axis=1)
    K[:n, :n] -= mean[:, None]
    K[:n, :n] -= mean
    K[:n, :n] += mean[n_labeled:].mean()
    return K

"""QNS3VM: the semi-supervised support vector machine with smooth losses, by a quasi-Newton method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit

from dsgcore.baselines.base import LAM, MAX_ITER, TOL, Watch
from dsgcore.baselines.s3vm import BALANCE_TARGET, CentredS3VM, OrderedPoints
from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like
from dsgcore.problems.s3vm import SemiSupervisedSVM

# Steepness of the smooth hinge, and of the Gaussian loss of an unlabeled value around 0.
HINGE_SHARPNESS = 20.0
UNLABELED_SHARPNESS = 3.0
# The weight of the unlabeled points in each minimisation, as a share of `lam_u`.
SHARES = (0.0, 1e-6, 1e-4, 0.01, 0.1, 0.5, 1.0)
MEMORY = 50  # corrections kept by the quasi-Newton method
ROUNDING = 1e-12  # relative decrease of the objective below which a minimisation stops


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

    def _coefficients(self, K: NDArray, points: OrderedPoints, mean: float, s: dict[str, Any], watch: Watch) -> NDArray:
        objective, most = Objective(K, points, s["lam"], s["lam_u"], mean), s["max_iter"]
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
    """Smooth objective over the coefficients for the centred kernel matrix K (n, n), and its gradient.

    The parameters are a ridge lam, the unlabeled points' weight lam_u, and the mean of f over these points.
    """

    def __init__(self, K: NDArray, points: OrderedPoints, lam: float, lam_u: float, mean: float) -> None:
        self.K, self.y, self.n_labeled = K, points.y, points.n_labeled
        self.lam, self.lam_u, self.mean = lam, lam_u, mean

    def __call__(self, coef: NDArray, share: float = 1.0) -> tuple[float, NDArray]:
        """Return the objective and its gradient of shape (n,), with a share of the unlabeled points' weight."""
        v = self.K @ coef
        labeled, unlabeled = np.split(v + self.mean, [self.n_labeled])
        z = HINGE_SHARPNESS * (1.0 - self.y * labeled)
        weight = share * self.lam_u / len(unlabeled)
        bumps = weight * np.exp(-UNLABELED_SHARPNESS * unlabeled**2)
        value = np.logaddexp(0.0, z).mean() / HINGE_SHARPNESS + bumps.sum() + self.lam * coef @ v
        slopes = np.concatenate([-self.y * expit(z) / len(z), -2.0 * UNLABELED_SHARPNESS * unlabeled * bumps])
        return float(value), self.K @ (slopes + 2.0 * self.lam * coef)

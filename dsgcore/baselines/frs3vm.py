"""FRS3VM: the semi-supervised support vector machine by stochastic gradients on fixed random features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.base import Watch
from dsgcore.baselines.basis import HasMatrix
from dsgcore.baselines.s3vm import GradientS3VM, OrderedPoints, bound_problem
from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like
from dsgcore.core.sampling import batches
from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.weights import Weights
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.problem import objective


@dataclass(frozen=True, eq=False)
class FixedModel:
    """The function f(x) = w'phi(x), whose `weights` have one column, w."""

    weights: Weights

    def evaluate(self, X: NDArray) -> NDArray:
        """Return f at each row of `X`, of shape (n,)."""
        return self.weights.evaluate(X)[:, 0]


@estimator
class FRS3VM(GradientS3VM):
    """Semi-supervised support vector machine by stochastic gradients on random features drawn once.

    Parameters
    ----------
    n_features
        Number of frequencies, drawn once.
    n_passes : Passes
        Number of passes. A pass draws as many unlabeled points as there are.

    Attributes
    ----------
    model_ : dsgcore.baselines.frs3vm.FixedModel
        The function f.
    objectives_ : ndarray of shape (n_iter_,)
        Objective after each pass. A pass is one outer step.
    converged_ : bool
        Always True, because the number of passes is fixed.

    Notes
    -----
    Objective: ||w||^2 / 2 + C mean_L max(0, 1 - y f) + C* mean_U u(f), f = w'phi, as in `dsgcore.problems.s3vm`.
    phi(x) = sqrt(1/m) [cos w_j'x .., sin w_j'x ..] with the same frequencies in all iterations. For the linear kernel,
    phi is the coordinates themselves. Points are drawn with replacement.
    In the solver's own loop each mini-batch would have new frequencies; here the features are computed once.

    Source: X. Geng, B. Gu, X. Li, W. Shi, G. Zheng and H. Huang, Scalable Semi-Supervised SVM via Triply Stochastic
    Gradients, IJCAI 2019, section 6.1 (as a method to compare with); A. Rahimi and B. Recht, Random Features for
    Large-Scale Kernel Machines, NIPS 2007.

    For an example see `BLS3VM`.
    """

    title = "FRS3VM"
    citation = "FRS3VM, random features by Rahimi and Recht, NIPS 2007"
    sentence = "learns a semi-supervised support vector machine on fixed random features"

    n_features: int = like(SolverParameters, "n_features", usual=(16, 4096))
    batch_size: int = like(SolverParameters, "batch_size")
    n_passes: int = like(GradientS3VM, "n_passes", default=10)

    def _learn_from(self, points: OrderedPoints, kernel: HasMatrix, s: dict[str, Any], watch: Watch) -> None:
        kind, seed = "linear" if self.kernel == "linear" else "fourier", self._seed()
        features = FixedFeatures(kind, getattr(kernel, "sigma", 1.0), s["n_features"], seed)
        phi, (problem, rows) = features(points.X), bound_problem(s, points)
        w, steps = np.zeros(phi.shape[1]), -(-points.n_unlabeled // s["batch_size"])
        watch.total = s["n_passes"]
        for t in range(1, s["n_passes"] * steps + 1):
            step = s["step_size"] / t
            drawn = batches(seed, t, rows, s["batch_size"])
            own = {source: phi[batch] for source, batch in drawn.items()}
            slopes = problem.coefficients({source: batch @ w for source, batch in own.items()})
            w = (1.0 - step) * w - step * sum(slopes[source] @ batch for source, batch in own.items())
            if t % steps == 0:
                f = phi @ w
                terms = problem.terms({source: f[own_rows] for source, own_rows in rows.items()})
                watch.step(0.5 * float(w @ w) + objective(terms))
        self.model_ = FixedModel(Weights(features, w[:, None], points.X.shape[1]))

"""FRS3VM: the semi-supervised support vector machine by stochastic gradients on fixed random features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from dsgcore.baselines.basis import MAX_VALUES, HasMatrix
from dsgcore.baselines.progress import Watch
from dsgcore.baselines.s3vm_parts import GradientS3VM, OrderedPoints, bound_problem
from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like
from dsgcore.core.sampling import FREQUENCIES, batches, generator
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.solver.parameters import SolverParameters


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
    model_ : dsgcore.baselines.frs3vm.RandomFeatures
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
        seed, d = self._seed(), points.X.shape[1]
        turns = kernel.frequencies(generator(seed, FREQUENCIES), d, s["n_features"])
        turns = None if turns is None else turns.astype(float)
        phi = RandomFeatures(turns, np.zeros(0)).features(points.X)
        descent = _Descent(phi, *bound_problem(s, points), seed)
        watch.expect(s["n_passes"])
        for _ in range(s["n_passes"]):
            descent.make_pass(s["batch_size"], s["step_size"])
            watch.step(descent.objective())
        self.model_ = RandomFeatures(turns, descent.w)


@dataclass(frozen=True, eq=False)
class RandomFeatures:
    """Function f(x) = w'phi(x), where phi(x) = sqrt(1/m) [cos, sin] of m phases, or x itself.

    Parameters
    ----------
    turns : ndarray of shape (d, m), or None
        Frequencies in turns per unit. None for the coordinates themselves.
    w : ndarray of shape (2m,) or (d,)
    """

    turns: NDArray | None
    w: NDArray

    def features(self, X: NDArray) -> NDArray:
        """Return phi of each row of `X`."""
        if self.turns is None:
            return X
        m = self.turns.shape[1]
        phases = X @ (2.0 * np.pi * self.turns)
        phi = np.empty((len(X), 2 * m))
        np.cos(phases, out=phi[:, :m])
        np.sin(phases, out=phi[:, m:])
        phi *= m**-0.5
        return phi

    def evaluate(self, X: NDArray) -> NDArray:
        """Return f at each row of `X`, of shape (n,). Evaluates in blocks of bounded size."""
        pieces = gen_batches(len(X), max(1, MAX_VALUES // len(self.w)))
        return np.concatenate([self.features(X[rows]) @ self.w for rows in pieces])


class _Descent:
    """State of the stochastic gradient descent."""

    def __init__(self, phi: NDArray, problem: SemiSupervisedSVM, rows: dict[str, NDArray], seed: int) -> None:
        self.phi, self.problem, self.rows, self.seed = phi, problem, rows, seed
        self.w, self.t = np.zeros(phi.shape[1]), 0

    def make_pass(self, batch_size: int, theta: float) -> None:
        """Make the iterations of one pass."""
        for _ in range(-(-len(self.rows["unlabeled"]) // batch_size)):
            self.t += 1
            step = theta / self.t
            drawn = batches(self.seed, self.t, self.rows, dict.fromkeys(self.rows, batch_size))
            features = {source: self.phi[batch] for source, batch in drawn.items()}
            slopes = self.problem.coefficients({source: phi @ self.w for source, phi in features.items()})
            self.w = (1.0 - step) * self.w - step * sum(slopes[source] @ phi for source, phi in features.items())

    def objective(self) -> float:
        """Return the objective over all points."""
        f = self.phi @ self.w
        values = {source: f[rows] for source, rows in self.rows.items()}
        return 0.5 * float(self.w @ self.w) + sum(self.problem.terms(values).values())

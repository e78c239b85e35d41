"""scikit-learn's own semi-supervised classifiers, as competitors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.utils import gen_batches

from dsgcore.baselines.basis import MAX_VALUES
from dsgcore.baselines.everyday import C, EverydayClassifier, Sharpness, count_classes, libsvm_memory
from dsgcore.baselines.memory import BYTES_PER_NUMBER, Memory, kernel_matrix, numbers
from dsgcore.baselines.parameters import MAX_ITER
from dsgcore.baselines.progress import Watch
from dsgcore.core.documented import documented, told
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import as_said, integer, real
from dsgcore.core.problem import UNLABELED
from dsgcore.estimators.kernel import SIGMA

# Parts in which the probabilities of a support vector machine are found, fewer where a class has fewer labels.
FOLDS = 5
# Matrices of all pairs of points that label spreading holds at its peak, and numbers per neighbour where it has a graph.
MATRICES, NUMBERS_PER_NEIGHBOUR = 3.0, 8


@dataclass(frozen=True, eq=False)
class Chances:
    """The values of one of scikit-learn's machines that tells chances: of two classes, by how much the second's is larger."""

    machine: Any
    otherwise: NDArray  # where it tells none, of shape (k,)
    rows_at_a_time: int

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the chances at each row of `X`, of shape (n, k), or of two classes their difference, of shape (n,)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            pieces = [self.machine.predict_proba(X[rows]) for rows in gen_batches(len(X), self.rows_at_a_time)]
        chances = np.concatenate(pieces)
        chances = np.where(np.isnan(chances), self.otherwise, chances)
        return chances[:, 1] - chances[:, 0] if chances.shape[1] == 2 else chances


class Semisupervised(EverydayClassifier):
    """Shell of a classifier that tells chances and learns from all points."""

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        machine = self._fitted(X, y, s, watch)
        shares = np.bincount(y[y != UNLABELED])
        self.model_ = Chances(machine, shares / shares.sum(), max(1, MAX_VALUES // len(X)))


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class EverydaySelfTraining(Sharpness, Semisupervised):
    """scikit-learn's SelfTrainingClassifier around its SVC: points that it is sure of become labeled, and it learns again.

    Parameters
    ----------
    threshold : Sure from
        Chance from which a point's predicted class becomes its label.
    max_iter
        After as many rounds it stops.

    Raises
    ------
    ValueError
        From `fit`, if a class has one label only.

    Notes
    -----
    The chances are those of CalibratedClassifierCV(SVC(), ensemble=False), five parts, or as many as the smallest class
    has labels: what scikit-learn names in place of SVC(probability=True).
    """

    title = "Self-training SVC"
    citation = "scikit-learn; Yarowsky 1995"
    sentence = "learns from the labels, and again from its own predictions where it is sure"

    C: float = as_said(C)
    threshold: float = real(0.75, low=0.0, high=0.999999)
    max_iter: int = as_said(MAX_ITER, default=10)

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        k = count_classes(n, y)
        return libsvm_memory(n, d, k).with_more(BYTES_PER_NUMBER * n * (d + 6 * k))

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        fewest = int(np.bincount(y[y != UNLABELED]).min())
        if fewest < 2:
            raise DSGError(f"{type(self).__name__} needs two labels or more of each class, got {fewest} of one")
        svc = SVC(C=s["C"], **self._libsvm())
        sure = CalibratedClassifierCV(svc, ensemble=False, cv=min(FOLDS, fewest))
        return SelfTrainingClassifier(sure, threshold=s["threshold"], max_iter=s["max_iter"])


@dataclass(eq=False, repr=False, kw_only=True)
class Spreading(Semisupervised):
    """Shell of scikit-learn's LabelSpreading (D. Zhou et al., NIPS 2004); where it tells no chance, the labels' shares are told.

    Parameters
    ----------
    alpha : Trust in neighbours
        How much of a point's label comes from its neighbours; the rest is its own.
    max_iter
        After as many rounds it stops.

    Warns
    -----
    ConvergenceWarning
        From `fit`, if `max_iter` rounds were not enough.
    """

    citation = "scikit-learn; Zhou et al. 2004"

    alpha: float = real(0.2, low=1e-6, high=1.0 - 1e-6, symbol="α")
    max_iter: int = as_said(MAX_ITER, default=30)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class EverydaySpreadingKNN(Spreading):
    """scikit-learn's LabelSpreading over a graph of nearest neighbours.

    Parameters
    ----------
    n_neighbors : Neighbours
        How many nearest points a point hands its label on to.
    """

    title = "Label spreading, kNN"
    sentence = "learns by handing labels on to near neighbours, labeled or not"
    kernels = ()

    n_neighbors: int = integer(7, low=1, high=1000, usual=(1, 50))

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        k, neighbours = count_classes(n, y), min(n, s["n_neighbors"])
        count = NUMBERS_PER_NEIGHBOUR * n * neighbours + n * (d + 5 * k)
        return numbers(count, f"a graph of {n:,} points")

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        neighbors = min(s["n_neighbors"], len(X))
        return LabelSpreading(kernel="knn", n_neighbors=neighbors, alpha=s["alpha"], max_iter=s["max_iter"])


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class EverydaySpreadingRBF(Sharpness, Spreading):
    """scikit-learn's LabelSpreading over all pairs of points, weighted by a Gaussian kernel.

    Parameters
    ----------
    sigma
        Sharpness of the kernel; 20 as in scikit-learn.
    """

    title = "Label spreading, RBF"
    sentence = "learns by handing labels on between all points, the nearer the more"
    kernels = ("gaussian",)

    sigma: float | str = told(20.0, f"{SIGMA.allowed()}, or 'scale'")

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        return kernel_matrix(n, copies=MATRICES)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        self._libsvm_kernel()
        return LabelSpreading(gamma=self._number(X), alpha=s["alpha"], max_iter=s["max_iter"])

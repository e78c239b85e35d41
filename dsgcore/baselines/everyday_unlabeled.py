"""scikit-learn's own semi-supervised classifiers, as baselines."""

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
from dsgcore.baselines.everyday import C, EverydayClassifier, LibsvmKernel
from dsgcore.baselines.parameters import MAX_ITER
from dsgcore.baselines.progress import Watch
from dsgcore.core.documented import described, estimator
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import integer, like, real
from dsgcore.estimators.kernel import SIGMA
from dsgcore.solver.problem import UNLABELED

# Folds for the probabilities of a support vector machine. Fewer if a class has fewer labels.
FOLDS = 5


@dataclass(frozen=True, eq=False)
class ClassProbabilities:
    """Class probabilities of a fitted scikit-learn machine as a model.

    For two classes, the value is the second probability minus the first.
    """

    machine: Any
    otherwise: NDArray  # of shape (k,), used at points without probabilities
    rows_at_a_time: int

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the probabilities at each row of `X`, of shape (n, k).

        For two classes return their difference, of shape (n,).
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            pieces = [self.machine.predict_proba(X[rows]) for rows in gen_batches(len(X), self.rows_at_a_time)]
        chances = np.concatenate(pieces)
        chances = np.where(np.isnan(chances), self.otherwise, chances)
        return chances[:, 1] - chances[:, 0] if chances.shape[1] == 2 else chances


class Semisupervised(EverydayClassifier):
    """Base class of classifiers that learn from all points and predict probabilities."""

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        machine = self._fitted(X, y, s, watch)
        shares = np.bincount(y[y != UNLABELED])
        self.model_ = ClassProbabilities(machine, shares / shares.sum(), max(1, MAX_VALUES // len(X)))


@estimator
class EverydaySelfTraining(LibsvmKernel, Semisupervised):
    """scikit-learn's SelfTrainingClassifier around its SVC.

    In each round, points that the classifier is sure of become labeled, and it learns again.

    Parameters
    ----------
    threshold : Sure from
        Probability from which a point's predicted class becomes its label.
    max_iter
        Largest number of rounds.

    Raises
    ------
    ValueError
        From `fit`, if a class has only one label.

    Notes
    -----
    The probabilities are those of CalibratedClassifierCV(SVC(), ensemble=False), which scikit-learn recommends instead
    of SVC(probability=True). There are five folds, or as many as the smallest class has labels.
    """

    title = "Self-training SVC"
    citation = "scikit-learn; Yarowsky 1995"
    sentence = "learns from the labels, then also from its own confident predictions"

    C: float = like(C)
    threshold: float = real(0.75, low=0.0, high=0.999999)
    max_iter: int = like(MAX_ITER, default=10)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        fewest = int(np.bincount(y[y != UNLABELED]).min())
        if fewest < 2:
            raise DSGError(f"{type(self).__name__} needs at least two labels of each class, but one class has {fewest}")
        svc = SVC(C=s["C"], **self._libsvm())
        sure = CalibratedClassifierCV(svc, ensemble=False, cv=min(FOLDS, fewest))
        return SelfTrainingClassifier(sure, threshold=s["threshold"], max_iter=s["max_iter"])


@dataclass(eq=False, repr=False, kw_only=True)
class Spreading(Semisupervised):
    """Base class of scikit-learn's LabelSpreading (D. Zhou et al., NIPS 2004).

    At a point without probabilities, the shares of the labels are used.

    Parameters
    ----------
    alpha : Trust in neighbours
        Share of a point's label that comes from its neighbours. The rest is its own.
    max_iter
        Largest number of rounds.
    """

    citation = "scikit-learn; Zhou et al. 2004"

    alpha: float = real(0.2, low=1e-6, high=1.0 - 1e-6, symbol="α")
    max_iter: int = like(MAX_ITER, default=30)


@estimator
class EverydaySpreadingKNN(Spreading):
    """scikit-learn's LabelSpreading over a graph of nearest neighbours.

    Parameters
    ----------
    n_neighbors : Neighbours
        Number of nearest points that a point passes its label to.
    """

    title = "Label spreading, kNN"
    sentence = "learns by passing labels on to near neighbours, labeled or not"
    kernels = ()

    n_neighbors: int = integer(7, low=1, high=1000, usual=(1, 50))

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        neighbors = min(s["n_neighbors"], len(X))
        return LabelSpreading(kernel="knn", n_neighbors=neighbors, alpha=s["alpha"], max_iter=s["max_iter"])


@estimator
class EverydaySpreadingRBF(LibsvmKernel, Spreading):
    """scikit-learn's LabelSpreading over all pairs of points, weighted by a Gaussian kernel.

    Parameters
    ----------
    sigma
        Inverse bandwidth of the kernel. The default 20 is scikit-learn's.
    """

    title = "Label spreading, RBF"
    sentence = "learns by passing labels on between all points, with more weight for nearer ones"
    kernels = ("gaussian",)

    sigma: float | str = described(20.0, f"{SIGMA.allowed()}, or 'scale'")

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        self._libsvm_kernel()
        return LabelSpreading(gamma=self._number(X), alpha=s["alpha"], max_iter=s["max_iter"])

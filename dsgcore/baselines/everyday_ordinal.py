"""scikit-learn's own machines on ordered classes, as baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC, SVR

from dsgcore.baselines.base import LabelsAlone, OrdinalBaseline
from dsgcore.baselines.everyday import C, Everyday, Sharpness, count_classes, libsvm_memory
from dsgcore.baselines.memory import Memory
from dsgcore.baselines.progress import Watch
from dsgcore.core.documented import documented
from dsgcore.core.parameters import as_said, real
from dsgcore.problems.thresholds import thresholds


@dataclass(frozen=True, eq=False)
class Regressed:
    """Values of a regression on class numbers as a model."""

    machine: SVR

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the predicted class number at each row of `X`, of shape (n,)."""
        return self.machine.predict(X)


@dataclass(frozen=True, eq=False)
class Duels:
    """Sum of a machine's pairwise decisions as a model; a positive decision is for the later class."""

    machine: SVC

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the sum at each row of `X`, of shape (n,)."""
        values = self.machine.decision_function(X)
        # For more than two classes, scikit-learn's decisions are positive for the earlier class.
        return values if values.ndim == 1 else -values.sum(axis=1)


class EverydayOrdinal(Sharpness, LabelsAlone, Everyday, OrdinalBaseline):
    """Base class of machines that learn from the labeled points of ordered classes."""

    citation = "scikit-learn; LIBSVM, Chang and Lin 2011"

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        return libsvm_memory(n, d, count_classes(n, y))


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class EverydaySVR(EverydayOrdinal):
    """scikit-learn's SVR on class numbers 0, 1, 2, ... in the order of the classes.

    Parameters
    ----------
    epsilon : Free error
        Errors below this cost nothing. The distance between two classes is 1.

    Attributes
    ----------
    thresholds_ : ndarray of shape (k - 1,)
        The midpoints between class numbers.
    """

    title = "SVR"
    sentence = "learns the number of the class from the labels alone, as if it were a quantity"

    C: float = as_said(C)
    epsilon: float = real(0.1, low=0.0, high=10.0)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        return SVR(C=s["C"], epsilon=s["epsilon"], **self._libsvm())

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        self.model_ = Regressed(self._fitted(X, y, s, watch))
        self.thresholds_ = np.arange(y.max()) + 0.5


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class EverydayOrdinalSVC(EverydayOrdinal):
    """scikit-learn's SVC on ordered classes, ranked by the sum of its pairwise decisions.

    Attributes
    ----------
    thresholds_ : ndarray of shape (k - 1,)
        Thresholds on the sums. They cut the sums at the labeled points into the classes' shares.
    """

    title = "SVC"
    sentence = "learns any two classes apart from the labels alone, and ranks by the sum"

    C: float = as_said(C)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        return SVC(C=s["C"], decision_function_shape="ovo", **self._libsvm())

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        model = Duels(self._fitted(X, y, s, watch))
        self.thresholds_ = thresholds(y, model.evaluate(X), loss="hinge", margin=0.0)
        self.model_ = model

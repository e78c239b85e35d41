"""scikit-learn's own classifiers as baselines: the shared base, and classifiers of the labels alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from dsgcore.baselines.base import Baseline, GaussianOrLinear, LabelsAlone, LabelsBaseline
from dsgcore.baselines.memory import BYTES_PER_NUMBER, Memory, numbers
from dsgcore.baselines.parameters import MAX_ITER
from dsgcore.baselines.progress import Watch
from dsgcore.baselines.regression import CACHE
from dsgcore.core.documented import SEED, documented, told
from dsgcore.core.parameters import Choice, as_in, as_said, field_as_in, integer
from dsgcore.estimators.inputs import width
from dsgcore.estimators.kernel import SIGMA
from dsgcore.problems.s3vm import SemiSupervisedSVM

C = as_in(
    SemiSupervisedSVM, "C", default=1.0, sentence="Cost of an error at one labeled point. The same as scikit-learn's C."
)
KERNELS_OF_LIBSVM = {"gaussian": "rbf", "linear": "linear"}
# Vectors that the quasi-Newton method keeps, and float64 values at the points that it works with.
VECTORS_OF_LBFGS, VALUES_AT_POINTS = 30, 5
# Number of classes assumed for a memory estimate without labels.
MANY_CLASSES = 100


@dataclass(frozen=True, eq=False)
class Decision:
    """Decision function of a fitted scikit-learn machine as a model."""

    machine: Any

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the decision function at each row of `X`: of shape (n,) for two classes, or (n, k) for more."""
        return np.asarray(self.machine.decision_function(X))


class Sharpness(GaussianOrLinear):
    """Kernel and inverse bandwidth of scikit-learn's kernel machines."""

    def _number(self, X: NDArray) -> float:
        return width(SIGMA, self.sigma, X)

    def _libsvm(self) -> dict[str, Any]:
        """Return the arguments of libsvm's machines for the shared parameters; libsvm itself supports "scale"."""
        kernel = self._libsvm_kernel()
        gamma = "scale" if self.sigma == "scale" else self._number(np.zeros((1, 1)))
        return {"kernel": kernel, "gamma": gamma, "cache_size": CACHE}

    def _libsvm_kernel(self) -> str:
        return KERNELS_OF_LIBSVM[Choice("kernel", "gaussian", options=self.kernels).check(self.kernel)]


class Everyday(Baseline):
    """Base class of scikit-learn's own methods.

    A subclass makes the machine in `_machine` and estimates its memory. Its fit is one step, so that there is no
    progress to report. To cancel such a fit, end its process. All other parameters are scikit-learn's defaults.

    Attributes
    ----------
    model_ : object
        Has the fitted machine of scikit-learn as `machine`.
    objectives_ : ndarray of shape (0,)
        Empty, because scikit-learn reports no objective.
    n_iter_ : int
        One, because the fit is one step.
    """

    is_everyday = True

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        """Return an unfitted scikit-learn estimator for points, codes and checked parameters."""
        raise NotImplementedError

    def _fitted(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> Any:
        """Return the fitted machine; raise its convergence warning in the baseline's name."""
        watch.expect(1)
        machine = self._machine(X, y, s)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            machine.fit(X, y)
        watch.step()
        if any(issubclass(w.category, ConvergenceWarning) for w in said):
            watch.give_up("scikit-learn's limit of iterations was reached; try a larger one, or scaled points")
        return machine


class EverydayClassifier(Everyday, LabelsBaseline):
    """Base class of classifiers; `_learn` gets codes 0 .. k - 1, and -1 for unlabeled points."""

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        self.model_ = Decision(self._fitted(X, y, s, watch))

    def decision_function(self, X: NDArray) -> NDArray:
        """Return the score of each row of `X` for each class, of shape (n, k).

        For two classes return the score for the second class, of shape (n,).
        """
        return self._values(X)

    def predict(self, X: NDArray) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]


def count_classes(n: int, y: NDArray | None) -> int:
    """Return the number of classes, or the number assumed for a memory estimate if the labels are unknown."""
    return min(n, MANY_CLASSES) if y is None else int(y.max()) + 1


def libsvm_memory(n: int, d: int, k: int) -> Memory:
    """Return the memory that libsvm needs for `n` points of `k` classes: cache, copy of the points, coefficients."""
    need = numbers(n * (d + 2 * k + 8), f"a support vector machine of {n:,} points")
    return need.with_more(min(CACHE * 10**6, n * n * BYTES_PER_NUMBER // 2))


def logistic_memory(n: int, d: int, k: int) -> Memory:
    """Return the memory that logistic regression needs for `n` points with `d` features and `k` classes."""
    return numbers(VALUES_AT_POINTS * n * k + VECTORS_OF_LBFGS * k * (d + 1), f"{n:,} points of {k:,} classes")


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class EverydaySVC(Sharpness, LabelsAlone, EverydayClassifier):
    """scikit-learn's SVC on the labeled points.

    Notes
    -----
    Source: C.-C. Chang and C.-J. Lin, LIBSVM, ACM TIST 2011, as in scikit-learn, with `break_ties`: the predicted
    class has the highest value.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from dsgcore.baselines import EverydaySVC
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 5 == 0, y, -1)  # four labels of five hidden
    >>> EverydaySVC().fit(X, few).score(X, y) > 0.9
    True
    """

    title = "SVC"
    citation = "scikit-learn; LIBSVM, Chang and Lin 2011"
    sentence = "learns from the labels alone, with a kernel and the hinge loss"

    C: float = as_said(C)

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        return libsvm_memory(n, d, count_classes(n, y))

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        return SVC(C=s["C"], **self._libsvm())


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class EverydayLogistic(LabelsAlone, EverydayClassifier):
    """scikit-learn's LogisticRegression on the labeled points.

    Parameters
    ----------
    max_iter
        Largest number of iterations.

    Warns
    -----
    ConvergenceWarning
        From `fit`, if `max_iter` iterations were not enough.
    """

    title = "Logistic regression"
    citation = "scikit-learn"
    sentence = "learns from the labels alone, linear in the coordinates"
    kernels = ()

    C: float = as_said(C)
    max_iter: int = as_said(MAX_ITER)

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        return logistic_memory(n, d, count_classes(n, y))

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        return LogisticRegression(C=s["C"], max_iter=s["max_iter"])


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class EverydayNystroem(Sharpness, LabelsAlone, EverydayClassifier):
    """scikit-learn's Nystroem, then its LogisticRegression, on the labeled points.

    If the points have variance 1, "scale" (SVC's default sigma) equals 1 / d, Nystroem's default.

    Parameters
    ----------
    n_components : Kernel centres
        Number of labeled points, drawn at random, that carry a kernel. If there are fewer, all of them do.
    random_state
        Seed for drawing the centres.
    """

    title = "Nyström + logistic regression"
    citation = "scikit-learn; Williams and Seeger 2001"
    sentence = "learns from the labels alone, linear in kernels at some of the labeled points"
    kernels = ("gaussian",)

    n_components: int = integer(100, low=1, high=100_000, scale="log", usual=(10, 2000))
    C: float = as_said(C)
    max_iter: int = field_as_in(EverydayLogistic, "max_iter")
    random_state: int | np.random.RandomState | None = told(None, SEED)

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        m = min(n, s["n_components"])
        return logistic_memory(n, m, count_classes(n, y)).with_more(BYTES_PER_NUMBER * (2 * n * m + 4 * m * m))

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        self._libsvm_kernel()
        centers = Nystroem(
            gamma=self._number(X), n_components=min(len(X), s["n_components"]), random_state=self._seed()
        )
        return make_pipeline(centers, LogisticRegression(C=s["C"], max_iter=s["max_iter"]))

"""scikit-learn's own methods as baselines that learn from the labels alone."""

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
from sklearn.svm import SVC, SVR

from dsgcore.baselines.base import Baseline, GaussianOrLinear, LabelsAlone, LabelsBaseline, OrdinalBaseline
from dsgcore.baselines.parameters import MAX_ITER
from dsgcore.baselines.progress import Watch
from dsgcore.baselines.regression import CACHE
from dsgcore.core.documented import SEED, described, estimator
from dsgcore.core.parameters import Choice, integer, like, parameter_like, real
from dsgcore.estimators.inputs import width
from dsgcore.estimators.kernel import SIGMA
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.thresholds import thresholds

C = parameter_like(
    SemiSupervisedSVM, "C", default=1.0, sentence="Cost of an error at one labeled point. The same as scikit-learn's C."
)
KERNELS_OF_LIBSVM = {"gaussian": "rbf", "linear": "linear"}


@dataclass(frozen=True, eq=False)
class Decision:
    """Decision function of a fitted scikit-learn machine as a model."""

    machine: Any

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the decision function at each row of `X`: of shape (n,) for two classes, or (n, k) for more."""
        return np.asarray(self.machine.decision_function(X))


class LibsvmKernel(GaussianOrLinear):
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

    A subclass makes the machine in `_machine`. Its fit is one step, so that there is no progress to report. All other
    parameters are scikit-learn's defaults.

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


@estimator
class EverydaySVC(LibsvmKernel, LabelsAlone, EverydayClassifier):
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

    C: float = like(C)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        return SVC(C=s["C"], **self._libsvm())


@estimator
class EverydayLogistic(LabelsAlone, EverydayClassifier):
    """scikit-learn's LogisticRegression on the labeled points.

    Parameters
    ----------
    max_iter
        Largest number of iterations.
    """

    title = "Logistic regression"
    citation = "scikit-learn"
    sentence = "learns from the labels alone, linear in the coordinates"
    kernels = ()

    C: float = like(C)
    max_iter: int = like(MAX_ITER)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        return LogisticRegression(C=s["C"], max_iter=s["max_iter"])


@estimator
class EverydayNystroem(LibsvmKernel, LabelsAlone, EverydayClassifier):
    """scikit-learn's Nystroem, then its LogisticRegression, on the labeled points.

    If the points have variance 1, "scale" (SVC's default sigma) equals 1 / d, Nystroem's default.

    Parameters
    ----------
    centers : Kernel centres
        Number of labeled points, drawn at random, that carry a kernel. If there are fewer, all of them do.
    random_state
        Seed for drawing the centres.
    """

    title = "Nyström + logistic regression"
    citation = "scikit-learn; Williams and Seeger 2001"
    sentence = "learns from the labels alone, linear in kernels at some of the labeled points"
    kernels = ("gaussian",)

    centers: int = integer(100, low=1, high=100_000, scale="log", usual=(10, 2000))
    C: float = like(C)
    max_iter: int = like(EverydayLogistic, "max_iter")
    random_state: int | np.random.RandomState | None = described(None, SEED)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        self._libsvm_kernel()
        centers = Nystroem(gamma=self._number(X), n_components=min(len(X), s["centers"]), random_state=self._seed())
        return make_pipeline(centers, LogisticRegression(C=s["C"], max_iter=s["max_iter"]))


@dataclass(frozen=True, eq=False)
class ClassNumbers:
    """Values of a regression on class numbers as a model."""

    machine: SVR

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the predicted class number at each row of `X`, of shape (n,)."""
        return self.machine.predict(X)


@dataclass(frozen=True, eq=False)
class SummedDecisions:
    """Sum of a machine's pairwise decisions as a model; a positive decision is for the later class."""

    machine: SVC

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the sum at each row of `X`, of shape (n,)."""
        values = self.machine.decision_function(X)
        # For more than two classes, scikit-learn's decisions are positive for the earlier class.
        return values if values.ndim == 1 else -values.sum(axis=1)


class EverydayOrdinal(LibsvmKernel, LabelsAlone, Everyday, OrdinalBaseline):
    """Base class of machines that learn from the labeled points of ordered classes."""

    citation = "scikit-learn; LIBSVM, Chang and Lin 2011"


@estimator
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

    C: float = like(C)
    epsilon: float = real(0.1, low=0.0, high=10.0)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        return SVR(C=s["C"], epsilon=s["epsilon"], **self._libsvm())

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        self.model_ = ClassNumbers(self._fitted(X, y, s, watch))
        self.thresholds_ = np.arange(y.max()) + 0.5


@estimator
class EverydayOrdinalSVC(EverydayOrdinal):
    """scikit-learn's SVC on ordered classes, ranked by the sum of its pairwise decisions.

    Attributes
    ----------
    thresholds_ : ndarray of shape (k - 1,)
        Thresholds on the sums. They cut the sums at the labeled points into the classes' shares.
    """

    title = "SVC"
    sentence = "learns one classifier for each two classes from the labels alone, and ranks by their sum"

    C: float = like(C)

    def _machine(self, X: NDArray, y: NDArray, s: dict[str, Any]) -> Any:
        return SVC(C=s["C"], decision_function_shape="ovo", **self._libsvm())

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        model = SummedDecisions(self._fitted(X, y, s, watch))
        self.thresholds_ = thresholds(y, model.evaluate(X), loss="hinge", margin=0.0)
        self.model_ = model

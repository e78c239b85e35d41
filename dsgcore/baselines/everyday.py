"""Everyday peers: scikit-learn's own methods as baselines, one row each in a table at the end."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, make_dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, SVR
from sklearn.utils import gen_batches

from dsgcore.baselines.base import (
    MAX_ITER,
    Baseline,
    GaussianOrLinear,
    LabelsBaseline,
    OrdinalBaseline,
    Watch,
)
from dsgcore.baselines.basis import MAX_VALUES
from dsgcore.baselines.s3vm import CACHE
from dsgcore.core.documented import SEED, described, documented
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, Integer, Real, like
from dsgcore.core.threads import single_threaded_openmp
from dsgcore.estimators.classes import HighestScore
from dsgcore.estimators.inputs import SIGMA, width
from dsgcore.problems.s3vm import C
from dsgcore.problems.thresholds import thresholds
from dsgcore.solver.problem import UNLABELED

# Folds for the probabilities of a support vector machine. Fewer if a class has fewer labels.
FOLDS = 5
LIBSVM = "scikit-learn; LIBSVM, Chang and Lin 2011"


@dataclass(frozen=True, eq=False)
class Machine:
    """A fitted scikit-learn machine as a model, and the function that takes values from it."""

    machine: Any
    values: Callable[[Any, NDArray], NDArray]

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the values at each row of `X`: of shape (n,), or (n, k) for more than two classes without an order."""
        return self.values(self.machine, X)


def decisions(machine: Any, X: NDArray) -> NDArray:
    """Return the decision function."""
    return np.asarray(machine.decision_function(X))


def class_numbers(machine: Any, X: NDArray) -> NDArray:
    """Return a regression's predictions."""
    return np.asarray(machine.predict(X))


def summed_duels(machine: Any, X: NDArray) -> NDArray:
    """Return the sum of the pairwise decisions; a positive decision is for the later class."""
    values = decisions(machine, X)
    # For more than two classes, scikit-learn's decisions are positive for the earlier class.
    return values if values.ndim == 1 else -values.sum(axis=1)


def probabilities(machine: Any, X: NDArray, shares: NDArray, size: int) -> NDArray:
    """Return the class probabilities, computed for `size` points at a time; for two classes the second minus the first.

    A point without probabilities has the `shares` (k,) of the labels.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.concatenate([machine.predict_proba(X[rows]) for rows in gen_batches(len(X), size)])
    found = np.where(np.isnan(found), shares, found)
    return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found


class Everyday(Baseline):
    """Base class of scikit-learn's own methods. All parameters but those listed are scikit-learn's defaults.

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
    effort: ClassVar[int]  # rank of its simplicity; 0 is the simplest
    is_slow: ClassVar[bool]  # a fit to many points takes much longer than those of the others
    _make: ClassVar[Callable[..., Any]]
    _taken_by: ClassVar[Callable[..., NDArray]] = decisions

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        """Fit the machine that the row's factory returns; raise its convergence warning in the baseline's name."""
        watch.total, kind = 1, type(self)
        given = SimpleNamespace(**s, seed=self._seed(), name=kind.__name__)
        if self.kernels:  # the arguments of a kernel machine; libsvm itself supports "scale"
            kernel = Choice("kernel", "gaussian", options=self.kernels).check(self.kernel)
            sigma: Any = self.sigma
            gamma = sigma if isinstance(sigma, str) and sigma == "scale" else width(SIGMA, sigma, X)
            given.sigma = partial(width, SIGMA, sigma, X)
            given.libsvm = {"kernel": {"gaussian": "rbf"}.get(kernel, kernel), "gamma": gamma, "cache_size": CACHE}
        machine = kind._make(given, X, y)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with single_threaded_openmp():  # trees of few labels: threads would wait for each other
                machine.fit(X, y)
        watch.step()
        if any(issubclass(w.category, ConvergenceWarning) for w in said):
            watch.give_up("scikit-learn's limit of iterations was reached; try a larger one, or scaled points")
        values = kind._taken_by
        if values is probabilities:
            shares = np.bincount(y[y != UNLABELED])
            values = partial(values, shares=shares / shares.sum(), size=max(1, MAX_VALUES // len(X)))
        self.model_ = Machine(machine, values)


class EverydayClassifier(HighestScore, Everyday, LabelsBaseline):
    """Base class of classifiers; `_learn` gets codes 0 .. k - 1, and -1 for unlabeled points."""


class EverydayOrdinal(Everyday, OrdinalBaseline):
    """Base class of machines that learn from the labeled points of ordered classes.

    Attributes
    ----------
    thresholds_ : ndarray of shape (k - 1,)
        Thresholds on the values: for a regression the midpoints between class numbers, else those that cut the labeled
        points into the classes' shares.
    """

    is_supervised = True

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        super()._learn(X, y, s, watch)
        if type(self)._taken_by is class_numbers:
            self.thresholds_ = np.arange(y.max()) + 0.5
        else:
            self.thresholds_ = thresholds(y, self.model_.evaluate(X), loss="hinge", margin=0.0)


class Alone(EverydayClassifier):
    """Base class of classifiers that learn from the labeled points only."""

    is_supervised = True


_ITERATIONS = MAX_ITER.called("Iterations at most", "Largest number of iterations.")
_CENTERS = Integer("centers", 100, low=1, high=100_000, scale="log", usual=(10, 2000)).called(
    "Kernel centres",
    "Number of labeled points, drawn at random, that carry a kernel. If there are fewer, all of them do.",
)
_THRESHOLD = Real("threshold", 0.75, low=0.0, high=0.999999).called(
    "Sure from", "Probability from which a point's predicted class becomes its label."
)
_ALPHA = Real("alpha", 0.2, low=1e-6, high=1.0 - 1e-6, symbol="α").called(
    "Trust in neighbours", "Share of a point's label that comes from its neighbours. The rest is its own."
)
_NEIGHBORS = Integer("n_neighbors", 7, low=1, high=1000, usual=(1, 50)).called(
    "Neighbours", "Number of nearest points that a point passes its label to."
)
_EPSILON = Real("epsilon", 0.1, low=0.0, high=10.0).called(
    "Free error", "Errors below this cost nothing. The distance between two classes is 1."
)
_TREES = Integer("n_estimators", 100, low=1, high=100_000, scale="log", usual=(10, 1000)).called(
    "Trees", "Number of trees."
)
_BOTH, _GAUSSIAN = ("gaussian", "linear"), ("gaussian",)


def _self_training(p: Any, X: NDArray, y: NDArray) -> SelfTrainingClassifier:
    """Make self-training around an SVC with calibrated probabilities, which scikit-learn recommends for it."""
    fewest = int(np.bincount(y[y != UNLABELED]).min())
    if fewest < 2:
        raise DSGError(f"{p.name} needs at least two labels of each class, but one class has {fewest}")
    sure = CalibratedClassifierCV(SVC(C=p.C, **p.libsvm), ensemble=False, cv=min(FOLDS, fewest))
    return SelfTrainingClassifier(sure, threshold=p.threshold, max_iter=p.max_iter)


def _arrays(*steps: Any) -> Pipeline:
    """Return a pipeline whose steps give arrays, whatever scikit-learn's setting `transform_output` says."""
    return make_pipeline(*steps).set_output(transform="default")


def _nystroem(p: Any, X: NDArray, y: NDArray) -> Any:
    centers = Nystroem(gamma=p.sigma(), n_components=min(len(X), p.centers), random_state=p.seed)
    return _arrays(centers, LogisticRegression(C=p.C, max_iter=p.max_iter))


def _peer(
    name: str,
    base: type[Everyday],
    title: str,
    sentence: str,
    make: Callable[..., Any],
    *parameters: Any,
    doc: str,
    citation: str = LIBSVM,
    kernels: tuple[str, ...] = (),
    values: Callable[..., NDArray] = decisions,
    effort: int = 1,
    is_slow: bool = False,
    seed_of: str = "",
    **fields: Any,
) -> Any:
    """Return the class of a row: its texts, the machine it makes from checked parameters, and its parameters."""
    if seed_of:
        fields["random_state"] = described(None, SEED)
        doc += f"\n\nParameters\n----------\nrandom_state\n    Seed for {seed_of}."
    own = [(p.name, Any, like(p)) for p in parameters] + [(key, Any, value) for key, value in fields.items()]
    space: dict[str, Any] = {
        "__doc__": doc,
        "title": title,
        "sentence": sentence,
        "citation": citation,
        "kernels": kernels,
    }
    space |= {"effort": effort, "is_slow": is_slow}
    functions = {"_make": staticmethod(make), "_taken_by": staticmethod(values)}
    bases = (GaussianOrLinear, base) if kernels else (base,)
    cls = make_dataclass(name, own, bases=bases, namespace=space | functions, eq=False, repr=False, kw_only=True)
    cls.__module__ = __name__
    return documented(cls)


EverydaySVC = _peer(
    "EverydaySVC", Alone, "SVC", "learns from the labels alone, with a kernel and the hinge loss",
    lambda p, X, y: SVC(C=p.C, **p.libsvm), C, kernels=_BOTH,
    doc="scikit-learn's SVC on the labeled points, with `break_ties`: the predicted class has the highest value.",
)  # fmt: skip
EverydayLogisticRegression = _peer(
    "EverydayLogisticRegression", Alone, "Logistic regression", "learns from the labels alone, linear in the coordinates",
    lambda p, X, y: LogisticRegression(C=p.C, max_iter=p.max_iter), C, _ITERATIONS, citation="scikit-learn", effort=0,
    doc="scikit-learn's LogisticRegression on the labeled points.",
)  # fmt: skip
EverydayNystroem = _peer(
    "EverydayNystroem", Alone, "Nyström + logistic regression",
    "learns from the labels alone, linear in kernels at some of the labeled points",
    _nystroem, _CENTERS, C, _ITERATIONS, kernels=_GAUSSIAN, citation="scikit-learn; Williams and Seeger 2001",
    seed_of="drawing the centres", effort=2, doc="scikit-learn's Nystroem, then its LogisticRegression, on the labeled points.",
)  # fmt: skip
EverydayNeighbors = _peer(
    "EverydayNeighbors", Alone, "Nearest neighbours", "learns from the labels alone, by the classes of the nearest labeled points",
    lambda p, X, y: KNeighborsClassifier(min(p.n_neighbors, len(X))), replace(_NEIGHBORS, default=5), values=probabilities,
    citation="scikit-learn", doc="scikit-learn's KNeighborsClassifier on the labeled points.",
)  # fmt: skip
_LARGEST = float(np.finfo(np.float32).max)


def _forest(cls: type[Any], given: Any) -> Any:
    """Return a forest of points as far as single precision goes: it takes no others, and beyond all splits none differ."""
    nearer = FunctionTransformer(np.clip, kw_args={"a_min": -_LARGEST, "a_max": _LARGEST})
    return _arrays(nearer, cls(given.n_estimators, random_state=given.seed))


EverydayRandomForest = _peer(
    "EverydayRandomForest", Alone, "Random forest", "learns from the labels alone, by the vote of many trees",
    lambda p, X, y: _forest(RandomForestClassifier, p), _TREES, values=probabilities,
    citation="scikit-learn; Breiman 2001", effort=2, seed_of="the trees",
    doc="scikit-learn's RandomForestClassifier on the labeled points.",
)  # fmt: skip
# Points in a leaf, scikit-learn's default, and the share of the labels that a leaf needs if they are few. With leaves of 20,
# trees of 50 labels hardly split: of ten tables the mean accuracy is 76.5 %, and 77.6 % with leaves of 10.
LEAF, SHARE_OF_LEAF = 20, 0.2
_SMALL_LEAVES = f"\n\nWith fewer than {LEAF / SHARE_OF_LEAF:.0f} labels a leaf needs a fifth of them, not {LEAF}."


def _leaf(X: NDArray) -> int:
    """Return how many points a leaf needs, so that trees of few points can split."""
    return max(2, min(LEAF, int(SHARE_OF_LEAF * len(X))))


EverydayBoosting = _peer(
    "EverydayBoosting", Alone, "Boosted trees", "learns from the labels alone, by trees that mend each other's errors",
    lambda p, X, y: HistGradientBoostingClassifier(max_iter=p.max_iter, min_samples_leaf=_leaf(X), random_state=p.seed),
    replace(_ITERATIONS, default=100), citation="scikit-learn; Friedman 2001", effort=2, seed_of="the trees",
    doc="scikit-learn's HistGradientBoostingClassifier on the labeled points." + _SMALL_LEAVES,
)  # fmt: skip
EverydaySelfTraining = _peer(
    "EverydaySelfTraining", EverydayClassifier, "Self-training SVC",
    "learns from the labels, then also from its own confident predictions",
    _self_training, C, _THRESHOLD, replace(_ITERATIONS, default=10), kernels=_BOTH, values=probabilities,
    citation="scikit-learn; Yarowsky 1995", effort=3, is_slow=True,
    doc="scikit-learn's SelfTrainingClassifier around its SVC.\n\n"
    "In each round, points that the classifier is sure of become labeled, and it learns again. The fit raises "
    "ValueError if a class\nhas only one label.",
)  # fmt: skip
EverydaySpreadingKNN = _peer(
    "EverydaySpreadingKNN", EverydayClassifier, "Label spreading, kNN",
    "learns by passing labels on to near neighbours, labeled or not",
    lambda p, X, y: LabelSpreading(
        kernel="knn", n_neighbors=min(p.n_neighbors, len(X)), alpha=p.alpha, max_iter=p.max_iter
    ),
    _ALPHA, replace(_ITERATIONS, default=30), _NEIGHBORS, values=probabilities,
    citation="scikit-learn; Zhou et al. 2004", effort=3, is_slow=True,
    doc="scikit-learn's LabelSpreading over a graph of nearest neighbours.",
)  # fmt: skip
EverydaySpreadingRBF = _peer(
    "EverydaySpreadingRBF", EverydayClassifier, "Label spreading, RBF",
    "learns by passing labels on between all points, with more weight for nearer ones",
    lambda p, X, y: LabelSpreading(gamma=p.sigma(), alpha=p.alpha, max_iter=p.max_iter),
    _ALPHA, replace(_ITERATIONS, default=30), kernels=_GAUSSIAN, values=probabilities,
    citation="scikit-learn; Zhou et al. 2004", effort=3, is_slow=True, sigma=described(20.0, f"{SIGMA.allowed()}, or 'scale'"),
    doc="scikit-learn's LabelSpreading over all pairs of points, weighted by a Gaussian kernel.\n\n"
    "Parameters\n----------\nsigma\n    Inverse bandwidth of the kernel. The default 20 is scikit-learn's.",
)  # fmt: skip
EverydaySVR = _peer(
    "EverydaySVR", EverydayOrdinal, "SVR", "learns the number of the class from the labels alone, as if it were a quantity",
    lambda p, X, y: SVR(C=p.C, epsilon=p.epsilon, **p.libsvm), C, _EPSILON, kernels=_BOTH, values=class_numbers,
    doc="scikit-learn's SVR on class numbers 0, 1, 2, ... in the order of the classes.",
)  # fmt: skip
EverydayOrdinalSVC = _peer(
    "EverydayOrdinalSVC", EverydayOrdinal, "SVC",
    "learns one classifier for each two classes from the labels alone, and ranks by their sum",
    lambda p, X, y: SVC(C=p.C, decision_function_shape="ovo", **p.libsvm), C, kernels=_BOTH, values=summed_duels,
    doc="scikit-learn's SVC on ordered classes, ranked by the sum of its pairwise decisions.",
)  # fmt: skip
EverydayOrdinalForest = _peer(
    "EverydayOrdinalForest", EverydayOrdinal, "Random forest",
    "learns the number of the class from the labels alone, by the mean of many trees",
    lambda p, X, y: _forest(RandomForestRegressor, p), _TREES, values=class_numbers,
    citation="scikit-learn; Breiman 2001", effort=2, seed_of="the trees",
    doc="scikit-learn's RandomForestRegressor on class numbers 0, 1, 2, ... in the order of the classes.",
)  # fmt: skip
EverydayOrdinalBoosting = _peer(
    "EverydayOrdinalBoosting", EverydayOrdinal, "Boosted trees",
    "learns the number of the class from the labels alone, by trees that mend each other's errors",
    lambda p, X, y: HistGradientBoostingRegressor(max_iter=p.max_iter, min_samples_leaf=_leaf(X), random_state=p.seed),
    replace(_ITERATIONS, default=100), values=class_numbers, citation="scikit-learn; Friedman 2001", effort=2,
    seed_of="the trees", doc="scikit-learn's HistGradientBoostingRegressor on class numbers 0, 1, 2, ... in the order of the "
    "classes." + _SMALL_LEAVES,
)  # fmt: skip

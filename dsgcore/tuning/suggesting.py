"""Suggested parameters of an estimator: its search space around its own values, and its fits on folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from dsgcore.core.parameters import ParameterError, Real
from dsgcore.estimators.inputs import seed_of
from dsgcore.settings.profile import TRUST, Among, Times
from dsgcore.solver.problem import UNLABELED
from dsgcore.tuning.folds import LabeledFolds, PairFolds, encoded
from dsgcore.tuning.scorers import SimilarUnlabeledRisk, auc_score, hits, mean_auc_score
from dsgcore.tuning.search import N_SPLITS, SECONDS, Search, Subject, Suggestion


@dataclass(frozen=True)
class _SearchSpace:
    """Search space of one kind of estimator: parameters that matter, folds, score, and first candidates.

    `own` returns the value that a default stands for in a fitted estimator. Candidates are multiples of it.
    """

    space: Mapping[str, Times | Among]
    own: Mapping[str, Callable[[Any], Any]]
    score: Callable[[Any], Callable[[Any, ArrayLike, ArrayLike], float | NDArray]]
    folds: type[Any] = LabeledFolds
    first: tuple[Mapping[str, Any], ...] = ()
    is_ranking: bool = False

    def with_other(self, names: tuple[str, ...], name: str, how: Times | Among, own: str) -> _SearchSpace:
        """Return the space with another parameter, whose own value is the attribute `own`, in place of these."""
        space = {name: how} | {n: kept for n, kept in self.space.items() if n not in names}
        of = {name: attrgetter(own)} | {n: kept for n, kept in self.own.items() if n not in names}
        return replace(self, space=space, own=of)


_NUMBERS = Among((64, 128))  # of features
_OF_RANKING: dict[str, Times | Among] = {
    "sigma": Times(16.0),
    "lam": Times(100.0),
    "gamma": TRUST,
    "n_features": _NUMBERS,
}
_WIDTH = attrgetter("model_.kernel.sigma")
_WIDTH_AND_RIDGE = {"sigma": _WIDTH, "lam": attrgetter("lam_")}
SPACES: dict[str, _SearchSpace] = {
    "QSGS2AUC": _SearchSpace(_OF_RANKING, _WIDTH_AND_RIDGE, lambda m: auc_score, is_ranking=True),
    "QS3ORAO": _SearchSpace(_OF_RANKING, _WIDTH_AND_RIDGE, lambda m: mean_auc_score, is_ranking=True),
    "TSGS3VM": _SearchSpace(
        {"sigma": Times(16.0), "C": Times(30.0), "C_star": Among((None, None, 1e-3, 0.1)), "n_features": _NUMBERS},
        {"sigma": _WIDTH, "C": attrgetter("C")},
        lambda m: hits,
    ),
    "PS3VT": _SearchSpace(
        {
            "feature_map": Among(("linear", "fourier")),
            "sigma": Times(8.0),
            "lam": Times(100.0),
            "n_features": Among((512,)),
        },
        {"sigma": lambda m: 1.0, "lam": attrgetter("problem_.lam")},
        lambda m: hits,
        first=({"feature_map": "fourier", "n_features": 512},),
    ),
    "TSGSU": _SearchSpace(
        {"sigma": Times(16.0), "lam": Times(100.0), "n_features": _NUMBERS},
        _WIDTH_AND_RIDGE,
        lambda m: SimilarUnlabeledRisk(m.prior_),
        PairFolds,
    ),
}
_FREE = Real("multiple", 1.0)


def _space_of(estimator: Any) -> _SearchSpace:
    """Return the search space of an estimator.

    A Matérn kernel has a length, where sigma is one over a squared length. An S3VM with a weight of the labels' mean loss
    takes no weight of each point.
    """
    name = next((kind.__name__ for kind in type(estimator).__mro__ if kind.__name__ in SPACES), None)
    if name is None:
        raise ParameterError(f"estimator must be one of {', '.join(SPACES)}, got {type(estimator).__name__}")
    found = SPACES[name]
    if getattr(estimator, "kernel", None) == "matern":
        found = found.with_other(("sigma",), "length", Times(4.0), "model_.kernel.length")
    if getattr(estimator, "labeled_weight", None) is not None:
        found = found.with_other(("C", "C_star"), "labeled_weight", Times(30.0), "labeled_weight")
    return found


def suggest(estimator: Any, X: ArrayLike, y: ArrayLike, *, seconds: float = 20.0) -> Suggestion:
    """Tune the few parameters that matter for these data, within a given time.

    Candidates are drawn around the estimator's own values. Their scores on held-out folds are those of the method's
    paper. Each round keeps the best third, and gives these candidates more folds and iterations.

    A candidate replaces the estimator's own values only if the 95 % interval of its gain is above zero. For an
    accuracy the interval is paired over the held-out points, for another score over the folds.

    The candidates depend on `random_state`, and their number on the duration of a fit.

    Parameters
    ----------
    estimator : QSGS2AUC, TSGS3VM, QS3ORAO, PS3VT or TSGSU
        Estimator whose parameters are tuned, also as the last step of a `Pipeline` or inside a meta-estimator. Then the
        suggested names are those for `set_params` of the whole. It is not changed.
    X : array-like of shape (n, d)
        Points.
    y : array-like of shape (n,)
        As in `fit` of the estimator, -1 for unlabeled points.
    seconds : float, default=20
        Approximate time limit in seconds. A fit that has begun is finished.

    Returns
    -------
    Suggestion
        Has `parameters`, `table` with all candidates, `best_estimator_`, and `go_on` to search for longer.

    Raises
    ------
    ParameterError
        If the estimator is none of these.
    FoldError
        If the labels are too few for five folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from dsgcore import QSGS2AUC
    >>> from dsgcore.model_selection import suggest
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = QSGS2AUC(random_state=0, n_iter=100, tol=None)
    >>> found = suggest(model, X, np.where(np.arange(300) < 60, y, -1), seconds=2)
    >>> model = found.best_estimator_
    >>> found.table.columns[:4].tolist()
    ['score', 'gain', 'low', 'high']
    """
    allowed = float(SECONDS.check(seconds) or 0.0)
    fits = _Fits(estimator, X, y)
    return Search(fits, allowed, fits.seed).carry_out()


class _Fits(Subject):
    """Candidates for an estimator's parameters."""

    def __init__(self, estimator: Any, X: ArrayLike, y: ArrayLike) -> None:
        self.prefix, self.tuned = "", estimator  # of the names, and the estimator, inside pipelines and meta-estimators
        while (inside := _inside(self.tuned, "estimator")) is not None:
            self.prefix, self.tuned = f"{self.prefix}{inside[0]}__", inside[1]
        self.search = _space_of(self.tuned)
        self.estimator, self.X, self.y = estimator, X, y
        self.seed = seed_of(self.tuned.random_state)
        every = self.search.folds(N_SPLITS, random_state=self.seed).split(X, y)
        super().__init__((train, test) for train, test in every if self._is_measurable(test))
        self.first = tuple(self._named(one) for one in self.search.first)
        of_fit = getattr(self.tuned, "most_iterations", None)  # which encodes all labels
        self.most = self.tuned.n_iter if of_fit is None else of_fit(y)

    def _named(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tuned estimator's parameters by their names in the whole."""
        return {self.prefix + name: value for name, value in parameters.items()}

    def _is_measurable(self, test: NDArray) -> bool:
        """Return True if a fold's points can be scored. A ranking needs labels of two classes."""
        codes = encoded(self.y)[1][test] if self.search.is_ranking else np.arange(2)
        return len(np.unique(codes[codes != UNLABELED])) > 1

    def begin(self, share: float) -> None:
        tuned = self._fitted({}, share, self.rows[0][0])
        while (inside := _inside(tuned, "estimator_")) is not None:
            tuned = inside[1]
        self.own = {name: float(of(tuned)) for name, of in self.search.own.items()}
        self.scorer = self.search.score(tuned)

    def draw(self, drawn: np.random.Generator) -> dict[str, Any]:
        values = {name: how.draw(drawn, self.own.get(name), _FREE) for name, how in self.search.space.items()}
        return self._named(values)

    def n_iter(self, share: float) -> int:
        return max(10, round(share * self.most))

    def _fitted(self, parameters: Mapping[str, Any], share: float, rows: NDArray) -> Any:
        model = clone(self.estimator).set_params(**parameters)
        model.set_params(**self._named({"n_iter": self.n_iter(share), "random_state": self.seed}))
        with warnings.catch_warnings():
            # The user did not ask for this shortened fit, and cannot do anything about its missing convergence.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(*self._at(rows))

    def _at(self, rows: NDArray) -> tuple[Any, Any]:
        return _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)

    def fitted_score(
        self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]
    ) -> float | NDArray:
        train, test = self.rows[fold]
        model, (X, y) = self._fitted(parameters, share, train), self._at(test)
        while isinstance(model, Pipeline):  # which has no ranking function
            model, X = model.steps[-1][1], model[:-1].transform(X)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the score is that of")  # all folds together have more labels
            return self.scorer(model, X, y)


def _inside(model: Any, name: str) -> tuple[str, Any] | None:
    """Return the name and the estimator inside a pipeline or a meta-estimator; None if there is none."""
    if isinstance(model, Pipeline):
        return model.steps[-1]
    return (name, getattr(model, name)) if hasattr(model, name) else None

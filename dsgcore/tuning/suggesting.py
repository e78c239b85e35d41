"""Suggested parameters of an estimator: its search space around its own values, and its fits on folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
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
from dsgcore.tuning.folds import LabeledFolds, PairFolds, SimilarUnlabeledRisk, auc_score, encoded, hits, mean_auc_score
from dsgcore.tuning.search import N_SPLITS, Search, Subject, Suggestion

# The parameters that matter to each kind of estimator, and how candidates are drawn around its own values.
_OF_RANKING: dict[str, Times | Among] = {
    "sigma": Times(16.0),
    "lam": Times(100.0),
    "gamma": TRUST,
    "n_features": Among((64, 128)),
}
SPACES: dict[str, Mapping[str, Times | Among]] = {
    "QSGS2AUC": _OF_RANKING,
    "QS3ORAO": _OF_RANKING,
    "TSGS3VM": {
        "sigma": Times(16.0),
        "C": Times(30.0),
        "C_star": Among((None, None, 1e-3, 0.1)),
        "n_features": Among((64, 128)),
    },
    "PS3VT": {
        "feature_map": Among(("linear", "fourier")),
        "sigma": Times(8.0),
        "lam": Times(100.0),
        "n_features": Among((512,)),
    },
    "TSGSU": {"sigma": Times(16.0), "lam": Times(100.0), "n_features": Among((64, 128))},
}
_FREE = Real("multiple", 1.0)


def _space_of(estimator: Any) -> dict[str, Times | Among]:
    """Return the search space of an estimator.

    A Matérn kernel has a length, where sigma is one over a squared length. An S3VM with a weight of the labels' mean loss
    takes no weight of each point.
    """
    name = next((kind.__name__ for kind in type(estimator).__mro__ if kind.__name__ in SPACES), None)
    if name is None:
        raise ParameterError(f"estimator must be one of {', '.join(SPACES)}, got {type(estimator).__name__}")
    space = dict(SPACES[name])
    if getattr(estimator, "kernel", None) == "matern":
        del space["sigma"]
        space = {"length": Times(4.0), **space}
    if getattr(estimator, "labeled_weight", None) is not None:
        del space["C"], space["C_star"]
        space = {"labeled_weight": Times(30.0), **space}
    return space


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
    fits = _Fits(estimator, X, y)
    return Search(fits.seed).go_on(fits, seconds)


class _Fits(Subject):
    """Candidates for an estimator's parameters."""

    def __init__(self, estimator: Any, X: ArrayLike, y: ArrayLike) -> None:
        self.prefix, self.tuned = "", estimator  # of the names, and the estimator, inside pipelines and meta-estimators
        while (inside := _inside(self.tuned, "estimator")) is not None:
            self.prefix, self.tuned = f"{self.prefix}{inside[0]}__", inside[1]
        self.space = _space_of(self.tuned)
        self.estimator, self.X, self.y = estimator, X, y
        self.seed, self.holds_pairs = seed_of(self.tuned.random_state), getattr(self.tuned, "y_holds", "") == "pairs"
        folds = (PairFolds if self.holds_pairs else LabeledFolds)(N_SPLITS, random_state=self.seed)
        codes = encoded(y)[1] if self.tuned.is_ranking else None  # of one class no ranking has a score
        super().__init__(
            (train, test)
            for train, test in folds.split(X, y)
            if codes is None or len(np.unique(codes[test][codes[test] != UNLABELED])) > 1
        )
        if "feature_map" in self.space:
            self.first = (self._named({"feature_map": "fourier", "n_features": 512}),)
        of_fit = getattr(self.tuned, "most_iterations", None)  # which encodes all labels
        self.most = self.tuned.n_iter if of_fit is None else of_fit(y)

    def _named(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tuned estimator's parameters by their names in the whole."""
        return {self.prefix + name: value for name, value in parameters.items()}

    def begin(self, share: float) -> None:
        tuned = self._fitted({}, share, self.rows[0][0])
        while (inside := _inside(tuned, "estimator_")) is not None:
            tuned = inside[1]
        _space_of(tuned)  # refuses a search, whose estimator is not trained by the name `estimator_`
        # The numbers that 'auto' and 'scale' stand for are in the fitted kernel or problem.
        inner = tuned.problem_ if hasattr(tuned, "problem_") else tuned.model_.kernel
        names = [name for name, how in self.space.items() if isinstance(how, Times)]
        self.own = {
            name: float(getattr(inner, name, getattr(tuned, f"{name}_", getattr(tuned, name)))) for name in names
        }
        self.scorer: Callable[[Any, Any, Any], float | NDArray] = hits
        if tuned.is_ranking:
            self.scorer = mean_auc_score if hasattr(tuned, "ranking_function") else auc_score
        elif self.holds_pairs:
            self.scorer = SimilarUnlabeledRisk(tuned.prior_)

    def draw(self, drawn: np.random.Generator) -> dict[str, Any]:
        return self._named({name: how.draw(drawn, self.own.get(name), _FREE) for name, how in self.space.items()})

    def n_iter(self, share: float) -> int:
        return max(10, round(share * self.most))

    def _fitted(self, parameters: Mapping[str, Any], share: float, rows: NDArray) -> Any:
        model = clone(self.estimator).set_params(**parameters)
        model.set_params(**self._named({"n_iter": self.n_iter(share), "random_state": self.seed}))
        with warnings.catch_warnings():
            # The user did not ask for this shortened fit, and cannot do anything about its missing convergence.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(_safe_indexing(self.X, rows), _safe_indexing(self.y, rows))

    def fitted_score(
        self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]
    ) -> float | NDArray:
        train, test = self.rows[fold]
        model, X = self._fitted(parameters, share, train), _safe_indexing(self.X, test)
        while isinstance(model, Pipeline):  # which has no ranking function
            model, X = model.steps[-1][1], model[:-1].transform(X)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the score is that of")  # all folds together have more labels
            return self.scorer(model, X, _safe_indexing(self.y, test))


def _inside(model: Any, name: str) -> tuple[str, Any] | None:
    """Return the name and the estimator inside a pipeline or a meta-estimator; None if there is none."""
    if isinstance(model, Pipeline):
        return model.steps[-1]
    return (name, getattr(model, name)) if hasattr(model, name) else None

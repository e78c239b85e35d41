"""Parameters within a stated time: drawn about the defaults, scored as the papers do, and halved until few are left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from dsgcore.core.parameters import ParameterError
from dsgcore.estimators.inputs import seed_of
from dsgcore.model_selection.folds import LabeledFolds, PairFolds
from dsgcore.model_selection.halving import N_SPLITS, NO_SCORE, SECONDS, Search, Suggestion
from dsgcore.model_selection.scorers import SimilarUnlabeledRisk, auc_score, hits, mean_auc_score


@dataclass(frozen=True)
class Times:
    """A parameter that is drawn as a multiple, up to `most` times larger or smaller, of what the default comes to."""

    most: float
    of: Callable[[Any], float]  # from an estimator that was fitted with the defaults


@dataclass(frozen=True)
class Among:
    """A parameter that is drawn among a few values."""

    values: tuple[Any, ...]


def _fitted(name: str) -> Callable[[Any], float]:
    return lambda model: float(getattr(model, name))


def _of_kernel(model: Any) -> float:
    return float(model.model_.kernel.sigma)


_WIDTH = Times(16.0, _of_kernel)
_RIDGE = Times(100.0, _fitted("lam_"))
_TRUST = Among((0.2, 0.4, 0.6, 0.8, 0.9, 1.0))


@dataclass(frozen=True)
class _Way:
    """How parameters of one kind of estimator are chosen: those that matter, folds, the score, and what is tried first."""

    space: Mapping[str, Times | Among]
    score: Callable[[Any], Callable[[Any, ArrayLike, ArrayLike], float | NDArray]]
    folds: type[Any] = LabeledFolds
    first: tuple[Mapping[str, Any], ...] = ()


WAYS: dict[str, _Way] = {
    "QSGS2AUC": _Way(
        {"sigma": _WIDTH, "lam": _RIDGE, "gamma": _TRUST, "n_features": Among((64, 128))}, lambda m: auc_score
    ),
    "QS3ORAO": _Way(
        {"sigma": _WIDTH, "lam": _RIDGE, "gamma": _TRUST, "n_features": Among((64, 128))}, lambda m: mean_auc_score
    ),
    "TSGS3VM": _Way(
        {
            "sigma": _WIDTH,
            "C": Times(30.0, _fitted("C")),
            "C_star": Among((None, None, 1e-3, 0.1)),
            "n_features": Among((64, 128)),
        },
        lambda m: hits,
    ),
    "PS3VT": _Way(
        {
            "features": Among(("linear", "fourier")),
            "sigma": Times(8.0, lambda m: 1.0),
            "tau_A": Times(100.0, lambda m: float(m.problem_.tau_A)),
            "n_features": Among((512,)),
        },
        lambda m: hits,
        first=({"features": "fourier", "n_features": 512},),
    ),
    "TSGSU": _Way(
        {"sigma": _WIDTH, "lam": _RIDGE, "n_features": Among((64, 128))},
        lambda m: SimilarUnlabeledRisk(float(m.prior_)),
        PairFolds,
    ),
}


def suggest(estimator: Any, X: ArrayLike, y: ArrayLike, *, seconds: float = 20.0) -> Suggestion:
    """Choose the few parameters that matter for these data, within a stated time.

    Candidates are drawn about the estimator's own values and scored on held-out folds as the method's paper does. Each round
    keeps the best third and gives them more folds and iterations. One is preferred to the estimator's own values only where
    the 95 % interval of its gain is above zero: of an accuracy, paired over the points held out; of another score, over the
    folds. What is drawn follows from `random_state`; how many are drawn, from how long a fit takes.

    Parameters
    ----------
    estimator : QSGS2AUC, TSGS3VM, QS3ORAO, PS3VT or TSGSU
    X : array-like of shape (n, d)
        Points.
    y : array-like of shape (n,)
        As in `fit` of the estimator, -1 for unlabeled points.
    seconds : float, default=20
        About what it may take; a fit that has begun is finished.

    Returns
    -------
    Suggestion

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
    >>> model = QSGS2AUC(random_state=0, n_iter=100)
    >>> found = suggest(model, X, np.where(np.arange(300) < 60, y, -1), seconds=2)
    >>> model = model.set_params(**found.parameters)
    """
    allowed = float(SECONDS.check(seconds) or 0.0)
    fits = _Fits(estimator, X, y)
    return Search(fits, allowed, fits.seed).carry_out()


class _Fits:
    """An estimator whose parameters are chosen: fits and scores on folds."""

    def __init__(self, estimator: Any, X: ArrayLike, y: ArrayLike) -> None:
        self.way = _way_of(estimator)
        self.estimator, self.X, self.y = estimator, X, y
        self.seed = seed_of(estimator.random_state)
        self.splits = list(self.way.folds(N_SPLITS, random_state=self.seed).split(X, y))
        self.n_folds, self.first = len(self.splits), self.way.first

    def begin(self, share: float) -> None:
        train, _ = self.splits[0]
        self.model = self._made({}, share).fit(*self._rows(train))
        self.scorer = self.way.score(self.model)

    def draw(self, drawn: np.random.Generator) -> dict[str, Any]:
        return _draw(self.way.space, self.model, drawn)

    def n_iter(self, share: float) -> int:
        return max(10, round(share * self.estimator.n_iter))

    def _made(self, parameters: Mapping[str, Any], share: float) -> Any:
        model = clone(self.estimator).set_params(**parameters)
        return model.set_params(n_iter=self.n_iter(share), random_state=self.seed)

    def _rows(self, rows: NDArray) -> tuple[Any, Any]:
        return _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)

    def score(self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]) -> NDArray:
        if until():
            return NO_SCORE
        train, test = self.splits[fold]
        try:
            value = self.scorer(self._made(parameters, share).fit(*self._rows(train)), *self._rows(test))
        except ValueError:  # it diverges, or the folds have too few points for these values
            return NO_SCORE
        return np.atleast_1d(value) if np.isfinite(value).all() else NO_SCORE


def _way_of(estimator: Any) -> _Way:
    for kind in type(estimator).__mro__:
        if kind.__name__ in WAYS:
            return WAYS[kind.__name__]
    raise ParameterError(f"estimator must be one of {', '.join(WAYS)}, got {type(estimator).__name__}")


def _draw(space: Mapping[str, Times | Among], model: Any, drawn: np.random.Generator) -> dict[str, Any]:
    """Draw one candidate; half of the multiples stay near what they are multiples of."""
    values: dict[str, Any] = {}
    for name, said in space.items():
        if isinstance(said, Among):
            values[name] = said.values[int(drawn.integers(len(said.values)))]
        else:
            reach = np.log(said.most) * (0.4 if drawn.random() < 0.5 else 1.0)
            values[name] = float(f"{said.of(model) * np.exp(drawn.uniform(-reach, reach)):.3g}")
    return values

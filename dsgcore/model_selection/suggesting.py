"""Parameters within a stated time: drawn about the defaults, scored as the papers do, and halved until few are left."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from dsgcore.core.parameters import ParameterError, Real
from dsgcore.core.sampling import generator
from dsgcore.estimators.inputs import seed_of
from dsgcore.model_selection.folds import LabeledFolds, PairFolds
from dsgcore.model_selection.scorers import SimilarUnlabeledRisk, accuracy, auc_score, mean_auc_score

SECONDS = Real("seconds", 20.0, low=0.1, high=86_400.0)
N_SPLITS = 5
# Of the iterations, and of the folds, what a round gives each candidate; the last round gives all.
ROUNDS = ((0.125, 2), (0.25, 3), (0.5, 5), (1.0, 5))
# The part of the time that the first round may take, and of the candidates what the next one keeps.
FIRST_SHARE, KEPT = 0.2, 1 / 3
FEWEST, MOST = 6, 81
# A candidate is preferred to the defaults where its mean gain over the folds exceeds so many standard errors.
CLEAR = 2.0
Draw = Callable[[np.random.Generator], Any]


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
    """How parameters of one kind of estimator are chosen: those that matter, folds, and the score."""

    space: Mapping[str, Times | Among]
    score: Callable[[Any], Callable[[Any, ArrayLike, ArrayLike], float]]
    folds: type[Any] = LabeledFolds


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
        lambda m: accuracy,
    ),
    "PS3VT": _Way(
        {
            "features": Among(("linear", "fourier")),
            "sigma": Times(8.0, lambda m: 1.0),
            "tau_A": Times(100.0, lambda m: float(m.problem_.tau_A)),
            "n_features": Among((512,)),
        },
        lambda m: accuracy,
    ),
    "TSGSU": _Way(
        {"sigma": _WIDTH, "lam": _RIDGE, "n_features": Among((64, 128))},
        lambda m: SimilarUnlabeledRisk(float(m.prior_)),
        PairFolds,
    ),
}


@dataclass(frozen=True)
class Tried:
    """A candidate: its parameters (none: the defaults), its scores at the folds of its last round, and its iterations there."""

    parameters: Mapping[str, Any]
    scores: tuple[float, ...]
    n_iter: int

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores)) if self.scores else float("-inf")


@dataclass(frozen=True)
class Suggestion:
    """What `suggest` found.

    Attributes
    ----------
    parameters : dict
        To be set on the estimator; empty where nothing was clearly better than its own.
    gain, error : float
        By how much its mean score over the folds is higher than with the estimator's own parameters, and the standard error
        of that, paired over the folds. NaN where nothing else got that far.
    score : float
        The mean score over the folds.
    tried : tuple of Tried
        All candidates, those that got furthest first.
    seconds : float
        What it took.
    """

    parameters: dict[str, Any]
    gain: float
    error: float
    score: float
    tried: tuple[Tried, ...] = field(repr=False)
    seconds: float

    def sentence(self) -> str:
        """Say what was found, and how sure it is."""
        n = len(self.tried)
        if not self.parameters:
            return f"Of {n} tried, none was clearly better than the values it had; they stay."
        return (
            f"The best of {n} tried scores {self.score:.4f} on held-out folds, {self.gain:+.4f} ± {self.error:.4f} from the values "
            "it had (standard error over five folds; being the best of many flatters it)."
        )


def suggest(estimator: Any, X: ArrayLike, y: ArrayLike, *, seconds: float = 20.0) -> Suggestion:
    """Choose the few parameters that matter for these data, within a stated time.

    Candidates are drawn about the estimator's own values and scored on held-out folds as the method's paper does. Each round
    keeps the best third and gives them more folds and iterations. One is preferred to the estimator's own values only where it
    is better by more than two standard errors over the folds. What is drawn follows from `random_state`; how many are drawn, from
    how long a fit takes.

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
    return _Search(estimator, X, y, float(SECONDS.check(seconds) or 0.0)).carry_out()


class _Search:
    """One search: the candidates, what each scored, and the time."""

    def __init__(self, estimator: Any, X: ArrayLike, y: ArrayLike, seconds: float) -> None:
        self.start, self.seconds = time.monotonic(), seconds
        self.way = _way_of(estimator)
        self.estimator, self.X, self.y = estimator, X, y
        self.seed = seed_of(estimator.random_state)
        self.splits = list(self.way.folds(N_SPLITS, random_state=self.seed).split(X, y))
        self.tried: dict[int, Tried] = {}

    @property
    def is_over(self) -> bool:
        return time.monotonic() - self.start >= self.seconds

    def carry_out(self) -> Suggestion:
        candidates = self._candidates()
        finished: dict[int, Tried] = {}
        for number, (share, n_folds) in enumerate(ROUNDS):
            made = [i for i in candidates if self._score(i, candidates[i], share, n_folds, must=number == 0 and i == 0)]
            if len(made) < len(candidates):
                break  # the time is over: those of this round cannot be compared with those that are missing
            finished = {i: self.tried[i] for i in made}
            candidates = self._kept(candidates)
        return self._answer(finished)

    def _candidates(self) -> dict[int, dict[str, Any]]:
        """Return the candidates by number, the estimator's own values first; as many as the time allows."""
        share, n_folds = ROUNDS[0]
        began = time.monotonic()
        train, _ = self.splits[0]
        model = self._made({}, share).fit(*self._rows(train))
        each = max(time.monotonic() - began, 1e-3) * n_folds
        self.score = self.way.score(model)
        number = int(np.clip(FIRST_SHARE * self.seconds / each, FEWEST, MOST))
        drawn = generator(self.seed, "suggested parameters")
        return {0: {}} | {i: _draw(self.way.space, model, drawn) for i in range(1, number)}

    def _made(self, parameters: Mapping[str, Any], share: float) -> Any:
        model = clone(self.estimator).set_params(**parameters)
        return model.set_params(n_iter=max(10, round(share * model.n_iter)), random_state=self.seed)

    def _rows(self, rows: NDArray) -> tuple[Any, Any]:
        return _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)

    def _score(self, number: int, parameters: Mapping[str, Any], share: float, n_folds: int, *, must: bool) -> bool:
        """Score a candidate on the round's folds; return whether there was time for it."""
        scores: list[float] = []
        for train, test in self.splits[:n_folds]:
            if self.is_over and not must:
                return False
            scores.append(self._one(self._made(parameters, share), train, test))
        self.tried[number] = Tried(dict(parameters), tuple(scores), self._made(parameters, share).n_iter)
        return True

    def _one(self, model: Any, train: NDArray, test: NDArray) -> float:
        try:
            value = self.score(model.fit(*self._rows(train)), *self._rows(test))
        except ValueError:  # it diverges, or the folds have too few points for these values
            return float("-inf")
        return value if np.isfinite(value) else float("-inf")

    def _kept(self, candidates: Mapping[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
        """Return the best third of the candidates, and always the estimator's own values."""
        order = sorted(candidates, key=lambda i: (-self.tried[i].mean, i))
        return {i: candidates[i] for i in sorted({0, *order[: max(2, round(KEPT * len(order)))]})}

    def _answer(self, finished: Mapping[int, Tried]) -> Suggestion:
        own = finished.get(0, self.tried[0])
        best = max((finished[i] for i in finished if i), key=lambda one: one.mean, default=None)
        gain = error = float("nan")
        if best is not None and np.isfinite(best.mean) and np.isfinite(own.mean):
            gains = np.array(best.scores) - np.array(own.scores)
            gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains)))
        chosen = best if best is not None and gain > max(CLEAR * error, 0.0) else own
        order = sorted(self.tried.values(), key=lambda one: (-one.n_iter, -one.mean))
        spent = time.monotonic() - self.start
        return Suggestion(dict(chosen.parameters), gain, error, chosen.mean, tuple(order), spent)


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

"""Search for parameters within a given time: rounds over candidates, of which each leaves the best for the next."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import Difference, Effect, accuracy_half_width, paired_difference
from dsgcore.core.parameters import ParameterError, Real
from dsgcore.core.sampling import generator
from dsgcore.estimators.inputs import seed_of
from dsgcore.settings.profile import TRUST, Among, Times
from dsgcore.solver.problem import UNLABELED
from dsgcore.tuning.folds import TOO_FEW, FoldError, LabeledFolds, PairFolds, encoded
from dsgcore.tuning.scorers import SimilarUnlabeledRisk, auc_score, hits, mean_auc_score

SECONDS = Real("seconds", 20.0, low=0.1, high=86_400.0)
N_SPLITS = 5
# Share of the iterations, and number of folds, for each candidate in a round. The last round uses all.
ROUNDS = ((0.125, 2), (0.25, 3), (0.5, 5), (1.0, 5))
# Largest share of the time for the first round, and share of the candidates that the next round keeps.
FIRST_SHARE, KEPT = 0.2, 1 / 3
FEWEST, MOST = 2, 81
# Score of a candidate whose fit fails.
NO_SCORE: NDArray = np.array([-np.inf])
Candidate, Stage = TypeVar("Candidate"), TypeVar("Stage")


def rounds(
    candidates: Iterable[Candidate],
    stages: Iterable[Stage],
    measure: Callable[[list[Candidate], Stage], bool],
    keep: Callable[[list[Candidate], Stage], list[Candidate]],
) -> None:
    """Measure candidates in rounds, each time only those that are worth it; end if a round is not finished.

    Suggestions, best-first studies and comparisons of methods are such rounds.

    Parameters
    ----------
    candidates : iterable
    stages : iterable
        How much of each candidate a round measures, such as a number of seeds.
    measure : callable
        Measures the candidates of a stage; returns False if there was no time for all.
    keep : callable
        Returns the candidates that are worth the next stage.
    """
    left = list(candidates)
    for number, stage in enumerate(stages):
        left = keep(left, stage) if number else left
        if not measure(left, stage):
            return


def best_part(order: list[Candidate]) -> list[Candidate]:
    """Return the candidates for the next round: the first third of a sorted list, at least two."""
    return order[: max(2, round(KEPT * len(order)))]


class Subject:
    """Base class of what a search tunes on folds: an estimator, or a spec. A subclass draws and scores its candidates.

    `rows` are the training and test rows of each fold. `first` holds candidates that are tried before any random draw.
    `reason` tells why the last candidate without a score has none; it is empty if every one has a score.
    """

    first: tuple[Mapping[str, Any], ...] = ()
    reason = ""

    def __init__(self, rows: Iterable[tuple[NDArray, NDArray]]) -> None:
        self.rows = list(rows)
        self.n_folds = len(self.rows)
        if self.n_folds < 2:
            raise FoldError(TOO_FEW)

    def begin(self, share: float) -> None:
        """Prepare the search: fit once with the subject's own values and this share of the iterations."""

    def draw(self, drawn: np.random.Generator) -> dict[str, Any]:
        """Return a random candidate: a dict from parameter names to values."""
        raise NotImplementedError

    def n_iter(self, share: float) -> int:
        """Return the number of iterations for a share of them."""
        raise NotImplementedError

    def fitted_score(
        self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]
    ) -> float | NDArray | None:
        """Fit a candidate, and return its score on a fold; None if the time is up.

        An accuracy is one truth value for each held-out point. Any other score is a single number.
        """
        raise NotImplementedError

    def score(self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]) -> NDArray:
        """Return a candidate's score on a fold, or minus infinity if its fit fails; higher is better."""
        try:
            value = None if until() else self.fitted_score(parameters, share, fold, until)
        except DSGError as error:  # the fit diverges, or a value is not valid for these points
            self.reason = str(error)
            return NO_SCORE
        if value is not None and np.isfinite(value).all():
            return np.atleast_1d(value)
        self.reason = "" if value is None else "its score is not a finite number"
        return NO_SCORE


@dataclass(frozen=True, eq=False)
class Tried:
    """Candidate with its scores.

    Attributes
    ----------
    parameters : mapping
        Parameters that differ from the subject's own values. Empty for those values.
    on_folds : tuple of ndarray
        Scores on the folds of its last round, as `Subject.score` returns them.
    n_iter : int
        Number of iterations in that round.
    """

    parameters: Mapping[str, Any]
    on_folds: tuple[NDArray, ...] = field(repr=False)
    n_iter: int

    @property
    def scores(self) -> tuple[float, ...]:
        """The score on each of the folds."""
        return tuple(float(np.mean(of_fold)) for of_fold in self.on_folds)

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores)) if self.on_folds else float("-inf")

    def gain_over(self, own: Tried) -> Difference:
        """Return the gain over another candidate, over held-out points or folds; NaN if either has no score."""
        if not (math.isfinite(self.mean) and math.isfinite(own.mean)):
            return Difference(n=len(own.on_folds), unit="folds")
        over_folds = paired_difference(self.scores, own.scores, unit="folds")
        if all(of_fold.dtype == bool for of_fold in (*self.on_folds, *own.on_folds)):
            won, others = np.concatenate(self.on_folds), np.concatenate(own.on_folds)
            if math.isfinite(half_width := accuracy_half_width(won, others)):
                return Difference.around(over_folds.mean, half_width, len(won), "held-out points")
        return over_folds


@dataclass(frozen=True)
class Suggestion:
    """Result of `suggest`.

    Attributes
    ----------
    parameters : dict
        Parameters to set on the estimator. Empty if no candidate was clearly better, with the gain's `interval` above
        zero.
    gain : Difference
        Gain in the mean score over the folds, compared with the estimator's own parameters. Its interval is over
        held-out points for an accuracy if there are enough of them, otherwise over folds. NaN if no other candidate
        reached the same round.
    score : float
        The mean score over the folds.
    tried : tuple of Tried
        All candidates, beginning with those that reached the last round.
    seconds : float
        Duration of the search, in seconds.
    reason : str
        Reason why the estimator's own values have no score, if they have none.
    gains : tuple of Difference
        For each candidate of `tried`, its gain over the own values in its last round.
    search : Search
        State from which `go_on` continues.
    best_estimator_ : estimator
        A new estimator with the suggested parameters, fitted to all points when you first ask for it.
    """

    parameters: dict[str, Any]
    gain: Difference
    score: float
    tried: tuple[Tried, ...] = field(repr=False)
    seconds: float
    reason: str = ""
    gains: tuple[Difference, ...] = field(default=(), repr=False)
    search: Any = field(default=None, repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """All candidates in the order of `tried`, one row each, with their parameters.

        `gain` is the difference to the own values, on the same folds and with the same iterations, and `low` to `high`
        its 95 % interval. An empty parameter is the own value. Set any row's parameters to use it anyway.
        """
        measured = [
            {"score": one.mean, "gain": own.mean, "low": own.low, "high": own.high, "n": own.n, "unit": own.unit}
            for one, own in zip(self.tried, self.gains, strict=True)
        ]
        rows = [row | {"n_iter": one.n_iter, **one.parameters} for row, one in zip(measured, self.tried, strict=True)]
        return pd.DataFrame(rows)

    def sentence(self) -> str:
        """Return a sentence with the result and its uncertainty."""
        n = len(self.tried)
        if self.reason:
            better = " Other values have a score." if self.parameters else ""
            return f"The current values have no score on the held-out folds: {self.reason}.{better}"
        if not self.parameters:
            return f"None of {n} candidates was clearly better than the current values, which stay."
        gain = self.gain
        return (
            f"The best of {n} candidates scores {self.score:.4f} on held-out folds: {gain.mean:+.4f} ± {gain.half_width:.4f} "
            f"from the current values (95 % over {gain.n} {gain.unit}; the best of many looks better than it is)."
        )

    @cached_property
    def best_estimator_(self) -> Any:
        """The estimator with the suggested parameters, fitted to all points."""
        fits = self.search.subject
        return clone(fits.estimator).set_params(**self.parameters).fit(fits.X, fits.y)

    def go_on(self, seconds: float = 60.0) -> Suggestion:
        """Search on for about so many seconds, from where the search was; return the new result.

        The candidates of the last round stay, and new ones are drawn.
        """
        found: Suggestion = self.search.go_on(float(SECONDS.check(seconds) or 0.0))
        return found


class Search:
    """State of one search: the candidates, the subject's own values first, their scores, and the time.

    The search takes about `seconds`. The random draws depend on the seed. `report` is called with the share of the
    time that has passed, and a description of the current round.
    """

    def __init__(
        self,
        subject: Subject,
        seconds: float,
        seed: int,
        report: Callable[[tuple[float, str]], object] = lambda progress: None,
    ) -> None:
        self.start, self.seconds = time.monotonic(), seconds
        self.subject, self.seed, self.report, self.reason = subject, seed, report, ""
        self.candidates: list[dict[str, Any]] = [{}, *map(dict, subject.first)]
        self.tried: dict[int, Tried] = {}
        self._finished: dict[int, Tried] = {}  # in the last round in which the own values have a rival
        self._drawn = generator(seed, "suggested parameters")
        self._known: dict[tuple[int, float, int], NDArray] = {}
        self._own: dict[tuple[int, int], Tried] = {}
        self._seconds_each = 1e-3

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the subject and `report`, for another process. `resumed` needs them again."""
        return vars(self) | {"subject": None, "report": None}

    def resumed(self, subject: Subject, report: Callable[[tuple[float, str]], object]) -> Search:
        """Return the search with its subject, after it has come from another process."""
        self.subject, self.report = subject, report
        return self

    @property
    def is_over(self) -> bool:
        """True if the time is up."""
        return time.monotonic() - self.start >= self.seconds

    def carry_out(self) -> Suggestion:
        """Draw as many candidates as the time allows, score and halve them; return the suggestion."""
        self.subject.begin(ROUNDS[0][0])
        began = time.monotonic()
        self._score(0, ROUNDS[0], must=True)
        self.reason = "" if math.isfinite(self.tried[0].mean) else self.subject.reason
        for i in range(1, len(self.candidates)):
            self._score(i, ROUNDS[0])
        self._seconds_each = max((time.monotonic() - began) / len(self.candidates), 1e-3)
        number = self._number()
        self.candidates = self.candidates[:number]
        self._draw(number - len(self.candidates))
        self._finished = {0: self.tried[0]}
        return self._halve(range(number))

    def go_on(self, seconds: float) -> Suggestion:
        """Search on for about so many seconds, with the last round's candidates and new ones; return the suggestion."""
        self.start, self.seconds = time.monotonic(), seconds
        first = len(self.candidates)
        self._draw(self._number())
        return self._halve([*self._finished, *range(first, len(self.candidates))])

    def _number(self) -> int:
        """Return the number of candidates that the time allows."""
        return int(np.clip(FIRST_SHARE * self.seconds / self._seconds_each, FEWEST, MOST))

    def _draw(self, n: int) -> None:
        self.candidates += [self.subject.draw(self._drawn) for _ in range(n)]

    def _halve(self, numbers: Iterable[int]) -> Suggestion:
        rounds(numbers, ROUNDS, self._measure, self._kept)
        return self._answer()

    def _measure(self, numbers: list[int], stage: tuple[float, int]) -> bool:
        """Score the candidates of a round, the own values and the best so far first; return True if there was time."""

        def is_scored(i: int) -> bool:
            spent = min(1.0, (time.monotonic() - self.start) / self.seconds)
            said = f"round {ROUNDS.index(stage) + 1} of {len(ROUNDS)}, {len(numbers)} candidates"
            self.report((spent, said))
            return self._score(i, stage)

        made = list(takewhile(is_scored, numbers))
        if len(made) > 1:
            self._finished = {i: self.tried[i] for i in made}
        return len(made) == len(numbers)

    def _score(self, i: int, stage: tuple[float, int], *, must: bool = False) -> bool:
        """Score a candidate on the round's folds; return True if there was enough time. A known score takes none."""
        share, folds = stage[0], range(min(stage[1], self.subject.n_folds))
        for fold in folds:
            if (i, share, fold) in self._known:
                continue
            score = self.subject.score(self.candidates[i], share, fold, lambda: self.is_over and not must)
            if self.is_over and not must:
                return False
            self._known[i, share, fold] = score
        on_folds = tuple(self._known[i, share, fold] for fold in folds)
        made = self.tried[i] = Tried(dict(self.candidates[i]), on_folds, self.subject.n_iter(share))
        if i == 0:
            self._own[made.n_iter, len(on_folds)] = made
        return True

    def _kept(self, numbers: list[int], stage: tuple[float, int]) -> list[int]:
        """Return the own values, the predefined candidates, and the best third of all, best first."""
        best = best_part(sorted(numbers, key=lambda i: (-self.tried[i].mean, i)))
        return list(dict.fromkeys((*range(min(1 + len(self.subject.first), len(self.candidates))), *best)))

    def _answer(self) -> Suggestion:
        finished, own = self._finished, self._finished[0]
        gains = {i: finished[i].gain_over(own) for i in finished if i}
        # The best candidate that is clearly better. If there is none, report the best of the others.
        seen = [(gain.effect is Effect.HELPS, finished[i].mean, -i) for i, gain in gains.items()]
        is_clear, _, place = max(seen, default=(False, 0.0, 0))
        i = -place  # the first among equals
        chosen = finished[i] if is_clear else own
        order = tuple(sorted(self.tried.values(), key=lambda one: (-one.n_iter, -one.mean)))
        gain = gains.get(i, Difference(n=len(own.on_folds), unit="folds"))
        over_own = tuple(one.gain_over(self._own[one.n_iter, len(one.on_folds)]) for one in order)
        seconds = time.monotonic() - self.start
        return Suggestion(dict(chosen.parameters), gain, chosen.mean, order, seconds, self.reason, over_own, self)


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


_NUMBERS = Among((64, 128))  # of features
_OF_RANKING = {"sigma": Times(16.0), "lam": Times(100.0), "gamma": TRUST, "n_features": _NUMBERS}
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
            "features": Among(("linear", "fourier")),
            "sigma": Times(8.0),
            "lam": Times(100.0),
            "n_features": Among((512,)),
        },
        {"sigma": lambda m: 1.0, "lam": attrgetter("problem_.lam")},
        lambda m: hits,
        first=({"features": "fourier", "n_features": 512},),
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
    """Return the search space of an estimator. A Matérn kernel has a length, where sigma is one over a squared length."""
    name = next((kind.__name__ for kind in type(estimator).__mro__ if kind.__name__ in SPACES), None)
    if name is None:
        raise ParameterError(f"estimator must be one of {', '.join(SPACES)}, got {type(estimator).__name__}")
    if getattr(estimator, "kernel", None) != "matern":
        return SPACES[name]
    space, own = dict(SPACES[name].space), dict(SPACES[name].own)
    del space["sigma"], own["sigma"]
    space, own = {"length": Times(4.0)} | space, {"length": attrgetter("model_.kernel.length")} | own
    return replace(SPACES[name], space=space, own=own)


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
        self.prefix, self.tuned = _innermost(estimator)
        self.search = _space_of(self.tuned)
        self.estimator, self.X, self.y = estimator, X, y
        self.seed = seed_of(self.tuned.random_state)
        every = self.search.folds(N_SPLITS, random_state=self.seed).split(X, y)
        super().__init__((train, test) for train, test in every if self._is_measurable(test))
        self.first = tuple(self._named(one) for one in self.search.first)

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
        return max(10, round(share * self.tuned.n_iter))

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


def _innermost(estimator: Any) -> tuple[str, Any]:
    """Return the prefix of the tuned parameters' names, and the estimator inside pipelines and meta-estimators."""
    prefix = ""
    while (inside := _inside(estimator, "estimator")) is not None:
        prefix, estimator = f"{prefix}{inside[0]}__", inside[1]
    return prefix, estimator


def _inside(model: Any, name: str) -> tuple[str, Any] | None:
    """Return the name and the estimator inside a pipeline or a meta-estimator; None if there is none."""
    if isinstance(model, Pipeline):
        return model.steps[-1]
    return (name, getattr(model, name)) if hasattr(model, name) else None

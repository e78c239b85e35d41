"""Execution of a comparison: rounds of seeds in background jobs, within a given time."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dsgcore.comparing.fits import FitRequest
from dsgcore.comparing.kept import KeptFits
from dsgcore.comparing.methods import METHODS, chosen_methods, chosen_score
from dsgcore.comparing.result import Comparison
from dsgcore.comparing.samples import Sample
from dsgcore.comparing.workers import TOO_SLOW, Workers, workers_for
from dsgcore.core.parameters import Integer, Real
from dsgcore.jobs import JobQueue
from dsgcore.studies.store import Store, default_store

SEEDS = Integer("seeds", None, low=1, high=1000, optional=True)
SECONDS = Real("seconds", 120.0, low=1.0, high=86_400.0)
JOBS = Integer("jobs", None, low=1, high=256, optional=True)
MEMORY = Integer("memory_limit", 3 * 10**9, low=10**7, high=10**13)
# The first rounds end after so many seeds, the later ones after so many more.
FIRST_ROUNDS, SEEDS_OF_A_ROUND = (1, 3, 6, 10), 10
# By default the methods get so many seeds. Those that may be the best get so many more in each round, up to the last number.
USUAL_SEEDS, SEEDS_OF_A_RACE, MOST_SEEDS = 10, 5, 50
# Share of the time for the ranked table; the rest is for the learning curves.
SHARE_OF_TABLE = 0.65
# Seeds of a learning curve, and number of methods with one.
SEEDS_OF_CURVES, CURVES = 5, 4
# Every verdict compares with these.
SIMPLEST = ("LogisticRegression", "SVC", "SVR", "OrdinalSVC")
Tell = Callable[[Comparison], object]


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_labeled: int | None = None,
    seeds: int | None = None,
    seconds: float | None = 120.0,
    score: str | None = None,
    methods: Sequence[str] | None = None,
    ordered: bool = False,
    curves: bool = True,
    store: Store | str | os.PathLike[str] | None = "default",
    jobs: int | JobQueue | None = None,
    memory_limit: int = 3 * 10**9,
    name: str = "your data",
    tell: Tell = lambda comparison: None,
) -> Comparison:
    """Compare the methods of DSG Lab with scikit-learn's on your data, and say which one to use.

    For each seed, a quarter of the known labels is held out for testing. All methods get the same training points,
    labels and test points, with standardised features. The first round fits every method. Later rounds add seeds for
    the methods that are not clearly worse than the best. After ten seeds, the methods that may be more than 0.5 points
    (0.005 classes) better than the recommended one get more. The rest of the time goes to learning curves.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points: finite numbers. If there are more than 20,000 points, only 20,000 of them are used.
    y : array-like of shape (n,)
        Labels; -1 or missing for unlabeled points. With two classes the second one is positive.
    n_labeled : int, optional
        Number of labels to learn from; all others are hidden. By default all that are not held out.
    seeds : int, optional
        Number of repetitions. By default 10, and up to 50 for the methods between which the choice is not clear. With
        more seeds later, only the new ones are computed.
    seconds : float or None, default 120
        Approximate time limit. A method whose fit would take longer is left out. None: no limit.
    score : {"accuracy", "auc", "mean_auc", "mean_absolute_error"}, optional
        Score that ranks the methods. The default is the accuracy, for ordered classes the mean AUC.
    methods : sequence of str, optional
        Keys of `dsgcore.comparing.METHODS`. By default all that suit the labels.
    ordered : bool, default False
        True if the classes have an order: their sorted order, or that of pandas' ordered categories.
    curves : bool, default True
        True for learning curves of the best methods over the number of labels.
    store : Store, path or None, default "default"
        Store of finished fits. A repeated or interrupted comparison does not repeat them. None keeps nothing.
    jobs : int or JobQueue, optional
        Number of fits at a time, or a queue that others share. By default one for each core.
    memory_limit : int, default 3,000,000,000
        Bytes that a fit may take. A method that needs more has no score.
    name : str, default "your data"
        Name of the data in the report.
    tell : callable, optional
        Called with the comparison so far whenever a fit is done.

    Returns
    -------
    Comparison
        Has `table`, `verdict`, `curves`, `to_csv` and `to_dict`.

    Raises
    ------
    ComparisonError
        If the data cannot be compared on, for instance with too few labels.
    ParameterError
        If an option is out of range.

    Notes
    -----
    The intervals are Student's on the paired differences over the seeds. If the training sets take most of the known
    labels, the splits share labels, and the intervals are corrected (Nadeau and Bengio 2003).

    Every fit runs in a background process. Methods whose fits take long on many points come last in each round.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dsgcore.model_selection import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> methods = ["LogisticRegression", "SVC"]
    >>> found = compare(X, y, n_labeled=30, seeds=3, methods=methods, curves=False, store=None)
    >>> found.table["method"].tolist() == [found.table["method"][0], found.table["method"][1]]
    True
    >>> found.verdict.seeds
    3
    """
    n_seeds, limit = SEEDS.check(seeds), None if seconds is None else float(SECONDS.check(seconds) or 1.0)
    sample = Sample.of(X, y, n_labeled=n_labeled, is_ordered=ordered)
    chosen = chosen_methods(methods, sample.kind)
    plan = _Plan(sample, [m.name for m in chosen], chosen_score(score, sample.kind), n_seeds, limit, name)
    at_once = jobs if isinstance(jobs, JobQueue) else JOBS.check(jobs)
    memory = int(MEMORY.check(memory_limit) or 0)
    with workers_for(sample, KeptFits(sample, _opened(store)), at_once, memory) as workers:
        return _Rounds(plan, workers, tell).carry_out(curves=curves)


def _opened(store: Store | str | os.PathLike[str] | None) -> Store | None:
    if store is None or isinstance(store, Store):
        return store
    return Store(default_store() if store == "default" else store)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Plan of a comparison: its data, its methods, and its time limit."""

    sample: Sample
    methods: list[str]
    score: str
    n_seeds: int | None
    seconds: float | None
    name: str


class _Rounds:
    """State of a comparison: the fits so far, and the methods that get more seeds."""

    def __init__(self, plan: _Plan, workers: Workers, tell: Tell) -> None:
        self.plan, self.workers, self.tell = plan, workers, tell
        self.start = time.monotonic()
        self.asked: list[FitRequest] = []
        self.made: set[FitRequest] = set()  # in this call, not kept from an earlier one
        self.is_complete = True

    def carry_out(self, *, curves: bool) -> Comparison:
        """Make the rounds, and then the curves; return the result."""
        share = SHARE_OF_TABLE if curves else 1.0
        left, done, n_seeds = list(self.plan.methods), 0, self.plan.n_seeds or USUAL_SEEDS
        for upto in _rounds(n_seeds):
            left = self._left(left, done, upto, share)
            n = self.plan.sample.n_labeled
            self._make(
                [FitRequest(name, s, n) for s in range(done, upto) for name in left], share if done else share / 2
            )
            done = upto
        self._catch_up(n_seeds, share)
        if self.plan.n_seeds is None:
            self._race(share)
        if curves:
            self._curves()
        return self.result()

    def _race(self, share: float) -> None:
        """Add seeds for the methods that may be the best, until the choice is clear or the time is over."""
        for upto in range(USUAL_SEEDS + SEEDS_OF_A_RACE, MOST_SEEDS + 1, SEEDS_OF_A_RACE):
            so_far = self.result()
            verdict = so_far.verdict
            if verdict.recommended is None or not verdict.contenders:
                return
            names = dict.fromkeys([verdict.recommended, *verdict.contenders, *self._of_verdict(so_far)])
            missing = self._missing(names, upto)
            cost = sum(so_far.seconds_of(request.method) for request in missing) * self._slowness(so_far)
            if cost > self._seconds_left(share):
                self.is_complete = False
                return
            self._make(missing, share)

    def _missing(self, names: Iterable[str], upto: int) -> list[FitRequest]:
        """Return the fits of methods on the first seeds that this comparison has not asked for."""
        n, asked = self.plan.sample.n_labeled, set(self.asked)
        every = [FitRequest(name, seed, n) for seed in range(upto) for name in names]
        return [request for request in every if request not in asked]

    def _catch_up(self, n_seeds: int, share: float) -> None:
        """Give the methods that were left out for lack of time their missing seeds, if there is time after all."""
        so_far = self.result()
        waiting = [name for name in so_far.ranking if not is_worse(so_far, name)]
        if self._seconds_left(share) > 0.0:
            self._make(self._missing(waiting, n_seeds), share)

    def _left(self, methods: Sequence[str], done: int, upto: int, share: float) -> list[str]:
        """Return the methods that get more seeds, the fastest first.

        These are the methods that are not clearly worse than the best, and those of the verdict. If the time is short,
        the slowest of the others are left out.
        """
        so_far = self.result()
        if not done or so_far.best is None:
            return list(methods)
        kept = self._of_verdict(so_far)
        ranked = [n for n in so_far.ranking if n in methods and (n in kept or not is_worse(so_far, n))]
        cost = {name: (upto - done) * so_far.seconds_of(name) for name in ranked}
        left = self._seconds_left(share) / self._slowness(so_far)
        for name in sorted(set(ranked) - set(kept), key=lambda n: -cost[n]):
            if sum(cost.values()) > left:
                del cost[name]
        return sorted(cost, key=lambda n: cost[n])

    def _of_verdict(self, so_far: Comparison) -> list[str]:
        """Return the best method that uses unlabeled data, the best one that does not, and the simplest ones."""
        first = [next((n for n in so_far.ranking if METHODS[n].uses_unlabeled is used), "") for used in (True, False)]
        return [name for name in dict.fromkeys([*first, *SIMPLEST]) if name in so_far.ranking]

    def _seconds_left(self, share: float) -> float:
        limit = self.plan.seconds
        return math.inf if limit is None else max(0.0, self.start + share * limit - time.monotonic())

    def _slowness(self, so_far: Comparison) -> float:
        """Return the time that has passed for each computing second of a fit: other work may need the cores, too."""
        computed = sum(fit.seconds for fit in so_far.fits if fit.request in self.made and fit.scores)
        return so_far.seconds / computed if computed > 0.0 else 1.0 / self.workers.queue.n_at_a_time

    def _make(self, requests: Sequence[FitRequest], share: float) -> None:
        self.asked += requests
        for new in self.workers.make(requests, time.monotonic() + self._seconds_left(share)):
            self.made |= {fit.request for fit in new}
            if new:
                self.tell(self.result())
        done = [fit for fit in self.workers.kept.get(self.asked).values() if fit.note != TOO_SLOW]
        self.is_complete = self.is_complete and len(done) == len(self.asked)

    def _curves(self) -> None:
        """Fit the best methods with fewer and more labels."""
        so_far = self.result()
        names = list(dict.fromkeys([*self._of_verdict(so_far), *so_far.ranking]))[:CURVES]
        sizes = [n for n in self.plan.sample.curve() if n != self.plan.sample.n_labeled]
        seeds = range(min(SEEDS_OF_CURVES, self.plan.n_seeds or USUAL_SEEDS))
        self._make([FitRequest(name, seed, n) for seed in seeds for n in sizes for name in names], 1.0)

    def result(self) -> Comparison:
        """Return the comparison so far."""
        plan, sample = self.plan, self.plan.sample
        return Comparison(
            fits=tuple(self.workers.kept.get(self.asked).values()),
            methods=tuple(plan.methods),
            score_name=plan.score,
            n_labeled=sample.n_labeled,
            n_train=len(sample.y) - sample.n_test,
            n_test=sample.n_test,
            overlap=sample.overlap,
            seconds=time.monotonic() - self.start,
            is_complete=self.is_complete,
            name=plan.name,
        )


def _rounds(n_seeds: int) -> Iterator[int]:
    """Yield the numbers of seeds after each round."""
    first = [n for n in FIRST_ROUNDS if n < n_seeds]
    yield from first
    yield from range(FIRST_ROUNDS[-1] + SEEDS_OF_A_ROUND, n_seeds, SEEDS_OF_A_ROUND)
    yield n_seeds


def is_worse(so_far: Comparison, name: str) -> bool:
    """Return True if a method is clearly worse than the best one, or has no score."""
    gains = so_far.gains(name, str(so_far.best))
    return not len(gains) or bool(np.mean(gains) + so_far.half_width(gains) < 0.0)

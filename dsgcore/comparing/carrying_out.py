"""Execution of a comparison: rounds of seeds in background jobs, within a given time."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from dsgcore.comparing.fits import CUT_OFF, Fit, FitRequest
from dsgcore.comparing.kept import KeptFits
from dsgcore.comparing.methods import METHODS, chosen_methods, chosen_score
from dsgcore.comparing.result import Comparison
from dsgcore.comparing.samples import Sample
from dsgcore.comparing.workers import Workers, workers_for
from dsgcore.core.parameters import Integer, Real
from dsgcore.data.reading import Recipe
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
    recipe: Recipe | None = None,
) -> Comparison:
    """Compare the methods of DSG Lab with scikit-learn's on your data, and say which one to use.

    For each seed, a quarter of the known labels is held out for testing. All methods get the same training points,
    labels and test points, with features standardised by the training points. The first round fits every method. Later
    rounds add seeds for the methods that are not clearly worse than the best. After ten seeds, the methods that may be
    more than 0.5 points (0.005 classes) better than the recommended one get more. The rest of the time goes to learning
    curves.

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
    recipe : dsgcore.data.reading.Recipe, optional
        The use of each column, if X is a table: missing numbers, categories and text are prepared as the training points of
        each split say.

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
    start = time.monotonic()
    n_seeds, limit = SEEDS.check(seeds), None if seconds is None else float(SECONDS.check(seconds) or 1.0)
    sample = Sample.of(X, y, n_labeled=n_labeled, is_ordered=ordered, recipe=recipe)
    chosen = chosen_methods(methods, sample.kind)
    plan = _Plan(sample, [m.name for m in chosen], chosen_score(score, sample.kind), n_seeds, limit, name)
    at_once = jobs if isinstance(jobs, JobQueue) else JOBS.check(jobs)
    memory = int(MEMORY.check(memory_limit) or 0)
    with workers_for(sample, KeptFits(sample, _opened(store)), at_once, memory) as workers:
        return _Rounds(plan, workers, tell, start).carry_out(curves=curves)


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

    def __init__(self, plan: _Plan, workers: Workers, tell: Tell, start: float) -> None:
        self.plan, self.workers, self.tell, self.start = plan, workers, tell, start
        self.asked: dict[FitRequest, None] = {}
        self.made: set[FitRequest] = set()  # in this call, not kept from an earlier one
        self.is_decided, self.is_going = True, True

    def carry_out(self, *, curves: bool) -> Comparison:
        """Make the rounds, and then the curves; use the time that is left for what lacked time before."""
        share = SHARE_OF_TABLE if curves else 1.0
        left, done, n_seeds = list(self.plan.methods), 0, self.plan.n_seeds or USUAL_SEEDS
        for upto in _rounds(n_seeds):
            left = self._left(left, done, upto, share)
            self._make(self._first_seeds(left, upto), share if done else share / 2)
            done = upto
        self._catch_up(n_seeds, share)
        self._race(share)
        if curves:
            self._curves()
        self._race(1.0)
        self._catch_up(n_seeds, 1.0)
        self.is_going = False
        return self.result()

    def _race(self, share: float) -> None:
        """Add seeds for the methods that may be the best, until the choice is clear or the time is over."""
        if self.plan.n_seeds is not None:
            return
        for upto in range(USUAL_SEEDS + SEEDS_OF_A_RACE, MOST_SEEDS + 1, SEEDS_OF_A_RACE):
            so_far = self.result()
            verdict = so_far.verdict
            self.is_decided = verdict.recommended is None or not verdict.contenders
            if self.is_decided or self._seconds_left(share) <= 0.0:
                return
            names = dict.fromkeys([verdict.recommended or "", *verdict.contenders, *self._of_verdict(so_far)])
            self._make(self._first_seeds(names, upto), share)
        self.is_decided = True

    def _first_seeds(self, names: Iterable[str], upto: int) -> list[FitRequest]:
        """Return the fits of methods on the first seeds."""
        return [FitRequest(name, seed, self.plan.sample.n_labeled) for seed in range(upto) for name in names]

    def _catch_up(self, n_seeds: int, share: float) -> None:
        """Make the fits that lacked time: the missing seeds of methods that are not clearly worse, and first fits."""
        so_far = self.result()
        scored = [*so_far.ranking, *so_far.unranked]
        tried = {request.method for request in self.workers.kept.get(self.asked)}
        waiting = [name for name in scored if not is_worse(so_far, name)]
        waiting += [name for name in self.plan.methods if name not in tried]
        self._make(self._first_seeds(waiting, n_seeds), share)

    def _left(self, methods: Sequence[str], done: int, upto: int, share: float) -> list[str]:
        """Return the methods that get more seeds: those that have not begun, and then the others, the fastest first.

        The others are the methods that are not clearly worse than the best, and those of the verdict. If the time is
        short, the slowest of the former are left out.
        """
        so_far = self.result()
        if not done or so_far.best is None:
            return list(methods)
        kept, scored = self._of_verdict(so_far), (*so_far.ranking, *so_far.unranked)
        ranked = [n for n in scored if n in methods and (n in kept or not is_worse(so_far, n))]
        cost = {name: (upto - done) * so_far.seconds_of(name) for name in ranked}
        left = self._seconds_left(share) / self._slowness(so_far)
        for name in sorted(set(ranked) - set(kept), key=lambda n: -cost[n]):
            if sum(cost.values()) > left:
                del cost[name]
        begun = {request.method for request in (*self.workers.kept.get(self.asked), *self.workers.cut_off)}
        return [*(name for name in methods if name not in begun), *sorted(cost, key=lambda n: cost[n])]

    def _of_verdict(self, so_far: Comparison) -> list[str]:
        """Return the best method that uses unlabeled data, the best one that does not, and the simplest ones."""
        scored = (*so_far.ranking, *so_far.unranked)
        first = [next((n for n in scored if METHODS[n].uses_unlabeled is used), "") for used in (True, False)]
        return [name for name in dict.fromkeys([*first, *SIMPLEST]) if name in scored]

    def _seconds_left(self, share: float) -> float:
        limit = self.plan.seconds
        return math.inf if limit is None else max(0.0, self.start + share * limit - time.monotonic())

    def _slowness(self, so_far: Comparison) -> float:
        """Return the time that has passed for each computing second of a fit: other work may need the cores, too."""
        computed = sum(fit.seconds for fit in so_far.fits if fit.request in self.made and fit.scores)
        return so_far.seconds / computed if computed > 0.0 else 1.0 / self.workers.queue.n_at_a_time

    def _make(self, requests: Sequence[FitRequest], share: float) -> None:
        self.asked |= dict.fromkeys(requests)
        for new in self.workers.make(requests, time.monotonic() + self._seconds_left(share)):
            self.made |= {fit.request for fit in new}
            if new:
                self.tell(self.result())

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
        made = self.workers.kept.get(self.asked)
        cut_off = [Fit(request, note=CUT_OFF) for request in self.workers.cut_off if request not in made]
        return Comparison(
            fits=(*made.values(), *cut_off),
            methods=tuple(plan.methods),
            score_name=plan.score,
            n_labeled=sample.n_labeled,
            n_train=len(sample.y) - sample.n_test,
            n_test=sample.n_test,
            overlaps={n: sample.overlap_at(n) for n in sample.curve()},
            n_classes=len(sample.classes),
            seconds=time.monotonic() - self.start,
            is_complete=self.is_decided and len(made) == len(self.asked),
            is_going=self.is_going,
            name=plan.name,
        )


def _rounds(n_seeds: int) -> Iterator[int]:
    """Yield the numbers of seeds after each round."""
    first = [n for n in FIRST_ROUNDS if n < n_seeds]
    yield from first
    yield from range(FIRST_ROUNDS[-1] + SEEDS_OF_A_ROUND, n_seeds, SEEDS_OF_A_ROUND)
    yield n_seeds


def is_worse(so_far: Comparison, name: str) -> bool:
    """Return True if a method is clearly worse than the best one, or has no seed in common with it."""
    gain = so_far.difference(name, str(so_far.best))
    return not gain.n or gain.high < 0.0

"""Execution of a comparison: rounds of seeds in background jobs, within a given time, also in a thread beside a page."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
from numpy.typing import ArrayLike

from dsgcore.comparing.methods import METHODS, ORDINAL, chosen_methods, chosen_score
from dsgcore.comparing.result import Comparison
from dsgcore.comparing.samples import KIND, Fit, FitRequest, Sample, about_labels, about_shift, fit_some
from dsgcore.core.parameters import Integer, Real
from dsgcore.data.reading import Recipe
from dsgcore.jobs import JobQueue, ThreadJob, finished, queue_of
from dsgcore.jobs.tasks import CUT_OFF, JOBS, NOT_BEGUN, Finished, all_cores
from dsgcore.studies.store import Store, default_store
from dsgcore.tuning.search import rounds

SEEDS = Integer("seeds", None, low=1, high=1000, optional=True)
SECONDS = Real("seconds", 75.0, low=1.0, high=86_400.0)
MEMORY = Integer("memory_limit", 3 * 10**9, low=10**7, high=10**13)
# The first rounds end after so many seeds, the later ones after so many more.
FIRST_ROUNDS, SEEDS_OF_A_ROUND = (1, 3, 6, 10), 5
# By default only the methods that may be the best get more seeds than these, up to the last number. With ten seeds alone
# 39 of 47 verdicts were right, with these 44 (tests/benchmarks/verdict.md in commit e592ceea).
USUAL_SEEDS, MOST_SEEDS = 10, 50
# Share of the time for the rounds. The rest is for the curves, and for what lacked time.
SHARE_OF_TABLE = 0.65
# Seeds of a learning curve, and number of methods with one.
SEEDS_OF_CURVES, CURVES = 5, 4
# Every verdict compares with these.
SIMPLEST = ("LogisticRegression", "SVC", "SVR", "OrdinalSVC")
# Fits that a job makes. Between two jobs of a comparison a shared queue can start those of others.
MOST_AT_ONCE = 12
# Seconds after which a comparison in the background ends at its next fit, if nobody has asked for its state.
LEASE = 90.0
Callback = Callable[[Comparison], object]


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_labeled: int | None = None,
    seeds: int | None = None,
    seconds: float | None = 75.0,
    score: str | None = None,
    methods: Sequence[str] | None = None,
    ordered: bool = False,
    curves: bool = True,
    store: Store | str | os.PathLike[str] | None = "default",
    jobs: int | JobQueue | None = None,
    client: Any = None,
    memory_limit: int = 3 * 10**9,
    name: str = "your data",
    callback: Callback = lambda comparison: None,
    recipe: Recipe | None = None,
    class_names: Sequence[str] | None = None,
) -> Comparison:
    """Compare the methods of DSG Lab with scikit-learn's on your data, and say which one to use.

    For each seed, a quarter of the known labels is held out for testing. All methods get the same training points,
    labels and test points, with features standardised by the training points. The first round fits every method. Later
    rounds, which end after 3, 6 and 10 seeds, go on with the methods that are not behind the best one. After ten
    seeds, the methods that may be more than 0.5 points (0.005 classes) better than the recommended one get more. The rest
    of the time goes to learning curves.

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
    seconds : float or None, default 75
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
    client : dask.distributed.Client, optional
        A Dask client whose workers make the fits, instead of processes of this machine. The scores are the same.
    memory_limit : int, default 3,000,000,000
        Bytes that a fit may take; on a cluster its own limit counts. A method that needs more has no score.
    name : str, default "your data"
        Name of the data in the report.
    callback : callable, optional
        Called with the comparison so far whenever a fit is done.
    recipe : dsgcore.data.reading.Recipe, optional
        The use of each column, if X is a table: missing numbers, categories and text are prepared as the training points of
        each split say.
    class_names : sequence of str, optional
        What class codes 0, 1, 2, .. in `y` mean. By default the labels name themselves.

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
    start, limit = time.monotonic(), None if seconds is None else float(SECONDS.check(seconds) or 1.0)
    n_seeds = SEEDS.check(seeds)
    sample = Sample.of(X, y, n_labeled=n_labeled, is_ordered=ordered, recipe=recipe, class_names=class_names)
    chosen, ranked_by = (
        [method.name for method in chosen_methods(methods, sample.kind)],
        chosen_score(score, sample.kind),
    )
    at_once = jobs if isinstance(jobs, JobQueue) else JOBS.check(jobs) or all_cores()
    memory = int(MEMORY.check(memory_limit) or 0)
    if store is not None and not isinstance(store, Store):
        store = Store(default_store() if store == "default" else store)
    with TemporaryDirectory(prefix="dsgcore-compare-") as folder, queue_of(at_once, client, "fits") as queue:
        where: Any = str(Path(folder) / "sample")
        if client is None:
            joblib.dump(sample, where)
        else:
            where = client.scatter(sample, broadcast=True)

        def make(requests: Sequence[FitRequest], end: float) -> Generator[Finished]:
            lists = _shared_out(requests, queue.n_at_a_time)
            return finished(queue, fit_some, (where,), lists, end=end, memory_limit=memory)

        own = _Rounds(sample, chosen, ranked_by, n_seeds, limit, name, store, make, callback, start)
        return own.carry_out(curves=curves)


@dataclass(eq=False)
class _Rounds:
    """State of a comparison: its data, methods and limits, and the fits that were asked for and those that are known."""

    sample: Sample
    methods: list[str]
    score: str
    n_seeds: int | None
    seconds: float | None
    name: str
    store: Store | None
    make: Callable[[Sequence[FitRequest], float], Generator[Finished]]
    callback: Callback
    start: float
    asked: dict[FitRequest, None] = field(default_factory=dict)
    known: dict[FitRequest, Fit] = field(default_factory=dict)
    cut_off: set[FitRequest] = field(default_factory=set)  # had begun when the time was over
    warnings: tuple[str, ...] = ()
    is_going: bool = True
    is_decided: bool = True

    def carry_out(self, *, curves: bool) -> Comparison:
        """Make the rounds, then the curves, then what lacked time before: the seeds of methods that are not worse.

        What may mislead is said at once; if unlabeled points look different takes longer, and is said at the end.
        """
        sample, usual = self.sample, self.n_seeds or USUAL_SEEDS
        about = sample.y, sample.classes, sample.table, sample.recipe
        self.warnings = tuple(about_labels(*about, is_ordered=sample.kind == ORDINAL))
        self._carry_out_rounds(self.methods, SHARE_OF_TABLE)
        if curves:  # the best methods with fewer and more labels
            so_far, sizes = self.result(), [n for n in sample.curve() if n != sample.n_labeled]
            names = list(dict.fromkeys([*self._of_verdict(so_far), *so_far.ranking]))[:CURVES]
            seeds = range(min(SEEDS_OF_CURVES, usual))
            self._make([FitRequest(name, seed, n) for seed in seeds for n in sizes for name in names], 1.0)
        waiting = self._unfitted()
        self._carry_out_rounds([name for name in self.methods if name not in waiting], 1.0)
        self._make(self._first_seeds(self._unfitted(), usual), 1.0)
        self.is_going = False
        self.warnings += tuple(about_shift(sample.points(), sample.y))
        return self.result()

    def _carry_out_rounds(self, names: list[str], share: float) -> None:
        """Make the rounds within a share of the time. What is there already takes none."""
        n = self.n_seeds or MOST_SEEDS
        later = range(FIRST_ROUNDS[-1] + SEEDS_OF_A_ROUND, n, SEEDS_OF_A_ROUND)
        ends = [*(i for i in FIRST_ROUNDS if i < n), *later, n]

        def measure(names: list[str], stage: tuple[int, int]) -> bool:
            # The first round, which fits every method, may take half of the time.
            self._make(self._first_seeds(names, stage[1]), share if stage[0] else share / 2)
            self.is_decided = self.is_decided or stage[1] == n
            return self._seconds_left(share) > 0.0

        rounds(names, pairwise((0, *ends)), measure, lambda _, stage: self._left(stage[0]))

    def _left(self, done: int) -> list[str]:
        """Return the methods that get more seeds: those that have not begun, and then the others, the fastest first.

        The others are the methods that are not behind the best one, or by default those that may be the best if
        the usual seeds are done; and the methods of the verdict.
        """
        so_far = self.result()
        if so_far.best is None:
            return self.methods
        always, verdict = self._of_verdict(so_far), so_far.verdict
        if self.n_seeds is None and done >= USUAL_SEEDS:
            self.is_decided = verdict.recommended is None or not verdict.contenders
            going = [] if self.is_decided else [verdict.recommended or "", *verdict.contenders, *always]
            return list(dict.fromkeys(going))
        going = [n for n in (*so_far.ranking, *so_far.unranked) if n in always or not so_far.is_behind(n)]
        cut_off = {request.method for request in self.cut_off}
        fastest = sorted(going, key=lambda name: so_far.mean_of(name, "seconds"))
        return [*(name for name in self._unfitted() if name not in cut_off), *fastest]

    def _unfitted(self) -> list[str]:
        begun = {request.method for request in self.asked if request in self.known}
        return [name for name in self.methods if name not in begun]

    def _first_seeds(self, names: Iterable[str], upto: int) -> list[FitRequest]:
        """Return the fits of methods on the first seeds."""
        return [FitRequest(name, seed, self.sample.n_labeled) for seed in range(upto) for name in names]

    def _of_verdict(self, so_far: Comparison) -> list[str]:
        """Return the best method that uses unlabeled data, the best one that does not, and the simplest ones."""
        scored = (*so_far.ranking, *so_far.unranked)
        first = [next((n for n in scored if METHODS[n].uses_unlabeled is used), "") for used in (True, False)]
        return [name for name in dict.fromkeys([*first, *SIMPLEST]) if name in scored]

    def _seconds_left(self, share: float) -> float:
        return math.inf if self.seconds is None else max(0.0, self.start + share * self.seconds - time.monotonic())

    def _make(self, requests: Sequence[FitRequest], share: float) -> None:
        """Make the fits that are neither known nor in the store, until all are made or the time ends."""
        new = {one.key(self.sample): one for one in requests if one not in self.asked}
        self.asked |= dict.fromkeys(requests)
        if self.store is not None and new:
            kept = self.store.kept(KIND, new)
            self.known |= {new[key]: Fit(new[key], **json.loads(text)) for key, text in kept.items()}
        end = time.monotonic() + self._seconds_left(share)
        with closing(self.make([one for one in requests if one not in self.known], end)) as results:
            for request, made, error in results:
                if error == CUT_OFF:
                    self.cut_off.add(request)
                elif error != NOT_BEGUN:
                    self.known[request] = made or Fit(request, note=error)
                    if self.store is not None and made is not None:
                        numbers = {name: value for name, value in vars(made).items() if name != "request"}
                        self.store.keep(KIND, [(request.key(self.sample), json.dumps(numbers), None)])
                    self.callback(self.result())

    def result(self) -> Comparison:
        """Return the comparison so far."""
        sample, made = self.sample, [self.known[one] for one in self.asked if one in self.known]
        cut_off = [Fit(request, note=CUT_OFF) for request in self.cut_off if request not in self.known]
        return Comparison(
            fits=(*made, *cut_off),
            methods=tuple(self.methods),
            score_name=self.score,
            n_labeled=sample.n_labeled,
            n_train=len(sample.y) - sample.n_test,
            n_test=sample.n_test,
            overlaps={n: sample.overlap_at(n) for n in sample.curve()},
            n_classes=len(sample.classes),
            n_known=sample.n_known,
            order=sample.classes if sample.kind == ORDINAL else (),
            warnings=self.warnings,
            seconds=time.monotonic() - self.start,
            is_complete=self.is_decided and len(made) == len(self.asked),
            is_going=self.is_going,
            name=self.name,
        )


def _shared_out(requests: Sequence[FitRequest], n: int) -> list[list[FitRequest]]:
    """Return lists of fits for `n` jobs at a time: mixed ones of similar length, then each slow fit by itself."""
    fast = [one for one in requests if not METHODS[one.method].is_slow]
    n_lists = max(min(n, len(fast)), -(-len(fast) // MOST_AT_ONCE))
    return [*(fast[first::n_lists] for first in range(n_lists)), *([one] for one in requests if one not in fast)]


class Background(ThreadJob):
    """A comparison that goes on in a thread, until nobody has asked for its state for a while.

    The arguments are those of `compare`; `progress` is the comparison so far.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(lambda check: check(compare(*arguments, **options, callback=check)), LEASE)

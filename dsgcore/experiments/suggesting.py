"""Suggested values for a spec's main parameters, found within a time limit from training points and visible labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import evenly_spread
from dsgcore.data import Split
from dsgcore.experiments.engine import engine_of
from dsgcore.experiments.spec import Spec, places_of, with_values
from dsgcore.jobs import Job, JobQueue
from dsgcore.problems import UNLABELED
from dsgcore.settings import profile_of
from dsgcore.tuning.folds import LabeledFolds, PairFolds, similar_unlabeled_risk
from dsgcore.tuning.search import N_SPLITS, SECONDS, Search, Subject, Suggestion

# Larger training sets are thinned to this many points, all labels among them, and to this many numbers.
MOST_POINTS, MOST_NUMBERS = 20_000, 4_000_000
FEWEST_ITERATIONS = 10
# Memory in bytes of a background search, besides its process after the imports.
MEMORY = 2 * 10**9
Tell = Callable[[tuple[float, str]], object]


def suggest_values(
    spec: Spec,
    split: Split,
    *,
    seconds: float = SECONDS.default,
    search: Search | None = None,
    report: Tell = lambda progress: None,
) -> Suggestion:
    """Choose values for the main parameters within a time limit.

    The method is that of `dsgcore.model_selection.suggest` for estimators. It draws values around those of the spec,
    scores them on held-out folds of the visible data, and keeps the best third in each round. It never uses hidden
    labels or test points.

    Parameters
    ----------
    spec : Spec
        Its changes during the run are ignored.
    split : Split
        Its data, for instance from `load_split`.
    seconds : float, default=20
        Approximate time limit.
    search : Search, optional
        The search of an earlier result for the same spec and split, to continue there.
    report : callable, optional
        Called with the share of the time that has passed, and the name of the current step.

    Returns
    -------
    Suggestion
        Its parameters have the names that they have in the spec's sections.

    Raises
    ------
    FoldError
        If there are too few labels, or pairs, for folds.
    ParameterError
        If the seconds are out of range.

    Examples
    --------
    >>> from dsgcore.experiments import Spec, load_split, suggest_values, with_values
    >>> spec = Spec.from_dict({"setting": "auc", "data": {"name": "two_moons", "n_labeled": 60}, "solver": {"n_iter": 50}})
    >>> found = suggest_values(spec, load_split(spec), seconds=1)
    >>> better = with_values(spec, found.parameters)
    """
    return (search or Search(spec.seed)).go_on(_Runs(spec, split), seconds, report)


def begin_suggesting(
    queue: JobQueue, spec: Spec, split: Split, seconds: float, *, search: Search | None = None, **options: Any
) -> Job:
    """Submit `suggest_values` to a queue of jobs; its reports are the job's progress.

    The job gets only visible data: no hidden labels and no test points. Options are `lease` and `is_wanted` of
    `JobQueue.submit`. Errors of `suggest_values` are raised before the job begins.
    """
    seen = _Runs(spec, split).split
    options |= {"memory_limit": MEMORY, "time_limit": 2.0 * seconds + 30.0}
    return queue.submit(find_values, spec, seen, seconds, search, **options)


def find_values(spec: Spec, split: Split, seconds: float, search: Search | None = None, *, report: Tell) -> Suggestion:
    """Choose values in a separate process; arguments as in `begin_suggesting`."""
    return replace(suggest_values(spec, split, seconds=seconds, search=search, report=report), subject=None)


def _seen(split: Split) -> Split:
    """Return the visible data: a limited number of training points, with only their visible labels."""
    most = min(MOST_POINTS, max(2, MOST_NUMBERS // split.X_train.shape[1]))
    labeled = np.flatnonzero(split.y_train != UNLABELED)
    others = np.flatnonzero(split.y_train == UNLABELED)
    kept = np.concatenate([labeled, others[evenly_spread(len(others), max(1, most - len(labeled)))]])
    few = split.of_rows(np.sort(kept)) if len(kept) < len(split.y_train) else split
    no_test = {name: getattr(few, name)[:0] for name in ("X_test", "y_test", "test_rows")}
    return replace(few, y_hidden=few.y_train, **no_test)


class _Runs(Subject):
    def __init__(self, spec: Spec, split: Split) -> None:
        self.spec, self.split = replace(spec, changes=()), _seen(split)
        self.is_pairs = spec.problem.labels == "pairs"
        folds = PairFolds if self.is_pairs else LabeledFolds
        every = folds(N_SPLITS, random_state=spec.seed).split(self.split.X_train, self.split.y_train)
        super().__init__((train, test) for train, test in every if self._is_measurable(self._tested(test)))
        self.folds: dict[int, Split] = {}
        offered, plain = places_of(spec), spec.to_dict()
        how = {name: how for name, how in profile_of(spec.problem).suggested.items() if name in offered}
        self.space = {name: (way, offered[name][1]) for name, way in how.items()}
        self.own = {name: plain[offered[name][0]][name] for name in self.space}

    def _tested(self, test: NDArray) -> NDArray:
        """Return the rows of a fold that are scored: the labeled ones, or all if the labels are pairs."""
        return test if self.is_pairs else test[self.split.y_train[test] != UNLABELED]

    def _is_measurable(self, rows: NDArray) -> bool:
        """Return True if points have a score for any model: there is no AUC with only one class."""
        y = self.split.y_train
        shape = (len(rows), int(y.max()) + 1) if self.spec.problem.labels == "classes" else (len(rows),)
        return self.is_pairs or bool(np.isfinite(self._scored(y[rows], np.zeros(shape))).all())

    def _scored(self, y: NDArray, values: NDArray) -> NDArray:
        problem: Any = self.spec.problem
        if self.is_pairs:
            is_positive = problem.hits(np.ones(len(values)), values)
            return np.array([-similar_unlabeled_risk(is_positive, y != UNLABELED, problem.prior)])
        return problem.hits(y, values) if problem.is_scored_by_hits else np.array([problem.score(y, values)])

    def begin(self, share: float) -> None:
        self.score({}, share, 0, lambda: False)

    def draw(self, drawn: np.random.Generator) -> dict[str, Any]:
        return {name: how.draw(drawn, self.own[name], p) for name, (how, p) in self.space.items()}

    def n_iter(self, share: float) -> int:
        whole = self.spec.solver.n_iter
        return min(whole, max(FEWEST_ITERATIONS, round(share * whole)))

    def fitted_score(
        self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]
    ) -> NDArray | None:
        if fold not in self.folds:  # always the same object, so that results that depend on it are cached
            train, test = self.rows[fold]
            rows = self._tested(test)
            X, y = self.split.X_train[rows], self.split.y_train[rows]
            self.folds[fold] = replace(self.split.of_rows(train), X_test=X, y_test=y)
        part = self.folds[fold]
        spec = with_values(self.spec, {**parameters, "n_iter": self.n_iter(share)})
        with np.errstate(over="ignore", invalid="ignore"):
            values = engine_of(spec).learned(spec, part, until)
        if values is None:
            return None
        if not np.isfinite(values).all():
            raise DSGError("the run diverges: its step is too big")
        return self._scored(part.y_test, values)

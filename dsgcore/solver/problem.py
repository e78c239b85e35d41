"""Interface of a problem: a rule from the model's values on one mini-batch per source to one coefficient per point."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Checked
from dsgcore.core.sampling import UNLABELED as UNLABELED
from dsgcore.kernels import KERNELS
from dsgcore.solver.start import SourceHinge, SourceQuadratic

STEERABLE = ("step_size", "n_features", "lam")
# Number of rows examined together when their numbers are made.
ROWS_AT_ONCE = 2**20
Values = Mapping[str, NDArray]
Fact = TypeVar("Fact")


class ProblemError(DSGError):
    """Data that do not fit the problem: a source is empty, or a class is missing."""


def bound(fact: Fact | None) -> Fact:
    """Return the value that `Problem.bind` fills in; raise `ProblemError` if it was not called."""
    if fact is None:
        raise ProblemError("this problem must be bound to labels first, with bind(y)")
    return fact


# Values of a spec that differ from others, by section.
Sections = Mapping[str, Mapping[str, Any]]


class Setting(Checked, Protocol):
    """A problem as specs and pages see it: a frozen dataclass with a name; the rest has defaults.

    Attributes
    ----------
    name, title, score_name, sentence, citation : str
        For registry, pages and docs. The default title is made from the name.
    sentence_of_run : str
        The sentence on a run. A method whose variants do something else says so here.
    without_effect : tuple of str
        Parameters of a spec that change nothing with the values of the others. A page does not draw them.
    labels : {"binary", "pairs", "ordinal", "classes"}
        The labels that it learns from: two classes, pairs of the same unknown class, ordered classes or several
        classes.
    baseline_name : str
        The name of the twin, in a word or two.
    parameters : tuple of Parameter
        The dataclass's fields that are made by `real`, `choice` and the like.
    engine, engine_of_run : str
        The key of its engine in `ENGINES`. A method whose variants have another one says so in `engine_of_run`.
    decision : {"sign", "cut", "ranks", "highest"}
        The rule from values to classes: their sign; a threshold from the labeled points; a threshold between each two
        ordered classes; or the highest of several values per point.
    defaults : mapping
        Initial values of a spec that differ from the parameters' defaults, by section. The first lesson uses them.
    other_sets : mapping
        Values for all data sets except the one in `defaults`, in the same form. They replace its data and kernel sections.
    steerable : tuple of str
        Parameters that can change during a run. A page shows the first three of them at first.
    kernels, dtypes : tuple of str
        The allowed kernels and precisions. Empty precisions for all.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    score_name: ClassVar[str] = "accuracy"
    sentence: ClassVar[str] = "learns from few labels"
    sentence_of_run: ClassVar[str] = ""
    without_effect: ClassVar[tuple[str, ...]] = ()
    citation: ClassVar[str] = ""
    labels: ClassVar[str] = "binary"
    baseline_name: ClassVar[str] = "labels only"
    engine: ClassVar[str] = "stochastic"
    engine_of_run: ClassVar[str] = "stochastic"
    decision: ClassVar[str] = "sign"
    defaults: ClassVar[Sections] = MappingProxyType({})
    other_sets: ClassVar[Sections] = MappingProxyType({})
    steerable: ClassVar[tuple[str, ...]] = STEERABLE
    kernels: ClassVar[tuple[str, ...]] = tuple(KERNELS)
    dtypes: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a class with a name its title and a citation."""
        super().__init_subclass__(**options)
        if "name" in cls.__dict__:
            cls.title = cls.title or cls.name.replace("_", " ").capitalize()
            cls.citation = cls.citation or cls.title
            cls.engine_of_run = cls.__dict__.get("engine_of_run", cls.engine)
            cls.sentence_of_run = cls.__dict__.get("sentence_of_run", cls.sentence)

    def baseline(self) -> Self:
        """Return the problem for comparison, without the contribution of the unlabeled data or of the method.

        None if there is none.
        """
        return self

    def score(self, y: NDArray, f: NDArray) -> float:
        """Return the setting's measure of values f against true labels y, both (n,); by default the share of `hits`."""
        if not len(f) or np.isnan(f.min()):
            return float("nan")
        return np.count_nonzero(self.hits(y, f)) / len(f)

    @property
    def is_scored_by_hits(self) -> bool:
        """True if `score` is the share of `hits`, so that the points give intervals."""
        return type(self).score is Setting.score

    def hits(self, y: NDArray, f: NDArray) -> NDArray:
        """Return a mask (n,) of the points whose class the sign of f gives, for y in {0, 1}; f = 0 counts as negative."""
        return (f > 0) == (np.asarray(y) == 1)


class Problem(Setting, Protocol):
    """Interface of a problem; a small frozen dataclass with `name`, `sources` and four methods fulfils it."""

    @property
    def largest_slope(self) -> float | None:
        """The largest possible sum_b |c_b|, if no loss is curved; None if the curvature limits the step."""
        return None

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the data sources, each with its own mini-batch. If they depend on the labels, the problem must be bound."""
        ...

    def usual_ridge(self, rows: Mapping[str, NDArray]) -> float:
        """Return a ridge that suits sources with these rows: each point of the smallest one counts as in an SVM with C = 2."""
        return 0.5 / min(map(len, rows.values()))

    @property
    def is_shifted(self) -> bool:
        """True if a shift is added to f before its sign is taken."""
        return False

    def shift(self, unlabeled: NDArray) -> float:
        """Return the shift that is added to f before its sign is taken, from the values at unlabeled points, of shape (n_u,)."""
        return 0.0

    def bind(self, y: NDArray) -> Self:
        """Return the problem with the values that it takes from the training labels, if any; raise `ProblemError`."""
        return self

    def rows(self, y: NDArray) -> dict[str, NDArray]:
        """Return the row numbers of each source, from labels y of shape (n,) with -1 for unlabeled; raise `ProblemError`.

        The default is for two classes: positives (y = 1), negatives (0), and unlabeled points if they are a source. These are
        all points if none is unlabeled.
        """
        y = np.asarray(y)
        is_one = {source: y == label for source, label in (("positive", 1), ("negative", 0), ("unlabeled", UNLABELED))}
        strange = y[~(is_one["positive"] | is_one["negative"] | is_one["unlabeled"])]
        if len(strange):
            raise ProblemError(f"a label must be 1, 0, or -1 for unlabeled, got {strange[0]}")
        for source in ("positive", "negative"):
            if not is_one[source].any():
                raise ProblemError(
                    f"{self.title} needs at least one labeled positive and one labeled negative, got no {source}"
                )
        return {s: rows_where(is_one[s], or_all=s == "unlabeled") for s in self.sources}

    def coefficients(self, f: Values) -> dict[str, NDArray]:
        """Return d(batch objective)/df, source -> (B_s,), at the values f, source -> (B_s,). The 1/B_s is inside."""
        ...

    def terms(self, f: Values) -> dict[str, float]:
        """Return the named signed parts of the batch objective; their sum is the objective without the ridge."""
        ...

    def risk_terms(self, f: Values) -> dict[str, float]:
        """Return the same parts over whole sources, f: source -> (n_s,).

        The default, `terms`, is right for means over one source.
        """
        return self.terms(f)

    def near_risk(self) -> SourceQuadratic | SourceHinge | None:
        """Return the risk if it is quadratic, or one near it whose minimiser is known and can begin a run; else None."""
        return None


def rows_where(is_one: NDArray, *, or_all: bool = False) -> NDArray:
    """Return the numbers of the rows that are true, in four bytes each if possible, with little extra memory.

    With `or_all`, return those of all rows if none is true: unlabeled points are all points if none is unlabeled.
    """
    if or_all and not is_one.any():
        is_one = ~is_one
    few_enough = len(is_one) <= np.iinfo(np.int32).max
    rows, done = np.empty(np.count_nonzero(is_one), dtype=np.int32 if few_enough else np.int64), 0
    for first in range(0, len(is_one), ROWS_AT_ONCE):
        own = np.flatnonzero(is_one[first : first + ROWS_AT_ONCE])
        rows[done : done + len(own)] = own + first
        done += len(own)
    return rows


def objective(terms: Mapping[str, float]) -> float:
    """Return the sum of the terms."""
    return float(sum(terms.values()))

"""What a problem is: a rule that turns the model's values on one mini-batch per source into one coefficient per point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.parameters import Parameter

UNLABELED = -1
Values = Mapping[str, NDArray]


class ProblemError(ValueError):
    """The data do not fit the problem: a source is empty, a class is missing."""


class Problem(Protocol):
    """The contract of a problem; a small frozen dataclass fulfils it.

    Attributes
    ----------
    name, title, score_name, sentence, citation : str
        For registry, pages and docs.
    labels : {"binary", "pairs", "ordinal"}
        What it learns from: points of two classes, pairs of the same unknown class, points of ordered classes.
    twin_name : str
        What the twin is, in a word or two.
    sources : tuple of str
        Names of the data sources; one mini-batch is drawn from each at every iteration.
    parameters : tuple of Parameter
        The problem's own parameters (the dataclass's fields), with range, symbol and sentence.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    score_name: ClassVar[str]
    sentence: ClassVar[str]
    citation: ClassVar[str]
    labels: ClassVar[str]
    twin_name: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the data sources, in their order; where they depend on the labels, of a bound problem only."""
        ...

    def bind(self, y: NDArray) -> Self:
        """Return the problem with what it takes from the labels of the training points; raise `ProblemError`."""
        ...

    def rows(self, y: NDArray) -> dict[str, NDArray]:
        """Return the row numbers of each source, from labels y of shape (n,) with -1 for unlabeled; raise `ProblemError`."""
        ...

    def coefficients(self, f: Values) -> dict[str, NDArray]:
        """Return d(batch objective)/df, source -> (B_s,), at the values f, source -> (B_s,). The 1/B_s is inside."""
        ...

    def terms(self, f: Values) -> dict[str, float]:
        """Return the named signed parts of the batch objective; their sum is the objective without the ridge."""
        ...

    def risk_terms(self, f: Values) -> dict[str, float]:
        """Return the same parts over whole sources: f, source -> (n_s,); what the batch terms estimate."""
        ...

    def score(self, y: NDArray, f: NDArray) -> float:
        """Return the setting's measure (AUC, accuracy ..) of values f against true labels y, both of shape (n,)."""
        ...

    def quadratic(self, rows: dict[str, NDArray], n: int) -> tuple[NDArray, NDArray] | None:
        """Return Q (n, n) and l (n,), with which the risk is f'Qf / 2 + l'f + constant; None where it is not quadratic."""
        ...

    def twin(self) -> Self:
        """Return what to compare with: the same without what the unlabeled data, or the method, contribute.

        Equal to the problem itself where there is nothing to leave out.
        """
        ...


def objective(terms: Mapping[str, float]) -> float:
    """Return the sum of the terms."""
    return float(sum(terms.values()))


def stacked(per_source: Values, sources: tuple[str, ...]) -> NDArray:
    """Return the sources' arrays one after the other."""
    return np.concatenate([per_source[source] for source in sources])

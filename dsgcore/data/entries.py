"""Entry of a data set: its size, source, options, the settings that it suits, and the function that makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Integer, Real, quoted
from dsgcore.data.conversions import conversions_for
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.options import SEED, checked

# Points, class codes, feature names and class names. None: x1, x2 ..., and the usual class names.
Drawn = tuple[NDArray, NDArray[np.integer], tuple[str, ...] | None, tuple[str, ...] | None]
# A share of positives from which similar pairs give information: 2 pi - 1 = 0.4.
SHARE_FOR_PAIRS = 0.7


@dataclass(frozen=True)
class DatasetEntry:
    """A named data set. Call it with its options to make the data: ``two_moons(n=200, seed=1)``."""

    name: str  # name in links and specs
    title: str  # name in the app
    sentence: str  # description, and the reason to look at it
    draw: Callable[..., Drawn]  # makes the data from a seed and the options, all checked
    # the names from `options.OPTIONS` that it takes, with its own defaults and ranges
    options: tuple[Integer | Real, ...]
    n: int  # default number of rows
    d: int
    source: str
    licence: str
    class_names: tuple[str, ...]  # default number of classes or bins
    target: str  # one of `conversions.KINDS`
    conversions: tuple[str, ...] = ()  # possible conversions, because the classes' numbers mean something
    n_unlabeled: int = 0  # rows besides n, whose class the source does not give

    @property
    def is_generated(self) -> bool:
        """True if the points are drawn from a formula."""
        return self.source == "generated"

    def conversions_for(self, labels: str) -> tuple[str, ...]:
        """Return the conversions that make the set suit a problem with such labels, the usual one first."""
        return conversions_for(self.target, labels, len(self.class_names), self.conversions)

    def suits(self, labels: str) -> bool:
        """Return True if a problem with such labels ("binary", "pairs", "ordinal" or "classes") can use the set."""
        return bool(self.conversions_for(labels))

    def is_made_for(self, labels: str) -> bool:
        """Return True if the set suits such labels without a conversion of its classes."""
        kind = {"pairs": "binary"}.get(labels, labels)
        return self.suits(labels) and (self.target == kind or (self.target, kind) == ("regression", "ordinal"))

    def why_not(self, labels: str) -> str:
        """Return the reason, in one sentence, why the set does not suit such labels; empty if it does."""
        if self.suits(labels):
            return ""
        if self.target == "binary":
            return f"{self.title} has two classes, so there is nothing to order: use the page Ranking."
        return f"The classes of {self.title} have no order, so there is nothing to rank."

    def usual_options(self, labels: str) -> dict[str, float]:
        """Return the options whose defaults change for such labels: pairs need unequal classes."""
        option = next((option for option in self.options if option.name == "imbalance"), None)
        is_even = option is not None and (option.default == 0.5 or self.name == "digits")
        return {"imbalance": SHARE_FOR_PAIRS} if labels == "pairs" and is_even else {}

    def option(self, name: str) -> Integer | Real:
        """Return the option of that name; raise `DataError` if there is none."""
        known = {option.name: option for option in (*self.options, SEED)}
        if name not in known:
            raise DataError(f"the options of {self.name} are {', '.join(known)}, got {quoted(name)}")
        return known[name]

    def __call__(self, *values: float | None, **options: float | None) -> Dataset:
        """Make the data set.

        Parameters
        ----------
        *values
            Values of the options in their order.
        **options
            Values of the options by name, and `seed`. The other options take their defaults.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If an option is unknown, or if a value is out of its range.
        """
        given = {option.name: value for option, value in zip(self.options, values, strict=False)} | options
        usual = {option.name: option.default for option in (*self.options, SEED)}
        allowed = {name: checked(self.option(name), value) for name, value in given.items()}
        X, y, feature_names, class_names = self.draw(**usual | allowed)
        return Dataset(
            name=self.name,
            X=np.ascontiguousarray(X, dtype=np.float32),
            y=np.asarray(y, dtype=np.int64),
            feature_names=feature_names or tuple(f"x{j + 1}" for j in range(X.shape[1])),
            class_names=class_names or self.class_names,
            source=self.source,
            licence=self.licence,
        )

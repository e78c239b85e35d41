"""The scores of many random choices of the labeled points, beside which a person's choice is seen."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.data.datasets import keyed_generator
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.stochastic_task import learned
from dsgcore.solver.problem import UNLABELED

N_CHOICES = 200
BAND = (0.1, 0.9)  # the quantiles of the band
MOST_KEPT = 64
MOST_DRAWS = 100  # of all labels, until each class has one
_computing = threading.Lock()
_kept: OrderedDict[str, RandomChoices] = OrderedDict()


@dataclass(frozen=True)
class RandomChoices:
    """Test scores of whole runs, each with as many labels as the spec says, at random points.

    Attributes
    ----------
    scores : ndarray of shape (n,)
        In increasing order.
    """

    scores: NDArray

    def rank(self, score: float) -> float:
        """Return the share of the choices that a score beats; a tie counts half."""
        return float(np.mean(self.scores < score) + np.mean(self.scores == score) / 2)

    def measures(self, score: float) -> dict[str, float]:
        """Return how a score compares with the choices, and how far apart these are."""
        low, high = np.quantile(self.scores, BAND)
        return {
            "choice_rank": self.rank(score),
            "choices_band": float(high - low),
            "choices_best": float(self.scores[-1]),
        }


def random_choices(spec: Spec, split: Split, *, n: int = N_CHOICES) -> RandomChoices:
    """Return the scores of `n` random choices. They are kept, because they depend on the data as generated only.

    Parameters
    ----------
    spec : Spec
        Its edits are left out. Each choice has `n_labeled` labels, at least one of each class.
    split : Split
        The data, with or without edits.
    n : int
        Number of choices; the first ones are the same for each `n`.
    """
    base, spec = split.before or split, replace(spec, data=replace(spec.data, edits=()), changes=())
    key = json.dumps([n, spec.sha256])
    with _computing:  # a class that asks at the same time waits for one computation
        found = _kept.pop(key, None)
        if found is None:
            found = RandomChoices(np.sort([_score(spec, base, number) for number in range(n)]))
        _kept[key] = found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return found


def known_choices(spec: Spec) -> RandomChoices | None:
    """Return the same scores if they were computed before, else None."""
    plain = replace(spec, data=replace(spec.data, edits=()), changes=())
    return _kept.get(json.dumps([N_CHOICES, plain.sha256]))


def _score(spec: Spec, split: Split, number: int) -> float:
    chosen = chosen_rows(split.y_hidden, spec.data.n_labeled, keyed_generator(spec.seed, f"choices/{number}"))
    y = np.full(len(split.y_train), UNLABELED)
    y[chosen] = split.y_hidden[chosen]
    values = learned(spec, replace(split, y_train=y))
    return float(spec.problem.score(split.y_test, values)) if values is not None else float("nan")


def chosen_rows(y: NDArray, n: int, rng: np.random.Generator) -> NDArray:
    """Return n random rows with each class among them, unless there are fewer labels than classes."""
    known = np.flatnonzero(y != UNLABELED)
    classes = np.unique(y[known])
    for _ in range(MOST_DRAWS):
        chosen = rng.choice(known, n, replace=False)
        if len(np.unique(y[chosen])) == min(n, len(classes)):
            return chosen
    # A class is so rare that a draw seldom has it.
    first = [rng.choice(np.flatnonzero(y == code)) for code in rng.permutation(classes)[:n]]
    return np.concatenate([first, rng.choice(np.setdiff1d(known, first), n - len(first), replace=False)]).astype(
        np.intp
    )

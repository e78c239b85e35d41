"""The methods that a comparison fits, and its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines import COMPETITORS
from dsgcore.core.metrics import auc
from dsgcore.core.parameters import ParameterError, quoted
from dsgcore.estimators import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.experiments.race import plain_name
from dsgcore.problems import UNLABELED
from dsgcore.problems.thresholds import mean_auc
from dsgcore.tuning.safe import Safe

BINARY, CLASSES, ORDINAL = KINDS = ("binary", "classes", "ordinal")
OURS = {kind.__name__: kind for kind in (TSGS3VM, QSGS2AUC, PS3VT, QS3ORAO)}


@dataclass(frozen=True)
class Method:
    """One method of a comparison: its name in tables, its estimator's class, and parameters that differ from the defaults.

    It learns from some kinds of labels, and gets the labeled points only unless it uses unlabeled ones. Its `effort` is the rank
    of its simplicity, 0 the simplest: of two equally good methods the simpler one is recommended. A slow one is made after the
    others. A safe one is averaged with simple models (`dsgcore.Safe`).
    """

    name: str
    kinds: tuple[str, ...]
    uses_unlabeled: bool
    effort: int
    estimator: type[Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_slow: bool = False
    is_safe: bool = False

    def make(self, seed: int) -> Any:
        """Return the unfitted estimator, with the seed if it has one."""
        own = self.estimator(**self.parameters)
        if "random_state" in own.get_params():
            own.set_params(random_state=seed)
        return Safe(own, random_state=seed) if self.is_safe else own


def _ours(name: str, kinds: tuple[str, ...], labels_only: Mapping[str, Any]) -> tuple[Method, ...]:
    """Return a method of DSG Lab, averaged with simple models, the same on the labels alone, and the method by itself."""
    return (
        Method(f"Safe{name}", kinds, True, 5, OURS[name], is_safe=True),
        Method(f"Safe{name}-labels", kinds, False, 4, OURS[name], labels_only, is_safe=True),
        Method(name, kinds, True, 5, OURS[name]),
    )


_NOMINAL, _FOURIER = (BINARY, CLASSES), {"feature_map": "fourier"}
METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        *(
            Method(plain_name(own), kinds, not own.is_supervised, own.effort, own, is_slow=own.is_slow)
            for setting, kinds in (("multiclass", _NOMINAL), ("ordinal", (ORDINAL,)))
            for own in COMPETITORS[setting]
            if own.is_everyday
        ),
        *_ours("PS3VT", _NOMINAL, {"tau_I": 0.0}),
        Method("SafePS3VT-fourier", _NOMINAL, True, 5, PS3VT, _FOURIER, is_safe=True),
        *_ours("TSGS3VM", (BINARY,), {"C_star": 0.0}),
        *_ours("QSGS2AUC", (BINARY,), {"gamma": 1.0}),
        *_ours("QS3ORAO", (ORDINAL,), {"gamma": 1.0}),
    )
}


@dataclass(frozen=True)
class Score:
    """A score of a comparison: its name in tables, the unit of differences, and the factor to it.

    The first score of a kind of labels is its default. Of a loss, lower values are better.
    """

    title: str
    unit: str
    kinds: tuple[str, ...]
    factor: float = 100.0
    is_loss: bool = False

    @property
    def sign(self) -> float:
        """Minus one if lower values are better, else one."""
        return -1.0 if self.is_loss else 1.0

    def most(self, n_classes: int) -> float:
        """Return the highest possible value; the lowest is 0."""
        return self.factor if self.unit == "points" else n_classes - 1.0

    def plain(self, value: float) -> str:
        """Return a score, as tables show it."""
        return f"{value:.{1 if self.unit == 'points' else 3}f}"

    def signed(self, value: float) -> str:
        """Return a difference with its sign, as tables show it; a rounded zero has no sign."""
        digits = 1 if self.unit == "points" else 3
        rounded = round(value, digits)
        return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"


SCORES: Mapping[str, Score] = {
    "accuracy": Score("accuracy", "points", (BINARY, CLASSES)),
    "auc": Score("AUC", "points", (BINARY,)),
    "mean_auc": Score("mean AUC", "points", (ORDINAL,)),
    "mean_absolute_error": Score("mean absolute error", "classes", (ORDINAL,), 1.0, is_loss=True),
}


def chosen_score(name: str | None, kind: str) -> str:
    """Return a score's name, by default the first one of a kind; raise `ParameterError` if the kind does not have it."""
    known = [key for key, score in SCORES.items() if kind in score.kinds]
    if name is None:
        return known[0]
    if name not in known:
        raise ParameterError(f"score must be one of {', '.join(known)} for these labels, got {quoted(name)}")
    return name


def suited(kind: str) -> dict[str, Method]:
    """Return the methods that learn from a kind of labels, by name."""
    return {name: method for name, method in METHODS.items() if kind in method.kinds}


def chosen_methods(names: Sequence[str] | None, kind: str) -> list[Method]:
    """Return methods by name, by default all that fit a kind; raise `ParameterError` if one is not known or does not fit."""
    known = suited(kind)
    if names is None:
        return list(known.values())
    for name in names:
        if name not in known:
            raise ParameterError(f"methods must be of {', '.join(known)} for these labels, got {quoted(name)}")
    if len(set(names)) < 2:
        raise ParameterError(f"methods must name at least two methods, got {', '.join(names) or 'none'}")
    return [method for name, method in known.items() if name in names]


def kind_of(codes: NDArray, *, is_ordered: bool) -> str:
    """Return the kind of labels by the classes that they have, -1 being none; an order of two classes says nothing."""
    n_classes = len(np.unique(codes[codes != UNLABELED]))
    return BINARY if n_classes == 2 else ORDINAL if is_ordered else CLASSES


def scores_of(model: Any, X: NDArray, y: NDArray, kind: str) -> dict[str, float]:
    """Return the scores of a fitted estimator on test points, in the units of `SCORES`."""
    predicted = np.asarray(model.predict(X))
    found = {"accuracy": float(np.mean(predicted == y))}
    if kind == BINARY:
        found["auc"] = auc(y, np.asarray(model.decision_function(X)))
    if kind == ORDINAL:
        found |= {
            "mean_auc": mean_auc(y, np.asarray(model.ranking_function(X))),
            "mean_absolute_error": float(np.mean(np.abs(predicted - y))),
        }
    return in_units(found, kind)


def in_units(found: Mapping[str, float], kind: str) -> dict[str, float]:
    """Return the scores that a kind of labels has, in the units of `SCORES`."""
    return {name: SCORES[name].factor * value for name, value in found.items() if kind in SCORES[name].kinds}

"""Trained methods that score files: a model with its decision thresholds, or a whole estimator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.models import load_model
from dsgcore.problems.thresholds import classify

MODEL, MACHINE = "model.npz", "model.joblib"


@dataclass(frozen=True)
class Fitted:
    """A trained method.

    Attributes
    ----------
    file : str
        A model's file, or an estimator that joblib has written. Only load estimators that you have trained yourself.
    decision : str
        Classes and thresholds of a model, as JSON; empty if they are not known.
    """

    file: str
    decision: str = ""

    @classmethod
    def of(cls, file: Path, said: Mapping[str, Any] | None = None) -> Fitted:
        """Return the method of a model's file, and of the facts in the `fit.json` beside it."""
        if said is None or "classes" not in said or file.name == MACHINE:
            return cls(str(file.resolve()))
        cut = said.get("threshold", 0.0) - said.get("shift", 0.0)
        return cls(str(file.resolve()), json.dumps([said["classes"], said.get("thresholds", [cut])]))

    @cached_property
    def _held(self) -> Any:
        if not self.file.endswith(MACHINE):
            return load_model(self.file)
        import joblib

        return joblib.load(self.file)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self._held.n_features_in_ if self.is_machine else self._held.d)

    @property
    def dtype(self) -> np.dtype:
        """Precision of the points."""
        return np.dtype(np.float64) if self.is_machine else self._held.dtype

    @property
    def is_machine(self) -> bool:
        """True for a whole estimator."""
        return self.file.endswith(MACHINE)

    def scored(self, X: NDArray) -> dict[str, NDArray]:
        """Return the columns of the output for points (n, d): the classes if they are known, and the scores."""
        if self.is_machine:
            values = getattr(self._held, "ranking_function", self._held.decision_function)(X)
            return {"class": self._held.predict(X), **_scores(values)}
        values = self._held.evaluate(X)
        return ({"class": self._classes(values)} if self.decision else {}) | _scores(values)

    def _classes(self, values: NDArray) -> NDArray:
        classes, thresholds = json.loads(self.decision)
        places = values.argmax(axis=1) if values.ndim == 2 else classify(values, np.array(thresholds))
        return np.array(classes)[places]


def _scores(values: NDArray) -> dict[str, NDArray]:
    """Return one column of scores, or one for each class."""
    if values.ndim == 1:
        return {"score": values}
    return {f"score {k}": np.ascontiguousarray(column) for k, column in enumerate(values.T)}


def facts_of(folder: Path) -> dict[str, Any]:
    """Return the facts that a fit has written beside its model; raise `DSGError` if there are none."""
    try:
        said = json.loads((folder / "fit.json").read_text(encoding="utf-8"))
        return {"features": said["features"], **said}
    except (OSError, ValueError, KeyError, TypeError):
        raise DSGError(f"{str(folder)!r} must be a model's file, or a folder that `dsg-lab fit` has written") from None

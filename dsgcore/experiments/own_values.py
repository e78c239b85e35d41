"""Values of a run on a person's own file: those that the setting's estimator takes by default."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Flag, parameter_like
from dsgcore.data import Dataset, Split
from dsgcore.data.datasets import OF_OWN
from dsgcore.data.splits import fit_scaling
from dsgcore.estimators import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.estimators.inputs import width
from dsgcore.experiments.settings import FILE, Setting, n_labeled_on
from dsgcore.kernels import Gaussian
from dsgcore.settings import profile_of

# Estimators that find numbers on the training points, by setting.
_ESTIMATORS = {"supervised": DSG, "auc": QSGS2AUC, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "multiclass": PS3VT}
_NONE: Mapping[str, Any] = MappingProxyType({})
# Numbers of pairs at the slider's stops, and the largest default share of training points in pairs.
_STOPS, _PAIRS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000), 0.2


def n_labeled_of(setting: type[Setting], n_known: int, n_pairs: int | None) -> int:
    """Return the number of labels to learn from: all of the training points; of pairs those of the file, else a few."""
    left = n_known - _tested(n_known)
    if setting.labels != "pairs":
        return max(left, 2)
    if n_pairs is not None:
        return max(n_pairs, 1)
    most = min(n_labeled_on(setting, FILE), left * _PAIRS)
    return max((stop for stop in _STOPS if stop <= most), default=1)


def _tested(n_known: int) -> int:
    """Return the number of labels that are held out for testing."""
    return max(round(OF_OWN["test_share"] * n_known), 1)


def prior_of(share: float) -> float:
    """Return the share of positives in hundredths; never one half, about which pairs say nothing."""
    share = round(min(max(share, 0.02), 0.98), 2)
    return share if share != 0.5 else 0.51


def usual_of(
    setting: type[Setting], *, n: int, n_known: int, n_pairs: int | None, n_classes: int, share: float
) -> dict[str, Any]:
    """Return the estimator's defaults, by name, for a file with `n` rows, `n_known` labels and this share of positives."""
    n_labeled, rarest = n_labeled_of(setting, n_known, n_pairs), min(share, 1.0 - share)
    rarest = rarest if n_classes == 2 else 1.0 / max(n_classes, 2)
    # A profile's flags suit the set on which its page begins, the problem's own are those of the estimator.
    flags = {p.name: p.default for p in setting.parameters if isinstance(p, Flag)}
    profile = profile_of(setting)
    run = profile.usual(n - _tested(n_known), n_labeled, max(rarest, 1e-6))
    of_pairs = {"prior": prior_of(share)} if setting.labels == "pairs" else {}
    return {**OF_OWN, **flags, **run, **profile.fitted(n_labeled), "n_labeled": n_labeled, **of_pairs}


def usual_on(setting: type[Setting], dataset: Dataset) -> dict[str, Any]:
    """Return the estimator's defaults, by name, for a file's data set."""
    return usual_of(setting, **facts_of(dataset), n_classes=len(dataset.class_names))


def facts_of(dataset: Dataset) -> dict[str, Any]:
    """Return the numbers of rows, labels and pairs, and the share of positives among the labels."""
    known = dataset.y[dataset.y >= 0]
    return {
        "n": len(dataset.y),
        "n_known": len(known),
        "n_pairs": None if dataset.pairs is None else int(dataset.pairs.max()) + 1,
        "share": float(np.mean(known == 1)) if len(known) else 0.5,
    }


def scale_of(X: Any) -> float:
    """Return the estimators' "scale" σ for points once they are standardised."""
    points = fit_scaling(X, np.arange(len(X)), OF_OWN["scaling"]).apply(X)
    return width(parameter_like(Gaussian, "sigma"), "scale", points)


def found_on(setting: type[Setting], split: Split, prior: float, given: Mapping[str, Any] = _NONE) -> dict[str, float]:
    """Return the numbers that the estimator finds on the training points, by name; none if it finds none there.

    `given` are parameters of the setting, by name, that have other values than the estimator's.
    """
    try:
        if setting.labels != "pairs":
            estimator = _ESTIMATORS[setting.name]()
            estimator.set_params(**{name: given[name] for name in given.keys() & estimator.get_params().keys()})
            return dict(estimator.automatic_values(split.X_train, split.y_train))
        problem: Any = setting(prior=prior)  # type: ignore[call-arg]
        sigma = width(parameter_like(Gaussian, "sigma"), "scale", split.X_train)
        return {"sigma": sigma, "lam": problem.usual_ridge(problem.rows(split.y_train))}
    except DSGError:  # the run will say what is wrong
        return {}

"""Lessons: starting points named by what they show. Values not named here keep the setting's defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A lesson: its name, what to see in it, and the controls that differ from the defaults."""

    name: str
    sentence: str
    values: dict[str, Any] = field(default_factory=dict)


PRESETS: dict[str, tuple[Preset, ...]] = {
    "auc": (
        Preset(
            "works",
            "Six clusters and 20 labels: the unlabeled points raise the AUC by several points over the labels alone.",
            {"data": "gaussian_mixture", "n_labeled": 20, "sigma": 5.0},
        ),
        Preset(
            "too big a step",
            "Each step overshoots: the objective grows from iteration to iteration until the numbers overflow.",
            {"step_size": 20.0},
        ),
        Preset(
            "too few features",
            "With four random features an iteration, the error of the features is as large as the function itself.",
            {"n_features": 4},
        ),
        Preset(
            "unlabeled data hurts",
            "Digits with 20 labels: pairs with unlabeled points drown the few labels, and the labels alone do better.",
            {"n_labeled": 20},
        ),
    ),
}

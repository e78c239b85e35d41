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
            "Six clusters and 12 labels: the unlabeled points raise the AUC by several points over the labels alone.",
            {"data": "gaussian_mixture", "n_labeled": 12, "sigma": 10.0},
        ),
        Preset(
            "too big a step",
            "Each step overshoots: the objective grows from iteration to iteration until the numbers overflow.",
            {"step_size": 20.0},
        ),
        Preset(
            "too few features",
            "With four random features an iteration, their error is half as large as the function itself, and the AUC falls.",
            {"n_features": 4},
        ),
        Preset(
            "unlabeled data hurts",
            "Digits with 20 labels: pairs with unlabeled points drown the few labels, and the labels alone do better.",
            {"n_labeled": 20},
        ),
    ),
    "s3vm": (
        Preset(
            "works",
            "Ten labels and the shape of the unlabeled points: the boundary moves into the gap between the moons.",
        ),
        Preset(
            "too big a step",
            "Each step overshoots: the boundary jumps about, and the objective does not come down.",
            {"step_size": 2.0},
        ),
        Preset(
            "too few features",
            "With four random features an iteration, the error of the features shows in the boundary.",
            {"n_features": 4},
        ),
        Preset(
            "unlabeled data hurts",
            "A gap between two bands, but the classes are left and right: the boundary goes to the gap, where it does not belong.",
            {"data": "misleading_gap", "sigma": 5.0},
        ),
    ),
    "similar_unlabeled": (
        Preset("works", "Two hundred pairs that share a class, no label at all, and a known share of positives."),
        Preset(
            "too big a step",
            "Each step overshoots: the objective jumps about and the accuracy with it.",
            {"step_size": 20.0},
        ),
        Preset(
            "wrong share of positives",
            "The method needs the share of positives: told 0.95 for 0.7, it calls nearly everything positive.",
            {"prior": 0.95},
        ),
        Preset(
            "negative risk",
            "Few pairs, a flexible kernel and no correction: the estimated risk falls below zero, the sign of overfitting.",
            {"n_labeled": 20, "sigma": 100.0, "correction": "identity", "lam": 0.0001},
        ),
    ),
    "ordinal": (
        Preset(
            "works", "Five rings, four labels in each: the unlabeled points help to rank them from the centre outwards."
        ),
        Preset(
            "too big a step",
            "Each step overshoots: the objective grows until the numbers overflow.",
            {"step_size": 20.0},
        ),
        Preset(
            "too few features",
            "With four random features an iteration, the error of the features shows in the map: compare f with h.",
            {"n_features": 4},
        ),
    ),
    "multiclass": (
        Preset(
            "works",
            "Four arms, five labels on each: the graph spreads them along the arms, and the accuracy rises by nine points.",
        ),
        Preset(
            "too big a step",
            "With so much weight on the graph, each step overshoots: the scores jump about, and the objective grows.",
            {"tau_I": 0.05},
        ),
        Preset(
            "low rank",
            "A strong pull: the third singular value reaches zero, and two directions cannot tell four classes apart.",
            {"tau_S": 0.5},
        ),
        Preset(
            "too few features",
            "With eight random features the similarity of points is mostly noise: the regions no longer follow the arms.",
            {"n_features": 8},
        ),
        Preset(
            "unlabeled data hurts",
            "Linear features on ten digits: straight lines cannot follow the graph, so it holds the scores back.",
            {
                "data": "ten_digits",
                "features": "linear",
                "n_labeled": 100,
                "step_size": 0.1,
                "tau_I": 0.0001,
                "tau_S": 0.01,
            },
        ),
    ),
}

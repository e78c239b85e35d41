"""Ordered classes (QS3ORAO): its words and choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsgcore.settings.profile import Lesson, Profile
from dsgcore.settings.theorem import convex_theorem

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec


def _slacks(spec: Spec, n_labeled: int, n_unlabeled: int) -> dict[str, Any]:
    """Weight of each slack, of which every labeled point has several, beside the run's ridge."""
    return {"C": 1.0 / (spec.solver.lam or 1.0)}


ORDINAL = Profile(
    short="Ordinal",
    paper="QS3ORAO",
    icon=":material/format_list_numbered:",
    prefix="ord_",
    card="Rank points whose classes have an order, with few of them labeled.",
    defaults={
        "data": {"name": "ordinal_rings", "n_labeled": 20},
        "kernel": {"sigma": 2.0},
        "solver": {"lam": 0.1, "step_size": 0.5},
    },
    translations={"SVOREX": _slacks},
    theorem=convex_theorem("Theorem 1 of QS3ORAO."),
    lessons=(
        Lesson(
            "works", "Five rings, four labels in each: the unlabeled points help to rank them from the centre outwards."
        ),
        Lesson(
            "too big a step",
            "Each step overshoots: the objective grows until the numbers overflow.",
            {"step_size": 20.0},
        ),
        Lesson(
            "too few features",
            "With four random features an iteration, the error of the features shows in the map: compare f with h.",
            {"n_features": 4},
        ),
    ),
)

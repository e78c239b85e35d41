"""Profiles of the settings, one file each: names, defaults, theorem and lessons. All of them are optional."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from dsgcore.settings.auc import AUC
from dsgcore.settings.lessons import Claim, Curve, Estimate, Goal, GuidedLesson, LessonStep, Option, Pick
from dsgcore.settings.multiclass import MULTICLASS
from dsgcore.settings.ordinal import ORDINAL
from dsgcore.settings.profile import Lesson, PaperFigure, Profile
from dsgcore.settings.s3vm import S3VM
from dsgcore.settings.similar_unlabeled import SIMILAR_UNLABELED
from dsgcore.settings.supervised import SUPERVISED
from dsgcore.settings.theorems import Assumption, Breach, Constant, Rate

__all__ = ["PROFILES", "Assumption", "Breach", "Claim", "Constant", "Curve", "Estimate", "Goal", "GuidedLesson"]
__all__ += ["Lesson", "LessonStep", "Option", "PaperFigure", "Pick", "Profile", "Rate", "profile_of"]

PROFILES: dict[str, Profile] = {
    "supervised": SUPERVISED,
    "similar_unlabeled": SIMILAR_UNLABELED,
    "auc": AUC,
    "s3vm": S3VM,
    "ordinal": ORDINAL,
    "multiclass": MULTICLASS,
}


def profile_of(problem: Any) -> Profile:
    """Return the profile of a `Setting` or its type. Missing texts are made from the problem."""
    return _profile_of(problem if isinstance(problem, type) else type(problem))


@cache  # a run asks at each iteration
def _profile_of(kind: Any) -> Profile:
    given = PROFILES.get(kind.name, Profile())
    return replace(
        given,
        short=given.short or kind.title,
        paper=given.paper or kind.title,
        card=given.card or f"{kind.sentence[:1].upper()}{kind.sentence[1:]}.",
        prefix=f"{kind.name}_" if given.prefix is None else given.prefix,
    )

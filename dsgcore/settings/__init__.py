"""Profiles of the settings, one file each: names, defaults, theorem and lessons. All of them are optional."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from dsgcore.settings.auc import AUC
from dsgcore.settings.lessons import Claim as Claim
from dsgcore.settings.lessons import Curve as Curve
from dsgcore.settings.lessons import Estimate as Estimate
from dsgcore.settings.lessons import Goal as Goal
from dsgcore.settings.lessons import GuidedLesson as GuidedLesson
from dsgcore.settings.lessons import LessonStep as LessonStep
from dsgcore.settings.lessons import Option as Option
from dsgcore.settings.lessons import Pick as Pick
from dsgcore.settings.multiclass import MULTICLASS
from dsgcore.settings.ordinal import ORDINAL
from dsgcore.settings.profile import Lesson as Lesson
from dsgcore.settings.profile import PaperFigure as PaperFigure
from dsgcore.settings.profile import Profile as Profile
from dsgcore.settings.s3vm import S3VM
from dsgcore.settings.similar_unlabeled import SIMILAR_UNLABELED
from dsgcore.settings.supervised import SUPERVISED
from dsgcore.settings.theorems import Assumption as Assumption
from dsgcore.settings.theorems import Breach as Breach
from dsgcore.settings.theorems import Constant as Constant
from dsgcore.settings.theorems import Rate as Rate

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

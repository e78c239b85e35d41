"""Baselines: the papers' competing methods as scikit-learn estimators.

Each one minimises the objective of its authors' own program.
"""

from typing import Any

from dsgcore.baselines.ablations import LRCMC, SSMC, LinearMC
from dsgcore.baselines.base import Baseline, Progress
from dsgcore.baselines.centred_s3vm import BLS3VM, QNS3VM
from dsgcore.baselines.everyday import (
    EverydayBoosting,
    EverydayLogisticRegression,
    EverydayNeighbors,
    EverydayNystroem,
    EverydayOrdinalBoosting,
    EverydayOrdinalForest,
    EverydayOrdinalSVC,
    EverydayRandomForest,
    EverydaySelfTraining,
    EverydaySpreadingKNN,
    EverydaySpreadingRBF,
    EverydaySVC,
    EverydaySVR,
)
from dsgcore.baselines.gradient_s3vm import BGS3VM, FRS3VM
from dsgcore.baselines.pair_risk import MPNUAUC, MSAMULT, PNUAUC, SAMULT
from dsgcore.baselines.s3vm import S3VMLight
from dsgcore.baselines.similar_unlabeled import CUU, SUDH, SUSL
from dsgcore.baselines.svorex import SVOREX

# Methods that people install, for settings with class labels. None of them can learn from similar pairs.
_EVERYDAY = (
    EverydayLogisticRegression,
    EverydaySVC,
    EverydayNeighbors,
    EverydayNystroem,
    EverydayRandomForest,
    EverydayBoosting,
    EverydaySelfTraining,
    EverydaySpreadingKNN,
    EverydaySpreadingRBF,
)
_ORDINAL = (EverydaySVR, EverydayOrdinalSVC, EverydayOrdinalForest, EverydayOrdinalBoosting)
# The competitors of each setting.
COMPETITORS: dict[str, tuple[type[Any], ...]] = {
    "supervised": _EVERYDAY,
    "similar_unlabeled": (SUSL, SUDH, CUU),
    "auc": (PNUAUC, SAMULT, *_EVERYDAY),
    "s3vm": (S3VMLight, BLS3VM, BGS3VM, FRS3VM, QNS3VM, *_EVERYDAY),
    "ordinal": (SVOREX, MPNUAUC, MSAMULT, *_ORDINAL),
    "multiclass": (LinearMC, LRCMC, SSMC, *_EVERYDAY),
}

__all__ = [
    "BGS3VM",
    "BLS3VM",
    "COMPETITORS",
    "CUU",
    "FRS3VM",
    "LRCMC",
    "MPNUAUC",
    "MSAMULT",
    "PNUAUC",
    "QNS3VM",
    "SAMULT",
    "SSMC",
    "SUDH",
    "SUSL",
    "SVOREX",
    "Baseline",
    "EverydayBoosting",
    "EverydayLogisticRegression",
    "EverydayNeighbors",
    "EverydayNystroem",
    "EverydayOrdinalBoosting",
    "EverydayOrdinalForest",
    "EverydayOrdinalSVC",
    "EverydayRandomForest",
    "EverydaySVC",
    "EverydaySVR",
    "EverydaySelfTraining",
    "EverydaySpreadingKNN",
    "EverydaySpreadingRBF",
    "LinearMC",
    "Progress",
    "S3VMLight",
]

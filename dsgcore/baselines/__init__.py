"""Baselines: the papers' competing methods as scikit-learn estimators.

Each one minimises the objective of its authors' own program.
"""

from dsgcore.baselines.ablations import LRCMC as LRCMC
from dsgcore.baselines.ablations import SSMC as SSMC
from dsgcore.baselines.ablations import LinearMC as LinearMC
from dsgcore.baselines.base import Baseline as Baseline
from dsgcore.baselines.base import Progress as Progress
from dsgcore.baselines.centred_s3vm import BLS3VM as BLS3VM
from dsgcore.baselines.centred_s3vm import QNS3VM as QNS3VM
from dsgcore.baselines.everyday import EverydayBoosting as EverydayBoosting
from dsgcore.baselines.everyday import EverydayLogisticRegression as EverydayLogisticRegression
from dsgcore.baselines.everyday import EverydayNeighbors as EverydayNeighbors
from dsgcore.baselines.everyday import EverydayNystroem as EverydayNystroem
from dsgcore.baselines.everyday import EverydayOrdinalBoosting as EverydayOrdinalBoosting
from dsgcore.baselines.everyday import EverydayOrdinalForest as EverydayOrdinalForest
from dsgcore.baselines.everyday import EverydayOrdinalSVC as EverydayOrdinalSVC
from dsgcore.baselines.everyday import EverydayRandomForest as EverydayRandomForest
from dsgcore.baselines.everyday import EverydaySelfTraining as EverydaySelfTraining
from dsgcore.baselines.everyday import EverydaySpreadingKNN as EverydaySpreadingKNN
from dsgcore.baselines.everyday import EverydaySpreadingRBF as EverydaySpreadingRBF
from dsgcore.baselines.everyday import EverydaySVC as EverydaySVC
from dsgcore.baselines.everyday import EverydaySVR as EverydaySVR
from dsgcore.baselines.gradient_s3vm import BGS3VM as BGS3VM
from dsgcore.baselines.gradient_s3vm import FRS3VM as FRS3VM
from dsgcore.baselines.pair_risk import MPNUAUC as MPNUAUC
from dsgcore.baselines.pair_risk import MSAMULT as MSAMULT
from dsgcore.baselines.pair_risk import PNUAUC as PNUAUC
from dsgcore.baselines.pair_risk import SAMULT as SAMULT
from dsgcore.baselines.s3vm import S3VMLight as S3VMLight
from dsgcore.baselines.similar_unlabeled import CUU as CUU
from dsgcore.baselines.similar_unlabeled import SUDH as SUDH
from dsgcore.baselines.similar_unlabeled import SUSL as SUSL
from dsgcore.baselines.svorex import SVOREX as SVOREX

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
COMPETITORS: dict[str, tuple[type[Baseline], ...]] = {
    "supervised": _EVERYDAY,
    "similar_unlabeled": (SUSL, SUDH, CUU),
    "auc": (PNUAUC, SAMULT, *_EVERYDAY),
    "s3vm": (S3VMLight, BLS3VM, BGS3VM, FRS3VM, QNS3VM, *_EVERYDAY),
    "ordinal": (SVOREX, MPNUAUC, MSAMULT, *_ORDINAL),
    "multiclass": (LinearMC, LRCMC, SSMC, *_EVERYDAY),
}

"""The methods as scikit-learn estimators."""

from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.multiclass import PS3VT
from dsgcore.estimators.multiclass_special import LRCMC, SSMC, LinearMC
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU

__all__ = ["LRCMC", "PS3VT", "QS3ORAO", "QSGS2AUC", "SSMC", "TSGS3VM", "TSGSU", "LinearMC"]

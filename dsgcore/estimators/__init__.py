"""The methods as scikit-learn estimators."""

from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.dsg import DSG, DSGSoftmax
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.ps3vt import PS3VT
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU

__all__ = ["DSG", "PS3VT", "QS3ORAO", "QSGS2AUC", "TSGS3VM", "TSGSU", "DSGSoftmax"]

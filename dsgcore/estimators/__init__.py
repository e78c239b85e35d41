"""The methods as scikit-learn estimators."""

from dsgcore.estimators.auc import QSGS2AUC

__all__ = ["QSGS2AUC"]

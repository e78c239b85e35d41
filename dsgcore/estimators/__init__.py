"""The methods as scikit-learn estimators."""

from typing import TYPE_CHECKING

from dsgcore.core.lazy import lazily
from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU

if TYPE_CHECKING:
    from dsgcore.estimators.ps3vt import PS3VT

__all__ = ["PS3VT", "QS3ORAO", "QSGS2AUC", "TSGS3VM", "TSGSU"]

# Its modules take longer to import than all others here, so they are imported on first access.
__getattr__, __dir__ = lazily(__name__, {"PS3VT": "dsgcore.estimators.ps3vt"})

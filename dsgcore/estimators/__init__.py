"""The methods as scikit-learn estimators."""

from typing import TYPE_CHECKING

from dsgcore.core.lazy import lazily
from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU

if TYPE_CHECKING:
    from dsgcore.multiclass.ablations import LRCMC, SSMC, LinearMC
    from dsgcore.multiclass.ps3vt import PS3VT

__all__ = ["LRCMC", "PS3VT", "QS3ORAO", "QSGS2AUC", "SSMC", "TSGS3VM", "TSGSU", "LinearMC"]

# The multi-class methods import this package, so they are imported on first access.
_MODULES = {
    "PS3VT": "dsgcore.multiclass.ps3vt",
    **dict.fromkeys(("LRCMC", "SSMC", "LinearMC"), "dsgcore.multiclass.ablations"),
}
__getattr__, __dir__ = lazily(__name__, _MODULES)

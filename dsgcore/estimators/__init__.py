"""The methods as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU

if TYPE_CHECKING:
    from dsgcore.multiclass.ps3vt import PS3VT
    from dsgcore.multiclass.special import LRCMC, SSMC, LinearMC

__all__ = ["LRCMC", "PS3VT", "QS3ORAO", "QSGS2AUC", "SSMC", "TSGS3VM", "TSGSU", "LinearMC"]

# The multi-class methods import this package. So they are imported on first access.
_PLACES = {"PS3VT": "ps3vt", **dict.fromkeys(("LRCMC", "SSMC", "LinearMC"), "special")}


def __getattr__(name: str) -> Any:
    """Import one of the multi-class methods on first access."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"dsgcore.multiclass.{_PLACES[name]}"), name)

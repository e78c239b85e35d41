"""Baselines: the papers' competing methods as scikit-learn estimators.

Each one minimises the objective of its authors' own program.
"""

from typing import TYPE_CHECKING

from dsgcore.baselines.registry import COMPETITORS, METHODS
from dsgcore.core.lazy import lazily

if TYPE_CHECKING:
    from dsgcore.baselines.base import Baseline
    from dsgcore.baselines.progress import Progress

__all__ = ["COMPETITORS", "Baseline", "Progress"]
_MODULES = {
    "Baseline": "dsgcore.baselines.base",
    "Progress": "dsgcore.baselines.progress",
    **{name: module for methods in METHODS.values() for name, module in methods.items()},
}
__getattr__, __dir__ = lazily(__name__, _MODULES)

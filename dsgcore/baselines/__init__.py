"""Baselines: the papers' competing methods as scikit-learn estimators.

Each one minimises the objective of its authors' own program.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dsgcore.baselines.registry import COMPETITORS, PLACES

if TYPE_CHECKING:
    from dsgcore.baselines.base import Baseline
    from dsgcore.baselines.progress import Progress

# The module that holds each name. A module is imported on first access, because scikit-learn alone takes more than a
# second.
_PLACES = {
    "Baseline": "base",
    "Progress": "progress",
    **{name: module for places in PLACES.values() for module, name in places},
}
__all__ = ["COMPETITORS", "Baseline", "Progress"]


def __getattr__(name: str) -> Any:
    """Import a public name, or a method's class, on first access."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__, *_PLACES})

"""The methods that the papers compare with, each by its own program's objective, as scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dsgcore.baselines.registry import COMPETITORS, PLACES

if TYPE_CHECKING:
    from dsgcore.baselines.base import Baseline
    from dsgcore.baselines.memory import MemoryLimitError
    from dsgcore.baselines.progress import Cancelled, Progress

# Where each name is found when it is first asked for: scikit-learn alone would take more than a second to import.
_PLACES = {
    "Baseline": "base",
    "MemoryLimitError": "memory",
    "Cancelled": "progress",
    "Progress": "progress",
    **{name: module for places in PLACES.values() for module, name in places},
}
__all__ = ["COMPETITORS", "Baseline", "Cancelled", "MemoryLimitError", "Progress"]


def __getattr__(name: str) -> Any:
    """Import a public name, or a method's class, when it is first asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__, *_PLACES})

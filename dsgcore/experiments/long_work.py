"""What a run needs before it can begin and that takes long, made in the background while a page shows how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LongWork:
    """A function of a module, for a job of its own, and what to do with its result.

    Attributes
    ----------
    function : callable
        Called as ``function(*arguments, report=report)``; reports what is being done and the share done, as (str, float).
    arguments : tuple
    keep : callable
        Gets the result: from then on the run can begin at once.
    """

    function: Callable[..., Any]
    arguments: tuple
    keep: Callable[[Any], None]

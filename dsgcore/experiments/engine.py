"""The methods that a run can have: each makes an iteration and measures it, with members of the same names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dsgcore.data import Split
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.multiclass.engine import MultiClassEngine
from dsgcore.multiclass.softmax import SoftmaxEngine

# By the name that a problem gives as its `engine_of_run`.
ENGINES: dict[str, type[Any]] = {
    "stochastic": StochasticEngine,
    "proximal": MultiClassEngine,
    "softmax": SoftmaxEngine,
}


@dataclass(frozen=True)
class LongWork:
    """Slow work that a run needs before it can begin. A background job does it while the page shows the progress.

    Attributes
    ----------
    function : callable
        A function of a module, called as ``function(*arguments, report=report)``. It reports the current step and the
        share done, (str, float).
    keep : callable
        Called with the result. After that the run can begin at once.
    """

    function: Callable[..., Any]
    arguments: tuple
    keep: Callable[[Any], None]


def long_work(spec: Spec, split: Split) -> LongWork | None:
    """Return the work that a run needs before it can begin, if a page should not wait for it."""
    found = ENGINES[spec.problem.engine_of_run].long_work(spec, split)
    return None if found is None else LongWork(*found)

"""A gauge's light, sentence and remedy, and all gauges of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

WANDERING = "Wander"


class Light(Enum):
    """State of a gauge, in words."""

    UNKNOWN = "too early to tell"
    GOOD = "fine"
    OPEN = "more would still help"
    LIMITS = "limits this run"


@dataclass(frozen=True)
class Gauge:
    """One possible limit of a run.

    Attributes
    ----------
    name : str
        "Step", "Iterations", "Batches", "Features" or "Wander".
    value : str
        The measured value.
    sentence : str
        The meaning of the value.
    remedy : str
        The suggested change; empty if there is none.
    changes : dict
        The suggested change as values of the spec's solver section.
    severity : float
        The measured value, in units of the limit.
    expected : str
        The expected value after the change; empty if it is unknown.
    """

    name: str
    light: Light
    value: str
    sentence: str
    remedy: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    severity: float = 0.0
    expected: str = ""


@dataclass(frozen=True)
class LiveGauges:
    """The gauges that have a meaning for a run, after some iterations of it.

    Attributes
    ----------
    gauges : tuple of Gauge
    beaten_by : str
        The twin's name if no gauge shows a limit and the run scores worse than its twin; else empty.
    """

    gauges: tuple[Gauge, ...]
    beaten_by: str = ""

    @property
    def leading(self) -> Gauge | None:
        """The worst of the gauges that limit the run. Wandering is a consequence of the others, so it comes last."""
        limiting = [gauge for gauge in self.gauges if gauge.light is Light.LIMITS]
        causes = [gauge for gauge in limiting if gauge.name != WANDERING] or limiting
        return max(causes, key=lambda gauge: gauge.severity, default=None)

    def summary(self) -> str:
        """Return the result of the gauges in a sentence or two."""
        if self.leading is not None:
            return f"{self.leading.name}: {self.leading.light.value}."
        if any(gauge.light is Light.OPEN for gauge in self.gauges):
            return STILL
        if any(gauge.light is Light.UNKNOWN for gauge in self.gauges):
            return EARLY
        return BEATEN.format(self.beaten_by) if self.beaten_by else NOTHING


STILL = "Still converging."
NOTHING, EARLY = "Nothing limits this run.", "It is too early to say what limits this run."
BEATEN = "No gauge limits this run, but it scores worse than “{}”. Change the problem's parameters or the kernel."

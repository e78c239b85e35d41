"""A gauge's light, sentence and remedy, and the strip of a run's gauges."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

WANDERING = "Wander"


class Light(Enum):
    """How a gauge stands, in words."""

    UNKNOWN = "too early to tell"
    GOOD = "fine"
    OPEN = "more would still help"
    LIMITS = "limits this run"


@dataclass(frozen=True)
class Gauge:
    """One cause that can hold a run back.

    Attributes
    ----------
    name : str
        "Step", "Iterations", "Batches", "Features" or "Wander".
    value : str
        What it reads.
    sentence : str
        What that means.
    remedy : str
        What to change; empty where there is nothing to change.
    changes : dict
        The same as values of the spec's solver section.
    severity : float
        What it reads, in units of what is too much.
    expected : str
        What it should read after the change; empty where that cannot be said.
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
class Strip:
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
        """The worst of those that limit the run; wandering is what causes lead to, and comes after them."""
        limiting = [gauge for gauge in self.gauges if gauge.light is Light.LIMITS]
        causes = [gauge for gauge in limiting if gauge.name != WANDERING] or limiting
        return max(causes, key=lambda gauge: gauge.severity, default=None)

    def summary(self) -> str:
        """Return in a sentence or two what the gauges come to."""
        if self.leading is not None:
            return f"{self.leading.name}: {self.leading.light.value}."
        if any(gauge.light is Light.OPEN for gauge in self.gauges):
            return STILL
        if any(gauge.light is Light.UNKNOWN for gauge in self.gauges):
            return EARLY
        return BEATEN.format(self.beaten_by) if self.beaten_by else NOTHING


STILL = "Still converging."
NOTHING, EARLY = "Nothing limits this run.", "It is too early to say what limits this run."
BEATEN = "No gauge limits this run, but it scores worse than {}. Change the problem's parameters or the kernel."

"""A gauge's light, sentence and remedy, and all gauges of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

WANDERING, SCORE, REGULARISATION = "Wander", "Score", "Regularisation"


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
        "Step", "Iterations", "Batches", "Features" or "Wander"; "Regularisation" or "Score" only if it is not fine.
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
    state : str
        The state in words, in place of the light's.
    """

    name: str
    light: Light
    value: str
    sentence: str
    remedy: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    severity: float = 0.0
    expected: str = ""
    state: str = ""

    @property
    def said(self) -> str:
        """The state in words."""
        return self.state or self.light.value


@dataclass(frozen=True)
class LiveGauges:
    """The gauges that have a meaning for a run, after some iterations of it.

    Attributes
    ----------
    gauges : tuple of Gauge
    beaten_by : str
        The twin's name if no gauge shows a limit and the run scores worse than its twin; else empty.
    fallen : str
        The highest score and the last one if no gauge shows a limit and the score has fallen; else empty.
    """

    gauges: tuple[Gauge, ...]
    beaten_by: str = ""
    fallen: str = ""

    @property
    def leading(self) -> Gauge | None:
        """The worst of the gauges that limit the run. Wandering and the score are consequences, so they come last."""
        limiting = [gauge for gauge in self.gauges if gauge.light is Light.LIMITS]
        causes = [gauge for gauge in limiting if gauge.name not in (WANDERING, SCORE)] or limiting
        return max(causes, key=lambda gauge: gauge.severity, default=None)

    def summary(self) -> str:
        """Return the result of the gauges in a sentence or two."""
        if self.leading is not None:
            return f"{self.leading.name}: {self.leading.said}."
        still = [gauge for gauge in self.gauges if gauge.light is Light.OPEN]
        if still:
            return f"{still[0].name}: {still[0].state}." if still[0].state else STILL
        if any(gauge.light is Light.UNKNOWN for gauge in self.gauges):
            return EARLY
        if self.beaten_by:
            return BEATEN.format(self.beaten_by)
        return FALLEN.format(self.fallen) if self.fallen else NOTHING


STILL = "Still converging."
NOTHING, EARLY = "Nothing limits this run.", "It is too early to say what limits this run."
BEATEN = "No gauge limits this run, but it scores worse than “{}”. Change the problem's parameters or the kernel."
FALLEN = (
    "No gauge limits this run, but its score has fallen from {}. Fewer iterations or other parameters may be better."
)

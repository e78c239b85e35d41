"""How parameters are drawn where good ones are looked for: about the value that is there, or among a few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsgcore.core.parameters import Integer, Parameter, Real

# Half of what is drawn stays near the value that is there: within this share of the way, on a logarithmic scale.
NEAR = 0.4


@dataclass(frozen=True)
class Times:
    """A number that is drawn as a multiple, up to `most` times larger or smaller, of the value that is there."""

    most: float

    def draw(self, drawn: np.random.Generator, value: Any, parameter: Parameter) -> Any:
        """Return one, within the parameter's range and of three digits; what the run finds by itself it goes on to find."""
        if value is None or not isinstance(parameter, Real | Integer):
            return value
        reach = np.log(self.most) * (NEAR if drawn.random() < 0.5 else 1.0)
        found = float(f"{value * np.exp(drawn.uniform(-reach, reach)):.3g}")
        low, high = (end if end is not None else found for end in (parameter.low, parameter.high))
        return type(value)(min(max(found, low), high))


@dataclass(frozen=True)
class Among:
    """A parameter that is drawn among a few values."""

    values: tuple[Any, ...]

    def draw(self, drawn: np.random.Generator, value: Any, parameter: Parameter) -> Any:
        """Return one of them."""
        return self.values[int(drawn.integers(len(self.values)))]


TRUST = Among((0.2, 0.4, 0.6, 0.8, 0.9, 1.0))
# Width of the kernel, ridge and step: what matters in any setting.
USUAL: dict[str, Times | Among] = {"sigma": Times(16.0), "lam": Times(100.0), "step_size": Times(4.0)}

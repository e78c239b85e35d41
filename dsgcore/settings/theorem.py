"""What a paper's theorem promises of a run, what it assumes, and what breaks that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec


@dataclass(frozen=True)
class Breach:
    """What breaks an assumption: its name, values of a spec by section (its "changes" are a list), and what then happens."""

    name: str
    values: Mapping[str, Any]
    then: str


@dataclass(frozen=True)
class Rate:
    """How fast a theorem says that something falls.

    Attributes
    ----------
    slope : float
        The power of what it falls with.
    of : {"t", "T"}
        The iteration, or the length of the run.
    words : str
        As people write it.
    """

    slope: float
    of: str
    words: str


@dataclass(frozen=True)
class Measured:
    """What a theorem's constants are made of, as it was met on the way.

    Attributes
    ----------
    M : float
        The largest sum of a batch's coefficients' sizes.
    L : float
        The sum of the sizes of the risk's second derivatives: how fast those coefficients can change.
    f_star : float
        The norm of f* in the kernel's space.
    """

    M: float
    L: float
    f_star: float


@dataclass(frozen=True)
class Constant:
    """A theorem's own bound: of a quantity of `dsgcore.diagnostics.way`, `value` times t or T to the power of the rate.

    Attributes
    ----------
    words : str
        The formula, in Markdown.
    ingredients : mapping of str to float
        What goes into it, by the papers' symbols.
    """

    of: str
    value: float
    rate: Rate
    words: str
    ingredients: Mapping[str, float]


@dataclass(frozen=True)
class Assumption:
    """One thing that a theorem takes for granted.

    Attributes
    ----------
    remedy : mapping of str to mapping
        What makes it hold: values of a spec, by section.
    why_not : str
        Why nothing of the kind makes it hold; empty where something does.
    breach : Breach or None
        How to break it in order to see what then happens.
    """

    sentence: str
    holds: bool
    remedy: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    why_not: str = ""
    breach: Breach | None = None


@dataclass(frozen=True)
class Theorem:
    """What a paper proves.

    Attributes
    ----------
    statement : str
        Markdown.
    assumptions : callable
        From a spec: what the theorem takes for granted, and whether the spec keeps to it.
    rates : mapping of str to Rate
        By the quantities of `dsgcore.diagnostics.way`: how fast they fall.
    shown_with : mapping of str to any
        Values with which the rates are seen soon.
    names_kernel : bool
        Whether its random features are those of the spec's kernel, about which there is more to say.
    cost : str
        What it can cost to keep to the assumptions.
    constant : callable
        From a spec that keeps to them and what was measured of its runs: the bound with its constant, where the paper gives one.
    """

    statement: str
    assumptions: Callable[[Spec], tuple[Assumption, ...]] = lambda spec: ()
    rates: Mapping[str, Rate] = field(default_factory=dict)
    shown_with: Mapping[str, Any] = field(default_factory=dict)
    names_kernel: bool = True
    cost: str = ""
    constant: Callable[[Spec, Measured], Constant | None] = lambda spec, measured: None

    @property
    def error_slope(self) -> float | None:
        """The predicted slope of log |f - h|^2 against log t; None where the theorem speaks of the run's length only."""
        rate = self.rates.get("error")
        return None if rate is None or rate.of != "t" else rate.slope


NO_THEOREM = Theorem("No theorem is known here of what this setting promises.")

"""Theorems of the papers: statements, assumptions, and ways to break an assumption."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec


@dataclass(frozen=True)
class Breach:
    """Way to break an assumption: a name, values of a spec by section ("changes" is a list), and the consequence."""

    name: str
    values: Mapping[str, Any]
    then: str


@dataclass(frozen=True)
class Rate:
    """Rate at which a quantity falls, according to a theorem.

    Attributes
    ----------
    slope : float
        Exponent of t or T.
    of : {"t", "T"}
        The iteration, or the length of the run.
    words : str
        The rate in mathematical notation.
    """

    slope: float
    of: str
    words: str


@dataclass(frozen=True)
class Measured:
    """Measured quantities that a theorem's constants depend on.

    Attributes
    ----------
    M : float
        Largest sum of the absolute coefficients of a mini-batch.
    f_star : float
        Norm of f* in the kernel's space.
    """

    M: float
    f_star: float


@dataclass(frozen=True)
class Constant:
    """Bound of a theorem on a quantity of `dsgcore.diagnostics.convergence`: `value` times a power of t or T.

    Attributes
    ----------
    words : str
        Formula in Markdown.
    ingredients : mapping of str to float
        Values in the formula, by the paper's symbols.
    """

    of: str
    value: float
    rate: Rate
    words: str
    ingredients: Mapping[str, float]


@dataclass(frozen=True)
class Assumption:
    """Assumption of a theorem.

    Attributes
    ----------
    remedy : mapping of str to mapping
        Values of a spec that make it hold, by section.
    why_not : str
        Reason why no value makes it hold. Empty if there is a remedy.
    breach : Breach or None
        Way to break it and see the consequence.
    """

    sentence: str
    holds: bool
    remedy: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    why_not: str = ""
    breach: Breach | None = None


@dataclass(frozen=True)
class Theorem:
    """Theorem of a paper.

    Attributes
    ----------
    statement : str
        Text in Markdown.
    assumptions : callable
        Function from a spec to the assumptions, and whether the spec meets them.
    rates : mapping of str to Rate
        Rates, by the quantities of `dsgcore.diagnostics.convergence`.
    shown_with : mapping of str to any
        Values with which the rates are visible after few iterations.
    names_kernel : bool
        True if its random features are those of the spec's kernel.
    cost : str
        Possible cost of meeting the assumptions.
    bound : str
        The paper's name of its bound on |f - h|^2, such as "Lemma 1".
    constant : callable
        Function from a spec that meets the assumptions, and the measured quantities, to the bound. None if the paper gives none.
    """

    statement: str
    assumptions: Callable[[Spec], tuple[Assumption, ...]] = lambda spec: ()
    rates: Mapping[str, Rate] = field(default_factory=dict)
    shown_with: Mapping[str, Any] = field(default_factory=dict)
    names_kernel: bool = True
    cost: str = ""
    bound: str = ""
    constant: Callable[[Spec, Measured], Constant | None] = lambda spec, measured: None

    @property
    def error_slope(self) -> float | None:
        """Predicted slope of log |f - h|^2 against log t, or None if the theorem is about the length of the run only."""
        rate = self.rates.get("error")
        return None if rate is None or rate.of != "t" else rate.slope


NO_THEOREM = Theorem("DSG Lab knows no theorem for this setting.")

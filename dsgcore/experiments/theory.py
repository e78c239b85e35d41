"""What the papers' theorems promise of a run, what they assume, and whether the run's spec keeps to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgcore.core.kernels import Kernel
from dsgcore.experiments.kernel_words import words_of
from dsgcore.experiments.spec import Spec
from dsgcore.settings import Assumption, Breach, Rate, profile_of


@dataclass(frozen=True)
class Theory:
    """A theorem and its assumptions.

    Attributes
    ----------
    statement : str
        Markdown.
    error_slope : float or None
        Predicted slope of log |f - h|^2 against log t; None where the theorem speaks of the run's length only.
    rates : mapping of str to Rate
        By what falls, how fast it does.
    cost : str
        What it can cost to keep to them; empty where that is nothing.
    """

    statement: str
    error_slope: float | None
    rates: Mapping[str, Rate]
    assumptions: tuple[Assumption, ...]
    cost: str = ""

    @property
    def holds(self) -> bool:
        """Whether all assumptions hold."""
        return all(assumption.holds for assumption in self.assumptions)


def theory_of(spec: Spec) -> Theory:
    """Return what the paper of a spec's setting says about its run."""
    theorem = profile_of(spec.problem).theorem
    parts = [theorem.statement, *([kernel_statement(spec.kernel)] if theorem.names_kernel else [])]
    return Theory("\n\n".join(parts), theorem.error_slope, theorem.rates, theorem.assumptions(spec), theorem.cost)


def remedies(spec: Spec) -> dict[str, dict[str, Any]]:
    """Return what makes the assumptions hold that can be made to hold: values by section; none where all do."""
    values: dict[str, dict[str, Any]] = {}
    for assumption in theory_of(spec).assumptions:
        if not assumption.holds:
            for section, own in assumption.remedy.items():
                values.setdefault(section, {}).update(own)
    return values


def kept_to(spec: Spec) -> Spec:
    """Return the spec with the theorem's assumptions made to hold, as far as they can be, and nothing changed on the way."""
    plain = spec.to_dict() | {"changes": []}
    for section, own in remedies(spec).items():
        plain[section] = plain[section] | own
    return Spec.from_dict(plain)


def breaches(spec: Spec) -> tuple[Breach, ...]:
    """Return what breaks each of the theorem's assumptions, for a spec that keeps to all of them."""
    return tuple(a.breach for a in theory_of(kept_to(spec)).assumptions if a.breach is not None and a.breach.values)


def broken_by(spec: Spec, breach: Breach) -> Spec:
    """Return the spec with the theorem's assumptions made to hold but for the one that is broken."""
    plain = kept_to(spec).to_dict()
    for section, own in breach.values.items():
        # Of a kernel of another kind, the parameters are its own.
        is_other = section == "kernel" and own.get("name", plain["kernel"]["name"]) != plain["kernel"]["name"]
        plain[section] = own if is_other or isinstance(own, list) else plain[section] | own
    return Spec.from_dict(plain)


def kernel_statement(kernel: Kernel) -> str:
    """Return in Markdown what a run's kernel and its random features are, and what the theorem does not say of them."""
    words = words_of(kernel.name)
    said = f"**{words.title} kernel.** {words.formula}. Its random features are {words.features}."
    return f"{said} {words.remark}".rstrip()

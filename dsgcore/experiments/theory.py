"""The papers' theorems for a run, their assumptions, and a check of the run's spec against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgcore.experiments.kernel_words import words_of
from dsgcore.experiments.settings import solver_parameters
from dsgcore.experiments.spec import Spec
from dsgcore.kernels import Gaussian, Kernel
from dsgcore.problems.as_in_paper import AS_IN_PAPER
from dsgcore.settings import Assumption, Breach, Rate, profile_of


@dataclass(frozen=True)
class Theory:
    """A theorem and its assumptions.

    Attributes
    ----------
    statement : str
        Markdown.
    error_slope : float or None
        Predicted slope of log |f - h|^2 against log t; None if the theorem is about the run's length only.
    rates : mapping of str to Rate
        The rate of decrease, by quantity.
    cost : str
        The cost of keeping to the assumptions, in words; empty if there is none.
    """

    statement: str
    error_slope: float | None
    rates: Mapping[str, Rate]
    assumptions: tuple[Assumption, ...]
    cost: str = ""

    @property
    def holds(self) -> bool:
        """True if all assumptions hold."""
        return all(assumption.holds for assumption in self.assumptions)


def theory_of(spec: Spec) -> Theory:
    """Return the theorem of the setting's paper for a spec's run."""
    theorem = profile_of(spec.problem).theorem
    parts = [theorem.statement, *([kernel_statement(spec.kernel)] if theorem.names_kernel else [])]
    return Theory("\n\n".join(parts), theorem.error_slope, theorem.rates, theorem.assumptions(spec), theorem.cost)


def remedies(spec: Spec) -> dict[str, dict[str, Any]]:
    """Return values, by section, that make the assumptions hold if possible; None if all hold already."""
    values: dict[str, dict[str, Any]] = {}
    for assumption in theory_of(spec).assumptions:
        if not assumption.holds:
            for section, own in assumption.remedy.items():
                values.setdefault(section, {}).update(own)
    return values


def kept_to(spec: Spec) -> Spec:
    """Return the spec changed so that the theorem's assumptions hold as far as possible, without changes during the run."""
    plain = spec.to_dict() | {"changes": []}
    for section, own in remedies(spec).items():
        plain[section] = plain[section] | own
    return Spec.from_dict(plain)


def as_in_paper(spec: Spec, n: int) -> Spec:
    """Return the spec with the values of its paper's own experiments, for `n` training points, and no changes on the way.

    Its own values stay where the paper's grid holds them. A setting without a paper stays as it is.
    """
    plain, name = spec.to_dict() | {"changes": []}, spec.problem.name
    if name not in AS_IN_PAPER:
        return spec
    own = {**plain["problem"], **plain["kernel"], **plain["solver"]}
    if own["step_size"] is not None and own["schedule"] != AS_IN_PAPER[name].values["schedule"]:
        own["step_size"] = None  # it means another step
    values = AS_IN_PAPER[name].at(n, own)
    if spec.kernel.name != Gaussian.name:
        plain["kernel"] = {"name": Gaussian.name}
    values["tol"] = 0.0
    offered = {
        "problem": spec.problem.parameters,
        "kernel": Gaussian.parameters,
        "solver": solver_parameters(type(spec.problem)),
    }
    for section, parameters in offered.items():
        plain[section] |= {p.name: values[p.name] for p in parameters if p.name in values}
    return Spec.from_dict(plain)


def breaches(spec: Spec) -> tuple[Breach, ...]:
    """Return the values that break each of the theorem's assumptions, for a spec that meets all of them."""
    return tuple(a.breach for a in theory_of(kept_to(spec)).assumptions if a.breach is not None and a.breach.values)


def broken_by(spec: Spec, breach: Breach) -> Spec:
    """Return the spec with all of the theorem's assumptions but one."""
    plain = kept_to(spec).to_dict()
    for section, own in breach.values.items():
        # A kernel of another kind has its own parameters.
        is_other = section == "kernel" and own.get("name", plain["kernel"]["name"]) != plain["kernel"]["name"]
        plain[section] = own if is_other or isinstance(own, list) else plain[section] | own
    return Spec.from_dict(plain)


def kernel_statement(kernel: Kernel) -> str:
    """Return a Markdown text about a run's kernel, its random features, and the limits of the theorem for it."""
    words = words_of(kernel.name)
    said = f"**{words.title} kernel.** {words.formula}. Its random features are {words.features}."
    return f"{said} {words.remark}".rstrip()

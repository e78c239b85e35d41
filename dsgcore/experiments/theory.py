"""The papers' theorems for a run, a check of the run's spec against their assumptions, and descriptions of the kernels."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dsgcore.experiments.spec import Spec, places_of, with_values
from dsgcore.kernels import KERNELS, Gaussian
from dsgcore.problems.as_in_paper import AS_IN_PAPER, PaperValues
from dsgcore.settings import Breach, profile_of
from dsgcore.settings.theorems import NO_THEOREM, Theorem


@dataclass(frozen=True)
class KernelWords:
    """Description of a kernel, from `kernel_words.toml`."""

    # The name in the app, also in links.
    title: str
    # Its effect on the data, to help the choice.
    sentence: str
    # k(x, x') and its random features, in Markdown with short formulas, between which a narrow page can break.
    formula: str
    features: str
    # Limits of the papers' theorems for this kernel, in Markdown; empty if they hold unchanged.
    remark: str = ""


@cache
def words_of(name: str) -> KernelWords:
    """Return the description of a kernel; by default, the first line of its docstring."""
    said = tomllib.loads(Path(__file__).with_name("kernel_words.toml").read_text(encoding="utf-8")).get(name)
    if said is not None:
        return KernelWords(**{field: text.replace("\n", " ") for field, text in said.items()})
    kernel = KERNELS[name]
    first = (kernel.__doc__ or kernel.name).strip().splitlines()[0].rstrip(".")
    return KernelWords(name.replace("_", " ").capitalize(), f"{first}.", first, "those of this kernel")


def _is_papers(spec: Spec) -> bool:
    return spec.problem.engine_of_run == spec.problem.engine


def paper_of(spec: Spec) -> PaperValues | None:
    """Return the values of the experiments of the paper whose method a spec's run is; None if there is none."""
    return AS_IN_PAPER.get(spec.problem.name) if _is_papers(spec) else None


def theory_of(spec: Spec) -> Theorem:
    """Return the theorem of the setting's paper for a spec's run, with its assumptions; of another method, that there is none."""
    theorem = profile_of(spec.problem).theorem if _is_papers(spec) else NO_THEOREM
    statement = theorem.statement
    if theorem.names_kernel:
        words = words_of(spec.kernel.name)
        said = f"**{words.title} kernel.** {words.formula}. Its random features are {words.features}. {words.remark}"
        statement = f"{statement}\n\n{said.rstrip()}"
    return replace(theorem, statement=statement, assumptions=theorem.assumed(spec))


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
    plain, paper = spec.to_dict(), paper_of(spec)
    if paper is None:
        return spec
    own = {**plain["problem"], **plain["kernel"], **plain["solver"]}
    if own["step_size"] is not None and own["schedule"] != paper.values["schedule"]:
        own["step_size"] = None  # it means another step
    if spec.kernel.name != Gaussian.name:
        spec = Spec.from_dict(plain | {"changes": [], "kernel": {"name": Gaussian.name}})
    values, offered = paper.at(n, own) | {"tol": 0.0}, places_of(spec)
    return with_values(spec, {name: value for name, value in values.items() if name in offered})


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

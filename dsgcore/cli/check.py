"""The command ``dsg-lab check SPEC.json``."""

from __future__ import annotations

import argparse
import json

from dsgcore.cli.ending import NO
from dsgcore.cli.places import check_files
from dsgcore.cli.progress import Line, bar
from dsgcore.cli.sweep import inputs_of
from dsgcore.core.durations import TimeLeft
from dsgcore.diagnostics.four_runs import check_possible
from dsgcore.diagnostics.limits import Limits, limits
from dsgcore.experiments.cost import check_cost, machine_budget
from dsgcore.experiments.loading import load_split, read_spec

# The progress is shown in so many parts.
PARTS = 1000


def check(given: argparse.Namespace) -> int:
    """Print the verdict on a run; return 0 if the run has converged, else 1."""
    spec = read_spec(given.spec)
    check_files({"--json": (given.json, '"largest_step": ')}, inputs_of(given.spec, spec))
    check_possible(spec)
    check_cost(spec, machine_budget())
    line, left = Line(is_quiet=False), TimeLeft()

    def tell(share: float) -> None:
        done = round(PARTS * share)
        line.show(f"{bar(done, PARTS)} {share:.0%}{left.text(done, PARTS)}")

    found = limits(spec, given.seeds, split=load_split(spec, folder=given.spec.parent), tell=tell)
    line.end()
    if given.json is not None:
        given.json.write_text(json.dumps(found.to_dict(), indent=2) + "\n", encoding="utf-8")
    print(words(found))
    return 0 if found.converged else NO


def words(found: Limits) -> str:
    """Return the verdict as lines: convergence, parts and shares, slopes, and the change to make."""
    if any(run.has_grown for run in found.runs):
        return f"The run diverges. {found.remedy}\n{_seeds(found)}"
    state = "has converged" if found.converged else "has not converged"
    optimum = "the optimum f*" if found.runs[0].is_exact else "the point that it would reach without noise, f*"
    lines = [f"The run {state}: at the end it is {found.parts['together']:.3g} ||f*|| away from {optimum}."]
    for name in ("optimisation", "batches", "features"):
        lines.append(f"  {name:<13}{found.parts[name]:8.3g} ||f*||, {found.shares[name]:7.1%} of the squared distance")
    lines.append(f"  {'remainder':<13}{'':8}         {found.shares['remainder']:7.1%}")
    lines.append(f"Leading: {found.leading}. {found.remedy}")
    lines.append(
        f"Slopes over the second half: |f - h|^2 {found.slopes['error']:+.2f}, |f - f*|^2 {found.slopes['distance']:+.2f}."
    )
    lines.append(_seeds(found))
    return "\n".join(lines)


def _seeds(found: Limits) -> str:
    if found.subsample is not None:
        return found.subsample.sentence()
    return f"Seeds: {', '.join(map(str, found.seeds))}."

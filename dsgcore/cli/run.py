"""Commands ``dsg-lab run`` and ``dsg-lab check``: the run of a spec, from its file to its results, and what limits it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from dsgcore.cli.ending import NO, Made, Progress, note
from dsgcore.cli.options import PROGRAM
from dsgcore.cli.places import check_files, check_folder, holds_fields, inputs_of, json_file
from dsgcore.core.durations import TimeLeft
from dsgcore.core.files import whole_files
from dsgcore.diagnostics.judgement import Judgement, judgement
from dsgcore.diagnostics.limits import RunLimits, limits
from dsgcore.diagnostics.references import check_possible
from dsgcore.experiments import Run, StopReason, as_in_paper, load_split, read_spec, summary_json
from dsgcore.experiments.cost import check_cost, machine_budget

_RESULTS = ("history.csv", "model.npz", "spec.json", "result.json")
# The progress of a check is shown in so many parts.
_PARTS = 1000


def run(given: argparse.Namespace) -> Made:
    """Run a spec, and write its history, model, spec and result."""
    spec, budget = read_spec(given.spec), machine_budget(given.memory_limit)
    check_folder(given.out, _RESULTS, inputs_of(given.spec, spec), _is_own)
    check_files(json_file(given), inputs_of(given.spec, spec))
    check_cost(spec, budget)
    with whole_files(given.out, _RESULTS) as part:  # tested before anything is computed
        split = load_split(spec, folder=given.spec.parent)
        if given.as_in_paper:
            spec = as_in_paper(spec, len(split.X_train))
        check_cost(spec, budget, split.shape)
        made, progress = Run(spec, split), Progress(is_quiet=given.quiet)
        while not made.is_finished:
            made.advance(seconds=1.0)
            progress.show(_words(made.history.last(), made.n_iter, progress.left))
        history, model, own_spec, result = (part / name for name in _RESULTS)
        made.history.write_csv(history)
        made.result.save(model)
        own_spec.write_text(made.spec.to_json(indent=2) + "\n", encoding="utf-8")
        summary = summary_json(made)
        result.write_text(summary + "\n", encoding="utf-8")
    facts = {**json.loads(summary), "out": given.out}
    if made.stop_reason is StopReason.DIVERGED:
        note(
            f"{PROGRAM}: the run has diverged after iteration {made.t} of {made.n_iter}: its values are no longer finite. "
            f"Choose a smaller step size; {given.out} holds the last state before that"
        )
        return Made(facts, code=NO)
    return Made(
        facts, f"{made.stop_reason.value if made.stop_reason else ''} {', '.join(_RESULTS)} are in {given.out}.".strip()
    )


def _is_own(file: Path) -> bool:
    return holds_fields(file, _RESULTS[-1], {"spec_sha256"})


def _words(row: dict[str, float], n_iter: int, left: TimeLeft) -> str:
    if not row:
        return "the run could not make an iteration"
    said = f"{row['t']:.0f} of {n_iter}: objective {row['objective']:.5g}, test score {row['score_test']:.5g}"
    return said + left.text(int(row["t"]), n_iter)


def check(given: argparse.Namespace) -> Made:
    """Return the verdict on a run; the exit code is 0 if the run has converged, else 1."""
    spec = read_spec(given.spec)
    check_files(json_file(given), inputs_of(given.spec, spec))
    check_possible(spec)
    check_cost(spec, machine_budget())
    progress = Progress(is_quiet=given.quiet)

    def tell(share: float) -> None:
        progress.part(round(_PARTS * share), _PARTS, f"{share:.0%}")

    split = load_split(spec, folder=given.spec.parent)
    found, run = limits(spec, given.seeds, split=split, callback=tell), Run(spec, split)
    run.advance()
    said = judgement(run, limits=found)
    data = found.to_dict() | {"cause": said.cause.value, "sentence": said.sentence, "remedy": said.remedy}
    return Made(data, words(found, said), 0 if found.converged else NO, is_result=True)


def words(found: RunLimits, said: Judgement) -> str:
    """Return the verdict as lines: convergence, parts and shares, slopes, and the app's judgement with its remedy."""
    seeds = f"Seeds: {', '.join(map(str, found.seeds))}." if found.subsample is None else found.subsample.sentence()
    advice = f"{said.sentence} {said.remedy}".rstrip()
    if found.has_grown:
        return f"The run diverges. {advice}\n{seeds}"
    state = "has converged" if found.converged else "has not converged"
    optimum = "the optimum f*" if found.runs[0].is_exact else "the point that it would reach without noise, f*"
    lines = [f"The run {state}: at the end it is {found.parts['together']:.3g} ||f*|| away from {optimum}."]
    for name in ("optimisation", "batches", "features"):
        lines.append(f"  {name:<13}{found.parts[name]:8.3g} ||f*||, {found.shares[name]:7.1%} of the squared distance")
    lines.append(f"  {'remainder':<13}{'':8}         {found.shares['remainder']:7.1%}")
    lines.append(f"Leading: {found.leading}. {advice}")
    lines.append(
        f"Slopes over the second half: |f - h|^2 {found.slopes['error']:+.2f}, |f - f*|^2 {found.slopes['distance']:+.2f}."
    )
    return "\n".join([*lines, seeds])

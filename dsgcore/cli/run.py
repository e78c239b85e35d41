"""Command ``dsg-lab run``: the run of a spec, from its file to its results."""

from __future__ import annotations

import argparse
from pathlib import Path

from dsgcore.cli.ending import NO, note
from dsgcore.cli.help_page import PROGRAM
from dsgcore.cli.places import check_folder, holds_fields
from dsgcore.cli.progress import Line
from dsgcore.cli.sweep import inputs_of
from dsgcore.core.durations import TimeLeft
from dsgcore.core.whole_files import whole_files
from dsgcore.experiments import Run, StopReason, load_split, read_spec, summary_json
from dsgcore.experiments.cost import check_cost, machine_budget

_RESULTS = ("history.csv", "model.npz", "spec.json", "result.json")


def run(given: argparse.Namespace) -> int:
    """Run a spec, and write its history, model, spec and result."""
    spec, budget = read_spec(given.spec), machine_budget(given.memory_limit)
    check_folder(given.out, _RESULTS, inputs_of(given.spec, spec), _is_own)
    check_cost(spec, budget)
    with whole_files(given.out, _RESULTS) as part:  # tested before anything is computed
        split = load_split(spec, folder=given.spec.parent)
        check_cost(spec, budget, split.shape)
        made, left, line = Run(spec, split), TimeLeft(), Line(is_quiet=given.quiet)
        while not made.is_finished:
            made.advance(seconds=1.0)
            line.show(_progress(made.history.last(), made.n_iter, left))
        line.end()
        history, model, own_spec, result = (part / name for name in _RESULTS)
        made.history.write_csv(history)
        made.result.save(model)
        own_spec.write_text(made.spec.to_json(indent=2) + "\n", encoding="utf-8")
        result.write_text(summary_json(made) + "\n", encoding="utf-8")
    if made.stop_reason is StopReason.DIVERGED:
        note(
            f"{PROGRAM}: the run has diverged after iteration {made.t} of {made.n_iter}: its values are no longer finite. "
            f"Choose a smaller step size; {given.out} holds the last state before that"
        )
        return NO
    if not given.quiet:
        print(f"{made.stop_reason.value if made.stop_reason else ''} {', '.join(_RESULTS)} are in {given.out}.".strip())
    return 0


def _is_own(file: Path) -> bool:
    return holds_fields(file, _RESULTS[-1], {"spec_sha256"})


def _progress(row: dict[str, float], n_iter: int, left: TimeLeft) -> str:
    if not row:
        return "the run could not make an iteration"
    said = f"{row['t']:.0f} of {n_iter}: objective {row['objective']:.5g}, test score {row['score_test']:.5g}"
    return said + left.text(int(row["t"]), n_iter)

"""Command ``dsg-lab run``: the run of a spec, from its file to its results."""

from __future__ import annotations

import argparse
import sys

from dsgcore.core.durations import TimeLeft
from dsgcore.core.whole_files import whole_files
from dsgcore.experiments import Run, load_split, read_spec, summary_json
from dsgcore.experiments.cost import check_cost, machine_budget

_RESULTS = ("history.csv", "model.npz", "spec.json", "result.json")


def run(given: argparse.Namespace) -> int:
    """Run a spec, and write its history, model, spec and result."""
    spec, budget = read_spec(given.spec), machine_budget(given.memory_limit)
    check_cost(spec, budget)
    with whole_files(given.out, _RESULTS) as part:  # tested before anything is computed
        split = load_split(spec, folder=given.spec.parent)
        check_cost(spec, budget, (len(split.X_train) + len(split.X_test), split.X_train.shape[1]))
        made, left = Run(spec, split), TimeLeft()
        while not made.is_finished:
            made.advance(seconds=1.0)
            if not given.quiet:
                print(_progress(made.history.last(), made.n_iter, left), file=sys.stderr)
        history, model, own_spec, result = (part / name for name in _RESULTS)
        made.history.write_csv(history)
        made.result.save(model)
        own_spec.write_text(made.spec.to_json(indent=2) + "\n", encoding="utf-8")
        result.write_text(summary_json(made) + "\n", encoding="utf-8")
    if not given.quiet:
        print(made.stop_reason.value if made.stop_reason else "")
    return 0


def _progress(row: dict[str, float], n_iter: int, left: TimeLeft) -> str:
    if not row:
        return "the run could not make an iteration"
    said = f"{row['t']:.0f} of {n_iter}: objective {row['objective']:.5g}, test score {row['score_test']:.5g}"
    return said + left.text(int(row["t"]), n_iter)

"""The command line, ``python -m dsgcore``: ``run``, ``check``, ``sweep``, ``fit``, ``predict``, ``data``, ``bench``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name

from dsgcore.core.errors import DSGError

BAD_INPUT = 2
# Commands that are carried out elsewhere: imported when they are asked for, so that `--help` and a mistyped command answer at once.
_PLACES = {
    "check": "dsgcore.diagnostics.command:check",
    "sweep": "dsgcore.studies.command:sweep",
    "fit": "dsgcore.estimators.command:fit",
    "predict": "dsgcore.scoring.command:predict",
}
_RESULTS = ("history.csv", "model.npz", "spec.json", "result.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command; return the exit code (2: bad input, told in one sentence)."""
    said = sys.argv[1:] if arguments is None else arguments
    given = _parser(names_data=list(said[:1]) == ["data"]).parse_args(said)
    here = {"run": _run, "bench": _bench, "data": _data}
    try:
        for name in ("seeds", "jobs"):
            number = getattr(given, name, None)
            if number is not None and number < 1:
                raise DSGError(f"--{name} must be at least 1, got {number}")
        carry_out = here.get(given.command) or resolve_name(_PLACES[given.command])
        return carry_out(given)
    except (DSGError, OSError) as error:
        print(f"dsgcore: {error}", file=sys.stderr)
        return BAD_INPUT


def _parser(*, names_data: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dsgcore", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="carry out a spec without a browser")
    run.add_argument("spec", type=Path, metavar="SPEC.json")
    run.add_argument("--out", type=Path, required=True, metavar="DIR", help="where results are written")
    run.add_argument("--memory", type=float, metavar="GB", help="the most it may take (default: what the machine has)")
    run.add_argument("--quiet", action="store_true", help="print nothing but errors")
    bench = commands.add_parser("bench", help="measure speed and memory on this machine")
    bench.add_argument("--only", metavar="NAME", help="one group of measurements")
    bench.add_argument(
        "--long", action="store_true", help="also train from a file of 20 million points, and on two worker processes"
    )
    bench.add_argument("--json", type=Path, metavar="FILE", help="where the results are written")
    check = commands.add_parser("check", help="say whether a run has converged, what limits it, and what to change")
    check.add_argument("spec", type=Path, metavar="SPEC.json")
    check.add_argument("--json", type=Path, metavar="FILE", help="where the verdict is written as data")
    check.add_argument("--seeds", type=int, default=5, metavar="N", help="how many seeds (default: 5)")
    _add_sweep(commands.add_parser("sweep", help="carry out a study: a spec along axes and over seeds"))
    _add_fit(commands.add_parser("fit", help="train a method on the rows of Parquet files"))
    _add_predict(commands.add_parser("predict", help="write a model's scores of the rows of Parquet files"))
    data = commands.add_parser("data", help="list, fetch, describe and convert data sets")
    if names_data:
        from dsgcore.data.command import add_arguments  # here, as below: it takes time to import

        add_arguments(data)
    return parser


def _add_sweep(sweep: argparse.ArgumentParser) -> None:
    sweep.add_argument("study", type=Path, metavar="STUDY.json")
    sweep.add_argument("--store", type=Path, metavar="FILE", help="where finished runs are kept and found again")
    sweep.add_argument("--csv", type=Path, metavar="FILE", help="where the table goes; without, it is printed")
    sweep.add_argument("--jobs", type=int, metavar="N", help="how many processes (default: one a core)")
    sweep.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a Dask cluster that makes the runs")
    sweep.add_argument("--quiet", action="store_true", help="print nothing but errors and the table")


def _add_fit(fit: argparse.ArgumentParser) -> None:
    fit.add_argument("method", metavar="METHOD", help="QSGS2AUC, TSGS3VM, QS3ORAO or TSGSU")
    fit.add_argument("data", type=Path, metavar="DATA", help="a Parquet file, or a folder of them")
    fit.add_argument(
        "--label", required=True, metavar="COLUMN", help="label column; a row with an empty cell is unlabeled"
    )
    fit.add_argument(
        "--unlabeled",
        default="auto",
        metavar="LABEL",
        help="the label that means “not labeled”, or none (default: -1 beside two or more other labels)",
    )
    fit.add_argument("--out", type=Path, required=True, metavar="DIR", help="gets model.npz and fit.json")
    fit.add_argument(
        "--features", metavar="A,B,..", help="the columns that are coordinates (default: all others but an index)"
    )
    fit.add_argument("--drop", action="append", default=[], metavar="COLUMN", help="leave a column out; may come again")
    fit.add_argument(
        "--na", metavar="A,B,..", help="labels that mean missing (default: those of pandas' read_csv, and ?)"
    )
    fit.add_argument(
        "--missing", metavar="HOW", help="mean, median or most frequent for missing numbers (default: an error)"
    )
    fit.add_argument("--scaling", default="none", metavar="HOW", help="none, unit or standard (default: none)")
    fit.add_argument("--set", action="append", metavar="NAME=VALUE", help="a parameter of the method; may come again")
    fit.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a Dask cluster that carries the visited rows")
    fit.add_argument("--every", type=int, default=50, metavar="N", help="iterations between two checkpoints")
    fit.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add_predict(predict: argparse.ArgumentParser) -> None:
    predict.add_argument("model", type=Path, metavar="MODEL", help="model.npz, or the folder that fit has written")
    predict.add_argument("data", type=Path, metavar="DATA", help="a Parquet file, or a folder of them")
    predict.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="gets a Parquet file for each row group"
    )
    predict.add_argument(
        "--features", metavar="A,B,..", help="the columns that are coordinates (default: fit's, or all)"
    )
    predict.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a Dask cluster that makes them")
    predict.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _run(given: argparse.Namespace) -> int:
    from dsgcore.core.whole_files import whole_files
    from dsgcore.experiments import Run, load_split, read_spec, summary_json
    from dsgcore.experiments.cost import check_cost, machine_budget

    spec, budget = read_spec(given.spec), machine_budget(given.memory)
    check_cost(spec, budget)
    with whole_files(given.out, _RESULTS) as part:  # tried before anything is computed
        split = load_split(spec, folder=given.spec.parent)
        check_cost(spec, budget, (len(split.X_train) + len(split.X_test), split.X_train.shape[1]))
        run = Run(spec, split)
        while not run.is_finished:
            run.advance(seconds=1.0)
            if not given.quiet:
                print(_progress(run.history.last(), run.n_iter), file=sys.stderr)
        history, model, own_spec, result = (part / name for name in _RESULTS)
        run.history.write_csv(history)
        run.result.save(model)
        own_spec.write_text(run.spec.to_json(indent=2) + "\n", encoding="utf-8")
        result.write_text(summary_json(run) + "\n", encoding="utf-8")
    if not given.quiet:
        print(run.stop_reason.value if run.stop_reason else "")
    return 0


def _data(given: argparse.Namespace) -> int:
    from dsgcore.data.command import run

    if given.data_command != "describe":
        return run(given)
    from dsgcore.experiments import SETTINGS

    return run(given, {problem.citation.split(",")[0]: problem.labels for problem in SETTINGS.values()})


def _bench(given: argparse.Namespace) -> int:
    from dsgcore.benchmark import run_benchmark
    from dsgcore.core.text_files import check_place

    if given.json is not None:
        check_place(given.json, "--json")
    run_benchmark(only=given.only, is_long=given.long, file=given.json)
    return 0


def _progress(row: dict[str, float], n_iter: int) -> str:
    if not row:
        return "no iteration could be made"
    return f"{row['t']:.0f} of {n_iter}: objective {row['objective']:.5g}, test score {row['score_test']:.5g}"


if __name__ == "__main__":
    sys.exit(main())

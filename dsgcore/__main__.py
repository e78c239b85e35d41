"""The command line, ``dsg-lab`` or ``python -m dsgcore``: ``app``, ``run``, ``check``, ``sweep``, ``compare``, ``fit`` ..."""

from __future__ import annotations

import sys

try:
    import argparse
    from collections.abc import Callable, Sequence
    from pkgutil import resolve_name

    from dsgcore import __version__
    from dsgcore.cli import app, export_lesson
    from dsgcore.cli.ending import exit_code
    from dsgcore.cli.help_page import PROGRAM, Parser, help_page, place
    from dsgcore.cli.reading import add_reading_options, add_text_options
    from dsgcore.core.errors import DSGError
except KeyboardInterrupt:  # the imports take longer than a quick Ctrl+C
    sys.stderr.write("dsg-lab: stopped\n")
    sys.exit(130)

# Functions of the slower commands, imported on use: so `--help` and a mistyped command answer at once.
_PLACES = {
    "app": "dsgcore.cli.app:serve",
    "export-lesson": "dsgcore.cli.export_lesson:export_lesson",
    "run": "dsgcore.cli.run:run",
    "check": "dsgcore.cli.check:check",
    "sweep": "dsgcore.cli.sweep:sweep",
    "fit": "dsgcore.cli.fit:fit",
    "predict": "dsgcore.cli.predict:predict",
    "compare": "dsgcore.cli.compare:compare",
}
_WITHOUT_COMMAND = ("-h", "--help", "--version")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code (`dsgcore.cli.ending`)."""
    said = _with_command(list(sys.argv[1:] if arguments is None else arguments))
    return exit_code(lambda: _carry_out(said))


def _carry_out(said: list[str]) -> int:
    given = _parser(names_data=said[:1] == ["data"]).parse_args(said)
    for name in ("seeds", "jobs"):
        number = getattr(given, name, None)
        if number is not None and number < 1:
            raise DSGError(f"--{name} must be at least 1, got {number}")
    try:
        carry_out = _data if given.command == "data" else resolve_name(_PLACES[given.command])
        return int(carry_out(given))
    except KeyboardInterrupt:
        if given.command != "app":
            raise
        return 0  # Ctrl+C is how the app ends, also before it serves


def _with_command(said: list[str]) -> list[str]:
    """Return the arguments; those without a command are options of `app`, and `class` is short for `app --class`."""
    if said[:1] == ["class"]:
        return ["app", "--class", *said[1:]]
    return said if said and (not said[0].startswith("-") or said[0] in _WITHOUT_COMMAND) else ["app", *said]


def _parser(*, names_data: bool) -> argparse.ArgumentParser:
    page = help_page(
        "Learn from few labels: open the app (without a command), or train, check and compare methods. "
        "`COMMAND --help` explains a command.",
        "",
    )
    parser = Parser(prog=PROGRAM, **page)
    parser.add_argument("--version", action="version", version=f"DSG Lab {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (add, sentence, description, example) in _COMMANDS.items():
        add(commands.add_parser(name, help=sentence, **help_page(description, example)))
    page = help_page("List, fetch, describe and convert data sets.", "data list")
    data = commands.add_parser("data", help="list, fetch, describe and convert data sets", **page)
    if names_data:
        from dsgcore.cli.data import add_arguments  # here, as below: it takes time to import

        add_arguments(data)
    return parser


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("spec", type=place, metavar="SPEC.json", help="a spec, for instance from the tab Code of the app")
    run.add_argument(
        "--out",
        type=place,
        required=True,
        metavar="DIR",
        help="folder for history.csv, model.npz, spec.json and result.json",
    )
    run.add_argument("--memory-limit", type=float, metavar="GB", help="memory limit (default: this machine's memory)")
    run.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add_check(check: argparse.ArgumentParser) -> None:
    check.add_argument("spec", type=place, metavar="SPEC.json", help="the spec of the run")
    check.add_argument("--json", type=place, metavar="FILE", help="also write the verdict to this JSON file")
    check.add_argument("--seeds", type=int, default=5, metavar="N", help="number of seeds (default: 5)")


def _add_sweep(sweep: argparse.ArgumentParser) -> None:
    sweep.add_argument(
        "study",
        type=place,
        metavar="STUDY.json",
        help="a spec with axes and seeds; or the name of a setting, such as auc",
    )
    sweep.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="values such as kernel.sigma=0.1:10:8:log (from, to, number, scale) or problem.gamma=0,1; can be repeated",
    )
    sweep.add_argument("--seeds", type=int, metavar="N", help="number of seeds (default: those of the study, or 1)")
    sweep.add_argument(
        "--store", type=place, metavar="FILE", help="file of finished runs (default: in your data folder)"
    )
    sweep.add_argument("--csv", type=place, metavar="FILE", help="write the table to this file instead of printing it")
    sweep.add_argument("--jobs", type=int, metavar="N", help="number of processes (default: one per core)")
    sweep.add_argument("--dask", metavar="ADDRESS", help="scheduler of a Dask cluster that carries out the runs")
    sweep.add_argument(
        "--optuna-storage",
        metavar="STORAGE_URL",
        help="also write each run as a trial of this Optuna storage, such as sqlite:///trials.db",
    )
    sweep.add_argument("--quiet", action="store_true", help="print nothing but errors and the table")


_DATA = "a table: CSV or other text, LIBSVM, Parquet, npz, Excel and others, or a folder of files"


def _add_fit(fit: argparse.ArgumentParser) -> None:
    fit.add_argument(
        "method", metavar="METHOD", help="QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU, PS3VT, or a competitor such as EverydaySVC"
    )
    fit.add_argument("data", type=place, metavar="DATA", help=_DATA)
    fit.add_argument("--out", type=place, required=True, metavar="DIR", help="folder for model.npz and fit.json")
    add_reading_options(fit)
    fit.add_argument(
        "--scaling",
        default="standard",
        choices=("none", "unit", "standard"),
        help="scaling of features (default: standard, to mean 0 and variance 1)",
    )
    fit.add_argument("--set", action="append", metavar="NAME=VALUE", help="set a method's parameter; can be repeated")
    fit.add_argument(
        "--every", type=int, default=50, metavar="N", help="number of iterations between checkpoints (default: 50)"
    )
    fit.add_argument("--quiet", action="store_true", help="print nothing but errors and notes about the data")


def _add_predict(predict: argparse.ArgumentParser) -> None:
    predict.add_argument("model", type=place, metavar="MODEL", help="model.npz, or the folder that fit has written")
    predict.add_argument("data", type=place, metavar="DATA", help=_DATA)
    predict.add_argument(
        "--out", type=place, required=True, metavar="DIR", help="folder for one Parquet file per row group"
    )
    predict.add_argument("--features", metavar="A,B,..", help="feature columns (default: those of fit, or all)")
    add_text_options(predict)
    predict.add_argument("--keep", metavar="A,B,..", help="columns of the data to copy to the output, such as id")
    predict.add_argument("--csv", type=place, metavar="FILE", help="also write all rows to this CSV file")
    predict.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add_compare(compare: argparse.ArgumentParser) -> None:
    compare.add_argument(
        "data", metavar="DATA", help="a table, such as a CSV or Parquet file, or a name from `data list`"
    )
    compare.add_argument(
        "--n-labeled", "--labels", type=int, metavar="N", help="number of labels to learn from (default: all)"
    )
    compare.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        help="number of repetitions (default: 10, or up to 50 until the choice is clear)",
    )
    compare.add_argument("--seconds", type=float, default=120.0, metavar="S", help="time limit (default: 120)")
    compare.add_argument(
        "--score",
        metavar="NAME",
        help="accuracy, auc, mean_auc or mean_absolute_error (default: the one that suits the labels)",
    )
    compare.add_argument("--methods", metavar="A,B,..", help="methods to compare (default: all that suit the labels)")
    compare.add_argument("--ordered", action="store_true", help="the classes have an order")
    compare.add_argument("--no-curves", action="store_true", help="no learning curves over the number of labels")
    add_reading_options(compare)
    _add_results(compare)


def _add_results(compare: argparse.ArgumentParser) -> None:
    compare.add_argument("--json", type=place, metavar="FILE", help="write the whole result to this JSON file")
    compare.add_argument("--csv", type=place, metavar="FILE", help="write the ranked table to this CSV file")
    compare.add_argument("--html", type=place, metavar="FILE", help="write a report for colleagues to this HTML file")
    compare.add_argument(
        "--store", type=place, metavar="FILE", help="file of finished fits (default: in your data folder)"
    )
    compare.add_argument("--jobs", type=int, metavar="N", help="number of processes (default: one per core)")
    compare.add_argument("--quiet", action="store_true", help="print nothing but errors and the result")


_RUN = "run spec.json --out results"
# Each command: its options, a line for the list of commands, a description, and an example.
_COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str, str, str]] = {
    "app": (
        app.add_arguments,
        "serve the app, and open it in a browser (the default)",
        "Serve the app, and open it in a browser. Ctrl+C ends it. `class` is short for `app --class`.",
        "app --port 8600",
    ),
    "run": (
        _add_run,
        "run an experiment, without a browser",
        "Run the experiment that a spec describes. Write its history, model, spec and result to a folder.",
        _RUN,
    ),
    "check": (
        _add_check,
        "check if a run has converged, and what limits it",
        "Check if a run has converged, what limits it, and what to change. The exit code is 0 if it has converged, else 1.",
        "check spec.json --seeds 3",
    ),
    "sweep": (
        _add_sweep,
        "repeat an experiment for many values and seeds",
        "Repeat an experiment for many values and seeds. Finished runs are kept, so a stopped study resumes.",
        "sweep study.json --csv runs.csv",
    ),
    "compare": (
        _add_compare,
        "compare methods on a file, and say which one to use",
        "Compare the methods of DSG Lab with scikit-learn's on your data, and say which one to use. Finished fits are kept. "
        "The exit code is 0 with a verdict, else 1.",
        "compare sample_data/iris.csv --target class --n-labeled 30 --html report.html",
    ),
    "fit": (
        _add_fit,
        "train a method on the rows of a file or a folder",
        "Train a method on a file, or on a folder of Parquet files. The same command resumes a stopped run from its checkpoint.",
        "fit TSGS3VM rows --target income --out model --set n_iter=500",
    ),
    "predict": (
        _add_predict,
        "write a model's classes and scores for the rows of a file or a folder",
        "Write a model's classes and scores for the rows of a file or a folder to Parquet files, one per row group.",
        "predict model rows --out scores",
    ),
    "export-lesson": (
        export_lesson.add_arguments,
        "write a step of a lesson as one HTML file that needs no server",
        "Write a step of a lesson as one HTML file that needs no server. It holds one recorded run for each value of the slider.",
        "export-lesson step-size --out lessons",
    ),
}


def _data(given: argparse.Namespace) -> int:
    from dsgcore.cli.data import run

    if given.data_command != "describe":
        return run(given)
    from dsgcore.experiments import SETTINGS

    return run(given, {problem.citation.split(",")[0]: problem.labels for problem in SETTINGS.values()})


if __name__ == "__main__":
    sys.exit(main())

"""The parser of the command line, and options that several commands have: what a table's cells and columns mean."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import Any, NoReturn

from dsgcore.core.errors import DSGError

PROGRAM, HOST, PORT = "dsg-lab", "127.0.0.1", 8501
UNLABELED_HELP = (
    "label that means “not labeled”, or the word none if no label means that "
    "(default: -1 if there are two or more other labels)"
)
MISSING_WORDS_HELP = (
    "words and numbers that mean missing, besides an empty cell (default: those of pandas' read_csv, and ?)"
)
TABLE_HELP = "a table: CSV or other text, LIBSVM, Parquet, npz, Excel and others, or a folder of files"
DELIMITER_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "colon": ":", "space": " ", "\\t": "\t"}
# As in `dsgcore.data.datasets`, which takes longer to import than a page of help should.
LABELS = ("binary", "pairs", "ordinal", "classes")
_TABLE = "sample_data/iris.csv"
# Each subcommand of `data`: a line for the list of commands, a description, and an example.
_DATA = {
    "list": (
        "list the data sets of the package and of public archives",
        "List the data sets: those of the package, and those that `data fetch` downloads from public archives.",
        "list",
    ),
    "fetch": (
        "download the papers' sets from public archives to the cache",
        "Download sets of the papers from their public archives to the cache, and print the paths of the files.",
        "fetch cod-rna",
    ),
    "describe": (
        "describe a set or a file, and how it would be read",
        "Describe a set or a file: its rows, columns and classes, how it would be read, and the settings that it suits.",
        f"describe {_TABLE} --labels binary --positive setosa",
    ),
    "convert": (
        "write a file as Parquet, also one that is larger than the memory",
        "Write a set or a file as a folder of Parquet. Text is read in pieces, so it need not fit in memory.",
        f"convert {_TABLE} iris",
    ),
}


class Parser(argparse.ArgumentParser):
    """Parser of a command line that reports a mistake in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise DSGError with the parser's message."""
        sentence = message.removeprefix("argument ").replace(": must", " must", 1)
        raise DSGError(f"{sentence} (see: {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a text; argparse would hide that it cannot be written."""
        if message:
            print(message, end="", file=file or sys.stderr)


def place(text: str) -> Path:
    """Return the path of a file or folder on the command line; an empty text is refused."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must name a file or a folder, got an empty text")
    return Path(text)


def columns(text: str) -> list[str]:
    """Return the names in a list of an option that can be repeated."""
    return [name for one in text.split(",") if (name := one.strip())]


def explain(parser: argparse.ArgumentParser, description: str, example: str) -> None:
    """Give a command's help page its description, and at its end an example without the program's name."""
    parser.description, parser.epilog = textwrap.fill(description, 78), f"example:\n  {PROGRAM} {example}".rstrip()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options about a command's output, which all but `app` have."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json", type=place, metavar="FILE", help="also write the result to this JSON file (-: print it)"
    )
    group.add_argument("--quiet", action="store_true", help="print nothing but errors, notes and the result")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that make points and labels of a table."""
    _add_columns(parser)
    add_text_options(parser)


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a text is written."""
    group = parser.add_argument_group("how a text is written (default: it is guessed)")
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the first line names the columns, or it does not",
    )
    group.add_argument(
        "--delimiter", metavar="MARK", help="comma, semicolon, tab, bar, colon, space, or the mark itself"
    )
    group.add_argument("--decimal", metavar="MARK", help="decimal mark, . or ,")
    group.add_argument("--encoding", metavar="NAME", help="encoding, such as utf-8, cp1252 or shift_jis")


def _add_columns(parser: argparse.ArgumentParser) -> None:
    many: dict[str, Any] = {"action": "extend", "type": columns, "default": [], "metavar": "A,B,.."}
    parser.add_argument("--target", metavar="COLUMN", help="label column (default: it is guessed)")
    parser.add_argument(
        "--features", metavar="A,B,..", help="feature columns (default: all except an index and the like)"
    )
    parser.add_argument("--drop", **many, help="leave out these columns; can be repeated")
    parser.add_argument("--category", **many, help="columns of categories; can be repeated")
    parser.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="COLUMN=ROLE",
        help="number, 'number 1,234.5', 'number 1.234,5', date, 'date d/m/y', 'date m/d/y', category or text; can be repeated",
    )
    parser.add_argument("--positive", metavar="LABEL", help="positive class; all others are negative")
    parser.add_argument("--bins", type=int, metavar="K", help="cut a numeric label into this many bins")
    parser.add_argument("--order", metavar="A,B,..", help="the classes from the lowest to the highest")
    parser.add_argument("--unlabeled", default="auto", metavar="LABEL", help=UNLABELED_HELP)
    parser.add_argument("--missing-words", metavar="A,B,..", help=MISSING_WORDS_HELP)
    parser.add_argument(
        "--missing",
        choices=("mean", "median", "most frequent", "drop"),
        help="treatment of missing numbers (default: mean)",
    )


def listed_names(given: str | None) -> list[str] | None:
    """Return the names in a comma-separated list; None if nothing is given."""
    return None if given is None else [name for one in given.split(",") if (name := one.strip())]


def reading_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `File.recipe` that a command line gives."""
    return _columns_of(given) | text_of(given)


def _columns_of(given: argparse.Namespace) -> dict[str, Any]:
    words, order = listed_names(given.missing_words), listed_names(given.order)
    return {
        "target": given.target,
        "features": listed_names(given.features),
        "drop": given.drop,
        "roles": dict.fromkeys(given.category, "category") | dict(map(_role, given.role)),
        "positive": given.positive,
        "bins": given.bins,
        "order": None if order is None else tuple(order),
        "unlabeled": None if given.unlabeled == "auto" else given.unlabeled,
        "missing": given.missing,
        "missing_words": None if words is None else tuple(words),
    }


def text_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a recipe that a command line gives about a text."""
    return {
        "header": given.header,
        "delimiter": DELIMITER_WORDS.get(given.delimiter, given.delimiter),
        "decimal": given.decimal,
        "encoding": given.encoding,
    }


def _role(text: str) -> tuple[str, str]:
    column, mark, role = text.rpartition("=")
    if not mark or not column:
        raise DSGError(f"--role must be COLUMN=ROLE, such as price='number 1,234.5', got {text!r}")
    return column, role


def add_app(app: argparse.ArgumentParser) -> None:
    """Add the options of the command ``app``."""
    explain(
        app,
        "Serve the app, and open it in a browser. Ctrl+C ends it. `class` is short for `app --class`.",
        "app --port 8600",
    )
    app.add_argument("--port", type=int, metavar="N", help=f"port (default: the first free one from {PORT} on)")
    app.add_argument(
        "--class", action="store_true", dest="is_class", help="let phones in; print their address and a QR code"
    )
    app.add_argument(
        "--address",
        metavar="HOST",
        help=f"address; 0.0.0.0 lets other machines in (default: {HOST}). With --class, the address for phones",
    )
    app.add_argument("--base-path", default="", metavar="PREFIX", help="prefix of all addresses, such as lab")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command ``run``."""
    explain(
        parser,
        "Run the experiment that a spec describes. Write its history, model, spec and result to a folder.",
        "run spec.json --out results",
    )
    parser.add_argument("spec", type=place, metavar="SPEC.json", help="a spec, such as from the tab Code of the app")
    files = "folder for history.csv, model.npz, spec.json and result.json"
    parser.add_argument("--out", type=place, required=True, metavar="DIR", help=files)
    limit = "memory limit (default: this machine's memory)"
    parser.add_argument("--memory-limit", type=float, metavar="GB", help=limit)


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command ``check``."""
    explain(
        parser,
        "Check if a run has converged, what limits it, and what to change. The exit code is 0 if it has converged, else 1.",
        "check spec.json --seeds 3",
    )
    parser.add_argument("spec", type=place, metavar="SPEC.json", help="the spec of the run")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="number of seeds (default: 5)")


def add_sweep(sweep: argparse.ArgumentParser) -> None:
    """Add the options of the command ``sweep``."""
    explain(
        sweep,
        "Repeat an experiment for many values and seeds. Finished runs are kept, so a stopped study resumes.",
        "sweep study.json --csv runs.csv",
    )
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


def add_compare(compare: argparse.ArgumentParser) -> None:
    """Add the options of the command ``compare``."""
    explain(
        compare,
        "Compare the methods of DSG Lab with scikit-learn's on your data, and say which one to use. Finished fits are kept. "
        "The exit code is 0 with a verdict, else 1.",
        "compare sample_data/iris.csv --target class --n-labeled 30 --html report.html",
    )
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
    compare.add_argument("--csv", type=place, metavar="FILE", help="write the ranked table to this CSV file")
    compare.add_argument("--html", type=place, metavar="FILE", help="write a report for colleagues to this HTML file")
    compare.add_argument(
        "--store", type=place, metavar="FILE", help="file of finished fits (default: in your data folder)"
    )
    compare.add_argument("--jobs", type=int, metavar="N", help="number of processes (default: one per core)")


def add_fit(fit: argparse.ArgumentParser) -> None:
    """Add the options of the command ``fit``."""
    explain(
        fit,
        "Train a method on a file, or on a folder of Parquet files. The same command resumes a stopped run from its checkpoint.",
        "fit TSGS3VM rows --target income --out model --set n_iter=500",
    )
    fit.add_argument(
        "method", metavar="METHOD", help="QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU, PS3VT, or a competitor such as EverydaySVC"
    )
    fit.add_argument("data", type=place, metavar="DATA", help=TABLE_HELP)
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


def add_predict(predict: argparse.ArgumentParser) -> None:
    """Add the options of the command ``predict``."""
    explain(
        predict,
        "Write a model's classes and scores for the rows of a file or a folder to Parquet files, one per row group.",
        "predict model rows --out scores",
    )
    predict.add_argument("model", type=place, metavar="MODEL", help="model.npz, or the folder that fit has written")
    predict.add_argument("data", type=place, metavar="DATA", help=TABLE_HELP)
    predict.add_argument(
        "--out", type=place, required=True, metavar="DIR", help="folder for one Parquet file per row group"
    )
    predict.add_argument("--features", metavar="A,B,..", help="feature columns (default: those of fit, or all)")
    add_text_options(predict)
    predict.add_argument("--keep", metavar="A,B,..", help="columns of the data to copy to the output, such as id")
    predict.add_argument("--csv", type=place, metavar="FILE", help="also write all rows to this CSV file")


def add_export_lesson(export: argparse.ArgumentParser) -> None:
    """Add the options of the command ``export-lesson``."""
    explain(
        export,
        "Write a step of a lesson as one HTML file that needs no server. It holds one recorded run for each value of the slider.",
        "export-lesson step-size --out lessons",
    )
    export.add_argument("lesson", metavar="NAME", help="name of the lesson, such as step-size or auc/step-size")
    export.add_argument("--out", type=place, required=True, metavar="DIR", help="folder for the HTML file")
    export.add_argument("--step", type=int, metavar="N", help="number of the step (default: the last with a slider)")


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands, each with its options."""
    explain(parser, "List, fetch, describe and convert data sets.", "data list")
    commands = parser.add_subparsers(dest="data_command", required=True, metavar="COMMAND")
    parsers = {}
    for name, (sentence, description, example) in _DATA.items():
        parsers[name] = commands.add_parser(name, help=sentence)
        explain(parsers[name], description, f"data {example}")
    parsers["fetch"].add_argument("names", nargs="+", metavar="NAME", help="a name from `data list`")
    for name in ("describe", "convert"):
        parsers[name].add_argument("what", metavar="NAME_OR_FILE", help="a name from `data list`, or a path")
    make = parsers["convert"]
    make.add_argument("folder", type=place, metavar="FOLDER", help="new folder for the Parquet files")
    kinds = "kind of labels to learn from (default: classes)"
    for name in ("describe", "convert"):
        parsers[name].add_argument("--labels", choices=LABELS, default="classes", help=kinds)
        add_reading_options(parsers[name])
    for own in parsers.values():
        add_output_options(own)

"""The command line, ``dsg-lab`` or ``python -m dsgcore``: ``app``, ``run``, ``check``, ``sweep``, ``compare``, ``fit`` ..."""

from __future__ import annotations

import sys

try:
    import argparse
    from collections.abc import Sequence
    from pkgutil import resolve_name

    from dsgcore import __version__
    from dsgcore.cli import options
    from dsgcore.cli.ending import exit_code
    from dsgcore.core.errors import DSGError
except KeyboardInterrupt:  # the imports take longer than a quick Ctrl+C
    sys.stderr.write("dsg-lab: stopped\n")
    sys.exit(130)

# Each command: a line for the list of commands, the function that adds its options, and the one that carries it out.
# The latter is imported on use: so `--help` and a mistyped command answer at once.
_COMMANDS = {
    "app": (
        "serve the app, and open it in a browser (the default)",
        options.add_app,
        "dsgcore.cli.app:serve",
    ),
    "run": (
        "run an experiment, without a browser",
        options.add_run,
        "dsgcore.cli.run:run",
    ),
    "check": (
        "check if a run has converged, and what limits it",
        options.add_check,
        "dsgcore.cli.run:check",
    ),
    "sweep": (
        "repeat an experiment for many values and seeds",
        options.add_sweep,
        "dsgcore.cli.sweep:sweep",
    ),
    "compare": (
        "compare methods on a file, and say which one to use",
        options.add_compare,
        "dsgcore.cli.compare:compare",
    ),
    "fit": (
        "train a method on the rows of a file or a folder",
        options.add_fit,
        "dsgcore.cli.fit:fit",
    ),
    "predict": (
        "write a model's classes and scores for the rows of a file or a folder",
        options.add_predict,
        "dsgcore.cli.predict:predict",
    ),
    "export-lesson": (
        "write a step of a lesson as one HTML file that needs no server",
        options.add_export_lesson,
        "dsgcore.cli.app:export_lesson",
    ),
    "data": (
        "list, fetch, describe and convert data sets",
        options.add_data,
        "dsgcore.cli.data:data",
    ),
}
_WITHOUT_COMMAND = ("-h", "--help", "--version")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code (`dsgcore.cli.ending`)."""
    said = _with_command(list(sys.argv[1:] if arguments is None else arguments))
    return exit_code(lambda: _carry_out(said))


def _carry_out(said: list[str]) -> int:
    given = _parser().parse_args(said)
    for name in ("seeds", "jobs"):
        number = getattr(given, name, None)
        if number is not None and number < 1:
            raise DSGError(f"--{name} must be at least 1, got {number}")
    try:
        made = resolve_name(_COMMANDS[given.command][2])(given)
    except KeyboardInterrupt:
        if given.command != "app":
            raise
        return 0  # Ctrl+C is how the app ends, also before it serves
    if given.command != "app":
        made.tell(" ".join([given.command, *filter(None, [getattr(given, "data_command", None)])]), given)
    return int(made.code)


def _with_command(said: list[str]) -> list[str]:
    """Return the arguments; those without a command are options of `app`, and `class` is short for `app --class`."""
    if said[:1] == ["class"]:
        return ["app", "--class", *said[1:]]
    return said if said and (not said[0].startswith("-") or said[0] in _WITHOUT_COMMAND) else ["app", *said]


def _parser() -> argparse.ArgumentParser:
    parser = options.Parser(prog=options.PROGRAM)
    options.explain(
        parser,
        "Learn from few labels: open the app (without a command), or train, check and compare methods. "
        "`COMMAND --help` explains a command.",
        "",
    )
    parser.add_argument("--version", action="version", version=f"DSG Lab {__version__}")
    parsers = parser.add_subparsers(dest="command", required=True)
    for name, (sentence, add_arguments, _) in _COMMANDS.items():
        own = parsers.add_parser(name, help=sentence)
        add_arguments(own)
        if name not in ("app", "data"):  # each subcommand of `data` has them
            options.add_output_options(own)
    return parser


if __name__ == "__main__":
    sys.exit(main())

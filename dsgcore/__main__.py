# PYTHON_ARGCOMPLETE_OK
"""The command line, ``dsg-lab`` or ``python -m dsgcore``: ``app``, ``run``, ``check``, ``sweep``, ``compare``, ``fit`` ..."""

from __future__ import annotations

import sys

try:
    import os
    from collections.abc import Sequence
    from pkgutil import resolve_name

    from dsgcore import __version__
    from dsgcore.cli.ending import exit_code, note
    from dsgcore.cli.options import check_given_places, command_parser
    from dsgcore.core.errors import DSGError
except KeyboardInterrupt:  # the imports take longer than a quick Ctrl+C
    sys.stderr.write("dsg-lab: stopped\n")
    sys.exit(130)

# The function that carries out each command, imported on use: so `--help` and a mistyped command answer at once.
_COMMANDS = {
    "app": "dsgcore.cli.app:serve",
    "run": "dsgcore.cli.runs:run",
    "check": "dsgcore.cli.runs:check",
    "sweep": "dsgcore.cli.runs:sweep",
    "study open": "dsgcore.cli.app:open_study",
    "compare": "dsgcore.cli.compare:compare",
    "label": "dsgcore.cli.compare:label",
    "fit": "dsgcore.cli.fit:fit",
    "predict": "dsgcore.cli.predict:predict",
    "export-lesson": "dsgcore.cli.app:export_lesson",
    "check-lesson": "dsgcore.cli.app:check_lesson",
    "data list": "dsgcore.cli.data:list_sets",
    "data fetch": "dsgcore.cli.data:fetch_sets",
    "data describe": "dsgcore.cli.data:describe",
    "data convert": "dsgcore.cli.data:convert",
    "race": "dsgcore.cli.runs:race",
    "reproduce": "dsgcore.cli.compare:reproduce",
}
_SERVERS = ("app", "study open")  # Ctrl+C ends them, and they have no result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code (`dsgcore.cli.ending`).

    Arguments without a command are options of `app`, and `class` is short for `app --class`.
    """
    said = list(sys.argv[1:] if arguments is None else arguments)
    if said[:1] == ["class"]:
        said = ["app", "--class", *said[1:]]
    elif not said or (said[0].startswith("-") and said[0] not in ("-h", "--help", "--version")):
        said = ["app", *said]
    return exit_code(lambda: _carry_out(said))


def _carry_out(said: list[str]) -> int:
    parser = command_parser(f"DSG Lab {__version__}")
    if os.environ.get("_ARGCOMPLETE"):  # a shell asks for the words that may come next
        resolve_name("argcomplete:autocomplete")(parser)
    given = parser.parse_args(said)
    for name in ("seeds", "jobs"):
        number = getattr(given, name, None)
        if number is not None and number < 1:
            raise DSGError(f"--{name} must be at least 1, got {number}")
    replaced = check_given_places(given)
    command = " ".join(filter(None, [given.command, getattr(given, "subcommand", None)]))
    try:
        made = resolve_name(_COMMANDS[command])(given)
    except KeyboardInterrupt:
        if command not in _SERVERS:
            raise
        return 0  # also before it serves
    if command not in _SERVERS:
        made.tell(command, given)
        if replaced and not given.quiet:
            note(f"{', '.join(map(str, replaced))}: an earlier result was there, and is replaced.")
    return int(made.code)


if __name__ == "__main__":
    sys.exit(main())

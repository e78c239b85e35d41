"""Ends of commands: an exit code, what was made, and one sentence on the error stream; progress lines until then."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsgcore.cli.options import PROGRAM
from dsgcore.core.cost import TimeLeft
from dsgcore.core.errors import DSGError
from dsgcore.core.files import whole_file
from dsgcore.core.parameters import finite

# Exit codes: no (a run has diverged or has not converged), input that cannot be used, a fault of the program, Ctrl+C.
NO, BAD_INPUT, FAULT, INTERRUPTED = 1, 2, 70, 130
# The errors of a write to a closed pipe; Windows has another one.
_CLOSED = (errno.EPIPE, errno.ESHUTDOWN, *((errno.EINVAL,) if os.name == "nt" else ()))
_PACKAGE = Path(__file__).parents[1]
BAR_CHARACTERS = 24
LINE_CHARACTERS = 100


@dataclass(frozen=True)
class Made:
    """What a command has made: plain data for --json, lines for a person, and the exit code."""

    data: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    code: int = 0
    is_result: bool = False  # the text is what was asked for, so it is printed with --quiet, too

    def tell(self, command: str, given: argparse.Namespace) -> None:
        """Print the lines, and write the data to the file of --json; if that is standard output, it gets no lines."""
        json_file, is_quiet = given.json, given.quiet
        said = finite({"command": f"{PROGRAM} {command}", **self.data})
        data = json.dumps(said, indent=2, default=lambda one: one.item() if hasattr(one, "item") else str(one))
        is_printed = json_file is not None and str(json_file) == "-"
        Progress.end()
        if json_file is not None and not is_printed:
            with whole_file(json_file) as to:
                to.write(data + "\n")
        if is_printed:
            print(data)
        elif self.text and (self.is_result or not is_quiet):
            print(self.text)


def exit_code(command: Callable[[], int]) -> int:
    """Call a command and return its exit code; an error becomes one sentence.

    A closed pipe ends the command with 0 and in silence. Ctrl+C ends it with 130; the text of the `KeyboardInterrupt`
    may say what is kept. Characters that a stream cannot encode become escapes. ``python -X dev`` shows the traceback
    of a fault of the program.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            code = command()
        except SystemExit:  # the help page is printed
            _flush()
            raise
        _flush()
        return code
    except (Exception, KeyboardInterrupt) as error:
        code, sentence = _end_of(error)
        if code == FAULT and sys.flags.dev_mode:
            raise
        with suppress(OSError):
            _flush()
        if sentence:
            note(f"{PROGRAM}: {' '.join(sentence.splitlines())}")
        return code
    finally:
        # Output that cannot be written goes nowhere: Python would try once more, and complain, when it exits.
        try:
            _flush()
        except OSError:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _end_of(error: BaseException) -> tuple[int, str]:
    """Return the exit code that an error means, and a sentence; an output that nobody reads any more is no error."""
    if isinstance(error, DSGError):
        return BAD_INPUT, str(error)
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "; ".join(["stopped", *map(str, error.args)])
    if isinstance(error, MemoryError):
        return BAD_INPUT, f"there is not enough memory: {str(error) or 'give less data'}"
    if isinstance(error, OSError):
        if error.errno in _CLOSED:
            try:
                print(flush=True)
            except OSError:
                return 0, ""
        places = [str(place) for place in (error.filename, error.filename2) if place is not None]
        said = error.strerror or str(error)
        return BAD_INPUT, f"{' to '.join(places)} cannot be used: {said}" if places and error.strerror else said
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(_PACKAGE)]
    place = f"{Path(frames[-1].filename).relative_to(_PACKAGE).as_posix()}, line {frames[-1].lineno}" if frames else "?"
    return FAULT, (
        f"this is a fault of DSG Lab ({place}: {type(error).__name__}: {error}); please report it. "
        "`python -X dev -m dsgcore` instead of `dsg-lab` shows where it happened"
    )


def note(text: str, end: str = "\n") -> None:
    """Print a text on the error stream, if it is open, below a line of progress."""
    Progress.end()
    with suppress(OSError, ValueError):
        print(text, end=end, file=sys.stderr, flush=True)


def bar(done: int, total: int) -> str:
    """Return a progress bar as text."""
    return f"[{'#' * (BAR_CHARACTERS * done // max(total, 1)):<{BAR_CHARACTERS}}]"


class Progress:
    """A line of a terminal that each call writes again, until something else is printed; quiet where no terminal is."""

    is_open = False  # something is on the line; there is one terminal

    def __init__(self, *, is_quiet: bool) -> None:
        self.is_quiet = is_quiet or sys.stderr is None or not sys.stderr.isatty()
        self.left = TimeLeft()

    def show(self, text: str) -> None:
        """Write the text over the line."""
        if not self.is_quiet:
            Progress.is_open = False  # for `note`, which would go to the next one
            note(f"\r{text:<{LINE_CHARACTERS}}", end="")
            Progress.is_open = True

    def part(self, done: int, of: int, words: str = "", *, is_new: bool = True) -> None:
        """Write a bar for the finished parts, words, and the time left; parts of an earlier command take no time."""
        if not is_new:
            self.left.skip(done)
        self.show(f"{bar(done, of)} {words}{self.left.text(done, of)}")

    @staticmethod
    def end() -> None:
        """Go to the next line, if something is on this one."""
        if Progress.is_open:
            Progress.is_open = False
            note("")

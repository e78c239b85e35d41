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
from dsgcore.core.durations import TimeLeft
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
        data = json.dumps(finite({"command": f"{PROGRAM} {command}", **self.data}), indent=2, default=_plain)
        is_printed = json_file is not None and str(json_file) == "-"
        Line.end()
        if json_file is not None and not is_printed:
            with whole_file(json_file) as to:
                to.write(data + "\n")
        if is_printed:
            print(data)
        elif self.text and (self.is_result or not is_quiet):
            print(self.text)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


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
        return _with_output(command)
    except DSGError as error:
        return _failed(str(error), BAD_INPUT)
    except KeyboardInterrupt as stop:
        return _failed("; ".join(["stopped", *map(str, stop.args)]), INTERRUPTED)
    except MemoryError as error:
        return _failed(f"there is not enough memory: {str(error) or 'give less data'}", BAD_INPUT)
    except OSError as error:
        return 0 if _is_closed_pipe(error) else _failed(_sentence(error), BAD_INPUT)
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        return _failed(_fault(error), FAULT)
    finally:
        _let_go_of_output()


def note(text: str, end: str = "\n") -> None:
    """Print a text on the error stream, if it is open, below a line of progress."""
    Line.end()
    with suppress(OSError, ValueError):
        print(text, end=end, file=sys.stderr, flush=True)


def _with_output(command: Callable[[], int]) -> int:
    """Call a command, and write all of its output."""
    try:
        code = command()
    except SystemExit:  # the help page is printed
        _flush()
        raise
    _flush()
    return code


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _failed(sentence: str, code: int) -> int:
    with suppress(OSError):
        _flush()
    note(f"{PROGRAM}: {' '.join(sentence.splitlines())}")
    return code


def _is_closed_pipe(error: OSError) -> bool:
    """Return True if an error is that of an output that nobody reads any more."""
    if error.errno not in _CLOSED:
        return False
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def _sentence(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    places = [str(place) for place in (error.filename, error.filename2) if place is not None]
    return f"{' to '.join(places)} cannot be used: {error.strerror}" if places else error.strerror


def _fault(error: Exception) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(_PACKAGE)]
    place = f"{Path(frames[-1].filename).relative_to(_PACKAGE).as_posix()}, line {frames[-1].lineno}" if frames else "?"
    return (
        f"this is a fault of DSG Lab ({place}: {type(error).__name__}: {error}); please report it. "
        "`python -X dev -m dsgcore` instead of `dsg-lab` shows where it happened"
    )


def _let_go_of_output() -> None:
    """Send output that cannot be written nowhere: Python would try once more, and complain, when it exits."""
    try:
        _flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def bar(done: int, total: int) -> str:
    """Return a progress bar as text."""
    return f"[{'#' * (BAR_CHARACTERS * done // max(total, 1)):<{BAR_CHARACTERS}}]"


class Line:
    """A line of a terminal that each call writes again, until something else is printed; quiet where no terminal is."""

    is_open = False  # something is on the line; there is one terminal

    def __init__(self, *, is_quiet: bool) -> None:
        self.is_quiet = is_quiet or sys.stderr is None or not sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Write the text over the line."""
        if not self.is_quiet:
            Line.is_open = False  # for `note`, which would go to the next one
            note(f"\r{text:<{LINE_CHARACTERS}}", end="")
            Line.is_open = True

    @staticmethod
    def end() -> None:
        """Go to the next line, if something is on this one."""
        if Line.is_open:
            Line.is_open = False
            note("")


class Progress(Line):
    """A line with a bar for the finished parts of a command, words, and the time left."""

    def __init__(self, *, is_quiet: bool) -> None:
        super().__init__(is_quiet=is_quiet)
        self.left = TimeLeft()

    def part(self, done: int, of: int, words: str = "", *, is_new: bool = True) -> None:
        """Draw the line; parts of an earlier command are not new, and take no time."""
        if not is_new:
            self.left.skip(done)
        self.show(f"{bar(done, of)} {words}{self.left.text(done, of)}")

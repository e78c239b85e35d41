"""Help pages of commands: a description, the options, and one example."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import Any, NoReturn

from dsgcore.core.errors import DSGError

PROGRAM = "dsg-lab"


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


def help_page(description: str, example: str) -> dict[str, Any]:
    """Return the arguments of a parser whose help ends with an example; the example follows the program's name."""
    return {
        "description": textwrap.fill(description, 78),
        "epilog": f"example:\n  {PROGRAM} {example}".rstrip(),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }

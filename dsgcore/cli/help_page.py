"""Help pages of commands: a description, the options, and one example."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import Any

from dsgcore.core.errors import DSGError

PROGRAM = "dsg-lab"
# Two options that several commands have.
UNLABELED_HELP = (
    "label that means “not labeled”, or the word none if no label means that "
    "(default: -1 if there are two or more other labels)"
)
MISSING_WORDS_HELP = "words that mean missing, besides an empty cell (default: those of pandas' read_csv, and ?)"


def folder_path(text: str) -> Path:
    """Return the path of a folder to write to; raise DSGError if it is empty, or if a file has its place."""
    folder = Path(text)
    if not text.strip():
        raise DSGError("--out must name a folder, got an empty text")
    taken = next((place for place in (folder, *folder.parents) if place.is_file()), None)
    if taken is not None:
        raise DSGError(f"--out must name a folder, but {taken} is a file: name another folder")
    return folder


def help_page(description: str, example: str) -> dict[str, Any]:
    """Return the arguments of a parser whose help ends with an example; the example follows the program's name."""
    return {
        "description": textwrap.fill(description, 78),
        "epilog": f"example:\n  {PROGRAM} {example}".rstrip(),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }

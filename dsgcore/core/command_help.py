"""Help pages of commands: a description, the options, and one example."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

PROGRAM = "python -m dsgcore"


def help_page(description: str, example: str) -> dict[str, Any]:
    """Return the arguments of a parser whose help ends with an example; the example follows the program's name."""
    return {
        "description": textwrap.fill(description, 78),
        "epilog": f"example:\n  {PROGRAM} {example}",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }

"""Command ``dsg-lab export-lesson NAME --out DIR``."""

from __future__ import annotations

import argparse
import sys
from pkgutil import resolve_name

from dsgcore.cli.app import app_file
from dsgcore.cli.help_page import place

# The app's modules are on the path of its own processes only.
_WRITE = "pages.handouts.static_lesson:write_lesson"


def add_arguments(export: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    export.add_argument("lesson", metavar="NAME", help="name of the lesson, such as step-size or auc/step-size")
    export.add_argument("--out", type=place, required=True, metavar="DIR", help="folder for the HTML file")
    export.add_argument("--step", type=int, metavar="N", help="number of the step (default: the last with a slider)")


def export_lesson(given: argparse.Namespace) -> int:
    """Write a step of a lesson as one HTML file, and print its name."""
    sys.path.insert(0, str(app_file().parent))
    print(resolve_name(_WRITE)(given.lesson, given.out, given.step))
    return 0

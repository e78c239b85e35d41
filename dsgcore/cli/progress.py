"""Progress lines on the error stream."""

from __future__ import annotations

import sys

from dsgcore.cli.ending import note

BAR_CHARACTERS = 24
LINE_CHARACTERS = 100


def bar(done: int, total: int) -> str:
    """Return a progress bar as text."""
    return f"[{'#' * (BAR_CHARACTERS * done // max(total, 1)):<{BAR_CHARACTERS}}]"


class Line:
    """A line of a terminal that each call writes again; if it is quiet, or no terminal is there, nothing is written."""

    def __init__(self, *, is_quiet: bool) -> None:
        self.is_quiet, self._is_open = is_quiet or sys.stderr is None or not sys.stderr.isatty(), False

    def show(self, text: str) -> None:
        """Write the text over the line."""
        if not self.is_quiet:
            note(f"\r{text:<{LINE_CHARACTERS}}", end="")
            self._is_open = True

    def end(self) -> None:
        """Go to the next line, if something is on this one."""
        if self._is_open:
            note("")
            self._is_open = False

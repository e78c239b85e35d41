"""Progress lines on the error stream."""

from __future__ import annotations

import sys

BAR_CHARACTERS = 24
LINE_CHARACTERS = 100


def bar(done: int, total: int) -> str:
    """Return a progress bar as text."""
    return f"[{'#' * (BAR_CHARACTERS * done // max(total, 1)):<{BAR_CHARACTERS}}]"


class Line:
    """A line of text that each call writes again in place of the last one; a quiet one writes nothing."""

    def __init__(self, *, is_quiet: bool) -> None:
        self.is_quiet, self._is_open = is_quiet, False

    def show(self, text: str) -> None:
        """Write the text over the line."""
        if not self.is_quiet:
            print(f"\r{text:<{LINE_CHARACTERS}}", end="", file=sys.stderr, flush=True)
            self._is_open = True

    def end(self) -> None:
        """Go to the next line, if something is on this one."""
        if self._is_open:
            print(file=sys.stderr)
            self._is_open = False

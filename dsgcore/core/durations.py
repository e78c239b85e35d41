"""Durations as text."""

from __future__ import annotations

MOST_SECONDS, MOST_MINUTES = 90, 90


def duration_text(seconds: float) -> str:
    """Return a time in readable units.

    Examples
    --------
    >>> duration_text(12), duration_text(600), duration_text(9000)
    ('12 s', '10 min', '2.5 h')
    """
    if seconds < MOST_SECONDS:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 60 * MOST_MINUTES else f"{seconds / 3600:.1f} h"

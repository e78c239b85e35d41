"""What is measured: rows of a table, and of a JSON file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NAME_WIDTH = 78


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes
    ----------
    name : str
        What was measured, and what part of it was extrapolated.
    value : float
    unit : str
    target : float or None
        What it should be at least, or at most where `is_most`; None where nothing is promised.
    is_most : bool
    """

    name: str
    value: float
    unit: str
    target: float | None = None
    is_most: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return bool(self.value <= self.target if self.is_most else self.value >= self.target)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as the JSON file has it."""
        return {"name": self.name, "value": self.value, "unit": self.unit, "target": self.target, "met": self.met}


def heading() -> str:
    """Return the table's first line."""
    return f"{'':{NAME_WIDTH}}{'measured':>12} {'unit':8}{'target':>12}  met"


def line(row: Row) -> str:
    """Return a row as a line of the table."""
    target = "" if row.target is None else f"{'<=' if row.is_most else '>='} {row.target:g}"
    met = {None: "", True: "yes", False: "NO"}[row.met]
    return f"{row.name:{NAME_WIDTH}}{row.value:>12.4g} {row.unit:8}{target:>12}  {met}".rstrip()


def summary(rows: Sequence[Row]) -> str:
    """Return the table's last line."""
    promised = [row for row in rows if row.target is not None]
    return f"{sum(bool(row.met) for row in promised)} of {len(promised)} targets are met."

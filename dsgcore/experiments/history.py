"""Record of a run at every iteration, column by column."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import counted

if TYPE_CHECKING:
    import pandas as pd

_NO_ROWS = array("d")
# Columns whose last value a history shows in a line, and rows that a notebook shows.
SHOWN, ROWS_SHOWN = ("t", "objective", "score_test"), 10


@dataclass(eq=False, repr=False)
class History:
    """Table of floats that grows by rows and is read by columns."""

    _columns: dict[str, Any] = field(default_factory=dict)  # an array of floats each

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def __repr__(self) -> str:
        last = [f"{name}={value:.4g}" for name, value in self.last().items() if name in SHOWN]
        return f"History({counted(len(self), 'row')}, {counted(len(self.names), 'column')}{': ' * bool(last)}{', '.join(last)})"

    def _repr_html_(self) -> str:
        return self.to_frame().tail(ROWS_SHOWN).to_html(index=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame with a column for each name."""
        import pandas as pd

        columns = {name: self.column(name) for name in self.names}
        rows = min(map(len, columns.values()), default=0)  # another thread may be adding a row
        return pd.DataFrame({name: column[:rows] for name, column in columns.items()})

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self._columns)

    def append(self, row: Mapping[str, float]) -> None:
        """Add a row; every row has the columns of the first one."""
        if not self._columns:
            self._columns = {name: array("d") for name in row}
        for name, column in self._columns.items():
            column.append(float(row[name]))

    def replace(self, rows: Sequence[Mapping[str, float]]) -> None:
        """Replace some columns by those of as many rows as there are."""
        for name in rows[0]:
            self._columns[name] = array("d", [row[name] for row in rows])

    def amend(self, row: Mapping[str, float]) -> None:
        """Set some columns' values of the last row."""
        for name, value in row.items():
            self._columns[name][-1] = value

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a column as an array of shape (rows,)."""
        # A copy of its own: another thread may be adding a row, which an array in use does not allow.
        return np.frombuffer(self._columns.get(name, _NO_ROWS)[:], dtype=np.float64)

    def last(self) -> dict[str, float]:
        """Return the last row."""
        return {name: column[-1] for name, column in self._columns.items() if column}

    def first(self, rows: int) -> History:
        """Return the history of the first rows; itself if it has no more."""
        if rows >= len(self):
            return self
        return History({name: column[:rows] for name, column in self._columns.items()})

    def write_csv(self, file: str | Path | IO[str]) -> None:
        """Write the table as CSV: floats in the shortest form that reads back exactly, whole numbers without a point."""
        frame = self.to_frame()
        for name, column in frame.items():
            cells = [int(v) if v.is_integer() and abs(v) < 2**53 else v for v in column]
            frame[name] = np.array(cells, dtype=object)
        frame.to_csv(file, index=False, lineterminator="\n", na_rep="nan")

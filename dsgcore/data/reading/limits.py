"""How large a file of data may be, packed and unpacked."""

from __future__ import annotations

from dataclasses import dataclass

from dsgcore.data.datasets import DataError

_UNITS = ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "KB"))


@dataclass(frozen=True)
class Limits:
    """What is read at most; whatever is larger is refused before its memory is taken."""

    size: int = 50 * 2**20  # bytes of the file
    unpacked: int = 256 * 2**20  # bytes once unpacked: gzip, bzip2, xz; an archive's arrays; a Parquet file's pages
    rows: int = 1_000_000
    columns: int = 5000  # of the table, and of the points that are made from it
    points: int = 240 * 2**20  # bytes of the points: 4 for each row and column; of more, no run on a page could be made
    categories: int = 50  # different values of a column of categories, each of which becomes a column of the points
    words: int = 10_000  # different words that a column of text is described by

    def sentence(self) -> str:
        """Say the limits, for the place where a file is asked for."""
        return (
            f"At most {shown_size(self.size)} ({shown_size(self.unpacked)} unpacked), {self.rows:,} rows, {self.columns:,} "
            f"columns, {shown_size(self.points)} as numbers."
        )

    def check_size(self, size: int) -> None:
        """Refuse a file of too many bytes."""
        if size > self.size:
            more, given = size - self.size, shown_size(size)
            if given == shown_size(self.size):
                given = f"{more:,} {'byte' if more == 1 else 'bytes'} more"
            raise DataError(f"the file must have at most {shown_size(self.size)}, got {given}")

    def check_unpacked(self, size: int, what: str = "the file") -> None:
        """Refuse what unpacks to too many bytes."""
        if size > self.unpacked:
            raise DataError(f"{what} must unpack to at most {shown_size(self.unpacked)}, and it claims or holds more")

    def check_rows(self, n: int) -> None:
        """Refuse a table of too many rows."""
        if n > self.rows:
            raise DataError(f"the table must have at most {self.rows:,} rows, got {n:,} or more")

    def check_columns(self, d: int, what: str = "the table") -> None:
        """Refuse too many columns."""
        if d > self.columns:
            raise DataError(f"{what} must have at most {self.columns:,} columns, got {d:,}")

    def check_points(self, n: int, d: int) -> None:
        """Refuse points that would take too much memory."""
        self.check_columns(d, "the points")
        if 4 * n * d > self.points:
            raise DataError(
                f"the points must take at most {shown_size(self.points)} as numbers of 4 bytes, and {n:,} rows of {d:,} "
                f"columns take {shown_size(4 * n * d)}"
            )


UPLOADED = Limits()
# For files that a person names on their own machine: read whole, and in pieces. What decides about the points themselves
# (categories, words) is the same everywhere, so that a recipe gives the same bits.
LOCAL = Limits(size=2**32, unpacked=2**33, rows=2**27, columns=100_000, points=2**33)
IN_PIECES = Limits(size=2**44, unpacked=2**44, rows=2**40, columns=100_000, points=2**44)


def shown_size(size: int) -> str:
    """Write a number of bytes in the largest unit that leaves at least 1."""
    for factor, unit in _UNITS:
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"

"""Limits on the size of a data file, packed and unpacked."""

from __future__ import annotations

from dataclasses import dataclass

from dsgcore.data.datasets import DataError

_UNITS = ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "KB"))


@dataclass(frozen=True)
class Limits:
    """Largest sizes that are read. A larger file is refused before its memory is taken."""

    size: int = 50 * 2**20  # bytes of the file
    unpacked: int = 256 * 2**20  # bytes once unpacked: gzip, bzip2, xz; an archive's arrays; a Parquet file's pages
    rows: int = 1_000_000
    columns: int = 5000  # columns of the table, and of the points made from it
    points: int = 240 * 2**20  # bytes of the points: 4 for each row and column; the app could not run on more
    categories: int = 50  # different values of a column of categories; each becomes a column of the points
    words: int = 10_000  # different words that describe a column of text

    def sentence(self) -> str:
        """Return the limits as a sentence, to show beside the file upload."""
        return (
            f"At most {shown_size(self.size)} ({shown_size(self.unpacked)} unpacked), {self.rows:,} rows, {self.columns:,} "
            f"columns, {shown_size(self.points)} as numbers."
        )

    def check_size(self, size: int) -> None:
        """Raise an error if a file has too many bytes."""
        if size > self.size:
            more, given = size - self.size, shown_size(size)
            if given == shown_size(self.size):
                given = f"{more:,} {'byte' if more == 1 else 'bytes'} more"
            raise DataError(f"the file must have at most {shown_size(self.size)}, got {given}")

    def check_unpacked(self, size: int, what: str = "the file") -> None:
        """Raise an error if the contents unpack to too many bytes."""
        if size > self.unpacked:
            raise DataError(f"{what} must unpack to at most {shown_size(self.unpacked)}, and it claims or holds more")

    def check_rows(self, n: int) -> None:
        """Raise an error if a table has too many rows."""
        if n > self.rows:
            raise DataError(f"the table must have at most {self.rows:,} rows, got {n:,} or more")

    def check_columns(self, d: int, what: str = "the table") -> None:
        """Raise an error if there are too many columns."""
        if d > self.columns:
            raise DataError(f"{what} must have at most {self.columns:,} columns, got {d:,}")

    def check_points(self, n: int, d: int) -> None:
        """Raise an error if points would take too much memory."""
        self.check_columns(d, "the points")
        if 4 * n * d > self.points:
            raise DataError(
                f"the points must take at most {shown_size(self.points)} as numbers of 4 bytes, and {n:,} rows of {d:,} "
                f"columns take {shown_size(4 * n * d)}"
            )


UPLOADED = Limits()
# For files on the user's own machine: read whole, and in pieces. The limits that shape the points (categories, words)
# are the same everywhere, so that a recipe gives bit-for-bit identical points.
LOCAL = Limits(size=2**32, unpacked=2**33, rows=2**27, columns=100_000, points=2**33)
IN_PIECES = Limits(size=2**44, unpacked=2**44, rows=2**40, columns=100_000, points=2**44)


def shown_size(size: int) -> str:
    """Return a number of bytes in the largest unit that leaves at least 1."""
    for factor, unit in _UNITS:
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"

"""What a data set is, and the error that every reader of data raises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class DataError(ValueError):
    """Data, or an option of a data set, cannot be used; the message says why, in one sentence."""


# eq=False: comparing arrays has no single truth value; a data set equals only itself.
@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with their true classes."""

    name: str  # short, for titles and links
    X: NDArray[np.float32]  # points, of shape (n, d), C-contiguous
    # Of shape (n,): class codes 0..K-1; with two classes, 1 is positive and 0 negative; -1 where the source gives no label.
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]  # d of them
    class_names: tuple[str, ...]  # K of them, in the order of the codes
    source: str  # where the data come from, in one sentence
    licence: str
    sha256: str = ""  # digest of the file's bytes, for data read from a file
    # Of shape (n,): ids of similar pairs that the source itself gives, each on two rows; -1 on all others. None: it gives none.
    pairs: NDArray[np.int64] | None = None
    report: tuple[str, ...] = ()  # what was done to the source's table, a sentence each
    left_out: tuple[str, ...] = ()  # columns of the source's table that have no part in the points
    depends_on_rows: bool = False  # whether the points depend on which rows they were learned from

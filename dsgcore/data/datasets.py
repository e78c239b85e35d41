"""What a data set is, and the error that every reader of data raises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError


class DataError(DSGError):
    """Data, or an option of a data set, cannot be used; the message says why, in one sentence."""


# eq=False: comparing arrays has no single truth value; a data set equals only itself.
@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with their true classes.

    Parameters
    ----------
    name : str
        Short name, for titles and links.
    X : ndarray of shape (n, d), float32, C-contiguous
        Points.
    y : ndarray of shape (n,), int64
        Class codes 0..K-1; with two classes, 1 is positive and 0 negative; -1 where the source gives no label.
    feature_names : tuple of str, length d
    class_names : tuple of str, length K
        Names in the order of the codes.
    source : str
        Where the data come from, in one sentence.
    licence : str
    sha256 : str, default ""
        Digest of the file's bytes, for data read from a file.
    pairs : ndarray of shape (n,), int64, or None
        Ids of similar pairs that the source itself gives, each on two rows; -1 on all others. None: it gives none.
    report : tuple of str
        What was done to the source's table, a sentence each.
    left_out : tuple of str
        Columns of the source's table that have no part in the points.
    depends_on_rows : bool, default False
        Whether the points depend on which rows they were learned from.
    """

    name: str
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    source: str
    licence: str
    sha256: str = ""
    pairs: NDArray[np.int64] | None = None
    report: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    depends_on_rows: bool = False

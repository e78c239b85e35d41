"""The type of data sets, and the error of every reader of data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError


class DataError(DSGError):
    """Unusable data, or an unusable option of a data set. The message gives the reason."""


# eq=False: comparing arrays gives no single truth value. A data set equals only itself.
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
        Class codes 0..K-1; with two classes, 1 is positive and 0 negative; -1 if the source gives no label.
    feature_names : tuple of str, length d
    class_names : tuple of str, length K
        Names in the order of the codes.
    source : str
        The origin of the data, in one sentence.
    licence : str
    sha256 : str, default ""
        Digest of the file's bytes, for data read from a file.
    pairs : ndarray of shape (n,), int64, or None
        Ids of similar pairs from the source, each on two rows; -1 on all other rows. None: the source has no pairs.
    report : tuple of str
        Changes to the source's table, one sentence each.
    left_out : tuple of str
        Columns of the source's table that the points do not use.
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

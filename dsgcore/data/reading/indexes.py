"""Index columns, which name or number the rows. They are not features unless the user names them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.data.reading.names import listed

# Every reader uses at most this many rows to decide if a column numbers the rows.
ROWS = 20_000
_PANDAS = b"pandas"
# The names that pandas and Dask give to an index without a name.
_ALWAYS = re.compile(r"__index_level_\d+__|__null_dask_index__|Unnamed: 0([._].*)?")
# A column of such a name is an index if its values are whole numbers or text, and most of them differ or count up.
_NAMES = re.compile(
    r"column 1|index|idx|level_\d+|id|uid|uuid|guid|row|(.*[ _.-])(id|index|uuid)"
    r"|(row|line)[ _.-]?(ids?|index|names?|no\.?|nr\.?|num|number)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r".*[a-z](Id|ID)")  # PassengerId, sampleID
# A column of such a name, without case and punctuation, is an index only if its values are 0, 1, 2, .. or 1, 2, 3, ..
_COUNTING_NAMES = re.compile(
    r"(unnamed|column|index)\d*|(lfd|laufende)?(no|nr|num|number)|rn|#|id|pk|key|seq|sequence|counter|line|case|obs|observation"
    r"|record|serial|sample|instance|(s|sl|sr|serial|record|case|sample|observation|obs|roll|seq|sequence)(no|nr|num|number)"
    r"|(case|client|customer|employee|house|instance|item|object|order|passenger|patient|person|product|record|sample|student"
    r"|subject|transaction|user)(id|index|idx)",
)
_PUNCTUATION = re.compile(r"[\s._:#-]+")
MOSTLY = 0.5
_ROWS_A_COUNT = 10  # a count that starts again, as in files put one after another, continues for this many rows


def pandas_index(metadata: Mapping[bytes, bytes] | None) -> frozenset[str]:
    """Return the index columns that pandas recorded in a Parquet schema's metadata."""
    try:
        said = json.loads((metadata or {})[_PANDAS])["index_columns"]
        return frozenset(name for name in said if isinstance(name, str))
    except (KeyError, TypeError, ValueError, RecursionError):
        return frozenset()


def may_be_index(name: str) -> bool:
    """Return True if a column of this name may be an index; its values decide."""
    bare = _PUNCTUATION.sub("", name.lower()) or name.strip()
    return _is_strong(name.strip()) or _COUNTING_NAMES.fullmatch(bare) is not None


def _is_strong(name: str) -> bool:
    """Return True if a column of this name is an index unless its values are measured, or few."""
    return any(form.fullmatch(name) for form in (_ALWAYS, _NAMES, _CAMEL))


def is_index(name: str, column: pd.Series) -> bool:
    """Return True if a column names or numbers the rows, judged by its name and the values of its first rows."""
    name = name.strip()
    if _ALWAYS.fullmatch(name):
        return True
    if not may_be_index(name):
        return False
    values = column.head(ROWS).dropna()
    if len(values) < 2:
        return False
    whole = _whole(values)
    if not _is_strong(name):
        return whole is not None and whole[0] in (0, 1) and _counts_up(whole)
    differ = bool(values.nunique() > MOSTLY * len(values))
    if whole is None:
        return not pd.api.types.is_numeric_dtype(values) and differ
    return differ or _counts_up(whole)


def _whole(values: pd.Series) -> NDArray[Any] | None:
    """Return whole numbers unchanged; None for anything else."""
    if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
        return None
    if pd.api.types.is_integer_dtype(values):
        return values.to_numpy()
    numbers = values.to_numpy(dtype=np.float64)
    is_whole = np.isfinite(numbers) & (np.abs(numbers) < 2.0**53) & (numbers == np.floor(numbers))
    return numbers.astype(np.int64) if is_whole.all() else None


def _counts_up(whole: NDArray[Any]) -> bool:
    """Return True if each number follows the one before; rare new starts are allowed."""
    follows = np.diff(whole.astype(np.int64, copy=False)) == 1
    begins_again = ~follows
    return bool((whole[1:][begins_again] == whole[0]).all()) and begins_again.sum() * _ROWS_A_COUNT <= len(whole)


def sentence(names: Sequence[str]) -> str:
    """Return the sentence that columns are left out as an index."""
    if len(names) == 1:
        return f"{listed(names)} names or numbers the rows, so it is no feature (name it among the features to use it)."
    return (
        f"{listed(names)} name or number the rows, so they are no features (name them among the features to use them)."
    )

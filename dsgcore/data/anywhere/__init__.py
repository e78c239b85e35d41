"""Rows from anywhere: a folder of Parquet files, Dask's collections, lists of memory maps; only what is asked for is read."""

from dsgcore.data.anywhere.opening import opened as opened
from dsgcore.data.anywhere.opening import rows_of as rows_of
from dsgcore.data.anywhere.preparation import Preparation as Preparation
from dsgcore.data.anywhere.rows import Rows as Rows

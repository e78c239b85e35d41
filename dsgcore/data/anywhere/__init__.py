"""Out-of-core rows: a folder of Parquet files, Dask collections or lists of memory maps, read only when needed."""

from dsgcore.data.anywhere.opening import opened as opened
from dsgcore.data.anywhere.opening import rows_of as rows_of
from dsgcore.data.anywhere.preparation import Preparation as Preparation
from dsgcore.data.anywhere.rows import Rows as Rows

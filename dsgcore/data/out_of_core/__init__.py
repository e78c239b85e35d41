"""Out-of-core rows: a folder of Parquet files, Dask collections or lists of memory maps, read only when needed."""

from dsgcore.data.out_of_core.opening import opened as opened
from dsgcore.data.out_of_core.opening import rows_of as rows_of
from dsgcore.data.out_of_core.preparation import Preparation as Preparation
from dsgcore.data.out_of_core.rows import Rows as Rows

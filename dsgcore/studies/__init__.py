"""Studies: a spec varied along axes and over seeds, its runs made once and kept."""

from dsgcore.studies.carrying_out import Outcome, carry_out, local_processes
from dsgcore.studies.store import Store, StoredRun, StoreError, default_store
from dsgcore.studies.study import Axis, Study, StudyError, StudyRun
from dsgcore.studies.table import table_of

__all__ = [
    "Axis",
    "Outcome",
    "Store",
    "StoreError",
    "StoredRun",
    "Study",
    "StudyError",
    "StudyRun",
    "carry_out",
    "default_store",
    "local_processes",
    "table_of",
]

"""Data sets that are generated, shipped with scikit-learn or read from files, and splits that hide labels."""

from dsgcore.data.datasets import CONVERSIONS, OPTION_NAMES, DataError, Dataset, convert, equal_frequency_bins
from dsgcore.data.edits import Edit, IncompleteDataError, check_complete, edited, read_edits
from dsgcore.data.parts import Rows
from dsgcore.data.rows import rows_of
from dsgcore.data.sets import DATASETS, DatasetEntry, load
from dsgcore.data.splits import Scaling, Split, broken, draw_pairs, hide_labels

__all__ = ["CONVERSIONS", "OPTION_NAMES", "DataError", "Dataset", "convert", "equal_frequency_bins"]
__all__ += ["Edit", "IncompleteDataError", "check_complete", "edited", "read_edits"]
__all__ += ["DATASETS", "DatasetEntry", "Rows", "load", "rows_of"]
__all__ += ["Scaling", "Split", "broken", "draw_pairs", "hide_labels"]

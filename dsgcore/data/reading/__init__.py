"""Reader of a user's own table: its file format, its columns, and the points and labels that it becomes."""

from dsgcore.data.reading.cells import as_cell, listed
from dsgcore.data.reading.features import Features
from dsgcore.data.reading.file import File, Look, Step, Table, sniff_format, take_steps
from dsgcore.data.reading.recipe import DATES, DELIMITERS, ENCODINGS, LOCAL, MARKS, MISSING, Limits, Recipe
from dsgcore.data.reading.sources import Source

__all__ = ["Features", "File", "Limits", "Look", "Recipe", "Source", "Step", "Table", "sniff_format", "take_steps"]
__all__ += ["DATES", "DELIMITERS", "ENCODINGS", "LOCAL", "MARKS", "MISSING", "as_cell", "listed"]

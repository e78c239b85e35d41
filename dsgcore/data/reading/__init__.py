"""Reading a person's own table: what a file is, what its columns are, and the points and labels that it becomes."""

from dsgcore.data.reading.labels import label_names
from dsgcore.data.reading.limits import IN_PIECES, LOCAL, Limits
from dsgcore.data.reading.names import as_cell, listed
from dsgcore.data.reading.reader import dataset_of, preview, read, sniff
from dsgcore.data.reading.recipe import DELIMITERS, ENCODINGS, FORMATS, MARKS, MISSING, ROLES, Recipe
from dsgcore.data.reading.sniffing import guess_role, guess_roles, guessed, sniff_format, suit
from dsgcore.data.reading.sources import Source, unpacked
from dsgcore.data.reading.tables import Table, read_table

__all__ = [
    "DELIMITERS",
    "ENCODINGS",
    "FORMATS",
    "IN_PIECES",
    "LOCAL",
    "MARKS",
    "MISSING",
    "ROLES",
    "Limits",
    "Recipe",
    "Source",
    "Table",
    "as_cell",
    "dataset_of",
    "guess_role",
    "guess_roles",
    "guessed",
    "label_names",
    "listed",
    "preview",
    "read",
    "read_table",
    "sniff",
    "sniff_format",
    "suit",
    "unpacked",
]

"""Reader of a user's own table: its file format, its columns, and the points and labels that it becomes."""

from dsgcore.data.reading.cells import as_cell as as_cell
from dsgcore.data.reading.cells import listed as listed
from dsgcore.data.reading.features import Features as Features
from dsgcore.data.reading.file import File as File
from dsgcore.data.reading.file import Look as Look
from dsgcore.data.reading.file import Step as Step
from dsgcore.data.reading.file import Table as Table
from dsgcore.data.reading.file import sniff_format as sniff_format
from dsgcore.data.reading.file import take_steps as take_steps
from dsgcore.data.reading.recipe import DATES as DATES
from dsgcore.data.reading.recipe import DELIMITERS as DELIMITERS
from dsgcore.data.reading.recipe import ENCODINGS as ENCODINGS
from dsgcore.data.reading.recipe import LOCAL as LOCAL
from dsgcore.data.reading.recipe import MARKS as MARKS
from dsgcore.data.reading.recipe import MISSING as MISSING
from dsgcore.data.reading.recipe import Limits as Limits
from dsgcore.data.reading.recipe import Recipe as Recipe
from dsgcore.data.reading.sources import Source as Source

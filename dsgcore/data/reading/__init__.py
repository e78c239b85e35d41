"""Reading a person's own table: what a file is, what its columns are, and the points and labels that it becomes."""

from dsgcore.data.reading.labels import label_names as label_names
from dsgcore.data.reading.limits import IN_PIECES as IN_PIECES
from dsgcore.data.reading.limits import LOCAL as LOCAL
from dsgcore.data.reading.limits import Limits as Limits
from dsgcore.data.reading.names import as_cell as as_cell
from dsgcore.data.reading.names import listed as listed
from dsgcore.data.reading.reader import dataset_of as dataset_of
from dsgcore.data.reading.reader import preview as preview
from dsgcore.data.reading.reader import read as read
from dsgcore.data.reading.reader import sniff as sniff
from dsgcore.data.reading.recipe import DELIMITERS as DELIMITERS
from dsgcore.data.reading.recipe import ENCODINGS as ENCODINGS
from dsgcore.data.reading.recipe import FORMATS as FORMATS
from dsgcore.data.reading.recipe import MARKS as MARKS
from dsgcore.data.reading.recipe import MISSING as MISSING
from dsgcore.data.reading.recipe import ROLES as ROLES
from dsgcore.data.reading.recipe import Recipe as Recipe
from dsgcore.data.reading.sniffing import guess_role as guess_role
from dsgcore.data.reading.sniffing import guess_roles as guess_roles
from dsgcore.data.reading.sniffing import guessed as guessed
from dsgcore.data.reading.sniffing import sniff_format as sniff_format
from dsgcore.data.reading.sniffing import suit as suit
from dsgcore.data.reading.sources import Source as Source
from dsgcore.data.reading.sources import unpacked as unpacked
from dsgcore.data.reading.tables import Table as Table
from dsgcore.data.reading.tables import read_table as read_table

"""What can be wrong with what a person asks for: said in a sentence, and never a traceback."""

from __future__ import annotations

from dsgcore import ParameterError, ProblemError, SpecError
from dsgcore.data import DataError

BAD_INPUT = (SpecError, ParameterError, ProblemError, DataError)

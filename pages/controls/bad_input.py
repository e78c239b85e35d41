"""The errors in a reader's input, which pages show as a sentence instead of a traceback."""

from __future__ import annotations

from dsgcore import ParameterError, ProblemError, SpecError
from dsgcore.data import DataError

BAD_INPUT = (SpecError, ParameterError, ProblemError, DataError)

"""The canonical JSON text of plain data."""

from __future__ import annotations

import json
import re
from typing import Any

_NUMBERS = re.compile(r"\[[\s\d.,eE+-]+\]")  # a list of numbers


def json_text(plain: dict[str, Any], *, indent: int | None) -> str:
    """Return JSON with sorted keys and the shortest exact floats; without `indent`, without white space.

    With `indent`, a list of numbers stays on one line: thousands of coordinates would otherwise take a line each.
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(plain, sort_keys=True, indent=indent, separators=separators, allow_nan=False)
    return text if indent is None else _NUMBERS.sub(lambda found: " ".join(found[0].split()), text)

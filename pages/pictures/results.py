"""Results of the measurements that repeat the papers' figures, in words. `papers.toml` holds them."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from pages.pictures.kept import FOLDER

# Comparisons of a paper's statement with a new measurement.
REPRODUCED, IN_PART, NOT_REPRODUCED, NOT_COMPARABLE = OUTCOMES = (
    "reproduced",
    "reproduced in part",
    "not reproduced",
    "not comparable",
)


@cache
def results() -> dict[str, Any]:
    """Return the outcome and the words of each figure, by setting and figure."""
    return tomllib.loads((FOLDER / "papers.toml").read_text(encoding="utf-8"))


def result_of(setting: str, figure: str) -> tuple[str, str]:
    """Return the comparison of a figure's statement with a new measurement, and the result in words."""
    own = results().get(setting, {}).get(figure, {"outcome": NOT_COMPARABLE, "found": "It was not measured here."})
    return own["outcome"], own["found"]

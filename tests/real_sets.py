"""Real data sets as tables of a user, if they are here. They are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("DSGLAB_DATA") or Path(__file__).parents[2] / "shared" / "data")


def content_of(name: str) -> bytes:
    """A set's file; a test without the set is skipped."""
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"no {name}.npz in ../shared/data nor in the folder that DSGLAB_DATA names")
    return path.read_bytes()

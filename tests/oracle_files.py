"""Paths of the original programs' numbers, if they are here. They are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest


def folder() -> Path:
    """The folder with the oracle files: DSGLAB_ORACLES, or ../shared/oracles beside the repository."""
    return Path(os.environ.get("DSGLAB_ORACLES") or Path(__file__).parents[2] / "shared" / "oracles")


def files(prefix: str) -> list:
    """One test parameter per oracle file of this prefix; where there is none, one that is skipped and says so."""
    found = sorted(folder().glob(f"{prefix}*.npz"))
    if found:
        return [pytest.param(path, id=path.stem) for path in found]
    reason = f"no {prefix}*.npz in ../shared/oracles, nor in the folder that DSGLAB_ORACLES names"
    return [pytest.param(None, id=f"{prefix}-missing", marks=pytest.mark.skip(reason=reason))]


def load(path: Path) -> dict:
    """The arrays of one file; numbers as Python's own."""
    with np.load(path) as arrays:
        return {name: a.item() if a.ndim == 0 else a for name, a in arrays.items()}


def report(record_property, path: Path, **residuals: float) -> None:
    """Show the residuals with -rA (or -s), and keep them in a JUnit report."""
    said = ", ".join(f"{name} {value:.2g}" for name, value in residuals.items())
    print(f"oracle {path.stem}: {said}")
    record_property(path.stem, said)

"""Real data sets as tables of a user, if they are here. They are not part of the project."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(os.environ.get("DSGLAB_DATA") or Path(__file__).parents[2] / "shared" / "data")


def content_of(name: str) -> bytes:
    """A set's file; a test without the set is skipped."""
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"no {name}.npz in ../shared/data nor in the folder that DSGLAB_DATA names")
    return path.read_bytes()


def as_csv(name: str, *, rows: int, label: str = "y", seed: int = 0) -> bytes:
    """Some rows of a set, drawn by the seed, with its labels in a last column named so."""
    with np.load(io.BytesIO(content_of(name)), allow_pickle=False) as held:
        some = np.random.default_rng(seed).permutation(len(held["y"]))[:rows]
        X, y = held["X"][some], held[label][some]
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(label=[f"c{k}" for k in y])
    content = io.BytesIO()
    table.to_csv(content, index=False)
    return content.getvalue()

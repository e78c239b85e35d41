"""Background work begins at once where what it takes is there before."""

from __future__ import annotations

from streamlit.runtime import exists

from dsgcore.experiments.processes import nursery


def get_ready() -> None:
    """Have there what background jobs are forked of: somebody is about to choose a file, or to ask for a study."""
    if exists():
        nursery().get_ready()

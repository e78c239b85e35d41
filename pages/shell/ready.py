"""An early start of the process from which background jobs are forked."""

from __future__ import annotations

from streamlit.runtime import exists

from dsgcore.experiments.processes import nursery


def get_ready() -> None:
    """Start the process from which background jobs are forked, because the reader is about to choose a file or start a
    study."""
    if exists():
        nursery().get_ready()

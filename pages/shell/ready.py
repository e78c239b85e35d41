"""An early start of the process from which background jobs are forked."""

from __future__ import annotations

from streamlit.runtime import exists

from dsgcore.jobs.starting import fork_server

# Slow imports of the jobs that read a user's file, race against a competitor, or run a study.
NEEDED = ("dsgcore.data.reading.file", "dsgcore.experiments.race", "dsgcore.studies.carrying_out")


def get_ready() -> None:
    """Start the process from which background jobs are forked, because the reader is about to choose a file or start a
    study."""
    if exists():
        fork_server().get_ready(*NEEDED)

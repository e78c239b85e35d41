"""Imported by a process that waits for a study: what that takes is there when it comes, and so is what its runs take."""

from __future__ import annotations

import os

# A study that is given up is killed: what its processes shared is tidied up by another one, which need not say so.
os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker"

# The server of forks first: it imports while this process does. It must not hold the way back to who asks.
from dsgcore._forks import get_ready
from dsgcore._job_process import way_back

way_back()
get_ready()

import dsgcore.studies.background  # noqa: E402, F401

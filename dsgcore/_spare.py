"""Imported by a process that waits for a study: what that takes is there when it comes, and so is what its runs take."""

from __future__ import annotations

import os

# A study that is given up is killed: what its processes shared is tidied up by another one, which need not say so.
os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker"

from dsgcore._forks import begin_server
from dsgcore._job_process import way_back

# The server of forks first: it imports what runs need while this process does. It must not hold the way back to who asks.
way_back()
begin_server()

import dsgcore.studies.background  # noqa: E402, F401

"""Specs, runs, and what is recorded and exported of them."""

from dsgcore.experiments.export import script, summary, summary_json
from dsgcore.experiments.history import History
from dsgcore.experiments.run import Health, Run, Snapshot, StopReason, load_split
from dsgcore.experiments.spec import Spec, SpecError

__all__ = [
    "Health",
    "History",
    "Run",
    "Snapshot",
    "Spec",
    "SpecError",
    "StopReason",
    "load_split",
    "script",
    "summary",
    "summary_json",
]

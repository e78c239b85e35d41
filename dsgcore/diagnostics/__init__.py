"""What limits a run: too few iterations, batches too small, too few features; found by intervention, without a browser."""

from dsgcore.diagnostics.four_runs import FourRuns, four_runs
from dsgcore.diagnostics.limits import Limits, limits

__all__ = ["FourRuns", "Limits", "four_runs", "limits"]

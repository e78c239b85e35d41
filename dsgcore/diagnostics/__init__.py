"""What limits a run: too few iterations, batches too small, too few features; found by intervention, without a browser."""

from dsgcore.diagnostics.four_runs import FourRuns, four_runs
from dsgcore.diagnostics.limits import Limits, limits
from dsgcore.diagnostics.strip import Gauge, Light, Strip, strip

__all__ = ["FourRuns", "Gauge", "Light", "Limits", "Strip", "four_runs", "limits", "strip"]

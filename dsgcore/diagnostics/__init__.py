"""What limits a run: too few iterations, batches too small, too few features; found by intervention, without a browser."""

from dsgcore.diagnostics.four_runs import FourRuns, check_possible, four_runs
from dsgcore.diagnostics.job import begin_limits
from dsgcore.diagnostics.limits import Limits, limits
from dsgcore.diagnostics.strip import Gauge, Light, Strip, strip

__all__ = [
    "FourRuns",
    "Gauge",
    "Light",
    "Limits",
    "Strip",
    "begin_limits",
    "check_possible",
    "four_runs",
    "limits",
    "strip",
]

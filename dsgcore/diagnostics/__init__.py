"""Diagnosis of a run by intervention: too few iterations, too small mini-batches or too few features."""

from dsgcore.diagnostics.convergence import WORDS, Convergence, Slope, convergence, fitted, trajectory
from dsgcore.diagnostics.four_runs import FourRuns, four_runs
from dsgcore.diagnostics.gauges import Gauge, Light, LiveGauges, live_gauges
from dsgcore.diagnostics.inside import (
    Amplitudes,
    amplitudes,
    feature_trajectory,
    feature_wave,
    has_inside,
    point_pull,
    point_trajectory,
)
from dsgcore.diagnostics.judgement import Cause, Figure, Judgement, judgement
from dsgcore.diagnostics.limits import RunLimits, begin_limits, limits
from dsgcore.diagnostics.references import check_possible

__all__ = [
    "WORDS",
    "Amplitudes",
    "Cause",
    "Convergence",
    "Figure",
    "FourRuns",
    "Gauge",
    "Judgement",
    "Light",
    "LiveGauges",
    "RunLimits",
    "Slope",
    "amplitudes",
    "begin_limits",
    "check_possible",
    "convergence",
    "feature_trajectory",
    "feature_wave",
    "fitted",
    "four_runs",
    "has_inside",
    "judgement",
    "limits",
    "live_gauges",
    "point_pull",
    "point_trajectory",
    "trajectory",
]

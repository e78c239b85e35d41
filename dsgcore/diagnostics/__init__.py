"""Diagnosis of a run by intervention: too few iterations, too small mini-batches or too few features."""

from dsgcore.diagnostics.convergence import Convergence, Slope, convergence, fitted
from dsgcore.diagnostics.four_runs import FourRuns, check_possible, four_runs
from dsgcore.diagnostics.gauge import Gauge, Light, LiveGauges
from dsgcore.diagnostics.inside import (
    Amplitudes,
    amplitudes,
    feature_trajectory,
    feature_wave,
    has_inside,
    point_pull,
    point_trajectory,
)
from dsgcore.diagnostics.limits import Limits, begin_limits, limits
from dsgcore.diagnostics.live_gauges import live_gauges
from dsgcore.diagnostics.trajectory import WORDS, trajectory

__all__ = [
    "WORDS",
    "Amplitudes",
    "Convergence",
    "FourRuns",
    "Gauge",
    "Light",
    "Limits",
    "LiveGauges",
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
    "limits",
    "live_gauges",
    "point_pull",
    "point_trajectory",
    "trajectory",
]

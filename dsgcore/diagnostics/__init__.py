"""Diagnosis of a run by intervention: too few iterations, too small mini-batches or too few features."""

from dsgcore.diagnostics.convergence import Convergence, Slope, convergence, fitted
from dsgcore.diagnostics.four_runs import FourRuns, check_possible, four_runs
from dsgcore.diagnostics.gauge import Gauge, Light, Strip
from dsgcore.diagnostics.inside import (
    Amplitudes,
    amplitudes,
    feature_wave,
    feature_way,
    has_inside,
    point_pull,
    point_way,
)
from dsgcore.diagnostics.limits import Limits, begin_limits, limits
from dsgcore.diagnostics.strip import strip
from dsgcore.diagnostics.way import WORDS, way

__all__ = [
    "WORDS",
    "Amplitudes",
    "Convergence",
    "FourRuns",
    "Gauge",
    "Light",
    "Limits",
    "Slope",
    "Strip",
    "amplitudes",
    "begin_limits",
    "check_possible",
    "convergence",
    "feature_wave",
    "feature_way",
    "fitted",
    "four_runs",
    "has_inside",
    "limits",
    "point_pull",
    "point_way",
    "strip",
    "way",
]

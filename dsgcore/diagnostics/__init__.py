"""Diagnosis of a run by intervention: too few iterations, too small mini-batches or too few features."""

from dsgcore.diagnostics.convergence import WORDS, Convergence, Slope, convergence, fitted, trajectory
from dsgcore.diagnostics.inside import (
    amplitudes,
    feature_trajectory,
    feature_wave,
    has_inside,
    point_pull,
    point_trajectory,
)
from dsgcore.diagnostics.judgement import Cause, Figure, Judgement, judgement
from dsgcore.diagnostics.limits import RunLimits, begin_limits, limits
from dsgcore.diagnostics.references import FourRuns, check_possible, four_runs

__all__ = ["WORDS", "Cause", "Convergence", "Figure", "FourRuns", "Judgement", "RunLimits", "Slope", "amplitudes"]
__all__ += ["begin_limits", "check_possible", "convergence", "feature_trajectory", "feature_wave", "fitted"]
__all__ += ["four_runs", "has_inside", "judgement", "limits", "point_pull", "point_trajectory", "trajectory"]

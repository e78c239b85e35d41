"""Diagnosis of a run by intervention: too few iterations, too small mini-batches or too few features."""

from dsgcore.diagnostics.convergence import WORDS as WORDS
from dsgcore.diagnostics.convergence import Convergence as Convergence
from dsgcore.diagnostics.convergence import Slope as Slope
from dsgcore.diagnostics.convergence import convergence as convergence
from dsgcore.diagnostics.convergence import fitted as fitted
from dsgcore.diagnostics.convergence import trajectory as trajectory
from dsgcore.diagnostics.inside import amplitudes as amplitudes
from dsgcore.diagnostics.inside import feature_trajectory as feature_trajectory
from dsgcore.diagnostics.inside import feature_wave as feature_wave
from dsgcore.diagnostics.inside import has_inside as has_inside
from dsgcore.diagnostics.inside import point_pull as point_pull
from dsgcore.diagnostics.inside import point_trajectory as point_trajectory
from dsgcore.diagnostics.judgement import Cause as Cause
from dsgcore.diagnostics.judgement import Figure as Figure
from dsgcore.diagnostics.judgement import Judgement as Judgement
from dsgcore.diagnostics.judgement import judgement as judgement
from dsgcore.diagnostics.limits import RunLimits as RunLimits
from dsgcore.diagnostics.limits import begin_limits as begin_limits
from dsgcore.diagnostics.limits import limits as limits
from dsgcore.diagnostics.references import FourRuns as FourRuns
from dsgcore.diagnostics.references import check_possible as check_possible
from dsgcore.diagnostics.references import four_runs as four_runs

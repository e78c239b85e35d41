"""Comparison of DSG Lab's methods with scikit-learn's on a person's own data: ranked table, verdict and learning curves."""

from dsgcore.comparing.methods import METHODS, SCORES, Method
from dsgcore.comparing.report import html_of
from dsgcore.comparing.result import Comparison, Help, Verdict
from dsgcore.comparing.rounds import Background, compare
from dsgcore.comparing.samples import ComparisonError, Fit, FitRequest, Sample

__all__ = ["METHODS", "SCORES", "Background", "Comparison", "ComparisonError", "Fit", "FitRequest", "Help", "Method"]
__all__ += ["Sample", "Verdict", "compare", "html_of"]

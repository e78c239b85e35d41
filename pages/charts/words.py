"""Meanings of a chart's words for one run, in addition to the glossary's."""

from __future__ import annotations

from dsgcore.experiments import Run
from dsgcore.glossary import meaning

F, H = meaning("f"), meaning("twin")
OPTIMUM, GRADIENT = meaning("optimum"), meaning("gradient")


def measured(run: Run) -> str:
    """Return a sentence on the points over which |f - h|^2 is averaged."""
    return f"The mean of |f − h|² over {probes(run)}."


def probes(run: Run) -> str:
    """Return the number of points where f is compared with h, in words."""
    n = min(run.spec.diagnostics.n_probes, len(run.split.y_test))
    return f"{n:,} test points"


def test_score(run: Run) -> str:
    """Return a sentence on the test score."""
    return f"{run.problem.score_name} at the {len(run.split.y_test):,} test points, which are held out."


def train(run: Run) -> tuple[str, str]:
    """Return the name of the training score, and a sentence on its points."""
    if run.problem.labels == "pairs":
        return "train (in pairs)", "The same score at the training points that come in pairs: their classes are hidden."
    return "train (labeled)", "The same score at the labeled training points."


def twin(run: Run) -> str:
    """Return two sentences on the twin that the run is compared with."""
    return f"“{run.problem.baseline_name}” is the run for comparison. Its data, mini-batches and features are the same."

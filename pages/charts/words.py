"""What the charts' words mean of a certain run, beside what the glossary says: to the pointer and to the keyboard."""

from __future__ import annotations

from dsgcore.experiments import Run
from dsgcore.glossary import meaning

F, H = meaning("f"), meaning("twin")
OPTIMUM, GRADIENT = meaning("optimum"), meaning("gradient")


def measured(run: Run) -> str:
    """Say what |f - h|^2 is the mean of."""
    return f"The mean of |f − h|² over {probes(run)}."


def probes(run: Run) -> str:
    """Say where f is compared with h."""
    n = min(run.spec.diagnostics.n_probes, len(run.split.y_test))
    return f"{n:,} test points"


def test_score(run: Run) -> str:
    """Say what the test score is."""
    return f"{run.problem.score_name} at the {len(run.split.y_test):,} test points, which are held out."


def train(run: Run) -> tuple[str, str]:
    """Say at which training points the score is taken as well: a name, and a sentence."""
    if run.problem.labels == "pairs":
        return "train (in pairs)", "The same score at the training points that come in pairs: their classes are hidden."
    return "train (labeled)", "The same score at the labeled training points."


def twin(run: Run) -> str:
    """Say what the twin is that the run is compared with."""
    return f"The same run, {run.problem.twin_name}: same data, mini-batches and features."

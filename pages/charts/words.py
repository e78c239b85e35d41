"""What the charts' words mean, a sentence each: said where they stand, to the pointer and to the keyboard."""

from __future__ import annotations

from dsgcore.experiments import Run

F = "f is the score that is learned: the run's own, with random features in place of the kernel."
H = "h is its twin: the same batches and coefficients, with the exact kernel in place of random features."
OPTIMUM = "f* is the exact minimiser of the objective, f̄ the mean of f over the second half of the iterations so far."
GRADIENT = "∇J is the gradient of the whole sample's objective, zero where it is stationary; norms are those of the kernel's space."
ERROR = "The error |f − h| is what the random features make: how far they have led f away from h."
CLASSES = "The class with the highest score."
MARGIN = "By how much the highest score leads over the next one."
OBJECTIVE = "What is minimised: the risk on the training data, plus the ridge."
PARTS = (
    "What the objective adds up, part by part. A risk cannot be negative, but an estimate of one subtracts: what lies below zero, "
    "and a correction where there is one, which adds what would be missing."
)
AVERAGE = (
    "The mean of the functions after each step of the second half: what the batches and the random features shake goes out. It is "
    "the function that an estimator predicts with."
)
BATCH = "The same objective, estimated from the batch of each iteration alone."
BOUND = (
    "The paper's bound on the expected |f − h|². It lies powers of ten above it: the bound is the same for one random feature as "
    "for a thousand, and adds up the batch's coefficients as if all its points pulled the same way."
)
BAND = "What |f − h|² is expected to be, computed along with the run; the band is three times as much, and a third."
SIZE_OF_H = "The mean of |h|² at the same points: what the error is to be compared with."
BEST = "The highest test score so far. It is chosen by the test points, so it flatters."
GHOST = "The same curve of the run before this one, on the same data."
KEPT = "The largest singular values, which the penalty leaves alone."
TAIL = "The smallest singular values, whose sum is penalised: it pulls them to zero."


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
    return f"The same run, {run.problem.twin_name}: the same data, batches and features."

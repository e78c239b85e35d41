"""What a run came to, as numbers: what the claims of the lessons are held against."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.diagnostics import GradientNorm, exact_optimum
from dsgcore.experiments.live import LiveRun
from dsgcore.experiments.predictions import predicted_classes
from dsgcore.experiments.run import Health, Run
from dsgcore.experiments.verdict import Verdict, compare

SIGNS = {Verdict.BETTER: 1.0, Verdict.WORSE: -1.0, Verdict.TIE: 0.0}
# Columns of the history that are measures by their own name, where a run has them.
OF_THE_LAST_ROW = ("objective", "rank", "score_labeled", "score_unlabeled", "score_average", "objective_average")
# Measures that need the exact minimiser: found where they are asked for, on no more training points than are quick.
OF_THE_MINIMISER, MOST_POINTS = frozenset({"distance", "overstated"}), 1000


def outcome_of(live: LiveRun, asked: Collection[str] = ()) -> dict[str, float]:
    """Return the measures of a run that has made at least one iteration.

    Parameters
    ----------
    live : LiveRun
    asked : collection of str, optional
        Measures wanted; those of the exact minimiser are taken only if they are among these.

    Returns
    -------
    dict
        score; gain: the score less the twin's; verdict: 1 better than it, -1 worse, 0 a tie; objective; growth: the highest
        objective over that at the start, infinite where the run has diverged; unrest: the mean change of the objective from
        an iteration to the next, over the second half, relative to the objective's own mean; error_share: |f - h|^2 over
        |h|^2; lag: the score of h less that of f; rank; right: the part of the test points whose class is predicted; near:
        the same within one class; commonest: the part that the commonest class has; positive_share: the part called
        positive; score and objective of the average; averaging: the last iterate's objective less the average's; batch: points a
        source and iteration; matrix_share: the model's numbers over those of a kernel matrix of the
        training points; distance: |f - f*|^2 over |f*|^2 at the training points; overstated: |f - h|^2 over |f - f*|^2
        there; by a column's name with @ and a share of the way, its value there; by name, the numbers that can be steered,
        as they were at the end. What a run does not have is left out.
    """
    run = live.run
    row = run.history.last()
    growth = float(np.max(run.history.column("objective"))) / run.start_objective()
    measures = {
        "score": row["score_test"],
        **{name: row[name] for name in OF_THE_LAST_ROW if name in row},
        "growth": math.inf if run.health is Health.DIVERGED else growth,
        "unrest": _unrest(run),
        "batch": float(run.spec.solver.batch_size),
        **({"averaging": row["objective"] - row["objective_average"]} if "objective_average" in row else {}),
        **{name: value for name, value in run.spec.values_at(run.t).items() if isinstance(value, int | float)},
    }
    measures |= _against_twin(live) | _on_the_way(run, asked)
    if run.health is Health.DIVERGED:
        return measures
    of_minimiser = _of_minimiser(run) if OF_THE_MINIMISER & set(asked) else {}
    return measures | _of_classes(run) | _of_values(run, row) | _of_model(run) | of_minimiser


def _against_twin(live: LiveRun) -> dict[str, float]:
    made = compare(live.run, live.supervised) if live.supervised is not None else None
    if made is None or made.verdict is None:
        return {}
    return {"gain": made.difference, "verdict": SIGNS[made.verdict]}


def _on_the_way(run: Run, asked: Collection[str]) -> dict[str, float]:
    """Return values of columns on the way, asked for as column@share."""
    named = [(name, *name.split("@", 1)) for name in asked if "@" in name]
    held = run.history.last()
    return {
        name: float(run.history.column(column)[round(float(share) * (run.t - 1))])
        for name, column, share in named
        if column in held
    }


def _unrest(run: Run) -> float:
    """Return how much the objective jumps about in the second half."""
    objective = run.history.column("objective")[run.t // 2 :]
    return float(np.abs(np.diff(objective)).mean() / np.abs(objective).mean()) if len(objective) > 1 else math.nan


def _of_classes(run: Run) -> dict[str, float]:
    y, given = run.split.y_test, predicted_classes(run, run.test_values)
    measures = {
        "right": float(np.mean(given == y)),
        "near": float(np.mean(np.abs(given - y) <= 1)),
        "commonest": float(np.bincount(y).max() / len(y)),
    }
    return measures | ({"positive_share": float(np.mean(given == 1))} if len(run.split.class_names) == 2 else {})


def _of_values(run: Run, row: dict[str, float]) -> dict[str, float]:
    if not row.get("h_squared", 0.0) > 0.0:
        return {}
    y, f, h = run.split.y_test, run.test_values, run.exact_values(run.split.X_test)
    lag = run.problem.score(y, h + run.shift) - run.problem.score(y, f + run.shift)
    return {"error_share": row["error_mean"] / row["h_squared"], "lag": lag}


def _of_model(run: Run) -> dict[str, float]:
    """Return what the model holds, where it grows by a block an iteration."""
    blocks = getattr(run.model, "blocks", ())
    pairs = len(run.split.X_train) ** 2
    return {"matrix_share": sum(block.size for block in blocks) / pairs} if len(blocks) else {}


def _of_minimiser(run: Run) -> dict[str, float]:
    """Return distances to the exact minimiser; nothing where the risk is not quadratic, or the points are many."""
    X, task, lam = run.split.X_train.astype(np.float64), getattr(run.engine, "task", None), run.spec.solver.lam
    if len(X) > MOST_POINTS or run.training_values is None or task is None or not lam > 0.0:
        return {}
    with single_threaded_blas():
        K = run.spec.kernel.matrix(X, X)
        quadratic = GradientNorm(task.problem, task.rows, K).quadratic
        if quadratic is None:
            return {}
        best = K @ exact_optimum(K, *quadratic, lam)
    f, h = run.training_values.astype(np.float64), run.exact_values(run.split.X_train)
    squared = float(np.sum((f - best) ** 2))
    return {"distance": squared / float(np.sum(best**2)), "overstated": float(np.sum((f - h) ** 2)) / squared}

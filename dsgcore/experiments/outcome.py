"""What a run came to, as numbers: what the claims of the lessons are held against."""

from __future__ import annotations

import math

import numpy as np

from dsgcore.experiments.live import LiveRun
from dsgcore.experiments.predictions import predicted_classes
from dsgcore.experiments.run import Health, Run
from dsgcore.experiments.verdict import Verdict, compare

SIGNS = {Verdict.BETTER: 1.0, Verdict.WORSE: -1.0, Verdict.TIE: 0.0}


def outcome_of(live: LiveRun) -> dict[str, float]:
    """Return the measures of a run that has made at least one iteration.

    Returns
    -------
    dict
        score; gain: the score less the twin's; verdict: 1 better than it, -1 worse, 0 a tie; objective; growth: the highest
        objective over that at the start, infinite where the run has diverged; error_share: |f - h|^2 over |h|^2;
        lag: the score of h less that of f; rank; positive_share: the part of the test points called positive; by name, the
        numbers that can be steered, as they were at the end. What a run does not have is left out.
    """
    run = live.run
    row = run.history.last()
    growth = float(np.max(run.history.column("objective"))) / run.start_objective()
    measures = {
        "score": row["score_test"],
        "objective": row["objective"],
        "growth": math.inf if run.health is Health.DIVERGED else growth,
        **({"rank": row["rank"]} if "rank" in row else {}),
        **{name: value for name, value in run.spec.values_at(run.t).items() if isinstance(value, int | float)},
    }
    return measures | _against_twin(live) | ({} if run.health is Health.DIVERGED else _of_values(run, row))


def _against_twin(live: LiveRun) -> dict[str, float]:
    made = compare(live.run, live.supervised) if live.supervised is not None else None
    if made is None or made.verdict is None:
        return {}
    return {"gain": made.difference, "verdict": SIGNS[made.verdict]}


def _of_values(run: Run, row: dict[str, float]) -> dict[str, float]:
    y, f = run.split.y_test, run.test_values
    measures = {}
    if len(run.split.class_names) == 2:
        measures["positive_share"] = float(np.mean(predicted_classes(run, f) == 1))
    if row.get("h_squared", 0.0) > 0.0:
        h = run.exact_values(run.split.X_test)
        measures["error_share"] = row["error_mean"] / row["h_squared"]
        measures["lag"] = run.problem.score(y, h + run.shift) - run.problem.score(y, f + run.shift)
    return measures

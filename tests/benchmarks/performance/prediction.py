"""Prediction for many points in constant memory, and for one point."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dsgcore.jobs.memory import MEGABYTE
from dsgcore.solver.model import FREQUENCY_CACHE_BYTES, Expansion
from performance.machine import Row, interleaved, seconds
from performance.measuring import Sizes, in_new_process, repeated
from performance.runs import one_evaluation, paper_task

ROUNDS = 2
MEMORY = """
import json, sys
import numpy as np
from dsgcore.jobs.memory import forget_peak, peak
from performance.prediction import any_model
n, d = map(int, sys.argv[1:])
X = np.random.default_rng(0).standard_normal((n, d))  # not the model's precision
model = any_model(d, 64, 2)
model.evaluate(X[:1000])
before = forget_peak()
values = model.evaluate(X)
print(json.dumps(peak() - before - values.nbytes))
"""


def any_model(d: int, m: int, n_iter: int) -> Expansion:
    """Return a model of the papers' setting with random coefficients."""
    model, rng = paper_task(2, d, m, n_iter, 1).new_model(), np.random.default_rng(0)
    for _ in range(n_iter):
        model.append(rng.random((2, m), dtype=np.float32), 0.999)
    return model


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the prediction with a model of the papers' setting."""
    s = sizes
    model, task = any_model(s.d, s.m, s.n_iter), paper_task(s.predicted, s.d, s.m, 1, 1)
    times = interleaved(
        ROUNDS, {"all": lambda: model.evaluate(task.X), "evaluations": repeated(one_evaluation(task), s.n_iter)}
    )
    share = times["evaluations"] / times["all"]
    yield Row(f"prediction, {s.predicted} points: evaluations x kernel time / whole time", share, "", 0.9)
    yield Row("prediction: points per second, all cores", s.predicted / times["all"], "1/s")
    used = in_new_process(MEMORY, 16 * s.predicted, s.d) / MEGABYTE
    yield Row(f"prediction, {16 * s.predicted} points: memory over points and values", used, "MB", 60, is_most=True)
    first = seconds(lambda: model.evaluate(task.X[:1]))
    again = interleaved(s.repeats, {"one": lambda: model.evaluate(task.X[:1])})["one"]
    budget = FREQUENCY_CACHE_BYTES // MEGABYTE
    yield Row("prediction of one point: first time", 1e3 * first, "ms")
    yield Row(
        f"prediction of one point: again (frequencies kept within {budget} MB)", 1e3 * again, "ms", 10, is_most=True
    )

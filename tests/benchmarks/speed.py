"""Speed and memory of the core on this machine, compared with the machine's limits and with plain NumPy.

`python tests/benchmarks/speed.py --only kernel` makes one group of measurements. All of them take some minutes.

The least time (floor) of one evaluation, of a random feature at a point, in d columns is that of d multiply-adds in a large
matrix product, and of one cosine in the first-level cache.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import blas
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from dsgcore.core.threads import n_workers, set_workers, single_threaded_blas
from dsgcore.estimators import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.jobs.memory import MEGABYTE
from dsgcore.kernels import Gaussian, block_frequencies, loops
from dsgcore.kernels.features import Cosines
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.loop import VisitedPoints, solve
from dsgcore.solver.task import Plan, Task

REPEATS, FEW_REPEATS, ROUNDS = 9, 5, 3  # the shortest time counts
# Numbers of columns of the kernel's measurements, points and features, and the least ratio of the floor to the measured time.
DIMENSIONS, ROWS, FEATURES, OF_FLOOR = (1, 3, 8, 22, 54, 128, 784), 9600, 1000, 0.95
# Points of an evaluation by NumPy, which takes long; the least ratios of its time to ours, by number of columns.
NUMPY_ROWS, NUMPY_TARGETS = 960, {784: 1.0}
SIZE, COLUMNS, CALLS = 1024, 512, 40  # the floor's matrices, and its cosines
# The papers' usual run: points, coordinates, features, iterations, points drawn from each of two sources.
PAPER = {"n": 20_000, "d": 54, "m": 1000, "n_iter": 100, "batch_size": 1000}
PLAIN = 10  # iterations of the papers' own algorithm, which is extrapolated
FITTED, FITTED_COLUMNS, CLASSES, LABELED = 10_000, 100, 5, 0.1


@dataclass(frozen=True)
class Row:
    """A measurement, and its promised minimum, or maximum if `is_most`; None without a promise."""

    name: str
    value: float
    unit: str
    target: float | None = None
    is_most: bool = False

    @property
    def is_met(self):
        if self.target is None:
            return None
        return bool(self.value <= self.target if self.is_most else self.value >= self.target)

    def __str__(self):
        line = f"{self.name:<78}{self.value:>12.4g} {self.unit:8}"
        if self.target is None:
            return line.rstrip()
        missed = f"NO, {abs(self.value / self.target - 1):.1%} {'above' if self.is_most else 'below'}"
        return f"{line}{'<=' if self.is_most else '>=':>5} {self.target:<6g}  {'yes' if self.is_met else missed}"


def seconds(call):
    """Return the seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(repeats, calls):
    """Return the shortest time of each call. The calls take turns, after one round that does not count."""
    rounds = [{name: seconds(call) for name, call in calls.items()} for _ in range(repeats + 1)]
    return {name: min(times[name] for times in rounds[1:]) for name in calls}


@contextmanager
def one_worker():
    """Give the core one thread in the block."""
    before = n_workers()
    set_workers(1)
    try:
        with single_threaded_blas():
            yield
    finally:
        set_workers(before)


def in_new_process(program, **environment):
    """Return the JSON that a program, given as text, prints; it can import this file."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    env = {**os.environ, "PYTHONPATH": path, **environment}
    done = subprocess.run([sys.executable, "-c", program], env=env, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


# --- the evaluation loop on one thread


def floor_calls():
    """Return the timed calls for the floor: a large matrix product, and cosines in the first-level cache."""
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.standard_normal((SIZE, SIZE), dtype=np.float32))
    C = np.empty_like(A)
    turns = rng.standard_normal((loops.TILE_ROWS, COLUMNS), dtype=np.float32)
    wave, out = rng.standard_normal(COLUMNS, dtype=np.float32), np.zeros(loops.TILE_ROWS, dtype=np.float32)

    def cosines():
        for _ in range(CALLS):
            loops.add_cosines(turns, wave, wave, out, None)

    return {"product": lambda: blas.sgemm(1.0, A, A, 0.0, C, overwrite_c=1), "cosines": cosines}


def floor_of(times, d):
    """Return the least seconds of one evaluation, from the times of `floor_calls`."""
    return d * times["product"] / SIZE**3 + times["cosines"] / (CALLS * loops.TILE_ROWS * COLUMNS)


def measure_kernel():
    """Measure the machine's rates, and the loop for every number of columns beside them and NumPy."""
    with one_worker():
        times = interleaved(REPEATS, floor_calls())
    yield Row("machine: matrix product, one thread", 2e-9 * SIZE**3 / times["product"], "GFlop/s")
    yield Row("machine: cosine, one thread", 1e9 * floor_of(times, 0), "ns")
    for d in DIMENSIONS:
        rng = np.random.default_rng(d)
        X, r = rng.standard_normal((ROWS, d), dtype=np.float32), rng.random(FEATURES, dtype=np.float32)
        W, block, out = Gaussian(1 / d).frequencies(rng, d, FEATURES), np.stack([r, r]), np.zeros(ROWS, np.float32)
        calls = {
            **floor_calls(),
            "ours": lambda X=X, W=W, block=block, out=out: Cosines().evaluate(X, W, block, 1.0, out),
            "numpy": lambda X=X[:NUMPY_ROWS], W=W, r=r: np.cos(2 * np.pi * (X @ W - r)) @ r,
        }
        with one_worker():
            times = interleaved(REPEATS, calls)
        ours = times["ours"] / (ROWS * FEATURES)
        yield Row(f"kernel, d = {d}: one evaluation, one thread", 1e9 * ours, "ns")
        yield Row(f"kernel, d = {d}: floor / measured", floor_of(times, d) / ours, "", OF_FLOOR)
        ratio = times["numpy"] / (NUMPY_ROWS * FEATURES) / ours
        yield Row(f"kernel, d = {d}: numpy / ours, one thread", ratio, "x", NUMPY_TARGETS.get(d))


# --- whole runs in the papers' usual setting


def paper_task(n, d, m, n_iter, batch_size):
    """Return paper 1's problem on normal points: half of them in similar pairs, half unlabeled."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    rows = {"similar": np.arange(n // 2), "unlabeled": np.arange(n // 2, n)}
    plan = Plan("constant", 0.1, 1e-3, m, n_iter)
    return Task(SimilarUnlabeled(), Gaussian(0.5 / d), X, rows, plan, batch_size, 0, X.dtype)


def train(task):
    """Train from the start; return the number of evaluations: points tracked or accumulated, times features."""
    model = task.new_model()
    points = VisitedPoints(task, model)
    for _ in solve(task, model, training=points):
        pass
    assert len(model) == task.plan.n_iter, "the run diverged"
    n_batch = len(task.rows) * task.batch_size
    return task.plan.n_features * (int(points.needed_after.sum()) + n_batch * task.plan.n_iter)


def train_plainly(task, n_iter):
    """Return the coefficients (2m,) of some iterations by the papers' Algorithms 1 and 2 in plain NumPy.

    Every step draws and evaluates all earlier blocks' features again.
    """

    def phi(t, X):
        W = block_frequencies(task.kernel, task.seed, t, X.shape[1], task.plan.n_features, task.dtype)
        z = X @ (W * task.dtype.type(2 * np.pi))
        return np.concatenate([np.cos(z), np.sin(z)], axis=1) * task.dtype.type(task.plan.n_features**-0.5)

    alphas = []
    for t in range(1, n_iter + 1):
        step, batch = task.plan.at(t), task.batch(t)
        points = task.X[np.concatenate(list(batch.values()))]
        f = np.zeros(len(points), dtype=task.dtype)
        for i, alpha in enumerate(alphas, start=1):
            f += phi(i, points) @ alpha
        values = dict(zip(batch, f.reshape(len(batch), -1), strict=True))
        c = np.concatenate([task.problem.coefficients(values)[source] for source in batch]).astype(task.dtype)
        added = -task.dtype.type(step.size) * (c @ phi(t, points))
        alphas = [task.dtype.type(step.decay) * alpha for alpha in alphas] + [added]
    return alphas


def measure_runs():
    """Measure a run, and the papers' own algorithm and the evaluations alone beside it."""
    task, T = paper_task(**PAPER), PAPER["n_iter"]
    m, n, evaluations = PAPER["m"], PAPER["n"], train(task)
    r, W, out = np.ones(m, np.float32), task.new_model().frequencies(1, m), np.zeros(n, np.float32)
    calls = {
        "ours": lambda: train(task),
        "plain": lambda: train_plainly(task, PLAIN),
        "evaluations": lambda: [Cosines().evaluate(task.X, W, np.stack([r, r]), 1.0, out) for _ in range(T)],
    }
    times = interleaved(FEW_REPEATS, calls)
    yield Row(f"paper 1's setting ({n} points, d = {PAPER['d']}, m = {m}, T = {T}): time", times["ours"], "s")
    whole = times["plain"] * T * (T + 1) / (PLAIN * (PLAIN + 1))  # by the batches' features that are computed
    yield Row(f"  plain NumPy algorithm (from T = {PLAIN}) / ours", whole / times["ours"], "x", 20.0)
    kernel = evaluations * times["evaluations"] / (n * m * T)
    yield Row("  evaluations x kernel time / whole time, all cores", kernel / times["ours"], "", 0.85)


# --- memory, in separate processes

# Training's own memory. The row numbers of the two sources are there before.
TRAINING = """
import json
from dsgcore.jobs.memory import forget_peak, peak
from speed import PAPER, paper_task, train
train(paper_task(100, PAPER["d"], PAPER["m"], 2, 8))
task = paper_task(**PAPER)
before = forget_peak()
train(task)
print(json.dumps(peak() - before))
"""


def measure_memory():
    """Measure the memory that training takes besides its data and its coefficients."""
    used = in_new_process(TRAINING)
    alpha = PAPER["n_iter"] * PAPER["m"] * 2 * 4
    said = f"memory: paper 1's setting, peak over the data and alpha ({alpha / MEGABYTE:.1f} MB)"
    yield Row(said, (used - alpha) / MEGABYTE, "MB", 60, is_most=True)


# --- waiting times of a new user


def measure_start():
    """Measure imports, and the loops' first call with and without a filled cache, each in a separate process."""
    timed = "import time\n{}\nstart = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"
    for what, target in (("import dsgcore", 1.0), ("from dsgcore import Run", None)):
        value = min(in_new_process(timed.format("", what)) for _ in range(ROUNDS))
        yield Row(f"start: {what}", value, "s", target, is_most=True)
    first = timed.format("from dsgcore.kernels.features import warm_up", "warm_up()")
    with tempfile.TemporaryDirectory() as folder:
        cold, *warm = (in_new_process(first, NUMBA_CACHE_DIR=folder) for _ in range(1 + ROUNDS))
    yield Row("start: compiling all loops from nothing", cold, "s", 20, is_most=True)
    yield Row("start: loading all loops from the cache", min(warm), "s", 0.5, is_most=True)


def measure_fits():
    """Fit each of the five papers' estimators on one thread, with the same number of points, a tenth of them labeled."""
    n, d, rng = FITTED, FITTED_COLUMNS, np.random.default_rng(0)
    grades = rng.integers(CLASSES, size=n)
    X = rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((CLASSES, d))[grades] / d**0.5
    few, two = rng.random(n) < LABELED, (grades > 0).astype(int)
    of_classes = [rng.permutation(np.flatnonzero(few & (two == label))) for label in (0, 1)]
    similar = np.concatenate([own[: len(own) // 2 * 2].reshape(-1, 2) for own in of_classes])
    fits = {"TSGSU": lambda: TSGSU(prior=float(np.mean(two))).fit(X[~few], pairs=X[similar])}
    for method, labels in ((QSGS2AUC, two), (TSGS3VM, two), (QS3ORAO, grades), (PS3VT, grades)):
        y = np.where(few, labels, -1)
        fits[method.__name__] = lambda method=method, y=y: method().fit(X, y)
    with one_worker(), threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        times = interleaved(ROUNDS, fits)
    for name, took in times.items():
        yield Row(f"{name}: default fit, {n:,} x {d}", took, "s", 2.0, is_most=True)


GROUPS = {
    "kernel": measure_kernel,
    "runs": measure_runs,
    "memory": measure_memory,
    "fits": measure_fits,
    "start": measure_start,
}


def main():
    """Measure what the command line asks for; print each row as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=GROUPS, help="one group of measurements")
    given, rows = parser.parse_args(), []
    for name in [given.only] if given.only else GROUPS:
        for row in GROUPS[name]():
            rows.append(row)
            print(row, flush=True)
    promised = [row.is_met for row in rows if row.target is not None]
    print(f"{sum(promised)} of {len(promised)} targets are met.")


if __name__ == "__main__":
    main()

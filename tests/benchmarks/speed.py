"""Speed and memory of the core on this machine, compared with the machine's limits and other programs.

`python tests/benchmarks/speed.py --only kernel` makes one group of measurements. All of them take some minutes.

The least time (floor) of one evaluation, of a random feature at a point, in d columns is that of d multiply-adds in a large
matrix product, and of one cosine in the first-level cache.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.linalg import blas
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
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
# Points of an evaluation by NumPy, which takes long; the least ratios of the others' times to ours, by number of columns.
NUMPY_ROWS, NUMPY_TARGETS, TORCH_TARGETS, TORCH_ROWS = 960, {784: 1.0}, {3: 5.0, 22: 2.0, 54: 2.0}, 256
SIZE, COLUMNS, CALLS = 1024, 512, 40  # the floor's matrices, and its cosines
# The papers' usual run: points, coordinates, features, iterations, points drawn from each of two sources.
PAPER = {"n": 20_000, "d": 54, "m": 1000, "n_iter": 100, "batch_size": 1000}
# Iterations of the papers' own algorithm, which is extrapolated; how many times longer a long run is.
PLAIN, GROWTH = 10, 4
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


def by_torch(X, W, r):
    """Return the same evaluation in PyTorch: tiles of rows, everything in place."""
    import torch

    torch.set_num_threads(1)
    points, frequencies = torch.from_numpy(X), torch.from_numpy(W * np.float32(2 * np.pi))
    amplitude, phase = torch.from_numpy(r), torch.from_numpy(r * np.float32(2 * np.pi))
    tile, out = torch.empty((TORCH_ROWS, len(r))), torch.empty(len(X))

    def evaluate():
        for top in range(0, len(X), TORCH_ROWS):
            rows = points[top : top + TORCH_ROWS]
            z = torch.mm(rows, frequencies, out=tile[: len(rows)]).sub_(phase).cos_()
            torch.mv(z, amplitude, out=out[top : top + TORCH_ROWS])

    return evaluate


def measure_kernel():
    """Measure the machine's rates, and the loop for every number of columns beside them and other programs."""
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
            **({"PyTorch": by_torch(X, W, r)} if find_spec("torch") else {}),
        }
        with one_worker():
            times = interleaved(REPEATS, calls)
        ours = times["ours"] / (ROWS * FEATURES)
        yield Row(f"kernel, d = {d}: one evaluation, one thread", 1e9 * ours, "ns")
        yield Row(f"kernel, d = {d}: floor / measured", floor_of(times, d) / ours, "", OF_FLOOR)
        for name, n, targets in (("numpy", NUMPY_ROWS, NUMPY_TARGETS), ("PyTorch", ROWS, TORCH_TARGETS)):
            if name in times:
                ratio = times[name] / (n * FEATURES) / ours
                yield Row(f"kernel, d = {d}: {name} / ours, one thread", ratio, "x", targets.get(d))


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


def by_sampler(task):
    """Return one iteration's accumulation and evaluation at all points, with features by scikit-learn."""
    X, m, n_batch = task.X, task.plan.n_features, len(task.rows) * task.batch_size
    values, weights = np.zeros(len(X), dtype=X.dtype), np.ones(n_batch, dtype=X.dtype)

    def iterate():
        sampler = RBFSampler(gamma=0.5 / X.shape[1], n_components=m, random_state=0).fit(X[:1])
        alpha = weights @ sampler.transform(X[np.arange(n_batch) % len(X)])
        values[:] = 0.999 * values + sampler.transform(X) @ alpha

    return iterate


def measure_runs():
    """Measure a run, and the papers' own algorithm, scikit-learn's features and the evaluations alone beside it."""
    task, T = paper_task(**PAPER), PAPER["n_iter"]
    wide = replace(task, X=task.X.astype(np.float64), dtype=np.dtype(np.float64))
    longer = replace(task, plan=replace(task.plan, n_iter=GROWTH * T))
    m, n, evaluations = PAPER["m"], PAPER["n"], train(task)
    r, W, out = np.ones(m, np.float32), task.new_model().frequencies(1, m), np.zeros(n, np.float32)
    calls = {
        "ours": lambda: train(task),
        "longer": lambda: train(longer),
        "plain": lambda: train_plainly(task, PLAIN),
        "wide": lambda: train_plainly(wide, PLAIN // 2),
        "sampler": by_sampler(task),
        "evaluations": lambda: [Cosines().evaluate(task.X, W, np.stack([r, r]), 1.0, out) for _ in range(T)],
    }
    times = interleaved(FEW_REPEATS, calls)
    yield Row(f"paper 1's setting ({n} points, d = {PAPER['d']}, m = {m}, T = {T}): time", times["ours"], "s")
    for name, own, n_iter, made, kind, target in (
        ("plain", "ours", T, PLAIN, "float32, as ours", 20.0),
        ("plain", "longer", GROWTH * T, PLAIN, "float32, as ours", 80.0),
        ("wide", "ours", T, PLAIN // 2, "NumPy's default, float64", None),
    ):
        whole = times[name] * n_iter * (n_iter + 1) / (made * (made + 1))  # by the batches' features that are computed
        said = f"  plain NumPy algorithm in {kind} (T = {n_iter}, from T = {made}) / ours"
        yield Row(said, whole / times[own], "x", target)
    share = evaluations / (m * T * (n + len(task.rows) * PAPER["batch_size"]))
    sampler = times["sampler"] * T * share / times["ours"]
    yield Row("  RBFSampler and NumPy, the same evaluations (one iteration of T) / ours", sampler, "x")
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


def machine():
    """Return the processor, and the versions of the libraries that compute."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    own = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    versions = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "scipy", "numba"))
    return f"{platform.machine()}, {own}, {os.cpu_count()} cores, with Python {platform.python_version()}, {versions}"


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
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to this JSON file")
    given, rows = parser.parse_args(), []
    for name in [given.only] if given.only else GROUPS:
        for row in GROUPS[name]():
            rows.append(row)
            print(row, flush=True)
    promised = [row.is_met for row in rows if row.target is not None]
    print(f"{sum(promised)} of {len(promised)} targets are met.")
    if given.json is not None:
        results = [vars(row) | {"is_met": row.is_met} for row in rows]
        given.json.write_text(json.dumps({"machine": machine(), "results": results}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

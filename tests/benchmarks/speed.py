"""Speed and memory of the core on this machine, compared with the machine's limits and other programs.

`python tests/benchmarks/speed.py --only kernel` makes one group of measurements. All of them take some minutes.

The least time (floor) of one evaluation, of a random feature at a point, in d columns is that of d multiply-adds in a large
matrix product, and of one cosine in the first-level cache.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
from threadpoolctl import threadpool_limits

from dsgcore.core.threads import n_workers, set_workers, single_threaded_blas
from dsgcore.estimators import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.jobs.memory import MEGABYTE
from dsgcore.kernels import Gaussian, block_frequencies, features, loops
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.loop import VisitedPoints, solve
from dsgcore.solver.task import Plan, Task

REPEATS, FEW_REPEATS, ROUNDS = 9, 5, 3  # the shortest time counts
# Numbers of columns of the kernel's measurements, points and features, and the least ratio of the floor to the measured time.
DIMENSIONS, ROWS, FEATURES, OF_FLOOR = (1, 3, 8, 22, 54, 128, 784), 9600, 1000, 0.95
# Points of an evaluation by NumPy, which takes long; the least ratios of the others' times to ours, by number of columns.
NUMPY_ROWS, NUMPY_TARGETS, TORCH_TARGETS, TORCH_ROWS = 960, {784: 1.0}, {3: 5.0, 22: 2.0, 54: 2.0}, 256
# The floor's matrices, and its cosines.
SIZE, COLUMNS, CALLS = 1024, 512, 40
# The papers' usual run: points, coordinates, features, iterations, points drawn from each of two sources.
PAPER = {"n": 20_000, "d": 54, "m": 1000, "n_iter": 100, "batch_size": 1000}
# Iterations of the papers' own algorithm, which is extrapolated; how many times longer a long run is.
PLAIN, GROWTH = 10, 4
STORED, STORED_COLUMNS, WRITTEN_AT_ONCE = 20_000_000, 22, 100_000
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
    def is_met(self) -> bool | None:
        """True if the target is met; None without one."""
        if self.target is None:
            return None
        return bool(self.value <= self.target if self.is_most else self.value >= self.target)

    def __str__(self) -> str:
        line = f"{self.name:<78}{self.value:>12.4g} {self.unit:8}"
        if self.target is None:
            return line.rstrip()
        missed = f"NO, {abs(self.value / self.target - 1):.1%} {'above' if self.is_most else 'below'}"
        return f"{line}{'<=' if self.is_most else '>=':>5} {self.target:<6g}  {'yes' if self.is_met else missed}"


def seconds(call: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(repeats: int, calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the shortest time of each call. The calls take turns, after one round that does not count."""
    rounds = [{name: seconds(call) for name, call in calls.items()} for _ in range(repeats + 1)]
    return {name: min(times[name] for times in rounds[1:]) for name in calls}


@contextmanager
def one_worker() -> Iterator[None]:
    """Give the core one thread in the block."""
    before = n_workers()
    set_workers(1)
    try:
        with single_threaded_blas():
            yield
    finally:
        set_workers(before)


def in_new_process(program: str, *arguments: object, **environment: str) -> Any:
    """Return the JSON that a program, given as text, prints; it can import this file."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-c", program, *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": path, **environment}
    return json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)


# --- the evaluation loop on one thread


def floor_calls() -> dict[str, Callable[[], object]]:
    """Return the timed calls for the floor: a large matrix product, and cosines in the first-level cache."""
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.standard_normal((SIZE, SIZE), dtype=np.float32))
    C = np.empty_like(A)
    turns = rng.standard_normal((loops.TILE_ROWS, COLUMNS), dtype=np.float32)
    wave, out = rng.standard_normal(COLUMNS, dtype=np.float32), np.zeros(loops.TILE_ROWS, dtype=np.float32)

    def cosines() -> None:
        for _ in range(CALLS):
            loops.add_cosines(turns, wave, wave, out, None)

    return {"product": lambda: blas.sgemm(1.0, A, A, 0.0, C, overwrite_c=1), "cosines": cosines}


def floor_of(times: Mapping[str, float], d: int) -> float:
    """Return the least seconds of one evaluation, from the times of `floor_calls`."""
    return d * times["product"] / SIZE**3 + times["cosines"] / (CALLS * loops.TILE_ROWS * COLUMNS)


def by_torch(X: NDArray, W: NDArray, r: NDArray) -> Callable[[], object]:
    """Return the same evaluation in PyTorch: tiles of rows, everything in place."""
    import torch

    torch.set_num_threads(1)
    points, frequencies = torch.from_numpy(X), torch.from_numpy(W * np.float32(2 * np.pi))
    amplitude, phase = torch.from_numpy(r), torch.from_numpy(r * np.float32(2 * np.pi))
    tile, out = torch.empty((TORCH_ROWS, len(r))), torch.empty(len(X))

    def evaluate() -> None:
        for top in range(0, len(X), TORCH_ROWS):
            rows = points[top : top + TORCH_ROWS]
            z = torch.mm(rows, frequencies, out=tile[: len(rows)]).sub_(phase).cos_()
            torch.mv(z, amplitude, out=out[top : top + TORCH_ROWS])

    return evaluate


def measure_kernel() -> Iterator[Row]:
    """Measure the machine's rates, and the loop for every number of columns beside them and other programs."""
    with one_worker():
        times = interleaved(REPEATS, floor_calls())
    yield Row("machine: matrix product, one thread", 2e-9 * SIZE**3 / times["product"], "GFlop/s")
    yield Row("machine: cosine, one thread", 1e9 * floor_of(times, 0), "ns")
    for d in DIMENSIONS:
        rng = np.random.default_rng(d)
        X, r = rng.standard_normal((ROWS, d), dtype=np.float32), rng.random(FEATURES, dtype=np.float32)
        W, block, out = Gaussian(1 / d).frequencies(rng, d, FEATURES), np.stack([r, r]), np.zeros(ROWS, np.float32)
        few = X[:NUMPY_ROWS]
        calls: dict[str, Callable[[], object]] = {
            **floor_calls(),
            "ours": lambda X=X, W=W, block=block, out=out: features.evaluate(X, W, block, 1.0, out),
            "numpy": lambda X=few, W=W, r=r: np.cos(2 * np.pi * (X @ W - r)) @ r,
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


def paper_task(n: int, d: int, m: int, n_iter: int, batch_size: int) -> Task:
    """Return paper 1's problem on normal points: half of them in similar pairs, half unlabeled."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    rows = {"similar": np.arange(n // 2), "unlabeled": np.arange(n // 2, n)}
    plan = Plan("constant", 0.1, 1e-3, m, n_iter)
    return Task(SimilarUnlabeled(), Gaussian(0.5 / d), X, rows, plan, batch_size, 0, X.dtype)


def train(task: Task) -> int:
    """Train from the start; return the number of evaluations: points tracked or accumulated, times features."""
    model = task.new_model()
    points = VisitedPoints(task, model)
    for _ in solve(task, model, training=points):
        pass
    assert len(model) == task.plan.n_iter, "the run diverged"
    n_batch = len(task.rows) * task.batch_size
    return task.plan.n_features * (int(points.needed_after.sum()) + n_batch * task.plan.n_iter)


def train_plainly(task: Task, n_iter: int) -> list[NDArray]:
    """Return the coefficients (2m,) of some iterations by the papers' Algorithms 1 and 2 in plain NumPy.

    Every step draws and evaluates all earlier blocks' features again.
    """

    def phi(t: int, X: NDArray) -> NDArray:
        W = block_frequencies(task.kernel, task.seed, t, X.shape[1], task.plan.n_features, task.dtype)
        z = X @ (W * task.dtype.type(2 * np.pi))
        return np.concatenate([np.cos(z), np.sin(z)], axis=1) * task.dtype.type(task.plan.n_features**-0.5)

    alphas: list[NDArray] = []
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


def by_sampler(task: Task) -> Callable[[], None]:
    """Return one iteration's accumulation and evaluation at all points, with features by scikit-learn."""
    X, m, n_batch = task.X, task.plan.n_features, len(task.rows) * task.batch_size
    values, weights = np.zeros(len(X), dtype=X.dtype), np.ones(n_batch, dtype=X.dtype)

    def iterate() -> None:
        sampler = RBFSampler(gamma=0.5 / X.shape[1], n_components=m, random_state=0).fit(X[:1])
        alpha = weights @ sampler.transform(X[np.arange(n_batch) % len(X)])
        values[:] = 0.999 * values + sampler.transform(X) @ alpha

    return iterate


def measure_runs() -> Iterator[Row]:
    """Measure a run, and the papers' own algorithm, scikit-learn's features and the evaluations alone beside it."""
    task, T = paper_task(**PAPER), PAPER["n_iter"]
    wide = replace(task, X=task.X.astype(np.float64), dtype=np.dtype(np.float64))
    longer = replace(task, plan=replace(task.plan, n_iter=GROWTH * T))
    m, n, evaluations = PAPER["m"], PAPER["n"], train(task)
    r, W, out = np.ones(m, np.float32), task.new_model().frequencies(1, m), np.zeros(n, np.float32)
    times = interleaved(
        FEW_REPEATS,
        {
            "ours": lambda: train(task),
            "longer": lambda: train(longer),
            "plain": lambda: train_plainly(task, PLAIN),
            "wide": lambda: train_plainly(wide, PLAIN // 2),
            "sampler": by_sampler(task),
            "evaluations": lambda: [features.evaluate(task.X, W, np.stack([r, r]), 1.0, out) for _ in range(T)],
        },
    )
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


def measure_growth() -> Iterator[Row]:
    """Measure how a run's time grows if one size of the papers' setting is larger."""
    base = PAPER | {"m": PAPER["m"] // 4}
    larger = {"T": ("n_iter", GROWTH), "N": ("n", 2), "m": ("m", 2), "d": ("d", 2)}
    tasks = {letter: paper_task(**base | {name: base[name] * by}) for letter, (name, by) in larger.items()}
    one = paper_task(**base)
    calls: dict[str, Callable[[], object]] = {letter: lambda own=own: train(own) for letter, own in tasks.items()}
    times = interleaved(2, calls | {"": lambda: [train(one) for _ in range(GROWTH)]})
    for letter, (name, by) in larger.items():
        said = f"growth at m = {base['m']}: time({letter} = {by * base[name]}) / time({letter} = {base[name]})"
        of_time = letter == "T"
        said += f"; papers: {GROWTH**2}" if of_time else ""
        yield Row(said, times[letter] * GROWTH / times[""], "x", 1.1 * GROWTH if of_time else None, is_most=True)


# --- memory, in separate processes

# Training's own memory, in memory or from a file. The row numbers of the two sources are there before.
TRAINING = """
import json, sys
from dataclasses import replace
import numpy as np
from dsgcore.jobs.memory import forget_peak, peak
from speed import PAPER, paper_task, seconds, train
file = sys.argv[1]
train(paper_task(100, PAPER["d"], PAPER["m"], 2, 8))
if file == "memory":
    task = paper_task(**PAPER)
else:
    X = np.load(file, mmap_mode="r")
    half = len(X) // 2
    rows = {"similar": np.arange(half, dtype=np.int32), "unlabeled": np.arange(half, len(X), dtype=np.int32)}
    task = replace(paper_task(**PAPER | {"n": 100, "d": X.shape[1]}), X=X, rows=rows)
before = forget_peak()
took = seconds(lambda: train(task))
print(json.dumps([peak() - before, took]))
"""


def measure_memory() -> Iterator[Row]:
    """Measure the memory that training takes besides its data and its coefficients."""
    used, _ = in_new_process(TRAINING, "memory")
    alpha = PAPER["n_iter"] * PAPER["m"] * 2 * 4
    said = f"memory: paper 1's setting, peak over the data and alpha ({alpha / MEGABYTE:.1f} MB)"
    yield Row(said, (used - alpha) / MEGABYTE, "MB", 60, is_most=True)


def measure_out_of_core() -> Iterator[Row]:
    """Measure the papers' setting on a temporary file of normal points."""
    with tempfile.TemporaryDirectory() as folder:
        file, rng = Path(folder) / "points.npy", np.random.default_rng(0)
        shape = (STORED, STORED_COLUMNS)
        points = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=shape)
        for start in range(0, STORED, WRITTEN_AT_ONCE):
            rng.standard_normal(dtype=np.float32, out=points[start : start + WRITTEN_AT_ONCE])
        points.flush()
        size = file.stat().st_size / MEGABYTE
        used, took = in_new_process(TRAINING, file)
    name = f"out of core: {STORED} points in a file of {size:.0f} MB, T = {PAPER['n_iter']}"
    yield Row(f"{name}: resident memory", used / MEGABYTE, "MB", 250, is_most=True)
    yield Row(f"{name}: time", took, "s")


# --- waiting times of a new user


def measure_start() -> Iterator[Row]:
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


def measure_fits() -> Iterator[Row]:
    """Fit each of the five papers' estimators on one thread, with the same number of points, a tenth of them labeled."""
    n, d, rng = FITTED, FITTED_COLUMNS, np.random.default_rng(0)
    grades = rng.integers(CLASSES, size=n)
    X = rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((CLASSES, d))[grades] / d**0.5
    few, two = rng.random(n) < LABELED, (grades > 0).astype(int)
    of_classes = [rng.permutation(np.flatnonzero(few & (two == label))) for label in (0, 1)]
    similar = np.concatenate([own[: len(own) // 2 * 2].reshape(-1, 2) for own in of_classes])
    of_two, of_all = np.where(few, two, -1), np.where(few, grades, -1)
    fits: dict[str, Callable[[], object]] = {
        "TSGSU": lambda: TSGSU(prior=float(np.mean(two))).fit(X[~few], pairs=X[similar]),
        "QSGS2AUC": lambda: QSGS2AUC().fit(X, of_two),
        "TSGS3VM": lambda: TSGS3VM().fit(X, of_two),
        "QS3ORAO": lambda: QS3ORAO().fit(X, of_all),
        "PS3VT": lambda: PS3VT().fit(X, of_all),
    }
    with one_worker(), threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        times = interleaved(ROUNDS, fits)
    for name, took in times.items():
        yield Row(f"{name}: default fit, {n:,} x {d}", took, "s", 2.0, is_most=True)


def machine() -> str:
    """Return the processor, and the versions of the libraries that compute."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    own = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    versions = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "scipy", "numba"))
    return f"{platform.machine()}, {own}, {os.cpu_count()} cores, with Python {platform.python_version()}, {versions}"


GROUPS = {
    "kernel": measure_kernel,
    "runs": measure_runs,
    "growth": measure_growth,
    "memory": measure_memory,
    "fits": measure_fits,
    "start": measure_start,
}
LONG = {"out_of_core": measure_out_of_core}


def main() -> None:
    """Measure what the command line asks for; print each row as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[*GROUPS, *LONG], help="one group of measurements")
    parser.add_argument("--long", action="store_true", help="also train from a file of 20 million points")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to this JSON file")
    given = parser.parse_args()
    groups = GROUPS | LONG
    names = [given.only] if given.only else groups if given.long else GROUPS
    rows = []
    for row in chain.from_iterable(groups[name]() for name in names):
        rows.append(row)
        print(row, flush=True)
    promised = [row.is_met for row in rows if row.target is not None]
    print(f"{sum(map(bool, promised))} of {len(promised)} targets are met.")
    if given.json is not None:
        results = [vars(row) | {"is_met": row.is_met} for row in rows]
        given.json.write_text(json.dumps({"machine": machine(), "results": results}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

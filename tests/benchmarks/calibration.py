"""Check over 200 seeds of the bands for features and batches: `python tests/benchmarks/calibration.py`.

There are two problems and two kernels. The data stay the same; each seed draws other batches and features. Two ratios
are measured at some iterations, as means over the seeds and two dozen probes:
- the square of f - h over the features' band V;
- the square of h - h' over the batches' V_b. h' takes the whole sample's gradient at f_t in place of the batch's.
The expectation of both is one. The gauge on the pages takes the variance of a batch's gradient only at every eighth
iteration, so its value is too large while the variance falls. The third measurement is the ratio of Lemma 1's bound
to the mean square of f - h, at the iteration where it is smallest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from reporting import command_line, show, table

from dsgcore.data import Split
from dsgcore.experiments import Spec, load_split
from dsgcore.experiments.engine import engine_for
from dsgcore.solver.diagnostics import GradientNorm
from dsgcore.solver.gauges import PROBES, STRIDE, BatchSpread

N_ITER, SHOWN = 96, (16, 32, 64, 96)
PROBLEMS = {
    "QSG-S2AUC": {
        "setting": "auc",
        "data": {"name": "two_moons", "n": 300, "n_labeled": 40},
        "solver": {"step_size": 0.5},
    },
    # Without the shift that keeps the balance: with it a batch's gradient is biased.
    "TSGS3VM": {
        "setting": "s3vm",
        "problem": {"is_balanced": False},
        "data": {"name": "two_moons", "n": 300, "n_labeled": 40},
        "solver": {"step_size": 0.05},
    },
}
KERNELS = {"Gaussian": {"name": "gaussian", "sigma": 10.0}, "Laplacian": {"name": "laplacian", "sigma": 2.0}}
SMALL = {"n_features": 16, "batch_size": 32, "n_iter": N_ITER}


def spec_of(problem: str, kernel: str) -> Spec:
    """Return a case's spec."""
    plain = PROBLEMS[problem]
    return Spec.from_dict(plain | {"kernel": KERNELS[kernel], "solver": SMALL | plain["solver"]})


def squares(spec: Spec, split: Split) -> NDArray:
    """Return of one seed, at every eighth iteration: mean squares of f - h and h - h', V, V_b, the gauge's V_b and the bound."""
    engine = engine_for(spec, split)
    task, X = engine.task, np.asarray(engine.task.X, dtype=np.float64)
    whole = GradientNorm(task.problem, task.rows, task.kernel.matrix(X, X))
    probes = np.asarray(engine.probes.X[:PROBES], dtype=np.float64)
    to_probes, spread = task.kernel.matrix(probes, X), BatchSpread(task.kernel, probes)
    expected, batches, found = np.zeros(len(X)), 0.0, []
    for t in range(1, N_ITER + 1):
        slopes = whole.slopes(engine.training_values.astype(np.float64))
        iterate = next(engine._iterates)
        engine._bring_forward(iterate)
        step = iterate.step
        expected = step.decay * expected - step.size * slopes
        of_gradient = spread.each(iterate).var(axis=0, ddof=1).mean() / task.batch_size
        batches = step.decay**2 * batches + step.size**2 * of_gradient
        if t % STRIDE == 0:
            f, h = engine.probes.values[:PROBES].astype(np.float64), to_probes @ engine.dual.values
            reading, moved = engine.gauges.readings[-1], np.mean((h - to_probes @ expected) ** 2)
            found.append(
                (np.mean((f - h) ** 2), moved, reading.features, batches, reading.batches, engine.twin.bound())
            )
    return np.array(found)


def calibrated(problem: str, kernel: str, n_seeds: int) -> list[str]:
    """Return a case's row."""
    spec = spec_of(problem, kernel)
    split = load_split(spec)
    means = np.mean([squares(replace(spec, seed=seed), split) for seed in range(n_seeds)], axis=0)
    t = STRIDE * np.arange(1, len(means) + 1)
    at = np.isin(t, SHOWN)
    ratios = means[:, 0] / means[:, 2], means[:, 1] / means[:, 3], means[:, 1] / means[:, 4]
    cells = [" ".join(f"{ratio:.2f}" for ratio in own[at]) for own in ratios]
    return [problem, kernel, *cells, f"{(means[:, 5] / means[:, 0]).min():,.0f}"]


def main() -> None:
    """Print the table."""
    n_seeds = command_line(__doc__, seeds=200).seeds
    print(f"t = {', '.join(map(str, SHOWN))}\n")
    head = ["problem", "kernel", "features", "batches", "batches, by the gauge", "bound / mean, least"]
    show(table(head, (calibrated(problem, kernel, n_seeds) for problem in PROBLEMS for kernel in KERNELS)))


if __name__ == "__main__":
    main()

"""TSGSU on real data, with and without the correction, beside the exact minimiser of the same risk (SU-SL).

    python tests/benchmarks/similar_unlabeled_real.py covtype20k --seeds 3 --out results.jsonl

Protocol (Shi, Gu, Li, Deng and Huang, Machine Learning 2021, "Experiments"): one class against the rest. There are
5000 similar pairs or as many as fit, 10 000 unlabeled points or as many as fit, and n_U / 3 test points. All are
disjoint, and each sample has its share of positives. The loss is squared, the prior is the data's share of positives,
and mini-batches have 1000 + 1000 points. 5-fold cross-validation of the zero-one SU risk chooses lam and the kernel's
parameters, on the similar and unlabeled points of a separate split, from every other power of two of the paper's
grid.

Both methods minimise the same objective, so both get the parameters that the exact solution's cross-validation
chooses. With `--search-with-correction own` (or `Gaussian`) each method has a separate search: lam and sigma from
every power of two, by the corrected or uncorrected minimisers on a basis (see `basis_values`). TSGSU's step is then
the one with the smallest risk on one fold.

With all training points as centres and the ridge in the kernel's space, f = sum_i a_i k(x_i, .) has

    a_S = pi_S / (lam n_S (2 pi - 1))  for each of the n_S members of pairs,
    (lam I + K_UU / (2 n_U)) a_U = -[1 / (2 (2 pi - 1)) + K_US a_S / 2] / n_U,

which conjugate gradients solve to 1e-10, in float64 for the measurements.

TSGSU's step is constant: --step / (lam + mu), with mu the largest eigenvalue of K_UU / (2 n_U) from 1000 of the
points. The paper only says that the step was adjusted. If no batch's risk was negative, all corrections give the same
run.

The data are files NAME.npz in the folder that DSGLAB_DATA names, or in ../shared/data beside the project. Every row goes
to `--out` as soon as it is known.
"""

from __future__ import annotations

import itertools
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reporting import arrays_of, command_line, keep_rows
from similar_unlabeled_minimisers import Sample, basis_values, exact_values, matrix, zero_one_risk
from sklearn.preprocessing import normalize

from dsgcore.kernels import Gaussian, Kernel
from dsgcore.kernels.kernels import DotProduct
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.carried import Carried
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import Plan
from dsgcore.solver.task import Task

POWERS = [2.0**k for k in range(-7, 8, 2)]
ALL_POWERS = [2.0**k for k in range(-7, 8)]
FOLDS = 5
SELECTION = 1000  # the split that parameters are chosen in; those that are measured count from 0
CORRECTIONS = ("absolute value", "identity")
STEPS = (0.5, 0.15, 0.05, 0.025)  # times 1 / (lam + mu)


@dataclass(frozen=True)
class Setting:
    """A data set: its positive class, the number of rows used, and the parameters tried."""

    positive: int
    n_unlabeled: int
    kernels: tuple[Kernel, ...]
    n_features: int
    at: tuple[int, ...]
    file: str = ""  # where its name is another than the setting's
    is_unit: bool = False  # whether every point is scaled to length 1


GAUSSIANS = tuple(Gaussian(sigma) for sigma in POWERS)
# (sigma <x, x'>)^p with the ridge lam is <x, x'>^p with lam / sigma^p: the paper's four values of sigma say nothing new.
DOT_PRODUCTS = tuple(DotProduct(sigma, p) for p, sigma in itertools.product(("1", "3", "5"), (0.1, 0.01)))
UNIT_DOT_PRODUCTS = tuple(DotProduct(1.0, p) for p in ("1", "3", "5"))
SETTINGS = {
    "covtype20k": Setting(1, 10_000, GAUSSIANS, 1000, (100, 400)),
    "poker25k": Setting(1, 10_000, GAUSSIANS, 1000, (100, 400)),
    "mnist10k": Setting(1, 4_500, DOT_PRODUCTS, 250, (50, 100)),
    "mnist10k-unit": Setting(1, 4_500, UNIT_DOT_PRODUCTS, 500, (50, 100), "mnist10k", is_unit=True),
}


def load(name: str) -> tuple[NDArray, NDArray]:
    """Return the points, each coordinate (of images: all of them alike) scaled to [0, 1], and classes in {0, 1}."""
    setting = SETTINGS[name]
    arrays = arrays_of(setting.file or name)
    X, y = arrays["X"].astype(np.float32), arrays["y"] == setting.positive
    low, width = (0.0, X.max()) if name.startswith("mnist") else (X.min(axis=0), np.ptp(X, axis=0))
    X = (X - low) / np.where(width > 0, width, 1)
    return np.ascontiguousarray(normalize(X) if setting.is_unit else X), y.astype(int)


def draw(X: NDArray, y: NDArray, n_unlabeled: int, n_pairs: int, seed: int) -> Sample:
    """Draw disjoint test points, unlabeled points and similar pairs, each with its expected share of positives."""
    order, prior = np.random.default_rng(seed).permutation(len(y)), float(y.mean())
    left = {c: order[y[order] == c] for c in (1, 0)}

    def take(n: int, share: float) -> NDArray:
        counts = {1: round(n * share), 0: n - round(n * share)}
        taken = np.concatenate([left[c][: counts[c]] for c in left])
        left.update({c: left[c][counts[c] :] for c in left})
        return taken

    test, unlabeled = take(n_unlabeled // 3, prior), take(n_unlabeled, prior)
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    n_fitting = int(min(len(left[1]) / share, len(left[0]) / (1 - share))) // 2 - 1
    # Both members of a pair are of one class: an even number of each.
    n_positive = 2 * round(min(n_pairs, n_fitting) * share)
    similar = np.concatenate([left[1][:n_positive], left[0][: 2 * min(n_pairs, n_fitting) - n_positive]])
    return Sample(X[similar], X[unlabeled], X[test], y[test], prior)


Choice = tuple[Kernel, float]
Values = Callable[[Kernel, Sample, NDArray, Sequence[float]], list[NDArray]]


def _folds(sample: Sample) -> Iterator[tuple[Sample, NDArray, NDArray]]:
    """Yield training samples with the members of pairs and the unlabeled points that are held out."""
    rng = np.random.default_rng(0)
    of_pairs = np.repeat(rng.permutation(len(sample.similar) // 2) % FOLDS, 2)
    of_unlabeled = rng.permutation(len(sample.unlabeled)) % FOLDS
    for fold in range(FOLDS):
        S, U = of_pairs == fold, of_unlabeled == fold
        kept = Sample(sample.similar[~S], sample.unlabeled[~U], sample.test, sample.classes, sample.prior)
        yield kept, sample.similar[S], sample.unlabeled[U]


def _approximate_values(kernel: Kernel, kept: Sample, Z: NDArray, lams: Sequence[float]) -> list[NDArray]:
    return exact_values(kernel, kept, Z, lams, dtype=np.float32, maxiter=100)


def search(
    sample: Sample, kernels: Sequence[Kernel], lams: Sequence[float], values_at: Values = _approximate_values
) -> dict[tuple[Kernel, float], float]:
    """Return the mean zero-one SU risk over the folds for every kernel and ridge."""
    risks: dict[tuple[Kernel, float], list[float]] = {}
    for kernel, (kept, S, U) in itertools.product(kernels, list(_folds(sample))):
        values = values_at(kernel, kept, np.concatenate([S, U]), lams)
        for lam, f in zip(lams, values, strict=True):
            risks.setdefault((kernel, lam), []).append(zero_one_risk(f[: len(S)], f[len(S) :], sample))
    return {parameters: float(np.mean(found)) for parameters, found in risks.items()}


@dataclass(frozen=True)
class Steps:
    """Settings of TSGSU's runs."""

    step: float
    n_features: int
    batch_size: int
    at: tuple[int, ...]


def largest_eigenvalue(kernel: Kernel, X: NDArray) -> float:
    """Return the largest eigenvalue of K / (2 n), from the first 1000 points."""
    return float(np.linalg.eigvalsh(matrix(kernel, X[:1000], X[:1000], float))[-1] / 2000)


def tsgsu(
    kernel: Kernel, sample: Sample, lam: float, correction: str, steps: Steps, seed: int
) -> tuple[list[NDArray], int]:
    """Return the values at the test points after each of `steps.at`, and how many batches had a negative risk."""
    X = np.concatenate([sample.similar, sample.unlabeled])
    n_s = len(sample.similar)
    rows = {"similar": np.arange(n_s), "unlabeled": np.arange(n_s, len(X))}
    plan = Plan("constant", steps.step, lam, steps.n_features, max(steps.at))
    problem = SimilarUnlabeled(sample.prior, correction=correction)
    task = Task(problem, kernel, X, rows, plan, steps.batch_size, seed, np.dtype(np.float32))
    model = task.new_model()
    test, found, n_negative = Carried(sample.test, model), [], 0
    for iterate in solve(task, model, carried=[test]):
        n_negative += min(problem.risks(iterate.f).values()) < 0
        if iterate.t in steps.at:
            found.append(test.values.copy())
    assert len(found) == len(steps.at), "the run diverged"
    return found, n_negative


def chosen_step(kernel: Kernel, sample: Sample, lam: float, steps: Steps) -> float:
    """Return the one of `STEPS` for which TSGSU's zero-one SU risk on one held-out fold is smallest at its end."""
    kept, S, U = next(_folds(sample))
    kept, mu = replace(kept, test=np.concatenate([S, U])), largest_eigenvalue(kernel, sample.unlabeled)
    risks = {}
    for step in STEPS:
        f = tsgsu(kernel, kept, lam, CORRECTIONS[0], replace(steps, step=step / (lam + mu)), SELECTION)[0][-1]
        risks[step] = zero_one_risk(f[: len(S)], f[len(S) :], sample)
        print(f"step {step:g} / (lam + mu): risk {risks[step]:.4f}", flush=True)
    return min(risks, key=risks.__getitem__)


def accuracy(f: NDArray, classes: NDArray) -> float:
    """Return the share of points whose score has the sign of their class; 0 counts as positive."""
    return float(np.mean((f >= 0) == (classes == 1)))


def _rows(
    name: str, sample: Sample, seed: int, chosen: tuple[Choice, Choice], arguments: Namespace
) -> Iterator[dict[str, Any]]:
    setting, (kernel, lam) = SETTINGS[name], chosen[0]
    common = {"set": name, "seed": seed, "kernel": str(kernel), "lam": lam, "pairs": len(sample.similar) // 2}
    common |= {"unlabeled": len(sample.unlabeled), "test": len(sample.test), "prior": round(sample.prior, 4)}
    exact = exact_values(kernel, sample, sample.test, [lam])[0]
    assert np.isfinite(exact).all(), "conjugate gradients did not converge"
    yield {**common, "method": "SU-SL", "accuracy": accuracy(exact, sample.classes)}
    yield {**common, "method": "larger class", "accuracy": max(sample.prior, 1 - sample.prior)}
    kernel, lam = chosen[1]
    common |= {"kernel": str(kernel), "lam": lam}
    step = arguments.step / (lam + largest_eigenvalue(kernel, sample.unlabeled))
    at = tuple(arguments.at or setting.at)
    steps = Steps(step, arguments.features or setting.n_features, arguments.batch, at)
    found, n_negative = tsgsu(kernel, sample, lam, CORRECTIONS[0], steps, seed)
    values = {CORRECTIONS[0]: found}
    for other in arguments.corrections:
        # Without a negative risk there was nothing to correct: the other run would be the same, bit by bit.
        values[other] = tsgsu(kernel, sample, lam, other, steps, seed)[0] if n_negative else found
    for correction, t in itertools.product(values, range(len(at))):
        f = values[correction][t]
        yield {
            **common,
            "method": f"TSGSU, {correction}",
            "n_iter": at[t],
            "step": round(step, 6),
            "n_features": steps.n_features,
            "accuracy": accuracy(f, sample.classes),
            "distance": round(float(np.linalg.norm(f - exact) / np.linalg.norm(exact)), 4),
            "agreement": float(np.mean((f >= 0) == (exact >= 0))),
            "negative": n_negative,
        }


def _chosen(name: str, sample: Sample, kernels: Sequence[Kernel], lams: Sequence[float], values_at: Values) -> Choice:
    start = time.perf_counter()
    risks = search(sample, kernels, lams, values_at)
    ranked = sorted(risks, key=risks.__getitem__)
    for kernel, lam in ranked[:8]:
        print(f"{name}: risk {risks[kernel, lam]:.4f} {kernel} lam={lam:g}", flush=True)
    print(f"{name}: searched in {time.perf_counter() - start:.0f} s", flush=True)
    return ranked[0]


def measure(name: str, arguments: Namespace) -> Iterator[dict[str, Any]]:
    """Choose parameters, then yield one row for every seed, method and number of iterations."""
    setting = SETTINGS[name]
    X, y = load(name)
    n_unlabeled = min(setting.n_unlabeled, arguments.search_unlabeled)
    sample = draw(X, y, n_unlabeled, arguments.pairs * n_unlabeled // setting.n_unlabeled, SELECTION)
    if arguments.search_with_correction:
        is_own = arguments.search_with_correction == "own"
        kernels = setting.kernels if is_own else tuple(map(Gaussian, ALL_POWERS))
        plain, corrected = (
            _chosen(name, sample, kernels, ALL_POWERS, partial(basis_values, is_corrected=is_corrected))
            for is_corrected in (False, True)
        )
        chosen = plain, corrected
        at = tuple(arguments.at or setting.at)
        steps = Steps(0.0, arguments.features or setting.n_features, arguments.batch, at)
        arguments.step = chosen_step(corrected[0], sample, corrected[1], steps)
    elif arguments.given:
        sigma, lam = arguments.given
        kernel: Kernel = replace(setting.kernels[0], sigma=sigma)
        if arguments.power:
            kernel = replace(kernel, power=arguments.power)
        chosen = (kernel, lam), (kernel, lam)
    else:
        chosen = (_chosen(name, sample, setting.kernels, POWERS, _approximate_values),) * 2
    for seed in range(arguments.seeds):
        sample = draw(X, y, setting.n_unlabeled, arguments.pairs, seed)
        start = time.perf_counter()
        for row in _rows(name, sample, seed, chosen, arguments):
            yield {**row, "seconds": round(time.perf_counter() - start, 1)}


def main() -> None:
    """Measure the sets that the command line names."""
    more = {"features": int, "at": [], "step": 0.5, "search_unlabeled": 10_000, "given": [], "power": str}
    more |= {"search_with_correction": str, "corrections": ["identity"]}
    asked = command_line(__doc__, SETTINGS, seeds=3, pairs=5000, batch=1000, out=Path("similar.jsonl"), **more)
    asked.at, asked.given = [int(t) for t in asked.at], [float(value) for value in asked.given]
    if asked.search_with_correction not in (None, "own", "Gaussian"):
        sys.exit(f"--search-with-correction must be own or Gaussian, got {asked.search_with_correction!r}")
    for name in asked.what:
        for row in measure(name, asked):
            keep_rows(asked.out, [row])
            print(row, flush=True)


if __name__ == "__main__":
    main()

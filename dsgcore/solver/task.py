"""A run's task for the solver: the problem, the points, and the order of their visits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Choice
from dsgcore.core.sampling import evenly_spread, places_around
from dsgcore.kernels import Kernel
from dsgcore.solver.model import Expansion
from dsgcore.solver.problem import Problem

INDEPENDENT, SHUFFLED = "independent", "shuffled"
FRESH, FIXED = "fresh", "fixed"
SAMPLING = Choice("sampling", INDEPENDENT, options=(INDEPENDENT, SHUFFLED)).called(
    "Sampling", "How the points of a mini-batch are drawn: independently, or in passes over all of them."
)
SCHEDULES: dict[str, Callable[[float, int, int], float]] = {
    "constant": lambda theta, t, n_iter: theta,
    "theta/t": lambda theta, t, n_iter: theta / t,
    "theta/sqrt(T)": lambda theta, t, n_iter: theta / n_iter**0.5,
    "theta/T^(3/4)": lambda theta, t, n_iter: theta / n_iter**0.75,
}
# Their names on pages and in links. Specs hold the option itself.
SCHEDULE_WORDS = {
    "constant": "constant",
    "theta/t": "θ/t",
    "theta/sqrt(T)": "θ/√T",
    "theta/T^(3/4)": "θ/T^¾",
}

# Up to so many labels the values of a fit are constant; with more, at least so many unlabeled points are drawn from.
FEW_LABELS, FEWEST_UNLABELED = 1024, 4096
# With more labels than so many, the default Gaussian kernel of a hinge loss is narrower.
LABELS_OF_WIDTH = 20_000
MOST_FOR_SHIFT = 20_000


@dataclass(frozen=True)
class ByLabels:
    """Values of a fit that follow its number of labels; the last five are factors of the values for few labels."""

    n_iter: int
    batch_size: int
    n_unlabeled: int | None  # None: all
    tol: float
    ridge: float
    step: float
    hinge_step: float
    sigma: float


def by_labels(labels: int | Mapping[str, NDArray], share: float = 0.5, *, is_ranking: bool = False) -> ByLabels:
    """Return the values that suit a number of labels: the one rule behind 'auto' of the estimators' parameters.

    Instead of the number give the rows of a run's sources. Of pairs it counts none, because it was not measured for them.

    Up to 1,024 labels they are constant. With r times as many, more can be learned, and the noise of mini-batches and
    features matters more than that of the labels. Then a fit takes

    - r^(1/3) times as many iterations, at most four times, and mini-batches r times as large, at most eight times;
    - a tolerance of r^(-1/2) times the usual one, at least a quarter, or a tenth for a ranking: it gains slowly to the end;
    - r^(-5/4) of the usual ridge, for a ranking of two classes. There the classes have the `share` s and 1 - s of the n labels,
      and r counts 4 n s (1 - s): as many labels of equally large classes tell as much, for an AUC's variance goes with
      1/n_+ + 1/n_-;
    - longer steps, because larger mini-batches have less noise: r^(1/4) times, at most twice, and for a hinge loss r^0.4 times
      (up to 48 times the way across the margin: 22 was better than 9 and 55 for 10,000 labels of letter, and 48 than 24 for
      more labels of others). Of smaller mini-batches they are shorter again (`automatic_step.py`);
    - a quarter as many unlabeled points as labels, at least 4,096. More took most of the time, and changed no score;
    - for TSGS3VM with more than 20,000 labels, n / 20,000 to the power of 1/2 times the σ of a Gaussian kernel, at most twice:
      so many labels show finer differences between points. A squared loss learns the noise of labels with it.

    The measurements are in `.github/docs/notes/many_labels.md`.
    """
    if isinstance(labels, Mapping):
        labels = sum(len(own) for source, own in labels.items() if source not in ("unlabeled", "similar"))
    r, r_of_ranking = max(1.0, labels / FEW_LABELS), max(1.0, 4.0 * share * (1.0 - share) * labels / FEW_LABELS)
    return ByLabels(
        n_iter=round(800 * min(r ** (1 / 3), 4.0)),
        batch_size=round(128 * min(r, 8.0)),
        n_unlabeled=None if r == 1.0 else max(labels // 4, FEWEST_UNLABELED),
        tol=max(r**-0.5, 0.1 if is_ranking else 0.25),
        ridge=r_of_ranking**-1.25,
        step=min(r**0.25, 2.0),
        hinge_step=r**0.4,
        sigma=min(max(1.0, labels / LABELS_OF_WIDTH) ** 0.5, 2.0),
    )


def drawn_rows(problem: Problem, labels: NDArray, sampling: str) -> dict[str, NDArray]:
    """Return the rows of each source from which mini-batches are drawn. In passes, many labels limit the unlabeled ones."""
    rows = problem.rows(labels)
    if sampling == SHUFFLED and "unlabeled" in rows and (most := by_labels(rows).n_unlabeled) is not None:
        rows["unlabeled"] = rows["unlabeled"][evenly_spread(len(rows["unlabeled"]), most)]
    return rows


def tail_start(n_iter: int) -> int:
    """Return the number of iterations, out of `n_iter`, after which the second half begins."""
    return n_iter // 2


@dataclass(frozen=True)
class Step:
    """Settings of one iteration: step size eta_t, ridge lambda and number of random features m."""

    size: float
    lam: float
    n_features: int

    @property
    def decay(self) -> float:
        """The factor 1 - eta_t * lambda by which the iterate shrinks."""
        return 1.0 - self.size * self.lam


@dataclass(frozen=True)
class Change:
    """A change: from iteration `t` on, the parameter `name` (one of `STEERABLE`) has this value; None is the automatic one."""

    t: int
    name: str
    value: float | None


@dataclass
class Plan:
    """The settings of every iteration: a schedule, and changes during the run."""

    schedule: str
    step_size: float | None  # the schedule's theta; None means `automatic_step`
    lam: float
    n_features: int
    n_iter: int
    # More may be appended, at future iterations.
    changes: list[Change] = field(default_factory=list)
    automatic_step: float | None = None  # must be filled in before the first iteration that uses it
    average_after: int | None = None  # the mean of the iterates after this many is tracked; None: no mean
    # The first iteration is the exact solution on so many features; None: a step from 0.
    first_features: int | None = None

    @property
    def is_open(self) -> bool:
        """True if an iteration uses the automatic step and it is not known yet."""
        sizes = [self.step_size, *(change.value for change in self.changes if change.name == "step_size")]
        return None in sizes and self.automatic_step is None

    def at(self, t: int) -> Step:
        """Return the settings of iteration `t` (from 1)."""
        now: dict[str, Any] = {change.name: change.value for change in self.changes if change.t <= t}
        theta, lam = now.get("step_size", self.step_size), now.get("lam", self.lam)
        theta = self.automatic_step if theta is None else theta
        assert theta is not None
        size = SCHEDULES[self.schedule](theta, t, self.n_iter)
        m = self.first_features if t == 1 and self.first_features else now.get("n_features", self.n_features)
        return Step(size=size, lam=lam, n_features=int(m))


@dataclass(frozen=True)
class Task:
    """Task for the solver."""

    problem: Problem
    kernel: Kernel
    X: NDArray  # all training points (n, d); may be a memory map, of which only the visited rows are read
    rows: Mapping[str, NDArray]  # the rows of each source, (n_source,)
    plan: Plan
    batch_size: int  # points drawn from each source at every iteration
    seed: int
    dtype: np.dtype
    sampling: str = INDEPENDENT  # or in passes: each row of a source once, in a new random order
    features: str = FRESH  # or fixed: all iterations have those of the first one

    @property
    def shift_rows(self) -> NDArray:
        """The unlabeled points whose values give a shift: of those that mini-batches are drawn from, 20,000 at most.

        A fit on files reads them all, and a run keeps their values.
        """
        return self.rows["unlabeled"][evenly_spread(len(self.rows["unlabeled"]), MOST_FOR_SHIFT)]

    def batch(self, t: int) -> dict[str, NDArray]:
        """Return the rows of iteration `t`'s mini-batches."""
        return dict(zip(self.rows, self.joined_batches(t - 1, t).reshape(len(self.rows), -1), strict=True))

    def joined_batches(self, start: int, stop: int) -> NDArray:
        """Return the mini-batches of the iterations after `start` up to `stop`, source after source, (stop - start, S B)."""
        every, is_shuffled = (
            np.empty((stop - start, len(self.rows), self.batch_size), np.int64),
            self.sampling == SHUFFLED,
        )
        for place, (source, own) in enumerate(self.rows.items()):
            t = start + 1
            while t <= stop:
                first, places = places_around(self.seed, source, t, len(own), self.batch_size, is_shuffled=is_shuffled)
                end = min(first + len(places), stop + 1)
                every[t - start - 1 : end - start - 1, place] = own[places[t - first : end - first]]
                t = end
        return every.reshape(stop - start, len(self.rows) * self.batch_size)

    def new_model(self) -> Expansion:
        """Return the model before the first iteration, f = 0."""
        return Expansion(self.kernel, self.seed, self.X.shape[1], self.dtype, is_fixed=self.features == FIXED)

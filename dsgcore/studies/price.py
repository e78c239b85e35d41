"""What a study will cost, known before any of it is made; and what is refused because it costs too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dsgcore.experiments.cost import Budget, check_cost, cost_of
from dsgcore.studies.study import Study, StudyError, StudyRun


@dataclass(frozen=True)
class Price:
    """About what a study costs: its runs, the seconds of one core, and the bytes of its largest run."""

    runs: int
    seconds: float
    memory: int


@dataclass(frozen=True)
class StudyBudget:
    """The most that a study may cost: each of its runs, how many there may be, and the seconds of one core for all."""

    run: Budget
    runs: int
    seconds: float


def price_of(study: Study, runs: Sequence[StudyRun], shape: tuple[int, int] | None = None) -> Price:
    """Return about what a study costs.

    Parameters
    ----------
    study : Study
    runs : sequence of StudyRun
        All of its runs.
    shape : tuple of two int, optional
        Rows and columns of its data, needed where they are a person's own file.
    """
    n_seeds, seconds, memory = len(study.seeds), 0.0, 0
    for run in runs[::n_seeds]:
        if run.spec is not None:
            cost = cost_of(run.spec, shape)
            seconds += n_seeds * cost.seconds * run.spec.solver.n_iter
            memory = max(memory, cost.memory)
    return Price(len(runs), seconds, memory)


def check_price(study: Study, runs: Sequence[StudyRun], budget: StudyBudget, shape: tuple[int, int] | None) -> Price:
    """Return what a study costs; refuse one that costs more than the budget.

    Raises
    ------
    StudyError
        In one sentence: what it would cost, the limit, and what would fit.
    """
    for run in runs[:: len(study.seeds)]:
        if run.spec is not None:
            try:
                check_cost(run.spec, budget.run, shape)
            except ValueError as error:
                raise StudyError(str(error)) from None
    price = price_of(study, runs, shape)
    if price.runs > budget.runs:
        raise StudyError(
            f"this study would be {price.runs:,} runs, and may be {budget.runs:,}; {_fits(study, budget.runs / price.runs)}"
        )
    if price.seconds > budget.seconds:
        raise StudyError(
            f"this study would take about {minutes(price.seconds)} of one core, and may take {minutes(budget.seconds)}; "
            f"{_fits(study, budget.seconds / price.seconds)}"
        )
    return price


def _fits(study: Study, share: float) -> str:
    """Say what would fit, where only a share of the study does."""
    seeds = int(len(study.seeds) * share)
    if seeds:
        return f"with {seeds} seed{'s' if seeds > 1 else ''} it would fit"
    longest = max(study.axes, key=lambda axis: len(axis.values))
    n = int(len(longest.values) * share * len(study.seeds))
    if n:
        return f"with one seed and {n} value{'s' if n > 1 else ''} of {longest.name} it would fit"
    return "with one seed, fewer values an axis and fewer iterations it would fit"


def minutes(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def with_seeds(study: Study, n: int) -> Study:
    """Return the study over so many seeds, from its spec's own on."""
    return replace(study, seeds=tuple(range(study.spec.seed, study.spec.seed + n)))

"""What a study will cost, known before any of it is made; and what is refused because it costs too much."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsgcore.experiments import Spec, SpecError
from dsgcore.experiments.cost import Budget, check_cost
from dsgcore.experiments.settings import FILE
from dsgcore.studies.gathered import AnyStudy
from dsgcore.studies.study import StudyError

ROUNDING = 1e-9


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


def price_of(study: AnyStudy, shape: tuple[int, int] | None = None) -> Price:
    """Return about what a study costs; `shape`, (rows, columns), is that of a person's own file among its data."""
    costs = [(study.cost(spec, _shape(spec, shape)), spec.solver.n_iter) for spec in _specs(study)]
    seconds = len(study.seeds) * sum(cost.seconds * n_iter for cost, n_iter in costs)
    return Price(len(study), seconds, max((cost.memory for cost, _ in costs), default=0))


def _shape(spec: Spec, own: tuple[int, int] | None) -> tuple[int, int] | None:
    return own if spec.data.name == FILE else None


def _specs(study: AnyStudy) -> list[Spec]:
    """Return one spec for each point; what seeds cost is the same."""
    runs = replace(study, seeds=study.seeds[:1]).runs()
    return [run.spec for run in runs if run.spec is not None]


def check_price(study: AnyStudy, budget: StudyBudget, shape: tuple[int, int] | None = None) -> Price:
    """Return what a study costs; refuse one that costs more than the budget. Arguments as of `price_of`.

    The `StudyError` says in one sentence what it would cost, the limit, and what would fit.
    """
    if len(study) > budget.runs:
        fits = _fits(study, budget.runs / len(study))
        raise StudyError(f"this study has {len(study):,} runs, but at most {budget.runs:,} are allowed; {fits}")
    try:
        for spec in _specs(study):
            check_cost(spec, budget.run, _shape(spec, shape))
    except SpecError as error:
        raise StudyError(str(error)) from None
    price = price_of(study, shape)
    if price.seconds > budget.seconds:
        fits = _fits(study, budget.seconds / price.seconds)
        raise StudyError(
            f"this study takes about {minutes(price.seconds)} of one core, but at most {minutes(budget.seconds)} is allowed; {fits}"
        )
    return price


def _fits(study: AnyStudy, share: float) -> str:
    """Say what would fit, where only a share of the study does."""
    seeds = int(len(study.seeds) * share + ROUNDING)
    if seeds:
        return f"with {seeds} seed{'s' if seeds > 1 else ''} it would fit"
    if not study.axes:
        return "with fewer iterations it would fit"
    longest = max(study.axes, key=lambda axis: len(axis.values))
    n = int(len(longest.values) * share * len(study.seeds) + ROUNDING)
    if n:
        return f"with one seed and {n} value{'s' if n > 1 else ''} of {longest.name} it would fit"
    return "with one seed, fewer values an axis and fewer iterations it would fit"


def minutes(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

"""Cost of a study, known before it starts, and the refusal of studies that cost too much."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsgcore.core.durations import duration_text
from dsgcore.experiments import Spec, SpecError
from dsgcore.experiments.cost import Budget, check_cost
from dsgcore.experiments.settings import FILE
from dsgcore.studies.axes import StudyError
from dsgcore.studies.spec_list import AnyStudy

ROUNDING = 1e-9
# Seconds of a run besides its iterations, fitted to runs (tests/benchmarks/explore.md).
SECONDS_A_RUN = 0.012


@dataclass(frozen=True)
class Price:
    """Estimated cost of a study: its runs, the seconds of one core, and the bytes of its largest run."""

    runs: int
    seconds: float
    memory: int


@dataclass(frozen=True)
class StudyBudget:
    """Limits on the cost of a study: on each run, on the number of runs, and on the seconds of one core for all."""

    run: Budget
    runs: int
    seconds: float


def price_of(study: AnyStudy, shape: tuple[int, int] | None = None) -> Price:
    """Estimate the cost of a study. `shape` is the (rows, columns) of the user's own file, if it uses one."""
    costs = [study.cost(spec, _shape(spec, shape)) for spec in _specs(study)]
    seconds = len(study.seeds) * sum(SECONDS_A_RUN + cost.likely for cost in costs)
    return Price(len(study), seconds, max((cost.memory for cost in costs), default=0))


def _shape(spec: Spec, own: tuple[int, int] | None) -> tuple[int, int] | None:
    return own if spec.data.name == FILE else None


def _specs(study: AnyStudy) -> list[Spec]:
    """Return one spec for each point; seeds do not change the cost."""
    runs = replace(study, seeds=study.seeds[:1]).runs()
    return [run.spec for run in runs if run.spec is not None]


def check_price(study: AnyStudy, budget: StudyBudget, shape: tuple[int, int] | None = None) -> Price:
    """Return the cost of a study; raise `StudyError` if it costs more than the budget. Arguments as in `price_of`.

    The message gives the cost, the limit, and a change that would fit.
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
        asked, allowed = duration_text(price.seconds), duration_text(budget.seconds)
        raise StudyError(f"this study takes about {asked} of one core, but at most {allowed} is allowed; {fits}")
    return price


def _fits(study: AnyStudy, share: float) -> str:
    """Return a sentence about the share of the study that would fit."""
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

"""Step-size schedules, and changes of parameters during a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

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
STEERABLE = ("step_size", "n_features", "lam")
# Kinds of iterate averaging: "tail" is the mean over the second half.
AVERAGES = ("tail",)


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
    first_features: int | None = (
        None  # the first iteration is the exact solution on so many features; None: a step from 0
    )

    @property
    def is_open(self) -> bool:
        """True if an iteration uses the automatic step and it is not known yet."""
        sizes = [self.step_size, *(change.value for change in self.changes if change.name == "step_size")]
        return None in sizes and self.automatic_step is None

    @property
    def theta(self) -> float | None:
        """The schedule's theta at the start of the plan, if it is known."""
        return self.automatic_step if self.step_size is None else self.step_size

    def at(self, t: int) -> Step:
        """Return the settings of iteration `t` (from 1)."""
        now: dict[str, Any] = {change.name: change.value for change in self.changes if change.t <= t}
        theta, lam = now.get("step_size", self.step_size), now.get("lam", self.lam)
        theta = self.automatic_step if theta is None else theta
        assert theta is not None
        size = SCHEDULES[self.schedule](theta, t, self.n_iter)
        m = self.first_features if t == 1 and self.first_features else now.get("n_features", self.n_features)
        return Step(size=size, lam=lam, n_features=int(m))

    def with_n_iter(self, n_iter: int) -> Plan:
        """Return the same plan for another number of iterations, with its average over the new second half."""
        after = None if self.average_after is None else tail_start(n_iter)
        return replace(self, n_iter=n_iter, changes=list(self.changes), average_after=after)

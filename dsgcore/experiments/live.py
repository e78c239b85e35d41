"""A run on the stage: with its supervised-only twin, and the previous run for comparison."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace

import numpy as np

from dsgcore.data import Split
from dsgcore.experiments.data_of import FileStore, edited_split, load_split
from dsgcore.experiments.history import History
from dsgcore.experiments.run import Run, StopReason
from dsgcore.experiments.spec import Spec
from dsgcore.solver.problem import STEERABLE

# If a run ends so many times above the objective of f = 0, only its earlier part is worth drawing beside another.
GROWN = 10.0


class LiveRun:
    """A run and its twin, advanced together.

    Parameters
    ----------
    previous : LiveRun, optional
        The run before this one. Its history is kept for comparison, and its data are used again if they are the same.
    files : FileStore, optional
        The only place where a spec's file is looked for; the disk is not searched.
    split : Split, optional
        The data, if `split_for` has already loaded them.

    Attributes
    ----------
    run : Run
    supervised : Run or None
        The same run without the contribution of unlabeled data: same data, same draws. None if it would not differ.
    previous : History or None
        The previous run's history.
    ghost : History or None
        The part of it that can be drawn beside this run. None if the data differ; without the part that diverged.
    previous_spec : Spec or None
        The previous run's spec.
    """

    def __init__(
        self, spec: Spec, previous: LiveRun | None = None, files: FileStore | None = None, split: Split | None = None
    ) -> None:
        self.run: Run = Run(spec, split if split is not None else split_for(spec, previous, files))
        # It ends where the run does, so that both have the same iterations and the mean of the same ones.
        solver = replace(spec.solver, tol=0.0)
        twin = replace(spec.baseline(), solver=solver, diagnostics=replace(spec.diagnostics, n_probes=0))
        self.supervised = Run(twin, self.run.split) if twin.problem != spec.problem else None
        self.previous: History | None = None
        self.ghost: History | None = None
        self.previous_spec: Spec | None = None
        if previous is not None:
            has_begun = len(previous.run.history) > 0
            self.previous = previous.run.history if has_begun else previous.previous
            self.previous_spec = previous.run.spec if has_begun else previous.previous_spec
            # Edits change few points, so their effect on the curve can be seen.
            if replace(previous.run.spec.data, edits=()) == replace(spec.data, edits=()):
                self.ghost = previous.ghost
                if has_begun:  # up to the point where its objective diverged
                    objective = previous.run.history.column("objective")
                    near = np.flatnonzero(np.abs(objective) <= GROWN * abs(previous.run.start_objective))
                    self.ghost = previous.run.history.first(int(near[-1]) + 1) if len(near) else None

    @property
    def is_finished(self) -> bool:
        """True if the run and its twin have ended."""
        return self.run.is_finished and self.has_reached(self.run.t)

    def _follow(self, seconds: float | None = None, until: Callable[[], bool] = lambda: False) -> None:
        """Bring the twin to the run's iteration, and to its end."""
        if self.supervised is None:
            return
        if self.run.stop_reason is StopReason.SETTLED:
            self.supervised.engine.ends_at = self.run.t
        self.supervised.advance(self.run.t - self.supervised.t, seconds, until)

    def advance(self, iterations: int | None = None, seconds: float | None = None) -> int:
        """Advance the run, and its twin to the same iteration; return how many iterations (default: all) the run has made.

        After so many seconds no other iteration begins, except the first one, and those with which the twin follows the
        run.
        """
        start, made = time.perf_counter(), 0
        wanted = self.run.n_iter if iterations is None else iterations
        while made < wanted and not self.run.is_finished:
            left = None if seconds is None else seconds - (time.perf_counter() - start)
            if left is not None and left <= 0.0 and made:
                break
            # The twin needs about the same time for the same number of iterations.
            new = self.run.advance(wanted - made, left if left is None or self.supervised is None else left / 2)
            made += new
            self._follow()
            if not new:
                break
        return made

    def go_to(self, t: int, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Bring the run, then its twin, towards iteration `t`, for at most so many seconds.

        `until` is called between iterations; True ends the advance.
        """
        start = time.perf_counter()
        self.run.advance(t - self.run.t, seconds, until)
        left = seconds - (time.perf_counter() - start)
        if left > 0 and (self.run.t >= t or self.run.is_finished):
            self._follow(left, until)

    def at(self, t: int) -> LiveRun:
        """Return both as they were after `t` iterations, read-only."""
        view, twin = copy(self), self.supervised
        view.run = self.run.at(t)
        can_look_back = twin is not None and twin.t > 0 and twin.engine.can_look_back
        view.supervised = twin.at(min(t, twin.t)) if twin is not None and can_look_back else twin
        return view

    def has_reached(self, t: int) -> bool:
        """Return True if the run and its twin have made `t` iterations, or have ended."""
        twin = self.supervised
        is_there = self.run.t >= t or self.run.is_finished
        return is_there and (twin is None or twin.is_finished or twin.t >= self.run.t)

    def steer(self, values: dict[str, float]) -> None:
        """Give steerable parameters these values from the next iteration on, if they differ."""
        for name, now in self.run.spec.values_at(self.run.n_iter + 1).items():
            if name in values and values[name] != now:
                self.run.change(name, values[name])
                if self.supervised is not None and name in STEERABLE:
                    self.supervised.change(name, values[name])


def split_for(spec: Spec, previous: LiveRun | None = None, files: FileStore | None = None) -> Split:
    """Return a spec's data: the previous run's if they are the same; parameters as in `LiveRun`."""
    if previous is None or previous.run.spec.seed != spec.seed:
        return load_split(spec, files=files)
    data, split = previous.run.spec.data, previous.run.split
    if data == spec.data:
        return split
    if replace(data, edits=spec.data.edits) == spec.data:
        return edited_split(spec, split.before or split)
    return load_split(spec, files=files)

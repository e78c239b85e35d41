"""What a person watches: a run, its supervised-only twin beside it, and the run before it as a ghost."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace

import numpy as np

from dsgcore.core.schedules import STEERABLE
from dsgcore.data import Split
from dsgcore.experiments.file_data import FileStore
from dsgcore.experiments.history import History
from dsgcore.experiments.loading import load_split
from dsgcore.experiments.run import Run
from dsgcore.experiments.spec import Spec

# Of a run that ends so many times above its start, only what was before is worth drawing beside another.
GROWN = 10.0


class LiveRun:
    """A run and its twin, advanced together.

    Parameters
    ----------
    previous : LiveRun, optional
        The one that this one follows; its history stays as the ghost, and its data are used again where they are the same.
    files : FileStore, optional
        Where a spec's own file is looked for, and never on the disk.
    split : Split, optional
        The data, where `split_for` has been asked for them already.

    Attributes
    ----------
    run : Run
    supervised : Run or None
        The same without what the unlabeled data contribute: same data, same draws. None where nothing would differ.
    previous : History or None
        What the previous run recorded.
    ghost : History or None
        What of it can be drawn beside this one: nothing where the data are others, and nothing of what had grown without end.
    previous_spec : Spec or None
        What the previous run was.
    """

    def __init__(
        self, spec: Spec, previous: LiveRun | None = None, files: FileStore | None = None, split: Split | None = None
    ) -> None:
        self.run: Run = Run(spec, split if split is not None else split_for(spec, previous, files))
        twin = replace(spec.twin(), diagnostics=replace(spec.diagnostics, n_probes=0))
        self.supervised = Run(twin, self.run.split) if twin.problem != spec.problem else None
        self.previous: History | None = None
        self.ghost: History | None = None
        self.previous_spec: Spec | None = None
        if previous is not None:
            has_begun = len(previous.run.history) > 0
            self.previous = previous.run.history if has_begun else previous.previous
            self.previous_spec = previous.run.spec if has_begun else previous.previous_spec
            if previous.run.spec.data == spec.data:
                self.ghost = _before_growth(previous.run) if has_begun else previous.ghost

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen, to the run or to its twin."""
        return self.run.is_finished and self.has_reached(self.run.t)

    def rush(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Advance the run alone, for so many seconds at most; once it has ended, its twin: what is asked for comes first.

        Between iterations `until` is asked whether it is time to end.
        """
        if not self.run.is_finished:
            self.run.advance(seconds=seconds, until=until)
        elif self.supervised is not None:
            self.supervised.advance(self.run.t - self.supervised.t, seconds, until)

    def advance(self, iterations: int | None = None, seconds: float | None = None) -> int:
        """Advance the run, and its twin to the same iteration; return how many iterations (default: all) the run has made.

        After so many seconds no other iteration begins, but for the first one, and those of the twin that follow the run's.
        """
        start, made = time.perf_counter(), 0
        wanted = self.run.n_iter if iterations is None else iterations
        while made < wanted and not self.run.is_finished:
            left = None if seconds is None else seconds - (time.perf_counter() - start)
            if left is not None and left <= 0.0 and made:
                break
            # The twin needs about as long for as many iterations.
            new = self.run.advance(wanted - made, left if left is None or self.supervised is None else left / 2)
            made += new
            if self.supervised is not None:
                self.supervised.advance(self.run.t - self.supervised.t)
            if not new:
                break
        return made

    def go_to(self, t: int, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Bring the run, then its twin, towards iteration `t`, for so many seconds at most; `until` as in `rush`."""
        start = time.perf_counter()
        is_there = self.run.t >= t or self.run.is_finished
        if not is_there:
            self.run.advance(t - self.run.t, seconds, until)
        left = seconds - (time.perf_counter() - start)
        if self.supervised is not None and (is_there or left > 0):
            self.supervised.advance(self.run.t - self.supervised.t, left, until)

    def at(self, t: int) -> LiveRun:
        """Return both as they were after `t` iterations, to be looked at."""
        view, twin = copy(self), self.supervised
        view.run = self.run.at(t)
        view.supervised = twin.at(min(t, twin.model_t)) if twin is not None and twin.model_t else twin
        return view

    def has_reached(self, t: int) -> bool:
        """Whether the run and its twin have made `t` iterations, or will make no more."""
        twin = self.supervised
        is_there = self.run.t >= t or self.run.is_finished
        return is_there and (twin is None or twin.is_finished or twin.t >= self.run.t)

    def steer(self, values: dict[str, float]) -> None:
        """Give what can be steered these values from the next iteration on, where they differ."""
        for name, now in self.steered().items():
            if name in values and values[name] != now:
                self.run.change(name, values[name])
                if self.supervised is not None and name in STEERABLE:
                    self.supervised.change(name, values[name])

    def steered(self) -> dict[str, float]:
        """Return the values that what can be steered has for the next iteration."""
        return steered_values(self.run.spec)


def _before_growth(run: Run) -> History | None:
    """Return a run's history up to where its objective left the range of its start for good; None where nothing is left."""
    near = np.flatnonzero(np.abs(run.history.column("objective")) <= GROWN * abs(run.start_objective()))
    return run.history.first(int(near[-1]) + 1) if len(near) else None


def split_for(spec: Spec, previous: LiveRun | None = None, files: FileStore | None = None) -> Split:
    """Return a spec's data: those of the run before where they are the same; parameters as of `LiveRun`."""
    if previous is not None and (previous.run.spec.data, previous.run.spec.seed) == (spec.data, spec.seed):
        return previous.run.split
    return load_split(spec, files=files)


def steered_values(spec: Spec) -> dict[str, float]:
    """Return the values that what can be steered has at the end of a spec's changes."""
    return spec.values_at(spec.solver.n_iter + 1)

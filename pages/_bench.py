"""What a session keeps of one setting's page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dsgcore.experiments import LiveRun, Spec


@dataclass
class Bench:
    """The run of one setting's page, and how it stands."""

    live: LiveRun | None = None
    asked: Spec | None = None  # the controls' spec that `live` was made for, or steered to
    is_playing: bool = True
    surface: Any = None  # the map as it was drawn last
    number: int = 0  # of the run: charts let go of zoom when it changes
    notices: list[str] = field(default_factory=list)


def begin(bench: Bench, spec: Spec) -> None:
    """Begin a run, with the one before as its ghost."""
    bench.live = LiveRun(spec, bench.live)
    bench.surface = None
    bench.is_playing = True
    bench.number += 1


def begin_again(bench: Bench) -> None:
    """Begin the same run again, its recorded changes included: the same numbers."""
    if bench.live is not None:
        begin(bench, bench.live.run.spec)

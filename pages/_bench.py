"""What a session keeps of one setting's page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dsgcore.experiments import FileStore, LiveRun, Spec


@dataclass
class Bench:
    """The run of one setting's page, and how it stands.

    Buttons write to it and to nothing else: a moved slider that arrives meanwhile ends a callback at any access to the
    session's state, and what is left of the click would be lost.
    """

    files: FileStore  # the session's own
    live: LiveRun | None = None
    asked: Spec | None = None  # the controls' spec that `live` was made for, or steered to
    is_playing: bool = True
    surface: Any = None  # the map as it was drawn last
    number: int = 0  # of the run: charts let go of zoom when it changes
    notices: list[str] = field(default_factory=list)
    drawn: int = 0  # how often the whole page has been drawn
    answered: int = -1  # the drawing whose buttons have been answered last
    wants_restart: bool = False  # with the controls as they will be when the page is drawn next
    given: dict[str, Any] = field(default_factory=dict)  # values of controls, to be set when the page is drawn next


def begin(bench: Bench, spec: Spec) -> None:
    """Begin a run, with the one before as its ghost."""
    bench.live = LiveRun(spec, bench.live, bench.files)
    bench.surface = None
    bench.is_playing = True
    bench.number += 1


def begin_again(bench: Bench) -> None:
    """Begin the same run again, its recorded changes included: the same numbers."""
    if bench.live is not None:
        begin(bench, bench.live.run.spec)


def once(bench: Bench, drawn: int, action: Callable[..., None], *arguments: Any) -> None:
    """Carry out a button's action, once for a click on the page as it was drawn the `drawn`-th time.

    While the page ticks, a click can reach the server twice: in its own request and in that of a tick sent beside it.
    """
    if drawn != bench.answered:
        bench.answered = drawn
        action(*arguments)

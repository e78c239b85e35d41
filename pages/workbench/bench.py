"""What a session keeps of one setting's page."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from dsgcore.data import Split
from dsgcore.experiments import FileStore, LiveRun, Spec, long_work, split_for
from dsgcore.experiments.cost import GIGABYTE, Budget, check_cost, cost_of
from dsgcore.studies.rooms import Asked, Key
from pages.charts.live_plotly import Occasion
from pages.shell.memory import Claim, account
from pages.shell.room_key import Ticket
from pages.shell.ticks import Hold, Ticker
from pages.shell.turns import turns
from pages.workbench.lesson_place import Place
from pages.workbench.preparing import Preparation, prepare

# The most that the run of one page may cost: many share the server.
BUDGET = Budget(memory=GIGABYTE, seconds=1.0)
# Seconds of a way to an iteration that a link names, in one drawing of the page.
LONGEST_GO = 1.0
MOST_DIGITS = 9
# Seconds after which a run goes on though no curve is there: the browser may have no way to tell.
LONGEST_WAIT = 30.0


# While a run goes on, follows in its link the iteration that it had reached.
PLAYING = "-playing"


@dataclass(frozen=True)
class Tried:
    """A remedy that was clicked: for the run of that number, what the gauge read before, and what it was expected to read then."""

    number: int
    name: str
    before: str
    expected: str


@dataclass
class Bench:
    """The run of one setting's page, and how it stands.

    Buttons write to it and to nothing else: a moved slider that arrives meanwhile ends a callback at any access to the
    session's state, and what is left of the click would be lost.
    """

    files: FileStore  # the session's own
    live: LiveRun | None = None
    preparation: Preparation | None = None  # of the next run
    asked: Spec | None = None  # the controls' spec that `live` was made for, or steered to
    is_playing: bool = True
    surface: Any = None  # the map as it was drawn last
    number: int = 0  # of the run: charts let go of zoom when it changes
    tried: Tried | None = None
    look: int = 0  # the earlier iteration that is looked at; 0: the run as it is now
    is_showing: bool = False  # from one to the next by itself
    view: Any = None  # the run as it was then
    diagnosis: Any = None  # what has been found out of what limits a run
    suggested: Any = None  # values for the controls that were asked for
    notices: list[str] = field(default_factory=list)
    drawn: int = 0  # how often the whole page has been drawn
    has_empty_boxes: bool = False  # at its side, to be filled when the first curve is there
    answered: int = -1  # the drawing whose buttons have been answered last
    wants_restart: bool = False  # with the controls as they will be when the page is drawn next
    given: dict[str, Any] = field(default_factory=dict)  # values of controls, to be set when the page is drawn next
    race: str = ""  # the name of the one that the link names, until it has been brought back
    link: dict[str, str] = field(default_factory=dict)  # what it said when the page was drawn last
    visit: int = -1  # of the session, that the page was drawn in last
    wants_link: bool = False  # the link is to be read, and may say another run than `live`
    at: str = ""  # where the link says that the run is
    going_to: int = 0  # the iteration that the run is brought to, as a link says it; 0 when it is there
    plays_on: bool = False  # whether it goes on from there
    at_noted: float = -math.inf  # when it was written there
    since: float = field(default_factory=time.monotonic)  # when the page was come to
    opened: set[str] = field(default_factory=set)  # its tabs that have been looked at
    is_seen: bool = False  # the browser has drawn the curves since then
    n_shown: int = 0  # drawings of the curves that the browser was asked to tell of
    claim: Claim = field(default_factory=Claim)  # on the server's memory, for the run
    session: str = field(default_factory=lambda: token_hex(8))  # under which it waits for its turn to compute
    hold: Hold = field(default_factory=Hold)  # of its script, or of a tick
    ticker: Ticker | None = None  # what answers its ticks
    noted: Mapping[str, Any] = field(default_factory=dict)  # what its controls have said, for a tick
    theme: str = "light"  # that it was drawn in
    hidden: Set[str] = frozenset()  # parts
    sent: dict[str, Any] = field(default_factory=dict)  # the charts that ticks have brought, by key
    drawn_at: float = -math.inf  # when its script has drawn the run
    drawn_health: Any = None
    place: Place | None = None  # in a guided lesson
    room: Key | None = None  # of the class that it is shown to
    ticket: Ticket | None = None  # by which the browser keeps the room's key
    asked_room: Asked | None = None  # what that room was asked last

    @property
    def spec(self) -> Spec | None:
        """What the run is, or the one that is to begin."""
        if self.preparation is not None:
            return self.preparation.spec
        return None if self.live is None else self.live.run.spec

    @property
    def is_held(self) -> bool:
        """Whether the run waits for the answer to a lesson's question."""
        return self.place is not None and self.place.waits

    @property
    def about(self) -> frozenset[str]:
        """The controls that a lesson's step is about, by name."""
        return frozenset() if self.place is None else frozenset(self.place.step.controls)

    @property
    def shape(self) -> tuple[int, int] | None:
        """Rows and columns of the run's data."""
        return None if self.live is None else _shape(self.live.run.split)

    def see(self) -> None:
        """Note that the browser has drawn the curves: what happens from now on is seen."""
        self.is_seen = True

    def occasion(self, page: str) -> Occasion | None:
        """Return what the browser is to tell of this drawing of the curves, if anything: each time another, for one may be lost."""
        self.n_shown += not self.is_watched
        return None if self.is_watched else Occasion(page, self.n_shown)

    @property
    def is_watched(self) -> bool:
        """Whether the browser has drawn what there is to see, so that the run need not wait for it."""
        return self.is_seen or time.monotonic() - self.since > LONGEST_WAIT


def _shape(split: Split) -> tuple[int, int]:
    return len(split.X_train) + len(split.X_test), split.X_train.shape[1]


def begin(bench: Bench, spec: Spec, at: str = "", split: Split | None = None) -> None:
    """Begin a run, with the one before as its ghost; where it needs long work beforehand, begin that in the background.

    `at` is the iteration at which a link wants it, as the link says it; `split` are the data, where they are there already.
    """
    check_cost(spec, BUDGET)
    split = split_for(spec, bench.live, bench.files) if split is None else split
    check_cost(spec, BUDGET, _shape(split))
    account.take(bench.claim, cost_of(spec, _shape(split)).memory)
    give_up(bench)
    work = long_work(spec, split)
    if work is not None:
        bench.preparation = prepare(spec, split, work, at)
        return
    bench.live = LiveRun(spec, bench.live, bench.files, split)
    bench.surface, bench.view, bench.look, bench.is_showing = None, None, 0, False
    bench.at, bench.at_noted = "", -math.inf
    bench.is_playing, bench.going_to = True, 0
    bench.number += 1
    if at:
        _go_to(bench, at)


def give_up(bench: Bench) -> None:
    """End the work for a run that has not begun."""
    if bench.preparation is not None:
        bench.preparation.job.cancel()
        bench.preparation = None


def try_again(bench: Bench) -> None:
    """Do the work once more that was cancelled or has failed."""
    if bench.preparation is not None:
        given_up = bench.preparation
        bench.preparation = prepare(given_up.spec, given_up.split, given_up.work, given_up.at)


def begin_prepared(bench: Bench) -> None:
    """Begin the run whose work has been done."""
    assert bench.preparation is not None
    done = bench.preparation
    done.work.keep(done.job.result)
    bench.preparation = None
    begin(bench, done.spec, done.at, done.split)


def begin_again(bench: Bench) -> None:
    """Begin the same run again, its recorded changes included: the same numbers."""
    if bench.live is not None:
        begin(bench, bench.live.run.spec)


def _go_to(bench: Bench, at: str) -> None:
    """Make the run's iterations up to the one that a link names, and pause there if the run was paused."""
    assert bench.live is not None
    number = at.removesuffix(PLAYING)
    is_number = number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS
    if not is_number or not 1 <= int(number) <= bench.live.run.n_iter:
        allowed = f"a whole number between 1 and {bench.live.run.n_iter}"
        bench.notices.append(f"In the link, at must be {allowed}, got {at[:40]!r}; the run begins at its start.")
        return
    bench.going_to, bench.plays_on = int(number), number != at
    go_on(bench)


def go_on(bench: Bench, until: Callable[[], bool] = lambda: False) -> None:
    """Bring the run towards the iteration that a link names, for a moment; there it pauses or goes on, as the link says."""
    with turns.turn():
        go_further(bench, until)


def go_further(bench: Bench, until: Callable[[], bool]) -> None:
    """Do that in a turn that has begun."""
    assert bench.live is not None
    bench.live.go_to(bench.going_to, LONGEST_GO, until)
    if bench.live.has_reached(bench.going_to):
        bench.going_to, bench.is_playing = 0, bench.plays_on


def once(bench: Bench, drawn: int, action: Callable[..., None], *arguments: Any) -> None:
    """Carry out a button's action, once for a click on the page as it was drawn the `drawn`-th time.

    While the page ticks, a click can reach the server twice: in its own request and in that of a tick sent beside it.
    """
    with bench.hold.taken():
        if drawn != bench.answered:
            bench.answered = drawn
            action(*arguments)

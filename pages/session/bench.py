"""The state that a session keeps for one setting's page, and the preparation of its next run."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Set
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

import streamlit as st
from numpy.typing import NDArray

from dsgcore.core.cost import GIGABYTE
from dsgcore.data import Split
from dsgcore.diagnostics import Cause, RunLimits
from dsgcore.experiments import FileStore, LiveRun, Plane, Spec, Surface, long_work, split_for
from dsgcore.experiments.engine import Budget, LongWork, check_cost, cost_of
from dsgcore.experiments.spec import DataSpec
from dsgcore.jobs import Job, JobState, shared_queue
from dsgcore.lessons import Lecture
from dsgcore.rooms.questions import Asked
from dsgcore.rooms.rooms import Key
from pages.charts.live_chart import theme_now
from pages.controls.hand import Hand
from pages.controls.view import (
    DIVIDER,
    EDIT,
    GRAPH,
    LOG_OBJECTIVE,
    MISTAKES,
    NO_DIVIDER,
    SPEED,
    TRUTH,
    Axes,
    axes_asked,
    map_choice,
    viewed,
)
from pages.race.state import Finish, finish_of, name_in_link
from pages.session.lesson_place import Place
from pages.shell.job_panel import job_panel
from pages.shell.page_link import PageLink
from pages.shell.plain_text import plain
from pages.shell.room_key import Ticket
from pages.shell.sharing import account
from pages.shell.ticks import Hold, Ticker


@dataclass(frozen=True)
class Scene:
    """What a lesson's step shows of its run: the map, one chart, and the guess on it."""

    has_map: bool = True
    chart: str = ""  # one of `dsgcore.settings.lessons.CHARTS`; empty if there is none
    measures: Set[str] = frozenset()  # what the question reads: the chart has the curves that it needs
    guess: tuple[float, ...] = ()  # the curve that the reader has drawn; empty if there is none
    ends: tuple[float, ...] = ()  # of the axis for a drawn curve; empty if the question asks for none
    has_ghost: bool = False  # the previous run of the step
    can_edit: bool = False  # the reader reaches the step's goal with edits of the data
    can_paint: bool = False  # and draws them anew
    sides: tuple[str, ...] = ()  # names of the two sides of the map's divider; empty for the usual ones


@dataclass(frozen=True)
class View:
    """The choices on a setting's page, its theme, and what it leaves out."""

    theme: str = "light"
    hidden: Set[str] = frozenset()  # parts of the page
    speed: str = "normal"
    on_map: str = "f"  # the function on the map
    axes: Axes = (None, None)  # the columns of the map; None for a principal axis
    has_graph: bool = False  # draws the graph's links
    can_edit: bool = False  # the points on the map
    has_truth: bool = False  # draws hidden classes
    has_mistakes: bool = False  # marks test points in a wrong class
    divider: str = NO_DIVIDER  # what is drawn beside f, on the left of a line
    is_log: bool = False  # the objective's axis
    finish: Finish | None = None  # the competitor's result in a finished race on the same data
    race: str = ""  # the name of the finished race in a link
    scene: Scene | None = None  # in a lesson


def view_of(live: LiveRun, hidden: Set[str], scene: Scene | None = None) -> View:
    problem = type(live.run.problem)
    return View(
        theme=theme_now(),
        hidden=frozenset(hidden),
        speed=viewed(problem, SPEED),
        on_map=viewed(problem, map_choice(problem)),
        axes=axes_asked(live.run),
        has_graph=viewed(problem, GRAPH),
        can_edit=viewed(problem, EDIT) or (scene is not None and scene.can_edit),
        has_truth=viewed(problem, TRUTH) or (scene is not None and scene.can_paint),  # else painted classes look alike
        has_mistakes=viewed(problem, MISTAKES),
        divider=NO_DIVIDER if scene is not None else viewed(problem, DIVIDER),
        is_log=viewed(problem, LOG_OBJECTIVE),
        finish=finish_of(live),
        race=name_in_link(problem.name),
        scene=scene,
    )


# Seconds that the work continues without a browser; a hidden tab may ask only once a minute.
LEASE_SECONDS = 90.0
MEMORY_LIMIT = 4 * 10**9
SECONDS_BETWEEN_SURFACES = 1.0  # of a map that computes slowly, or while others wait


@dataclass(frozen=True)
class Preparation:
    """The next run, and the job that prepares it."""

    spec: Spec
    split: Split
    work: LongWork
    at: str
    job: Job


def prepare(bench: Bench, spec: Spec, split: Split, work: LongWork, at: str) -> None:
    """Start the preparation of a run that is to be shown at the iteration `at`."""
    job = shared_queue().submit(work.function, *work.arguments, memory_limit=MEMORY_LIMIT, lease=LEASE_SECONDS)
    bench.jobs.preparation = Preparation(spec, split, work, at, job)


def sign(preparation: Preparation, try_again: Callable[[], None], *, may_begin: bool) -> None:
    """Draw the progress of the preparation and a button to cancel it; draw the page again if the run can begin."""
    job = preparation.job

    def doing() -> tuple[float, str]:
        step, share = job.progress or ("starting", 0.0)
        return share, f"Preparing these points, once: {step}. To stop, choose other data on the left."

    if job.is_over and job.state is not JobState.DONE:
        said = "The preparation was cancelled. Choose other data, or fewer points."
        st.warning(plain(job.error) if job.state is JobState.FAILED else said, icon=":material/hourglass_disabled:")
        st.button("Try again", key="try-again", icon=":material/replay:", on_click=try_again)
    elif not job.is_over:
        job_panel(job, "preparing", doing, lambda: None)
    elif may_begin:
        st.rerun()


# The largest cost of a page's run, because many sessions share the server.
BUDGET = Budget(memory=GIGABYTE, seconds=1.0)
# Seconds that one drawing of the page may spend on the way to an iteration from a link.
LONGEST_GO = 1.0
MOST_DIGITS = 9
# While a run is in progress, the link adds this to the iteration that the run has reached.
PLAYING = "-playing"


@dataclass(frozen=True)
class Tried:
    """A remedy that was applied: the number of its run, its cause, that cause's value before, and the expected value."""

    number: int
    cause: Cause
    before: str
    expected: str


@dataclass
class Diagnosis:
    """The measurement of what limits a run, and the one before it."""

    job: Job
    number: int  # of the run
    before: RunLimits | None = None


@dataclass
class Suggesting:
    """A search for values of the controls, and the spec for which it was started."""

    spec: Spec
    job: Job | None
    refused: str = ""
    is_set: bool = False  # True if the controls have values of a candidate


@dataclass
class MapState:
    """The plane on which a run's data are drawn, and the values last computed on it."""

    plane: Plane
    axes: Axes
    size: int  # grid points along each axis
    surface: Surface | None  # of one score; the scores of several classes are evaluated at the grid
    values: NDArray
    baseline_surface: Surface | None = None  # of what labels only learn
    left: NDArray | None = None  # the values on the left of the divider
    computed_at: float = 0.0
    cost: float = SECONDS_BETWEEN_SURFACES  # seconds that the last map took
    computed_t: int = -1
    shown: str = ""
    links: NDArray | None = None
    drawn: Hashable = ()  # the inputs of the figure
    figure: str = ""


@dataclass
class LinkState:
    """What the page has read from its link, and what it writes into it besides the controls that are drawn."""

    page: PageLink = field(default_factory=PageLink)  # of the last drawing; empty for Home, whose link keeps no run
    visit: int = -1  # the session's visit in which the page was last drawn
    is_unread: bool = False  # the link must be read, and may describe another run than the page's
    notices: list[str] = field(default_factory=list)  # sentences about values that are not valid
    clamped: tuple[str, DataSpec | None, int] = "", None, 0  # the notice on labels, its data, and the number asked for
    race: str = ""  # name of the race, until it is loaded
    at: str = ""  # the run's iteration
    at_noted: float = -math.inf  # time at which `at` was last written
    going_to: int = 0  # the iteration that the run must reach; 0 after it has
    plays_on: bool = False  # True if the run continues from there


@dataclass
class ClassState:
    """The class's room and the lecture, which the pages of all settings of a session share."""

    room: Key | None = None
    ticket: Ticket | None = None  # with which the browser keeps the room's key
    told: Any = None  # what the room was told last: the question, whether its vote is over, and the outcome
    asks: Asked | None = None  # in place of the step's question: one for labels, or the lecturer's own
    is_turned: bool = False  # True until the whole page has followed a click in the room's part of it
    refused: str = ""  # why the last press was refused
    hidden: tuple[str, int] | tuple[()] = ()  # the question and round whose answers give their place to the run's curve
    warned: str = ""  # the question that a click would have closed without an answer
    lecture: Lecture | None = None
    lecture_text: str = ""  # in the link
    part: int | None = None  # of the lecture, if it is the own question
    going: tuple[str, dict[str, str]] | None = None  # the page to open next, and the query of the link to it

    @property
    def own(self) -> Asked | None:
        """The lecturer's own question, as long as it is on the stage."""
        return self.asks if self.asks is not None and self.asks.own else None


@dataclass
class LessonState:
    """The guided lesson on the page."""

    place: Place | None = None
    left: Place | None = None  # the last one, after it was left for the workbench


@dataclass
class LookingBack:
    """The earlier iteration that the page shows."""

    t: int = 0  # 0 for the present
    is_moving: bool = False  # through the iterations by itself
    run: tuple[Hashable, LiveRun] | None = None  # at that iteration, after what it was made of


@dataclass
class Jobs:
    """What goes on in the background for a page."""

    preparation: Preparation | None = None  # of the next run
    diagnosis: Diagnosis | None = None
    suggested: Suggesting | None = None


@dataclass
class Begun:
    """The beginning of the run: its number, what the controls asked for, and why it has begun anew."""

    number: int = 0  # charts reset their zoom when it changes
    asked: Spec | None = None  # the controls' spec for which it was started, or to which it was steered
    words: str = ""  # the moved control
    tried: Tried | None = None


@dataclass
class Drawing:
    """The present drawing of the whole page."""

    number: int = 0
    answered: int = -1  # the last drawing whose button was answered
    opened: set[str] = field(default_factory=set)  # tabs that have been opened
    tab: str = ""  # that is open


@dataclass
class Feed:
    """What goes to the browser, from the script and from ticks."""

    name: str = field(default_factory=lambda: token_hex(8))  # under which the session is known to the browser
    hold: Hold = field(default_factory=Hold)  # on the run, by the script or by a tick
    ticker: Ticker | None = None
    sent: dict[str, str] = field(default_factory=dict)  # the figures that the last tick has sent, by key
    drawn_at: float = -math.inf  # time at which the script last drew the run
    waited: float = 0.0  # seconds for which a tick waited lately for its turn: how crowded the server is
    judged: tuple[Hashable, float, dict[str, Any]] | None = (
        None  # of what and when it was made, and what limits the run
    )


@dataclass(eq=False)
class Bench:
    """The run of one setting's page, and its state.

    Buttons write to this object and to nothing else. A moved slider ends a callback at any access to the session's state,
    so the rest of the click would be lost.
    """

    files: FileStore  # the session's files
    live: LiveRun | None = None
    is_playing: bool = True
    begun: Begun = field(default_factory=Begun)
    back: LookingBack = field(default_factory=LookingBack)
    surface: MapState | None = None  # the last drawn map
    view: View = field(default_factory=View)  # at the last drawing
    wants_restart: bool = False  # with the values that the controls have at the next drawing
    given: dict[str, Any] = field(default_factory=dict)  # values of controls to set at the next drawing
    jobs: Jobs = field(default_factory=Jobs)
    drawing: Drawing = field(default_factory=Drawing)
    feed: Feed = field(default_factory=Feed)
    link: LinkState = field(default_factory=LinkState)
    lesson: LessonState = field(default_factory=LessonState)
    group: ClassState = field(default_factory=ClassState)
    hand: Hand = field(default_factory=Hand)

    @property
    def present(self) -> LiveRun:
        """The run, on a page that has one."""
        assert self.live is not None
        return self.live

    @property
    def spec(self) -> Spec | None:
        """The spec of the run, or of the next run."""
        if self.jobs.preparation is not None:
            return self.jobs.preparation.spec
        return None if self.live is None else self.live.run.spec

    @property
    def is_held(self) -> bool:
        """True if the run waits: for the answer to a lesson's question, or for labels in edited data."""
        return bool(self.hand.lacks) or (self.lesson.place is not None and self.lesson.place.waits)

    @property
    def is_going(self) -> bool:
        """True if the run plays: the one answer of its words, of its buttons and of its ticks."""
        return self.is_playing and not self.is_held and self.live is not None and not self.live.is_finished

    @property
    def shape(self) -> tuple[int, int] | None:
        """Rows and columns of the run's data."""
        return None if self.live is None else self.live.run.split.shape

    def start_again(self, values: Mapping[str, Any]) -> None:
        """Set controls, by their keys, at the next drawing, and start a run with them."""
        self.given |= values
        self.wants_restart = True


def begin(bench: Bench, spec: Spec, at: str = "", split: Split | None = None) -> None:
    """Start a run, with the previous one as a pale line. If it needs long preparation, start that in the background.

    `at` is the iteration from a link, as text: the run advances to it, and pauses there if it was paused. `split` are the
    data if they are already loaded.
    """
    check_cost(spec, BUDGET)
    split = split_for(spec, bench.live, bench.files) if split is None else split
    check_cost(spec, BUDGET, split.shape)
    with account.taking(bench, cost_of(spec, split.shape).memory):
        if bench.jobs.preparation is not None:
            bench.jobs.preparation.job.cancel()
            bench.jobs.preparation = None
        work = long_work(spec, split)
        if work is not None:
            prepare(bench, spec, split, work, at)
            return
        bench.live = LiveRun(spec, bench.live, bench.files, split)
    bench.surface, bench.back = None, LookingBack()
    bench.hand.split, bench.hand.lacks = None, ""
    bench.link.at, bench.link.at_noted = "", -math.inf
    bench.is_playing, bench.link.going_to = True, 0
    bench.begun.number += 1
    number = at.removesuffix(PLAYING)
    is_number = number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS
    if is_number and 1 <= int(number) <= bench.live.run.n_iter:
        bench.link.going_to, bench.link.plays_on = int(number), number != at
    elif at:
        allowed = f"a whole number between 1 and {bench.live.run.n_iter}"
        bench.link.notices.append(f"In the link, at must be {allowed}, got {at[:40]!r}; the run begins at its start.")


def try_again(bench: Bench) -> None:
    """Start the preparation again after it was cancelled or has failed."""
    if bench.jobs.preparation is not None:
        given_up = bench.jobs.preparation
        prepare(bench, given_up.spec, given_up.split, given_up.work, given_up.at)


def begin_prepared(bench: Bench) -> None:
    assert bench.jobs.preparation is not None
    done = bench.jobs.preparation
    done.work.keep(done.job.result)
    bench.jobs.preparation = None
    begin(bench, done.spec, done.at, done.split)


def begin_again(bench: Bench) -> None:
    """Start the same run again with its recorded changes; its numbers are the same."""
    if bench.live is not None:
        begin(bench, bench.live.run.spec)
        bench.begun.words = ""


def go_on(bench: Bench, until: Callable[[], bool]) -> None:
    """Advance the run towards the iteration from a link for a moment; there it pauses or continues, as the link says."""
    bench.present.go_to(bench.link.going_to, LONGEST_GO, until)
    if bench.present.has_reached(bench.link.going_to):
        bench.link.going_to, bench.is_playing = 0, bench.link.plays_on


def once(bench: Bench, drawn: int, action: Callable[..., None], *arguments: Any) -> None:
    """Carry out a button's action once for each drawing of the page, where `drawn` is the number of the drawing.

    While the page ticks, a click can reach the server twice: in its own request and in the request of a tick.
    """
    with bench.feed.hold.taken():
        if drawn != bench.drawing.answered:
            bench.drawing.answered = drawn
            forget_refusal(bench)
            action(*arguments)


def forget_refusal(bench: Bench) -> None:
    """Take the sentence that says why the last press was refused from the page."""
    bench.link.notices = [notice for notice in bench.link.notices if notice != bench.group.refused]


def button(bench: Bench, label: str, key: str, action: Callable[..., None], *arguments: Any, **options: Any) -> None:
    """Draw a button whose action is carried out once for each drawing of the page."""
    st.button(label, key=key, on_click=once, args=(bench, bench.drawing.number, action, *arguments), **options)


def follow_click(bench: Bench) -> None:
    """Draw the whole page, in a fragment one of whose buttons was answered: a browser has the fragment alone drawn again."""
    if bench.drawing.answered == bench.drawing.number:
        st.rerun()

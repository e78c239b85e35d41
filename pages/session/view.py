"""How the reader looks at a run: choices that change no number of it.

A tick has no session, so it uses the choices of the last drawing by the script.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from dsgcore.experiments import LiveRun
from pages.charts.live_chart import theme_now
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
    is_on,
    map_choice,
    viewed,
)
from pages.race.race_charts import Finish
from pages.race.state import finish_of, name_in_link


@dataclass(frozen=True)
class Scene:
    """What a lesson's step shows of its run: the map, one chart, and the guess on it.

    Attributes
    ----------
    chart : str
        Name of the chart, one of `dsgcore.settings.lessons.CHARTS`; empty if there is none.
    measures : set of str
        What the question reads. The chart has the curves that it needs.
    guess : tuple of float
        The curve that the reader has drawn; empty if there is none.
    ends : tuple of float
        Ends of the axis for a drawn curve; empty if the question asks for none.
    sides : tuple of str
        Names of the two sides of the map's divider; empty for the usual ones.
    """

    has_map: bool = True
    chart: str = ""
    measures: Set[str] = frozenset()
    guess: tuple[float, ...] = ()
    ends: tuple[float, ...] = ()
    has_ghost: bool = False  # the previous run of the step
    can_edit: bool = False  # the reader reaches the step's goal with edits of the data
    can_paint: bool = False  # and draws them anew
    sides: tuple[str, ...] = ()


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
    """Return the session's choices."""
    problem = type(live.run.problem)
    return View(
        theme=theme_now(),
        hidden=frozenset(hidden),
        speed=viewed(problem, SPEED),
        on_map=viewed(problem, map_choice(problem)),
        axes=axes_asked(live.run),
        has_graph=is_on(problem, GRAPH),
        can_edit=is_on(problem, EDIT) or (scene is not None and scene.can_edit),
        has_truth=is_on(problem, TRUTH) or (scene is not None and scene.can_paint),  # else painted classes look alike
        has_mistakes=is_on(problem, MISTAKES),
        divider=NO_DIVIDER if scene is not None else viewed(problem, DIVIDER),
        is_log=is_on(problem, LOG_OBJECTIVE),
        finish=finish_of(live),
        race=name_in_link(problem.name),
        scene=scene,
    )

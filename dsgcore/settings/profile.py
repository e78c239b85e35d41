"""What a setting is called and begins with, and what is said about it: words and choices, all of them optional."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dsgcore.core.schedules import STEERABLE
from dsgcore.settings.drawing import USUAL, Among, Times
from dsgcore.settings.guided.lesson import Claim, GuidedLesson
from dsgcore.settings.panels import Details, Line, no_risks, plain_details
from dsgcore.settings.papers.figure import PaperFigure
from dsgcore.settings.theorem import NO_THEOREM, Theorem

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run
    from dsgcore.experiments.spec import Spec

# A competitor's parameters from a run's spec and its numbers of labeled and unlabeled points.
Translation = Callable[["Spec", int, int], dict[str, Any]]


@dataclass(frozen=True)
class Lesson:
    """A starting point named by what it shows.

    Attributes
    ----------
    name : str
    sentence : str
        What to see in it.
    values : mapping of str to any
        The controls that differ from the defaults.
    claims : tuple of Claim
        What the name and the sentence say, as numbers: each holds at the end of the run on nine of ten seeds and more.
    """

    name: str
    sentence: str
    values: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()


def nothing_usual(n: int, n_labeled: int, rarest: float) -> Mapping[str, Any]:
    """Return nothing: a page begins on all data as on the first."""
    return {}


def usual_run(**more: Any) -> dict[str, Any]:
    """Return what the estimators' runs have in common: a step that knows its scale, many small steps, and their mean."""
    steps = {"step_size": None, "schedule": "constant", "average": "tail"}
    return steps | {"n_iter": 800, "n_features": 64, "batch_size": 64} | more


def short(value: float) -> float:
    """Return a value in two digits, as a slider shows it."""
    return float(f"{value:.2g}")


@dataclass(frozen=True)
class Profile:
    """The words and choices around a problem. What is left out is made from the problem itself.

    Attributes
    ----------
    short : str
        Its name where there is little room.
    icon : str
        A Material symbol, as Streamlit writes them.
    prefix : str or None
        What the names of its controls begin with in a link; None: its name.
    headline, card : str
        On the home page: what it is for in a few words, and in a sentence.
    paper : str
        The method's name.
    defaults : mapping
        What a spec begins with, by section, where it differs from the parameters' own defaults; chosen so that the first
        lesson works.
    elsewhere : mapping
        In the same form, what differs on any other data set than the one of `defaults`; of their data and kernel sections
        nothing goes there.
    usual : callable
        From the numbers of training points and of labels (or pairs), and the share of the rarest class: by name, what a page
        begins with on data that were not made for the method, a real set or a person's own file. As the estimator's defaults.
    suggested : mapping of str to Times or Among
        The parameters that matter most, and how they are drawn where good ones are looked for.
    steerable : tuple of str
        What can be changed during a run; the first three are what a page shows first.
    kernels, dtypes : tuple of str
        The kernels and precisions that there are; empty: all.
    seldom : tuple of str
        Those of the problem's own parameters that are seldom moved.
    theorem : Theorem
    lessons : tuple of Lesson
    guided : tuple of GuidedLesson
    figures : tuple of PaperFigure
        The figures and tables of its paper's experiments.
    translations : mapping of str to callable
        By the name of a competitor's class: its parameters where they have another name or unit than the run's.
    details : callable
        From a run that has made an iteration: what only this setting has to show of it.
    risks : callable
        From the same: lines over its iterations, of risks that the objective's parts estimate and that cannot be negative in truth.
    """

    short: str = ""
    icon: str = ":material/science:"
    prefix: str | None = None
    headline: str = ""
    card: str = ""
    paper: str = ""
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    elsewhere: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    usual: Callable[[int, int, float], Mapping[str, Any]] = nothing_usual
    suggested: Mapping[str, Times | Among] = field(default_factory=lambda: USUAL)
    steerable: tuple[str, ...] = STEERABLE
    kernels: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    seldom: tuple[str, ...] = ()
    theorem: Theorem = NO_THEOREM
    lessons: tuple[Lesson, ...] = ()
    guided: tuple[GuidedLesson, ...] = ()
    figures: tuple[PaperFigure, ...] = ()
    translations: Mapping[str, Translation] = field(default_factory=dict)
    details: Callable[[Run], Details] = plain_details
    risks: Callable[[Run], tuple[Line, ...]] = no_risks

"""What a setting is called and begins with, and what is said about it: words and choices, all of them optional."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dsgcore.core.parameters import Integer, Parameter, Real
from dsgcore.core.schedules import STEERABLE
from dsgcore.settings.guided.lesson import Claim, GuidedLesson
from dsgcore.settings.panels import Details, Line, plain_details
from dsgcore.settings.theorem import NO_THEOREM, Theorem

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run
    from dsgcore.experiments.spec import Spec

# Half of what is drawn stays near the value that is there: within this share of the way, on a logarithmic scale.
NEAR = 0.4
# Values of a spec by section, where they differ from those that are there.
Sections = Mapping[str, Mapping[str, Any]]
# A competitor's parameters from a run's spec and its numbers of labeled and unlabeled points.
Translation = Callable[["Spec", int, int], dict[str, Any]]


@dataclass(frozen=True)
class Lesson:
    """A starting point named by what it shows.

    Attributes
    ----------
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


@dataclass(frozen=True)
class PaperFigure:
    """What a figure or table of a paper shows, and the study of our method that asks the same: at a laptop's size or its own.

    Attributes
    ----------
    name : str
        Short, for the command line.
    title : str
        What the paper calls it.
    asks : str
        What is drawn against what.
    says : str
        What the paper says of it, in a sentence.
    differs : str
        What is otherwise in the study, and why.
    spec : mapping
        What differs from the setting's own defaults.
    axes : tuple of mapping
        As a study's plain data have them.
    seeds : int
        The study has so many, from 0 on.
    measure : str
        What its points are compared by at first, one of `dsgcore.studies.MEASURES`.
    full, full_axes, full_seeds
        What the paper's size changes: in `spec`, in the axes by their names, and how many seeds it has.
    """

    name: str
    title: str
    asks: str
    says: str
    differs: str
    spec: Sections
    axes: tuple[Mapping[str, Any], ...]
    seeds: int = 3
    measure: str = "score"
    full: Sections = field(default_factory=dict)
    full_axes: Sections = field(default_factory=dict)
    full_seeds: int = 10

    def study(self, setting: str, *, is_full: bool = False) -> dict[str, Any]:
        """Return the study of a setting as plain data, at the laptop's size or the paper's."""
        more, said = (self.full, self.full_axes) if is_full else ({}, {})
        sections = {name: {**self.spec.get(name, {}), **more.get(name, {})} for name in {**self.spec, **more}}
        return {
            "spec": {"setting": setting, **sections},
            "axes": [{**axis, **said.get(axis["name"], {})} for axis in self.axes],
            "seeds": list(range(self.full_seeds if is_full else self.seeds)),
        }


@dataclass(frozen=True)
class Times:
    """A number that is drawn as a multiple, up to `most` times larger or smaller, of the value that is there."""

    most: float

    def draw(self, drawn: np.random.Generator, value: Any, parameter: Parameter) -> Any:
        """Return one, within the parameter's range and of three digits; what the run finds by itself it goes on to find."""
        if value is None or not isinstance(parameter, Real | Integer):
            return value
        reach = np.log(self.most) * (NEAR if drawn.random() < 0.5 else 1.0)
        found = float(f"{value * np.exp(drawn.uniform(-reach, reach)):.3g}")
        low, high = (end if end is not None else found for end in (parameter.low, parameter.high))
        return type(value)(min(max(found, low), high))


@dataclass(frozen=True)
class Among:
    """A parameter that is drawn among a few values."""

    values: tuple[Any, ...]

    def draw(self, drawn: np.random.Generator, value: Any, parameter: Parameter) -> Any:
        """Return one of them."""
        return self.values[int(drawn.integers(len(self.values)))]


TRUST = Among((0.2, 0.4, 0.6, 0.8, 0.9, 1.0))
# Width of the kernel, ridge and step: what matters in any setting.
USUAL: dict[str, Times | Among] = {"sigma": Times(16.0), "lam": Times(100.0), "step_size": Times(4.0)}


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
        begins with on data that were not made for the method, a real set or a person's own file. As the estimator's defaults;
        empty where it begins with the same on all data.
    suggested : mapping of str to Times or Among
        The parameters that matter most, and how they are drawn where good ones are looked for.
    steerable : tuple of str
        What can be changed during a run; the first three are what a page shows first.
    kernels, dtypes : tuple of str
        The kernels and precisions that there are; empty: all.
    seldom : tuple of str
        Those of the problem's own parameters that are seldom moved.
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
    defaults: Sections = field(default_factory=dict)
    elsewhere: Sections = field(default_factory=dict)
    usual: Callable[[int, int, float], Mapping[str, Any]] = lambda n, n_labeled, rarest: {}
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
    risks: Callable[[Run], tuple[Line, ...]] = lambda run: ()

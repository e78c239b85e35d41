"""Profile of a setting: its names, defaults, lessons and texts. All fields are optional."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dsgcore.core.parameters import Integer, Parameter, Real
from dsgcore.settings.guided.lesson import GuidedLesson
from dsgcore.settings.page_texts import Lesson, PaperFigure, Sections
from dsgcore.settings.panels import Details, Values, plain_details
from dsgcore.settings.theorem import NO_THEOREM, Theorem
from dsgcore.solver.plan import STEERABLE
from dsgcore.solver.start import EXACT, MOST_LABELS
from dsgcore.solver.task import SHUFFLED

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run
    from dsgcore.experiments.spec import Spec

# Half of the draws stay near the present value: within this share of the range, on a logarithmic scale.
NEAR = 0.4
# Function from a spec and the numbers of labeled and unlabeled points to a competitor's parameters.
Translation = Callable[["Spec", int, int], dict[str, Any]]


@dataclass(frozen=True)
class Times:
    """Random multiple of the present value, up to `most` times larger or smaller."""

    most: float

    def draw(self, drawn: np.random.Generator, value: Any, parameter: Parameter) -> Any:
        """Return a value of three digits within the parameter's range. An automatic value (None) stays automatic."""
        if value is None or not isinstance(parameter, Real | Integer):
            return value
        reach = np.log(self.most) * (NEAR if drawn.random() < 0.5 else 1.0)
        found = float(f"{value * np.exp(drawn.uniform(-reach, reach)):.3g}")
        low, high = (end if end is not None else found for end in (parameter.low, parameter.high))
        return type(value)(min(max(found, low), high))


@dataclass(frozen=True)
class Among:
    """Random choice from a few values."""

    values: tuple[Any, ...]

    def draw(self, drawn: np.random.Generator, value: Any, parameter: Parameter) -> Any:
        """Return one of the values."""
        return self.values[int(drawn.integers(len(self.values)))]


TRUST = Among((0.2, 0.4, 0.6, 0.8, 0.9, 1.0))
# Tolerance of a fit from 0.
FROM_0 = 0.02
# Bandwidth, ridge and step size matter in every setting.
USUAL: dict[str, Times | Among] = {"sigma": Times(16.0), "lam": Times(100.0), "step_size": Times(4.0)}


def usual_run(**more: Any) -> dict[str, Any]:
    """Return the values that all estimators share: an automatic step size, many iterations, and their average."""
    steps = {"step_size": None, "schedule": "constant", "average": "tail"}
    return steps | {"n_iter": 800, "n_features": 64, "batch_size": 128} | more


def fitted(tol: float) -> Callable[[int], dict[str, Any]]:
    """Return how an estimator with default values begins and ends, and draws its mini-batches, by its number of labels.

    `tol` is its tolerance after an exact start.
    """
    return lambda n_labeled: {
        "start": EXACT if n_labeled <= MOST_LABELS else None,
        "sampling": SHUFFLED,
        "tol": tol if n_labeled <= MOST_LABELS else FROM_0,
    }


def short(value: float) -> float:
    """Round a value to two digits, as a slider shows it."""
    return float(f"{value:.2g}")


@dataclass(frozen=True)
class Profile:
    """Texts and choices around a problem. Missing ones are made from the problem itself.

    Attributes
    ----------
    short : str
        Short name, for the navigation.
    icon : str
        Material symbol, in Streamlit's notation.
    prefix : str or None
        Prefix of its controls' names in a link. None stands for its name.
    headline, card : str
        Its purpose in a few words and in a sentence, for the home page.
    paper : str
        Name of the method.
    defaults : mapping
        Initial values of a spec that differ from the parameters' defaults, by section. The first lesson uses them.
    other_sets : mapping
        Values for all data sets except the one in `defaults`, in the same form. They replace its data and kernel sections.
    usual : callable
        Initial values on real data sets and uploaded files, by name. They follow from the numbers of training points and of
        labels (or pairs) and the share of the rarest class, and equal the estimator's defaults. Empty for none.
    fitted : callable
        How the estimator begins, draws and ends, by its number of labels. A person's own file begins so.
    suggested : mapping of str to Times or Among
        The parameters that a search varies, and how it draws their values.
    steerable : tuple of str
        Parameters that can change during a run.
    kernels, dtypes : tuple of str
        The allowed kernels and precisions. Empty for all.
    front : tuple of str
        Parameters whose controls a page shows first, in this order. All others are under "More".
    figures : tuple of PaperFigure
        Figures and tables of its paper.
    translations : mapping of str to callable
        Parameters that have another name or unit in a competitor, by the name of its class.
    details : callable
        Function from a run with at least one iteration to this setting's own panels.
    risks : callable
        Function from such a run to lines of estimated risks, which cannot be negative in truth.
    """

    short: str = ""
    icon: str = ":material/science:"
    prefix: str | None = None
    headline: str = ""
    card: str = ""
    paper: str = ""
    defaults: Sections = field(default_factory=dict)
    other_sets: Sections = field(default_factory=dict)
    usual: Callable[[int, int, float], Mapping[str, Any]] = lambda n, n_labeled, rarest: {}
    fitted: Callable[[int], Mapping[str, Any]] = lambda n_labeled: {}
    suggested: Mapping[str, Times | Among] = field(default_factory=lambda: USUAL)
    steerable: tuple[str, ...] = STEERABLE
    kernels: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    front: tuple[str, ...] = ("n_labeled", *STEERABLE)
    theorem: Theorem = NO_THEOREM
    lessons: tuple[Lesson, ...] = ()
    guided: tuple[GuidedLesson, ...] = ()
    figures: tuple[PaperFigure, ...] = ()
    translations: Mapping[str, Translation] = field(default_factory=dict)
    details: Callable[[Run], Details] = plain_details
    risks: Callable[[Run], tuple[Values, ...]] = lambda run: ()

    @property
    def full_name(self) -> str:
        """Short name with the paper's name of the method second, for headings."""
        return self.short if self.paper in ("", self.short) else f"{self.short} ({self.paper})"

"""Profile of a setting: its names, texts, starting points, figures and choices. All fields are optional.

The texts are in one TOML file per setting, with the first fields of `Profile`, tables ``[[lessons]]`` with those of `Lesson`,
and ``[[figures]]`` with those of `PaperFigure`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dsgcore.core.parameters import (
    ANYTHING,
    REQUIRED,
    Integer,
    Parameter,
    Real,
    Record,
    Text,
    field_of,
    integer,
    items,
    like,
    mapping,
)
from dsgcore.settings.lessons import CLAIM, VALUES, Claim, read_table, some_text, table_in
from dsgcore.settings.panels import Details, Result, Values, plain_details
from dsgcore.settings.theorems import NO_THEOREM, Theorem
from dsgcore.solver.parameters import RunSpec
from dsgcore.solver.problem import STEERABLE, Sections
from dsgcore.solver.start import EXACT, MOST_LABELS
from dsgcore.solver.task import SHUFFLED, by_labels

HERE = Path(__file__).parent / "texts"


@dataclass(frozen=True)
class Lesson:
    """Starting point of the workbench, named after its subject."""

    name: str = some_text()
    # Text beside the run.
    sentence: str = some_text()
    # Controls that differ from the defaults.
    values: Mapping[str, Any] = mapping(VALUES)
    # The statements of the text as numbers. Each holds at the end of the run on at least nine of ten seeds.
    claims: tuple[Claim, ...] = items(CLAIM, ())


@dataclass(frozen=True)
class PaperFigure:
    """Figure or table of a paper, with a study of the method that asks the same question."""

    # Short name, for the command line.
    name: str = some_text()
    # Name in the paper.
    title: str = some_text()
    # The two quantities that are drawn against each other.
    asks: str = some_text()
    # The paper's statement about it.
    says: str = some_text()
    # Differences of the study from the paper, with reasons.
    differs: str = some_text()
    # Values that differ from the setting's defaults.
    spec: Sections = like(ANYTHING, REQUIRED)
    # Axes, in the form of a study's plain data.
    axes: tuple[Mapping[str, Any], ...] = items(ANYTHING)
    # Number of seeds, from 0 on.
    seeds: int = integer(3)
    # Measure that is shown first, one of `dsgcore.studies.MEASURES`.
    measure: str = field_of(Text, "score")

    def study(self, setting: str) -> dict[str, Any]:
        """Return the study as plain data, at a laptop's size."""
        return {"spec": {"setting": setting, **self.spec}, "axes": [*self.axes], "seeds": list(range(self.seeds))}


# Half of the draws stay near the present value: within this share of the range, on a logarithmic scale.
NEAR = 0.4
# Function from a spec and the numbers of labeled and unlabeled points to a competitor's parameters.
Translation = Callable[[RunSpec, int, int], dict[str, Any]]


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


def fitted(tol: float, *, is_ranking: bool = False) -> Callable[[int], dict[str, Any]]:
    """Return how an estimator with default values begins and ends, and draws its mini-batches, by its number of labels.

    `tol` is its tolerance after an exact start.
    """

    def of_labels(n_labeled: int) -> dict[str, Any]:
        usual, has_start = by_labels(n_labeled, is_ranking=is_ranking), n_labeled <= MOST_LABELS
        return {
            "start": EXACT if has_start else None,
            "sampling": SHUFFLED,
            "tol": usual.tol * (tol if has_start else FROM_0),
            "n_iter": usual.n_iter,
            "batch_size": usual.batch_size,
        }

    return of_labels


def short(value: float) -> float:
    """Round a value to two digits, as a slider shows it."""
    return float(f"{value:.2g}")


@dataclass(frozen=True)
class Profile:
    """Texts and choices around a problem. Missing ones are made from the problem itself."""

    # Short name, for the navigation.
    short: str = field_of(Text, "")
    # Material symbol, in Streamlit's notation.
    icon: str = field_of(Text, ":material/science:")
    # Prefix of its controls' names in a link. None stands for its name.
    prefix: str | None = like(ANYTHING, None)
    # Its purpose in a few words and in a sentence, for the home page.
    headline: str = field_of(Text, "")
    card: str = field_of(Text, "")
    # Name of the method.
    paper: str = field_of(Text, "")
    lessons: tuple[Lesson, ...] = items(Record("lesson", None, kind=Lesson), ())
    # Figures and tables of its paper.
    figures: tuple[PaperFigure, ...] = items(Record("figure", None, kind=PaperFigure), ())
    # Initial values on real data sets and uploaded files, by name. They follow from the numbers of training points and
    # of labels (or pairs) and the share of the rarest class, and equal the estimator's defaults. Empty for none.
    usual: Callable[[int, int, float], Mapping[str, Any]] = lambda n, n_labeled, rarest: {}
    # How the estimator begins, draws and ends, by its number of labels. A person's own file begins so.
    fitted: Callable[[int], Mapping[str, Any]] = lambda n_labeled: {}
    # The parameters that a search varies, and how it draws their values.
    suggested: Mapping[str, Times | Among] = field(default_factory=lambda: USUAL)
    # Parameters whose controls a page shows first, in this order. All others are under "More".
    front: tuple[str, ...] = ("n_labeled", *STEERABLE)
    theorem: Theorem = NO_THEOREM
    # Parameters that have another name or unit in a competitor, by the name of its class.
    translations: Mapping[str, Translation] = field(default_factory=dict)
    # Function from a run with at least one iteration to this setting's own panels.
    details: Callable[[Result], Details] = plain_details
    # Function from such a run to lines of estimated risks, which cannot be negative in truth.
    risks: Callable[[Result], tuple[Values, ...]] = lambda run: ()

    @property
    def full_name(self) -> str:
        """Short name with the paper's name of the method second, for headings."""
        return self.short if self.paper in ("", self.short) else f"{self.short} ({self.paper})"


def profile(setting: str, **choices: Any) -> Profile:
    """Return a profile of these choices, with the texts of the setting's file; raise `LessonError` if they are not valid."""
    file = HERE / f"{setting}.toml"
    return read_table(Profile, table_in(file, "texts in TOML"), file, **choices)

"""Texts of a setting that its page shows: names, starting points and the paper's figures, from one TOML file per setting.

A file has the fields of `Texts`, tables ``[[lessons]]`` with those of `Lesson`, and ``[[figures]]`` with those of
`PaperFigure`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsgcore.core.parameters import ANYTHING, REQUIRED, Record, Text, field_of, integer, items, like, mapping
from dsgcore.settings.guided.lesson import VALUES
from dsgcore.settings.guided.questions import CLAIM, Claim, some_text
from dsgcore.settings.guided.written import read_file

HERE = Path(__file__).parent / "texts"
# Values of a spec that differ from the present ones, by section.
Sections = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Lesson:
    """Starting point of the workbench, named after its subject.

    Attributes
    ----------
    sentence : str
        Text beside the run.
    values : mapping of str to any
        Controls that differ from the defaults.
    claims : tuple of Claim
        The statements of the text as numbers. Each holds at the end of the run on at least nine of ten seeds.
    """

    name: str = some_text()
    sentence: str = some_text()
    values: Mapping[str, Any] = mapping(VALUES)
    claims: tuple[Claim, ...] = items(CLAIM, ())


@dataclass(frozen=True)
class PaperFigure:
    """Figure or table of a paper, with a study of the method that asks the same question.

    Attributes
    ----------
    name : str
        Short name, for the command line.
    title : str
        Name in the paper.
    asks : str
        The two quantities that are drawn against each other.
    says : str
        The paper's statement about it.
    differs : str
        Differences of the study from the paper, with reasons.
    spec : mapping
        Values that differ from the setting's defaults.
    axes : tuple of mapping
        Axes, in the form of a study's plain data.
    seeds : int
        Number of seeds, from 0 on.
    measure : str
        Measure that is shown first, one of `dsgcore.studies.MEASURES`.
    full, full_axes, full_seeds
        Changes for a study of the paper's size: in `spec`, in the axes by name, and the number of seeds.
    """

    name: str = some_text()
    title: str = some_text()
    asks: str = some_text()
    says: str = some_text()
    differs: str = some_text()
    spec: Sections = like(ANYTHING, REQUIRED)
    axes: tuple[Mapping[str, Any], ...] = items(ANYTHING)
    seeds: int = integer(3)
    measure: str = field_of(Text, "score")
    full: Sections = mapping()
    full_axes: Sections = mapping()
    full_seeds: int = integer(10)

    def study(self, setting: str, *, is_full: bool = False) -> dict[str, Any]:
        """Return the study as plain data, at a laptop's size or the paper's."""
        more, said = (self.full, self.full_axes) if is_full else ({}, {})
        sections = {name: {**self.spec.get(name, {}), **more.get(name, {})} for name in {**self.spec, **more}}
        return {
            "spec": {"setting": setting, **sections},
            "axes": [{**axis, **said.get(axis["name"], {})} for axis in self.axes],
            "seeds": list(range(self.full_seeds if is_full else self.seeds)),
        }


@dataclass(frozen=True)
class Texts:
    """Names, starting points and figures of a setting: the fields of `Profile` of the same names."""

    short: str = some_text()
    paper: str = some_text()
    icon: str = some_text()
    prefix: str = like(ANYTHING, REQUIRED)
    headline: str = some_text()
    card: str = some_text()
    lessons: tuple[Lesson, ...] = items(Record("lesson", None, kind=Lesson), ())
    figures: tuple[PaperFigure, ...] = items(Record("figure", None, kind=PaperFigure), ())


def texts_of(setting: str) -> dict[str, Any]:
    """Return the texts of a setting, as keywords of `Profile`.

    Raises
    ------
    LessonError
        If the file is not valid. The message names the file, the place, the value given, and what is allowed.
    """
    return vars(read_file(Texts, HERE / f"{setting}.toml", "texts in TOML"))

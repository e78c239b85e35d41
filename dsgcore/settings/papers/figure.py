"""A figure or table of a paper as a study: plain data at a laptop's size, and what changes at the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Of a spec, by section, what differs from the setting's own defaults.
Values = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class PaperFigure:
    """What a figure or table of a paper shows, and the study of our method that asks the same.

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
        By section.
    axes : tuple of mapping
        As a study's plain data have them.
    seeds : int
        The study has so many, from 0 on.
    measure : str
        What its points are compared by at first, one of `dsgcore.studies.MEASURES`.
    full : mapping
        As `spec`: what the paper's size changes in it.
    full_axes : mapping of str to mapping
        What the paper's size changes in the axes, by their names.
    full_seeds : int
    """

    name: str
    title: str
    asks: str
    says: str
    differs: str
    spec: Values
    axes: tuple[Mapping[str, Any], ...]
    seeds: int = 3
    measure: str = "score"
    full: Values = field(default_factory=dict)
    full_axes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    full_seeds: int = 10

    def study(self, setting: str, *, is_full: bool = False) -> dict[str, Any]:
        """Return the study as plain data, at the laptop's size or the paper's.

        Parameters
        ----------
        setting : str
            Whose paper it is.
        is_full : bool, default=False
        """
        more = self.full if is_full else {}
        sections = {name: {**self.spec.get(name, {}), **more.get(name, {})} for name in {**self.spec, **more}}
        said = self.full_axes if is_full else {}
        return {
            "spec": {"setting": setting, **sections},
            "axes": [{**axis, **said.get(axis["name"], {})} for axis in self.axes],
            "seeds": list(range(self.full_seeds if is_full else self.seeds)),
        }

"""Several specs, each over the same seeds: runs that are compared need not differ along axes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dsgcore.core.cost import Cost
from dsgcore.experiments.cost import cost_of
from dsgcore.experiments.spec import Spec
from dsgcore.studies.study import Axis, StudyRun
from dsgcore.studies.work import Maker, make_run


@dataclass(frozen=True)
class Gathered:
    """Specs and seeds, as a study is carried out: each spec is run with each seed in place of its own.

    Attributes
    ----------
    specs : tuple of Spec
    seeds : tuple of int
    """

    specs: tuple[Spec, ...]
    seeds: tuple[int, ...]
    axes: ClassVar[tuple[Axis, ...]] = ()
    seconds: ClassVar[float | None] = None
    is_best_first: ClassVar[bool] = False
    make: ClassVar[Maker] = staticmethod(make_run)

    @property
    def spec(self) -> Spec:
        """The first spec."""
        return self.specs[0]

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Gathered:
        """Make it from plain data, as of `to_dict`."""
        return cls(tuple(Spec.from_dict(spec) for spec in given["specs"]), tuple(given["seeds"]))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"specs": [spec.to_dict() for spec in self.specs], "seeds": list(self.seeds)}

    def __len__(self) -> int:
        return len(self.specs) * len(self.seeds)

    def runs(self) -> Iterator[StudyRun]:
        """Return the runs in their order: the seed changes before the spec; their value is the number of the spec."""
        pairs = itertools.product(enumerate(self.specs), self.seeds)
        for place, ((number, spec), seed) in enumerate(pairs):
            yield StudyRun(place, (number,), seed, replace(spec, seed=seed))

    def cost(self, spec: Spec, shape: tuple[int, int] | None = None) -> Cost:
        """Return about what the run of one spec costs."""
        return cost_of(spec, shape)

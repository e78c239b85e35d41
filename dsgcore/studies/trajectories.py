"""Trajectories of specs over the same seeds towards the optimum, which a study measures in place of runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from dsgcore.core.cost import Cost
from dsgcore.diagnostics.convergence import Convergence, reference_of, trajectory, trajectory_cost
from dsgcore.diagnostics.references import check_possible, is_sampled
from dsgcore.experiments import Spec, SpecError
from dsgcore.experiments.cost import cost_of, shape_of
from dsgcore.solver.exact import DiagnosticsError, Reference
from dsgcore.studies.runs import Made, Maker, split_of
from dsgcore.studies.store import Store
from dsgcore.studies.study import SpecList, StudyRun

# Share of a run's likely seconds that it takes without its history of scores.
SHARE_UNMEASURED = 0.2


@dataclass(frozen=True)
class TrajectoryRun(StudyRun):
    """One trajectory: a run whose seed sets batches and features only; another seed sets the data."""

    data_seed: int = 0

    @property
    def text(self) -> str | None:
        """The text from which a process makes it."""
        if self.spec is None:
            return None
        return json.dumps({"way_on": self.data_seed, "spec": self.spec.to_dict()}, sort_keys=True)


def make_trajectory(text: str, folder: str | None = None) -> Made:
    """Measure a trajectory; return its text, a run's summary and the trajectory's columns. Arguments as in `make_run`."""
    plain = json.loads(text)
    spec = Spec.from_dict(plain["spec"])
    on_data = replace(spec, seed=plain["way_on"])
    split = split_of(on_data, folder)
    # If each seed draws its own points from many, it also has its own matrix and optimum.
    seed = spec.seed if is_sampled(len(split.X_train)) else on_data.seed
    own = on_data.to_dict()
    solver = {name: own["solver"][name] for name in ("lam", "dtype")}  # the others change neither matrix nor optimum
    same = json.dumps(own | {"solver": solver, "changes": []}, sort_keys=True)
    columns = trajectory(spec, split, _reference(same, folder, seed))
    t = columns["t"]
    run = TrajectoryRun(0, (), spec.seed, spec, data_seed=plain["way_on"])
    is_whole = len(t) > 0 and t[-1] == spec.solver.n_iter
    summary = {
        "spec_sha256": run.key,
        "last": {"error_mean": float(columns["error"][-1])} if is_whole else {},
        "seconds": float(columns["seconds"][-1]) if len(t) else 0.0,
        "stop_reason": "finished" if is_whole else "diverged",
        "iterations": int(t[-1]) if len(t) else 0,
    }
    return text, summary, columns


@lru_cache(maxsize=1)  # a kernel matrix each
def _reference(text: str, folder: str | None, seed: int) -> Reference:
    spec = Spec.from_json(text)
    return reference_of(replace(spec, seed=seed), split_of(spec, folder))


def cost_of_trajectory(spec: Spec, shape: tuple[int, int] | None = None) -> Cost:
    """Estimate the cost of one spec's trajectory; raise `SpecError` if it cannot be measured."""
    n, _ = shape_of(spec) if shape is None else shape
    n_train = n - round(spec.data.test_share * n)
    try:
        check_possible(spec)
    except DiagnosticsError as error:
        raise SpecError(str(error)) from None
    run = cost_of(spec, shape)
    return replace(run, likely=SHARE_UNMEASURED * run.likely) + trajectory_cost(spec, n_train)


@dataclass(frozen=True)
class Trajectories(SpecList):
    """Specs over the same seeds, whose trajectories to the optimum are measured on the data of one seed."""

    data_seed: int = 0
    make: ClassVar[Maker] = staticmethod(make_trajectory)
    cost: ClassVar[Callable[..., Cost]] = staticmethod(cost_of_trajectory)

    @property
    def _data_seeds(self) -> tuple[int, ...]:
        return (self.data_seed,)

    def to_dict(self) -> dict[str, Any]:
        """Return the object as plain data."""
        return super().to_dict() | {"data_seed": self.data_seed}

    def runs(self) -> Iterator[StudyRun]:
        """Return the runs in the order of `SpecList`."""
        for run in super().runs():
            yield TrajectoryRun(run.place, run.values, run.seed, run.spec, data_seed=self.data_seed)


def convergences(study: Trajectories, keys: Sequence[str | None], store: Store) -> list[Convergence | None]:
    """Return each spec's finished trajectories, by the keys of all runs in their order; None if there are none."""
    there, n = store.get(key for key in keys if key is not None), len(study.seeds)
    found: list[Convergence | None] = []
    for number, spec in enumerate(study.specs):
        own = zip(study.seeds, keys[number * n : (number + 1) * n], strict=True)
        trajectories = {seed: store.history(key) for seed, key in own if key in there and key is not None}
        found.append(Convergence.of(spec, trajectories) if trajectories else None)
    return found

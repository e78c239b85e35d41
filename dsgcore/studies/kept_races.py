"""Finished races in the store, beside the runs. A link to a race finds its result without another fit."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from dsgcore.experiments import Spec
from dsgcore.experiments.race import Race, RaceResult, competitor
from dsgcore.studies.store import Store, packed, unpacked

_ARRAYS = ("steps", "times", "objectives", "surface", "classes")


def name_of(race: Race) -> str:
    """Return a race's name in a store: the SHA-256 of everything that determines it."""
    return hashlib.sha256(json.dumps(_said(race), sort_keys=True).encode()).hexdigest()


def keep_race(store: Store, race: Race, result: RaceResult) -> None:
    """Store a race's result, unless it is there already."""
    plain = dict(vars(result))
    arrays = {name: plain.pop(name) for name in _ARRAYS}
    store.keep("race", [(name_of(race), json.dumps([_said(race), plain]), packed(arrays))])


def kept_race(store: Store, beginning: str) -> tuple[Race, RaceResult] | None:
    """Return the race whose name begins so, and its result; None if there is no such race, or more than one.

    Also return None if another version stored it, with a spec or competitor that this version does not know.
    """
    row = store.found("race", beginning)
    if row is None:
        return None
    try:
        said, plain = json.loads(row[0])
        race = Race(**said | {"spec": Spec.from_dict(said["spec"]), "axes": tuple(said["axes"])})
        competitor(race.spec.problem.name, race.competitor)
        return race, RaceResult(**plain | unpacked(row[1]) | {"notes": tuple(plain["notes"])})
    except (ValueError, TypeError, KeyError):
        return None


def _said(race: Race) -> Any:
    """Return a race as plain data; numbers may be those of NumPy, and parameters any mapping."""
    plain = json.dumps(
        vars(race) | {"spec": race.spec.to_dict()},
        default=lambda value: value.item() if isinstance(value, np.generic) else dict(value),
    )
    return json.loads(plain)

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
    return hashlib.sha256(_said(race).encode()).hexdigest()


def keep_race(store: Store, race: Race, result: RaceResult) -> None:
    """Store a race's result, unless it is there already."""
    plain = dict(vars(result))
    arrays = {name: plain.pop(name) for name in _ARRAYS}
    store.put_race(name_of(race), _said(race), json.dumps(plain), packed(arrays))


def kept_race(store: Store, beginning: str) -> tuple[Race, RaceResult] | None:
    """Return the race whose name begins so, and its result; None if there is no such race, or more than one.

    Also return None if another version stored it, with a spec or competitor that this version does not know.
    """
    row = store.race(beginning)
    try:
        return None if row is None else _read(row)
    except (ValueError, TypeError, KeyError):
        return None


def _read(row: tuple[str, str, bytes]) -> tuple[Race, RaceResult]:
    said, plain = json.loads(row[0]), json.loads(row[1])
    race = Race(**said | {"spec": Spec.from_dict(said["spec"]), "axes": tuple(said["axes"])})
    competitor(race.spec.problem.name, race.competitor)
    return race, RaceResult(**plain | unpacked(row[2]) | {"notes": tuple(plain["notes"])})


def _said(race: Race) -> str:
    """Return a race as JSON; equal races give equal text."""
    return json.dumps(vars(race) | {"spec": race.spec.to_dict()}, sort_keys=True, default=_number)


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return dict(value)  # parameters, which may be any mapping

"""Verdicts of the gauges and of the four runs on seeded faults, and of the gauges on lessons that work.

python tests/benchmarks/strip.py [strip] [intervention]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from reporting import command_line, show, table

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_lessons import spec_of as lesson
from test_live_gauges import DATA, FAULTS, effect, faulty, finished

from dsgcore.diagnostics import limits, live_gauges
from dsgcore.experiments import SETTINGS, Spec
from dsgcore.settings import profile_of

SEEDS_OF_FAULTS, SEEDS_OF_LESSONS, SEEDS_OF_REMEDIES = range(5), range(40), range(3)


def leads(spec) -> str:
    """Return the name of the gauge that leads."""
    leading = live_gauges(finished(spec)).leading
    return "nothing" if leading is None else leading.name


def counted(names) -> str:
    return ", ".join(f"{name} {times}" for name, times in Counter(names).most_common())


# The four runs' names for the causes that the gauges are named after.
CAUSES = {"Iterations": "optimisation", "Step": "optimisation", "Features": "features", "Batches": "batches"}
SEEDS_OF_INTERVENTION = 5  # of batches and features, for each seed of the data
# S3VM's way without noise is a run on the whole sample, minutes a case: it has no exact optimum.
INTERVENED = [name for name in DATA if name != "s3vm"]


def intervened(name: str, fault: str, seed: int) -> tuple[str, float]:
    """Return the cause that the four runs name, and what its remedy brings in units of what was said; NaN where nothing was."""
    spec = faulty(name, fault, seed)
    found = limits(spec, SEEDS_OF_INTERVENTION)
    if found.expected is None:
        return found.leading, float("nan")
    plain = spec.to_dict()
    better = Spec.from_dict(plain | {"solver": plain["solver"] | found.changes})
    return found.leading, limits(better, SEEDS_OF_INTERVENTION).parts["together"] / found.expected


def intervention() -> str:
    """Return what the four runs say, and how far what a remedy brought was off."""
    rows, ratios = [], []
    for name in INTERVENED:
        for fault, (_, cause) in FAULTS.items():
            found = [intervened(name, fault, seed) for seed in SEEDS_OF_FAULTS]
            brought = [ratio for _, ratio in found if np.isfinite(ratio)]
            ratios += brought
            said = f"{np.median(brought):.2f}" if brought else "nothing to expect: it grows"
            rows.append((name, fault, CAUSES[cause], counted(one for one, _ in found), said))
    text = table(("setting", "fault", "to lead", "leads", "brought / expected"), rows)
    return f"{text}\n\nOf {len(ratios)} remedies, brought / expected: median {np.median(ratios):.2f}."


def of_the_strip() -> str:
    """Return which gauge leads."""
    rows = []
    for name in DATA:
        for fault, (_, cause) in FAULTS.items():
            found = counted(leads(faulty(name, fault, seed)) for seed in SEEDS_OF_FAULTS)
            rows.append((name, fault, cause, found))
    works = [(name, profile_of(setting).lessons[0]) for name, setting in SETTINGS.items()]
    lessons = [
        (name, counted(leads(lesson(name, one.values, seed)) for seed in SEEDS_OF_LESSONS)) for name, one in works
    ]
    ratios = [effect(name, seed) for name in DATA for seed in SEEDS_OF_REMEDIES]
    read = f"{np.round(ratios, 2).tolist()}, median {np.median(ratios):.2f}."
    faults, lesson_table = (
        table(("setting", "fault", "to lead", "leads"), rows),
        table(("lesson that works", "leads"), lessons),
    )
    return f"{faults}\n\n{lesson_table}\n\nBatches four times as large, read / expected: {read}"


PARTS = {"strip": of_the_strip, "intervention": intervention}

if __name__ == "__main__":
    for part in command_line(__doc__, PARTS).what:
        show(PARTS[part]())

"""What the strip and the intervention say of seeded faults, and the strip of lessons that work, over many seeds.

python tests/benchmarks/strip.py [strip] [intervention]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_lessons import spec_of as lesson
from test_strip import DATA, FAULTS, effect, faulty, finished

from dsgcore.diagnostics import limits, strip
from dsgcore.experiments import SETTINGS, Spec
from dsgcore.settings import profile_of

SEEDS_OF_FAULTS, SEEDS_OF_LESSONS, SEEDS_OF_REMEDIES = range(5), range(40), range(3)


def leads(spec) -> str:
    """Return the name of the gauge that leads."""
    leading = strip(finished(spec)).leading
    return "nothing" if leading is None else leading.name


def counted(names) -> str:
    return ", ".join(f"{name} {times}" for name, times in Counter(names).most_common())


# What the four runs call what the strip's gauges are named after.
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


def intervention() -> None:
    """Print what the four runs say, and how far what a remedy brought was off."""
    print("| setting | fault | to lead | leads | brought / expected |\n|---|---|---|---|---|")
    ratios = []
    for name in INTERVENED:
        for fault, (_, cause) in FAULTS.items():
            found = [intervened(name, fault, seed) for seed in SEEDS_OF_FAULTS]
            brought = [ratio for _, ratio in found if np.isfinite(ratio)]
            ratios += brought
            said = f"{np.median(brought):.2f}" if brought else "nothing to expect: it grows"
            print(f"| {name} | {fault} | {CAUSES[cause]} | {counted(one for one, _ in found)} | {said} |", flush=True)
    print(f"\nOf {len(ratios)} remedies, brought / expected: median {np.median(ratios):.2f}.")


def main() -> None:
    """Print the tables."""
    asked = sys.argv[1:] or ["strip", "intervention"]
    if "strip" in asked:
        of_the_strip()
    if "intervention" in asked:
        intervention()


def of_the_strip() -> None:
    """Print which gauge leads."""
    print("| setting | fault | to lead | leads |\n|---|---|---|---|")
    for name in DATA:
        for fault, (_, cause) in FAULTS.items():
            found = counted(leads(faulty(name, fault, seed)) for seed in SEEDS_OF_FAULTS)
            print(f"| {name} | {fault} | {cause} | {found} |", flush=True)
    print("\n| lesson that works | leads |\n|---|---|")
    for name, setting in SETTINGS.items():
        works = profile_of(setting).lessons[0]
        print(f"| {name} | {counted(leads(lesson(name, works, seed)) for seed in SEEDS_OF_LESSONS)} |", flush=True)
    ratios = [effect(name, seed) for name in DATA for seed in SEEDS_OF_REMEDIES]
    print(
        f"\nBatches four times as large, read / expected: {np.round(ratios, 2).tolist()}, median {np.median(ratios):.2f}."
    )


if __name__ == "__main__":
    main()

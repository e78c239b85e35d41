"""python tests/benchmarks/strip.py: what the strip says of seeded faults and of lessons that work, over many seeds."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_lessons import spec_of as lesson
from test_strip import DATA, FAULTS, effect, faulty, finished

from dsgcore.diagnostics import strip
from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of

SEEDS_OF_FAULTS, SEEDS_OF_LESSONS, SEEDS_OF_REMEDIES = range(5), range(40), range(3)


def leads(spec) -> str:
    """Return the name of the gauge that leads."""
    leading = strip(finished(spec)).leading
    return "nothing" if leading is None else leading.name


def counted(names) -> str:
    return ", ".join(f"{name} {times}" for name, times in Counter(names).most_common())


def main() -> None:
    """Print the tables."""
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

"""Speed and memory of the core on this machine, compared with the machine's limits and other programs.

`python tests/benchmarks/speed.py --only kernel` makes one group of measurements. All of them take some minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from performance import GROUPS, LONG_GROUPS, run_benchmark


def main(arguments: list[str] | None = None) -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[*GROUPS, *LONG_GROUPS], help="one group of measurements")
    parser.add_argument(
        "--long", action="store_true", help="also train from a file of 20 million points, and on two worker processes"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to this JSON file")
    given = parser.parse_args(arguments)
    run_benchmark(only=given.only, is_long=given.long, file=given.json)


if __name__ == "__main__":
    main()

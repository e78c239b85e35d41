"""Speed and memory of the core, compared with the machine's limits and other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from performance import kernel, memory, runs, start
from performance.machine import Row, measure_machine, report
from performance.measuring import Sizes

Groups = dict[str, Callable[[Sizes], Iterator[Row]]]

GROUPS: Groups = {
    "machine": lambda sizes: measure_machine(sizes.repeats),
    "kernel": kernel.measure,
    "runs": runs.measure,
    "growth": runs.measure_growth,
    "memory": memory.measure,
    "fits": start.measure_fits,
    "start": start.measure,
}
LONG_GROUPS: Groups = {"out_of_core": memory.measure_out_of_core}


def run_benchmark(
    *, only: str | None = None, is_long: bool = False, file: Path | None = None, sizes: Sizes | None = None
) -> list[Row]:
    """Measure, and print each row as it comes.

    Parameters
    ----------
    only : str, optional
        One of `GROUPS` or `LONG_GROUPS`. By default all groups, the long ones only if `is_long`.
    file : path, optional
        File for the rows, as JSON.

    Returns
    -------
    list of Row
    """
    every = {**GROUPS, **LONG_GROUPS}
    names = [only] if only is not None else [*GROUPS, *(LONG_GROUPS if is_long else ())]
    return report(chain.from_iterable(every[name](sizes or Sizes()) for name in names), file)

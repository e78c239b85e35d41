"""Hostile files, read as the app reads them in separate processes, and the number of those that were handled well.

    python tests/benchmarks/hostile_files.py --files 600 --markdown tests/benchmarks/hostile_files.md

The files are those of `tests/hostile_seeds.py`: hand-written ones, and any number of damaged good files of each
format, with bits flipped, or parts cut out, repeated or replaced. Each file must be read, or refused in one sentence,
with at most 1 GB and 20 s of computing. The memory of this process, which has the server's role, must not grow. One
process reads several files in turn. If it ends early, its current file is the cause, and the next process continues
after that file. With --walls-only the readers have no limits of their own: only the process has.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from hostile_files import REFUSED
from hostile_seeds import Outcome, read_seeds
from reporting import command_line, show, table

from dsgcore.data.reading import Limits
from dsgcore.data.reading.recipe import IN_PIECES, UPLOADED
from dsgcore.experiments.sandboxed_reading import MEMORY_LIMIT, SECONDS
from dsgcore.jobs import JobQueue, JobState
from dsgcore.jobs.memory import resident

FILES_A_PROCESS = 25
LONGEST_SENTENCE = 500
PATIENCE = 3600.0


def outcomes_of(queue: JobQueue, seeds: list[int], limits: Limits, files_a_process: int) -> Iterator[Outcome]:
    """Yield what came of each file."""
    left = seeds
    while left:
        now, limit = left[:files_a_process], SECONDS * files_a_process
        job = queue.submit(read_seeds, now, limits, memory_limit=MEMORY_LIMIT, time_limit=limit)
        job.wait(PATIENCE)
        if job.state is JobState.DONE:
            yield from job.result
            left = left[files_a_process:]
            continue
        culprit = now[0] if job.progress is None else job.progress
        yield from outcomes_of(queue, now[: now.index(culprit)], limits, files_a_process)
        yield Outcome(culprit, "?", 0, job.error, "", float("nan"), float("nan"))
        left = left[now.index(culprit) + 1 :]


def faults(outcome: Outcome) -> list[str]:
    """Return what did not go as it should."""
    found = [outcome.strange] * bool(outcome.strange)
    found += ["over 20 s"] * (outcome.seconds > SECONDS)
    found += ["over 1 GB"] * (1e6 * outcome.megabytes > MEMORY_LIMIT)
    is_one = "\n" not in outcome.sentence and len(outcome.sentence) <= LONGEST_SENTENCE
    return found + ["not one sentence"] * (not is_one)


def main() -> int:
    """Read the files and print what came of them; return how many went wrong."""
    asked = command_line(__doc__, files=600, first=0, walls_only=False, markdown=Path)
    limits, together = (IN_PIECES, 1) if asked.walls_only else (UPLOADED, FILES_A_PROCESS)
    queue, before = JobQueue(1), resident()
    made = list(outcomes_of(queue, list(range(asked.first, asked.first + asked.files)), limits, together))
    queue.close()
    wrong = [(outcome, found) for outcome in made if (found := faults(outcome))]
    for outcome, found in wrong:
        print(
            f"file {outcome.seed} ({outcome.name}, {outcome.size} bytes): {'; '.join(found)} {outcome.sentence[:200]}"
        )
    kinds = Counter("refused" if outcome.sentence else "read" for outcome in made if not faults(outcome))
    seconds, memory = (np.array([getattr(outcome, name) for outcome in made]) for name in ("seconds", "megabytes"))
    known, grown = sum(outcome.seed < len(REFUSED) for outcome in made), (resident() - before) / 1e6
    cpu = f"{np.nanmedian(seconds):.2f} / {np.nanmax(seconds):.1f}"
    row = (len(made), known, kinds["refused"], kinds["read"], len(wrong), cpu)
    head = ("files", "thought of", "refused", "read", "wrong", "CPU s, median / largest")
    more = (f"{np.nanmedian(memory):.0f} / {np.nanmax(memory):.0f}", f"{grown:.1f}")
    show(table((*head, "MB, median / largest", "growth here, MB"), [(*row, *more)]), asked.markdown)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(), 1))

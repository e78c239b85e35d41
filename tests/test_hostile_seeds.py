"""Files that a number makes of good ones, damaged in all ways: each is read, or refused in one sentence, and ends no process."""

import pytest
from hostile_files import REFUSED
from hostile_seeds import made, read_seeds

from dsgcore.jobs import JobQueue, JobState

FIRST = len(REFUSED)
SMALL = 200_000


def small_files(n):
    """Numbers of files that are small: those that are read fast."""
    found, seed = [], FIRST
    while len(found) < n:
        found += [seed] * (len(made(seed)[1]) < SMALL)
        seed += 1
    return found


@pytest.fixture
def queue():
    queue = JobQueue(1)
    yield queue
    queue.close()


def test_a_number_makes_the_same_file_again():
    assert made(FIRST + 3) == made(FIRST + 3)
    assert len({made(seed)[1] for seed in range(FIRST, FIRST + 20)}) == 20


@pytest.mark.ci
def test_damaged_files_are_read_or_refused_in_one_sentence(queue):
    seeds = small_files(60)
    job = queue.submit(read_seeds, seeds, memory_limit=10**9, time_limit=60.0)
    assert job.wait(300)
    assert job.state is JobState.DONE, (job.progress, job.error)
    assert [outcome.seed for outcome in job.result] == seeds
    assert [outcome for outcome in job.result if outcome.strange] == []
    said = [outcome.sentence for outcome in job.result if outcome.sentence]
    assert len(said) > 20
    assert [sentence for sentence in said if "\n" in sentence or len(sentence) > 500] == []

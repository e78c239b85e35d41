"""Mini-batches that are drawn together equal NumPy's, one by one."""

from functools import partial

import numpy as np
from cases import each

from dsgcore.core.sampling import MAX_SEED, MOST_SHUFFLED, batch_rows, shuffled_rows
from dsgcore.kernels import _compiling
from dsgcore.kernels.draws import MOST_TOGETHER, TOGETHER, drawn_around, drawn_rows

ITERATIONS = (1, 2, TOGETHER - 1, TOGETHER, TOGETHER + 1, 10 * TOGETHER)


@each("n", [1, 2, 3, 64, 3000, 10**6])
def test_draws_equal_numpys(n):
    rows = np.arange(n, dtype=np.int32) + 5
    for seed in (0, 1, MAX_SEED):
        for size in (1, 5, 64, MOST_TOGETHER, MOST_TOGETHER + 1):
            for t in ITERATIONS:
                drawn = drawn_rows(seed, "class 3", t, rows, size)
                np.testing.assert_array_equal(drawn, batch_rows(seed, "class 3", t, rows, size))
                assert drawn.dtype == rows.dtype


def test_rejected_draws_are_drawn_again_as_in_numpy():
    class Rows:
        """A third of all draws below this number is rejected."""

        def __len__(self):
            return 3 * 2**30 - 1

        def __getitem__(self, places):
            return places

    for t in ITERATIONS:
        drawn = drawn_rows(7, "unlabeled", t, Rows(), 64)
        np.testing.assert_array_equal(drawn, batch_rows(7, "unlabeled", t, Rows(), 64))


@each("is_shuffled", [False, True])
@each("size", [5, MOST_TOGETHER, MOST_TOGETHER + 1])
@each("n", [9, MOST_SHUFFLED + 1])
def test_batches_around_an_iteration_are_those_of_each(n, size, is_shuffled):
    rows = {"positive": np.arange(7, dtype=np.int32), "unlabeled": np.arange(n, dtype=np.int32) + 3}
    for t in (1, 2, TOGETHER, TOGETHER + 1):
        first, batches = drawn_around(3, t, rows, size, is_shuffled=is_shuffled)
        assert first <= t < first + len(batches)
        for number, batch in enumerate(batches, start=first):
            own = [drawn_rows(3, source, number, held, size, is_shuffled=is_shuffled) for source, held in rows.items()]
            np.testing.assert_array_equal(batch, np.concatenate(own))


def test_a_batch_is_the_callers_own():
    rows = np.arange(9)
    before = drawn_rows(1, "positive", 1, rows, 4).copy()
    drawn_rows(1, "positive", 1, rows, 4)[:] = -1
    np.testing.assert_array_equal(drawn_rows(1, "positive", 1, rows, 4), before)


def test_without_a_compiler_numpy_draws(monkeypatch):
    monkeypatch.setattr("dsgcore.kernels.draws.IS_COMPILED", False)
    monkeypatch.setattr("dsgcore.kernels._loops_draws.bounded", None)
    monkeypatch.setattr("dsgcore.kernels._loops_draws.in_passes", None)
    rows = np.arange(9)
    np.testing.assert_array_equal(drawn_rows(1, "a", 3, rows, 4), batch_rows(1, "a", 3, rows, 4))
    np.testing.assert_array_equal(drawn_rows(1, "a", 3, rows, 4, is_shuffled=True), shuffled_rows(1, "a", 3, rows, 4))
    assert isinstance(_compiling.IS_COMPILED, bool)


@each("n", [1, 2, 3, 9, 64, 100, 130, 3000, MOST_SHUFFLED])
def test_passes_equal_numpys(n):
    rows = np.arange(n, dtype=np.int32) + 5
    for seed in (0, MAX_SEED) if n < MOST_SHUFFLED else (1,):
        for size in (1, 5, 128, MOST_TOGETHER, MOST_TOGETHER + 1, 20_000)[: 5 + (n > 1000)]:
            for t in (1, 2, 9) if size == 20_000 else (*ITERATIONS[:5], 2 * TOGETHER + 1):
                drawn = drawn_rows(seed, "class 3", t, rows, size, is_shuffled=True)
                np.testing.assert_array_equal(drawn, shuffled_rows(seed, "class 3", t, rows, size))
                assert drawn.dtype == rows.dtype


def test_more_rows_are_drawn_independently():
    rows = np.arange(MOST_SHUFFLED + 1)
    for draw in (shuffled_rows, partial(drawn_rows, is_shuffled=True)):
        np.testing.assert_array_equal(draw(3, "unlabeled", 2, rows, 50), batch_rows(3, "unlabeled", 2, rows, 50))

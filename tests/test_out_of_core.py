"""Training from a memory map: no more of the file is read than the batches' rows, and no more is in memory."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from cases import each

from dsgcore.solver.loop import solve, training_points
from dsgcore.solver.model import Expansion

N, D = 20_000, 30


class Watched(np.memmap):
    """A memory map that notes the rows that are read."""

    def __getitem__(self, index):
        asked = getattr(self, "asked", None)
        if asked is not None:
            asked.update(np.atleast_1d(np.arange(len(self))[index]).tolist())
        return np.asarray(super().__getitem__(index))


@pytest.fixture
def stored(tmp_path):
    X = np.random.default_rng(2).normal(size=(N, D)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy", X


@pytest.fixture
def task_of(make_task):
    def make(X, **plan):
        y = np.full(N, -1)
        y[:50], y[50:100] = 1, 0
        task = make_task(X=np.zeros((N, 1)), y=y, dtype="float32", **plan)
        return replace(task, X=X)

    return make


def visited(task):
    return {int(row) for t in range(1, task.plan.n_iter + 1) for rows in task.batch(t).values() for row in rows}


def trained(task, model=None):
    model = model or task.new_model()
    for _ in solve(task, model):
        pass
    return model


def test_only_the_visited_rows_are_read_and_the_bits_are_those_of_memory(stored, task_of, monkeypatch):
    monkeypatch.setattr("dsgcore.solver.loop.ROWS_READ_AT_ONCE", 7)
    file, X = stored
    mapped = np.load(file, mmap_mode="r").view(Watched)
    mapped.asked = set()
    task = task_of(mapped)
    blocks = trained(task).blocks
    assert mapped.asked == visited(task)
    assert all((a == b).all() for a, b in zip(blocks, trained(replace(task, X=X)).blocks, strict=True))


@each("as_view", [False, True])
def test_the_file_is_never_copied(stored, task_of, as_view):
    file, X = stored
    mapped = np.load(file, mmap_mode="r")
    task = task_of(np.asarray(mapped)[:] if as_view else mapped)
    trained(replace(task, plan=replace(task.plan, n_iter=1)))  # what is loaded at first is not counted
    tracemalloc.start()
    try:
        trained(task)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Row numbers of every source are drawn from, but not copied; the points are some 2.4 MB.
    assert peak < X.nbytes / 4


@pytest.mark.parametrize("n_iter", [6, 10**6])
def test_all_points_of_a_memory_map_are_never_carried(stored, task_of, monkeypatch, n_iter):
    monkeypatch.setattr("dsgcore.solver.loop.VisitedPoints", lambda task, model, first, **how: "visited")
    file, X = stored
    task = task_of(np.load(file, mmap_mode="r"), n_iter=n_iter)
    assert training_points(task, task.new_model()) == "visited"
    monkeypatch.setattr("dsgcore.solver.loop.AllPoints", lambda task, model: "all")
    if n_iter > 6:
        assert training_points(replace(task, X=X), task.new_model()) == "all"


def test_prediction_takes_a_memory_map_a_piece_at_a_time(stored, make_task, monkeypatch):
    monkeypatch.setattr("dsgcore.solver.model.POINTS_AT_A_TIME", 999)
    file, X = stored
    model = Expansion(make_task().kernel, 1, D)
    for _ in range(3):
        model.blocks.append(np.random.default_rng(0).random((2, 20), dtype=np.float32))
        model.decays.append(0.9)
    mapped = np.load(file, mmap_mode="r")
    model.evaluate(mapped[:5])
    tracemalloc.start()
    try:
        values = model.evaluate(mapped)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 4
    monkeypatch.undo()
    # Tiles begin elsewhere, so a product may be summed in another order: of each cosine's argument, 2 pi z with |z| some
    # units, the last place is uncertain, and the amplitudes say how much of that is seen.
    amplitudes = sum(float(block[0].sum()) for block in model.blocks)
    eps = float(np.finfo(np.float32).eps)
    np.testing.assert_allclose(values, model.evaluate(X), rtol=0, atol=2 * np.pi * eps * amplitudes)

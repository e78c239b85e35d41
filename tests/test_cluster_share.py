"""A worker's rows: the values at the next batch come first, bit for bit as on one machine."""

import os
import threading

import numpy as np
import pytest
from cases import each
from performance.runs import paper_task

from dsgcore.cluster.share import Share
from dsgcore.kernels import KERNELS, features
from dsgcore.solver.carried import VisitedPoints, visits
from dsgcore.solver.loop import solve
from dsgcore.solver.model import TILE_ROWS

pytestmark = pytest.mark.compiled
# Hundreds of rows are carried beyond those of a batch, and their number is seldom one of whole tiles.
N, B, T, M = 6000, 100, 12, 40


class Shared:
    """A run's points with one share that has them all, without a cluster."""

    def __init__(self, task):
        self.local = VisitedPoints(task, task.new_model())
        visited, rank, positions, needed = visits(task, 0)
        rows = np.empty_like(visited)
        rows[rank] = visited
        ends = np.arange(T + 1) * positions.shape[1]
        self.batches = task.joined_batches(0, T)
        self.positions = positions
        self.X = features.as_points(task.X[rows], task.dtype)
        self.share = Share(self.X, task.new_model(), needed, positions.ravel(), ends, 1, os.getpid())
        self.values = self.share.catch_up([], [])

    def rows(self, t):
        return self.batches[t - 1]

    def at(self, t):
        return self.values

    def points(self, t):
        return self.X[self.positions[t - 1]]

    def advance(self, W, block, decay):
        self.values = self.share.step(block, decay)


def task_of(kernel=None, d=3, n=N, dtype="float32"):
    task = paper_task(n, d, M, T, B)
    object.__setattr__(task, "X", task.X.astype(dtype))
    object.__setattr__(task, "dtype", np.dtype(dtype))
    if kernel is not None:
        object.__setattr__(task, "kernel", KERNELS[kernel]())
    return task


def blocks_of(task, training=None):
    model = task.new_model()
    for _ in solve(task, model, training=training):
        pass
    assert len(model) == T
    return model.blocks


def same(one, other):
    return len(one) == len(other) and all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


@each("dtype", ["float32", "float64"])
@each("kernel", sorted(KERNELS))
def test_values_that_come_first_are_those_of_one_machine(kernel, dtype):
    task = task_of(kernel, dtype=dtype)
    shared = Shared(task)
    assert same(blocks_of(task, shared), blocks_of(task))
    assert shared.share.same_in_any_tile.keys() == {M}


@pytest.mark.parametrize("d", [1, 5, 18, 170])
def test_they_are_for_every_number_of_coordinates(d):
    task = task_of(d=d)
    assert same(blocks_of(task, Shared(task)), blocks_of(task))


def test_they_come_before_the_block_is_carried(monkeypatch):
    task, may_carry, carry = task_of(), threading.Event(), Share._carry
    shared = Shared(task)
    shared.share.same_in_any_tile[M] = True
    monkeypatch.setattr(Share, "_carry", lambda self, *given: may_carry.wait() and carry(self, *given))
    shared.advance(None, np.ones((2, M), dtype=np.float32), 0.9)
    assert not shared.share.carrying.done()
    may_carry.set()
    shared.share.carrying.result()
    assert np.array_equal(shared.values, shared.share.carried.values[shared.positions[1]])


def test_where_a_row_has_other_bits_in_another_tile_all_is_carried_first(monkeypatch):
    own = features.evaluate

    def by_place(X, W, block, decay, out):
        own(X, W, block, decay, out)
        out += np.arange(len(out)) % TILE_ROWS * out.dtype.type(1e-6)

    monkeypatch.setattr(features, "evaluate", by_place)
    task = task_of()
    shared = Shared(task)
    assert same(blocks_of(task, shared), blocks_of(task))
    assert shared.share.same_in_any_tile == {M: False}


def test_few_rows_are_carried_at_once():
    task = task_of(n=300)
    shared = Shared(task)
    assert same(blocks_of(task, shared), blocks_of(task))
    assert not shared.share.same_in_any_tile


def test_what_goes_wrong_while_a_block_is_carried_is_said_with_the_next_one(monkeypatch):
    shared = Shared(task_of())
    shared.share.same_in_any_tile[M] = True

    def fail(self, *given):
        raise MemoryError("no room")

    monkeypatch.setattr(Share, "_carry", fail)
    shared.advance(None, np.ones((2, M), dtype=np.float32), 0.9)
    with pytest.raises(MemoryError, match="no room"):
        shared.advance(None, np.ones((2, M), dtype=np.float32), 0.9)

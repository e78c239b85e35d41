import os
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from cases import each
from threadpoolctl import threadpool_info, threadpool_limits

from dsgcore.core import threads
from dsgcore.core.threads import (
    PIECES_PER_WORKER,
    for_each_piece,
    n_workers,
    pieces,
    set_workers,
    single_threaded_blas,
)
from dsgcore.kernels import Gaussian, features, loops
from dsgcore.kernels.features import (
    ACCUMULATED_ROWS,
    accumulate,
    as_points,
    coefficients,
    evaluate,
    evaluate_with_squares,
)

COMPILED = not numba.config.DISABLE_JIT
# The sizes at which a tile, a part of the rows to be summed, or a panel of features is full, and their neighbours.
ROWS = [0, 1, *[600] * COMPILED, *(size + i for size in (loops.TILE_ROWS, ACCUMULATED_ROWS) for i in (-1, 0, 1))]
FEATURES = [1, 2, 511, 512, 513] if COMPILED else [1, 512, 513]


def sample(n, m, d=3, dtype="float64", seed=0):
    """Points, coefficients, frequencies in turns per unit."""
    rng = np.random.default_rng([seed, n, m, d])
    W = Gaussian(0.8).frequencies(rng, d, m).astype(dtype)
    return rng.normal(size=(n, d)).astype(dtype), rng.normal(size=n).astype(dtype), W


def feature_map(X, W):
    """phi of every row: sqrt(1/m) [cos .., sin ..], of shape (n, 2m)."""
    z = 2 * np.pi * X @ W
    return np.hstack([np.cos(z), np.sin(z)]) / np.sqrt(W.shape[1])


def block_of(m, dtype="float64", seed=1):
    rng = np.random.default_rng([seed, m])
    return np.stack([rng.random(m), rng.uniform(-0.5, 0.5, m)]).astype(dtype)


@pytest.fixture
def workers(monkeypatch):
    """Make even small work worth sharing, and give the number of workers back afterwards."""
    before = n_workers()
    monkeypatch.setattr("dsgcore.core.threads.MIN_EVALUATIONS_PER_WORKER", 100)
    yield set_workers
    set_workers(before)


@each("n", ROWS)
@each("m", FEATURES)
def test_accumulate_makes_the_papers_coefficients(n, m):
    X, c, W = sample(n, m)
    block = accumulate(X, c, W, 0.3)
    assert block.shape == (2, m)
    assert block.dtype == X.dtype
    expected = -0.3 * c @ feature_map(X, W)
    np.testing.assert_allclose(coefficients(block), expected, rtol=1e-10, atol=1e-12)


@each("n", ROWS)
@each("m", FEATURES)
def test_evaluate_adds_alpha_phi_to_what_decays(n, m):
    X, before, W = sample(n, m)
    block, out = block_of(m), before.copy()
    evaluate(X, W, block, 0.9, out)
    expected = 0.9 * before + feature_map(X, W) @ coefficients(block)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-11)


@each("m", [1, 513])
@each("n", [0, 1, 65])
def test_squares_are_those_of_the_single_features_contributions(n, m):
    X, _, W = sample(n, m)
    block = block_of(m)
    sums, squares = evaluate_with_squares(X, W, block)
    contributions = block[0] * np.cos(2 * np.pi * (X @ W - block[1]))
    np.testing.assert_allclose(sums, contributions.sum(axis=1), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(squares, (contributions**2).sum(axis=1), rtol=1e-10, atol=1e-12)


def test_many_turns_are_reduced_exactly():
    # In whole turns, far from 0: the phase must not lose more than the product has lost already.
    X, W = np.array([[4096.0], [-1.0e6], [0.25]]), np.array([[1.0, 3.0]])
    block = np.array([[1.0, 2.0], [0.0, 0.0]])
    out = np.zeros(3)
    evaluate(X, W, block, 1.0, out)
    np.testing.assert_allclose(out, [3.0, 3.0, 0.0], rtol=0, atol=1e-12)


@each("dtype", ["float32", "float64"])
@each("n", [*ROWS[1:], *[1500] * COMPILED])
def test_same_bits_whatever_the_number_of_workers(n, dtype, workers):
    X, c, W = sample(n, 30, dtype=dtype)
    results = []
    for count in (1, 2, 3, 8):
        workers(count)
        block, out = accumulate(X, c, W, 0.3), np.ones(n, dtype=dtype)
        evaluate(X, W, block, 0.9, out)
        results.append((block.tobytes(), out.tobytes()))
    assert set(results) == {results[0]}


def test_pieces_cover_all_rows_once_at_multiples_of_the_tile(workers):
    for count in (1, 2, 3, 8):
        workers(count)
        for n in (0, 1, 63, 64, 65, 1000):
            parts = pieces(n, 64, n * 1000)
            assert [i for part in parts for i in range(part.start, part.stop)] == list(range(n))
            assert all(part.start % 64 == 0 for part in parts)
            assert len(parts) <= (1 if count == 1 else PIECES_PER_WORKER * count)
    workers(2)
    assert len(pieces(1000, 64, 1000 * 1000)) == 2 * PIECES_PER_WORKER
    assert len(pieces(1000, 64, 99)) == 1, "too little work to share"


def test_a_piece_is_not_split_again_by_what_is_called_in_it(workers):
    workers(2)
    inner = []
    for_each_piece(lambda part: inner.append(pieces(640, 64, 10**9)), pieces(640, 64, 640 * 1000))
    assert len(inner) > 1
    assert inner == [[slice(0, 640)]] * len(inner)
    assert len(pieces(640, 64, 10**9)) == 10


@pytest.mark.compiled
@pytest.mark.parametrize("count", [1, 4])
def test_eight_threads_at_once_get_the_bits_that_each_gets_alone(count, workers):
    workers(count)

    def job(i):
        # Dimensions and precisions differ, so threads that shared a buffer would spoil each other's products.
        dtype = ("float32", "float64")[i % 2]
        X, c, W = sample(700 + i, 60 + i, d=2 + i, dtype=dtype, seed=i)
        block, out = accumulate(X, c, W, 0.3), np.zeros(len(X), dtype=dtype)
        for _ in range(5):
            evaluate(X, W, block, 0.9, out)
        return block.tobytes(), out.tobytes(), evaluate_with_squares(X, W, block)[1].tobytes()

    alone = [job(i) for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(job, range(8))) == alone


def blas_threads():
    """Return the threads of each BLAS but OpenCV's own, which another test may have loaded."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas" and "opencv" not in pool["filepath"]]
    return [pool["num_threads"] for pool in pools]


@pytest.mark.compiled
def test_blas_has_one_thread_inside_and_what_it_had_before_afterwards(workers):
    workers(2)
    X, c, W = sample(700, 60)

    def job(_):
        block = accumulate(X, c, W, 0.3)
        evaluate(X, W, block, 1.0, np.zeros(700))

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert set(before) == {2}, "without a BLAS of two threads this test would prove nothing"
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(job, range(64)))
        assert blas_threads() == before
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
            with single_threaded_blas():
                pass
            assert set(blas_threads()) == {1}, "the inner one must not end the outer one's limit"
        assert blas_threads() == before


def test_blas_has_one_thread_inside_whichever_thread_has_set_a_limit_before():
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as other:
        before = blas_threads()
        other.submit(
            threadpool_limits, 2, user_api="blas"
        ).result()  # the thread goes on, and could keep all others out
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
        other.submit(single_threaded_blas().__enter__).result()
        assert set(blas_threads()) == {1}
        single_threaded_blas().__exit__()
        assert blas_threads() == before


def test_a_failure_in_a_worker_is_raised_here_and_blas_gets_its_threads_back(workers):
    workers(4)

    def fail(part):
        if part.start:
            raise ArithmeticError(f"rows from {part.start}")

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ArithmeticError, match="rows from 64"):
            for_each_piece(fail, pieces(256, 64, 10**9))
        assert blas_threads() == before


def test_the_number_of_workers_must_be_positive():
    with pytest.raises(ValueError, match="must be at least 1, got 0"):
        set_workers(0)


def test_the_number_of_workers_is_that_of_the_environment_or_of_the_cores(monkeypatch):
    monkeypatch.setenv("DSGCORE_WORKERS", "3")
    assert threads._Workers().count == 3
    monkeypatch.delenv("DSGCORE_WORKERS")
    assert threads._Workers().count >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)  # as on macOS and Windows
    assert threads._Workers().count == os.cpu_count()


def test_points_are_copied_only_where_they_must_be():
    X = np.zeros((4, 3), dtype=np.float32)
    assert as_points(X, np.dtype(np.float32)) is X
    read_only = X.copy()
    read_only.setflags(write=False)
    unaligned = np.frombuffer(bytearray(49), dtype=np.float32, offset=1).reshape(4, 3)
    for other in (X.T, X.astype(float), X[:, :2], X.tolist(), read_only, unaligned):
        points = as_points(other, np.dtype(np.float32))
        assert points.flags.carray
        assert points.dtype == np.float32
        np.testing.assert_array_equal(points, other)


def call_all_loops(X, scalar):
    X, c, W = as_points(X, X.dtype), *sample(len(X), 8, dtype=X.dtype)[1:]
    block = accumulate(X, c, W, scalar)
    evaluate(X, W, block, scalar, np.zeros(len(X), dtype=X.dtype))
    evaluate_with_squares(X, W, block)
    Gaussian(scalar).sums(X, c, X, scalar, np.zeros(len(X), dtype=X.dtype))
    return [set(loop.kept.signatures) for loop in LOOPS]


LOOPS = (loops.accumulate, loops.evaluate, loops.gaussian_sums)


@pytest.mark.compiled
def test_the_warm_up_compiles_what_is_used_later():
    compiled = call_all_loops(sample(5, 8, dtype="float32")[0], 1.0)
    assert features.warm_up.__wrapped__()
    assert [set(loop.kept.signatures) for loop in LOOPS] == compiled

"""Kernels and their random features: matrices, expectations, orthogonal frequencies, and the same draws everywhere."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import naive_problems
import numba
import numpy as np
import pytest
from cases import each, some
from scipy import stats
from sklearn.gaussian_process import kernels as sklearn_kernels
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from threadpoolctl import threadpool_info, threadpool_limits

from dsgcore import load_model
from dsgcore.core import threads
from dsgcore.core.sampling import FREQUENCIES, generator
from dsgcore.core.threads import (
    PIECES_PER_WORKER,
    for_each_piece,
    n_workers,
    pieces,
    set_workers,
    single_threaded_blas,
)
from dsgcore.kernels import KERNELS, Gaussian, OrthogonalGaussian, block_frequencies, features, features_product, loops
from dsgcore.kernels.features import (
    ACCUMULATED_ROWS,
    accumulate,
    as_points,
    coefficients,
    evaluate,
    evaluate_with_squares,
)
from dsgcore.kernels.kernels import MATERN, MOST_ORTHOGONAL, DotProduct, Laplacian, Matern
from dsgcore.multiclass.features import FixedFeatures, _frequencies
from dsgcore.solver.exact import alpha
from dsgcore.solver.loop import Carried, solve

# --- kernels


# Settings besides the defaults, by the kernel's name.
SETTINGS = {
    "gaussian": [{"sigma": 0.3}, {"sigma": 4.0}],
    "laplacian": [{"sigma": 0.3}],
    "matern": [{"nu": "1/2"}, {"nu": "5/2", "length": 0.5}],
    "dot_product": [{"power": "1"}, {"sigma": 0.3}],
}
INSTANCES = [kernel(**given) for name, kernel in KERNELS.items() for given in [{}, *SETTINGS.get(name, [])]]
every_kernel = pytest.mark.parametrize("kernel", INSTANCES, ids=repr)
every_kernel_of_independent_features = pytest.mark.parametrize(
    "kernel", [kernel for kernel in INSTANCES if not isinstance(kernel, OrthogonalGaussian)], ids=repr
)
every_dtype = each("dtype", ["float32", "float64"])
TOLERANCE = {"float32": 2e-6, "float64": 1e-14}  # of the sum of absolute values: tens of roundings in its exponents


def test_a_width_that_is_like_a_gaussians_gives_values_like_its():
    sigma, d, rng = 3.0, 6, np.random.default_rng(0)
    assert Matern.like_gaussian(sigma, d) == pytest.approx(Gaussian(sigma).width)
    along = rng.normal(size=(4000, d))
    at_one_over_e = sigma**-0.5 * along / np.linalg.norm(along, axis=1, keepdims=True)
    values = Laplacian(Laplacian.like_gaussian(sigma, d)).matrix(at_one_over_e, np.zeros((1, d)))
    assert values.mean() == pytest.approx(np.exp(-1), rel=0.1)
    X, dot = rng.random((2000, d)), DotProduct(DotProduct.like_gaussian(sigma, d), power="1")
    assert 0.98 < np.mean(np.diag(dot.matrix(X, X)) <= 1.0) < 1.0


@pytest.fixture
def rng():
    return np.random.default_rng(8)


@pytest.fixture
def pairs(rng):
    """Seven pairs of points in three dimensions, from equal to far apart."""
    X = rng.normal(size=(7, 3))
    directions = rng.normal(size=(7, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return X, X + directions * np.array([0.0, 0.1, 0.3, 0.6, 1.0, 2.0, 5.0])[:, None]


def exact(kernel, X, Z):
    return np.diag(kernel.matrix(X, Z))


def feature_products(W, X, Z):
    """m phi_j(x) phi_j(z) per pair and feature: cos w_j'(x - z), or products of projections for a W of (p, d, m)."""
    if W.ndim == 3:
        return np.prod(X @ W, axis=0) * np.prod(Z @ W, axis=0)
    return np.cos(2 * np.pi * (X - Z) @ W)


def draws(kernel, X, Z, m, n_draws):
    """The products of every feature, from each of many draws of m random features."""
    for t in range(1, n_draws + 1):
        yield feature_products(block_frequencies(kernel, 1, t, X.shape[1], m, np.dtype(np.float64)), X, Z)


def estimates(kernel, X, Z, m, n_draws):
    """The mean over the features, which estimates the kernel at every pair, from each of many draws."""
    return np.array([products.mean(axis=1) for products in draws(kernel, X, Z, m, n_draws)])


@pytest.mark.compiled  # thousands of draws
@every_kernel
def test_random_features_are_unbiased(kernel, pairs):
    drawn = estimates(kernel, *pairs, m=50, n_draws=1500)
    standard_error = drawn.std(axis=0, ddof=1) / 1500**0.5
    # 1e-6: equal points have no error but that of rounding.
    assert (np.abs(drawn.mean(axis=0) - exact(kernel, *pairs)) <= 4 * standard_error + 1e-6).all()


@pytest.mark.ci
@pytest.mark.compiled  # thousands of draws
@every_kernel_of_independent_features
@each("m", some([50, 400], 1))
def test_the_variance_of_random_features_falls_as_one_over_m(kernel, m, pairs):
    X, Z = pairs[0][1:], pairs[1][1:]
    single = next(draws(kernel, X, Z, 300_000, 1)).var(axis=1)
    several = estimates(kernel, X, Z, m, n_draws=1500).var(axis=0, ddof=1)
    # A variance from 1500 draws has a standard error of sqrt(2 / 1500) = 4 %, more where single features are skewed.
    # Features drawn in equal pairs would give 2; with an error falling as 1 / sqrt(m), sqrt(m).
    assert m * several / single == pytest.approx(np.ones(len(X)), rel=0.25)
    assert np.median(m * several / single) == pytest.approx(1.0, rel=0.1)


@pytest.mark.compiled  # thousands of draws
@every_kernel
def test_features_and_kernel_stay_within_their_bounds(kernel, pairs):
    assert (np.abs(estimates(kernel, *pairs, m=1, n_draws=200)) <= kernel.feature_bound).all()
    X = pairs[0]
    assert (np.diag(kernel.matrix(X, X)) <= kernel.bound).all()
    assert np.isinf(kernel.bound) or np.diag(kernel.matrix(X, X)).max() == kernel.bound


@every_kernel
def test_the_matrix_is_symmetric_and_positive_semidefinite(kernel, rng):
    X = rng.normal(size=(30, 2))
    K = kernel.matrix(X, X)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-14 * K.max())
    assert np.linalg.eigvalsh(K).min() >= -1e-13 * np.trace(K)


@every_kernel
@every_dtype
@each("decay", [0.0, 1.0, 0.75, -0.5])
@each("n, p", [(1, 1), (17, 5), (97, 100), *([] if numba.config.DISABLE_JIT else [(600, 130)])])
def test_sums_equal_the_product_with_the_matrix(kernel, dtype, decay, n, p, rng, monkeypatch):
    monkeypatch.setattr("dsgcore.kernels.kernels.MAX_VALUES", 300)  # a few points at a time
    X, Z = rng.normal(size=(n, 3)).astype(dtype), rng.normal(size=(p, 3)).astype(dtype)
    c, before = rng.normal(size=n).astype(dtype), rng.normal(size=p).astype(dtype)
    out = before.copy()
    kernel.sums(X, c, Z, decay, out)
    K = kernel.matrix(X.astype(float), Z.astype(float))
    expected = decay * before.astype(float) + c.astype(float) @ K
    assert out.dtype == dtype
    np.testing.assert_allclose(out, expected, rtol=0, atol=TOLERANCE[dtype] * (1 + (np.abs(c) @ np.abs(K)).max()))


@every_kernel
def test_sums_over_no_points_only_decay(kernel):
    out = np.array([1.0, -2.0])
    kernel.sums(np.zeros((0, 3)), np.zeros(0), np.ones((2, 3)), 0.5, out)
    assert out.tolist() == [0.5, -1.0]


@every_kernel
def test_frequencies_do_not_depend_on_the_precision(kernel):
    single = block_frequencies(kernel, 5, 3, 4, 100, np.dtype(np.float32))
    double = block_frequencies(kernel, 5, 3, 4, 100, np.dtype(np.float64))
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    assert single.shape[-2:] == (4, 100)
    assert (single == double).all()


@every_kernel
def test_frequencies_are_those_of_their_iteration(kernel):
    def draw(seed, t):
        return block_frequencies(kernel, seed, t, 2, 5, np.dtype(np.float32))

    assert (draw(1, 1) == kernel.frequencies(generator(1, FREQUENCIES, 1), 2, 5)).all()
    assert (draw(1, 1) == draw(1, 1)).all()
    assert (draw(1, 1) != draw(1, 2)).any()
    assert (draw(1, 1) != draw(2, 1)).any()


def test_every_kernel_is_registered_by_its_name_and_takes_its_parameters():
    for name, kernel in KERNELS.items():
        assert kernel.name == name
        given = {p.name: p.default for p in kernel.parameters}
        assert kernel(**given) == kernel()
        assert hash(kernel(**given)) == hash(kernel())  # it is part of the frequency cache's key


# --- Laplacian, Matérn and dot products


SHIFT_INVARIANT = [Laplacian(0.7), *(Matern(1.3, nu) for nu in MATERN)]
DOT_PRODUCT = [DotProduct(0.3, power) for power in ("1", "3", "5")]
ALL = [*SHIFT_INVARIANT, *DOT_PRODUCT]


def name(kernel):
    return repr(kernel)


@pytest.fixture
def points():
    rng = np.random.default_rng(3)
    return rng.normal(size=(6, 4)), rng.normal(size=(5, 4))


def feature_products_of_kernels_other(kernel, X, Z, m, seed=0):
    """m single features' products phi_j(x) phi_j(z) m: their mean estimates k(x, z); shape (n, p, m)."""
    W = kernel.frequencies(np.random.default_rng(seed), X.shape[1], m).astype(float)
    if W.ndim == 3:
        features_X, features_Z = (np.prod(A @ W, axis=0) for A in (X, Z))
        return features_X[:, None] * features_Z
    return np.cos(2 * np.pi * (X[:, None] - Z) @ W)


@each(
    "kernel, expected",
    [
        *((Gaussian(s), lambda X, Z, s=s: rbf_kernel(X, Z, gamma=s)) for s in (1e-6, 0.2, 1.0, 30.0)),
        (Laplacian(0.7), lambda X, Z: laplacian_kernel(X, Z, gamma=0.7)),
        *((Matern(1.3, nu), sklearn_kernels.Matern(1.3, nu=MATERN[nu][0])) for nu in MATERN),
        (DotProduct(0.3, "5"), lambda X, Z: polynomial_kernel(X, Z, degree=5, gamma=0.3, coef0=0)),
    ],
)
def test_equals_scikit_learns_kernel(kernel, expected, points):
    np.testing.assert_allclose(kernel.matrix(*points), expected(*points), rtol=1e-12)


@pytest.mark.parametrize("kernel", SHIFT_INVARIANT, ids=name)
def test_the_variance_of_a_cosine_is_the_exact_one(kernel, points):
    """Var cos(w'(x - z)) = (1 + k(2x, 2z)) / 2 - k(x, z)^2."""
    X, Z = points
    expected = (1 + kernel.matrix(2 * X, 2 * Z)) / 2 - kernel.matrix(X, Z) ** 2
    products = feature_products_of_kernels_other(kernel, X, Z, 200_000)
    # Squares of cosines spread by at most one half: standard error 1e-3.
    np.testing.assert_allclose(products.var(axis=-1), expected, atol=0.006)


@pytest.mark.parametrize("kernel", DOT_PRODUCT, ids=name)
def test_the_variance_of_a_product_is_the_exact_one(kernel, points):
    X, Z = points[0][:2], points[1][:2]
    p = int(kernel.power)
    norms = (X**2).sum(axis=1)[:, None] * (Z**2).sum(axis=1)
    second = norms + 2 * (X @ Z.T) ** 2 - 2 * (X**2) @ (Z**2).T
    expected = kernel.sigma ** (2 * p) * (second**p - (X @ Z.T) ** (2 * p))
    products = feature_products_of_kernels_other(kernel, X, Z, 1_000_000)
    # For p = 5 the products have heavy tails: their variance is known to some per cent only.
    np.testing.assert_allclose(products.var(axis=-1), expected, rtol={1: 0.01, 3: 0.05, 5: 0.2}[p])


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(features_product, "TILE_ROWS", 4)
    monkeypatch.setattr(features_product, "TILE_FEATURES", 3)


@pytest.mark.parametrize("kernel", DOT_PRODUCT, ids=name)
def test_products_equal_the_naive_map(kernel, small_tiles):
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(11, 3)), rng.normal(size=11)
    W = kernel.frequencies(rng, 3, 7).astype(float)
    phi = np.array([naive_problems.product_map(W, x) for x in X])
    block = features_product.accumulate(X, c, W, 0.3)
    assert block.shape == (1, 7)
    np.testing.assert_allclose(features_product.coefficients(block), -0.3 * c @ phi, rtol=1e-11)
    out = np.ones(11)
    features_product.evaluate(X, W, block, 0.9, out)
    parts = features_product.coefficients(block) * phi
    np.testing.assert_allclose(out, 0.9 + parts.sum(axis=1), rtol=1e-11)
    sums, squares = features_product.evaluate_with_squares(X, W, block)
    np.testing.assert_allclose(sums, parts.sum(axis=1), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(squares, (parts**2).sum(axis=1), rtol=1e-10)


def test_no_points_are_no_work():
    W = DotProduct().frequencies(np.random.default_rng(0), 2, 3)
    X, out = np.empty((0, 2), dtype=np.float32), np.empty(0, dtype=np.float32)
    features_product.evaluate(X, W, np.ones((1, 3), dtype=np.float32), 1.0, out)
    assert features_product.evaluate_with_squares(X, W, np.ones((1, 3), dtype=np.float32))[0].shape == (0,)


class TestThroughTheSolver:
    @pytest.mark.parametrize("kernel", ALL, ids=name)
    def test_one_iteration_equals_the_naive_one(self, make_task, kernel):
        task = make_task(kernel=kernel, n_iter=1)
        model = task.new_model()
        (iterate,) = solve(task, model)
        phi = features_of(model, kernel, task.X, 1, 7)
        expected = -0.3 * iterate.weights @ features_of(model, kernel, iterate.points, 1, 7)
        np.testing.assert_allclose(alpha(model, 1), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(model.evaluate(task.X), phi @ expected, rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("kernel", ALL, ids=name)
    def test_carried_values_and_a_saved_model_equal_the_model(self, make_task, kernel, tmp_path):
        task = make_task(kernel=kernel, step_size=0.02, n_iter=20)
        model = task.new_model()
        carried = Carried(task.X, model, with_variance=True)
        assert len(list(solve(task, model, carried=[carried]))) == 20
        np.testing.assert_allclose(carried.values, model.evaluate(task.X), rtol=1e-9, atol=1e-12)
        model.save(tmp_path / "model.npz")
        assert (load_model(tmp_path / "model.npz").evaluate(task.X) == model.evaluate(task.X)).all()


def features_of(model, kernel, X, t, m):
    """The features of iteration t, as the papers write them."""
    W = model.frequencies(t, m)
    if W.ndim == 3:
        return np.prod(X @ W, axis=0) / m**0.5
    Z = 2 * np.pi * X @ W
    return np.concatenate([np.cos(Z), np.sin(Z)], axis=1) / m**0.5


# --- features


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


def bits_of_cosines(n, dtype):
    X, c, W = sample(n, 30, dtype=dtype)
    block, out = accumulate(X, c, W, 0.3), np.ones(n, dtype=dtype)
    evaluate(X, W, block, 0.9, out)
    return block, out


def bits_of_products(n, dtype):
    X, c, _ = sample(n, 1, d=5, dtype=dtype)
    W = DotProduct(0.2, "3").frequencies(np.random.default_rng(0), 5, 2500).astype(dtype)
    block, out = features_product.accumulate(X, c, W, 0.3), np.ones(n, dtype=dtype)
    features_product.evaluate(X, W, block, 0.9, out)
    return block, out, *features_product.evaluate_with_squares(X, W, block)


@each(
    "made",
    [
        *(
            partial(bits_of_cosines, n, dtype)
            for n in [*ROWS[1:], *[1500] * COMPILED]
            for dtype in ("float32", "float64")
        ),
        partial(bits_of_products, 700, "float32"),
        lambda: [draw(130, 300)],
    ],
)
def test_same_bits_whatever_the_number_of_workers(made, workers):
    results = set()
    for count in (1, 2, 3, 8):
        workers(count)
        results.add(b"".join(one.tobytes() for one in made()))
    assert len(results) == 1


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
    for_each_piece(lambda part: inner.append(pieces(640, 64, 10**9)), 640, 64, 640 * 1000)
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
        limited = single_threaded_blas()
        other.submit(limited.__enter__).result()
        assert set(blas_threads()) == {1}
        limited.__exit__(None, None, None)
        assert blas_threads() == before


def test_a_failure_in_a_worker_is_raised_here_and_blas_gets_its_threads_back(workers):
    workers(4)

    def fail(part):
        if part.start:
            raise ArithmeticError(f"rows from {part.start}")

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ArithmeticError, match="rows from 64"):
            for_each_piece(fail, 256, 64, 10**9)
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
    assert all(map(loops.is_kept, LOOPS))


# --- orthogonal frequencies


def draw(d, m, t=1, dtype="float64"):
    return block_frequencies(OrthogonalGaussian(0.7 / d), 5, t, d, m, np.dtype(dtype))


@each("d, m", [(1, 5), (2, 7), (5, 5), (30, 64), (128, 300), (300, 700)])
def test_frequencies_are_orthogonal_in_groups_and_the_same_at_every_call(d, m):
    W, size = draw(d, m), min(d, MOST_ORTHOGONAL)
    assert W.shape == (d, m)
    assert np.array_equal(W, draw(d, m))
    assert np.array_equal(W, draw(d, m, dtype="float32"))
    for start in range(0, m, size):
        group = W[:, start : start + size] / np.linalg.norm(W[:, start : start + size], axis=0)
        np.testing.assert_allclose(group.T @ group, np.eye(group.shape[1]), atol=1e-5)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_each_frequency_is_a_normal_one(d):
    drawn = np.concatenate([draw(d, 40, t) for t in range(1, 101)], axis=1) * 2 * np.pi / (2 * 0.7 / d) ** 0.5
    for one in drawn:  # the frequencies of a group depend on each other, but each is normal
        assert stats.kstest(one[:: min(d, 40)], "norm").pvalue > 1e-3
    assert stats.kstest((drawn**2).sum(axis=0), stats.chi2(d).cdf).pvalue > 1e-3


def errors(kernel, x, m, n_draws):
    """Estimates of k(x_i, 0) less the kernel itself, at points x (n, d), from each of many draws."""
    d = x.shape[1]
    drawn = np.empty((n_draws, len(x)))
    for t in range(1, n_draws + 1):
        W = block_frequencies(kernel, 1, t, d, m, np.dtype(float))
        drawn[t - 1] = np.cos(2 * np.pi * x @ W).mean(axis=1)
    return drawn - kernel.matrix(x, np.zeros((1, d)))[:, 0]


def test_the_kernel_estimate_is_unbiased_and_errs_less_than_with_independent_features():
    d, rng = 32, np.random.default_rng(4)
    directions = np.stack([rng.normal(size=d), np.eye(d)[0], np.eye(d)[7] + np.eye(d)[20], np.ones(d)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offsets = np.concatenate([r * directions for r in (0.3, 0.7, 1.2, 2.0)])
    orthogonal, independent = (errors(kernel(0.8), offsets, 32, 1500) for kernel in (OrthogonalGaussian, Gaussian))
    standard_error = orthogonal.std(axis=0, ddof=1) / 1500**0.5
    assert (np.abs(orthogonal.mean(axis=0)) <= 4 * standard_error).all()
    ratio = (orthogonal.var(axis=0) / independent.var(axis=0)).reshape(4, 4).mean(axis=1)
    # Ratios of two variances of 1500 draws have a standard error of 5 %, 2.6 % in the mean over directions.
    assert ratio[0] < 0.6
    assert (ratio < 1.1).all()


def test_fixed_features_of_many_classes_have_the_same_frequencies():
    features = FixedFeatures("fourier", 0.7 / 6, 40, 5, is_orthogonal=True)
    assert np.array_equal(_frequencies(features, 6), draw(6, 40, t=0))

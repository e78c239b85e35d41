import naive_problems
import numpy as np
import pytest
from cases import each
from sklearn.gaussian_process import kernels as sklearn_kernels
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel

from dsgcore import load_model
from dsgcore.core.threads import n_workers, set_workers
from dsgcore.kernels import features_product
from dsgcore.kernels.kernels import MATERN, DotProduct, Laplacian, Matern
from dsgcore.solver.carried import Carried
from dsgcore.solver.diagnostics import alpha
from dsgcore.solver.loop import solve

SHIFT_INVARIANT = [Laplacian(0.7), *(Matern(1.3, nu) for nu in MATERN)]
DOT_PRODUCT = [DotProduct(0.3, power) for power in ("1", "3", "5")]
ALL = [*SHIFT_INVARIANT, *DOT_PRODUCT]


def name(kernel):
    return repr(kernel)


@pytest.fixture
def points():
    rng = np.random.default_rng(3)
    return rng.normal(size=(6, 4)), rng.normal(size=(5, 4))


def feature_products(kernel, X, Z, m, seed=0):
    """m single features' products phi_j(x) phi_j(z) m: their mean estimates k(x, z); shape (n, p, m)."""
    W = kernel.frequencies(np.random.default_rng(seed), X.shape[1], m).astype(float)
    if W.ndim == 3:
        features_X, features_Z = (np.prod(A @ W, axis=0) for A in (X, Z))
        return features_X[:, None] * features_Z
    return np.cos(2 * np.pi * (X[:, None] - Z) @ W)


@each(
    "kernel, expected",
    [
        (Laplacian(0.7), lambda X, Z: laplacian_kernel(X, Z, gamma=0.7)),
        *((Matern(1.3, nu), sklearn_kernels.Matern(1.3, nu=MATERN[nu][0])) for nu in MATERN),
        (DotProduct(0.3, "5"), lambda X, Z: polynomial_kernel(X, Z, degree=5, gamma=0.3, coef0=0)),
    ],
)
def test_equals_scikit_learns_kernel(kernel, expected, points):
    np.testing.assert_allclose(kernel.matrix(*points), expected(*points), rtol=1e-12)


@each("kernel", ALL)
@each("dtype", ["float32", "float64"])
def test_sums_equal_the_matrix(kernel, dtype, points, monkeypatch):
    X, Z = (A.astype(dtype) for A in points)
    c, out = np.arange(6, dtype=dtype), np.ones(5, dtype=dtype)
    expected = 0.5 * out + c @ kernel.matrix(X, Z)
    monkeypatch.setattr("dsgcore.kernels.kernels.MAX_VALUES", 12)  # two points at a time
    kernel.sums(X, c, Z, 0.5, out)
    assert out.dtype == dtype
    np.testing.assert_allclose(out, expected, rtol=1e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("kernel", SHIFT_INVARIANT, ids=name)
def test_the_variance_of_a_cosine_is_the_exact_one(kernel, points):
    """Var cos(w'(x - z)) = (1 + k(2x, 2z)) / 2 - k(x, z)^2."""
    X, Z = points
    expected = (1 + kernel.matrix(2 * X, 2 * Z)) / 2 - kernel.matrix(X, Z) ** 2
    products = feature_products(kernel, X, Z, 200_000)
    # Squares of cosines spread by at most one half: standard error 1e-3.
    np.testing.assert_allclose(products.var(axis=-1), expected, atol=0.006)


@pytest.mark.parametrize("kernel", DOT_PRODUCT, ids=name)
def test_the_variance_of_a_product_is_the_exact_one(kernel, points):
    X, Z = points[0][:2], points[1][:2]
    p = int(kernel.power)
    norms = (X**2).sum(axis=1)[:, None] * (Z**2).sum(axis=1)
    second = norms + 2 * (X @ Z.T) ** 2 - 2 * (X**2) @ (Z**2).T
    expected = kernel.sigma ** (2 * p) * (second**p - (X @ Z.T) ** (2 * p))
    products = feature_products(kernel, X, Z, 1_000_000)
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


def test_products_have_the_same_bits_whatever_the_number_of_workers(monkeypatch):
    monkeypatch.setattr("dsgcore.core.threads.MIN_EVALUATIONS_PER_WORKER", 1000)
    rng = np.random.default_rng(0)
    X, c = (rng.normal(size=size).astype(np.float32) for size in ((700, 5), 700))
    W = DotProduct(0.2, "3").frequencies(rng, 5, 2500)
    workers, results = n_workers(), []
    try:
        for count in (1, 2, 5):
            set_workers(count)
            block, out = features_product.accumulate(X, c, W, 0.3), np.ones(700, dtype=np.float32)
            features_product.evaluate(X, W, block, 0.9, out)
            results.append((block, out, *features_product.evaluate_with_squares(X, W, block)))
    finally:
        set_workers(workers)
    for result in results[1:]:
        assert all((a == b).all() for a, b in zip(result, results[0], strict=True))


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

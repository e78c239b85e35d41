import numba
import numpy as np
import pytest
from cases import each
from sklearn.metrics.pairwise import rbf_kernel

from dsgcore.core.sampling import FREQUENCIES, generator
from dsgcore.kernels import KERNELS, Gaussian, OrthogonalGaussian, block_frequencies

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


@pytest.mark.compiled  # thousands of draws
@every_kernel_of_independent_features
@each("m", [50, 400])
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
def test_sums_equal_the_product_with_the_matrix(kernel, dtype, decay, n, p, rng):
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


@pytest.mark.parametrize("sigma", [1e-6, 0.2, 1.0, 30.0])
def test_the_gaussian_matrix_equals_scikit_learns(sigma, rng):
    X, Z = rng.normal(size=(20, 4)), rng.normal(size=(15, 4))
    np.testing.assert_allclose(Gaussian(sigma).matrix(X, Z), rbf_kernel(X, Z, gamma=sigma), rtol=1e-12)


def test_every_kernel_is_registered_by_its_name_and_takes_its_parameters():
    for name, kernel in KERNELS.items():
        assert kernel.name == name
        given = {p.name: p.default for p in kernel.parameters}
        assert kernel(**given) == kernel()
        assert hash(kernel(**given)) == hash(kernel())  # it is part of the frequency cache's key

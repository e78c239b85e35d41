"""The model: its values, prefixes and means, and the cache of its frequencies."""

import numpy as np
import pytest
from cases import each
from saved_models import make_model
from test_kernels import COMPILED, feature_map

from dsgcore.core.threads import n_workers, pausing, set_workers
from dsgcore.kernels import KERNELS, Gaussian, loops
from dsgcore.kernels.features import Cosines, as_points
from dsgcore.solver import model as expansion


def explicit(model, X, t):
    """f_t(x) = sum_i (prod_{i < j <= t} decay_j) alpha_i' phi_i(x)."""
    f = np.zeros(len(X))
    for i, block in enumerate(model.blocks[:t], start=1):
        phi = feature_map(model.frequencies(i, block.shape[1]), X)
        f += np.prod(model.decays[i:t]) * phi @ Cosines().coefficients(block)
    return f


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(300, 3))


@each("t", range(6))
@each("n", [0, 1, 256, 257, 300])
def test_evaluate_sums_the_blocks_each_shrunk_by_every_later_step_as_a_prefix_and_an_update_do(X, t, n):
    model = make_model()
    values = model.evaluate(X[:n], t)
    np.testing.assert_allclose(values, explicit(model, X[:n], t), rtol=1e-10, atol=1e-12)
    prefix = model.prefix(t)
    assert len(prefix) == len(prefix.decays) == t
    assert (prefix.evaluate(X[:n]) == values).all()
    prefix.blocks.append(np.ones((2, 3)))
    assert len(model) == 5, "going on with a prefix must leave the model as it is"
    for stop in range(t, 6) if n == 257 else ():
        later = values.copy()
        model.update(later, X[:n], t, stop)
        np.testing.assert_allclose(later, model.evaluate(X[:n], stop), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_last", [*(pytest.param(n, marks=pytest.mark.compiled) for n in (1, 2, 4)), 5])
def test_the_tail_average_is_the_mean_of_the_last_iterates(X, n_last, kernel):
    model = make_model(kernel=KERNELS[kernel]())
    iterates = [model.evaluate(X, t) for t in range(6 - n_last, 6)]
    average = model.tail_average(n_last)
    np.testing.assert_allclose(average.evaluate(X), np.mean(iterates, axis=0), rtol=1e-10, atol=1e-12)
    assert [block.shape for block in average.blocks] == [block.shape for block in model.blocks]


@pytest.mark.compiled
@pytest.mark.parametrize(("d", "each"), [(3, 1), (40, 5)])
@pytest.mark.parametrize("workers", [1, 2])
def test_many_blocks_are_added_in_pieces_that_may_pause_between_them(monkeypatch, workers, d, each):
    X, rng, kernel = np.random.default_rng(1).normal(size=(2000, d)), np.random.default_rng(2), Gaussian(0.5)
    blocks = [rng.random((2, 8)) for _ in range(30)]
    model = expansion.Expansion(kernel, 3, d, np.dtype(np.float64), blocks, [0.9] * 30)
    whole, added, most, pauses = model.evaluate(X), [], 5 * 2000 * 8, []
    evaluate = kernel.feature_map.evaluate

    def counted(X, W, block, decay, out):
        added.append((len(pauses), len(X) * block.shape[1]))
        evaluate(X, W, block, decay, out)

    monkeypatch.setattr(expansion, "MAX_EVALUATIONS_PER_PIECE", most)
    monkeypatch.setattr(kernel.feature_map, "evaluate", counted)
    before = n_workers()
    set_workers(workers)
    try:
        with pausing(lambda: pauses.append(None)):
            assert model.evaluate(X).tobytes() == whole.tobytes()
    finally:
        set_workers(before)
    between = [sum(work for place, work in added if place == number) for number in range(len(pauses) + 1)]
    assert sum(between) == 30 * 2000 * 8
    assert each * max(between) <= workers * most


@each("dtype, tolerance", [("float64", 1e-13), ("float32", 1e-5)])
def test_points_of_any_layout_have_the_same_values_also_one_at_a_time_and_no_loop_is_compiled_for_them(
    X, dtype, tolerance
):
    # A product's summation order depends on its shape, so this is rounding: of sums of amplitudes of about 40 in all.
    model, points = make_model(dtype=dtype), X.astype(np.float32)
    read_only = points.copy()
    read_only.setflags(write=False)
    unaligned = np.frombuffer(bytearray(b"0" + points.tobytes()), dtype=np.float32, offset=1).reshape(points.shape)
    together, single = model.evaluate(points), np.concatenate([model.evaluate(x[None]) for x in points])
    assert together.dtype == single.dtype == dtype
    np.testing.assert_allclose(single, together, rtol=0, atol=tolerance)
    compiled = set(loops.evaluate.kept.signatures) if COMPILED else None  # each one costs everybody a second
    for other in (points.astype(float), points.tolist(), np.asfortranarray(points), read_only, unaligned, points[::2]):
        values = together[::2] if len(other) == 150 else together
        np.testing.assert_allclose(model.evaluate(other), values, rtol=0, atol=tolerance)
    assert compiled is None or set(loops.evaluate.kept.signatures) == compiled
    assert as_points(points, points.dtype) is points, "large points would be there twice"


# --- the cache of frequencies


def test_many_points_use_the_frequencies_of_the_run_and_add_none(monkeypatch, X):
    cache = expansion._Cache(2**20)
    monkeypatch.setattr(expansion, "_cache", cache)
    model, many = make_model(), np.resize(X, (expansion.POINTS_OF_CACHE + 1, 3))
    expected = model.evaluate(many)
    assert not cache.blocks
    kept = [model.frequencies(t, block.shape[1]) for t, block in enumerate(model.blocks[:2], start=1)]
    drawn, generator = [], expansion.generator
    monkeypatch.setattr(expansion, "generator", lambda *key: drawn.append(key[2]) or generator(*key))
    np.testing.assert_array_equal(model.evaluate(many), expected)
    assert (drawn, len(cache.blocks)) == ([3, 4, 5], len(kept))


def test_the_cache_stays_within_its_bytes_and_keeps_what_was_used_last(monkeypatch):
    cache, model = expansion._Cache(3 * 2 * 100 * 4), expansion.Expansion(Gaussian(1.0), 0, 2)
    monkeypatch.setattr(expansion, "_cache", cache)
    for t in range(1, 20):
        W = model.frequencies(t, 100)
        assert model.frequencies(t, 100) is W
        assert cache.used == sum(block.nbytes for block in cache.blocks.values()) <= cache.most
    assert [key[2] for key in cache.blocks] == [17, 18, 19]
    model.frequencies(17, 100)
    model.frequencies(20, 100)
    assert [key[2] for key in cache.blocks] == [19, 17, 20]
    assert model.frequencies(21, 100, is_kept=False) is not model.frequencies(21, 100, is_kept=False)
    assert [key[2] for key in cache.blocks] == [19, 17, 20]
    W = model.frequencies(17, 100, is_kept=False)
    assert any(W is kept for kept in cache.blocks.values())
    assert model.frequencies(1, 1000).shape == (2, 1000)  # bigger than the cache
    assert (cache.used, len(cache.blocks)) == (0, 0)


def test_cached_frequencies_are_not_mixed_up_between_models(X):
    for given in [{}, {"seed": 7}, {"kernel": Gaussian(0.8)}, {"dtype": "float32"}, {"sizes": (8, 1, 20, 7, 64)}] * 2:
        model = make_model(**given)
        expected, tolerance = explicit(model, X, 5), 1e-5 if model.dtype == "float32" else 1e-12
        for n in (300, 5):  # these are from the cache
            np.testing.assert_allclose(model.evaluate(X[:n]), expected[:n], rtol=0, atol=tolerance)


def test_iterations_that_shrink_nothing_are_evaluated_together_in_blocks_of_bounded_size(monkeypatch):
    X, rng = np.random.default_rng(1).normal(size=(50, 3)), np.random.default_rng(2)
    blocks = [np.stack([rng.random(m), rng.uniform(-0.5, 0.5, m)]) for m in (700, *[64] * 10, 500, 20)]
    model = expansion.Expansion(Gaussian(0.7), 3, 3, np.dtype(np.float64), blocks, [1.0] * len(blocks))
    taken, evaluate = [], Cosines.evaluate
    monkeypatch.setattr(Cosines, "evaluate", lambda *given: taken.append(given[3].shape[1]) or evaluate(*given))
    values = model.evaluate(X)
    assert taken == [700, 512, 128, 500, 20]
    np.testing.assert_allclose(values, explicit(model, X, len(model)), rtol=1e-10)
    assert (model.evaluate(X[:7]) == values[:7]).all(), "a point's value depends on the others"
    assert (model.evaluate(X, 9) == model.prefix(9).evaluate(X)).all()

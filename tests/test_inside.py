"""Parts of f against explicit sums: features, training points, and the sizes of coefficients."""

import numpy as np
import pytest
from small_specs import small

from dsgcore import Run
from dsgcore.diagnostics import amplitudes, feature_trajectory, feature_wave, has_inside, point_pull, point_trajectory
from dsgcore.diagnostics.inside import MOST_BLOCKS, QUANTILES
from dsgcore.solver.diagnostics import DiagnosticsError

KERNELS = [{"name": "gaussian"}, {"name": "orthogonal_gaussian"}, {"name": "laplacian"}, {"name": "dot_product"}]


def made(setting="auc", n_features=5, **sections):
    """A short run, whose features are changed on the way."""
    solver = {"n_iter": 6, "n_features": n_features, "lam": 0.3, "dtype": "float64"} | sections.pop("solver", {})
    run = Run(small(setting, solver=solver, **sections))
    run.advance(3)
    if n_features < 10:
        run.change("n_features", n_features + 2)
    run.advance()
    return run


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["name"])
def test_the_waves_of_all_features_add_up_to_f(kernel):
    run = made(kernel=kernel)
    model, Z = run.model, run.split.X_test[:7]
    waves = [
        feature_wave(model, t, number, Z)
        for t, block in enumerate(model.blocks, start=1)
        for number in range(1, block.shape[1] + 1)
    ]
    assert len(waves) == 3 * 5 + 3 * 7
    np.testing.assert_allclose(sum(waves), model.evaluate(Z), rtol=1e-9, atol=1e-12)
    # Each wave comes from its own coefficient: it is zero if that is zero.
    block = model.blocks[1]
    own, block[0, 4] = block[0, 4], 0.0
    assert np.all(feature_wave(model, 2, 5, Z) == 0.0)
    block[0, 4] = own
    assert np.any(feature_wave(model, 2, 5, Z) != 0.0)


def test_a_feature_of_a_later_rotation_is_found():
    run = made(n_features=300, kernel={"name": "orthogonal_gaussian"}, solver={"n_iter": 1})
    Z = run.split.X_test[:3]
    waves = [feature_wave(run.model, 1, number, Z) for number in range(1, 301)]
    np.testing.assert_allclose(sum(waves), run.model.evaluate(Z), rtol=1e-8, atol=1e-11)


def test_a_wave_is_a_cosine_in_its_own_direction():
    run = made()
    model, Z = run.model, run.split.X_test[:4]
    W, (r, theta) = model.frequencies(2, 5), model.blocks[1]
    expected = r[3] * np.cos(2 * np.pi * (Z @ W[:, 3] - theta[3])) * np.prod(model.decays[2:])
    np.testing.assert_allclose(feature_wave(model, 2, 4, Z), expected, rtol=1e-9, atol=1e-15)


def test_a_features_coefficient_is_drawn_once_and_then_shrinks():
    model = made().model
    way, expected = feature_trajectory(model, 3, 2), []
    for t in range(len(model) + 1):
        left = np.prod(model.decays[3:t]) if t > 3 else 1.0
        expected.append(model.blocks[2][0, 1] * left if t >= 3 else 0.0)
    np.testing.assert_allclose(way, expected, rtol=1e-12)
    assert way[3] > way[-1] > 0.0


def test_the_amplitudes_are_those_that_count_now():
    model = made().model
    found = amplitudes(model)
    assert found.t.tolist() == [1, 2, 3, 4, 5, 6]
    for i, block in enumerate(model.blocks):
        sizes = np.sort(np.abs(block[0])) * np.prod(model.decays[i + 1 :])
        assert found.sizes["largest"][i] == pytest.approx(sizes[-1])
        assert found.sizes["median"][i] == pytest.approx(np.median(sizes))
    assert list(found.sizes) == list(QUANTILES)
    assert np.all(np.diff(np.array(list(found.sizes.values())), axis=0) <= 0)


def test_of_a_long_run_so_many_iterations_are_looked_at_and_no_more():
    model = made().model
    for _ in range(2 * MOST_BLOCKS):
        model.append(model.blocks[0], 1.0)
    found = amplitudes(model)
    assert len(found.t) == MOST_BLOCKS
    assert (found.t[0], found.t[-1]) == (1, len(model))
    assert len(amplitudes(run_before_its_start().model).t) == 0


def run_before_its_start():
    return Run(small("auc"))


@pytest.mark.parametrize("setting", ["auc", "s3vm"])
def test_the_pulls_of_all_training_points_add_up_to_h(setting):
    run = made(setting)
    Z = run.split.X_test[:7]
    pulls = [point_pull(run, row, Z) for row in range(len(run.split.X_train))]
    np.testing.assert_allclose(sum(pulls), run.exact_values(Z), rtol=1e-9, atol=1e-12)


def test_a_points_coefficient_is_that_of_the_run_at_every_iteration_kept():
    run = Run(small("auc", solver={"n_iter": 40}))
    run.advance(37)
    row = int(run.labeled_rows[0])
    t, coefficients = point_trajectory(run, row)
    assert t.tolist() == [0, 8, 16, 24, 32, 37]
    assert coefficients[0] == 0.0
    for at, value in zip(t[1:], coefficients[1:], strict=True):
        assert value == run.at(int(at)).engine.dual.values[row]
    # Looked at from an earlier iteration, nothing later is there.
    assert point_trajectory(run.at(20), row)[0].tolist() == [0, 8, 16, 20]


def test_what_is_not_there_is_refused():
    run = made()
    for t, number in ((0, 1), (7, 1), (1, 0), (1, 6)):
        with pytest.raises(ValueError, match="must be between 1 and"):
            feature_wave(run.model, t, number, run.split.X_test)
    run = Run(small("multiclass"))
    assert not has_inside(run)
    with pytest.raises(DiagnosticsError, match="only stochastic functional gradients draw"):
        point_trajectory(run, 0)

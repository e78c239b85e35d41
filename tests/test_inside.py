"""Parts of f against explicit sums, and how the pages show them: look inside, how it works, and words in charts."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each
from live_page import figure, figures
from opened_pages import open_page
from small_specs import finished, small

from dsgcore import Run, explained
from dsgcore.diagnostics import amplitudes, feature_trajectory, feature_wave, has_inside, point_pull, point_trajectory
from dsgcore.diagnostics.inside import MOST_BLOCKS, QUANTILES
from dsgcore.experiments import SETTINGS
from dsgcore.experiments.run import step_limit
from dsgcore.glossary import term
from dsgcore.kernels import block_frequencies
from dsgcore.solver.measures import DiagnosticsError
from pages.charts.figures import ITERATION


def made(setting="auc", n_features=5, **sections):
    """A short run, whose features are changed on the way."""
    solver = {"n_iter": 6, "n_features": n_features, "lam": 0.3, "dtype": "float64"} | sections.pop("solver", {})
    run = Run(small(setting, solver=solver, **sections))
    run.advance(3)
    if n_features < 10:
        run.change("n_features", n_features + 2)
    run.advance()
    return run


@each(
    "kernel, n_features, n_iter",
    [
        *((kernel, 5, 6) for kernel in ("gaussian", "orthogonal_gaussian", "laplacian", "dot_product")),
        ("orthogonal_gaussian", 300, 1),  # several rotations
    ],
)
def test_the_waves_of_all_features_add_up_to_f(kernel, n_features, n_iter):
    run = made(n_features=n_features, kernel={"name": kernel}, solver={"n_iter": n_iter})
    model, Z = run.model, run.split.X_test[:7]
    sizes = [block.shape[1] for block in model.blocks]
    assert sizes == ([5] * 3 + [7] * 3 if n_iter == 6 else [300])
    waves = [feature_wave(model, t, k, Z) for t, size in enumerate(sizes, start=1) for k in range(1, size + 1)]
    np.testing.assert_allclose(sum(waves), model.evaluate(Z), rtol=1e-9, atol=1e-12)
    # Each wave comes from its own coefficient: it is zero if that is zero.
    model.blocks[-1][0, 4] = 0.0
    assert np.all(feature_wave(model, n_iter, 5, Z) == 0.0)
    assert np.any(feature_wave(model, n_iter, 4, Z) != 0.0)


def test_a_wave_is_a_cosine_in_its_own_direction_and_its_coefficient_is_drawn_once_and_then_shrinks():
    run = made()
    model, Z = replace(run.model, decays=[0.9, 0.5, 0.8, 0.4, 0.7, 0.6]), run.split.X_test[:4]
    W, (r, theta) = model.frequencies(2, 5), model.blocks[1]
    expected = r[3] * np.cos(2 * np.pi * (Z @ W[:, 3] - theta[3])) * np.prod(model.decays[2:])
    np.testing.assert_allclose(feature_wave(model, 2, 4, Z), expected, rtol=1e-9, atol=1e-15)
    way, first = feature_trajectory(model, 3, 2), model.blocks[2][0, 1]
    left = [first * np.prod(model.decays[3:t]) for t in range(3, len(model) + 1)]
    np.testing.assert_allclose(way, [0.0, 0.0, 0.0, *left], rtol=1e-12)
    assert way[3] > way[-1] > 0.0


def test_the_amplitudes_are_those_that_count_now_and_of_a_long_run_no_more_than_so_many():
    model = made().model
    t, found = amplitudes(model)
    assert t.tolist() == [1, 2, 3, 4, 5, 6]
    for i, block in enumerate(model.blocks):
        sizes = np.sort(np.abs(block[0])) * np.prod(model.decays[i + 1 :])
        assert found["largest"][i] == pytest.approx(sizes[-1])
        assert found["median"][i] == pytest.approx(np.median(sizes))
    assert list(found) == list(QUANTILES)
    assert np.all(np.diff(np.array(list(found.values())), axis=0) <= 0)
    model.blocks += [model.blocks[0]] * (2 * MOST_BLOCKS)
    model.decays += [1.0] * (2 * MOST_BLOCKS)
    t, _ = amplitudes(model)
    assert (len(t), t[0], t[-1]) == (MOST_BLOCKS, 1, len(model))
    assert len(amplitudes(Run(small("auc")).model)[0]) == 0


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


def test_what_is_not_there_is_refused_and_not_offered():
    run = made()
    for t, number in ((0, 1), (7, 1), (1, 0), (1, 6)):
        with pytest.raises(ValueError, match="must be between 1 and"):
            feature_wave(run.model, t, number, run.split.X_test)
    run = Run(small("multiclass"))  # several classes have no inside of that kind
    assert not has_inside(run)
    with pytest.raises(DiagnosticsError, match="only stochastic functional gradients draw"):
        point_trajectory(run, 0)


# --- on the tabs Details and Theory


# --- the numbers of How it works


@pytest.fixture(scope="module")
def shown():
    return explained.example()


def test_a_wave_is_the_cosine_of_a_frequency_of_the_kernel_with_its_crest_at_the_centre(shown):
    W = block_frequencies(shown.spec.kernel, shown.spec.seed, 1, 2, 5, shown.grid.dtype)
    expected = np.cos(2 * np.pi * (shown.grid - shown.centre) @ W).T
    np.testing.assert_allclose(explained.single_waves(shown, 5), expected, atol=2e-3)


def test_the_mean_of_waves_approaches_the_kernel_as_one_over_the_root_of_their_number_as_over_many_draws(shown):
    numbers = [1, 4, 16, 64, 256]
    sums, waves = list(explained.sums_of_waves(shown, numbers)), explained.single_waves(shown, 256)
    kernel = explained.exact_bump(shown, shown.grid)
    for one in sums:
        np.testing.assert_allclose(one.values, waves[: one.n].mean(axis=0), atol=2e-3)
        assert one.error == pytest.approx(np.sqrt(np.mean((one.values - kernel) ** 2)))
        assert 0.5 < one.error / one.expected < 1.5
    np.testing.assert_allclose([one.expected for one in sums], sums[0].expected / np.sqrt(numbers))
    np.testing.assert_array_equal(explained.sums_on_a_line(shown, numbers, shown.grid)[2], sums[2].values)
    draws = [replace(shown, spec=replace(shown.spec, seed=seed)) for seed in range(40)]
    squares = [next(explained.sums_of_waves(one, [16])).error ** 2 for one in draws]
    assert np.sqrt(np.mean(squares)) == pytest.approx(next(explained.sums_of_waves(shown, [16])).expected, rel=0.15)


def test_the_steps_add_up_to_the_score_of_a_run_with_the_same_spec():
    shown = explained.example(n_iter=6, n_features=16, batch_size=6, step_size=0.5, lam=0.01)
    run, total = finished(shown.spec), np.zeros(len(shown.grid))
    for step in explained.first_steps(shown):
        total = (1 - 0.5 * 0.01) * total + step.added
        assert len(step.rows) == 3 * 6, "a batch of each source"
    np.testing.assert_allclose(total, step.score, atol=1e-5)
    np.testing.assert_allclose(step.score, run.model.evaluate(shown.grid), atol=1e-5)


@each("share, ends", [(0.3, -1), (0.9, -1), (1.2, 1), (1.5, 1)])
def test_the_ball_and_the_run_overshoot_above_the_limit_and_only_there_and_at_it_the_ball_swings_for_ever(
    share, ends, shown
):
    limit = explained.largest_step(shown)
    assert limit == step_limit(Run(replace(shown.spec, solver=replace(shown.spec.solver, step_size=1.0))))
    ball = explained.rolled(2.0 / limit, share * limit, 12) ** 2
    objective = explained.objectives(shown, share * limit, 20)
    np.testing.assert_array_equal(np.sign(np.diff(ball)), ends)
    assert np.sign(objective[-1] - objective[0]) == ends
    np.testing.assert_allclose(np.abs(explained.rolled(2.0 / limit, limit, 50)), 1.0)


def test_each_noise_averages_out_as_one_over_t_and_both_off_leave_none():
    shown = explained.example(n_iter=300, schedule="theta/t", step_size=1.5, lam=1.0, n_features=4, batch_size=4)
    made, late = explained.noises(shown, range(3)), slice(-15, None)
    np.testing.assert_allclose(made.values[True, True][-1], finished(shown.spec).training_values, atol=1e-4)
    for switches, errors in made.errors.items():
        slope = np.polyfit(np.log(made.t[late]), np.log(errors[late]), 1)[0]
        assert -2.0 < slope < -0.6 if any(switches) else errors[-1] < 1e-6


# --- words in charts: each has one entry in the glossary, and its explanation is in the chart


LIVE = ("chart-objective", "chart-score", "chart-error", "chart-spectrum")


@pytest.mark.ci
@each("name", SETTINGS)
def test_every_title_axis_and_legend_explains_itself_and_the_page_leads_to_how_it_works(name):
    app = open_page(name, at="5")
    assert not app.exception
    assert "how_it_works" in [link.proto.page for link in app.get("page_link")]
    charts = {key: figure for key, figure in figures(app).items() if key in LIVE}
    of_theory = ("chart-terms", "chart-bound") if name != "multiclass" else ("chart-terms",)
    charts |= {key: figure(app, key) for key in of_theory}
    assert len(charts) >= 3
    for key, drawn in charts.items():
        title = drawn["layout"]["title"]["text"]
        along = drawn["layout"]["xaxis"]["title"]["text"] or ITERATION  # named once, below the last of the three
        assert term(title), title
        assert term(along), along
        assert along in drawn["layout"]["meta"]["help"]
        silent = [t.get("name") for t in drawn["data"] if t.get("showlegend", True) and not t.get("meta")]
        assert silent == [], key

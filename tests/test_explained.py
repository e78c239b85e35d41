"""The numbers of "How it works": the same as those of the kernel, the solver and a run."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each

from dsgcore import explained
from dsgcore.experiments import Run
from dsgcore.experiments.step_limit import step_limit
from dsgcore.kernels import block_frequencies


@pytest.fixture(scope="module")
def shown():
    return explained.example()


def test_a_wave_is_the_cosine_of_a_frequency_of_the_kernel_with_its_crest_at_the_centre(shown):
    W = block_frequencies(shown.spec.kernel, shown.spec.seed, 1, 2, 5, shown.grid.dtype)
    expected = np.cos(2 * np.pi * (shown.grid - shown.centre) @ W).T
    np.testing.assert_allclose(explained.single_waves(shown, 5), expected, atol=2e-3)


def test_the_mean_of_waves_approaches_the_kernel_as_one_over_the_root_of_their_number(shown):
    numbers = [1, 4, 16, 64, 256]
    sums, waves = list(explained.sums_of_waves(shown, numbers)), explained.single_waves(shown, 256)
    kernel = explained.exact_bump(shown, shown.grid)
    for one in sums:
        np.testing.assert_allclose(one.values, waves[: one.n].mean(axis=0), atol=2e-3)
        assert one.error == pytest.approx(np.sqrt(np.mean((one.values - kernel) ** 2)))
        assert 0.5 < one.error / one.expected < 1.5
    np.testing.assert_allclose([one.expected for one in sums], sums[0].expected / np.sqrt(numbers))
    np.testing.assert_array_equal(explained.sums_on_a_line(shown, numbers, shown.grid)[2], sums[2].values)


def test_the_expected_error_is_the_mean_over_many_draws(shown):
    draws = [replace(shown, spec=replace(shown.spec, seed=seed)) for seed in range(40)]
    squares = [next(explained.sums_of_waves(one, [16])).error ** 2 for one in draws]
    assert np.sqrt(np.mean(squares)) == pytest.approx(next(explained.sums_of_waves(shown, [16])).expected, rel=0.15)


def test_the_steps_add_up_to_the_score_of_a_run_with_the_same_spec():
    shown = explained.example(n_iter=6, n_features=16, batch_size=6, step_size=0.5, lam=0.01)
    run, total = Run(shown.spec, shown.split), np.zeros(len(shown.grid))
    run.advance()
    for step in explained.first_steps(shown):
        total = (1 - 0.5 * 0.01) * total + step.added
        assert len(step.rows) == 3 * 6, "a batch of each source"
    np.testing.assert_allclose(total, step.score, atol=1e-5)
    np.testing.assert_allclose(step.score, run.model.evaluate(shown.grid), atol=1e-5)


@each("share, ends", [(0.3, "lower"), (0.9, "lower"), (1.2, "higher"), (1.5, "higher")])
def test_the_ball_and_the_run_overshoot_above_the_limit_and_only_there(share, ends):
    shown = explained.example()
    bowl = explained.bowl_of(shown)
    assert bowl.limit == step_limit(Run(replace(shown.spec, solver=replace(shown.spec.solver, step_size=1.0))))
    ball, objective = (
        explained.rolled(bowl, share * bowl.limit, 12) ** 2,
        explained.objectives(shown, share * bowl.limit, 20),
    )
    np.testing.assert_array_equal(np.sign(np.diff(ball)), -1 if ends == "lower" else 1)
    assert ("lower" if objective[-1] < objective[0] else "higher") == ends


def test_at_the_limit_the_ball_swings_for_ever():
    np.testing.assert_allclose(
        np.abs(explained.rolled(bowl := explained.bowl_of(explained.example()), bowl.limit, 50)), 1.0
    )


def test_each_noise_averages_out_as_one_over_t_and_both_off_leave_none():
    shown = explained.example(n_iter=300, schedule="theta/t", step_size=1.5, lam=1.0, n_features=4, batch_size=4)
    made, late = explained.noises(shown, range(3)), slice(-15, None)
    run = Run(shown.spec, shown.split)
    run.advance()
    np.testing.assert_allclose(made.values[True, True][-1], run.training_values, atol=1e-4)
    for switches, errors in made.errors.items():
        slope = np.polyfit(np.log(made.t[late]), np.log(errors[late]), 1)[0]
        assert -2.0 < slope < -0.6 if any(switches) else errors[-1] < 1e-6

"""The generated sets whose truth is known: what they promise can be measured."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import make_friedman1

from dsgcore import Run, Spec
from dsgcore.data import DataError, friedman, high_dimensional, misleading_gap, ordinal_ramp, ordinal_rings
from dsgcore.data import two_gaussians as gaussians

few_examples = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32 - 1)


@few_examples
@given(n=st.integers(20, 400), separation=st.floats(0, 20), imbalance=st.floats(0.01, 0.99), seed=seeds)
def test_gaussians_have_the_asked_size_and_share_and_repeat_bit_by_bit(n, separation, imbalance, seed):
    for make in (gaussians, high_dimensional):
        data, again = (make(n=n, separation=separation, imbalance=imbalance, seed=seed) for _ in "ab")
        assert data.y.sum() == min(max(round(n * imbalance), 1), n - 1)
        assert data.X.tobytes() == again.X.tobytes()
        assert data.y.tobytes() == again.y.tobytes()


@pytest.mark.parametrize("separation", [0.0, 1.0, 3.0])
def test_the_best_line_errs_as_often_as_the_separation_says(separation):
    for data in (gaussians(40_000, separation), high_dimensional(40_000, separation, 3)):
        errors = np.mean((data.X[:, 0] + data.X[:, 1] > 0) != (data.y == 1))
        # A share of 40,000 draws has a standard error of at most 0.0025; allow four.
        assert errors == pytest.approx(norm.cdf(-separation / 2), abs=0.01)


def test_irrelevant_features_are_standard_normal_in_both_classes():
    data = high_dimensional(20_000, n_irrelevant=5)
    assert data.X.shape == (20_000, 7)
    for label in (0, 1):
        own = data.X[data.y == label]
        # Means of 10,000 draws: standard error 0.01; allow five.
        assert np.abs(own[:, 2:].mean(axis=0)).max() < 0.05
        assert np.abs(own.std(axis=0) - 1).max() < 0.05
        np.testing.assert_allclose(own[:, :2].mean(axis=0), (label - 0.5) * 4 / np.sqrt(2), atol=0.05)
    assert high_dimensional(n=50, n_irrelevant=0).X.shape == (50, 2)


@few_examples
@given(n=st.integers(40, 300), k=st.integers(2, 20), seed=seeds)
def test_ordered_sets_have_as_many_equal_classes_as_asked(n, k, seed):
    for make in (ordinal_ramp, ordinal_rings, friedman):
        data = make(n=n, n_classes=k, seed=seed)
        assert np.ptp(np.bincount(data.y, minlength=k)) <= 1
        assert len(data.class_names) == k
        assert data.X.tobytes() == make(n=n, n_classes=5, seed=seed).X.tobytes()


def test_rings_and_ramps_are_ordered_by_radius_and_height():
    rings, ramp = ordinal_rings(noise=0.0, n_classes=7), ordinal_ramp(noise=0.0, n_classes=7)
    for data, height in (
        (rings, np.linalg.norm(rings.X, axis=1)),
        (ramp, ramp.X[:, 0] + 0.5 * np.sin(3 * ramp.X[:, 1])),
    ):
        for j in range(6):
            assert height[data.y == j].max() <= height[data.y == j + 1].min()


def test_friedmans_bins_follow_his_function():
    data = friedman(noise=0.0)
    X = data.X.astype(np.float64)
    target = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    for j in range(4):
        # float32 points: the target is right to about 1e-5.
        assert target[data.y == j].max() <= target[data.y == j + 1].min() + 1e-4
    assert X.shape[1] == make_friedman1(20)[0].shape[1] == 10


@each(
    "make, options",
    [
        (gaussians, {"separation": -1}),
        (gaussians, {"separation": 21}),
        (gaussians, {"separation": float("nan")}),
        (high_dimensional, {"n_irrelevant": -1}),
        (high_dimensional, {"n_irrelevant": 2001}),
        (high_dimensional, {"n_irrelevant": 1.5}),
        (friedman, {"n_classes": 1}),
        (ordinal_ramp, {"n_classes": 21}),
        (ordinal_rings, {"n_classes": "five"}),
        (friedman, {"noise": -1}),
        (misleading_gap, {"imbalance": 0}),
    ],
)
def test_bad_options_are_refused_naming_them(make, options):
    (name,) = options
    with pytest.raises(DataError, match=f"^{name} must be"):
        make(**options)


def test_the_misleading_gap_lies_across_the_boundary():
    data = misleading_gap(n=4000, noise=0.0)
    np.testing.assert_array_equal(data.X[:, 0] > 0, data.y == 1)
    assert set(np.round(data.X[:, 1], 4)) == {np.float32(-0.7), np.float32(0.7)}
    for label in (0, 1):
        assert np.mean(data.X[data.y == label, 1] > 0) == pytest.approx(0.5, abs=0.05)
    # Dense at the boundary, thin at the ends.
    inner, outer = np.abs(data.X[:, 0]) < 0.25, np.abs(data.X[:, 0]) > 1.25
    assert inner.sum() > 5 * outer.sum()


@pytest.mark.compiled
def test_unlabeled_data_hurt_where_the_cluster_assumption_is_false():
    gains = []
    for seed in range(6):
        spec = Spec.from_dict(
            {
                "setting": "s3vm",
                "seed": seed,
                "data": {"name": "misleading_gap", "n": 600, "n_labeled": 10},
                "kernel": {"sigma": 5.0},
                "solver": {"n_iter": 150},
                "diagnostics": {"n_probes": 0},
            }
        )
        run, twin = Run(spec), Run(spec.twin())
        run.advance()
        twin.advance()
        gains.append(run.history.last()["score_test"] - twin.history.last()["score_test"])
    assert np.mean(gains) < -0.03
    assert np.mean(np.array(gains) < 0) > 0.5

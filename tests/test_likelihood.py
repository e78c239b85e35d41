"""Weights of the largest held-out likelihood, against a search without derivatives."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from dsgcore.estimators.likelihood import PULL, likeliest_weights, log_shares


def some_values(n=60, n_classes=4, noises=(0.5, 1.5, 5.0)):
    rng = np.random.default_rng(0)
    y = rng.choice(n_classes, n, p=np.array([8, 4, 2, 2]) / 16)
    return y, [np.eye(n_classes)[y] + noise * rng.standard_normal((n, n_classes)) for noise in noises]


def loss(weights, y, values):
    z = sum(w * v for w, v in zip(weights, values, strict=False)) + weights[-1] * log_shares(y, values[0].shape[1])
    models = weights[:-1]
    return PULL / len(y) * np.sum((models - models.mean()) ** 2) - log_softmax(z, axis=1)[np.arange(len(y)), y].mean()


def test_weights_are_those_of_a_search_without_derivatives():
    y, values = some_values()
    found = minimize(loss, [1.0, 1.0, 1.0, 0.5], (y, values), "Nelder-Mead", options={"xatol": 1e-6, "maxiter": 5000}).x
    expected = np.maximum(found, 0.0) / np.maximum(found[:3], 0.0).sum()
    np.testing.assert_allclose(likeliest_weights(y, values), expected, atol=0.01)


def test_a_better_model_has_more_weight():
    weights = likeliest_weights(*some_values())[:3]
    assert weights.sum() == pytest.approx(1.0)
    assert (np.diff(weights) < 0).all()


def test_models_that_know_nothing_leave_the_choice_to_the_shares():
    y, _ = some_values()
    noise = np.random.default_rng(1).standard_normal((3, len(y), 4))
    *models, shares = likeliest_weights(y, [*noise])
    score = sum(w * v for w, v in zip(models, noise, strict=True)) + shares * log_shares(y, 4)
    assert np.mean(score.argmax(axis=1) == np.bincount(y).argmax()) > 0.8


def test_a_class_without_labels_counts_as_half_a_point():
    np.testing.assert_allclose(log_shares(np.array([0, 0, 2]), 3), np.log([2 / 3, 1 / 6, 1 / 3]))

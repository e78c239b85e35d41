"""Scaling as scikit-learn's, and values at scaled points."""

import numpy as np
from cases import each
from sklearn.preprocessing import StandardScaler

from dsgcore.estimators import scaled as module
from dsgcore.estimators.scaled import at_scaled, scaled, scaler_of


@each("n, d", [(1, 3), (200, 5), (30, 90)])
def test_the_scaler_is_that_of_scikit_learn(n, d):
    X = 10.0 * np.random.default_rng(0).normal(size=(n, d)) + 3.0
    X[:, 0] = 0.1  # the mean of equal numbers is rounded
    X[:, 1] = 1e8 + 1e-8 * np.arange(n)  # differences that are rounding errors
    X[:, 2] = 1e-9 * np.arange(n)
    own, peer = scaler_of(X), StandardScaler().fit(X)
    for name in ("mean_", "var_", "scale_"):
        np.testing.assert_allclose(getattr(own, name), getattr(peer, name), rtol=1e-10, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(own.scale_ == 1.0, peer.scale_ == 1.0)
    assert (own.n_samples_seen_, own.n_features_in_) == (peer.n_samples_seen_, peer.n_features_in_)
    np.testing.assert_allclose(own.transform(X), peer.transform(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaled(X, own), peer.transform(X), rtol=1e-9, atol=1e-9)


def test_values_of_many_points_need_a_copy_of_a_few(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 7)
    X, seen = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32), []

    def values(points):
        seen.append(points.shape)
        return points @ np.ones((3, 2))

    scaler = scaler_of(X.astype(float))
    np.testing.assert_allclose(at_scaled(X, scaler, values), scaled(X, scaler) @ np.ones((3, 2)))
    assert seen == [(7, 3)] * 5 + [(5, 3)]
    assert at_scaled(X[:0], scaler, values).shape == (0, 2)

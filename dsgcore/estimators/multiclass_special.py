"""The three methods that PS3VT holds as special cases, as scikit-learn estimators."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dsgcore.estimators.multiclass_base import MultiClassEstimator


class LinearMC(MultiClassEstimator):
    """Max-margin multi-class classification: PS3VT without graph and without pull to low rank.

    Unlabeled points are accepted; they play no part (but in sigma="scale").

    Parameters
    ----------
    tau_A, step_size, radius, batch_size, n_iter, variant, features, sigma, n_features, random_state
        As in `PS3VT`.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_
        As in `PS3VT`.

    Notes
    -----
    Source: Table 2 of the PS3VT paper. See `PS3VT`.
    """

    absent: ClassVar[dict[str, float]] = {"tau_I": 0.0, "tau_S": 0.0}

    def __init__(
        self,
        *,
        tau_A: float = 1e-6,
        step_size: float = 0.03,
        radius: float | None = None,
        batch_size: int | None = 32,
        n_iter: int = 1000,
        variant: str = "paper",
        features: str = "linear",
        sigma: float | str = "scale",
        n_features: int = 256,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.tau_A = tau_A
        self.step_size = step_size
        self.radius = radius
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.variant = variant
        self.features = features
        self.sigma = sigma
        self.n_features = n_features
        self.random_state = random_state


class LRCMC(MultiClassEstimator):
    """Multi-class classification with a pull to low rank: PS3VT without the graph.

    The pull stands for the local Rademacher complexity. Unlabeled points are accepted; they play no part but in
    sigma="scale".

    Parameters
    ----------
    tau_A, tau_S, theta, step_size, radius, batch_size, n_iter, variant, features, sigma, n_features,
    random_state
        As in `PS3VT`.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_
        As in `PS3VT`.

    Notes
    -----
    Source: Table 2 of the PS3VT paper. See `PS3VT`.
    """

    absent: ClassVar[dict[str, float]] = {"tau_I": 0.0}

    def __init__(
        self,
        *,
        tau_A: float = 1e-6,
        tau_S: float = 1e-3,
        theta: float = 0.5,
        step_size: float = 0.03,
        radius: float | None = None,
        batch_size: int | None = 32,
        n_iter: int = 1000,
        variant: str = "paper",
        features: str = "linear",
        sigma: float | str = "scale",
        n_features: int = 256,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.tau_A = tau_A
        self.tau_S = tau_S
        self.theta = theta
        self.step_size = step_size
        self.radius = radius
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.variant = variant
        self.features = features
        self.sigma = sigma
        self.n_features = n_features
        self.random_state = random_state


class SSMC(MultiClassEstimator):
    """Semi-supervised multi-class classification: PS3VT without the pull to low rank.

    A graph makes close points, labeled or not, score alike.

    Parameters
    ----------
    tau_A, tau_I, step_size, radius, batch_size, n_iter, n_neighbors, variant, features, sigma, n_features,
    random_state
        As in `PS3VT`.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_
        As in `PS3VT`.

    Notes
    -----
    Source: Table 2 of the PS3VT paper. See `PS3VT`.
    """

    absent: ClassVar[dict[str, float]] = {"tau_S": 0.0}

    def __init__(
        self,
        *,
        tau_A: float = 1e-6,
        tau_I: float = 1e-6,
        step_size: float = 0.03,
        radius: float | None = None,
        batch_size: int | None = 32,
        n_iter: int = 1000,
        n_neighbors: int = 10,
        variant: str = "paper",
        features: str = "linear",
        sigma: float | str = "scale",
        n_features: int = 256,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.tau_A = tau_A
        self.tau_I = tau_I
        self.step_size = step_size
        self.radius = radius
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.features = features
        self.sigma = sigma
        self.n_features = n_features
        self.random_state = random_state

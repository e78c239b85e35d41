"""PS3VT's special cases as competitors: with progress, cancellation and a memory limit."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from dsgcore.baselines.base import MEMORY_LIMIT, Baseline
from dsgcore.baselines.memory import Memory, larger, numbers
from dsgcore.baselines.progress import Callback, Watch
from dsgcore.core.parameters import Parameter
from dsgcore.core.problem import UNLABELED
from dsgcore.estimators import multiclass_special
from dsgcore.estimators.inputs import encode
from dsgcore.graph import MAX_ANCHORS, ROWS_AT_A_TIME
from dsgcore.problems.multiclass import MultiClass

# Numbers of eight bytes that the graph takes per point: neighbours, weights and their transposes.
GRAPH_NUMBERS = 120


class MultiClassBaseline(Baseline):
    """Shell around an estimator of the PS3VT family."""

    citation: ClassVar[str] = "Li, Liu, Yin and Wang, IJCAI 2019, Table 2"
    kernels: ClassVar[tuple[str, ...]] = ()
    copies: ClassVar[int] = 0

    features: str
    n_features: int
    tau_I: float
    memory_limit: float

    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points. There is no intercept: scale them first, or add a column of ones.
        y : array-like of shape (n,)
            Labels of two classes or more, and -1 for unlabeled points (in an object array where labels are strings).
        callback : callable, optional
            Gets a `dsgcore.baselines.Progress` after each iteration; returns True to cancel.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of range, there are fewer than two classes, or the run diverges.
        MemoryLimitError
            If the fit needs more than `memory_limit`.
        Cancelled
            If the callback returned True.
        """
        points, labels = validate_data(self, X, y, dtype=np.float64)
        _, need = self._allowed(points, encode(labels)[1])
        self._watch = Watch(callback, type(self).__name__)
        try:
            super().fit(X, y)
            self.memory_, self.converged_ = need, True
            self.objectives_ = self._watch.objectives()
        finally:
            del self._watch
        return self

    def _train(self, task: Any) -> NDArray:
        self._watch.expect(task.problem.n_iter + 1)
        W = super()._train(_Watched(task, self._watch))
        self._watch.step(sum(task.terms(W).values()))
        return W

    def _checked(self) -> dict[str, Any]:
        return {"memory_limit": MEMORY_LIMIT.check(self.memory_limit)}

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        # Fourier features are made from their phases; the coordinates themselves are copied.
        D, times = (2 * int(self.n_features), 2.5) if self.features == "fourier" else (d, 1.0)
        has_graph = bool(getattr(self, "tau_I", 0.0))
        rows = n if y is None or has_graph else np.count_nonzero(y != UNLABELED)
        graph = GRAPH_NUMBERS * n * has_graph
        distances = min(n, ROWS_AT_A_TIME) * min(n, MAX_ANCHORS) * has_graph
        need = numbers(times * rows * D + 2.0 * D * D + graph, f"{D:,} features of {rows:,} points")
        return larger(need, numbers(graph + distances, f"the graph of {n:,} points"))


class _Watched:
    """A task that tells a watch when an iteration asks for its mini-batch."""

    def __init__(self, task: Any, watch: Watch) -> None:
        self._task, self._told = task, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)

    def batch(self, t: int) -> NDArray:
        self._told.step()
        return self._task.batch(t)


def _offered(*absent: str) -> tuple[Parameter, ...]:
    return tuple(p for p in MultiClass.parameters if p.name not in absent)


class LinearMC(MultiClassBaseline, multiclass_special.LinearMC):
    """`dsgcore.LinearMC` with progress, cancellation and a memory limit.

    Parameters
    ----------
    tau_A, step_size, radius, batch_size, n_iter, variant, features, sigma, n_features, random_state
        As in `dsgcore.LinearMC`.
    memory_limit : float, default=4.0
        GB that a fit may take beside the points.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_
        As in `dsgcore.LinearMC`.
    objectives_ : ndarray of shape (1,)
        The objective over all labeled points at the end.
    memory_, converged_
        As of every `dsgcore.baselines.Baseline`.
    """

    title: ClassVar[str] = "Linear-MC"
    sentence: ClassVar[str] = "learns from the labels alone: neither graph nor pull to low rank"
    parameters: ClassVar[tuple[Parameter, ...]] = _offered("tau_I", "tau_S", "theta", "n_neighbors")

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
        memory_limit: float = 4.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        multiclass_special.LinearMC.__init__(
            self,
            tau_A=tau_A,
            step_size=step_size,
            radius=radius,
            batch_size=batch_size,
            n_iter=n_iter,
            variant=variant,
            features=features,
            sigma=sigma,
            n_features=n_features,
            random_state=random_state,
        )
        self.memory_limit = memory_limit


class LRCMC(MultiClassBaseline, multiclass_special.LRCMC):
    """`dsgcore.LRCMC` with progress, cancellation and a memory limit.

    Parameters
    ----------
    tau_A, tau_S, theta, step_size, radius, batch_size, n_iter, variant, features, sigma, n_features, random_state
        As in `dsgcore.LRCMC`.
    memory_limit : float, default=4.0
        GB that a fit may take beside the points.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_, objectives_, memory_, converged_
        As in `LinearMC`.
    """

    title: ClassVar[str] = "LRC-MC"
    sentence: ClassVar[str] = "learns from the labels alone, pulled to low rank"
    parameters: ClassVar[tuple[Parameter, ...]] = _offered("tau_I", "n_neighbors")

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
        memory_limit: float = 4.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        multiclass_special.LRCMC.__init__(
            self,
            tau_A=tau_A,
            tau_S=tau_S,
            theta=theta,
            step_size=step_size,
            radius=radius,
            batch_size=batch_size,
            n_iter=n_iter,
            variant=variant,
            features=features,
            sigma=sigma,
            n_features=n_features,
            random_state=random_state,
        )
        self.memory_limit = memory_limit


class SSMC(MultiClassBaseline, multiclass_special.SSMC):
    """`dsgcore.SSMC` with progress, cancellation and a memory limit.

    Parameters
    ----------
    tau_A, tau_I, step_size, radius, batch_size, n_iter, n_neighbors, variant, features, sigma, n_features, random_state
        As in `dsgcore.SSMC`.
    memory_limit : float, default=4.0
        GB that a fit may take beside the points.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_, objectives_, memory_, converged_
        As in `LinearMC`.
    """

    title: ClassVar[str] = "SS-MC"
    sentence: ClassVar[str] = "learns from labels and a graph of neighbours, without the pull to low rank"
    parameters: ClassVar[tuple[Parameter, ...]] = _offered("tau_S", "theta")

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
        memory_limit: float = 4.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        multiclass_special.SSMC.__init__(
            self,
            tau_A=tau_A,
            tau_I=tau_I,
            step_size=step_size,
            radius=radius,
            batch_size=batch_size,
            n_iter=n_iter,
            n_neighbors=n_neighbors,
            variant=variant,
            features=features,
            sigma=sigma,
            n_features=n_features,
            random_state=random_state,
        )
        self.memory_limit = memory_limit

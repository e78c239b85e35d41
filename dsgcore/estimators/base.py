"""What the estimators share: from scikit-learn's conventions to a task of the solver, and back."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dsgcore.expansion import Expansion
from dsgcore.kernels import KERNELS, Kernel
from dsgcore.parameters import Choice, Parameter, ParameterError, check_all
from dsgcore.problems import Problem
from dsgcore.sampling import MAX_SEED
from dsgcore.schedules import Plan
from dsgcore.solver import SOLVER_PARAMETERS, Task, solve

# A model is evaluated in pieces of this many points, so that memory stays constant.
POINTS_AT_A_TIME = 65_536


class FunctionalGradientEstimator(BaseEstimator):
    """Shell of an estimator that is trained by the solver; subclasses say which problem, and what the values mean."""

    problem_class: ClassVar[type[Any]]

    def _checked(self) -> dict[str, Any]:
        """Return the solver's parameters, checked."""
        names = [p.name for p in SOLVER_PARAMETERS]
        return check_all(SOLVER_PARAMETERS, {name: getattr(self, name) for name in names}, type(self).__name__)

    def _problem(self) -> Problem:
        parameters: tuple[Parameter, ...] = self.problem_class.parameters
        given = {p.name: getattr(self, p.name) for p in parameters}
        return self.problem_class(**check_all(parameters, given, type(self).__name__))

    def _kernel(self, X: NDArray) -> Kernel:
        kernel = KERNELS[Choice("kernel", "gaussian", options=tuple(KERNELS)).check(self.kernel)]
        given = {p.name: getattr(self, p.name) for p in kernel.parameters}
        if isinstance(given.get("sigma"), str):
            given["sigma"] = _scale(given["sigma"], X)
        return kernel(**check_all(kernel.parameters, given, f"kernel {self.kernel!r}"))

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer) and 0 <= self.random_state <= MAX_SEED:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _fit_model(self, X: NDArray, labels: NDArray) -> Self:
        """Train on validated points and labels as the problem wants them."""
        s = self._checked()
        dtype = np.dtype(s["dtype"])
        problem = self._problem().bind(labels)
        task = Task(
            problem=problem,
            kernel=self._kernel(X),
            X=np.ascontiguousarray(X, dtype=dtype),
            rows=problem.rows(labels),
            plan=Plan(s["schedule"], s["step_size"], s["lam"], s["n_features"], s["n_iter"]),
            batch_size=s["batch_size"],
            seed=self._seed(),
            dtype=dtype,
        )
        self.model_: Expansion = task.new_model()
        for _ in solve(task, self.model_):
            pass
        self.n_iter_ = len(self.model_)
        if self.n_iter_ < task.plan.n_iter or not np.isfinite(self.model_.evaluate(task.X[:1])).all():
            raise ValueError(
                f"{type(self).__name__} diverged at iteration {self.n_iter_ + 1}: "
                f"step_size {s['step_size']:g} is too big for this problem; try half of it"
            )
        return self

    def _values(self, X: ArrayLike) -> NDArray:
        """Return f at the rows of `X`, after validation."""
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=[np.float32, np.float64])
        values = np.empty(len(points), dtype=self.model_.dtype)
        for start in range(0, len(points), POINTS_AT_A_TIME):
            piece = slice(start, start + POINTS_AT_A_TIME)
            values[piece] = self.model_.evaluate(points[piece])
        return values


def _scale(sigma: str, X: NDArray) -> float:
    if sigma != "scale":
        raise ParameterError(f"sigma must be a positive number or 'scale', got {sigma!r}")
    variance = float(X.var())
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

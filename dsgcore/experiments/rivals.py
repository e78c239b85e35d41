"""A run's competitors: their names, the parameters that they share with the run, and the values that its setting scores."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines import COMPETITORS
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, Integer, Parameter, ParameterError, Real, quoted
from dsgcore.data import Split
from dsgcore.estimators.inputs import width
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.theory import words_of
from dsgcore.kernels import GAUSSIAN, KERNELS
from dsgcore.settings import profile_of
from dsgcore.solver.problem import UNLABELED

# Parameters that a page does not offer: the coding of labels, which is fixed here.
FIXED = ("y_holds",)
# The beginning of the names of everyday competitors' classes.
EVERYDAY = "Everyday"
SIGMA = next(p for p in KERNELS[GAUSSIAN].parameters if p.name == "sigma")

Values = dict[str, Any]


class RaceError(DSGError):
    """A race that cannot be run. The message says what is wrong and what is allowed."""


def competitors(setting: str) -> tuple[type[Any], ...]:
    """Return the classes of the methods that compete in a setting."""
    return COMPETITORS.get(setting, ())


def usual_rivals(setting: str) -> list[str]:
    """Return the names of the papers' own competitors in a setting, or without any those of the first two everyday ones."""
    kinds = competitors(setting)
    return [plain_name(kind) for kind in [kind for kind in kinds if not kind.is_everyday] or kinds[:2]]


def competitor(setting: str, name: str) -> type[Any]:
    """Return a competitor's class by its name, as `compare` and `fit` have it, or raise `RaceError`."""
    known = {plain_name(kind): kind for kind in competitors(setting)}
    if (own := name.removeprefix(EVERYDAY)) not in known:
        raise RaceError(f"the competitors in the setting {setting} are {', '.join(known)}, got {quoted(name)}")
    return known[own]


def plain_name(kind: type[Any]) -> str:
    """Return the name that a class has in every table and command."""
    return kind.__name__.removeprefix(EVERYDAY)


def values_of(estimator: Any, X: NDArray, decision: str, k: int) -> NDArray:
    """Return the values that the setting scores, of shape (n,), or (n, k) for classes without an order."""
    if decision == "ranks":
        return np.asarray(estimator.ranking_function(X))
    values = np.asarray(estimator.decision_function(X))
    if decision != "highest":
        return values
    known = np.stack([-values, values], axis=1) if values.ndim == 1 else values
    scores = np.full((len(X), k), -np.inf)
    scores[:, estimator.classes_] = known
    return scores


def fixed_parameters(spec: Spec, kind: type[Any]) -> Values:
    """Return the parameters that a competitor always takes from the run: kernel, its smoothness and the seed."""
    takes, kernel = signature(kind).parameters, _kernel_name(spec, kind)
    own = [p.name for p in spec.kernel.parameters if isinstance(p, Choice)] if kernel == spec.kernel.name else []
    fixed = {"kernel": kernel, **{name: getattr(spec.kernel, name) for name in own}, "random_state": spec.seed}
    return {name: value for name, value in fixed.items() if name in takes}


def _kernel_name(spec: Spec, kind: type[Any]) -> str:
    """Return the run's kernel if the competitor has it, else the Gaussian one."""
    return spec.kernel.name if spec.kernel.name in getattr(kind, "kernels", ()) else GAUSSIAN


def kernel_note(spec: Spec, kind: type[Any]) -> str:
    """Return a sentence about the competitor's kernel if it cannot have the run's; empty if it can, or has no kernel."""
    if "kernel" not in signature(kind).parameters or _kernel_name(spec, kind) == spec.kernel.name:
        return ""
    run_has = words_of(spec.kernel.name).title
    if spec.kernel.family == GAUSSIAN:
        return f"{kind.title} has no orthogonal features: it gets the same Gaussian kernel without them."
    return (
        f"{kind.title} has no {run_has} kernel: it gets a {words_of(GAUSSIAN).title} one, whose "
        "default bandwidth follows the spread of the points."
    )


def free_parameters(spec: Spec, split: Split, kind: type[Any]) -> tuple[Parameter, ...]:
    """Return a competitor's parameters that the user can choose, with the run's values as defaults if it has them."""
    takes, run_kernel, of_kernel = signature(kind).parameters, spec.kernel, list[Parameter]()
    if "kernel" in takes and _kernel_name(spec, kind) == run_kernel.name:
        own = [p for p in run_kernel.parameters if not isinstance(p, Choice) and p.name in takes]
        of_kernel = [replace(p, default=getattr(run_kernel, p.name)) for p in own]
    elif "kernel" in takes and run_kernel.family == GAUSSIAN:  # with other random features
        of_kernel = [replace(SIGMA, default=getattr(run_kernel, SIGMA.name))]
    elif "kernel" in takes:
        of_kernel = [replace(SIGMA, default=float(f"{width(SIGMA, 'scale', split.X_train):.3g}"))]
    own = [p for p in kind.parameters if p.name not in FIXED]
    owners = (run_kernel, spec.solver, spec.problem)
    values = {p.name: p.default for p in own}
    values |= {p.name: getattr(owner, p.name) for owner in owners for p in own if hasattr(owner, p.name)}
    labels = split.y_train[split.y_train != UNLABELED]
    if "penalty" in values:
        values["penalty"] = "half rkhs"  # the norm of the run's own ridge
    if "prior" in values and spec.problem.labels != "pairs":
        # The share of the labeled points above the threshold of two classes, or above each threshold.
        shares = tuple(float(f"{np.mean(labels >= code):.4g}") for code in range(1, int(labels.max()) + 1))
        values["prior"] = shares[0] if len(shares) == 1 else shares
    # Values that have another name or unit in the competitor's objective.
    rule = profile_of(spec.problem).translations.get(kind.__name__)
    values |= {} if rule is None else rule(spec, len(labels), len(split.y_train) - len(labels))
    return (*of_kernel, *(_with_default(p, values[p.name]) for p in own))


def _with_default(parameter: Parameter, value: Any) -> Parameter:
    """Set a parameter's default to the nearest allowed value; keep its own if the types differ."""
    if isinstance(parameter, Real | Integer) and isinstance(value, int | float):
        value = min(max(float(f"{value:.4g}"), parameter.low), parameter.high)
        value = int(value) if isinstance(parameter, Integer) else value
    try:
        return replace(parameter, default=parameter.check(value))
    except ParameterError:
        return parameter

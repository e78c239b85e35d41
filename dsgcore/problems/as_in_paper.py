"""The values of the papers' own experiments, by setting: what a paper prints, the grid that it searches, and its sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from dsgcore.core.parameters import Integer, ParameterError

# A run from 0 with independent mini-batches, of which the last iterate counts, in MATLAB's precision.
PLAIN = {"start": None, "sampling": "independent", "average": None, "tol": None}
PLAIN |= {"dtype": "float64", "features": "fresh"}
GAUSSIAN = {**PLAIN, "kernel": "gaussian"}
# theta lam of the steps theta / t: the middle of (1, 2).
PRODUCT = 1.5
# Weights that a grid also switches off.
OR_ZERO = ("tau_I", "tau_S")
N = Integer("n", 1, low=1)  # number of training points


@dataclass(frozen=True)
class PaperValues:
    """The values of one paper's experiments: where the paper gives them, and what it says and leaves open.

    `values` are printed, by the name of the parameter. The paper searches `grid`, and then `afterwards` (values, or the ends of
    a range). `followed` returns what follows from all others and the number of training points or None.
    """

    source: str
    says: str
    values: Mapping[str, Any]
    grid: Mapping[str, Sequence[float]]
    afterwards: Mapping[str, Sequence[float]] = field(default_factory=dict)
    followed: Callable[[Mapping[str, Any], int | None], Mapping[str, Any]] = lambda values, n: {}

    def at(self, n: int | None, own: Mapping[str, Any] = MappingProxyType({}), **given: Any) -> dict[str, Any]:
        """Return all values by name, for `n` training points: TSGS3VM's numbers of features and of iterations follow.

        Values of `own` stay where the paper's grid holds them, else the grid's middle replaces them; those given stay in any
        case. Raise `ParameterError` if `n` is None and needed.
        """
        searched: dict[str, Any] = {}
        for name, tried in {**self.grid, **self.afterwards}.items():
            low, *_, high = sorted(value for value in tried if value or name not in OR_ZERO)
            value = own.get(name)
            each = value if isinstance(value, tuple | list) and value else [value]
            is_kept = all(isinstance(one, int | float) and low <= one <= high for one in each)
            # On a logarithmic scale if the grid spans powers of ten.
            middle = float(f"{math.sqrt(low * high) if high > 10 * low > 0 else (low + high) / 2:.3g}")
            searched[name] = value if is_kept or (value == 0 and name in OR_ZERO) else middle
        values = {**self.values, **searched, **given}
        return {**values, **self.followed(values, None if n is None else N.check(n)), **given}


def _step_of_theorem(values: Mapping[str, Any], _: int | None) -> dict[str, float]:
    return {"step_size": PRODUCT / values["lam"]}


def _one_pass(values: Mapping[str, Any], n: int | None) -> dict[str, int]:
    if n is not None:
        return {"n_features": math.ceil(math.sqrt(n)), "n_iter": math.ceil(n / 256)}
    if {"n_features", "n_iter"} <= values.keys():
        return {}
    raise ParameterError(
        "n must be the number of training points, because n_features and n_iter follow from it, got None"
    )


def _powers(base: int, low: int, high: int) -> list[float]:
    return [float(f"1e{e}") if base == 10 else 2.0**e for e in range(low, high + 1)]


def _tenths(low: int, high: int) -> list[float]:
    return [i / 10 for i in range(low, high + 1)]


_PAIRWISE = {"lam": _powers(2, -3, 3), "sigma": _powers(2, -3, 3), "gamma": _tenths(0, 10)}
AS_IN_PAPER: Mapping[str, PaperValues] = {
    "similar_unlabeled": PaperValues(
        "TSGSU, Section 6 and Lemma 1",
        "The squared loss, the absolute value as correction, m = 1000 and B = 1000 for T = 100 iterations, steps θ/√T with θ ≤ 1; "
        "λ and σ from 2⁻⁷ to 2⁷ by five-fold cross-validation. The paper adjusts the step by hand.",
        GAUSSIAN
        | {"n_features": 1000, "batch_size": 1000, "n_iter": 100, "schedule": "theta/sqrt(T)"}
        | {"loss": "squared", "correction": "absolute value"},
        {"lam": _powers(2, -7, 7), "sigma": _powers(2, -7, 7)},
        {"step_size": [0.0, 1.0]},
    ),
    "auc": PaperValues(
        "QSG-S2AUC, Section 6.1, Algorithm 1 and Theorem 1",
        "Triplets of one positive, one negative and one unlabeled point each, steps θ/t with θλ = 1.5; λ and σ from 2⁻³ to 2³ "
        "and γ from 0 to 1 by five-fold cross-validation. The paper prints no m, B and T.",
        GAUSSIAN | {"schedule": "theta/t", "pairing": "triplets", "is_pooled": False, "positive_share": None},
        _PAIRWISE,
        followed=_step_of_theorem,
    ),
    "s3vm": PaperValues(
        "TSGS3VM, Experimental Setup, Implementation",
        "m = ⌈√n⌉ and B = 256 for one pass over the n training points, C* = C n_l/n_u, the symmetric hinge, a constant step; "
        "C and σ from 10⁻³ to 10³ by five-fold cross-validation, and then the step from 10⁻³ to 1.",
        GAUSSIAN
        | {"batch_size": 256, "schedule": "constant", "lam": 1.0, "loss": "symmetric hinge"}
        | {"unlabeled_weight": None, "is_balanced": False},
        {"labeled_weight": _powers(10, -3, 3), "sigma": _powers(10, -3, 3)},
        {"step_size": [1.0, 0.1, 0.01, 0.001]},
        followed=_one_pass,
    ),
    "ordinal": PaperValues(
        "QS3ORAO, Experiments, Algorithm 1 and Theorem 1",
        "Tuples of one point of each class and an unlabeled one, hinge thresholds with margin 1, steps θ/t with θλ = 1.5; λ and "
        "σ from 2⁻³ to 2³ and each γ from 0 to 1 by five-fold cross-validation. The paper prints no m, B and T.",
        GAUSSIAN | {"schedule": "theta/t", "pairing": "paired", "thresholds": "hinge", "margin": 1.0},
        _PAIRWISE,
        followed=_step_of_theorem,
    ),
    "multiclass": PaperValues(
        "PS3VT, Section 5 and Algorithm 1",
        "One point an iteration, the hinge loss on the coordinates, weights in the unit ball, ten neighbours; τ_A from 10⁻¹⁵ to "
        "10⁻⁶, τ_I the same or 0, τ_S from 10⁻¹⁰ to 10⁻¹ or 0, 1/μ from 10 to 10⁵ and θ from 0.5 to 0.9 by five-fold "
        "cross-validation. The paper prints no T. With steps of that length the weights keep only the last points. The variant "
        "“released” is the authors' program, with step_size / (t + n_l) for 1/μ.",
        PLAIN
        | {"batch_size": 1, "is_full_gradient": False, "schedule": "constant", "loss": "hinge"}
        | {"feature_map": "linear", "fit_intercept": False, "radius": 1.0, "n_neighbors": 10},
        {"lam": _powers(10, -15, -6), "tau_I": [0.0, *_powers(10, -15, -6)], "tau_S": [0.0, *_powers(10, -10, -1)]}
        | {"step_size": _powers(10, 1, 5), "theta": _tenths(5, 9)},
    ),
}


def paper_grid(setting: str, *, names: tuple[str, ...] = (), prefix: str = "") -> dict[str, list[float]]:
    """Return the grid in which a setting's paper searches, as a new dict.

    Parameters
    ----------
    setting : str
        One of `AS_IN_PAPER`; "s3vm_step" for the step size, which is searched after the rest; or "pnu_auc", which has
        another parameter for the weight of the unlabeled points.
    names : tuple of str, optional
        Parameters to keep, for estimators that have no others. Default: all.
    prefix : str, default=""
        Prefix of the names. Use "estimator__" for an estimator within `SeenLabels`.

    Raises
    ------
    ParameterError
        If there is no such setting or name.

    Notes
    -----
    Source: the papers' sections on experiments. All sub-problems of QS3ORAO have the same weight gamma here. The paper's C of
    TSGS3VM is labeled_weight, which weighs a mean loss; the estimator's C weighs each point. Its paper's step is 1/eta with eta
    from 10^0 to 10^3.
    """
    pnu_auc = {"lam": _PAIRWISE["lam"], "sigma": _PAIRWISE["sigma"], "eta": _tenths(-10, 10)}
    grids = {name: values.grid for name, values in AS_IN_PAPER.items()}
    grids |= {"s3vm_step": AS_IN_PAPER["s3vm"].afterwards, "pnu_auc": pnu_auc}
    known = grids.get(setting)
    if known is None:
        raise ParameterError(f"setting must be one of {', '.join(grids)}, got {setting!r}")
    if wrong := [name for name in names if name not in known]:
        raise ParameterError(f"the grid of {setting} has {', '.join(known)}, got {wrong[0]!r}")
    return {prefix + name: list(values) for name, values in known.items() if not names or name in names}

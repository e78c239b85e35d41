"""Parameter grids of the papers."""

from __future__ import annotations

from dsgcore.core.parameters import ParameterError


def _powers(base: float, low: int, high: int) -> list[float]:
    return [float(base) ** exponent for exponent in range(low, high + 1)]


def _tenths(low: int, high: int) -> list[float]:
    return [i / 10 for i in range(low, high + 1)]


_WIDTHS_AND_RIDGES = {name: _powers(2, -3, 3) for name in ("lam", "sigma")}
_DECADES = [float(f"1e{e}") for e in range(-3, 4)]
_GRIDS: dict[str, dict[str, list[float]]] = {
    "similar_unlabeled": {name: _powers(2, -7, 7) for name in ("lam", "sigma")},
    "auc": {**_WIDTHS_AND_RIDGES, "gamma": _tenths(0, 10)},
    "pnu_auc": {**_WIDTHS_AND_RIDGES, "eta": _tenths(-10, 10)},
    "s3vm": {"C": _DECADES, "sigma": _DECADES},
    "s3vm_step": {"step_size": [1.0, 0.1, 0.01, 0.001]},
    "ordinal": {**_WIDTHS_AND_RIDGES, "gamma": _tenths(0, 10)},
    "multiclass": {
        "lam": [float(f"1e{e}") for e in range(-15, -5)],
        "tau_I": [0.0, *(float(f"1e{e}") for e in range(-15, -5))],
        "tau_S": [0.0, *(float(f"1e{e}") for e in range(-10, 0))],
        "step_size": [float(f"1e{e}") for e in range(1, 6)],
        "theta": _tenths(5, 9),
    },
}


def paper_grid(setting: str, *, names: tuple[str, ...] = (), prefix: str = "") -> dict[str, list[float]]:
    """Return the grid in which a setting's paper searches.

    Parameters
    ----------
    setting : str
        One of these names. "similar_unlabeled"; "auc"; "pnu_auc", which has another parameter for the weight of the
        unlabeled points; "s3vm"; "s3vm_step", the step size, which is searched after the rest; "ordinal";
        "multiclass".
    names : tuple of str, optional
        Parameters to keep, for estimators that have no others. Default: all.
    prefix : str, default=""
        Prefix of the names. Use "estimator__" for an estimator within `SeenLabels`.

    Returns
    -------
    dict of str to list of float
        A new dict at every call, which you may change.

    Raises
    ------
    ParameterError
        If there is no such setting or name.

    Notes
    -----
    Source: the papers' sections on experiments.

    - QS3ORAO: all sub-problems have the same weight gamma here.
    - TSGS3VM: C weighs the labeled points' mean loss, ``TSGS3VM(C_per="mean")``.
    - TSGS3VM: the paper's text has step sizes of 10^0 to 10^3. They are read as 10^0 down to 10^-3.
    """
    known = _GRIDS.get(setting)
    if known is None:
        raise ParameterError(f"setting must be one of {', '.join(_GRIDS)}, got {setting!r}")
    for name in names:
        if name not in known:
            raise ParameterError(f"the grid of {setting} has {', '.join(known)}, got {name!r}")
    return {prefix + name: list(values) for name, values in known.items() if not names or name in names}

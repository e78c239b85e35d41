"""Stochastic functional gradients with random features, for kernel learning with few labels."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsgcore.estimators import LRCMC, PS3VT, QS3ORAO, QSGS2AUC, SSMC, TSGS3VM, TSGSU, LinearMC
    from dsgcore.expansion import Expansion
    from dsgcore.experiments import Run, Spec, SpecError
    from dsgcore.model_files import ModelError, load_model
    from dsgcore.parameters import ParameterError
    from dsgcore.problems import ProblemError

__all__ = [
    "LRCMC",
    "PS3VT",
    "QS3ORAO",
    "QSGS2AUC",
    "SSMC",
    "TSGS3VM",
    "TSGSU",
    "Expansion",
    "LinearMC",
    "ModelError",
    "ParameterError",
    "ProblemError",
    "Run",
    "Spec",
    "SpecError",
    "load_model",
]
# Where each name is found when it is first asked for: scikit-learn alone would take more than a second to import.
_PLACES = {
    "LRCMC": "estimators",
    "PS3VT": "estimators",
    "QS3ORAO": "estimators",
    "QSGS2AUC": "estimators",
    "SSMC": "estimators",
    "TSGS3VM": "estimators",
    "TSGSU": "estimators",
    "LinearMC": "estimators",
    "Expansion": "expansion",
    "ModelError": "model_files",
    "ParameterError": "parameters",
    "ProblemError": "problems",
    "Run": "experiments",
    "Spec": "experiments",
    "SpecError": "experiments",
    "load_model": "model_files",
}


def __getattr__(name: str) -> Any:
    """Import a public name, or a public part of the package, when it is first asked for."""
    if name in _PLACES:
        value = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    elif not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})

"""Stochastic functional gradients with random features, for kernel learning with few labels."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsgcore.core.errors import DSGError
    from dsgcore.core.expansion import Expansion
    from dsgcore.core.model_files import ModelError
    from dsgcore.core.parameters import ParameterError
    from dsgcore.estimators import LRCMC, PS3VT, QS3ORAO, QSGS2AUC, SSMC, TSGS3VM, TSGSU, LinearMC
    from dsgcore.experiments import Run, Spec, SpecError
    from dsgcore.models import load_model
    from dsgcore.problems import ProblemError

__version__ = "0.1.0"

__all__ = [
    "LRCMC",
    "PS3VT",
    "QS3ORAO",
    "QSGS2AUC",
    "SSMC",
    "TSGS3VM",
    "TSGSU",
    "DSGError",
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
# The module of each public name, imported on first use: scikit-learn alone would take more than a second to import.
_PLACES = {
    **dict.fromkeys(("LRCMC", "PS3VT", "QS3ORAO", "QSGS2AUC", "SSMC", "TSGS3VM", "TSGSU", "LinearMC"), "estimators"),
    **dict.fromkeys(("Run", "Spec", "SpecError"), "experiments"),
    "DSGError": "core.errors",
    "Expansion": "core.expansion",
    "ModelError": "core.model_files",
    "ParameterError": "core.parameters",
    "ProblemError": "core.problem",
    "load_model": "models",
}


def __getattr__(name: str) -> Any:
    """Import a public name, or a public part of the package, on first use."""
    if name in _PLACES:
        value = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    else:
        places = () if name.startswith("_") else (f"{__name__}.{name}", f"{__name__}.core.{name}")
        place = next(filter(find_spec, places), None)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = import_module(place)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})

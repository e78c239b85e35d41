"""Stochastic functional gradients with random features, for kernel learning with few labels."""

from importlib import import_module

TYPE_CHECKING = False  # that of `typing`, whose import takes longer than all else here
if TYPE_CHECKING:
    from dsgcore.baselines.ablations import LRCMC, SSMC, LinearMC
    from dsgcore.comparing.label import label
    from dsgcore.core.errors import DSGError
    from dsgcore.core.parameters import ParameterError
    from dsgcore.estimators import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, DSGSoftmax
    from dsgcore.experiments import Run, Spec, SpecError
    from dsgcore.models import load_model, save_model
    from dsgcore.problems import ProblemError
    from dsgcore.solver.model import Expansion
    from dsgcore.solver.model_files import ModelError
    from dsgcore.tuning.safe import Safe

__version__ = "0.1.0"

__all__ = [
    "DSG",
    "LRCMC",
    "PS3VT",
    "QS3ORAO",
    "QSGS2AUC",
    "SSMC",
    "TSGS3VM",
    "TSGSU",
    "DSGError",
    "DSGSoftmax",
    "Expansion",
    "LinearMC",
    "ModelError",
    "ParameterError",
    "ProblemError",
    "Run",
    "Safe",
    "Spec",
    "SpecError",
    "label",
    "load_model",
    "save_model",
]
# The module of each public name, imported on first access: scikit-learn alone would take more than a second to import.
_MODULES = {
    **dict.fromkeys(("DSG", "DSGSoftmax", "PS3VT", "QS3ORAO", "QSGS2AUC", "TSGS3VM", "TSGSU"), "dsgcore.estimators"),
    **dict.fromkeys(("LRCMC", "SSMC", "LinearMC"), "dsgcore.baselines"),
    **dict.fromkeys(("Run", "Spec", "SpecError"), "dsgcore.experiments"),
    "Safe": "dsgcore.tuning.safe",
    "label": "dsgcore.comparing.label",
    "DSGError": "dsgcore.core.errors",
    "Expansion": "dsgcore.solver.model",
    "ModelError": "dsgcore.solver.model_files",
    "ParameterError": "dsgcore.core.parameters",
    "ProblemError": "dsgcore.solver.problem",
    **dict.fromkeys(("load_model", "save_model"), "dsgcore.models"),
}


def __getattr__(name: str) -> object:
    """Import a public name, or a module of the package, on first access."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = (
            getattr(import_module(_MODULES[name]), name) if name in _MODULES else import_module(f"{__name__}.{name}")
        )
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})

"""Stochastic functional gradients with random features, for kernel learning with few labels."""

from dsgcore.estimators import QSGS2AUC
from dsgcore.expansion import Expansion, ModelError
from dsgcore.expansion import load as load_model
from dsgcore.experiments import Run, Spec, SpecError
from dsgcore.parameters import ParameterError
from dsgcore.problems import ProblemError

__all__ = [
    "QSGS2AUC",
    "Expansion",
    "ModelError",
    "ParameterError",
    "ProblemError",
    "Run",
    "Spec",
    "SpecError",
    "load_model",
]

"""The papers' problems, one file each, and their registry."""

from dsgcore.problems.auc import SemiSupervisedAUC
from dsgcore.problems.base import UNLABELED, Problem, ProblemError, objective

PROBLEMS = {problem.name: problem for problem in (SemiSupervisedAUC,)}

__all__ = ["PROBLEMS", "UNLABELED", "Problem", "ProblemError", "SemiSupervisedAUC", "objective"]

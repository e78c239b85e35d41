"""The papers' problems, one file each, and their registry."""

from dsgcore.problems.auc import SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.problems.supervised import Supervised
from dsgcore.solver.problem import UNLABELED, Problem, ProblemError, Setting, objective

PROBLEMS = {
    problem.name: problem
    for problem in (SimilarUnlabeled, SemiSupervisedAUC, SemiSupervisedSVM, SemiSupervisedOrdinal, Supervised)
}

__all__ = ["PROBLEMS", "UNLABELED", "Problem", "ProblemError", "SemiSupervisedAUC", "Setting", "objective"]

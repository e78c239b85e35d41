"""Choosing hyper-parameters as the five papers do: splitters, scorers and grids for scikit-learn's `GridSearchCV`.

A search for QSG-S2AUC on labels that hold -1 for unlabeled points, then, takes

    GridSearchCV(QSGS2AUC(random_state=0), paper_grid("auc"), cv=LabeledFolds(random_state=0), scoring=auc_score)

`suggest` chooses the few parameters that matter within a stated time, by these folds and scores.

What each setting's paper does (the rest of a cell is `LabeledFolds` with the setting's scorer):

===================  =========================================================  ==========================================
setting              folds                                                      score
===================  =========================================================  ==========================================
similar-unlabeled    `PairFolds`: pairs and unlabeled points in five parts       `SimilarUnlabeledRisk`, no label needed
AUC                  `LabeledFolds`                                             `auc_score`; of PNU-AUC `PNUAUCRisk`
S3VM                 `UnlabeledFolds`: one unlabeled part trains, four test      test error, on labels hidden in training
ordinal              `LabeledFolds`                                             `mean_auc_score`
multi-class          `LabeledFolds`                                             `accuracy`
===================  =========================================================  ==========================================
"""

from dsgcore.baselines.selection import PNUAUCRisk
from dsgcore.model_selection.folds import FoldError, LabeledFolds, PairFolds, UnlabeledFolds
from dsgcore.model_selection.grids import paper_grid
from dsgcore.model_selection.halving import Suggestion, Tried
from dsgcore.model_selection.scorers import AUCRisk, SimilarUnlabeledRisk, accuracy, auc_score, mean_auc_score
from dsgcore.model_selection.seen_labels import SeenLabels
from dsgcore.model_selection.suggesting import suggest

__all__ = [
    "AUCRisk",
    "FoldError",
    "LabeledFolds",
    "PNUAUCRisk",
    "PairFolds",
    "SeenLabels",
    "SimilarUnlabeledRisk",
    "Suggestion",
    "Tried",
    "UnlabeledFolds",
    "accuracy",
    "auc_score",
    "mean_auc_score",
    "paper_grid",
    "suggest",
]

"""Hyper-parameter search as in the five papers: splitters, scorers and grids for scikit-learn's `GridSearchCV`.

If labels hold -1 for unlabeled points, one line makes a correct search. The folds keep each class's share, and with
``unlabeled="train"`` every training set has all unlabeled points.

    GridSearchCV(QSGS2AUC(random_state=0), paper_grid("auc"), cv=LabeledFolds(unlabeled="train", random_state=0))

The search uses the estimator's own `score`, which ignores unlabeled points. `scoring` can also be `accuracy`,
`auc_score` or `mean_auc_score`, which ignore them too. scikit-learn's scorers, such as ``scoring="accuracy"``, count
unlabeled points as mistakes.

`compare` ranks DSG Lab's methods and scikit-learn's on the same splits of your data, and says which one to use.

`Calibrated` adds `predict_proba` to an estimator, with probabilities from held-out labels.

`suggest` tunes the few parameters that matter within a given time, with these folds and scores.

Each paper tunes parameters in its own way. Unless noted, the scores use the labeled points of held-out folds:

- similar-unlabeled: `PairFolds` splits pairs and unlabeled points into five parts, and `SimilarUnlabeledRisk` needs no
  label;
- AUC: `LabeledFolds` with `auc_score`; `PNUAUCRisk` for PNU-AUC;
- S3VM: `UnlabeledFolds` trains on one part of the unlabeled points, and tests on four whose labels were hidden;
- ordinal: `LabeledFolds` with `mean_auc_score`;
- multi-class: `LabeledFolds` with `accuracy`.
"""

from dsgcore.comparing import compare as compare
from dsgcore.problems.as_in_paper import paper_grid as paper_grid
from dsgcore.tuning.calibrated import Calibrated as Calibrated
from dsgcore.tuning.calibrated import SeenLabels as SeenLabels
from dsgcore.tuning.folds import FoldError as FoldError
from dsgcore.tuning.folds import LabeledFolds as LabeledFolds
from dsgcore.tuning.folds import PairFolds as PairFolds
from dsgcore.tuning.folds import PNUAUCRisk as PNUAUCRisk
from dsgcore.tuning.folds import SimilarUnlabeledRisk as SimilarUnlabeledRisk
from dsgcore.tuning.folds import UnlabeledFolds as UnlabeledFolds
from dsgcore.tuning.folds import accuracy as accuracy
from dsgcore.tuning.folds import auc_score as auc_score
from dsgcore.tuning.folds import mean_auc_score as mean_auc_score
from dsgcore.tuning.search import Suggestion as Suggestion
from dsgcore.tuning.search import Tried as Tried
from dsgcore.tuning.suggesting import suggest as suggest

"""Texts, defaults, figures and lessons of ordinal regression (QS3ORAO)."""

from __future__ import annotations

import warnings

from dsgcore.core.metrics import auc
from dsgcore.problems.thresholds import class_measures, classify, thresholds
from dsgcore.settings import panels
from dsgcore.settings.profile import TRUST, USUAL, fitted, profile, usual_run
from dsgcore.settings.theorems import convex_theorem


def _details(run: panels.Result) -> panels.Details:
    """Draw the thresholds on the score axis, the AUC of each sub-problem and the confusion matrix."""
    y, f, names = run.split.y_test, run.result_test_values, run.split.class_names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some thresholds may coincide; the confusion matrix shows it
        b = thresholds(run.split.y_train[run.labeled_rows], run.result_labeled_values, margin=0.0)
    scores = panels.Histogram(
        "Scores and thresholds, test points",
        "score f",
        panels.by_class(run),
        "Histograms of the scores by class, with thresholds.",
        marks=[panels.Mark(float(cut), f"b{j + 1}") for j, cut in enumerate(b)],
    )
    measures = tuple(panels.Metric(f"Test {name}", f"{value:.3f}") for name, value in class_measures(y, f, b).items())
    cuts = range(1, len(names))
    sub_problems: panels.Panel = {
        "threshold": [f"b{j}" for j in cuts],
        "between": [f"{names[j - 1]} | {names[j]}" for j in cuts],
        "at": [float(b[j - 1]) for j in cuts],
        "test AUC": [auc(y >= j, f) for j in cuts],
    }
    return (scores,), (sub_problems, panels.confusion(run, classify(f, b))), (measures,)


ORDINAL = profile(
    "ordinal",
    fitted=fitted(0.03, is_ranking=True),
    usual=lambda n, n_labeled, rarest: usual_run(gamma=0.9, pairing="all", lam=0.5 / max(n_labeled * rarest, 1.0)),
    # The ridge as a weight for each slack.
    translations={"SVOREX": lambda spec, n_labeled, n_unlabeled: {"C": 1.0 / (spec.solver.lam or 1.0)}},
    suggested=USUAL | {"gamma": TRUST},
    details=_details,
    theorem=convex_theorem("ordinal"),
)

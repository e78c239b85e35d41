"""Texts, defaults, figures and lessons of similar-unlabeled learning (TSGSU)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsgcore.prior import similar_class_prior
from dsgcore.problems import UNLABELED
from dsgcore.problems.similar_unlabeled import CORRECTIONS
from dsgcore.settings import panels
from dsgcore.settings.profile import FROM_0, USUAL, Among, profile, usual_run
from dsgcore.settings.theorems import Assumption, Constant, Rate, assumption, constant_step_theorem
from dsgcore.solver.parameters import RunSpec

# The prior is estimated from at most this many points of each kind, which takes a few seconds.
MAX_POINTS_FOR_PRIOR = 400
_ESTIMATE = f"""Mixture proportion estimation (KM2) from at most {MAX_POINTS_FOR_PRIOR} points of each kind. This is a first guess.
It is too high if the classes are well separated."""


def _risks(run: panels.Result) -> tuple[panels.Values, ...]:
    """Return the two classes' estimated risks before the correction."""
    history, (negative, positive) = run.history, run.split.class_names

    def line(target: str, name: str) -> panels.Values:
        parts = (history.column(part) for part in history.names if part.endswith(f"as {target}"))
        return panels.Values(f"risk of {name}", sum(parts, np.zeros(len(history))), panels.Role(target))

    return line("positive", positive), line("negative", negative)


def _details(run: panels.Result) -> panels.Details:
    """Draw the estimated risks of both classes over the iterations, and the priors."""
    t, risks = run.history.column("t"), _risks(run)
    lines = [panels.Values("zero", np.zeros(len(t)), panels.INK, is_faint=True), *risks]
    lowest = min(float(np.min(line.values)) for line in risks)
    so_far = f"the lowest so far is **{lowest:.3g}**" if lowest < 0 else "neither has fallen below zero so far"
    said = f"Both are drawn before the correction. A risk is never negative, but its estimate can be: {so_far}."
    X, is_unlabeled, problem = run.split.X_train, run.split.y_train == UNLABELED, run.problem
    hidden = run.split.y_hidden[is_unlabeled]
    known = hidden[hidden != UNLABELED]  # in an uploaded file, some may be unknown

    def estimated() -> float:
        size, seed = MAX_POINTS_FOR_PRIOR, run.spec.seed
        return float(similar_class_prior(X[~is_unlabeled], X[is_unlabeled], max_points=size, seed=seed))

    words = "estimate", "Estimate it from the pairs", "Estimated share of the larger class"
    priors = (
        panels.Metric("Assumed share of positives", f"{problem.prior:.3f}"),
        panels.Metric("In the unlabeled points", f"{np.mean(known == 1):.3f}" if len(known) else "–"),
        panels.OnRequest(*words, _ESTIMATE, estimated),
    )
    curves = panels.Curves("Estimated risks", t, lines, "Estimated risks of both classes over iterations.")
    return (curves,), (said,), (priors,)


def _of_risk(spec: RunSpec) -> tuple[Assumption, ...]:
    """Return the assumptions on the risk: unbiased mini-batches and a Lipschitz gradient. A correction breaks both."""
    problem: Any = spec.problem
    is_corrected, has_kinks = problem.correction != "identity", problem.loss == "double hinge"
    remedy = {"problem": {"correction": "identity"}}
    smooth = {"problem": remedy["problem"] | ({"loss": "squared"} if has_kinks else {})}
    kinks = {"problem": {"loss": "double hinge"}}
    breach = {"problem": {"correction": "absolute value"}, "solver": {"lam": 0.05, "batch_size": 4}}
    where = {"loss": problem.loss if has_kinks else "correction", "beside": ""}
    return (
        assumption("correction", spec, not is_corrected, remedy, breach),
        assumption("smooth", spec, not (is_corrected or has_kinks), smooth, kinks, **where),
    )


SIMILAR_UNLABELED = profile(
    "similar_unlabeled",
    fitted=lambda n_pairs: {"tol": FROM_0},
    usual=lambda n, n_pairs, rarest: usual_run(
        correction="identity", batch_size=256, lam=min(1.0 / n / (1.0 - 2.0 * min(rarest, 0.49)) ** 2, 1.0)
    ),
    suggested=USUAL | {"correction": Among(CORRECTIONS)},
    details=_details,
    risks=_risks,
    theorem=constant_step_theorem(
        "similar_unlabeled",
        schedule="theta/sqrt(T)",
        rates={"gradient_mean": Rate(-0.5, "T", "1/√T")},
        largest=("1 (Lemma 1)", lambda n_iter: 1.0),
        of_risk=_of_risk,
        constant=Constant("error", 1.0, Rate(0.0, "T", "1"), "θ² M² (√κ + √φ)²", {}),
        step_size=1.0,
        lam=0.5,
        batch_size=64,
    ),
)

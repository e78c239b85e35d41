"""Texts, defaults, figures and lessons of similar-unlabeled learning (TSGSU)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dsgcore.prior import similar_class_prior
from dsgcore.problems import UNLABELED
from dsgcore.problems.similar_unlabeled import CORRECTIONS
from dsgcore.settings import panels
from dsgcore.settings.guided.questions import BETTER, DIVERGES, WORSE, Claim
from dsgcore.settings.guided.written import lessons_of
from dsgcore.settings.profile import USUAL, Among, Lesson, PaperFigure, Profile, short, usual_run
from dsgcore.settings.theorem import Assumption, Breach, Rate
from dsgcore.settings.theorems import constant_step_theorem, unbiased_batches

if TYPE_CHECKING:
    from dsgcore.experiments.run import Run
    from dsgcore.experiments.spec import Spec

# The prior is estimated from at most this many points of each kind, which takes a few seconds.
MAX_POINTS_FOR_PRIOR = 400
_ESTIMATE = f"""Mixture proportion estimation (KM2) from at most {MAX_POINTS_FOR_PRIOR} points of each kind. This is a first guess.
It is too high if the classes are well separated."""


def _risks(run: Run) -> tuple[panels.Line, ...]:
    """Return the two classes' estimated risks before the correction."""
    history, (negative, positive) = run.history, run.split.class_names

    def line(target: str, name: str) -> panels.Line:
        parts = (history.column(part) for part in history.names if part.endswith(f"as {target}"))
        return panels.Line(f"risk of {name}", sum(parts, np.zeros(len(history))), panels.Role(target))

    return line("positive", positive), line("negative", negative)


def _details(run: Run) -> panels.Details:
    """Draw the estimated risks of both classes over the iterations, and the priors."""
    t, risks = run.history.column("t"), _risks(run)
    lines = [panels.Line("zero", np.zeros(len(t)), panels.INK, is_rule=True), *risks]
    lowest = min(float(np.min(line.y)) for line in risks)
    so_far = f"the lowest so far is **{lowest:.3g}**" if lowest < 0 else "neither has fallen below zero so far"
    said = f"Both are drawn before the correction. A risk is never negative, but its estimate can be: {so_far}."
    return (
        (panels.Curves("Estimated risks", t, lines, "Estimated risks of both classes over iterations."),),
        (panels.Words(said),),
        (_priors(run),),
    )


def _priors(run: Run) -> panels.Metrics:
    """Show the given, the true and, on request, the estimated share of positives."""
    problem: Any = run.problem
    hidden = run.split.y_hidden[run.split.y_train == UNLABELED]
    known = hidden[hidden != UNLABELED]  # in an uploaded file, some may be unknown
    return panels.Metrics(
        (
            panels.Metric("Assumed share of positives", f"{problem.prior:.3f}"),
            panels.Metric("In the unlabeled points", f"{np.mean(known == 1):.3f}" if len(known) else "–"),
            panels.OnRequest(
                "estimate",
                "Estimate it from the pairs",
                "Estimated share of the larger class",
                _ESTIMATE,
                lambda: _estimated_prior(run),
            ),
        )
    )


def _estimated_prior(run: Run) -> float:
    X, is_unlabeled = run.split.X_train, run.split.y_train == UNLABELED
    size = MAX_POINTS_FOR_PRIOR
    return float(similar_class_prior(X[~is_unlabeled], X[is_unlabeled], max_points=size, seed=run.spec.seed))


def _of_risk(spec: Spec) -> tuple[Assumption, ...]:
    """Return the assumption that mini-batch gradients are unbiased. It holds without a correction."""
    return (
        unbiased_batches(
            spec,
            why=(
                "the correction uses the risks of the mini-batch, and the smaller the mini-batch, the further "
                "they are from the sample's risks"
            ),
            name="correction",
            without="identity",
            breach=Breach(
                "risks corrected, a weak ridge",
                {"problem": {"correction": "absolute value"}, "solver": {"lam": 0.005, "batch_size": 4}},
                (
                    "With the absolute value and such a weak ridge, the mean of the gradient stops falling, also in "
                    "longer runs. The risk of a mini-batch jumps between both sides of zero, where the correction has "
                    "a kink. A usual ridge shows none of this."
                ),
            ),
        ),
    )


# The paper's experiments as studies.
_PAPERS_RUN = {"n_features": 256, "batch_size": 256, "n_iter": 100}
_FULL_RUN = {"n_features": 1000, "batch_size": 1000, "n_iter": 100}
_MIXTURE = {"name": "gaussian_mixture", "n": 4000, "n_labeled": 500, "imbalance": 0.7}
_MANY = {"name": "high_dimensional", "n": 3000, "n_labeled": 500, "imbalance": 0.7}
# 10,000 members of pairs, so many unlabeled points, and a third of these for the test.
_SMALL = {"n": 23_333, "n_labeled": 5000, "test_share": 0.143}
_LARGE = {"n": 143_333, "n_labeled": 5000, "test_share": 0.233}
_ITERATIONS = {"name": "solver.n_iter", "from": 16, "to": 256, "n": 5}
_TO_100 = {"solver.n_iter": {"to": 100}}
_MADE = "Two generated clusters replace covtype, poker and the other sets. "
_DOT = {"name": "dot_product", "sigma": 0.02}

_FIGURES = (
    PaperFigure(
        "fig1",
        "Fig. 1",
        "Accuracy during training, few unlabeled points",
        (
            "With 5,000 similar pairs and 10,000 unlabeled points, TSGSU is as accurate as SU-SL and CUU "
            "after 100 iterations. It reaches that accuracy sooner."
        ),
        _MADE + "Only TSGSU is drawn, over iterations instead of seconds. To compare by seconds, use “time to score”.",
        {"data": _MIXTURE, "solver": _PAPERS_RUN},
        (_ITERATIONS,),
        full={"data": _SMALL, "solver": _FULL_RUN},
        full_axes=_TO_100,
    ),
    PaperFigure(
        "fig2",
        "Fig. 2",
        "Accuracy during training, many unlabeled points",
        ("With 100,000 unlabeled points, SU-SL and SU-DH run out of memory. TSGSU is ahead of CUU at every time."),
        _MADE + "There are 20,000 points, so that the page can show the result at once.",
        {"data": {**_MIXTURE, "n": 20_000}, "solver": _PAPERS_RUN},
        (_ITERATIONS,),
        full={"data": _LARGE, "solver": _FULL_RUN},
        full_axes=_TO_100,
    ),
    PaperFigure(
        "fig3",
        "Fig. 3",
        "With and without the correction",
        ("Without the absolute value the accuracy falls during training, because the estimated risk becomes negative."),
        (
            "Few generated points, many features and a weak ridge. Otherwise no risk is negative: on the "
            "paper's covtype, no mini-batch had a negative risk in our runs."
        ),
        {
            "data": {**_MIXTURE, "n": 400, "n_labeled": 30, "noise": 0.4},
            "solver": {**_PAPERS_RUN, "lam": 1e-5, "batch_size": 128, "step_size": 2.0},
        },
        (
            {"name": "problem.correction", "values": ["absolute value", "identity"]},
            {"name": "solver.n_iter", "from": 16, "to": 1024, "n": 4},
        ),
        seeds=5,
        full={"data": _SMALL, "solver": _FULL_RUN},
        full_axes=_TO_100,
    ),
    PaperFigure(
        "table4",
        "Table 4",
        "The Gaussian kernel's width and the ridge, 10,000 unlabeled points",
        (
            "With width and ridge chosen from the powers of two between 2⁻⁷ and 2⁷, TSGSU is better than "
            "SU-SL on five of six sets."
        ),
        (
            "A hundred generated columns, two of which matter, and a part of the grid. The values are chosen "
            "by the test score, so the best one looks too good."
        ),
        {"data": _MANY, "solver": _PAPERS_RUN},
        (
            {"name": "kernel.sigma", "from": 0.03125, "to": 8.0, "n": 5},
            {"name": "solver.lam", "from": 0.0078125, "to": 2.0, "n": 5},
        ),
        full={"data": _SMALL, "solver": _FULL_RUN},
        full_axes={name: {"from": 2.0**-7, "to": 2.0**7, "n": 15} for name in ("kernel.sigma", "solver.lam")},
    ),
    PaperFigure(
        "table5",
        "Table 5",
        "The dot product kernel's scale and the ridge",
        "On high-dimensional sets with the dot product kernel, TSGSU is the best in most cases.",
        (
            "A hundred generated columns replace digits and texts. The values are chosen by the test score, "
            "so the best one looks too good."
        ),
        {"data": _MANY, "kernel": _DOT, "solver": {**_PAPERS_RUN, "step_size": 0.1}},
        (
            {"name": "kernel.sigma", "from": 0.001, "to": 0.1, "n": 5},
            {"name": "solver.lam", "from": 0.01, "to": 1.0, "n": 3},
        ),
        full={"data": _SMALL, "solver": _FULL_RUN},
        full_axes={"kernel.sigma": {"from": 0.001, "to": 1.0, "n": 4}},
    ),
    PaperFigure(
        "fig4",
        "Fig. 4",
        "Accuracy during training, dot product kernel",
        (
            "With the dot product kernel, TSGSU is faster than CUU with all points as centres. It is more "
            "accurate than CUU with 2,000 centres."
        ),
        "A hundred generated columns replace digits and texts. Only TSGSU is drawn.",
        {"data": _MANY, "kernel": _DOT, "solver": {**_PAPERS_RUN, "step_size": 0.1}},
        (_ITERATIONS,),
        full={"data": _LARGE, "solver": _FULL_RUN},
        full_axes=_TO_100,
    ),
)

SIMILAR_UNLABELED = Profile(
    short="Pairs",
    paper="TSGSU",
    icon=":material/link:",
    prefix="su_",
    headline="Learn from pairs that belong together",
    card="Learn a classifier from pairs that belong to the same class and from points without a label.",
    defaults={
        "data": {"name": "gaussian_mixture", "n": 1000, "noise": 0.2, "n_labeled": 50, "imbalance": 0.7},
        "kernel": {"sigma": 100.0},
        "problem": {"correction": "ReLU"},
        "solver": {"lam": 1e-3, "step_size": 0.5},
    },
    other_sets={"solver": {"lam": 1e-2}},
    usual=lambda n, n_pairs, rarest: usual_run(
        correction="identity", batch_size=256, lam=short(min(1.0 / n / (1.0 - 2.0 * min(rarest, 0.49)) ** 2, 1.0))
    ),
    suggested=USUAL | {"correction": Among(CORRECTIONS)},
    details=_details,
    risks=_risks,
    theorem=constant_step_theorem(
        """**Theorem 1 of TSGSU.** The corrected risk is not convex: with a constant step
$\\theta / \\sqrt{T}$ over $T$ iterations, the mean of $\\|\\nabla J(h_t)\\|^2$ over the run is $O(1/\\sqrt{T})$: a stationary
point, not the optimum.""",
        schedule="theta/sqrt(T)",
        rates={"gradient_mean": Rate(-0.5, "T", "1/√T")},
        of_risk=_of_risk,
        cost="Without the correction, an estimated risk can fall below zero, and the test score falls with it.",
        step_size=5.0,
        lam=0.5,
        batch_size=64,
    ),
    guided=lessons_of("similar_unlabeled"),
    figures=_FIGURES,
    lessons=(
        Lesson(
            "works",
            (
                "Fifty pairs that share a class, no label at all, and a known share of positives. Without the "
                "correction, the estimated risk of a class falls below zero. The correction brings at least three "
                "points on most seeds."
            ),
            claims=(BETTER, Claim("gain", low=0.03), Claim("score", low=0.75)),
        ),
        Lesson(
            "too big a step",
            ("Each step overshoots. The objective grows from iteration to iteration until the numbers overflow."),
            {"step_size": 20.0, "sigma": 5.0},
            claims=(DIVERGES,),
        ),
        Lesson(
            "wrong share of positives",
            (
                "You must tell the method the share of positives, and its correction relies on it. Told 0.95 "
                "instead of 0.7, it takes the risk of the negatives for overfitting and calls nearly everything "
                "positive. Without the correction, it gets six points more right."
            ),
            {"prior": 0.95, "sigma": 20.0, "lam": 0.01, "n_labeled": 200},
            claims=(Claim("positive_share", low=0.9), WORSE, Claim("gain", high=-0.06)),
        ),
        Lesson(
            "negative risk",
            (
                "Few pairs, a flexible kernel and no correction. The estimated risk falls below zero, which is a "
                "sign of overfitting."
            ),
            {"n_labeled": 20, "sigma": 100.0, "correction": "identity", "lam": 0.0001},
            claims=(Claim("objective", high=-0.1), Claim("score", high=0.8)),
        ),
    ),
)

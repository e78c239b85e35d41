"""Guided lessons of the semi-supervised AUC."""

from __future__ import annotations

from dsgcore.settings.guided.auc_minimiser import DECAYING, OWN_ERRORS
from dsgcore.settings.guided.lesson import (
    BETTER,
    DIVERGES,
    SHORT,
    TIE,
    WORSE,
    Claim,
    Estimate,
    Goal,
    GuidedLesson,
    LessonStep,
    Option,
    Pick,
)

_AGAINST_LABELS = (
    Option("higher: they help", (BETTER,)),
    Option("about the same", (TIE,)),
    Option("lower: they hurt", (WORSE,)),
)
_QUESTION = "Where will the solid curve end, against the dotted one?"
_DIGITS = {"data": "digits", "sigma": 0.5, "lam": 0.01}

WHAT_FOR = GuidedLesson(
    "unlabeled",
    "What are points without a label good for?",
    "Unlabeled points help where labels are scarce and the assumption behind them fits the data; else they do "
    "nothing, or harm.",
    2,
    (
        LessonStep(
            "A small circle within a large one. **Ten** points carry a label (the filled ones), hundreds carry none. "
            "A score is "
            "to rank the one class above the other; the *AUC* says how often it does: 1 always, 0.5 as a coin would. "
            "The dotted "
            "curve learns from the ten labels alone, the solid one from all points.",
            "With ten labels alone the score leans to the side where those few points happen to lie. Unlabeled points lie on "
            "every side, and a score that leans cannot rank them well: so they pull it upright. (On 17 of 20 seeds "
            "and more; on the others the ten "
            "labels happen to lie well, and it is a tie.)",
            asks=Pick(_QUESTION, _AGAINST_LABELS, 0),
            claims=(Claim("gain", low=-0.01),),
            notes="Point at the few filled points first, and ask where a line drawn from them alone would run. Let the "
            "class commit before the run; do not comment on the guesses.",
        ),
        LessonStep(
            "The same circles, now with **200** labels.",
            "Two hundred labels say it all: both curves end at an AUC of nearly 1. What the unlabeled points know is known "
            "already. They are worth most where labels are fewest.",
            {"n_labeled": 200},
            ("n_labeled",),
            Pick(_QUESTION, _AGAINST_LABELS, 1),
            claims=(Claim("score", low=0.98),),
            notes="Ask before: what could the unlabeled points still tell that two hundred labels do not? A tie is a "
            "result: nothing was lost either.",
        ),
        LessonStep(
            "Other data: images of handwritten digits, even ones against odd ones, with **20** labels.",
            "Here they harm. Even and odd digits lie side by side in many small groups, and the pairs of a labeled and an "
            "unlabeled point are so many that they drown the few labels. More data are not always more knowledge.",
            _DIGITS | {"n_labeled": 20},
            ("data", "n_labeled"),
            Pick(_QUESTION, _AGAINST_LABELS, 2),
            claims=(Claim("gain", high=-0.06),),
            notes="Many expect help again. Ask why even and odd digits are no two clusters: a 3 is nearer to an 8 than "
            "to a 4.",
        ),
        LessonStep(
            "What would have to change, so that they no longer harm?",
            "Twenty labels are too few for these data, two hundred and more are not. (Or the unlabeled points are given less "
            "weight: with γ at 0.9 the harm shrinks to a fifth, and at γ = 1 they are not asked at all.)",
            {},
            ("n_labeled", "gamma"),
            goal=Goal(
                "Move what is lit up, until a finished run is at least a tie with the labels alone.",
                (Claim("verdict", low=0.0),),
                {"n_labeled": 500},
            ),
            notes="Let someone choose a value and say why before you move it. Both ways are right: more labels, or more "
            "trust in the labels (γ).",
        ),
    ),
)

STEP_SIZE = GuidedLesson(
    "step-size",
    "How big a step?",
    "Too small a step gets nowhere, too big a one overshoots without end; between them lies a wide range that works.",
    2,
    (
        LessonStep(
            "Each iteration moves the score downhill, by the *step size* η times the slope. Here η = 0.001, over 300 "
            "iterations.",
            "The objective is where it began, and so is the ranking: 300 steps of a thousandth make no way. Nothing is "
            "wrong with "
            "such a run, it only has not been anywhere yet.",
            {"step_size": 0.001},
            ("step_size",),
            Pick(
                "What will the AUC be at the end?",
                (
                    Option("above 0.9: it only takes its time", (Claim("score", low=0.9),)),
                    Option("it will hardly have moved from a coin's 0.5", (Claim("score", high=0.8),)),
                ),
                1,
            ),
            claims=(Claim("objective", low=0.9),),
        ),
        LessonStep(
            "Twenty thousand times bigger: η = 20.",
            "Each step lands further up on the other side of the valley than the one before, until the numbers overflow. For a "
            "valley of curvature between λ and λ + μ this begins at η = 2 / (λ + μ), where μ is the largest curvature of "
            "the loss: "
            "a hard limit, not a matter of taste. The run goes back to its last good state.",
            {"step_size": 20.0},
            ("step_size",),
            Pick(
                "What will the objective do?",
                (
                    Option("fall at once, and stay", (Claim("growth", high=1.0),)),
                    Option("jump about, then settle", (Claim("growth", low=1.0, high=1e6),)),
                    Option("grow without bound", (DIVERGES,)),
                ),
                2,
            ),
        ),
        LessonStep(
            "Now find a good one. (“auto” on the slider is the step that the run finds by itself, from the curvature.)",
            "A wide range does: a tenth or ten times as much changes little, as long as it stays below the limit and gets "
            "somewhere within the iterations there are.",
            {"step_size": 0.001},
            ("step_size",),
            goal=Goal(
                "Reach an objective of at most 0.45.",
                (Claim("objective", high=0.45),),
                {"step_size": None},
            ),
        ),
    ),
)

FEATURES = GuidedLesson(
    "random-features",
    "What do random features cost?",
    "Random features are noisy; the noise falls as one over their number, and from some tens on something else limits "
    "the score.",
    3,
    (
        LessonStep(
            "A kernel compares points. To be fast, the method never computes it: each iteration draws a few *random features*, "
            "waves of random direction, whose products are right in the mean. f is learned with them; its twin h, on the same "
            "data, with the exact kernel. Here are digits, and **four** features an iteration.",
            "Four waves are a poor stand-in: |f − h|² is a third of |h|² and more. The lower chart shows it from the first "
            "iteration on; on the map, switch between f, h and the error.",
            _DIGITS | {"n_labeled": 200, "n_features": 4},
            ("n_features",),
            Estimate(
                "How large is |f − h|², as a share of |h|²? (0: no error; 1: as large as h itself)",
                "error_share",
                "the share",
                0.0,
                1.0,
                0.15,
            ),
            claims=(Claim("error_share", low=0.3), Claim("lag", low=0.02)),
        ),
        LessonStep(
            "Sixteen times as many: **64** features an iteration.",
            "The error of a mean falls as one over the number of draws: 64 features leave about a sixteenth of what four did. "
            "Its square root, what you see as noise on the map, is a quarter.",
            {"n_features": 64},
            ("n_features",),
            Pick(
                "What happens to that share?",
                (
                    Option("it stays above 0.2", (Claim("error_share", low=0.2),)),
                    Option("it falls to some 0.05 to 0.2", (Claim("error_share", low=0.05, high=0.2),)),
                    Option("it falls below 0.05", (Claim("error_share", high=0.05),)),
                ),
                2,
            ),
        ),
        LessonStep(
            "Few features are fast. How few are enough here?",
            "Once the error is small against f itself, further features buy nothing that the score would show: what limits the "
            "run then is something else, the labels or the steps.",
            {"n_features": 4},
            ("n_features",),
            goal=Goal(
                "Reach an AUC of 0.96 with at most 64 features.",
                (Claim("score", low=0.96), Claim("n_features", high=64)),
                {"n_features": 64},
            ),
        ),
    ),
)

_RARE = SHORT | {"n": 600, "data": "two_gaussians", "separation": 2.0, "n_labeled": 60, "sigma": 0.2, "lam": 0.01}

RARE_CLASS = GuidedLesson(
    "rare-class",
    "Why not simply count right answers?",
    "Where one class is rare, hardly anything beats saying its opposite of everybody; the AUC asks whether the rare ones "
    "rank higher.",
    2,
    (
        LessonStep(
            "Two clouds of points that overlap. Only **one point in twenty** is positive: think of a rare disease. Who says "
            "“negative” of everybody is right in 95 % of all cases.",
            "Hardly more than who says “negative” of everybody, and often less. Counted so, everything that has been learned "
            "here is worth nothing.",
            _RARE | {"imbalance": 0.05},
            ("imbalance",),
            Pick(
                "If the five percent with the highest scores are called positive, how many test points are right?",
                (
                    Option("nearly all: more than 97.5 %", (Claim("right", low=0.975),)),
                    Option("about as many as by “negative” for all", (Claim("right", low=0.9, high=0.975),)),
                    Option("fewer than 90 %", (Claim("right", high=0.9),)),
                ),
                1,
            ),
            claims=(Claim("commonest", low=0.945, high=0.955),),
        ),
        LessonStep(
            "The same run. The AUC takes one positive and one negative point by chance, and asks whether the positive "
            "one has the "
            "higher score. “Negative for all” gets 0.5: a coin.",
            "Much has been learned after all: of a positive and a negative point the right one has the higher score "
            "in more than "
            "three of four pairs. How rare positives are does not enter, for each pair has one of them.",
            {},
            (),
            Pick(
                "What will the AUC be?",
                (
                    Option("about 0.5: nothing has been learned", (Claim("score", high=0.65),)),
                    Option("0.65 to 0.75", (Claim("score", low=0.65, high=0.75),)),
                    Option("above 0.75", (Claim("score", low=0.75),)),
                ),
                2,
            ),
        ),
        LessonStep(
            "The same two clouds, now with **as many** positives as negatives.",
            "The AUC is what it was, within some hundredths: it belongs to the clouds. The share of right answers falls, "
            "though nothing "
            "has become harder: there is no common class any more whose name is a good guess.",
            {"imbalance": 0.5},
            ("imbalance",),
            Pick(
                "What becomes of the AUC, and of the share of right answers?",
                (
                    Option("the AUC falls below 0.8", (Claim("score", high=0.8),)),
                    Option("the AUC stays above 0.8, right answers fall below 90 %", (Claim("right", high=0.9),)),
                    Option("both stay above 0.9", (Claim("score", low=0.9), Claim("right", low=0.9))),
                ),
                1,
            ),
            claims=(Claim("score", low=0.85), Claim("right", low=0.75)),
        ),
    ),
)

LESSONS = (WHAT_FOR, STEP_SIZE, FEATURES, RARE_CLASS, OWN_ERRORS, DECAYING)

"""Guided lessons of the semi-supervised AUC."""

from __future__ import annotations

from dsgcore.settings.guided.auc_minimiser import DECAYING, OWN_ERRORS
from dsgcore.settings.guided.auc_rare import RARE_CLASS
from dsgcore.settings.guided.lesson import (
    BETTER,
    DIVERGES,
    TIE,
    WORSE,
    Claim,
    Curve,
    Estimate,
    Goal,
    GuidedLesson,
    LessonStep,
    Option,
    Pick,
)

_AGAINST_LABELS = (
    Option("above the dotted: they help", (BETTER,)),
    Option("about the same", (TIE,)),
    Option("below: they hurt", (WORSE,)),
)
_QUESTION = "Where will the solid curve end?"
_DIGITS = {"data": "digits", "sigma": 0.5, "lam": 0.01}

WHAT_FOR = GuidedLesson(
    "unlabeled",
    "What are points without a label good for?",
    "Unlabeled points help where labels are scarce and the assumption behind them fits the data; else they do "
    "nothing, or harm.",
    2,
    (
        LessonStep(
            "**Ten** points on two circles carry a label (the filled ones), hundreds none. A score should rank the inner circle "
            "above the outer; the *AUC* is how often it does: 1 always, 0.5 as a coin. Dotted: from the labels alone; solid: "
            "from all points.",
            "Ten labels alone tilt the score to where they happen to lie; unlabeled points lie on every side, and pull it "
            "upright. (On at least 17 of 20 seeds; else a tie.)",
            asks=Pick(_QUESTION, _AGAINST_LABELS, 0),
            claims=(Claim("gain", low=-0.01),),
            notes="Point at the few filled points first, and ask where a line drawn from them alone would run. Let the "
            "class commit before the run; do not comment on the guesses.",
        ),
        LessonStep(
            "The same circles, now with **200** labels.",
            "Two hundred labels say it all: both curves end at an AUC of nearly 1.",
            {"n_labeled": 200},
            ("n_labeled",),
            Pick(_QUESTION, _AGAINST_LABELS, 1),
            claims=(Claim("score", low=0.98),),
            notes="Ask before: what could the unlabeled points still tell that two hundred labels do not? A tie is a "
            "result: nothing was lost either.",
        ),
        LessonStep(
            "Other data: handwritten digits, even against odd, with **20** labels.",
            "Even and odd digits lie side by side in many small groups: the unlabeled points drown the few labels. More data are "
            "not always more knowledge.",
            _DIGITS | {"n_labeled": 20, "n_iter": 150},
            ("data", "n_labeled"),
            Pick(_QUESTION, _AGAINST_LABELS, 2),
            claims=(Claim("gain", high=-0.06),),
            notes="Many expect help again. Ask why even and odd digits are no two clusters: a 3 is nearer to an 8 than "
            "to a 4.",
        ),
        LessonStep(
            "What has to change, so that they no longer harm?",
            "Five hundred labels are enough here. (Or trust the labels alone: γ = 1.)",
            {},
            ("n_labeled", "gamma"),
            goal=Goal(
                "Change the number of labels, or the trust in them (γ), until a run ends no worse than the labels alone.",
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
            "All but flat: the objective is near where it began, and so is the ranking, for 300 steps of a thousandth "
            "make no way. Nothing is wrong with such a run, it only has not been anywhere yet.",
            {"step_size": 0.001},
            ("step_size",),
            Curve(
                "Draw how the objective will go, over the 300 iterations.",
                "objective",
                "objective",
                0.0,
                1.5,
                0.15,
            ),
            claims=(Claim("objective@0", low=1.2), Claim("objective", low=1.1), Claim("score", high=0.8)),
            notes="Many will draw a falling curve. Let them, and ask afterwards what a flat curve can mean: that all is "
            "learned, or that nothing has been tried yet. The tile with the AUC tells which.",
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
            notes="Draw a valley and a step from one side to the other on the board before the run. Outside this view "
            "the limit for these data stands below the step's slider.",
        ),
        LessonStep(
            "Now find a good one. (“auto” on the slider is the step that the run finds by itself, from the curvature.)",
            "A wide range does, as long as the step stays below the limit and gets somewhere within the iterations there are.",
            {"step_size": 0.001},
            ("step_size",),
            goal=Goal(
                "Reach an objective of at most 0.45.",
                (Claim("objective", high=0.45),),
                {"step_size": None},
            ),
            notes="Take three values from the class, one each too small, good, and near the limit, and run all three: "
            "the previous run stays as a pale line. A good step is a range, not a point.",
        ),
    ),
)

FEATURES = GuidedLesson(
    "random-features",
    "What do random features cost?",
    "Random features are noisy; the noise falls as one over their number, and some tens leave the score little to gain.",
    3,
    (
        LessonStep(
            "A kernel compares points. To be fast, the method never computes it: each iteration draws a few *random features*, "
            "waves of random direction, whose products give the kernel on average. f is learned with them; its twin h, on the same "
            "data, with the exact kernel. Here are digits, and **four** features an iteration.",
            "Four waves are a poor stand-in: |f − h|² is three tenths of |h|² and more. The lower chart shows it from the first "
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
            notes="Say what a feature is: a wave of random direction and length. After the run, outside this view, "
            "switch the map from f to h and to the error: that is what was guessed.",
        ),
        LessonStep(
            "The same run, and its error from iteration to iteration: each draws four new features, and each draw errs anew.",
            "It rises while the coefficients are large and falls when they are small, though new errors come in until the "
            "end: an iteration errs in proportion to what it adds, and the ridge λ lets go of the old errors bit by bit.",
            {},
            (),
            Curve(
                "Draw how |f − h|² will go, over the 300 iterations.",
                "error_mean",
                "|f − h|²",
                0.0,
                0.2,
                0.025,
            ),
            claims=(
                Claim("error_mean@0", high=0.03),
                Claim("error_mean@0.1", low=0.07),
                Claim("error_mean@1", high=0.066),
            ),
            notes="Many will expect the error to grow for ever, for each iteration brings a new one. Ask where the old "
            "ones go: the factor 1 − ηλ in front of f.",
        ),
        LessonStep(
            "Sixteen times as many: **64** features an iteration.",
            "The error of a mean falls as one over the number of draws: 64 features leave about a sixteenth of what four did. "
            "Its square root, what you see as noise on the map, is a quarter.",
            {"n_features": 64},
            ("n_features",),
            Pick(
                "How large will |f − h|² be then, as a share of |h|²?",
                (
                    Option("still above 0.2", (Claim("error_share", low=0.2),)),
                    Option("0.05 to 0.2", (Claim("error_share", low=0.05, high=0.2),)),
                    Option("below 0.05", (Claim("error_share", high=0.05),)),
                ),
                2,
            ),
            notes="Before the answer: if the mean of four dice has a spread, what has the mean of 64? A quarter. The "
            "error here is squared, so a sixteenth.",
        ),
        LessonStep(
            "Few features are fast. How few are enough here?",
            "Once the error is small against f itself, the score has little left to gain from further features: an AUC of "
            "0.96 is at most 0.04 from the best.",
            {"n_features": 4},
            ("n_features",),
            goal=Goal(
                "Reach an AUC of 0.96 with at most 64 features.",
                (Claim("score", low=0.96), Claim("n_features", high=64)),
                {"n_features": 64},
            ),
            notes="Let them bid downwards: 64, 32, 16. Where the AUC begins to suffer is where features begin to limit "
            "the run.",
        ),
    ),
)

LESSONS = (WHAT_FOR, STEP_SIZE, FEATURES, RARE_CLASS, OWN_ERRORS, DECAYING)

"""Guided lessons that compare a run with the exact minimiser of its objective, which is known for squared losses."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import SHORT, Claim, Curve, GuidedLesson, LessonStep, Option, Pick

_MOONS = SHORT | {"data": "two_moons", "n_labeled": 40, "sigma": 10.0, "lam": 0.01, "step_size": 0.5, "batch_size": 128}

OWN_ERRORS = GuidedLesson(
    "own-errors",
    "Does a method mend its own errors?",
    "The error |f − h| overstates what few features cost: later steps are taken at f, see what earlier features got "
    "wrong, and mend it.",
    3,
    (
        LessonStep(
            "Two moons, and **four** random features an iteration. |f − h|², the error that the features have brought in, is "
            "around a tenth of |h|² itself: less on some seeds, and several times as much on others.",
            "Nearly all pairs are ranked right, and most after a tenth of the iterations. So large an error, and yet a good "
            "score: is the error what it seems?",
            _MOONS | {"n_features": 4},
            ("n_features",),
            Curve(
                "Can such a score rank? Draw how the AUC will go, over the 100 iterations.",
                "score_test",
                "AUC",
                0.5,
                1.0,
                0.05,
            ),
            claims=(Claim("error_share", low=0.03), Claim("score", low=0.95), Claim("score_test@0.1", low=0.92)),
            notes="Have them look at |f − h|² in the chart below and at the AUC above it, together: the one is large, "
            "the other is good. What the class has to explain is how both can be.",
        ),
        LessonStep(
            "The same run. With so few points the best score f* that there is, the exact minimiser of the objective, can "
            "be computed. "
            "Is f nearer to f*, or to its twin h with the exact kernel?",
            "To f*, by far. h is given f's own coefficients. Where features make an error, the next steps see it at f and push "
            "against it; h, which has no such error, is pushed off by that. So |f − h| counts the error and its remedy both.",
            {},
            (),
            Pick(
                "How does |f − h|² compare with |f − f*|²?",
                (
                    Option("it is smaller: f is closer to h", (Claim("overstated", high=1.0),)),
                    Option("up to twice as large", (Claim("overstated", low=1.0, high=2.0),)),
                    Option("more than twice as large: f is closer to f*", (Claim("overstated", low=2.0),)),
                ),
                2,
            ),
            claims=(Claim("distance", high=0.06),),
            notes="f* can be computed here because the losses are squared and the points are few. Draw three points on "
            "the board, f, h and f*, and move h away from f*: f has not moved.",
        ),
        LessonStep(
            "Now **64** features.",
            "Next to nothing: features err little now, so there is little to mend. How |f − h|² compares with |f − "
            "f*|² differs "
            "by the seed, from less than half to more than twice: what is left there is the noise of the mini-batches, which f "
            "and h share, and the way that is not yet gone.",
            {"n_features": 64},
            ("n_features",),
            Pick(
                "How large is |f − h|² now, as a share of |h|²?",
                (
                    Option("still more than a tenth", (Claim("error_share", low=0.1),)),
                    Option("a twentieth to a tenth", (Claim("error_share", low=0.05, high=0.1),)),
                    Option("less than a twentieth", (Claim("error_share", high=0.05),)),
                ),
                2,
            ),
            notes="Ask what would be left with infinitely many features: f = h, and the noise of the batches in both. "
            "So this error is the features' alone.",
        ),
    ),
)

_NOISY = SHORT | {"n_labeled": 50, "lam": 0.1, "batch_size": 4}

DECAYING = GuidedLesson(
    "decaying-step",
    "Why does the theorem shrink its steps?",
    "A constant step either gets stuck in noise or gets nowhere; the theorem's θ/t begins large and ends small, and "
    "gets there.",
    2,
    (
        LessonStep(
            "Mini-batches of four points are a noisy guide. With a *constant* step of **2**, look at the objective's "
            "second half.",
            "It jumps about to the end, by more than 5 % from one iteration to the next: each step follows four points only, "
            "and the last ones count as much as all before.",
            _NOISY | {"step_size": 2.0},
            ("step_size",),
            Pick(
                "Does the objective settle?",
                (
                    Option("yes, it becomes a smooth line", (Claim("unrest", high=0.01),)),
                    Option(
                        "no, it jumps by more than 5 % from one iteration to the next", (Claim("unrest", low=0.05),)
                    ),
                ),
                1,
            ),
            claims=(Claim("distance", low=0.01),),
            notes="Point at the second half of the objective, and ask what would happen in another thousand iterations: "
            "the same.",
        ),
        LessonStep(
            "A hundredth of it: a constant step of **0.02**.",
            "Quiet, and far away: |f − f*|² is more than half of |f*|². A hundred such steps together are as long as one step "
            "of 2.",
            {"step_size": 0.02},
            ("step_size",),
            Pick(
                "How far from the best score f* will it be after 100 iterations?",
                (
                    Option("|f − f*|² is below 1 % of |f*|²", (Claim("distance", high=0.01),)),
                    Option("1 % to 30 %", (Claim("distance", low=0.01, high=0.3),)),
                    Option("more than 30 %", (Claim("distance", low=0.3),)),
                ),
                2,
            ),
            claims=(Claim("unrest", high=0.002), Claim("distance", low=0.5)),
            notes="Let somebody add up: a hundred steps of 0.02 are two steps of 1. A quiet curve is not a sign of "
            "having arrived.",
        ),
        LessonStep(
            "The theorem's steps: **θ/t** with θ = 10, large at first and ever smaller.",
            "Both at once: the first steps make the way, the last ones average the noise out, for with θ = 1/λ every "
            "iteration weighs the "
            "same in the end. The squared distance to f* falls as 1/t, which no constant step does.",
            {"schedule": "theta/t", "step_size": 10.0},
            ("schedule", "step_size"),
            Pick(
                "And now?",
                (
                    Option("below 1 % of |f*|²", (Claim("distance", high=0.01),)),
                    Option("1 % to 30 %", (Claim("distance", low=0.01, high=0.3),)),
                    Option("more than 30 %", (Claim("distance", low=0.3),)),
                ),
                0,
            ),
            claims=(Claim("distance", high=0.005), Claim("unrest", high=0.005)),
            notes="Write down the steps: 10, 5, 3.3, 2.5, .. 0.1. Which part of the way belongs to the first ten, and "
            "what do the last fifty do?",
        ),
    ),
)

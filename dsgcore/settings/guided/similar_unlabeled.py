"""A guided lesson of learning from similar pairs."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import BETTER, TIE, WORSE, Claim, Goal, GuidedLesson, LessonStep, Option, Pick

NEGATIVE_RISK = GuidedLesson(
    "negative-risk",
    "How can an error be less than nothing?",
    "An unbiased estimate of the risk can fall below zero; that is overfitting, and clipping it helps, unless the share is wrong.",
    3,
    (
        LessonStep(
            "No label at all, only 20 *pairs* of points that share their class, unlabeled points, and the share of positives. "
            "From these the risk can be *estimated* without bias: as a sum in which some parts are taken off. The loss of a "
            "point is never negative.",
            "It falls below zero. The part that is taken off is a mean over few points; a flexible score makes it as large as "
            "it likes, for it learns these few points by heart. The estimate stays right on average for a *fixed* score, but not "
            "for one that was chosen by it.",
            {"n_labeled": 20, "sigma": 100.0, "correction": "identity", "lam": 0.0001},
            ("correction",),
            Pick(
                "How low can the estimated risk get?",
                (
                    Option("to zero, at best", (Claim("objective", low=0.0),)),
                    Option("below zero", (Claim("objective", high=0.0),)),
                ),
                1,
            ),
            claims=(Claim("objective", high=-0.1),),
        ),
        LessonStep(
            "The *correction*: where the estimated risk of a class falls below zero, ReLU counts it as zero. Fifty pairs now. The "
            "dotted curve is the same run without it.",
            "What cannot be lower than zero is no longer worth pushing there: the score stops learning those points by heart, and "
            "gets four test points in a hundred and more right that it got wrong.",
            {"n_labeled": 50, "correction": "ReLU", "lam": 0.001},
            ("correction",),
            Pick(
                "Against the uncorrected run, how many test points will be right?",
                (Option("more", (BETTER,)), Option("about as many", (TIE,)), Option("fewer", (WORSE,))),
                0,
            ),
            claims=(Claim("gain", low=0.04),),
        ),
        LessonStep(
            "The method must be told the share of positives. It is 0.7 here; say **0.95**, with 200 pairs and a smoother kernel.",
            "Told so many positives, it takes the risk of the negatives for overfitting, clips it away, and calls nearly every "
            "point positive. A correction trusts what it is told; the uncorrected run is wrong too, but less so.",
            {"prior": 0.95, "sigma": 20.0, "lam": 0.01, "n_labeled": 200},
            ("prior",),
            Pick(
                "Which part of the test points will be called positive?",
                (
                    Option("about 0.7, as many as there are", (Claim("positive_share", low=0.6, high=0.8),)),
                    Option("about 0.8 to 0.9", (Claim("positive_share", low=0.8, high=0.9),)),
                    Option("nearly all", (Claim("positive_share", low=0.9),)),
                ),
                2,
            ),
            claims=(WORSE,),
        ),
        LessonStep(
            "Mend it.",
            "With the share that the data have, nine in ten test points are right. Where the share is not known it has to be "
            "estimated, and the answer is only as good as that estimate.",
            {},
            ("prior",),
            goal=Goal(
                "Get 85 % of the test points right by telling the share of positives alone.",
                (Claim("score", low=0.85),),
                {"prior": 0.7},
            ),
        ),
    ),
)

LESSONS = (NEGATIVE_RISK,)

"""A guided lesson of the AUC where one class is rare."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import SHORT, Claim, GuidedLesson, LessonStep, Option, Pick

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
            notes="Ask for a hand from who would be content with 95 % right answers. Then say that “negative” for "
            "everybody has them.",
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
            notes="Take one positive and one negative point on the map, and ask which has the higher score: that, over "
            "all pairs, is the AUC.",
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
            notes="Two numbers, one question each: which of them would you report to a doctor, and which to who pays "
            "for each false alarm?",
        ),
    ),
)

"""Guided lessons of learning from similar pairs."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import (
    BETTER,
    SHORT,
    TIE,
    WORSE,
    Claim,
    Curve,
    Goal,
    GuidedLesson,
    LessonStep,
    Option,
    Pick,
)

NEGATIVE_RISK = GuidedLesson(
    "negative-risk",
    "How can an error be less than nothing?",
    "An unbiased estimate of the risk can fall below zero; that is overfitting, and clipping it helps, unless the share "
    "is wrong.",
    3,
    (
        LessonStep(
            "No label at all, only 20 *pairs* of points that share their class, unlabeled points, and the share of positives. "
            "From these the risk, the mean loss of all points, can be *estimated* without bias: as a sum in which some parts "
            "are taken off. The loss of a "
            "point is never negative.",
            "It falls far below zero, and goes on falling. The part that is taken off is a mean over few points; a flexible "
            "score makes it as large as it likes, for it learns these few points by heart. The estimate stays right on "
            "average for a *fixed* score, but not for one that was chosen by it.",
            {"n_labeled": 20, "sigma": 100.0, "correction": "identity", "lam": 0.0001},
            ("correction",),
            Curve(
                "Draw how the estimated risk will go, over the 300 iterations.",
                "objective",
                "estimated risk",
                -4.0,
                1.0,
                0.7,
            ),
            claims=(Claim("objective@0", low=0.0), Claim("objective@0.1", high=0.0), Claim("objective", high=-1.0)),
            notes="Worth a minute: how can a mean of losses, none of which is negative, be estimated as a difference? "
            "The chart of parts (“parts”, below the map) shows what is added and what is taken off.",
        ),
        LessonStep(
            "The *correction*: where the estimated risk of a class falls below zero, ReLU counts it as zero. Fifty pairs "
            "now. The "
            "dotted curve is the same run without it.",
            "What cannot be lower than zero is no longer worth pushing there: the score stops learning those points by "
            "heart, and "
            "on 17 of 20 seeds gets more test points right, three to sixteen in a hundred.",
            {"n_labeled": 50, "correction": "ReLU", "lam": 0.001},
            ("correction",),
            Pick(
                "Against the uncorrected run, how many test points will be right?",
                (Option("more", (BETTER,)), Option("about as many", (TIE,)), Option("fewer", (WORSE,))),
                0,
            ),
            claims=(Claim("gain", low=0.03),),
            notes="The dotted curve is the same run without the correction: same data, batches and features, so the "
            "difference is the correction's alone.",
        ),
        LessonStep(
            "The method must be told the share of positives. It is 0.7 here; say **0.95**, with 200 pairs and a "
            "smoother kernel.",
            "Told so many positives, it takes the risk of the negatives for overfitting, clips it away, and calls nearly every "
            "point positive. A correction trusts what it is told; the uncorrected run is told the same, and errs less.",
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
            notes="Ask which class disappears, and why: told 95 % positives, the method believes that hardly a negative "
            "is there to be wrong about.",
        ),
        LessonStep(
            "Mend it.",
            "With the share that the data have, 85 % of the test points and more are right. Where the share is not known it "
            "has to be "
            "estimated, and the answer is only as good as that estimate.",
            {},
            ("prior",),
            goal=Goal(
                "Get 85 % of the test points right by telling the share of positives alone.",
                (Claim("score", low=0.85),),
                {"prior": 0.7},
            ),
            notes="Ask where the share would come from in practice: a survey, or an estimate from the two samples (the "
            "Data tab says what it comes to).",
        ),
    ),
)

_FLEXIBLE = SHORT | {"n_labeled": 20, "sigma": 100.0, "lam": 0.0001}
_SMOOTH = SHORT | {"n_labeled": 90, "sigma": 20.0, "lam": 0.01}
_FLOOR = (
    Option("below zero", (Claim("objective", high=-0.01),)),
    Option("at zero", (Claim("objective", low=-0.01, high=0.002),)),
    Option("above zero, held off from it", (Claim("objective", low=0.002),)),
)

CORRECTIONS = GuidedLesson(
    "corrections",
    "What does each correction do?",
    "Uncorrected, the estimated risk dives below zero; ReLU stops it at zero; the absolute value pushes it back up.",
    2,
    (
        LessonStep(
            "Twenty pairs, a flexible score, and **no** correction. A risk is a mean of losses, which are never "
            "negative; but this one "
            "is *estimated* from pairs and a share of positives, as a difference.",
            "Far below zero. The score has found out how to make what is taken off as large as it likes.",
            _FLEXIBLE | {"correction": "identity"},
            ("correction",),
            Pick("Where does the estimated risk end?", _FLOOR, 0),
            claims=(Claim("objective", high=-0.5),),
            notes="Ask what a mean of losses can be at least, and leave the question open until the curve is below "
            "zero.",
        ),
        LessonStep(
            "**ReLU**: a class whose estimated risk is negative counts zero.",
            "At zero, and there it stays: below there is nothing to be won, so nothing pulls any further. What was "
            "gained on the way "
            "to zero by learning points by heart is kept, though.",
            {"correction": "ReLU"},
            ("correction",),
            Curve(
                "Draw how the estimated risk will go now, over the 100 iterations.",
                "objective",
                "estimated risk",
                -1.0,
                0.5,
                0.08,
            ),
            claims=(Claim("objective@0", low=0.15), Claim("objective", low=-0.01, high=0.002)),
            notes="Many will let it fall below zero again. Ask what pulls at a score whose risk is counted as zero: "
            "nothing.",
        ),
        LessonStep(
            "The **absolute value**: a negative risk counts as much as a positive one.",
            "Above zero. Where a class's risk has fallen below zero, each further step pushes it back up: the score "
            "unlearns what it "
            "had learned by heart, and the risk hovers about a little above zero.",
            {"correction": "absolute value"},
            ("correction",),
            Pick("And now?", _FLOOR, 2),
            claims=(Claim("objective", high=0.1),),
            notes="The same kink at zero, but with a slope on both sides: a ball in a V against a ball on a floor.",
        ),
    ),
)

PAIRS = GuidedLesson(
    "pairs",
    "How much can pairs say?",
    "The fewer the pairs, the deeper an estimated risk can be driven below zero, and the less it says about what has "
    "been learned.",
    2,
    (
        LessonStep(
            "**Five** pairs, and no correction. The estimated risk takes off a mean over the ten points in them.",
            "Lower than −2, after a start of 1 at most. To be certain about ten points is easy, and that certainty is what is "
            "taken off.",
            _FLEXIBLE | {"n_labeled": 5, "correction": "identity"},
            ("n_labeled",),
            Pick(
                "How low does the estimated risk get?",
                (
                    Option("not below zero", (Claim("objective", low=0.0),)),
                    Option("to between −2 and 0", (Claim("objective", low=-2.0, high=0.0),)),
                    Option("below −2", (Claim("objective", high=-2.0),)),
                ),
                2,
            ),
            notes="Five pairs are ten points. Ask how well one can be certain about ten points, with a kernel that "
            "tells any two apart.",
        ),
        LessonStep(
            "**Twenty** pairs.",
            "Below zero still, but never as low: the same score has four times as many points to be certain about.",
            {"n_labeled": 20},
            ("n_labeled",),
            Curve(
                "Draw how the estimated risk will go with twenty, over the 100 iterations.",
                "objective",
                "estimated risk",
                -4.0,
                1.0,
                0.4,
            ),
            claims=(Claim("objective", low=-2.0, high=0.0),),
            notes="Show this curve over the last one: what makes it less deep is the number of points in the mean that "
            "is taken off, nothing else was changed.",
        ),
        LessonStep(
            "**Ninety** pairs, and a smoother kernel (σ = 20, λ = 0.01). The correction is on again.",
            "More than by calling all positive, and without a single label (on nine of ten seeds; else as many). Pairs and a "
            "share of positives are enough to tell the "
            "classes apart, if there are pairs enough and the score is not too flexible.",
            _SMOOTH | {"correction": "absolute value"},
            ("n_labeled", "sigma"),
            Pick(
                "How many test points are right, with no label seen at all?",
                (
                    Option("half, as by a coin", (Claim("score", high=0.6),)),
                    Option("60 to 72 %: calling all positive gets 70 %", (Claim("score", low=0.6, high=0.72),)),
                    Option("more than 72 %", (Claim("score", low=0.72),)),
                ),
                2,
            ),
            notes="Say it slowly: no label at all. What tells the classes apart is that pairs of the commoner class are "
            "more.",
        ),
    ),
)

EQUAL_SHARES = GuidedLesson(
    "equal-shares",
    "Why do equal classes hurt?",
    "Pairs tell classes apart by one being commoner; with nearly equal shares they say next to nothing.",
    2,
    (
        LessonStep(
            "A pair says “these two are of one class”, never which. That positives are commoner, **70 %**, is what "
            "tells the two "
            "apart: there are more positive pairs than negative ones.",
            "Three in four and more are right. Of a hundred random pairs, 49 are both positive and 9 both negative: so "
            "similar pairs lie mostly where positives do.",
            _SMOOTH,
            ("prior",),
            Pick(
                "How many test points will be right?",
                (
                    Option("as many as by calling all positive (70 %), or fewer", (Claim("score", high=0.72),)),
                    Option("more", (Claim("score", low=0.72),)),
                ),
                1,
            ),
            claims=(Claim("score", low=0.75),),
            notes="Of a hundred random pairs at 70 %, 49 are both positive and 9 both negative: of the similar ones "
            "five in six are positive, and that is all there is to go by.",
        ),
        LessonStep(
            "Now **55 %** of the points are positive, and the method is told so.",
            "On some seeds fewer than a coin gets. The risk divides by 2π₊ − 1: that is 0.4 with 70 %, and 0.1 with 55 "
            "%. All noise "
            "is four times as large, as if there were a sixteenth of the pairs. (With 50 % it would be divided by zero.)",
            {"imbalance": 0.55, "prior": 0.55},
            ("imbalance", "prior"),
            Pick(
                "How many test points will be right now?",
                (
                    Option("as many as before, or more: above 82 %", (Claim("score", low=0.82),)),
                    Option("fewer than 82 %", (Claim("score", high=0.82),)),
                ),
                1,
            ),
            notes="Divide on the board: 1 / (2 · 0.7 − 1) = 2.5 and 1 / (2 · 0.55 − 1) = 10. Noise is multiplied by "
            "that, its square by sixteen.",
        ),
        LessonStep(
            "And **90 %**.",
            "Nine in ten and more are right; but “positive” for all gets nine in ten as well. The risk is estimated best "
            "where one class "
            "is rare, and an accuracy says least there.",
            {"imbalance": 0.9, "prior": 0.9},
            ("imbalance", "prior"),
            Pick(
                "How many now?",
                (
                    Option("fewer than 88 %", (Claim("score", high=0.88),)),
                    Option("88 % and more", (Claim("score", low=0.88),)),
                ),
                1,
            ),
            claims=(Claim("commonest", low=0.89, high=0.91), Claim("score", low=0.9)),
            notes="Ask before: is nine in ten good? Then say what “positive” for everybody gets.",
        ),
    ),
)

LESSONS = (NEGATIVE_RISK, CORRECTIONS, PAIRS, EQUAL_SHARES)

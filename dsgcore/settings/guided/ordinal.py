"""Guided lessons of ordered classes."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import (
    BETTER,
    SHORT,
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
    Option("higher", (BETTER,)),
    Option("about the same", (TIE,)),
    Option("lower", (WORSE,)),
)

ORDER = GuidedLesson(
    "order",
    "How does one score rank five classes?",
    "One score ranks all classes; unlabeled points help to place it where labels are few, and a sharp kernel wants many features.",
    2,
    (
        LessonStep(
            "Five rings, the innermost class 1, the outermost 5, and **two** labels in each. *One* score is to grow from the "
            "centre outwards; the mean AUC says how often it ranks neighbouring classes the right way round.",
            "Ten labels leave the score free to lean wherever they happen to lie. Unlabeled points lie all around: "
            "whichever way "
            "it leans, they are ranked wrongly against the labels, so it stands upright.",
            asks=Pick("Where will the mean AUC end, against the labels alone?", _AGAINST_LABELS, 0),
            claims=(Claim("score", low=0.7),),
            notes="Say what a score for ordered classes is: one number, cut by thresholds. The rings make a wrong "
            "centre visible at once on the map.",
        ),
        LessonStep(
            "A *sharp* kernel (σ = 20) sees only the closest points; it is drawn from **one** random feature an iteration.",
            "One wave is no likeness of a kernel, and of a sharp one, which has many directions, least of all: |f − h|² is a "
            "third of |h|² and more. Compare f with h on the map. (Lower on 17 of 20 seeds and more: one wave can be lucky.)",
            {"n_features": 1, "n_labeled": 50, "sigma": 20.0, "lam": 0.01},
            ("n_features", "sigma"),
            Pick("With 50 labels, where will the mean AUC end, against the labels alone?", _AGAINST_LABELS, 2),
            claims=(Claim("error_share", low=1 / 3),),
            notes="Have the class compare f and h: on the map they should be the same picture, and are not.",
        ),
        LessonStep(
            "The same, with **64** features.",
            "Sixty-four times as many waves: each step brings in a sixty-fourth of the error, and f is close to h now. What "
            "is left is what the "
            "labels and "
            "the kernel's width allow.",
            {"n_features": 64},
            ("n_features",),
            Pick(
                "How large will |f − h|² be, as a share of |h|²?",
                (
                    Option("still more than 0.2", (Claim("error_share", low=0.2),)),
                    Option("between 0.05 and 0.2", (Claim("error_share", low=0.05, high=0.2),)),
                    Option("less than 0.05", (Claim("error_share", high=0.05),)),
                ),
                2,
            ),
            notes="Ask for a guess of the ratio first: a mean of 64 draws has a 64th of the variance, an eighth of the "
            "spread.",
        ),
    ),
)

THRESHOLDS = GuidedLesson(
    "thresholds",
    "How does a score become a class?",
    "Thresholds cut one score into ordered classes; points near a cut are missed by one class, hardly ever by more.",
    2,
    (
        LessonStep(
            "Five rings, 90 labels. The score ranks; *thresholds* cut it into classes, one between each two neighbours, "
            "laid where "
            "the labeled points are cut best. By chance one in five is right.",
            "About half. Rings touch, and wherever the score is a little off at a cut, a point falls on the wrong side of it.",
            SHORT | {"n_labeled": 90, "lam": 0.01},
            ("n_labeled",),
            Pick(
                "Which part of the test points gets its very class?",
                (
                    Option("a third or less", (Claim("right", high=1 / 3),)),
                    Option("about half: 0.4 to 0.7", (Claim("right", low=0.4, high=0.7),)),
                    Option("more than 0.7", (Claim("right", low=0.7),)),
                ),
                1,
            ),
            notes="Draw the score as a line with four cuts on the board. Ask where a cut should lie between two heaps "
            "that overlap.",
        ),
        LessonStep(
            "The same run. Now a neighbour's class counts as right, too.",
            "More than four in five. A score cannot mistake the first class for the fifth without passing all those "
            "between: who is wrong is mostly wrong by one. That is what the order is worth, and what a plain accuracy does "
            "not show.",
            {},
            (),
            Estimate("Which part is right within one class?", "near", "the part", 0.0, 1.0, 0.08),
            claims=(Claim("near", low=0.8),),
            notes="Ask which mistake is worse, to take class 1 for 2 or for 5, and whether a plain accuracy knows.",
        ),
        LessonStep(
            "Other data: classes that follow one another along a slope, 50 labels.",
            "More than half to the very class, and nearly all within one: a slope is ranked more easily than rings, "
            "and the cuts "
            "are as good as the ranking.",
            {"data": "ordinal_ramp", "n_labeled": 50, "lam": 0.001},
            ("data",),
            Pick(
                "Which part gets its very class, and which is right within one?",
                (
                    Option("less than 0.55 its very class", (Claim("right", high=0.55),)),
                    Option("more than 0.55, and more than 0.93 within one", (Claim("near", low=0.93),)),
                    Option("more than 0.55, but less than 0.93 within one", (Claim("near", high=0.93),)),
                ),
                1,
            ),
            notes="The cuts are made in the same way on both data sets: what differs is the ranking, and they can be no "
            "better than that.",
        ),
    ),
)

AVERAGE = GuidedLesson(
    "average",
    "Is the last step the best?",
    "Single steps carry the noise of their batch; the mean of the second half's iterates is calmer, for next to no cost.",
    2,
    (
        LessonStep(
            "Batches of **one** point a class, and large steps: the objective jumps about. The thicker curve is that of "
            "the *average* "
            "of the iterates since half time.",
            "Lower, on 17 of 20 seeds and more. Each iterate is off in its own direction; in their mean the errors "
            "cancel out. For an objective that is a "
            "valley, the mean lies nearer to its floor than the points that jump about it.",
            SHORT | {"n_labeled": 50, "lam": 0.01, "step_size": 2.0, "batch_size": 1, "average": "tail"},
            ("average",),
            Pick(
                "Where will the average's objective end, against the last iterate's?",
                (
                    Option("lower", (Claim("averaging", low=0.0),)),
                    Option("higher", (Claim("averaging", high=0.0),)),
                ),
                0,
            ),
            claims=(Claim("unrest", low=0.05),),
            notes="Run it again with other seeds: where the last iterate ends is luck, where the average ends hardly "
            "is.",
        ),
        LessonStep(
            "The same run, by its mean AUC on the test points.",
            "0.85 and more. Whoever stops a noisy run stops it at a moment, good or bad; the average hardly depends on the moment.",
            {},
            (),
            Pick(
                "How well does the average rank?",
                (
                    Option("0.85 and more", (Claim("score_average", low=0.85),)),
                    Option("less than 0.85", (Claim("score_average", high=0.85),)),
                ),
                0,
            ),
            notes="Ask when one would stop a run that one cannot see the test score of. The average needs no good "
            "moment.",
        ),
        LessonStep(
            "Steps a hundred times **smaller**: 0.02. Will the average help here, too?",
            "No: it lags behind. Steps as small as these are still on their way down when the run ends, and a mean over "
            "the way is "
            "higher up than its end. Averages cure noise, not slowness.",
            {"step_size": 0.02},
            ("step_size",),
            Pick(
                "Where will the average's objective end now, against the last iterate's?",
                (
                    Option("lower", (Claim("averaging", low=0.0),)),
                    Option("higher", (Claim("averaging", high=0.0),)),
                ),
                1,
            ),
            notes="Ask for the mean of a road's second half, as against its end: who is still walking should not "
            "average.",
        ),
    ),
)

WIDTH = GuidedLesson(
    "width",
    "What can be wrong with a perfect score?",
    "All labels ranked right says nothing of other points: too sharp a kernel learns by heart, too flat a one learns nothing.",
    2,
    (
        LessonStep(
            "Five rings, 50 labels, and a very flat kernel, **σ = 0.01**: all points are much alike, and the score is "
            "all but a plane.",
            "A coin's work, from the first iteration to the last. A plane rises to one side, and rings lie around a centre: "
            "no number of steps mends that.",
            SHORT | {"n_labeled": 50, "lam": 0.0001, "sigma": 0.01},
            ("sigma",),
            Curve(
                "Draw how the mean AUC of the test points will go, over the 100 iterations. (0.5: a coin)",
                "score_test",
                "mean AUC",
                0.3,
                1.0,
                0.1,
            ),
            claims=(Claim("score", high=0.62), Claim("score_test@0.5", high=0.62)),
            notes="Many will draw a rise, for learning means rising. A straight line through the middle meets every "
            "ring twice: so it ranks none of them.",
        ),
        LessonStep(
            "A very sharp one, **σ = 300**: every point is like its closest neighbours only.",
            "Nearly all labeled pairs are in order, and the others are not: 0.98 and more on the labels, less than 0.85 on "
            "the test points. "
            "Judge by points that have not been learned from.",
            {"sigma": 300.0},
            ("sigma",),
            Pick(
                "How will labeled and test points be ranked?",
                (
                    Option("both above 0.9", (Claim("score", low=0.9),)),
                    Option(
                        "the labeled ones above 0.98, the test points below 0.85",
                        (Claim("score_labeled", low=0.98), Claim("score", high=0.85)),
                    ),
                    Option("both below 0.9", (Claim("score_labeled", high=0.9),)),
                ),
                1,
            ),
            notes="Ask what a score of 1 on the labels proves. Then show the test points.",
        ),
        LessonStep(
            "Find a width between them.",
            "A wide range does: likeness has to reach from one label to the next, and to fade before it covers all the rings.",
            {},
            ("sigma",),
            goal=Goal("Reach a mean AUC of 0.86 on the test points.", (Claim("score", low=0.86),), {"sigma": 10.0}),
            notes="Take bids between the two ends and write the scores down: a hill with a broad top.",
        ),
    ),
)

LESSONS = (ORDER, THRESHOLDS, AVERAGE, WIDTH)

"""Guided lessons of the semi-supervised SVM."""

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
    Option("more than the labels alone", (BETTER,)),
    Option("about as many", (TIE,)),
    Option("fewer", (WORSE,)),
)

GAP = GuidedLesson(
    "gap",
    "When is a gap a boundary?",
    "A semi-supervised SVM moves its boundary to where there are no points: right where classes are clusters, wrong elsewhere.",
    2,
    (
        LessonStep(
            "Two moons, **six** labels. An SVM wants a wide margin around its boundary; a semi-supervised one wants the "
            "*unlabeled* points outside of it, too. The dotted curve is the labels' alone.",
            "Wherever the boundary crosses a moon, unlabeled points lie in its margin and cost. In the gap between the "
            "moons there "
            "are none: so that is where it goes, and the gap is where the classes change.",
            asks=Pick("How many test points will it get right?", _AGAINST_LABELS, 0),
            claims=(Claim("gain", low=0.04), Claim("score", low=0.93)),
            notes="Ask someone to draw the boundary by hand, from the six labels alone and then with the grey points.",
        ),
        LessonStep(
            "Two bands with a gap between them, one above the other. But the classes are *left* and *right*.",
            "It begins better than it ends. The first steps follow the labels; then the boundary goes to where no points are, "
            "into the gap or out of the picture, and left and right are no longer told apart. The method assumes that classes "
            "are clusters. Data do not say whether they keep to it; labels do.",
            {"data": "misleading_gap", "sigma": 2.0, "n_labeled": 20, "is_balanced": False, "C_star": 10.0},
            ("data", "C_star"),
            Curve(
                "Draw how the share of right test points will go, from the first iteration to the last.",
                "score_test",
                "right test points",
                0.4,
                1.0,
                0.15,
            ),
            claims=(
                WORSE,
                Claim("gain", high=-0.1),
                Claim("score_test@0", low=0.58),
                Claim("score_test@0.1", high=0.7),
            ),
            notes="Do not warn them. The surprise, that the gap is the wrong one, is the lesson: assumptions are about "
            "labels, which are few.",
        ),
        LessonStep(
            "C* says how much an unlabeled point within the margin costs; 0 asks none of them.",
            "Without the unlabeled points the twenty labels say left and right, as they should. A method that can be told to "
            "ignore what misleads it does no worse than a plain SVM: that is what its parameters are for. (C* = 0 "
            "gets there on 17 of 20 seeds and more.)",
            {},
            ("C_star",),
            goal=Goal("Get 70 % of the test points right, with C* alone.", (Claim("score", low=0.7),), {"C_star": 0.0}),
            notes="C* = 0 is the plain SVM. Ask how one would know, with twenty labels, which of the two worlds one is "
            "in: held-out labels.",
        ),
    ),
)

_MOONS = SHORT | {"n_labeled": 30, "step_size": 0.2}

WIDTH = GuidedLesson(
    "width",
    "How far does a point's word carry?",
    "The kernel's width says how far a label speaks: too wide and everything is one line, too sharp and labels are "
    "learned by heart.",
    2,
    (
        LessonStep(
            "Two moons that interlock, 30 labels. σ says how quickly likeness fades with distance. At **σ = 0.5** it "
            "hardly does: "
            "all points are much alike.",
            "The boundary is all but a straight line, and no line separates the moons: not even the labeled points themselves.",
            _MOONS | {"sigma": 0.5},
            ("sigma",),
            Pick(
                "How many test points will be right?",
                (
                    Option("nearly all: more than 97 %", (Claim("score", low=0.97),)),
                    Option("some 80 to 90 %, as by a straight line", (Claim("score", low=0.8, high=0.9),)),
                    Option("half, as by a coin", (Claim("score", high=0.6),)),
                ),
                1,
            ),
            claims=(Claim("score_labeled", high=0.98),),
            notes="Ask what every point being alike means for a boundary: there is little to bend it with.",
        ),
        LessonStep(
            "The other end: **σ = 5000**. Every point is like itself, and like next to nothing else.",
            "Every labeled point is right, and at most three in four test points, for they are like none of them. "
            "The labels have been learned by heart: that is overfitting.",
            {"sigma": 5000.0},
            ("sigma",),
            Pick(
                "Which points will be right?",
                (
                    Option("labeled and test points alike", (Claim("score", low=0.9),)),
                    Option(
                        "all labeled points, and no more than three in four test points",
                        (Claim("score_labeled", low=1.0), Claim("score", high=0.75)),
                    ),
                    Option("hardly any", (Claim("score_labeled", high=0.6),)),
                ),
                1,
            ),
            notes="Have them bet on the labeled points first, and only then on the test points: two bets about two "
            "things.",
        ),
        LessonStep(
            "Between them lies what fits.",
            "A label speaks for its own moon and not for the other. Widths differ by data: one finds them by trying, as you "
            "just did, on points whose labels are known and were not learned from.",
            {},
            ("sigma",),
            goal=Goal("Get 98 % of the test points right, with σ alone.", (Claim("score", low=0.98),), {"sigma": 50.0}),
            notes="Halve and double from both ends and write the scores down: a hill with a broad top. Ask how one "
            "would find it without test labels: hold some labels out.",
        ),
    ),
)

MEMORY = GuidedLesson(
    "memory",
    "How can memory not grow with the data?",
    "The model is the seeds of its random features and their weights: its size is iterations times features, however "
    "many points.",
    2,
    (
        LessonStep(
            "A kernel method compares every two points: with n points, n² numbers. This one keeps only the weights of "
            "the random "
            "features it has used; the features themselves are drawn again from their seed when needed. Here: 400 points, "
            "40 iterations of 64 features.",
            "Two weights a feature, 2 × 64 × 40 numbers, against 280² for the 280 points it learns from: some 7 %. Not a "
            "great saving, with so few points.",
            SHORT | {"n_iter": 40},
            ("n",),
            Estimate(
                "How many numbers does the model hold, as a share of the kernel matrix's? (0: none; 0.5: half)",
                "matrix_share",
                "the share",
                0.0,
                0.5,
                0.05,
            ),
            claims=(Claim("matrix_share", low=0.06, high=0.07),),
            notes="Ask how much a matrix of a million points takes: a million times a million numbers of four bytes "
            "each, four million megabytes.",
        ),
        LessonStep(
            "**Fifteen times** as many points: 6,000.",
            "The matrix has grown 225-fold, the model not at all: it is as large as before. With a million points the matrix "
            "would fill four million megabytes, the model still a fiftieth of one.",
            {"n": 6000},
            ("n",),
            Pick(
                "What becomes of the share?",
                (
                    Option("it stays near 7 %: both grow", (Claim("matrix_share", low=0.02),)),
                    Option("it falls fifteenfold, to some 0.4 %", (Claim("matrix_share", low=0.001, high=0.02),)),
                    Option("it falls below 0.1 %", (Claim("matrix_share", high=0.001),)),
                ),
                2,
            ),
            notes="Before the run: which of the two numbers in the share grows with the points, the model's or the "
            "matrix's?",
        ),
        LessonStep(
            "Back to 400 points. What does the model's size depend on?",
            "On iterations times features alone: an eighth of the features, an eighth of the memory. What the kernel's matrix "
            "would have cost in memory is paid in time: to predict, all features are drawn once more. (Too few of them can "
            "cost accuracy, too.)",
            {"n": 400},
            ("n_features", "n_iter"),
            goal=Goal(
                "Bring the share to 1 % or less, with 400 points.",
                (Claim("matrix_share", high=0.01), Claim("n_features", low=1)),
                {"n_features": 8},
            ),
            notes="Ask what is paid for it: the features are drawn again at each prediction. Memory is bought with "
            "time.",
        ),
    ),
)

BATCHES = GuidedLesson(
    "batches",
    "How many points does a step need?",
    "A mini-batch is a sample of the data: one point a step is cheap and noisy, some tens do nearly what all would.",
    2,
    (
        LessonStep(
            "Each step looks at a *mini-batch*: here **one** labeled and one unlabeled point, drawn anew each time.",
            "It gets some way, and no further: a step that follows one point undoes what others have taught. The curve of the "
            "objective shows it. (On 17 of 20 seeds and more; now and then single points lead right.)",
            _MOONS | {"batch_size": 1},
            ("batch_size",),
            Pick(
                "How many test points will be right after 100 such steps?",
                (
                    Option("about half, as by a coin", (Claim("score", high=0.55),)),
                    Option("more than half, but not 95 %", (Claim("score", low=0.55, high=0.95),)),
                    Option("nearly all", (Claim("score", low=0.95),)),
                ),
                1,
            ),
            claims=(Claim("unrest", low=0.06),),
            notes="Outside this view, step by hand (key S) a few times: the boundary jumps with each two points that "
            "are drawn.",
        ),
        LessonStep(
            "**64** of each.",
            "Nearly every point is right, and most of them after the very first step: its batch shows both moons. "
            "The noise of a mean falls as one over the size of the batch; the price is 64 times the work a step.",
            {"batch_size": 64},
            ("batch_size",),
            Curve(
                "Draw how the share of right test points will go, over the 100 iterations.",
                "score_test",
                "right test points",
                0.5,
                1.0,
                0.06,
            ),
            claims=(Claim("score", low=0.98), Claim("score_test@0", low=0.8), Claim("unrest", high=0.055)),
            notes="Many will draw a slow rise. The first step sees 64 points of each kind, which is most of what there "
            "is to know here.",
        ),
        LessonStep(
            "How small a batch is enough here?",
            "Some tens. Beyond, something else limits the run, and a larger batch only costs time.",
            {"batch_size": 1},
            ("batch_size",),
            goal=Goal(
                "Get 96 % of the test points right, with batches of at most 32.",
                (Claim("score", low=0.96), Claim("batch", high=32)),
                {"batch_size": 32},
            ),
            notes="Double from 1 on, 2, 4, 8, and write down what each gets right: a doubling halves the noise's "
            "variance and doubles the work of a step.",
        ),
    ),
)

LESSONS = (GAP, WIDTH, MEMORY, BATCHES)

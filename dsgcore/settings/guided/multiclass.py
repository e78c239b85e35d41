"""Guided lessons of PS3VT, for several classes."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import (
    BETTER,
    SHORT,
    WORSE,
    Claim,
    Curve,
    Goal,
    GuidedLesson,
    LessonStep,
    Option,
    Pick,
)

GRAPH_AND_RANK = GuidedLesson(
    "graph-and-rank",
    "What do a graph and a low rank do?",
    "A graph of neighbours carries labels along the data; a pull to low rank saves directions, and too much of it "
    "loses classes.",
    2,
    (
        LessonStep(
            "Four arms of a spiral, **five** labels on each. A graph joins each point to its nearest neighbours and asks that "
            "they score alike, with the weight τ_I (“Trust in the graph”). The dotted curve learns from the labels alone.",
            "Along an arm each point has neighbours of its own class, so the few labels are handed on from one to the "
            "next, all "
            "the way to its end.",
            asks=Pick(
                "How many test points will the graph get right?",
                (
                    Option("more than the labels alone", (BETTER,)),
                    Option("no more than these", (Claim("verdict", high=0.0),)),
                ),
                0,
            ),
            claims=(Claim("score", low=0.8),),
            notes="Follow an arm with the finger from a labeled point on: each grey neighbour passes the label on. Ask "
            "what would happen where arms touch.",
        ),
        LessonStep(
            "The weights of four classes are a matrix of rank four at most. τ_S (“Pull to low rank”) pulls its singular "
            "values towards zero, here strongly: **0.5**.",
            "The smallest ones reach zero exactly: that is what this kind of pull does, where a square would only shrink them. "
            "With two directions left, four classes can no longer be told apart: on 17 of 20 seeds and more the "
            "labels alone do better.",
            {"tau_S": 0.5},
            ("tau_S",),
            Pick(
                "How many singular values will be left at the end?",
                (
                    Option("four, only smaller", (Claim("rank", low=4.0),)),
                    Option("three", (Claim("rank", low=3.0, high=3.0),)),
                    Option("two or fewer", (Claim("rank", high=2.0),)),
                ),
                2,
            ),
            claims=(WORSE,),
            notes="Contrast with a ridge: that makes all singular values smaller and none of them zero.",
        ),
        LessonStep(
            "Find a pull that leaves the classes apart.",
            "A small pull takes what is noise and leaves what tells the classes apart: four classes need three directions.",
            {},
            ("tau_S",),
            goal=Goal(
                "Get 80 % of the test points right, with τ_S alone.", (Claim("score", low=0.8),), {"tau_S": 0.05}
            ),
            notes="Try 0.2 before 0.05, and let the class read the rank off the tile or the chart of singular values.",
        ),
    ),
)

_SPIRALS = SHORT | {"batch_size": 32}

TAIL = GuidedLesson(
    "tail",
    "What is the tail of the singular values?",
    "K classes need K − 1 directions; a pull on the singular values after the first θ takes away what is more than these.",
    2,
    (
        LessonStep(
            "Six groups of points, one class each. The weights of six classes form a matrix; its *rank* says in how many "
            "directions "
            "the scores can differ.",
            "Five. The scores of all classes add up to zero, so the sixth follows from the others: K classes need K − 1 "
            "directions.",
            _SPIRALS | {"data": "blobs"},
            ("data",),
            Pick(
                "The points lie in a plane, and there are six classes. How many singular values will not be zero?",
                (
                    Option("two, as the plane has dimensions", (Claim("rank", high=2.0),)),
                    Option("five", (Claim("rank", low=5.0, high=5.0),)),
                    Option("six, one for each class", (Claim("rank", low=6.0),)),
                ),
                1,
            ),
            claims=(Claim("score", low=0.95),),
            notes="Count on a small case: two classes need one direction, which says more or less. So K need K − 1.",
        ),
        LessonStep(
            "Four arms of a spiral: three directions are needed. τ_S = **0.5** pulls the tail strongly; θ, where the "
            "tail begins, is at "
            "the start.",
            "One direction too few: the pull has taken a singular value that was needed, and two in ten test points and more "
            "are lost.",
            {"data": "spirals", "n_labeled": 20, "tau_S": 0.5},
            ("tau_S",),
            Pick(
                "How many directions will be left?",
                (
                    Option("one", (Claim("rank", high=1.0),)),
                    Option("two", (Claim("rank", low=2.0, high=2.0),)),
                    Option("three, as needed", (Claim("rank", low=3.0),)),
                ),
                1,
            ),
            claims=(Claim("score", high=0.8),),
            notes="Ask which of four arms will be mixed up when one direction is missing, and look at the map.",
        ),
        LessonStep(
            "The same pull, but **θ = 1**: the tail begins only after all of the directions.",
            "All three are there again, and so are the test points: nothing is in the tail, so nothing is pulled. θ says "
            "how many "
            "directions are free, τ_S how dear the others are.",
            {"theta": 1.0},
            ("theta",),
            Pick(
                "How many directions will be left now?",
                (
                    Option("two, as before", (Claim("rank", high=2.0),)),
                    Option("three", (Claim("rank", low=3.0),)),
                ),
                1,
            ),
            claims=(Claim("score", low=0.8),),
            notes="θ says where the tail begins. Ask what τ_S does when nothing is in the tail: nothing.",
        ),
    ),
)

CURVES = GuidedLesson(
    "curves",
    "What do random features see that lines do not?",
    "Linear scores see straight lines only; random features see likeness, and their width says how far it reaches.",
    2,
    (
        LessonStep(
            "Four arms of a spiral, 20 labels, and the points' two coordinates as **linear** features: the classes "
            "are parted by "
            "straight lines.",
            "Fewer than half, on 17 of 20 seeds and more. Each line through the middle cuts every arm.",
            _SPIRALS | {"features": "linear"},
            ("features",),
            Pick(
                "How many test points will be right? (by chance: 25 %)",
                (
                    Option("fewer than half", (Claim("score", high=0.5),)),
                    Option("50 to 80 %", (Claim("score", low=0.5, high=0.8),)),
                    Option("more than 80 %", (Claim("score", low=0.8),)),
                ),
                0,
            ),
            notes="Draw one straight line through the middle of the spirals: how many arms does it keep whole?",
        ),
        LessonStep(
            "**64 random features** instead: waves of random direction, which stand in for a kernel.",
            "Eight in ten and more, on 17 of 20 seeds at least, and four in ten and more after the very first step. In 64 "
            "directions there "
            "is room for boundaries that curl.",
            {"features": "fourier"},
            ("features",),
            Curve(
                "Draw how the share of right test points will go now, over the 100 iterations.",
                "score_test",
                "right test points",
                0.25,
                1.0,
                0.12,
            ),
            claims=(Claim("score", low=0.8), Claim("score_test@0", low=0.4)),
            notes="Many will let it rise slowly. The features are there from the first step: what is learned later is "
            "the boundary's detail.",
        ),
        LessonStep(
            "The same with **σ = 1000**: waves so short that only the closest points are alike.",
            "Every label is learned, and no more: three in four test points at best. Short waves tell any two points "
            "apart, so none "
            "speaks for another.",
            {"sigma": 1000.0},
            ("sigma",),
            Pick(
                "Which points will be right?",
                (
                    Option("all labeled ones, and more than 80 % of the test points", (Claim("score", low=0.8),)),
                    Option(
                        "all labeled ones, but fewer than 75 % of the test points",
                        (Claim("score_labeled", low=1.0), Claim("score", high=0.75)),
                    ),
                    Option("not even the labeled ones", (Claim("score_labeled", high=0.9),)),
                ),
                1,
            ),
            notes="Ask what the labels' own score is worth, when every label is right and one in four of the others is "
            "wrong.",
        ),
    ),
)

HOW_MANY_LABELS = GuidedLesson(
    "how-many-labels",
    "How many labels does a graph need?",
    "The graph hands labels on, but cannot make them: one an arm is too few, five do; and too much trust in it drowns "
    "them all.",
    2,
    (
        LessonStep(
            "Four arms, and **one** label on each. The graph is to hand them on to all others.",
            "Fewer than seven in ten. One label says where its arm is at one place; where arms come close, some links "
            "lead across, and nothing contradicts them.",
            _SPIRALS | {"n_labeled": 4},
            ("n_labeled",),
            Pick(
                "How many test points will be right?",
                (
                    Option("fewer than 70 %", (Claim("score", high=0.7),)),
                    Option("70 to 90 %", (Claim("score", low=0.7, high=0.9),)),
                    Option("more than 90 %", (Claim("score", low=0.9),)),
                ),
                0,
            ),
            notes="Mark the four labels on the map and follow one arm to where another comes close: what can tell the "
            "graph to stop there?",
        ),
        LessonStep(
            "**Twenty** on each.",
            "More than nine in ten, and most of them early on: with so many the arms are nearly told apart by labels alone.",
            {"n_labeled": 80},
            ("n_labeled",),
            Curve(
                "Draw how the share of right test points will go, over the 100 iterations.",
                "score_test",
                "right test points",
                0.25,
                1.0,
                0.08,
            ),
            claims=(Claim("score", low=0.9), Claim("score_test@0.25", low=0.8)),
            notes="Ask how much the graph adds when labels are many: the dotted curve says so.",
        ),
        LessonStep(
            "Back to five on each, but a graph with a weight of **τ_I = 0.1**: too much of a good thing. Mend it. "
            "(“auto” on the "
            "slider is what the run finds by itself.)",
            "Agreement with neighbours was all that counted, and each step overshot for its sake: the objective rose more "
            "than a hundredfold. "
            "A penalty that is too strong for the step is too big a step.",
            {"n_labeled": 20, "tau_I": 0.1},
            ("tau_I",),
            claims=(Claim("objective", low=100.0),),
            goal=Goal(
                "Get 78 % of the test points right, with τ_I alone.", (Claim("score", low=0.78),), {"tau_I": None}
            ),
            notes="Let them find that more trust in the graph is not always more: the sentence in the notice names the "
            "weight that the step would bear.",
        ),
    ),
)

LESSONS = (GRAPH_AND_RANK, TAIL, CURVES, HOW_MANY_LABELS)

"""A guided lesson of PS3VT, for several classes."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import BETTER, WORSE, Claim, Goal, GuidedLesson, LessonStep, Option, Pick

GRAPH_AND_RANK = GuidedLesson(
    "graph-and-rank",
    "What do a graph and a low rank do?",
    "A graph of neighbours carries labels along the data; a pull to low rank saves directions, and too much of it loses classes.",
    2,
    (
        LessonStep(
            "Four arms of a spiral, **five** labels on each. A graph joins each point to its nearest neighbours and asks that they "
            "score alike (weight τ_I). The dotted curve learns from the labels alone.",
            "Along an arm each point has neighbours of its own class, so the few labels are handed on from one to the next, all "
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
        ),
        LessonStep(
            "The weights of four classes are a matrix of rank four at most. τ_S pulls its singular values towards zero: a strong "
            "pull, **0.5**.",
            "The smallest ones reach zero exactly: that is what this kind of pull does, where a square would only shrink them. "
            "With two directions left, four classes can no longer be told apart.",
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
        ),
        LessonStep(
            "Find a pull that leaves the classes apart.",
            "A small pull takes what is noise and leaves what tells the classes apart: four classes need three directions.",
            {},
            ("tau_S",),
            goal=Goal(
                "Get 80 % of the test points right, with τ_S alone.", (Claim("score", low=0.8),), {"tau_S": 0.05}
            ),
        ),
    ),
)

LESSONS = (GRAPH_AND_RANK,)

"""A guided lesson of the semi-supervised SVM."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import BETTER, TIE, WORSE, Claim, Goal, GuidedLesson, LessonStep, Option, Pick

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
            "Wherever the boundary crosses a moon, unlabeled points lie in its margin and cost. In the gap between the moons there "
            "are none: so that is where it goes, and the gap is where the classes change.",
            asks=Pick("How many test points will it get right?", _AGAINST_LABELS, 0),
            claims=(Claim("gain", low=0.04), Claim("score", low=0.93)),
        ),
        LessonStep(
            "Two bands with a gap between them, one above the other. But the classes are *left* and *right*.",
            "The boundary goes to the gap, as before, and there it does not belong: it separates above from below. The method "
            "assumes that classes are clusters. Data do not say whether they keep to it; labels do.",
            {"data": "misleading_gap", "sigma": 2.0, "n_labeled": 20, "is_balanced": False, "C_star": 10.0},
            ("data", "C_star"),
            Pick("How many test points will it get right?", _AGAINST_LABELS, 2),
            claims=(Claim("gain", high=-0.1),),
        ),
        LessonStep(
            "C* says how much an unlabeled point within the margin costs; 0 asks none of them.",
            "Without the unlabeled points the twenty labels say left and right, as they should. A method that can be told to "
            "ignore what misleads it does no worse than a plain SVM: that is what its parameters are for.",
            {},
            ("C_star",),
            goal=Goal("Get 70 % of the test points right, with C* alone.", (Claim("score", low=0.7),), {"C_star": 0.0}),
        ),
    ),
)

LESSONS = (GAP,)

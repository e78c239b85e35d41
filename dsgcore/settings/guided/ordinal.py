"""A guided lesson of ordered classes."""

from __future__ import annotations

from dsgcore.settings.guided.lesson import BETTER, TIE, WORSE, Claim, GuidedLesson, LessonStep, Option, Pick

_AGAINST_LABELS = (
    Option("higher", (BETTER,)),
    Option("about the same", (TIE,)),
    Option("lower", (WORSE,)),
)

ORDER = GuidedLesson(
    "order",
    "How does one score rank five classes?",
    "One score ranks all classes; unlabeled points help to place it where labels are few, and a sharp kernel wants features.",
    2,
    (
        LessonStep(
            "Five rings, the innermost class 1, the outermost 5, and **two** labels in each. *One* score is to grow from the "
            "centre outwards; the mean AUC says how often it ranks neighbouring classes the right way round.",
            "Ten labels leave the score free to lean wherever they happen to lie. Unlabeled points lie all around: whichever way "
            "it leans, they are ranked wrongly against the labels, so it stands upright.",
            asks=Pick("Where will the mean AUC end, against the labels alone?", _AGAINST_LABELS, 0),
            claims=(Claim("score", low=0.7),),
        ),
        LessonStep(
            "A *sharp* kernel (σ = 20) sees only the closest points; it is drawn from **one** random feature an iteration.",
            "One wave is no likeness of a kernel, and a sharp one, which has many directions, least of all: a third and more of "
            "what f is, is error. Compare f with h on the map.",
            {"n_features": 1, "n_labeled": 50, "sigma": 20.0, "lam": 0.01},
            ("n_features", "sigma"),
            Pick("With 50 labels, where will the mean AUC end, against the labels alone?", _AGAINST_LABELS, 2),
            claims=(Claim("error_share", low=1 / 3),),
        ),
        LessonStep(
            "The same, with **64** features.",
            "Sixty-four times as many waves, a sixty-fourth of the error: f is close to h now. What is left is what the labels and "
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
        ),
    ),
)

LESSONS = (ORDER,)

"""How what was learned is judged."""

from __future__ import annotations

from dsgcore.glossary.term import Term, Topic

SCORES = Topic(
    "How it is judged",
    (
        Term(
            "AUC",
            "How often a positive point has a higher score than a negative one: 1 always, 0.5 as a coin would.",
            r"$\Pr(f(x_+) > f(x_-)) + \frac12\Pr(f(x_+) = f(x_-))$ over the held-out pairs.",
        ),
        Term(
            "mean AUC",
            "The AUC of each question “above class j?”, averaged over the classes but the last.",
            r"$\frac{1}{k-1}\sum_{j<k} \mathrm{AUC}_j$ with negatives $y \le j$ and positives $y > j$.",
        ),
        Term(
            "accuracy",
            "The share of points that are given their own class.",
            r"$\Pr(\hat y(x) = y)$ over the held-out points.",
        ),
        Term(
            "mean absolute error",
            "By how many classes the answer is off, in the mean: 0 is perfect.",
            r"$\mathbb E|\hat y(x) - y|$ with classes numbered in their order.",
        ),
        Term(
            "tie",
            "The difference is so small that other test points could turn it round.",
            r"The 95 % interval of the paired difference covers 0.",
        ),
        Term(
            "best",
            "The highest test score so far. It is chosen by the test points, so it flatters.",
            r"$\max_t$ of a noisy sequence: biased upwards.",
        ),
        Term(
            "threshold",
            "The score at which one class ends and the next begins.",
            r"$b_j$ minimises $\sum_{y_i > j}\delta(f_i - b) + \sum_{y_i \le j}\delta(b - f_i)$, hinge or squared; "
            r"$b_1 \le .. \le b_{k-1}$.",
            ("thresholds", "scores and thresholds, test points"),
        ),
        Term(
            "margin",
            "By how much the highest score leads over the next one.",
            r"$f_{\hat y}(x) - \max_{y' \ne \hat y} f_{y'}(x)$.",
            ("lead of the highest score, test points", "highest score minus the next"),
        ),
        Term(
            "class given",
            "The class with the highest score, or between whose thresholds the score lies.",
            r"$\hat y(x) = \arg\max_y f_y(x)$, or $1 + |\{j : f(x) > b_j\}|$.",
            ("class", "given", "classes given to the test points"),
        ),
    ),
)

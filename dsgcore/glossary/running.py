"""How a run goes on, what is measured of it, and how what was learned is judged."""

from __future__ import annotations

from dsgcore.core.solver_parameters import SOLVER_PARAMETERS
from dsgcore.glossary.term import Term, Topic

# What its control says.
_STEP_SIZE = next(parameter.sentence for parameter in SOLVER_PARAMETERS if parameter.name == "step_size")

STEPS = Topic(
    "How it is minimised",
    (
        Term(
            "iteration",
            "One step of the method: a few points are drawn, a few random features, and the function moves a little downhill.",
            r"$t = 1 .. T$; at each one fresh $\omega_t$ and a fresh mini-batch, both functions of the seed and $t$.",
            ("iteration t", "iterations", "iteration that drew the features"),
        ),
        Term(
            "mini-batch",
            "The same objective, estimated from the few points of each iteration alone.",
            r"$B$ points of each source: the mean of its terms is an unbiased estimate of the objective's, with "
            r"variance $\sim 1/B$.",
            ("batches", "batch"),
        ),
        Term(
            "step size",
            _STEP_SIZE,
            r"$\eta_t$: constant, $\theta/t$, $\theta/\sqrt T$ or $\theta/T^{3/4}$. Where the largest curvature of "
            r"the loss is $\mu$, $\eta > 2/(\lambda + \mu)$ overshoots without end.",
            ("step",),
        ),
        Term(
            "tail average",
            "The mean of the functions after each step of the second half: what the batches and the random features "
            "shake goes out. It is the function that an estimator predicts with.",
            r"$\bar f = \frac{2}{T}\sum_{t > T/2} f_t$.",
            ("average",),
        ),
        Term(
            "diverging",
            "The objective grows without bound, as each step lands further up than it began; the run goes back to its "
            "last good state.",
            r"$|1 - \eta(\lambda + \mu)| > 1$ in some direction of curvature $\mu$.",
        ),
        Term(
            "wandering",
            "The function goes to and fro instead of on: noise of batches and features that the steps are too large "
            "to average out.",
            r"Differences of $f$ within the run's end, relative to its size.",
            ("wander",),
        ),
        Term(
            "previous run",
            "The same curve of the run before this one, on the same data.",
            r"Another spec, the same split: a change of the curve is a change of what was moved.",
        ),
        Term(
            "seconds of training",
            "The time that was spent computing the model alone, without the measuring and the drawing.",
            r"Wall clock of the iterations; what a competitor is compared with in a race.",
        ),
        Term(
            "outer step",
            "One round of a method that solves a whole problem in each of its steps.",
            r"Such as one linearisation of the concave part (CCCP), or one growing of $C^*$.",
        ),
    ),
)

ERRORS = Topic(
    "What random features cost",
    (
        Term(
            "|f − h|²",
            "What the random features make: how far they have led f away from h, squared, in the mean over some test points.",
            r"$\overline{|f_t(x) - h_t(x)|^2}$; its expectation falls as $1/m$.",
            ("measured", "error of the random features, |f − h|²", "|f − h|"),
        ),
        Term(
            "|h|²",
            "The mean of |h|² at the same points: what the error is to be compared with.",
            r"$\overline{|h_t(x)|^2}$ over the probe points.",
        ),
        Term(
            "bound",
            "The paper's bound on the expected |f − h|². It lies powers of ten above it: the bound is the same for "
            "one random feature "
            "as for a thousand, and adds up the batch's coefficients as if all its points pulled the same way.",
            r"Lemma 1: $M^2(\kappa + \phi)^2 \sum_i |a_t^i|^2$, $a_t^i = -\eta_i \prod_{j=i+1}^t (1 - \eta_j\lambda)$, with "
            r"$\kappa = \phi = 1$ here and $M$ the largest $\sum_b |c_b|$ so far.",
            ("paper's bound (Lemma 1)",),
        ),
        Term(
            "band",
            "What |f − h|² is expected to be, computed along with the run; the band is three times as much, and a third.",
            r"$V_{t+1}(x) = (1 - \eta_t\lambda)^2 V_t(x) + \eta_t^2\, \mathrm{Var}_j[g_j(x)]/m$, the sample variance over the "
            r"features' own contributions: $\mathbb E[V_t] = \mathbb E|f_t - h_t|^2$.",
            ("calibrated band (×/÷ 3)",),
        ),
        Term(
            "singular values",
            "How strongly the weights use each of their directions.",
            r"$\sigma_1 \ge \sigma_2 \ge ..$ of $W \in \mathbb R^{d \times K}$.",
            ("singular values of W",),
        ),
        Term(
            "left alone",
            "The largest singular values, which the penalty leaves alone.",
            r"$\sigma_j(W)$ for $j \le \theta$.",
        ),
        Term(
            "rank",
            "How many singular values of the weights are not zero, and the sum of those that are pulled to zero.",
            r"$|\{j : \sigma_j(W) > 0\}|$, and $\sum_{j > \theta}\sigma_j(W)$.",
            ("rank of W",),
        ),
    ),
)

LIMITS = Topic(
    "How far from the optimum, and why",
    (
        Term(
            "optimum",
            "f* is the exact minimiser of the objective, f̄ the mean of f over the second half of the iterations so far.",
            r"$f^* = \arg\min J$, unique where $J$ is strongly convex; $|f_t - f^*|^2 \le 2|f_t - h_t|^2 + "
            r"2\kappa\lVert h_t - f^*\rVert^2$.",
            ("f*", "distance to the optimum, of its size"),
        ),
        Term(
            "gradient",
            "∇J is the gradient of the whole sample's objective, zero where it is stationary; norms are those of the "
            "kernel's space.",
            r"$\lVert\nabla J(h_t)\rVert^2_{\mathcal H}$, what the theorems of the non-convex settings bound.",
            ("∇J",),
        ),
        Term(
            "way still to go",
            "What would be missing even without noise: the iterations have not led there yet.",
            r"The run with whole data and exact kernel, less $f^*$.",
        ),
        Term(
            "batches' noise",
            "What the mini-batches add: each step follows a few points in place of all.",
            r"From the same run with exact kernel, with batches and without.",
        ),
        Term(
            "features' noise",
            "What the random features add: each step uses a few waves in place of the kernel.",
            r"From the same run on whole data, with features and with the kernel.",
        ),
        Term(
            "all together",
            "The run as it is, with every noise that it has.",
            r"$\sqrt{\overline{|f_t - f^*|^2}}$ over the training points, as a share of $\sqrt{\overline{|f^*|^2}}$.",
        ),
        Term(
            "remainder",
            "What is left when the named parts are added up; it has a sign, for noises act on each other.",
            r"The squared distance of the run, less the sum of its parts.",
            ("remainder, signed", "shares of the squared distance, %"),
        ),
        Term(
            "slope",
            "How fast a curve falls on axes of powers of ten: at −1 ten times the iterations leave a tenth.",
            r"The exponent $r$ of $t^{r}$, fitted by least squares on logarithms: $-1$ for QSG-S2AUC and QS3ORAO, "
            r"$-\frac12$ for TSGSU.",
        ),
    ),
)

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

"""Glossary entries: iterations, errors, limits and scores."""

from __future__ import annotations

from dsgcore.glossary.term import Term, Topic
from dsgcore.solver.parameters import SOLVER_PARAMETERS

# The sentence beside the slider.
_STEP_SIZE = next(parameter.sentence for parameter in SOLVER_PARAMETERS if parameter.name == "step_size")

STEPS = Topic(
    "The run",
    (
        Term(
            "iteration",
            "One step of the method: it draws a few points and a few random features, and moves the function a "
            "little downhill.",
            r"$t = 1 .. T$; at each one fresh $\omega_t$ and a fresh mini-batch, both functions of the seed and $t$.",
            ("iteration t", "iterations", "iteration that drew the features"),
        ),
        Term(
            "doubly stochastic gradient",
            "A step downhill that is random twice: it looks at a few random points, and it replaces the kernel by random waves. "
            "Methods with several kinds of points count each kind, and say triply or quadruply.",
            r"$\zeta_t = \sum_b c_b\, \varphi_{\omega_t}(x_b)^\top \varphi_{\omega_t}(\cdot)$, with "
            r"$\mathbb E_{\omega_t} \zeta_t = \sum_b c_b\, k(x_b, \cdot)$. Dai, Xie, He, Liang, Raj, Balcan and Song, "
            r"Scalable Kernel Methods via Doubly Stochastic Gradients, NIPS 2014.",
        ),
        Term(
            "mini-batch",
            "The few points that one iteration draws. It estimates the objective from these points alone.",
            r"$B$ points of each source: the mean of its terms is an estimate of the objective with variance $\sim 1/B$. It "
            r"is unbiased, but not with the correction of TSGSU or the balance of TSGS3VM, which use the batch's own means.",
            ("batches", "batch"),
        ),
        Term(
            "step size",
            _STEP_SIZE,
            r"$\eta_t$: constant, $\theta/t$, $\theta/\sqrt T$ or $\theta/T^{3/4}$. If the largest curvature of "
            r"the loss is $\mu$, a run with $\eta > 2/(\lambda + \mu)$ diverges.",
            ("step",),
        ),
        Term(
            "tail average",
            "The mean of the functions after each step of the second half. The noise of mini-batches and features "
            "averages out. An estimator predicts with this mean.",
            r"$\bar f = \frac{2}{T}\sum_{t > T/2} f_t$.",
            ("average",),
        ),
        Term(
            "seed",
            "The number from which all random choices follow: the data, the labels, the mini-batches and the random "
            "features. The same seed gives the same run, and another seed shows what was luck.",
            r"Each stream of random numbers is keyed by the seed and by its purpose, so the frequencies $\omega$ of any "
            r"iteration can be drawn again.",
            ("another seed",),
        ),
        Term(
            "curvature",
            "How fast the slope of the objective changes along a direction. The larger it is, the smaller a step must be.",
            r"$\mu$, the largest eigenvalue of the risk's second derivative times the kernel. The run diverges above "
            r"$\eta = 2 / (\lambda + \mu)$.",
            ("largest curvature",),
        ),
        Term(
            "diverging",
            "The objective grows without bound, because each step ends higher than it began. The run then goes "
            "back to its last good state.",
            r"$|1 - \eta(\lambda + \mu)| > 1$ in some direction of curvature $\mu$.",
        ),
        Term(
            "wandering",
            "The function moves back and forth instead of ahead. The steps are too large to average out the noise "
            "of mini-batches and features.",
            r"Differences of $f$ near the end of the run, relative to its size.",
            ("wander",),
        ),
        Term(
            "previous run",
            "The same curve for the run before this one, on the same data.",
            r"Another spec on the same split: the curves differ only because of the changed parameter.",
        ),
        Term(
            "seconds of training",
            "The time spent on computing the model, without measuring and drawing.",
            r"Wall-clock time of the iterations. A race compares it with the competitor's.",
        ),
        Term(
            "outer step",
            "One round of a method that solves a whole problem in each of its steps.",
            r"Examples are one linearisation of the concave part (CCCP) and one increase of $C^*$.",
        ),
    ),
)

ERRORS = Topic(
    "The error of random features",
    (
        Term(
            "|f − h|²",
            "The error of the random features: the squared difference between f and h, averaged over some test points.",
            r"$\overline{|f_t(x) - h_t(x)|^2}$; its expectation falls as $1/m$.",
            ("measured", "error of the random features, |f − h|²", "|f − h|"),
        ),
        Term(
            "|h|²",
            "The mean of |h|² at the same points. Compare the error with it.",
            r"$\overline{|h_t(x)|^2}$ over the probe points.",
        ),
        Term(
            "bound",
            "The paper's upper bound for the expected |f − h|². It is many powers of ten too large: it is the "
            "same for one feature and for a thousand, and it assumes that all points of a mini-batch pull in the "
            "same direction.",
            r"$M^2(\kappa + \phi)^2 \sum_i |a_t^i|^2$, $a_t^i = -\eta_i \prod_{j=i+1}^t (1 - \eta_j\lambda)$, with "
            r"$\kappa = \phi = 1$ here and $M$ the largest $\sum_b |c_b|$ so far: Lemma 1 of QSG-S2AUC and Lemma 2 of QS3ORAO. "
            r"TSGSU's Lemma 1, $M^2(\sqrt\kappa + \sqrt\phi)^2\theta^2$, and TSGS3VM's Theorem 1, the same over $\sqrt T$, put "
            r"$\sum_i |a_t^i|^2 \le T\eta^2$ in.",
            ("paper's bound (Lemma 1)", "paper's bound (Lemma 2)", "paper's bound (Theorem 1)"),
        ),
        Term(
            "band",
            "The expected |f − h|², computed during the run. The band reaches from a third of it to three times "
            "as much.",
            r"$V_{t+1}(x) = (1 - \eta_t\lambda)^2 V_t(x) + \eta_t^2\, \mathrm{Var}_j[g_j(x)]/m$, the sample variance over the "
            r"features' own contributions: $\mathbb E[V_t] = \mathbb E|f_t - h_t|^2$.",
            ("calibrated band (×/÷ 3)",),
        ),
        Term(
            "singular values",
            "Numbers that say how strongly the weights use each of their directions.",
            r"$\sigma_1 \ge \sigma_2 \ge ..$ of $W \in \mathbb R^{d \times K}$.",
            ("singular values of W",),
        ),
        Term(
            "not penalised",
            "The largest singular values, which the penalty does not touch.",
            r"$\sigma_j(W)$ for $j \le \theta$.",
        ),
        Term(
            "rank",
            "The number of singular values that are not zero. The curve beside it shows the sum of those that the "
            "penalty pulls to zero.",
            r"$|\{j : \sigma_j(W) > 0\}|$, and $\sum_{j > \theta}\sigma_j(W)$.",
            ("rank of W",),
        ),
    ),
)

LIMITS = Topic(
    "The distance to the optimum",
    (
        Term(
            "optimum",
            "f* is the exact minimiser of the objective. f̄ is the mean of f over the second half of the "
            "iterations so far.",
            r"$f^* = \arg\min J$, unique if $J$ is strongly convex; $|f_t - f^*|^2 \le 2|f_t - h_t|^2 + "
            r"2\kappa\lVert h_t - f^*\rVert^2$.",
            ("f*", "relative distance to the optimum"),
        ),
        Term(
            "gradient",
            "∇J is the gradient of the objective on the whole sample. It is zero at a minimum. Its size is "
            "measured in the kernel's space.",
            r"$\lVert\nabla J(h_t)\rVert^2_{\mathcal H}$, which the theorems of the non-convex settings bound.",
            ("∇J",),
        ),
        Term(
            "optimisation error",
            "The distance that would remain without any noise, because the run has had too few iterations.",
            r"The run on all data with the exact kernel, minus $f^*$.",
        ),
        Term(
            "batch noise",
            "The distance that mini-batches add, because each step follows a few points instead of all.",
            r"The run with mini-batches minus the run on all data, both with the exact kernel.",
        ),
        Term(
            "feature noise",
            "The distance that random features add, because each step uses a few waves instead of the kernel.",
            r"The run with random features minus the run with the exact kernel, both on all data.",
        ),
        Term(
            "all together",
            "The distance of the run itself, with all its noise.",
            r"$\sqrt{\overline{|f_t - f^*|^2}}$ over the training points, as a share of $\sqrt{\overline{|f^*|^2}}$.",
        ),
        Term(
            "remainder",
            "The difference between the whole distance and the sum of the named parts. It can be negative, "
            "because the noises influence each other.",
            r"The squared distance of the run, minus the sum of its parts.",
            ("remainder, signed", "shares of the squared distance, %"),
        ),
        Term(
            "slope",
            "The speed at which a curve falls, on logarithmic axes. At −1, ten times as many iterations leave a tenth.",
            r"The exponent $r$ of $t^{r}$, fitted by least squares on logarithms: $-1$ for QSG-S2AUC and QS3ORAO, "
            r"$-\frac12$ for TSGSU.",
        ),
    ),
)

SCORES = Topic(
    "The scores",
    (
        Term(
            "AUC",
            "How often a positive point has a higher score than a negative one: 1 means always, 0.5 is as good as "
            "tossing a coin.",
            r"$\Pr(f(x_+) > f(x_-)) + \frac12\Pr(f(x_+) = f(x_-))$ over the held-out pairs.",
        ),
        Term(
            "mean AUC",
            "The AUC of each question “above class j?”, averaged over all classes except the last.",
            r"$\frac{1}{k-1}\sum_{j<k} \mathrm{AUC}_j$ with negatives $y \le j$ and positives $y > j$.",
        ),
        Term(
            "accuracy",
            "The share of points whose class is predicted correctly.",
            r"$\Pr(\hat y(x) = y)$ over the held-out points.",
        ),
        Term(
            "mean absolute error",
            "By how many classes a prediction is wrong on average. 0 is perfect.",
            r"$\mathbb E|\hat y(x) - y|$ with classes numbered in their order.",
        ),
        Term(
            "tie",
            "The difference is so small that it could be reversed on other test points.",
            r"The 95 % interval of the paired difference covers 0.",
        ),
        Term(
            "best",
            "The highest test score so far. It is chosen with the test points, so it is too optimistic.",
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
            "The difference between the highest score and the second highest.",
            r"$f_{\hat y}(x) - \max_{y' \ne \hat y} f_{y'}(x)$.",
            ("lead of the highest score, test points", "highest score minus the next"),
        ),
        Term(
            "predicted class",
            "The class with the highest score, or the class between whose thresholds the score lies.",
            r"$\hat y(x) = \arg\max_y f_y(x)$, or $1 + |\{j : f(x) > b_j\}|$.",
            ("class", "predicted", "predicted classes, test points"),
        ),
    ),
)

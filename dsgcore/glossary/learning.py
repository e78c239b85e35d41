"""What is learned, and from what."""

from __future__ import annotations

from dsgcore.glossary.term import Term, Topic

DATA = Topic(
    "What is learned from",
    (
        Term(
            "label",
            "What is known of a point: its class, or with which other point it shares one.",
            r"$y \in \{-1, +1\}$, or one of $k$ classes; the sources $P$, $N$ and $S$ of a mini-batch are drawn from "
            r"labeled points.",
            ("labeled",),
        ),
        Term(
            "unlabeled",
            "A point whose class nobody has told; where it lies is known all the same.",
            r"A draw from the marginal $p(x) = \pi_+ p_+(x) + \pi_- p_-(x)$: source $U$ of a mini-batch.",
            ("unlabeled points",),
        ),
        Term(
            "similar pair",
            "Two points of the same class, which class is not said.",
            r"A draw from $(\pi_+^2 p_+(x)p_+(x') + \pi_-^2 p_-(x)p_-(x')) / \pi_S$ with $\pi_S = \pi_+^2 + \pi_-^2$.",
            ("similar pairs", "similar as positive", "similar as negative"),
        ),
        Term(
            "prior",
            "The share of positives among all points.",
            r"$\pi_+$, with $\pi_- = 1 - \pi_+$. The risk of similar and unlabeled data divides by $2\pi_+ - 1$, "
            r"so $\pi_+ = \frac12$ is refused.",
            ("share of positives", "share of positives, given", "in the unlabeled points"),
        ),
        Term(
            "training data",
            "The points that the method may look at, labeled and unlabeled.",
            r"What $J$ is the objective of; each step sees a mini-batch of them.",
            ("train", "train (labeled)", "train (in pairs)"),
        ),
        Term(
            "test points",
            "Points that are held out: the method never sees them, so a score on them does not flatter.",
            r"A split drawn from the seed; the labels of unlabeled training points stay hidden as well.",
            ("test",),
        ),
    ),
)

FUNCTION = Topic(
    "The function",
    (
        Term(
            "f",
            "f is the score that is learned: the run's own, with random features in place of the kernel.",
            r"$f_{t+1}(x) = (1 - \eta_t\lambda) f_t(x) + \alpha_t^\top \varphi_{\omega_t}(x)$, "
            r"$\alpha_t = -\eta_t \sum_b c_b\, \varphi_{\omega_t}(x_b)$.",
            ("score f",),
        ),
        Term(
            "kernel",
            "How alike two points are, as a number: 1 for the same point, near 0 for points far apart (of Gaussians "
            "and their like).",
            r"$k(x, x')$, such as $\exp(-\sigma\lVert x - x'\rVert^2)$, positive definite; it spans the space in which "
            r"$\lVert f\rVert$ is measured.",
        ),
        Term(
            "bandwidth",
            "How quickly the kernel forgets: a large one looks at near neighbours only, a small one far around.",
            r"$\sigma$ in $\exp(-\sigma\lVert x - x'\rVert^2)$ or $\exp(-\sigma\lVert x - x'\rVert_1)$; frequencies "
            r"of the Gaussian are drawn from $\mathcal N(0, 2\sigma I)$.",
            ("width", "kernel sharpness"),
        ),
        Term(
            "random feature",
            "A wave of random direction and length; the products of many such waves are, in the mean, the kernel.",
            r"$k(x, x') = \mathbb E_\omega[\varphi_\omega(x)^\top \varphi_\omega(x')]$, $\varphi_\omega(x) = \sqrt{1/m}\,"
            r"[\cos\omega_1^\top x .. \cos\omega_m^\top x, \sin\omega_1^\top x .. \sin\omega_m^\top x]$, drawn anew "
            r"at each $t$.",
            ("random features", "features"),
        ),
        Term(
            "twin",
            "h is f's twin: the same batches and coefficients, with the exact kernel in place of random features.",
            r"$h_{t+1}(x) = (1 - \eta_t\lambda) h_t(x) - \eta_t \sum_b c_b\, k(x_b, x)$ with the $c_b$ taken at $f_t$; so "
            r"$\mathbb E[f_t - h_t] = 0$.",
            ("h", "score h"),
        ),
        Term(
            "labels only",
            "The same run with the labels alone, or without the method's correction: what the unlabeled points (or "
            "it) buy is the difference.",
            r"The same seed, data, batches and features; the problem with its unlabeled terms at weight 0 "
            r"($\gamma = 1$, $C^* = 0$ or $\tau_I = 0$), or $\delta(A) = A$.",
            ("labels only, test", "no correction", "no correction, test"),
        ),
    ),
)

OBJECTIVE = Topic(
    "What is minimised",
    (
        Term(
            "objective",
            "What is minimised: the risk on the training data, plus the ridge.",
            r"$J(f) = R(f) + \frac{\lambda}{2}\lVert f\rVert^2$, with the estimated risk $R$ of the setting.",
        ),
        Term(
            "parts of the objective",
            "What the objective adds up, part by part. A risk cannot be negative, but an estimate of one subtracts: "
            "what lies below zero, and a correction where there is one, which adds what would be missing.",
            r"For similar and unlabeled points $A_1 = \frac{\pi_S}{2\pi_+-1}\overline{l(f,+1)}_S - \frac{\pi_-}{2\pi_+-1}"
            r"\overline{l(f,+1)}_U$, and $A_2$ likewise: each is a risk in expectation, yet a difference.",
            ("estimated risks",),
        ),
        Term(
            "ridge",
            "A price on how steep the function is: it pulls the function towards zero.",
            r"$\frac{\lambda}{2}\lVert f\rVert^2$, or $\tau_A\lVert W\rVert_F^2$; it makes $J$ strongly convex where "
            r"$R$ is convex.",
            ("regularisation",),
        ),
        Term(
            "pairwise loss",
            "What a pair costs whose members are not ranked as they should be, averaged over pairs of the two kinds named.",
            r"$l(u, v) = (1 - u + v)^2$ for a pair whose first member is to score higher; weighted $\gamma$ with labels, and "
            r"$1 - \gamma$ with an unlabeled member.",
            (
                "positive over negative",
                "positive over unlabeled",
                "unlabeled over negative",
                "class over class",
                "class over unlabeled",
                "unlabeled over class",
            ),
        ),
        Term(
            "constant",
            "What the pairs with an unlabeled member would cost even if all were ranked right: it is taken off.",
            r"$-\frac12(1 - \gamma)$, from $R_{PU} + R_{NU} - \frac12 = R_{PN}$, which holds for the zero-one loss.",
        ),
        Term(
            "pooled spread",
            "The spread of a class's scores, estimated from both classes together where one has very few labels.",
            r"Replaces the variances of $f$ within $P$ and $N$ in the squared pair terms by one that is weighted by "
            r"their degrees of freedom.",
        ),
        Term(
            "hinge",
            "What a labeled point costs: nothing once it is on the right side by a clear lead, and more the further "
            "it is from there.",
            r"$\max(0, 1 - y f(x))$; of several classes $[1 - (f_y - \max_{y' \ne y} f_{y'})]_+$.",
            ("positive, a part", "negative, a part"),
        ),
        Term(
            "unlabeled loss",
            "What an unlabeled point costs: most where the score is undecided, so the boundary is pushed to where no "
            "points lie.",
            r"$C^*\, \mathbb E[u(f(x))]$ with $u(r) = \max(0, 1 - |r|)$, half its square, a symmetric ramp, or $e^{-5r^2}$.",
            ("unlabeled, a part",),
        ),
        Term(
            "estimated risk",
            "What the mean loss of a class would be, computed from points that do not carry its label.",
            r"$A_1$ and $A_2$ of the similar-unlabeled risk: $\mathbb E[A_1] = \pi_+ \mathbb E_+[l(f, +1)] \ge 0$, while the "
            r"estimate of a sample can be negative.",
            ("risk of positive", "risk of negative", "unlabeled as positive", "unlabeled as negative"),
        ),
        Term(
            "correction",
            "What is added where an estimated risk falls below zero, which no true risk does.",
            r"$J = \delta(A_1) + \delta(A_2) + \frac\lambda2\lVert f\rVert^2$ with $\delta(A) = |A|$, $\max(0, A)$ or "
            r"a leaky one; $\delta(A) = A$ corrects nothing.",
        ),
        Term(
            "graph",
            "What it costs that neighbouring points get different scores, labeled or not.",
            r"$\tau_I\, \mathrm{tr}(W^\top X L X^\top W)$ with $L = D - S$ of a graph of nearest neighbours.",
        ),
        Term(
            "tail",
            "The smallest singular values, whose sum is penalised: it pulls them to zero.",
            r"$\tau_S \sum_{j > \theta} \sigma_j(W)$, by soft-thresholding those alone in each proximal step.",
            ("tail, pulled to zero",),
        ),
    ),
)

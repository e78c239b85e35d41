"""Glossary entries: data, the learned function, and the objective."""

from __future__ import annotations

from dsgcore.glossary.term import Term, Topic

DATA = Topic(
    "The data",
    (
        Term(
            "label",
            "The known class of a point, or the fact that it shares its class with another point.",
            r"$y \in \{-1, +1\}$, or one of $k$ classes; the sources $P$, $N$ and $S$ of a mini-batch are drawn from "
            r"labeled points.",
            ("labeled",),
        ),
        Term(
            "unlabeled",
            "A point whose position is known, but not its class.",
            r"A draw from the marginal $p(x) = \pi_+ p_+(x) + \pi_- p_-(x)$: source $U$ of a mini-batch.",
            ("unlabeled points",),
        ),
        Term(
            "similar pair",
            "Two points of the same class. It is not known which class.",
            r"A draw from $(\pi_+^2 p_+(x)p_+(x') + \pi_-^2 p_-(x)p_-(x')) / \pi_S$ with $\pi_S = \pi_+^2 + \pi_-^2$.",
            ("similar pairs", "similar as positive", "similar as negative"),
        ),
        Term(
            "prior",
            "The share of positives among all points.",
            r"$\pi_+$, with $\pi_- = 1 - \pi_+$. The risk of similar and unlabeled data divides by $2\pi_+ - 1$, "
            r"so $\pi_+ = \frac12$ is refused.",
            ("share of positives", "assumed share of positives", "in the unlabeled points"),
        ),
        Term(
            "training data",
            "The points that the method learns from, labeled and unlabeled.",
            r"The objective $J$ is defined on them; each step sees a mini-batch.",
            ("train", "train (labeled)", "train (in pairs)"),
        ),
        Term(
            "test points",
            "Points that the method never sees. A score on them is honest.",
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
            "f is the score that the run learns. It uses random features instead of the exact kernel.",
            r"$f_{t+1}(x) = (1 - \eta_t\lambda) f_t(x) + \alpha_t^\top \varphi_{\omega_t}(x)$, "
            r"$\alpha_t = -\eta_t \sum_b c_b\, \varphi_{\omega_t}(x_b)$.",
            ("score f",),
        ),
        Term(
            "kernel",
            "A number that says how alike two points are: 1 for the same point, and near 0 for points far apart "
            "(for Gaussian and similar kernels).",
            r"$k(x, x')$, such as $\exp(-\sigma\lVert x - x'\rVert^2)$, positive definite; it spans the space in which "
            r"$\lVert f\rVert$ is measured.",
        ),
        Term(
            "inverse bandwidth",
            "Sets how quickly similarity fades with distance. A large σ looks at close neighbours only, a small σ "
            "looks far.",
            r"$\sigma$ in $\exp(-\sigma\lVert x - x'\rVert^2)$ or $\exp(-\sigma\lVert x - x'\rVert_1)$; frequencies "
            r"of the Gaussian are drawn from $\mathcal N(0, 2\sigma I)$.",
            ("bandwidth", "width"),
        ),
        Term(
            "random feature",
            "A wave of random direction and length. On average, products of such waves equal the kernel.",
            r"$k(x, x') = \mathbb E_\omega[\varphi_\omega(x)^\top \varphi_\omega(x')]$, $\varphi_\omega(x) = \sqrt{1/m}\,"
            r"[\cos\omega_1^\top x .. \cos\omega_m^\top x, \sin\omega_1^\top x .. \sin\omega_m^\top x]$, drawn again "
            r"at each $t$.",
            ("random features", "features"),
        ),
        Term(
            "twin",
            "h is the twin of f: the same mini-batches and coefficients, but with the exact kernel instead of "
            "random features.",
            r"$h_{t+1}(x) = (1 - \eta_t\lambda) h_t(x) - \eta_t \sum_b c_b\, k(x_b, x)$ with the $c_b$ taken at $f_t$; so "
            r"$\mathbb E[f_t - h_t] = 0$.",
            ("h", "score h"),
        ),
        Term(
            "labels only",
            "The same run without the unlabeled points, or without the method's correction. The difference shows "
            "what they add.",
            r"The same seed, data, batches and features; the problem with its unlabeled terms at weight 0 "
            r"($\gamma = 1$, $C^* = 0$ or $\tau_I = 0$), or $\delta(A) = A$.",
            ("labels only, test", "no correction", "no correction, test"),
        ),
    ),
)

OBJECTIVE = Topic(
    "The objective",
    (
        Term(
            "objective",
            "The number that the run minimises: the risk on the training data plus the ridge.",
            r"$J(f) = R(f) + \frac{\lambda}{2}\lVert f\rVert^2$, with the estimated risk $R$ of the setting.",
        ),
        Term(
            "parts of the objective",
            "The terms that the objective adds up. A risk is never negative, but an estimate of it subtracts "
            "terms, so a part can lie below zero. A correction adds something back.",
            r"For similar and unlabeled points $A_1 = \frac{\pi_S}{2\pi_+-1}\overline{l(f,+1)}_S - \frac{\pi_-}{2\pi_+-1}"
            r"\overline{l(f,+1)}_U$, and $A_2$ likewise: each is a difference, but its expectation is a risk.",
            ("estimated risks",),
        ),
        Term(
            "ridge",
            "A price on the size of the function. It pulls the function towards zero.",
            r"$\frac{\lambda}{2}\lVert f\rVert^2$, or $\tau_A\lVert W\rVert_F^2$; it makes $J$ strongly convex if "
            r"$R$ is convex.",
            ("regularisation",),
        ),
        Term(
            "pairwise loss",
            "The cost of a pair that is ranked in the wrong order, averaged over pairs of the two named kinds.",
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
            "The cost of pairs with an unlabeled point if all were ranked correctly. The objective subtracts it.",
            r"$-\frac12(1 - \gamma)$, from $R_{PU} + R_{NU} - \frac12 = R_{PN}$, which holds for the zero-one loss.",
        ),
        Term(
            "pooled spread",
            "The spread of a class's scores. If one class has very few labels, it is estimated from both classes "
            "together.",
            r"Replaces the variances of $f$ within $P$ and $N$ in the squared pair terms by one that is weighted by "
            r"their degrees of freedom.",
        ),
        Term(
            "hinge",
            "The cost of a labeled point: zero if it is clearly on the right side, and larger the further it is "
            "from there.",
            r"$\max(0, 1 - y f(x))$; of several classes $[1 - (f_y - \max_{y' \ne y} f_{y'})]_+$.",
            ("positive, a part", "negative, a part"),
        ),
        Term(
            "unlabeled loss",
            "The cost of an unlabeled point: largest near the boundary. It pushes the boundary into a gap between "
            "the points.",
            r"$C^*\, \mathbb E[u(f(x))]$ with $u(r) = \max(0, 1 - |r|)$, half its square, a symmetric ramp, or $e^{-5r^2}$.",
            ("unlabeled, a part",),
        ),
        Term(
            "estimated risk",
            "An estimate of the mean loss of a class, from points that do not carry its label.",
            r"$A_1$ and $A_2$ of the similar-unlabeled risk: $\mathbb E[A_1] = \pi_+ \mathbb E_+[l(f, +1)] \ge 0$, while the "
            r"estimate of a sample can be negative.",
            ("risk of positive", "risk of negative", "unlabeled as positive", "unlabeled as negative"),
        ),
        Term(
            "correction",
            "An amount that is added if an estimated risk falls below zero. A true risk never does.",
            r"$J = \delta(A_1) + \delta(A_2) + \frac\lambda2\lVert f\rVert^2$ with $\delta(A) = |A|$, $\max(0, A)$ or "
            r"a leaky one; $\delta(A) = A$ corrects nothing.",
        ),
        Term(
            "graph",
            "The cost of different scores for neighbouring points, labeled or not.",
            r"$\tau_I\, \mathrm{tr}(W^\top X L X^\top W)$ with $L = D - S$ of a graph of nearest neighbours.",
        ),
        Term(
            "tail",
            "The smallest singular values. A penalty on their sum pulls them to zero.",
            r"$\tau_S \sum_{j > \theta} \sigma_j(W)$, by soft-thresholding those alone in each proximal step.",
            ("tail, penalised",),
        ),
    ),
)

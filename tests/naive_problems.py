"""Dull twins of three more of the papers' algorithms, in the manner of `naive`: plain loops, draws handed in."""

import math

import numpy as np
from naive import auc, descend, feature_map, predict, qsg_s2auc, triplets_gradient


def su_loss(loss, z, t):
    """Return l(z, t) and dl/dz."""
    if loss == "squared":
        return 0.25 * (z * t - 1.0) ** 2, 0.5 * t * (z * t - 1.0)
    if loss == "logistic":
        return math.log(1.0 + math.exp(-z * t)), -t / (1.0 + math.exp(z * t))
    value = max(-z * t, max(0.0, 0.5 - 0.5 * z * t))
    slope = -t if z * t < -1.0 else -0.5 * t if z * t < 1.0 else 0.0
    return value, slope


def su_correction(correction, A, leak):
    """Return delta(A) and delta'(A)."""
    if A >= 0.0 or correction == "identity":
        return A, 1.0
    if correction == "absolute value":
        return -A, -1.0
    if correction == "ReLU":
        return 0.0, 0.0
    return -leak * A, -leak


def su_inner(f_s, f_u, prior, loss):
    """Return the two inner sums of TSGSU's Eq. (8)."""
    prior_s = prior**2 + (1.0 - prior) ** 2
    d = 2.0 * prior - 1.0
    A1 = A2 = 0.0
    for z in f_s:
        A1 += prior_s / (len(f_s) * d) * su_loss(loss, z, +1)[0]
        A2 -= prior_s / (len(f_s) * d) * su_loss(loss, z, -1)[0]
    for z in f_u:
        A1 -= (1.0 - prior) / (len(f_u) * d) * su_loss(loss, z, +1)[0]
        A2 += prior / (len(f_u) * d) * su_loss(loss, z, -1)[0]
    return A1, A2


def su_risk(f_s, f_u, prior, loss, correction, leak):
    """TSGSU's Eq. (8)."""
    return sum(su_correction(correction, A, leak)[0] for A in su_inner(f_s, f_u, prior, loss))


def tsgsu(X, batches, frequencies, steps, lams, prior, loss, correction, leak):
    """Algorithm 1 of TSGSU with mini-batches of similar points and of unlabeled points."""
    prior_s = prior**2 + (1.0 - prior) ** 2
    d = 2.0 * prior - 1.0

    def gradient(batch, f, phi):  # Eq. (17), over the batch
        S, U = batch
        A1, A2 = su_inner([f[i] for i in S], [f[i] for i in U], prior, loss)
        delta1, delta2 = su_correction(correction, A1, leak)[1], su_correction(correction, A2, leak)[1]
        total = 0.0
        for i in S:
            total += delta1 * prior_s / (d * len(S)) * su_loss(loss, f[i], +1)[1] * phi[i]
            total -= delta2 * prior_s / (d * len(S)) * su_loss(loss, f[i], -1)[1] * phi[i]
        for i in U:
            total -= delta1 * (1.0 - prior) / (d * len(U)) * su_loss(loss, f[i], +1)[1] * phi[i]
            total += delta2 * prior / (d * len(U)) * su_loss(loss, f[i], -1)[1] * phi[i]
        return total

    return descend(X, batches, frequencies, steps, lams, gradient)


def hinge(r, v):
    """Return l(r, v) = max(0, 1 - v r) and its derivative by r."""
    return max(0.0, 1.0 - v * r), 0.0 if v * r >= 1.0 else -v


def ramp(r, s):
    """Return H_1(r) - H_s(r), H_s(r) = max(0, s - r), and its derivative."""
    value = max(0.0, 1.0 - r) - max(0.0, s - r)
    return value, (-1.0 if r < 1.0 else 0.0) - (-1.0 if r < s else 0.0)


def u(loss, r, s):
    """Return u(r) and u'(r) of Table 2, with the sign of r where the table lacks it."""
    sign = int(r > 0) - int(r < 0)
    if loss == "symmetric hinge":
        return max(0.0, 1.0 - abs(r)), -sign if abs(r) < 1.0 else 0.0
    if loss == "squared symmetric hinge":
        return 0.5 * max(0.0, 1.0 - abs(r)) ** 2, sign * (abs(r) - 1.0) if abs(r) < 1.0 else 0.0
    if loss == "exponential":
        return math.exp(-5.0 * r * r), -10.0 * r * math.exp(-5.0 * r * r)
    # As in CCCP-S3VM: an unlabeled point counts as a positive and as a negative one.
    (one, slope), (other, back) = ramp(r, s), ramp(-r, s)
    return one + other - (1.0 - s), slope - back


def tsgs3vm(X, batches, frequencies, steps, lams, C, C_star, share, loss, s, balanced=False):
    """Algorithm 1 of TSGS3VM; batches of positives, negatives, unlabeled points.

    The mean of the labeled points is the classes' means, weighted by their shares.
    The paper's gamma_t is eta, and its (1 - gamma_t) is (1 - eta lam) with lam = 1.
    """

    def gradient(batch, f, phi):
        P, N, U = batch
        shift, mean_phi = 0.0, 0.0
        if balanced:  # g = f - mean_U f + constant, so that phi - mean_U phi takes the place of phi
            shift = 2.0 * share - 1.0 - sum(f[i] for i in U) / len(U)
            mean_phi = sum(phi[i] for i in U) / len(U)
        total = 0.0
        for i in P:
            total += C * share / len(P) * hinge(f[i] + shift, +1)[1] * (phi[i] - mean_phi)
        for i in N:
            total += C * (1.0 - share) / len(N) * hinge(f[i] + shift, -1)[1] * (phi[i] - mean_phi)
        for i in U:
            total += C_star / len(U) * u(loss, f[i] + shift, s)[1] * (phi[i] - mean_phi)
        return total

    return descend(X, batches, frequencies, steps, lams, gradient)


def dsg(X, batches, frequencies, steps, lams, share):
    """Algorithm 1 of doubly stochastic gradients with the logistic loss; batches of positives and negatives."""

    def gradient(batch, f, phi):
        return sum(
            weight / len(rows) * -y / (1.0 + math.exp(y * f[i])) * phi[i]
            for y, weight, rows in zip((1, -1), (share, 1.0 - share), batch, strict=True)
            for i in rows
        )

    return descend(X, batches, frequencies, steps, lams, gradient)


def dsg_softmax(X, y, K, batches, frequencies, steps, lam, tiny=None):
    """Doubly stochastic gradients with the softmax loss; with `tiny`, each step times the inverse of its second moments.

    With the inverse, as in the authors' program, a ridge of at most 1e-6 shrinks nothing.
    """
    Ws, used, ridge = [], [], lam if tiny is None or lam > 1e-6 else 0.0
    for rows, W, eta in zip(batches, frequencies, steps, strict=True):
        moments, gradient = np.zeros((2 * W.shape[1], 2 * W.shape[1])), np.zeros((2 * W.shape[1], K))
        for i in rows:
            f = [predict(X[i], [own[:, k] for own in Ws], used) for k in range(K)]
            total = sum(math.exp(v) for v in f)
            phi = feature_map(W, X[i])
            for k in range(K):
                gradient[:, k] += (math.exp(f[k]) / total - (y[i] == k)) * phi / len(rows)
            moments += np.outer(phi, phi) / len(rows)
        step = gradient if tiny is None else np.linalg.inv(moments + (lam + tiny) * np.eye(len(moments))) @ gradient
        Ws = [(1.0 - eta * ridge) * own for own in Ws]
        Ws.append(-eta * step)
        used.append(W)
    return Ws


def qs3orao(X, batches, frequencies, steps, lams, gammas, counts, all_pairs=False):
    """Algorithm 1 of QS3ORAO, Eq. (10); batches of class 1, .., of class k, of unlabeled points.

    A draw from the union of classes a .. b is a draw from one of them with probability its count over theirs.
    """
    k = len(counts)

    def gradient(batch, f, phi):
        *classes, unlabeled = batch
        total = 0.0
        for j in range(1, k):
            for a in range(j, k):
                for b in range(j):
                    weight = counts[a] / sum(counts[j:]) * counts[b] / sum(counts[:j]) / (k - 1)
                    drawn = classes[a], classes[b], unlabeled
                    total += weight * triplets_gradient(*drawn, f, phi, gammas[j - 1], all_pairs)
        return total

    return descend(X, batches, frequencies, steps, lams, gradient)


def twin(p, X, *drawn):
    """The alphas of the algorithm that a problem's paper prints, from batches, frequencies, steps and ridges; else None."""
    if p.name == "auc" and not p.is_pooled:
        return qsg_s2auc(X, *drawn, p.gamma, all_pairs=p.pairing == "all")
    if p.name == "supervised" and p.loss == "logistic":
        return dsg(X, *drawn, p.positive_share)
    if p.name == "similar_unlabeled":
        return tsgsu(X, *drawn, p.prior, p.loss, p.correction, p.leak)
    if p.name == "s3vm":
        weights = p.labeled_weight, p.unlabeled_weight, p.positive_share
        return tsgs3vm(X, *drawn, *weights, p.loss, p.s, balanced=p.is_balanced)
    if p.name == "ordinal":
        gammas = np.broadcast_to(p.gamma, len(p.shares) - 1)
        return qs3orao(X, *drawn, gammas, p.shares, all_pairs=p.pairing == "all")
    return None


def threshold_loss(b, j, y, f, loss, margin=1.0):
    """Return the part of the all-threshold loss that the j-th threshold makes."""
    total = 0.0
    for label, value in zip(y, f, strict=True):
        z = value - b if label >= j else b - value
        total += max(0.0, margin - z) if loss == "hinge" else (margin - z) ** 2
    return total


def mean_auc(y, f):
    """The mean over j of the AUC of code >= j against code < j, where both have points."""
    cuts = [[code >= j for code in y] for j in range(1, max(y) + 1)]
    aucs = [auc(cut, f) for cut in cuts if not all(cut)]
    return sum(aucs) / len(aucs)


def product_map(W, x):
    """The features sqrt(1/m) prod_l <w_lj, x> of a dot product kernel; W of shape (p, d, m)."""
    p, d, m = W.shape
    phi = []
    for j in range(m):
        product = 1.0
        for level in range(p):
            product *= sum(W[level, k, j] * x[k] for k in range(d))
        phi.append(product)
    return math.sqrt(1.0 / m) * np.array(phi)


def quadratic(problem, rows, n):
    """Q (n, n) and l (n,) of a bound problem whose risk over all n points is f'Qf / 2 + l'f + constant; else None."""
    risk = problem.near_risk()
    if not hasattr(risk, "spread"):
        return None
    M = np.stack([np.bincount(own, minlength=n) / len(own) for own in rows.values()], axis=1)
    return np.diag(M @ risk.spread) - M @ risk.between @ M.T, M @ risk.linear


def exact_optimum(K, Q, l, lam):
    """The a of f* = K a, the minimiser of f'Qf / 2 + l'f + lam / 2 ||f||^2: (lam I + Q K) a = -l."""
    return np.linalg.solve(lam * np.eye(len(K)) + Q @ K, -l)

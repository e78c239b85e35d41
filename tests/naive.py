"""Dull twins of the papers' algorithms: plain loops, float64, line by line, no cleverness. The fast code must equal them.

They share nothing with the package but the draws: frequencies (radians) and batch rows are handed in.
"""

import math

import numpy as np


def feature_map(W, x):
    """phi_w(x) = sqrt(1/m) [cos w_1'x .. cos w_m'x, sin w_1'x .. sin w_m'x]; W of shape (d, m), radians."""
    m = W.shape[1]
    z = [sum(W[k, j] * x[k] for k in range(len(x))) for j in range(m)]
    return math.sqrt(1.0 / m) * np.array([math.cos(v) for v in z] + [math.sin(v) for v in z])


def predict(x, alphas, frequencies):
    """Algorithm 2 of QSG-S2AUC: f(x) = sum_i alpha_i' phi_{w_i}(x)."""
    f = 0.0
    for alpha, W in zip(alphas, frequencies, strict=True):
        f = f + float(alpha @ feature_map(W, x))
    return f


def descend(X, batches, frequencies, steps, lams, gradient):
    """The loop of every algorithm: alpha_t = -eta gradient, and all before it times 1 - eta lam. Returns alpha_1 .. alpha_t.

    batches: per iteration the rows of each source; gradient: of a batch, and f and phi of its rows.
    """
    alphas, used = [], []
    for batch, W, eta, lam in zip(batches, frequencies, steps, lams, strict=True):
        f = {i: predict(X[i], alphas, used) for rows in batch for i in rows}
        phi = {i: feature_map(W, X[i]) for i in f}
        alphas = [(1.0 - eta * lam) * alpha for alpha in alphas]
        alphas.append(-eta * gradient(batch, f, phi))
        used.append(W)
    return alphas


def triplets_gradient(P, N, U, f, phi, gamma, all_pairs):
    """Eq. (10) of QSG-S2AUC and of QS3ORAO: the mean over triplets of a batch, with l(u, v) = (1 - u + v)^2."""
    triplets = [(p, n, u) for p in P for n in N for u in U] if all_pairs else list(zip(P, N, U, strict=True))
    gradient = 0.0
    for p, n, u in triplets:
        l1 = -2.0 * (1.0 - f[p] + f[n])  # d l(f_p, f_n) / d f_p
        l2 = +2.0 * (1.0 - f[p] + f[n])  # d l(f_p, f_n) / d f_n
        l3 = -2.0 * (1.0 - f[p] + f[u])
        l4 = +2.0 * (1.0 - f[p] + f[u])
        l5 = -2.0 * (1.0 - f[u] + f[n])
        l6 = +2.0 * (1.0 - f[u] + f[n])
        gradient = gradient + gamma * (l1 * phi[p] + l2 * phi[n])
        gradient = gradient + (1.0 - gamma) * (l3 * phi[p] + l4 * phi[u] + l5 * phi[u] + l6 * phi[n])
    return gradient / len(triplets)


def qsg_s2auc(X, batches, frequencies, steps, lams, gamma, all_pairs=False):
    """Algorithm 1 of QSG-S2AUC; batches of positives, negatives, unlabeled points."""

    def gradient(batch, f, phi):
        return triplets_gradient(*batch, f, phi, gamma, all_pairs)

    return descend(X, batches, frequencies, steps, lams, gradient)


def exact_twin(x, X, batches, coefficients, steps, lams, kernel):
    """h_{t+1}(x) = (1 - eta_t lam) h_t(x) - eta_t sum_b c_b k(x_b, x), from h_1 = 0; batches as flat row lists."""
    h = 0.0
    for rows, c, eta, lam in zip(batches, coefficients, steps, lams, strict=True):
        h = (1.0 - eta * lam) * h - eta * sum(cb * kernel(X[i], x) for i, cb in zip(rows, c, strict=True))
    return h


def auc(y, scores):
    """The share of (positive, negative) pairs in the right order, ties one half."""
    wins, pairs = 0.0, 0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] == 1 and y[j] == 0:
                pairs += 1
                wins += 1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0
    return wins / pairs

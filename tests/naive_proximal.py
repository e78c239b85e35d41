"""Dull twins of PS3VT: plain loops, float64, line by line, no cleverness. The fast code must equal them.

They share nothing with the package but the draws: rows of the mini-batches, and frequencies (radians), are handed in.
"""

import math

import numpy as np


def distance(x, z):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))


def laplacian(X, k, released=False):
    """L = D - S: S_ij = exp(-||x_i - x_j||^2 / sigma^2) where i is among j's k nearest or j among i's.

    sigma: the mean of all distances, or, as released, that to the k-th neighbour; then mutual neighbours count twice.
    """
    n = len(X)
    d = [[distance(X[i], X[j]) for j in range(n)] for i in range(n)]
    nearest = [sorted((j for j in range(n) if j != i), key=lambda j: d[i][j])[:k] for i in range(n)]
    if released:
        sigma = sum(d[i][nearest[i][-1]] for i in range(n)) / n
    else:
        sigma = sum(d[i][j] for i in range(n) for j in range(n)) / n**2
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            links = (j in nearest[i]) + (i in nearest[j])
            if links:
                S[i, j] = (links if released else 1) * math.exp(-(d[i][j] ** 2) / sigma**2)
    D = np.zeros((n, n))
    for i in range(n):
        D[i, i] = sum(S[i, j] for j in range(n))
    return D - S


def graph_matrix(X, L):
    """X L X' of the paper, whose X has a point per column."""
    n, d = X.shape
    M = np.zeros((d, d))
    for i in range(n):
        for j in range(n):
            for a in range(d):
                for b in range(d):
                    M[a, b] += X[i, a] * L[i, j] * X[j, b]
    return M


def margin(W, x, y):
    """rho_h(x, y) = h_y(x) - max over y' != y of h_y'(x), and that y' (the first one of several)."""
    h = [sum(W[a, k] * x[a] for a in range(len(x))) for k in range(W.shape[1])]
    other = max((k for k in range(W.shape[1]) if k != y), key=lambda k: h[k])
    return h[y] - h[other], other


def gradient(W, X, y, rows, M, tau_A, tau_I, size):
    """Section 4.3: the mean of the points' sub-gradients, + 2 tau_A W + 2 tau_I X L X' W."""
    G = np.zeros_like(W)
    for i in rows:
        rho, other = margin(W, X[i], y[i])
        if rho < 1.0:
            G[:, y[i]] -= X[i] / size
            G[:, other] += X[i] / size
    return G + 2.0 * tau_A * W + 2.0 * tau_I * (M @ W)


def threshold(Q, tau, is_shrunk):
    """U Sigma V' with some of the singular values (numbered from 1, in descending order) made smaller by tau."""
    U, sigma, Vt = np.linalg.svd(Q)
    W = np.zeros_like(Q)
    for j in range(len(sigma)):
        s = max(0.0, sigma[j] - tau) if is_shrunk(j + 1) else sigma[j]
        W += s * np.outer(U[:, j], Vt[j])
    return W


def norm(W):
    return math.sqrt(sum(w**2 for row in W for w in row))


def ps3vt(X, y, K, batches, M, tau_A, tau_I, tau_S, theta, mu, radius=1.0):
    """Algorithm 1. Returns W^2 .. W^{T+1}; X, y are the labeled points, batches their rows in each iteration."""
    W, result = np.zeros((X.shape[1], K)), []
    for rows in batches:
        Q = W - (1.0 / mu) * gradient(W, X, y, rows, M, tau_A, tau_I, len(rows))
        W = threshold(Q, tau_S / mu, lambda j: j > theta)
        W = min(1.0, radius / norm(W)) * W
        result.append(W)
    return result


def objective(W, X, y, M, tau_A, tau_I, tau_S, theta):
    """Eq. (2) and the tail of singular values."""
    hinge = sum(max(0.0, 1.0 - margin(W, X[i], y[i])[0]) for i in range(len(X))) / len(X)
    sigma = np.linalg.svd(W, compute_uv=False)
    tail = sum(sigma[j] for j in range(len(sigma)) if j + 1 > theta)
    return hinge + tau_A * norm(W) ** 2 + tau_I * np.trace(W.T @ M @ W) + tau_S * tail

"""What a point's scores cost where its class is known: the paper's hinge, and the logistic loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# From scores (B, K) and classes (B,) to each point's loss (B,) and its sub-gradient by the scores (B, K).
Loss = Callable[[NDArray, NDArray], tuple[NDArray, NDArray]]


def hinge(scores: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Return [1 - m]_+ and its sub-gradient, with m what the class's score leads the highest other one by."""
    point = np.arange(len(y))
    others = scores.copy()
    others[point, y] = -np.inf
    best = others.argmax(axis=1)
    margin = scores[point, y] - scores[point, best]
    is_active = (margin < 1.0).astype(scores.dtype)
    c = np.zeros_like(scores)
    c[point, y] = -is_active
    c[point, best] = is_active
    return np.maximum(0.0, 1.0 - margin), c


def logistic(scores: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Return log(1 + sum of exp(-m_k)) and its gradient, with m_k what the class's score leads that of class k by."""
    point = np.arange(len(y))
    lead = scores - scores.max(axis=1, keepdims=True)
    c = np.exp(lead)
    total = c.sum(axis=1)
    c /= total[:, None]
    c[point, y] -= 1.0
    return np.log(total) - lead[point, y], c


LOSSES: dict[str, Loss] = {"hinge": hinge, "logistic": logistic}
# The largest curvature of a point's loss by its scores; that of the hinge, which has none, is what its kink is counted as.
CURVATURES = {"hinge": 1.0, "logistic": 0.5}

"""SU-SL: classification from similar pairs and unlabeled points with the squared loss, in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.basis import choose_centers
from dsgcore.baselines.design import PENALTY, Design, add_products, make_design, solve_symmetric
from dsgcore.baselines.pairs_base import PairsBaseline, split_sources
from dsgcore.baselines.progress import Watch
from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like


@estimator
class SUSL(PairsBaseline):
    """Classification from similar pairs and unlabeled points with the squared loss, in closed form.

    With p the share of positives, p_S = p^2 + (1 - p)^2 and f = w'[k(x, c_1) .. k(x, c_m), 1], it minimises

        J(w) = -p_S / (2p - 1) mean_S f + mean_U [f^2 / 4 + 1/4 + f / (2 (2p - 1))] + (lam / 2) |w|^2

    over all members S of the similar pairs and the unlabeled points U: the risk with the loss (t f - 1)^2 / 4.

    Attributes
    ----------
    condition_ : float
        Estimated condition number of the system.
    objective_ : float
        J at the solution.

    Notes
    -----
    The ridge "half rkhs" is half the squared norm of f in the kernel's space, plus half the squared bias.

    Source: H. Bao, G. Niu and M. Sugiyama, Classification from Pairwise Similarity and Unlabeled Data, ICML 2018, (9).

    Examples
    --------
    >>> import numpy as np
    >>> from dsgcore.baselines import SUSL
    >>> rng = np.random.default_rng(0)
    >>> classes = (rng.random(500) < 0.7).astype(int)
    >>> X = rng.normal(size=(500, 2)) + 3 * classes[:, None]
    >>> of_pairs = np.repeat(rng.random(100) < 0.7**2 / (0.7**2 + 0.3**2), 2)
    >>> pairs = (rng.normal(size=(200, 2)) + 3 * of_pairs[:, None]).reshape(100, 2, 2)
    >>> model = SUSL(prior=0.7, sigma=0.1, lam=0.1).fit(X, pairs=pairs)
    >>> model.score(X, classes) > 0.9
    True
    """

    title = "SU-SL"
    citation = "Bao, Niu and Sugiyama, ICML 2018"
    sentence = "learns from similar pairs with the squared loss, in closed form"

    penalty: str = like(PENALTY)

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        centers = choose_centers(X, s["centers"], self._seed())
        design = make_design(self._kernel(X), centers, s["penalty"], has_bias=True)
        similar, unlabeled = split_sources(X, y)
        watch.expect(design.count(len(unlabeled)) + 1)
        A, b = _system(design, similar, unlabeled, self.prior_, watch)
        A[np.diag_indices(len(A))] += s["lam"]
        solution = solve_symmetric(A, b)
        solution.warn(type(self).__name__)
        objective = 0.25 - float(b @ solution.x) / 2.0  # J at the solution of A w = b
        watch.step(objective)
        self.model_, self.condition_, self.objective_ = design.model(solution.x), solution.condition, objective


def _system(
    design: Design, similar: NDArray, unlabeled: NDArray, prior: float, watch: Watch
) -> tuple[NDArray, NDArray]:
    """Return A and b such that the risk is w'Aw / 2 - b'w + 1/4."""
    scale = 1.0 / (2.0 * prior - 1.0)
    similar_share = prior**2 + (1.0 - prior) ** 2
    b = sum(psi.sum(axis=0) for psi in design.blocks(similar)) * (scale * similar_share / len(similar))
    A = np.zeros((design.basis.size,) * 2)
    room = np.empty_like(A)
    for psi in design.blocks(unlabeled):
        b -= psi.sum(axis=0) * (0.5 * scale / len(unlabeled))
        add_products(A, psi, 0.5 / len(unlabeled), room)
        watch.step()
    return A, b

"""A class prior from similar pairs and unlabeled points."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from dsgcore.prior.proportion import mixture_proportion
from dsgcore.prior.samples import PriorError


def similar_class_prior(
    similar: ArrayLike,
    unlabeled: ArrayLike,
    *,
    smallest: float = 0.5,
    **options: Any,
) -> float:
    """Estimate the prior of the larger class from similar pairs and unlabeled points.

    Parameters
    ----------
    similar : array-like of shape (2 n_S, d)
        All members of the similar pairs.
    unlabeled : array-like of shape (n_U, d)
        Unlabeled points.
    smallest : float in [0, 0.87], default 0.5
        Smallest share pi_S of similar pairs that is looked for. At 0.5, the least that two classes can have, the
        answer exists always; with 0 an estimate that contradicts the model is refused instead.
    **options
        `method`, `max_points` and `seed`, as in `mixture_proportion`.

    Returns
    -------
    float
        pi_+ in [1/2, 1), the prior of the class that is more frequent.

    Raises
    ------
    PriorError
        If the estimate of pi_S is below one half, and as in `mixture_proportion`.

    Notes
    -----
    Source: H. Bao, G. Niu and M. Sugiyama, Classification from Pairwise Similarity and Unlabeled Data, ICML 2018, with
    the start of the search at pi_S = 1/2 as in the authors' program; the TSGSU paper, Section "Class-prior estimation".

    The density of unlabeled points is pi_S times that of the similar ones plus (1 - pi_S) times (p_+ + p_-) / 2, which
    holds similar points itself. What mixture proportion estimation converges to, kappa*, is therefore more than pi_S:
    for classes that do not overlap it is pi_S / pi_+, and the prior comes out too large (800 points of each kind,
    classes four standard deviations apart per coordinate: 0.92 for 0.6, 0.87 for 0.7, 0.91 for 0.9). With few or
    overlapping points it errs to either side. Take the result as a first guess, and the true prior where it is known.
    """
    return positive_prior(mixture_proportion(unlabeled, similar, smallest=smallest, **options))


def positive_prior(pi_S: float) -> float:
    """Return pi_+ = (1 + sqrt(2 pi_S - 1)) / 2, the prior of the larger class, from the share of similar pairs.

    Parameters
    ----------
    pi_S : float in [1/2, 1]
        Probability pi_+^2 + pi_-^2 that two independent points are of one class.

    Returns
    -------
    float
        In [1/2, 1].

    Raises
    ------
    PriorError
        If `pi_S` is not in [1/2, 1].

    Notes
    -----
    Source: the TSGSU paper, after Eq. (12).
    """
    if not 0.5 <= pi_S <= 1.0:  # also refuses NaN
        raise PriorError(
            "the share of similar pairs, the sum of the squared class priors, must be between 0.5 and 1 "
            f"for two classes, got {pi_S:.4g}"
        )
    return (1.0 + math.sqrt(2.0 * pi_S - 1.0)) / 2.0

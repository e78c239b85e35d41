"""Folds of labels equal those of scikit-learn."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from dsgcore.core.folds import shuffled_folds, stratified_folds


def same(folds, others):
    return all(
        np.array_equal(own, other) for pair in zip(folds, others, strict=True) for own, other in zip(*pair, strict=True)
    )


@pytest.mark.parametrize("seed", range(20))
def test_stratified_folds_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(rng.integers(2, 12)))
    y = rng.choice(
        len(shares), rng.integers(12, 300), p=shares
    )  # some classes are missing, or have fewer points than folds
    n_folds = min(5, int(np.bincount(y).max()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        others = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y))
    assert same(stratified_folds(y, n_folds), others)


@pytest.mark.parametrize("n", [8, 9, 50, 299])
def test_shuffled_folds_are_those_of_scikit_learn(n):
    assert same(shuffled_folds(n, 4), KFold(4, shuffle=True, random_state=0).split(np.empty(n)))

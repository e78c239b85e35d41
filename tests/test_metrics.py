import naive
import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from dsgcore.core.metrics import auc, auc_of_samples

# Few different scores, so that ties are the rule.
SAMPLES = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40).filter(
    lambda sample: len({label for label, _ in sample}) == 2
)


def arrays(sample):
    return np.array([label for label, _ in sample]), np.array([score for _, score in sample], dtype=float)


@given(SAMPLES)
def test_auc_equals_the_count_of_pairs_and_scikit_learns(sample):
    y, scores = arrays(sample)
    assert auc(y, scores) == pytest.approx(naive.auc(y, scores), rel=1e-12)
    assert auc(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)


@each("dtype", ["float32", "float64"])
def test_auc_equals_scikit_learns_on_many_continuous_scores(dtype):
    rng = np.random.default_rng(0)
    y = (rng.random(5000) < 0.2).astype(int)
    scores = (rng.normal(size=5000) + 0.7 * y).astype(dtype)
    assert auc(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)


@each("y", [[0, 0, 0], [1, 1, 1], []])
def test_auc_is_nan_where_a_class_is_missing(y):
    assert np.isnan(auc(np.array(y), np.zeros(len(y))))


@each("place", [0, 3])
def test_auc_is_nan_where_a_score_is_nan(place):
    scores = np.arange(4.0)
    scores[place] = np.nan
    assert np.isnan(auc(np.array([0, 0, 1, 1]), scores))


def test_infinite_scores_have_their_place_in_the_order():
    assert auc(np.array([0, 1, 0, 1]), np.array([-np.inf, 0.0, 1.0, np.inf])) == 0.75


def test_samples_are_not_changed():
    positive, negative = np.array([2.0, 1.0]), np.array([1.0, 0.0])
    assert auc_of_samples(positive, negative) == 0.875
    assert positive.tolist() == [2.0, 1.0]
    assert negative.tolist() == [1.0, 0.0]

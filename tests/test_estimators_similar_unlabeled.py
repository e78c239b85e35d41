import re

import numpy as np
import pandas as pd
import pytest
from cases import each
from data_makers import similar_pairs as sample
from sklearn.model_selection import cross_val_score

from dsgcore import TSGSU
from dsgcore.baselines import CUU, SUSL
from dsgcore.estimators.pairs import drawn_members
from dsgcore.prior import similar_class_prior

SMALL = {"prior": 0.7, "sigma": 0.3, "n_iter": 10, "n_features": 16, "batch_size": 16, "random_state": 0}


@each("prior", [0.7, 0.3])
@each("correction", ["absolute value", "identity"])
def test_learns_from_pairs_with_either_class_the_larger(prior, correction):
    X, y, pairs = sample(prior)
    model = TSGSU(prior=prior, correction=correction, tol=None, random_state=0).fit(X, pairs=pairs)
    # Always to say the larger class is right for 70 %; the classes' means are 4.2 standard deviations apart.
    assert model.score(X, y) > 0.9
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_pair_ids_points_of_pairs_and_their_row_numbers_are_the_same():
    X, _, pairs = sample(0.7)
    members = pairs.reshape(-1, 2)
    ids = np.concatenate([np.arange(300) // 2, np.full(400, -1)])
    f = TSGSU(**SMALL).fit(np.concatenate([members, X]), ids).decision_function(X)
    for given in (pairs, pairs.tolist()):
        np.testing.assert_array_equal(TSGSU(**SMALL).fit(X, pairs=given).decision_function(X), f)
    all_points, rows = np.concatenate([members, X]), np.arange(300).reshape(-1, 2)
    for points in (all_points, pd.DataFrame(all_points)):
        for given in (rows, rows.tolist(), rows.astype(np.uint16)):
            np.testing.assert_array_equal(TSGSU(**SMALL).fit(points, pairs=given).decision_function(X), f)
    shuffled = np.random.default_rng(0).permutation(700)
    model = TSGSU(**SMALL).fit(all_points[np.argsort(shuffled)], pairs=shuffled[:300].reshape(-1, 2))
    assert np.mean(model.predict(X) == (f > 0)) > 0.9
    for competitor in (SUSL, CUU):
        models = [
            competitor(prior=0.7, random_state=0).fit(*given[0], pairs=given[1])
            for given in (((X,), pairs), ((all_points,), rows))
        ]
        np.testing.assert_array_equal(*(one.decision_function(X) for one in models))
    as_floats = TSGSU(**SMALL).fit(np.concatenate([members, X]), ids.astype(float))
    np.testing.assert_array_equal(as_floats.decision_function(X), f)


def test_the_prior_can_be_estimated():
    X, y, pairs = sample(0.9)
    model = TSGSU(random_state=0).fit(X, pairs=pairs)
    assert model.prior_ == similar_class_prior(pairs.reshape(-1, 2), X, seed=0)
    assert 0.7 < model.prior_ < 0.95
    # Nine of ten are of the larger class.
    assert model.score(X, y) > 0.95
    model.set_params(prior=0.2).partial_fit(X, pairs=pairs)
    assert model.prior_ != 0.2  # the first call's


def test_class_labels_serve_for_cross_validation():
    X, y, _ = sample(0.7)
    scores = cross_val_score(TSGSU(y_holds="classes", random_state=0), X, y, cv=4)
    assert scores.mean() > 0.9
    names = np.where(y == 1, "a", "b")  # now the second class is the smaller one
    model = TSGSU(y_holds="classes", random_state=0).fit(X, names)
    assert model.prior_ == np.mean(y == 0)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.score(X, names) > 0.9


def test_pairs_drawn_from_labels_have_the_shares_of_similar_pairs():
    codes = np.repeat([1, 0, -1], [600, 300, 50])
    members = drawn_members(codes, seed=0).reshape(-1, 2)
    assert members.shape == (450, 2)
    assert (codes[members[:, 0]] == codes[members[:, 1]]).all()
    # 0.8 of the pairs; three standard deviations are 0.06.
    assert abs(np.mean(codes[members[:, 0]]) - 0.8) < 0.06
    assert len(np.unique(members)) > 300


X3 = np.random.default_rng(0).normal(size=(6, 3))


@each(
    "parameters, said",
    [
        ({"prior": 0.5}, "prior must differ from 1/2 by at least 0.001, got 0.5: the risk divides by 2 prior - 1, .*"),
        ({"prior": "guess"}, "prior must be a number between 0.01 and 0.99 or 'estimate', got 'guess'"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        TSGSU(**{**SMALL, **parameters}).fit(X3, [0, 0, 1, 1, -1, -1])


@each(
    "y, said",
    [
        # test_similar_unlabeled.py has all that the problem refuses.
        ([0, 0, 1, -1, -1, -1], "pair id 1 must occur exactly twice, but occurs 1 times"),
        ([0.5, 0.5, -1, -1, -1, -1], "y must hold pair ids: whole numbers, .* pass y_holds='classes' for class labels"),
        (list("aabbcc"), "y must hold pair ids: whole numbers, .* pass y_holds='classes' for class labels"),
    ],
)
@each("prior", [0.7, "estimate"])
def test_ids_that_are_no_pairs_get_one_sentence(y, said, prior):
    with pytest.raises(ValueError, match=f"^{said}$"):
        TSGSU(**{**SMALL, "prior": prior}).fit(X3, y)


FORMS = (
    "pairs must hold the points of the pairs, of shape (m, 2, 3), or row numbers of X, whole numbers of shape (m, 2)"
)


@each(
    "pairs, said",
    [
        (np.zeros((4, 3)), f"{FORMS}, got the shape (4, 3) of type float64"),
        (np.zeros((4, 2)), f"{FORMS}, got the shape (4, 2) of type float64"),
        (np.zeros((5, 3, 3)), f"{FORMS}, got the shape (5, 3, 3)"),
        (np.zeros((5, 2, 4)), f"{FORMS}, got the shape (5, 2, 4)"),
        (np.zeros(6), f"{FORMS}, got the shape (6,)"),
        ([[0, 6]], "pairs of shape (m, 2) must hold row numbers of X, from 0 to 5, got 6"),
        ([[0, -1]], "pairs of shape (m, 2) must hold row numbers of X, from 0 to 5, got -1"),
        ([[0, 1], [2, 2]], "pairs must hold two different rows each, got row 2 twice"),
        (np.zeros((0, 2), dtype=int), "similar-unlabeled learning needs at least one similar pair, got none"),
        (np.zeros((0, 2, 3)), "similar-unlabeled learning needs at least one similar pair, got none"),
    ],
)
def test_pairs_of_another_shape_get_one_sentence(pairs, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        TSGSU(**SMALL).fit(X3, pairs=pairs)


def test_pairs_go_with_nothing_else():
    pairs = np.zeros((2, 2, 3))
    with pytest.raises(ValueError, match=r"^give either y or pairs, got both; .*$"):
        TSGSU(**SMALL).fit(X3, [0, 0, 1, 1, -1, -1], pairs=pairs)
    with pytest.raises(ValueError, match=r"^pairs go with y_holds='pairs' only, got y_holds='classes'$"):
        TSGSU(y_holds="classes").fit(X3, pairs=pairs)
    with pytest.raises(ValueError, match="contains NaN"):
        TSGSU(**SMALL).fit(X3, pairs=np.full((2, 2, 3), np.nan))


def test_labels_of_equal_share_are_refused():
    with pytest.raises(ValueError, match=r"^prior must differ from 1/2 by at least 0.001, got 0.5: .*$"):
        TSGSU(y_holds="classes").fit(X3, [0, 0, 0, 1, 1, 1])

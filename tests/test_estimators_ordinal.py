import numpy as np
import pandas as pd
import pytest
from cases import each

from dsgcore import QS3ORAO
from dsgcore.estimators.classes import even_chances
from dsgcore.problems.thresholds import mean_auc, thresholds

SMALL = {"sigma": 2.0, "n_iter": 8, "n_features": 16, "batch_size": 16, "random_state": 0}


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 2))
    y = np.digitize(np.linalg.norm(X, axis=1), [0.5, 0.8, 1.0])
    return X, y, np.where(np.arange(600) < 80, y, -1)


@each("cut", ["error", "hinge", "squared"])
def test_learns_rings_from_eighty_labels(rings, cut):
    X, y, few = rings
    model = QS3ORAO(sigma=2.0, thresholds=cut, random_state=0).fit(X, few)
    assert model.mean_auc(X[80:], y[80:]) > 0.9
    # The largest class is 30 % of the points.
    assert model.score(X[80:], y[80:]) > 0.6
    assert (np.diff(model.thresholds_) > 0).all()


def test_the_decision_functions_largest_is_the_interval_that_f_is_in(rings):
    X, _, few = rings
    model = QS3ORAO(**SMALL).fit(X, few)
    scores, f = model.decision_function(X), model.ranking_function(X)
    assert scores.shape == (600, 4)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X), np.searchsorted(model.thresholds_, f))
    assert ((scores > 0).sum(axis=1) == 1).all()
    alone = QS3ORAO(**SMALL).fit(X, few)
    np.testing.assert_array_equal(alone.ranking_function(X), model.model_.evaluate(X))


def test_two_classes_have_one_score_a_point(rings):
    X, _, few = rings
    two = np.where(few == -1, -1, few > 1)
    model = QS3ORAO(**SMALL).fit(X, two)
    np.testing.assert_array_equal(model.decision_function(X), model.ranking_function(X) - model.thresholds_[0])
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)


@each("cut, margin, used", [("hinge", None, 0.0), ("hinge", 0.2, 0.2), ("squared", None, 1.0), ("squared", 0.3, 0.3)])
def test_thresholds_are_those_of_the_labeled_points(rings, cut, margin, used):
    X, _, few = rings
    model = QS3ORAO(thresholds=cut, margin=margin, **SMALL).fit(X, few)
    f = model.ranking_function(X)
    np.testing.assert_array_equal(model.thresholds_, thresholds(few[:80], f[:80], loss=cut, margin=used))


def test_thresholds_from_held_out_labels_make_smaller_errors_where_the_ranking_is_noisy():
    errors = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(700, 4))
        y = np.digitize(X[:, 0] + 1.5 * rng.normal(size=700), [-2.0, -0.7, 0.7, 2.0])
        few = np.where(np.arange(700) < 100, y, -1)
        cuts = (QS3ORAO(**SMALL | {"sigma": "scale"}, thresholds=cut).fit(X, few) for cut in ("error", "hinge"))
        errors.append([np.mean(np.abs(model.predict(X[100:]) - y[100:])) for model in cuts])
    by_held_out, by_hinge = np.mean(errors, axis=0)
    assert by_held_out < by_hinge - 0.02


def test_a_threshold_from_held_out_labels_is_where_both_sides_are_equally_likely():
    rng = np.random.default_rng(0)
    f = 3.0 + 2.0 * rng.normal(size=4000)
    y = np.digitize(f + 0.5 * rng.logistic(size=4000), [2.0, 5.0])
    found = even_chances(y, f, 3)
    assert found == pytest.approx([2.0, 5.0], abs=0.15)
    hopeless = even_chances(y, -f, 3)
    assert (np.diff(hopeless) >= 0).all()
    assert np.isfinite(hopeless).all()


@pytest.mark.filterwarnings("ignore:the score is that of 2", "ignore:the AUC of labels of one class")
def test_mean_auc_leaves_unlabeled_points_out(rings):
    X, y, few = rings
    model = QS3ORAO(**SMALL).fit(X, few)
    f = model.ranking_function(X)
    assert model.mean_auc(X, y) == mean_auc(y, f)
    assert model.mean_auc(X, few) == mean_auc(y[:80], f[:80])
    assert np.isnan(model.mean_auc(X[:3], [1, 1, -1]))
    with pytest.raises(ValueError, match=r"^y must hold the classes 0, 1, 2, 3, or -1 for unlabeled points, got 7$"):
        model.mean_auc(X[:2], [0, 7])


@each("d, noise, factors", [(2, 0.02, (1.0,)), (8, 0.5, (3.0, 10.0))])
def test_the_ridge_is_larger_where_labels_that_are_held_out_say_so(d, noise, factors):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, d))
    y = np.digitize(X[:, 0] + noise * rng.normal(size=240), [-0.5, 0.5])
    lam = QS3ORAO(**SMALL | {"sigma": "scale"}).fit(X, y).lam_
    assert any(lam == pytest.approx(factor * 0.5 / np.bincount(y).min()) for factor in factors)


def test_with_too_few_labels_of_a_class_to_hold_some_out_the_ridge_is_the_usual(rings):
    X, y, _ = rings
    few = np.full(len(y), -1)
    for label, count in enumerate((9, 9, 9, 3)):
        few[np.flatnonzero(y == label)[:count]] = label
    assert QS3ORAO(**SMALL).fit(X, few).lam_ == pytest.approx(0.5 / 3)


def test_gamma_may_differ_from_cut_to_cut(rings):
    X, _, few = rings
    same, other = (QS3ORAO(gamma=g, **SMALL).fit(X, few).ranking_function(X) for g in ([0.9] * 3, (0.1, 0.5, 0.9)))
    np.testing.assert_array_equal(same, QS3ORAO(**SMALL).fit(X, few).ranking_function(X))
    assert (same != other).any()


def test_ordered_categories_keep_their_order(rings):
    X, _, few = rings
    names = ["poor", "fair", "good", "best"]  # not the alphabet's order
    texts = [names[code] if code >= 0 else None for code in few]
    y = pd.Series(pd.Categorical(texts, [*names, "unseen"], ordered=True))
    model, numbered = QS3ORAO(**SMALL).fit(X, y), QS3ORAO(**SMALL).fit(X, few)
    assert model.classes_.tolist() == names
    np.testing.assert_array_equal(model.predict(X), np.array(names)[numbered.predict(X)])
    assert model.mean_auc(X, y) == numbered.mean_auc(X, few)
    assert model.mean_auc(X, y.array) == numbered.mean_auc(X, few)
    assert model.score(X[:80], y[:80]) == numbered.score(X[:80], few[:80])
    parts = QS3ORAO(**SMALL).partial_fit(X, y, classes=names).partial_fit(X, y)
    assert parts.classes_.tolist() == names
    assert parts.n_iter_ == 16


@each(
    "parameters, said",
    [
        ({"gamma": [0.1, 0.2]}, "gamma must be one number or 3, one for each place where 4 classes can be cut .*got 2"),
        (
            {"thresholds": "squared", "margin": 0},
            "margin must be above 0 with thresholds='squared', got 0: with 0 all .*",
        ),
    ],
)
def test_bad_parameters_get_one_sentence(rings, parameters, said):
    X, _, few = rings
    with pytest.raises(ValueError, match=f"^{said}$"):
        QS3ORAO(**SMALL, **parameters).fit(X, few)

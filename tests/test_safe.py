"""A method averaged with two simple models, as held-out labels advise."""

import pickle

import numpy as np
import pandas as pd
import pytest
from cases import each
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, DSGError, Safe
from dsgcore.baselines import SUSL, EverydayNystroem
from dsgcore.model_selection import Calibrated, LabeledFolds, suggest
from dsgcore.tuning import safe
from dsgcore.tuning.safe import PARTS, SimpleModels, _likeliest_weights, _weights

MOONS = make_moons(400, noise=0.2, random_state=0)
SEEN = np.where(np.arange(400) < 60, MOONS[1], -1)
CLASSES = np.digitize(MOONS[0][:, 0], [0.0, 1.0])
FEW = np.where(np.arange(400) < 60, CLASSES, -1)
SMALL = {"n_iter": 50, "random_state": 0}
EACH = each(
    "method, y", [(QSGS2AUC, SEEN), (TSGS3VM, SEEN), (PS3VT, SEEN), (PS3VT, FEW), (QS3ORAO, FEW), (QS3ORAO, SEEN)]
)


def parts(model, X):
    """Return the values of the three models, by scikit-learn's own classes."""
    own = model.estimator_
    mine = own.ranking_function(X) if hasattr(own, "ranking_function") else own.decision_function(X)
    return [mine, *model.simple_.values(np.asarray(X, dtype=float))]


@EACH
def test_the_score_is_the_weighted_mean_of_three_models_in_units_of_their_spreads(method, y):
    X = MOONS[0]
    model = Safe(method(**SMALL)).fit(X, y)
    weights = np.array([model.weights_[name] for name in PARTS])
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()
    values = [v / (np.std(v) if v.ndim == 1 else np.std(v - v.mean(axis=1, keepdims=True))) for v in parts(model, X)]
    mean = sum(w * v for w, v in zip(weights, values, strict=True))
    f = model.ranking_function(X) if method is QS3ORAO else model.decision_function(X)
    if f.ndim > 1:
        mean = mean + f.mean(axis=0) - mean.mean(axis=0)  # the classes' log shares
    np.testing.assert_allclose(f - f.mean(axis=0), mean - mean.mean(axis=0), atol=1e-5)
    assert list(model.classes_) == sorted(set(y) - {-1})
    alone = method(**SMALL).fit(X, y)
    np.testing.assert_array_equal(model.estimator_.predict(X), alone.predict(X))


@EACH
def test_probabilities_fit_the_predictions_and_the_hidden_labels(method, y):
    X, true = MOONS[0], MOONS[1] if y is SEEN else CLASSES
    model = Safe(method(**SMALL)).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (400, len(model.classes_))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0).all()
    if method is not QS3ORAO:
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert log_loss(true[60:], p[60:]) < 0.55  # shares alone have 0.69 and more
    assert model.score(X, true) > 0.85
    again = Safe(method(**SMALL)).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), p)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)


def test_the_simple_models_are_those_of_scikit_learn():
    X = MOONS[0] * [1.0, 100.0]
    simple = SimpleModels(X, 2, 7, is_ordered=False).fit(SEEN)
    points = StandardScaler().fit_transform(X)
    linear, near = simple.values(X)
    own = LogisticRegression(max_iter=1000, solver="newton-cholesky").fit(points[:60], SEEN[:60])
    np.testing.assert_allclose(linear, own.decision_function(points), rtol=1e-9, atol=1e-9)
    found = []
    for each_points in (points, X - X.mean(axis=0)):
        links = NearestNeighbors(n_neighbors=7).fit(each_points).kneighbors_graph(each_points)
        spreading = LabelSpreading(kernel=lambda X, Z, links=links: links, alpha=0.2, tol=1e-9).fit(each_points, SEEN)
        shares = spreading.label_distributions_
        shares[shares.sum(axis=1) == 0.0] = np.bincount(SEEN[:60]) / 60
        found.append(links @ (shares[:, 1] - shares[:, 0]) / 7)
    np.testing.assert_allclose(near, np.mean(found, axis=0), atol=1e-3)  # far from all labels
    for at_own, at_given in zip(simple.values(), (linear, near), strict=True):
        np.testing.assert_allclose(at_own, at_given, atol=1e-12)


def test_points_that_no_label_reaches_have_the_classes_shares():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 100.0])
    y = np.where(np.arange(80) < 20, np.arange(80) % 4 == 0, -1)  # no label far away
    simple = SimpleModels(X, 2, 5, is_ordered=False).fit(y)
    np.testing.assert_allclose(simple.values(X[50:])[1], 0.25 - 0.75)
    model = Safe(TSGS3VM(**SMALL)).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.ci
def test_fits_that_only_give_weights_are_of_few_points(monkeypatch):
    X, y = make_classification(5000, 5, random_state=0)
    sizes, fit = [], TSGS3VM.fit
    monkeypatch.setattr(TSGS3VM, "fit", lambda self, X, y: sizes.append(len(X)) or fit(self, X, y))
    for n_labeled, most in ((60, 540), (5000, 1334)):
        sizes.clear()
        model = Safe(TSGS3VM(**SMALL)).fit(X, np.where(np.arange(5000) < n_labeled, y, -1))
        assert sizes[0] == 5000
        assert len(sizes) == 4
        assert max(sizes[1:]) <= most
        assert model.score(X, y) > 0.85


@pytest.mark.weekly
@each("method", [QSGS2AUC, TSGS3VM])
def test_it_seldom_loses_to_its_parts_where_one_of_them_suits(method):
    lost = []
    for seed in range(3):
        X, y = make_classification(1000, 20, n_informative=2, n_redundant=0, n_clusters_per_class=1, random_state=seed)
        few = np.where(np.arange(1000) < 50, y, -1)
        safe, alone = (
            one.fit(X, few) for one in (Safe(method(random_state=0, tol=0.05)), method(random_state=0, tol=0.05))
        )
        line = LogisticRegression().fit(X[:50], y[:50])
        best = max(roc_auc_score(y[50:], one.decision_function(X[50:])) for one in (alone, line))
        lost.append(best - roc_auc_score(y[50:], safe.decision_function(X[50:])))
    assert np.mean(lost) < 0.02


@pytest.mark.weekly
def test_the_readmes_digits_are_ranked_nearly_all_right():
    X, digit = load_digits(return_X_y=True)
    y = (digit % 2 == 0).astype(int)
    few = np.where(np.arange(len(y)) < 200, y, -1)
    model = Safe(QSGS2AUC(random_state=0)).fit(X / 16, few)
    assert model.score(X[200:] / 16, y[200:]) > 0.99


def test_a_weight_falls_with_each_standard_error_behind_the_best():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    sure = y - 0.5 + 0.1 * rng.normal(size=200)
    half = np.where(rng.random(200) < 0.1, -sure, sure)
    poor = rng.normal(size=200)
    for by_auc in (False, True):
        best, good, bad = _weights(y, (sure, half, poor), by_auc=by_auc)
        assert best == 1.0
        assert np.exp(-12) < good < np.exp(-2)
        assert bad < good
        assert (_weights(y, (sure, sure, sure), by_auc=by_auc) == 1.0).all()


def test_likeliest_weights_prefer_what_tells_the_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    good, noise = np.eye(3)[y] + 0.5 * rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    *weights, shares = _likeliest_weights(y, [good, noise, noise])
    assert weights[0] > 0.8
    assert shares >= 0.0


@each(
    "y",
    [
        np.where(np.arange(400) < 2, [0, 1] * 200, -1),
        np.where(np.arange(400) == 3, 1, np.where(np.arange(400) < 9, 0, -1)),
    ],
)
def test_labels_that_cannot_be_held_out_give_equal_weights(y):
    model = Safe(TSGS3VM(**SMALL)).fit(MOONS[0], y)
    assert set(model.weights_.values()) == {1 / 3}
    assert np.isfinite(model.predict_proba(MOONS[0])).all()


def test_the_share_of_positives_holds_for_the_score():
    for share, wanted in ((0.3, 0.3), ("labels", np.mean(SEEN[:60])), (None, None)):
        model = Safe(QSGS2AUC(positive_share=share, **SMALL)).fit(MOONS[0], SEEN)
        called = np.mean(model.predict(MOONS[0]))
        assert called == pytest.approx(wanted, abs=0.01) if wanted else 0.3 < called < 0.7


def test_the_scale_of_a_rankers_probabilities_is_that_of_values_around_their_threshold(monkeypatch):
    given = []
    found = safe._probabilities
    monkeypatch.setattr(safe, "_probabilities", lambda f, scale, cuts: given.append(f) or found(f, scale, cuts))
    X, y = make_moons((450, 50), noise=0.3, random_state=0)
    Safe(QSGS2AUC(**SMALL)).fit(X, np.where(np.arange(500) < 150, y, -1))
    assert np.mean(given[0] > 0) == pytest.approx(np.mean(y[:150]), abs=1 / 150)


def test_methods_that_learn_from_pairs_are_refused_in_a_sentence():
    for pairs in (TSGSU(prior=0.7), SUSL(), make_pipeline(StandardScaler(), TSGSU(y_holds="classes"))):
        with pytest.raises(DSGError, match=r"^Safe needs class labels .* learns from similar pairs: fit it alone$"):
            Safe(pairs).fit(MOONS[0], SEEN)


def test_text_tables_and_ordered_categories_are_as_for_the_method():
    X = pd.DataFrame(MOONS[0], columns=["a", "b"])
    names = np.array(["low", "middle", "high"], dtype=object)
    y = pd.Series(pd.Categorical.from_codes(FEW, names, ordered=True))
    model = Safe(QS3ORAO(**SMALL)).fit(X, y)
    assert list(model.classes_) == list(names)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.mean_auc(X, names[CLASSES]) == model.score(X, names[CLASSES]) > 0.9
    assert model.decision_function(X).shape == (400, 3)
    assert np.mean(model.predict(X) == names[CLASSES]) > 0.8
    assert not hasattr(Safe(TSGS3VM()), "ranking_function")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[["b", "a"]])


@pytest.mark.ci
def test_it_works_inside_and_around_scikit_learns_and_our_own():
    cv = LabeledFolds(2, unlabeled="train", random_state=0)
    search = GridSearchCV(Safe(TSGS3VM(**SMALL)), {"estimator__sigma": [1e-4, 2.0]}, cv=cv).fit(MOONS[0], SEEN)
    assert search.best_params_["estimator__sigma"] in (1e-4, 2.0)
    inside = Safe(make_pipeline(StandardScaler(), QSGS2AUC(**SMALL))).fit(MOONS[0], SEEN)
    assert inside.score(MOONS[0], MOONS[1]) == pytest.approx(
        roc_auc_score(MOONS[1], inside.decision_function(MOONS[0]))
    )
    outside = make_pipeline(StandardScaler(), Safe(PS3VT(**SMALL))).fit(MOONS[0], SEEN)
    assert outside.score(MOONS[0], SEEN) > 0.85
    assert Calibrated(Safe(TSGS3VM(**SMALL)), n_splits=2).fit(MOONS[0], SEEN).score(MOONS[0], MOONS[1]) > 0.85
    found = suggest(Safe(TSGS3VM(**SMALL)), MOONS[0], SEEN, seconds=0.5)
    assert all(name.startswith("estimator__") for one in found.tried for name in one.parameters)
    X, y = load_iris(return_X_y=True)
    few = np.where(np.arange(150) % 5 == 0, y, -1)
    assert Safe(EverydayNystroem(random_state=0)).fit(X, few).score(X, y) > 0.85
    with pytest.raises(TypeError, match=r"^Safe\.fit: got an unexpected keyword argument 'sample_weight'"):
        clone(inside).fit(MOONS[0], SEEN, sample_weight=np.ones(400))

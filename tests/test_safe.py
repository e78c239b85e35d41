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

X, Y = make_moons(400, noise=0.2, random_state=0)
SEEN = np.where(np.arange(400) < 60, Y, -1)
CLASSES = np.digitize(X[:, 0], [0.0, 1.0])
FEW = np.where(np.arange(400) < 60, CLASSES, -1)
SMALL = {"n_iter": 50, "random_state": 0}


@each("method, y", [(QSGS2AUC, SEEN), (TSGS3VM, SEEN), (PS3VT, SEEN), (PS3VT, FEW), (QS3ORAO, FEW), (QS3ORAO, SEEN)])
def test_the_score_is_the_weighted_mean_of_three_models_in_units_of_their_spreads_and_probabilities_fit_it(method, y):
    model, is_ranker = Safe(method(**SMALL)).fit(X, y), method is QS3ORAO
    weights = np.array([model.weights_[name] for name in PARTS])
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()
    mine = model.estimator_.ranking_function(X) if is_ranker else model.estimator_.decision_function(X)
    parts = [mine, *model.simple_.values(X)]
    values = [v / (np.std(v) if v.ndim == 1 else np.std(v - v.mean(axis=1, keepdims=True))) for v in parts]
    mean = sum(w * v for w, v in zip(weights, values, strict=True))
    f = model.ranking_function(X) if is_ranker else model.decision_function(X)
    # Means aside: of several classes they are the classes' log shares.
    np.testing.assert_allclose(f - f.mean(axis=0), mean - mean.mean(axis=0), atol=1e-5)
    assert list(model.classes_) == sorted(set(y) - {-1})
    np.testing.assert_array_equal(model.estimator_.predict(X), method(**SMALL).fit(X, y).predict(X))
    p, true = model.predict_proba(X), Y if y is SEEN else CLASSES
    assert p.shape == (400, len(model.classes_))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0).all()
    if not is_ranker:
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert log_loss(true[60:], p[60:]) < 0.55  # shares alone have 0.69 and more
    assert model.score(X, true) > 0.85
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)


def test_the_simple_models_are_those_of_scikit_learn():
    points = X * [1.0, 100.0]
    simple = SimpleModels(points, 2, 7, is_ordered=False).fit(SEEN)
    scaled = StandardScaler().fit_transform(points)
    linear, near = simple.values(points)
    own = LogisticRegression(max_iter=1000, solver="newton-cholesky").fit(scaled[:60], SEEN[:60])
    np.testing.assert_allclose(linear, own.decision_function(scaled), rtol=1e-9, atol=1e-9)
    found = []
    for each_points in (scaled, points - points.mean(axis=0)):
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
    points = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 100.0])
    y = np.where(np.arange(80) < 20, np.arange(80) % 4 == 0, -1)  # no label far away
    simple = SimpleModels(points, 2, 5, is_ordered=False).fit(y)
    np.testing.assert_allclose(simple.values(points[50:])[1], 0.25 - 0.75)
    model = Safe(TSGS3VM(**SMALL)).fit(points, y)
    assert np.isfinite(model.decision_function(points)).all()
    assert np.isfinite(model.predict_proba(points)).all()


@pytest.mark.ci
def test_fits_that_only_give_weights_are_of_few_points(monkeypatch):
    points, y = make_classification(5000, 5, random_state=0)
    sizes, fit = [], TSGS3VM.fit
    monkeypatch.setattr(TSGS3VM, "fit", lambda self, X, y: sizes.append(len(X)) or fit(self, X, y))
    for n_labeled, most in ((60, 540), (5000, 1334)):
        sizes.clear()
        model = Safe(TSGS3VM(**SMALL)).fit(points, np.where(np.arange(5000) < n_labeled, y, -1))
        assert (sizes[0], len(sizes)) == (5000, 4)
        assert max(sizes[1:]) <= most
        assert model.score(points, y) > 0.85


@pytest.mark.weekly
@each("method", [QSGS2AUC, TSGS3VM])
def test_it_seldom_loses_to_its_parts_where_one_of_them_suits(method):
    lost = []
    for seed in range(3):
        sizes = {"n_informative": 2, "n_redundant": 0, "n_clusters_per_class": 1}
        points, y = make_classification(1000, 20, **sizes, random_state=seed)
        few, alone = np.where(np.arange(1000) < 50, y, -1), method(random_state=0, tol=0.05)
        models = (Safe(clone(alone)).fit(points, few), alone.fit(points, few))
        line = LogisticRegression().fit(points[:50], y[:50])
        own, *others = (roc_auc_score(y[50:], one.decision_function(points[50:])) for one in (*models, line))
        lost.append(max(others) - own)
    assert np.mean(lost) < 0.02


@pytest.mark.weekly
def test_the_readmes_digits_are_ranked_nearly_all_right():
    points, digit = load_digits(return_X_y=True)
    y = (digit % 2 == 0).astype(int)
    model = Safe(QSGS2AUC(random_state=0)).fit(points / 16, np.where(np.arange(len(y)) < 200, y, -1))
    assert model.score(points[200:] / 16, y[200:]) > 0.99


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
    y = rng.integers(3, size=300)  # of several classes the likeliest weights prefer what tells them
    good, noise = np.eye(3)[y] + 0.5 * rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    *weights, shares = _likeliest_weights(y, [good, noise, noise])
    assert weights[0] > 0.8
    assert shares >= 0.0


def test_labels_that_cannot_be_held_out_give_equal_weights():
    rows = np.arange(400)
    for y in (np.where(rows < 2, rows % 2, -1), np.where(rows == 3, 1, np.where(rows < 9, 0, -1))):
        model = Safe(TSGS3VM(**SMALL)).fit(X, y)
        assert set(model.weights_.values()) == {1 / 3}
        assert np.isfinite(model.predict_proba(X)).all()


def test_the_share_of_positives_holds_for_the_score():
    for share, wanted in ((0.3, 0.3), ("labels", np.mean(SEEN[:60])), (None, None)):
        called = np.mean(Safe(QSGS2AUC(positive_share=share, **SMALL)).fit(X, SEEN).predict(X))
        assert called == pytest.approx(wanted, abs=0.01) if wanted else 0.3 < called < 0.7


def test_the_scale_of_a_rankers_probabilities_is_that_of_values_around_their_threshold(monkeypatch):
    given, found = [], safe._probabilities
    monkeypatch.setattr(safe, "_probabilities", lambda f, scale, cuts: given.append(f) or found(f, scale, cuts))
    points, y = make_moons((450, 50), noise=0.3, random_state=0)
    Safe(QSGS2AUC(**SMALL)).fit(points, np.where(np.arange(500) < 150, y, -1))
    assert np.mean(given[0] > 0) == pytest.approx(np.mean(y[:150]), abs=1 / 150)


@each("noise, n, loss", [(0.15, 20, 0.3), (0.1, 60, 0.1)])
def test_held_out_labels_that_are_all_right_do_not_make_probabilities_sure(noise, n, loss):
    for seed in range(2):
        points, y = make_moons(600, noise=noise, random_state=seed)
        p = Safe(TSGS3VM(random_state=0)).fit(points, np.where(np.arange(600) < n, y, -1)).predict_proba(points[n:])
        assert log_loss(y[n:], p) < loss


def test_methods_that_learn_from_pairs_are_refused_in_a_sentence():
    for pairs in (TSGSU(prior=0.7), SUSL(), make_pipeline(StandardScaler(), TSGSU(y_holds="classes"))):
        with pytest.raises(DSGError, match=r"^Safe needs class labels .* learns from similar pairs: fit it alone$"):
            Safe(pairs).fit(X, SEEN)


def test_text_tables_and_ordered_categories_are_as_for_the_method():
    table = pd.DataFrame(X, columns=["a", "b"])
    names = np.array(["low", "middle", "high"], dtype=object)
    model = Safe(QS3ORAO(**SMALL)).fit(table, pd.Series(pd.Categorical.from_codes(FEW, names, ordered=True)))
    assert list(model.classes_) == list(names)
    assert model.mean_auc(table, names[CLASSES]) == model.score(table, names[CLASSES]) > 0.9
    assert model.decision_function(table).shape == (400, 3)
    assert np.mean(model.predict(table) == names[CLASSES]) > 0.8
    assert not hasattr(Safe(TSGS3VM()), "ranking_function")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["b", "a"]])


@pytest.mark.ci
def test_it_works_inside_and_around_scikit_learns_and_our_own():
    cv = LabeledFolds(2, unlabeled="train", random_state=0)
    search = GridSearchCV(Safe(TSGS3VM(**SMALL)), {"estimator__sigma": [1e-4, 2.0]}, cv=cv).fit(X, SEEN)
    assert search.best_params_["estimator__sigma"] in (1e-4, 2.0)
    inside = Safe(make_pipeline(StandardScaler(), QSGS2AUC(**SMALL))).fit(X, SEEN)
    assert inside.score(X, Y) == pytest.approx(roc_auc_score(Y, inside.decision_function(X)))
    outside = make_pipeline(StandardScaler(), Safe(PS3VT(**SMALL))).fit(X, SEEN)
    assert outside.score(X, SEEN) > 0.85
    assert Calibrated(Safe(TSGS3VM(**SMALL)), n_splits=2).fit(X, SEEN).score(X, Y) > 0.85
    found = suggest(Safe(TSGS3VM(**SMALL)), X, SEEN, seconds=0.5)
    assert all(name.startswith("estimator__") for one in found.tried for name in one.parameters)
    points, y = load_iris(return_X_y=True)
    few = np.where(np.arange(150) % 5 == 0, y, -1)
    assert Safe(EverydayNystroem(random_state=0)).fit(points, few).score(points, y) > 0.85

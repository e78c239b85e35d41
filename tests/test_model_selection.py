"""The papers' ways to choose hyper-parameters: folds that do not leak, scores by hand, searches; probabilities, and Safe."""

import io

import numpy as np
import pytest
from cases import each
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification, make_moons
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, ParameterError, Safe, load_model, save_model
from dsgcore.baselines import BLS3VM, PNUAUC, SAMULT
from dsgcore.model_selection import (
    Calibrated,
    LabeledFolds,
    PairFolds,
    PNUAUCRisk,
    SeenLabels,
    SimilarUnlabeledRisk,
    UnlabeledFolds,
    accuracy,
    auc_score,
    paper_grid,
)
from dsgcore.tuning.safe import PARTS, SimpleModels

QUICK = {"n_iter": 20, "n_features": 32, "batch_size": 32, "random_state": 0}


def labels(n=203, n_labeled=43):
    """Labels of two classes, one of them thrice as frequent, most of them hidden."""
    y = (np.random.default_rng(0).random(n) < 0.25).astype(int)
    return np.where(np.random.default_rng(1).permutation(n) < n_labeled, y, -1)


LABELS = labels()
IDS = np.random.default_rng(0).permutation([*np.repeat(np.arange(23) * 7, 2), *np.full(61, -1)])


# --- folds


@each(
    "kind, options, y",
    [
        (LabeledFolds, {}, LABELS),
        (LabeledFolds, {"unlabeled": "train"}, LABELS),
        (PairFolds, {}, IDS),
        (UnlabeledFolds, {}, LABELS),
    ],
)
def test_no_point_is_on_both_sides_and_folds_follow_from_random_state_alone(kind, options, y):
    splits = list(kind(random_state=0, **options).split(None, y))
    assert len(splits) == 5
    for train, test in splits:
        np.testing.assert_array_equal(np.sort([*train, *test]), np.arange(len(y)))
    np.random.seed(1)
    first = kind(random_state=3, **options).folds(y)
    np.random.seed(2)
    np.testing.assert_array_equal(kind(random_state=3, **options).folds(y), first)
    assert (kind(random_state=4, **options).folds(y) != first).any()
    assert kind(n_splits=7).get_n_splits() == 7


# --- scores


class Scored:
    """A fitted estimator for scorers, with given values."""

    def __init__(self, values, classes=(0, 1)):
        self.classes_ = np.array(classes)
        self.values = np.asarray(values, dtype=float)

    def decision_function(self, X):
        return self.values

    ranking_function = decision_function

    def predict(self, X):
        return self.classes_[(self.values > 0).astype(int)]


@each("prior", [0.7, 0.2])
def test_the_similar_unlabeled_risk_estimates_the_share_of_wrong_predictions(prior):
    rng = np.random.default_rng(0)
    n = 400_000
    is_positive = rng.random(n) < prior
    of_pair = np.repeat(rng.random(n // 2) < prior**2 / (prior**2 + (1 - prior) ** 2), 2)
    classes = np.concatenate([is_positive, of_pair])
    values = np.where(rng.random(2 * n) < 0.9, 1, -1) * np.where(classes, 1, -1)
    y = np.concatenate([np.full(n, -1), np.arange(n) // 2])
    # A mean over 4e5 draws, divided by |2 prior - 1| >= 0.4: a deviation of 0.004 at most.
    assert SimilarUnlabeledRisk(prior)(Scored(values), None, y) == pytest.approx(-0.1, abs=0.012)


# --- searches


def two_clusters(n=120, n_labeled=40):
    y = np.arange(n) % 2
    X = np.where(y == 1, 1.0, -1.0)[:, None] + np.random.default_rng(0).normal(size=(n, 2)) / 2
    return X, y, np.where(np.arange(n) < n_labeled, y, -1)


def search_over(model, scoring, cv, **grid):
    grid = {"sigma": [1e4, 0.5], **grid}
    return GridSearchCV(model, grid, cv=cv, scoring=scoring, error_score="raise")


@each(
    "model, grid, scoring, unlabeled",
    [
        (QSGS2AUC(**QUICK), {}, auc_score, "train"),
        (QSGS2AUC(**QUICK), {}, auc_score, "folded"),
        (PNUAUC(penalty="half rkhs", prior=0.5), {"eta": [-0.5, 0.5]}, PNUAUCRisk(20, 20), "folded"),
        (SAMULT(), {}, auc_score, "folded"),
        (BLS3VM(), {}, accuracy, "folded"),
    ],
)
def test_a_search_finds_the_width_that_separates(model, grid, scoring, unlabeled):
    X, y, seen = two_clusters()
    search = search_over(model, scoring, LabeledFolds(random_state=0, unlabeled=unlabeled), **grid).fit(X, seen)
    assert search.best_params_["sigma"] == 0.5
    assert np.mean(search.predict(X) == y) > 0.9
    assert scoring is not auc_score or 0.9 < search.best_score_ <= 1.0


def test_a_search_for_pairs_needs_no_label():
    prior, n, n_pairs = 0.8, 400, 100
    rng = np.random.default_rng(0)
    of_pair = np.repeat(rng.random(n_pairs) < prior**2 / (prior**2 + (1 - prior) ** 2), 2)
    classes = np.concatenate([of_pair, rng.random(n) < prior])
    X = np.where(classes, 1.0, -1.0)[:, None] + rng.normal(size=(len(classes), 2)) / 3
    ids = np.concatenate([np.arange(2 * n_pairs) // 2, np.full(n, -1)])
    model = TSGSU(prior=prior, **QUICK)
    search = search_over(model, SimilarUnlabeledRisk(prior), PairFolds(random_state=0)).fit(X, ids)
    assert search.best_params_ == {"sigma": 0.5}
    assert np.mean(search.predict(X) == classes) > 0.9


def test_a_file_of_seen_labels_from_where_they_were_is_read(monkeypatch):
    X, y = make_moons(60, random_state=0)
    model, file = SeenLabels(TSGS3VM(**QUICK)).fit(X, np.column_stack([y, y])), io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(SeenLabels, "__module__", "dsgcore.tuning.seen_labels")
        save_model(model, file)
    assert b"seen_labels" in file.getvalue()
    file.seek(0)
    np.testing.assert_array_equal(load_model(file).decision_function(X), model.decision_function(X))


def test_a_search_by_the_test_error_learns_from_seen_labels_only():
    X, y, seen = two_clusters(200, 20)
    grid = paper_grid("s3vm", names=("sigma",), prefix="estimator__")
    grid["estimator__sigma"] = [grid["estimator__sigma"][i] for i in (3, 6)]
    search = GridSearchCV(SeenLabels(TSGS3VM(**QUICK)), grid, cv=UnlabeledFolds(random_state=0), error_score="raise")
    search.fit(X, np.column_stack([seen, y]))
    assert search.best_params_ == {"estimator__sigma": 1.0}
    assert search.score(X, np.column_stack([seen, y])) == np.mean(search.predict(X) == y) > 0.9
    # The true labels are for the score alone: learned from all of them or from those seen, the model is the same.
    plain = TSGS3VM(sigma=1.0, **QUICK).fit(X, seen)
    np.testing.assert_array_equal(search.decision_function(X), plain.decision_function(X))
    with pytest.raises(ParameterError, match=r"y must have the shape \(n, 2\): .* got the shape \(200,\)"):
        SeenLabels(TSGS3VM()).fit(X, seen.tolist())
    assert hasattr(SeenLabels(QS3ORAO()), "ranking_function")
    assert not hasattr(SeenLabels(TSGS3VM()), "ranking_function")


NOISY, NOISY_CLASSES = make_moons(600, noise=0.35, random_state=0)
NOISY_SEEN = np.where(np.arange(600) < 120, NOISY_CLASSES, -1)
LONGER = {"n_iter": 40, "n_features": 32, "batch_size": 32, "random_state": 0, "tol": None}


def test_scikit_learns_searches_take_our_folds_and_scorers():
    model = make_pipeline(StandardScaler(), QSGS2AUC(**LONGER))
    space = {"qsgs2auc__sigma": [1e-5, 1e-4, 1.0, 2.0]}
    given = {"cv": LabeledFolds(3, unlabeled="train", random_state=0), "error_score": "raise"}
    grid = GridSearchCV(model, space, scoring=accuracy, **given).fit(NOISY, NOISY_SEEN)
    assert grid.best_params_["qsgs2auc__sigma"] >= 1.0
    sizes = {"min_resources": 10, "max_resources": 40, "n_candidates": 4, "factor": 2, "random_state": 0}
    given |= {"resource": "qsgs2auc__n_iter", "scoring": auc_score}
    halving = HalvingRandomSearchCV(model, space, **given, **sizes).fit(NOISY, NOISY_SEEN)
    assert halving.n_resources_[:2] == [10, 20]
    for found in (grid, halving):
        assert np.isfinite(found.cv_results_["mean_test_score"]).all()


# --- calibrated probabilities


@each("kind", [QSGS2AUC, TSGS3VM])
def test_probabilities_are_calibrated_on_points_whose_labels_were_hidden(kind):
    model = Calibrated(kind(**LONGER), random_state=0).fit(NOISY, NOISY_SEEN)
    X, y = NOISY[120:], NOISY_CLASSES[120:]
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert log_loss(y, p) < 0.45  # a coin has 0.69
    is_sure = p.max(axis=1) > 0.8
    right = model.predict(X)[is_sure] == y[is_sure]
    assert abs(right.mean() - p.max(axis=1)[is_sure].mean()) < 0.08
    assert (np.diff(p[np.argsort(model.decision_function(X)), 1]) >= -1e-12).all()
    held, f = [], []  # labels that each fold's model has not seen, and its values there
    for train, test in LabeledFolds(5, unlabeled="train", random_state=0).split(NOISY, NOISY_SEEN):
        rows = test[NOISY_SEEN[test] >= 0]
        f.append(kind(**LONGER).fit(NOISY[train], NOISY_SEEN[train]).decision_function(NOISY[rows]))
        held.append(NOISY_SEEN[rows])
    f = np.concatenate(f)[:, None]
    platt = LogisticRegression(max_iter=1000).fit(f / f.std(), np.concatenate(held))
    np.testing.assert_allclose(model.platt_.coef_, platt.coef_, rtol=1e-6)


def test_a_class_of_which_no_label_can_be_held_out_has_a_column_of_zeros():
    X, y = load_iris(return_X_y=True)
    seen, others = np.where((np.arange(150) % 3 == 0) & (y > 0) | (np.arange(150) == 0), y, -1), y > 0
    model = Calibrated(PS3VT(n_iter=60, random_state=0), random_state=0).fit(X, seen)
    p = model.predict_proba(X)
    assert (p[:, 0] == 0.0).all()
    np.testing.assert_allclose(p[:, 1:].sum(axis=1), 1.0)
    assert np.mean(model.predict(X)[others] == y[others]) > 0.8


# --- grids


GRIDS = [
    *(("similar_unlabeled", TSGSU), ("auc", QSGS2AUC), ("auc", SAMULT), ("pnu_auc", PNUAUC)),
    *(("s3vm", TSGS3VM), ("s3vm_step", TSGS3VM), ("ordinal", QS3ORAO), ("multiclass", PS3VT)),
]


@pytest.mark.filterwarnings("ignore::dsgcore.baselines.basis.IllPosedWarning")
@each("setting, estimator", GRIDS)
def test_the_ends_of_the_papers_grids_can_be_fitted(setting, estimator):
    (X, _, seen), small = two_clusters(), {**QUICK, "tol": None, "prior": 0.7}
    small = {name: value for name, value in small.items() if name in estimator().get_params()}
    y = np.where(seen == -1, -1, np.arange(120) // 2) if estimator is TSGSU else seen
    for name, values in paper_grid(setting).items():
        for value in (values[0], values[-1]):
            model = estimator(**small | {name: value}).fit(X, y)
            assert np.isfinite(model.decision_function(X)).all()
            assert model.get_params()[name] == value


# --- Safe: a method averaged with two simple models, as held-out labels advise


X, Y = make_moons(400, noise=0.2, random_state=0)
SEEN = np.where(np.arange(400) < 60, Y, -1)
CLASSES = np.digitize(X[:, 0], [0.0, 1.0])
FEW = np.where(np.arange(400) < 60, CLASSES, -1)
SMALL = {"n_iter": 50, "random_state": 0}


SPREADING = LabelSpreading(kernel="knn")  # which knows probabilities alone, and none where no label reaches a point
AVERAGED = [
    *((method(**SMALL), SEEN) for method in (QSGS2AUC, TSGS3VM, PS3VT, QS3ORAO)),
    *((method(**SMALL), FEW) for method in (PS3VT, QS3ORAO)),
    *((SPREADING, y) for y in (SEEN, FEW)),
]


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning:sklearn")
@each("method, y", AVERAGED)
def test_the_score_is_the_weighted_mean_of_three_models_in_units_of_their_spreads_and_probabilities_fit_it(method, y):
    model, is_ranker = Safe(method).fit(X, y), isinstance(method, QS3ORAO)
    weights = np.array([model.weights_[name] for name in PARTS])
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()
    if method is SPREADING:
        logs = np.log(np.maximum(model.estimator_.predict_proba(X), 1e-12))
        mine = logs if y is FEW else logs[:, 1] - logs[:, 0]
    else:
        mine = model.estimator_.ranking_function(X) if is_ranker else model.estimator_.decision_function(X)
    parts = [mine, *model.simple_.values(X)]
    values = [v / (np.std(v) if v.ndim == 1 else np.std(v - v.mean(axis=1, keepdims=True))) for v in parts]
    mean = sum(w * v for w, v in zip(weights, values, strict=True))
    f = model.ranking_function(X) if is_ranker else model.decision_function(X)
    # Means aside: of several classes they are the classes' log shares.
    np.testing.assert_allclose(f - f.mean(axis=0), mean - mean.mean(axis=0), atol=1e-5)
    assert list(model.classes_) == sorted(set(y) - {-1})
    np.testing.assert_array_equal(model.estimator_.predict(X), clone(method).fit(X, y).predict(X))
    p, true = model.predict_proba(X), Y if y is SEEN else CLASSES
    assert p.shape == (400, len(model.classes_))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0).all()
    if not is_ranker:
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert log_loss(true[60:], p[60:]) < 0.55  # shares alone have 0.69 and more
    assert model.score(X, true) > 0.85


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


def test_labels_that_cannot_be_held_out_give_equal_weights():
    rows = np.arange(400)
    for y in (np.where(rows < 2, rows % 2, -1), np.where(rows == 3, 1, np.where(rows < 9, 0, -1))):
        model = Safe(TSGS3VM(**SMALL)).fit(X, y)
        assert set(model.weights_.values()) == {1 / 3}
        assert np.isfinite(model.predict_proba(X)).all()


@each("noise, n, loss", [(0.15, 20, 0.3), (0.1, 60, 0.1)])
def test_held_out_labels_that_are_all_right_do_not_make_probabilities_sure(noise, n, loss):
    for seed in range(2):
        points, y = make_moons(600, noise=noise, random_state=seed)
        p = Safe(TSGS3VM(random_state=0)).fit(points, np.where(np.arange(600) < n, y, -1)).predict_proba(points[n:])
        assert log_loss(y[n:], p) < loss

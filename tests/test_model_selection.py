"""The papers' ways to choose hyper-parameters: folds that do not leak, scores by hand, and searches by scikit-learn."""

import numpy as np
import oracle_files
import pytest
from cases import each
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, ParameterError
from dsgcore.baselines import BLS3VM, PNUAUC, SAMULT
from dsgcore.model_selection import (
    AUCRisk,
    FoldError,
    LabeledFolds,
    PairFolds,
    PNUAUCRisk,
    SeenLabels,
    SimilarUnlabeledRisk,
    UnlabeledFolds,
    accuracy,
    auc_score,
    mean_auc_score,
    paper_grid,
)

QUICK = {"n_iter": 20, "n_features": 32, "batch_size": 32, "random_state": 0}


def labels(seed=0, n=203, n_labeled=43):
    """Labels of two classes, one of them thrice as frequent, most of them hidden."""
    y = (np.random.default_rng(seed).random(n) < 0.25).astype(int)
    return np.where(np.random.default_rng(seed + 1).permutation(n) < n_labeled, y, -1)


def pair_ids(n_pairs=23, n_unlabeled=61, seed=0):
    ids = np.concatenate([np.repeat(np.arange(n_pairs) * 7, 2), np.full(n_unlabeled, -1)])
    return np.random.default_rng(seed).permutation(ids)


def blobs(y, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(len(y), d)) + 2.0 * np.asarray(y)[:, None]


SPLITTERS = [
    (LabeledFolds, {}, labels()),
    (LabeledFolds, {"unlabeled": "train"}, labels()),
    (PairFolds, {}, pair_ids()),
    (UnlabeledFolds, {}, labels()),
]


# --- folds


@each("kind, options, y", SPLITTERS)
def test_no_point_is_on_both_sides_and_folds_follow_from_random_state_alone(kind, options, y):
    splits = list(kind(random_state=0, **options).split(None, y))
    assert len(splits) == 5
    for train, test in splits:
        assert len(np.intersect1d(train, test)) == 0
        assert len(train) + len(test) == len(y)
    np.random.seed(1)
    first = kind(random_state=3, **options).folds(y)
    np.random.seed(2)
    np.testing.assert_array_equal(kind(random_state=3, **options).folds(y), first)
    assert (kind(random_state=4, **options).folds(y) != first).any()
    assert kind(n_splits=7).get_n_splits() == 7


def test_a_class_with_a_single_label_is_always_in_training():
    y = np.array([0, 1, 2, 0, 1, 0, 1, -1])
    tested = [test for _, test in LabeledFolds(3, unlabeled="train", random_state=0).split(None, y)]
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), [0, 1, 3, 4, 5, 6])


@each("unlabeled", ["folded", "train"])
def test_each_labeled_point_is_tested_once_and_unlabeled_ones_are_folded_or_stay_in_training(unlabeled):
    y = labels()
    splits = list(LabeledFolds(unlabeled=unlabeled, random_state=0).split(None, y))
    tested = np.concatenate([test[y[test] != -1] for _, test in splits])
    np.testing.assert_array_equal(np.sort(tested), np.flatnonzero(y != -1))
    for code in (0, 1):
        counts = [(y[test] == code).sum() for _, test in splits]
        assert max(counts) - min(counts) <= 1
        assert all((y[train] == code).any() for train, _ in splits)
    for train, test in splits:
        if unlabeled == "folded":
            assert abs((y[test] == -1).sum() - (y == -1).sum() / 5) < 1
        else:
            np.testing.assert_array_equal(train[y[train] == -1], np.flatnonzero(y == -1))


def test_the_svms_folds_train_on_all_labels_and_one_part_of_the_unlabeled_points():
    y, trained = labels(), np.zeros(203, dtype=int)
    for train, test in UnlabeledFolds(5, random_state=0).split(None, y):
        assert set(np.flatnonzero(y != -1)) < set(train)
        assert len(test) == pytest.approx(0.8 * np.sum(y == -1), abs=1)
        trained[train] += 1
    assert (trained[y == -1] == 1).all()


def test_labels_of_a_test_fold_are_unknown_in_its_training():
    """A learner that knows every label it has seen, and guesses the others wrong, gets none of the test points right."""

    class Rote:
        def fit(self, X, y):
            self.known = {int(x): label for x, label in zip(X[:, 0], y, strict=True)}
            return self

        def predict(self, X):
            return np.array([self.known.get(int(x), 99) for x in X[:, 0]])

        def get_params(self, deep=True):
            return {}

    y = labels()
    X = np.arange(len(y))[:, None]
    for unlabeled in ("folded", "train"):
        cv = LabeledFolds(unlabeled=unlabeled, random_state=0)
        scores = [accuracy(Rote().fit(X[train], y[train]), X[test], y[test]) for train, test in cv.split(X, y)]
        assert scores == [0.0] * 5
        assert accuracy(Rote().fit(X, y), X, y) == 1.0


def test_members_of_a_pair_are_on_the_same_side():
    ids = pair_ids()
    for train, test in PairFolds(random_state=0).split(None, ids):
        for side in (train, test):
            _, counts = np.unique(ids[side][ids[side] >= 0], return_counts=True)
            assert (counts == 2).all()
        assert abs((ids[test] == -1).sum() - 61 / 5) < 1
        assert 23 // 5 <= (ids[test] >= 0).sum() / 2 <= 23 // 5 + 1


def test_one_unlabeled_part_trains_with_all_labels_and_the_others_test():
    y = labels()
    splits = list(UnlabeledFolds(random_state=0).split(None, y))
    trained = []
    for train, test in splits:
        assert (y[test] == -1).all()
        np.testing.assert_array_equal(train[y[train] != -1], np.flatnonzero(y != -1))
        trained.append(train[y[train] == -1])
        assert abs(len(trained[-1]) - 160 / 5) < 1
    np.testing.assert_array_equal(np.sort(np.concatenate(trained)), np.flatnonzero(y == -1))


@each(
    "cv, y, sentence",
    [
        (LabeledFolds(), [0, 1, 0, 1, -1, -1], "the number of labeled points must be at least 5, got 4"),
        (LabeledFolds(3), [0, 1, 0, 0, -1, -1], "the number of labeled points of class 1 must be at least 2, got 1"),
        (PairFolds(3), [0, 0, 1, 1, -1, -1, -1], "the number of similar pairs must be at least 3, got 2"),
        (PairFolds(2), [0, 0, 1, 1, -1], "the number of unlabeled points must be at least 2, got 1"),
        (UnlabeledFolds(), [0, 1, -1], "the number of unlabeled points must be at least 5, got 1"),
        (LabeledFolds(1), [0, 1, 0, 1], "n_splits must be a whole number between 2 and 1000, got 1"),
        (LabeledFolds(2, unlabeled="tested"), [0, 1, 0, 1], "unlabeled must be one of folded, train, got 'tested'"),
        (LabeledFolds(2), None, "folds follow from the labels, so y must be given, got None"),
        (UnlabeledFolds(2), None, "folds follow from the labels, so y must be given, got None"),
    ],
)
def test_what_cannot_be_folded_is_one_sentence(cv, y, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        list(cv.split(None, y))


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


def test_accuracy_and_auc_leave_unlabeled_points_out_and_know_text_labels():
    y, values = labels(), np.random.default_rng(5).normal(size=203)
    labeled, named = y != -1, np.array(["a", "b", -1], dtype=object)[y]
    for model, given in ((Scored(values), y), (Scored(values, ("a", "b")), named)):
        assert accuracy(model, None, given) == np.mean((values[labeled] > 0) == y[labeled])
        assert auc_score(model, None, given) == pytest.approx(roc_auc_score(y[labeled], values[labeled]), rel=1e-12)


def test_the_mean_auc_is_that_of_the_sub_problems():
    y, values = np.array([0, 0, 1, 1, 2, 2, -1]), np.array([0.0, 3.0, 1.0, 2.0, 2.5, 4.0, 9.0])
    expected = np.mean([roc_auc_score(y[:6] >= j, values[:6]) for j in (1, 2)])
    assert mean_auc_score(Scored(values, (0, 1, 2)), None, y) == pytest.approx(expected, rel=1e-12)


@each("gamma", [0.0, 0.3, 1.0])
def test_the_auc_risk_is_that_of_all_pairs_one_by_one(gamma):
    y, values = labels(n=40, n_labeled=20), np.random.default_rng(5).integers(0, 6, size=40)

    def risk(above, below):
        wrong = [0.5 if a == b else float(a < b) for a in values[above] for b in values[below]]
        return np.mean(wrong)

    p, n, u = y == 1, y == 0, y == -1
    expected = gamma * risk(p, n) + (1 - gamma) * (risk(p, u) + risk(u, n) - 0.5)
    assert AUCRisk(gamma)(Scored(values), None, y) == pytest.approx(1 - expected, abs=1e-12)


def test_risks_need_unlabeled_points_a_weight_and_a_prior_that_says_something():
    y, pair = np.array([0, 1]), np.array([0, 0, -1])
    with pytest.raises(FoldError, match="needs unlabeled points in every test set, got none"):
        AUCRisk()(Scored([1.0, 2.0]), None, y)
    with pytest.raises(ParameterError, match="gamma must be a number between 0 and 1, got 2"):
        AUCRisk(2)(Scored([1.0, 2.0]), None, y)
    for prior in (0.5, 1.5):
        with pytest.raises(ParameterError, match=f"prior must .*, got {prior}$"):
            SimilarUnlabeledRisk(prior)(Scored([1.0, 1.0, 1.0]), None, pair)


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
    assert SimilarUnlabeledRisk(prior, is_released=True)(Scored(values), None, y) == pytest.approx(0.8, abs=0.024)


@pytest.mark.parametrize("path", oracle_files.files("su_sl_"))
def test_the_released_score_of_similar_unlabeled_learning_is_matched(path, record_property):
    o = oracle_files.load(path)
    if "cv_score_on_train" not in o:
        pytest.skip(f"{path.stem} has no cv_score_on_train")
    sign = np.where(np.concatenate([o["f_s"], o["f_u"]]) >= 0, 1.0, -1.0)  # the program counts 0 as positive
    y = np.concatenate([np.arange(len(o["f_s"])) // 2, np.full(len(o["f_u"]), -1)])
    score = SimilarUnlabeledRisk(o["prior"], is_released=True)(Scored(sign), None, y)
    oracle_files.report(record_property, path, score=abs(score - o["cv_score_on_train"]))
    assert score == pytest.approx(o["cv_score_on_train"], abs=1e-12)


# --- searches


def test_a_search_for_the_auc_finds_the_width_that_separates():
    y = (np.arange(120) % 2).astype(int)
    X = np.where(y[:, None] == 1, 1.0, -1.0) * np.array([1.0, 0.0]) + np.random.default_rng(0).normal(size=(120, 2)) / 2
    seen = np.where(np.arange(120) < 40, y, -1)
    for cv, scoring in [
        (LabeledFolds(random_state=0, unlabeled="train"), auc_score),
        (LabeledFolds(random_state=0), AUCRisk()),
    ]:
        grid = {"sigma": [1e4, 0.5]}
        search = GridSearchCV(QSGS2AUC(**QUICK), grid, cv=cv, scoring=scoring, error_score="raise").fit(X, seen)
        assert search.best_params_ == {"sigma": 0.5}
        assert 0.9 < search.best_score_ <= 1.1


def test_a_search_for_pairs_needs_no_label():
    prior, n, n_pairs = 0.8, 400, 100
    rng = np.random.default_rng(0)
    of_pair = np.repeat(rng.random(n_pairs) < prior**2 / (prior**2 + (1 - prior) ** 2), 2)
    classes = np.concatenate([of_pair, rng.random(n) < prior])
    X = np.where(classes, 1.0, -1.0)[:, None] + rng.normal(size=(len(classes), 2)) / 3
    ids = np.concatenate([np.arange(2 * n_pairs) // 2, np.full(n, -1)])
    how = {"cv": PairFolds(random_state=0), "scoring": SimilarUnlabeledRisk(prior), "error_score": "raise"}
    search = GridSearchCV(TSGSU(prior=prior, **QUICK), {"sigma": [1e4, 0.5]}, **how).fit(X, ids)
    assert search.best_params_ == {"sigma": 0.5}
    assert np.mean(search.predict(X) == classes) > 0.9


def test_a_search_by_the_test_error_learns_from_seen_labels_only():
    y = (np.arange(200) % 2).astype(int)
    X = np.where(y == 1, 1.0, -1.0)[:, None] + np.random.default_rng(0).normal(size=(200, 2)) / 2
    seen = np.where(np.arange(200) < 20, y, -1)
    grid = paper_grid("s3vm", names=("sigma",), prefix="estimator__")
    grid["estimator__sigma"] = [grid["estimator__sigma"][i] for i in (3, 6)]
    model = SeenLabels(TSGS3VM(**QUICK))
    search = GridSearchCV(model, grid, cv=UnlabeledFolds(random_state=0), error_score="raise")
    search.fit(X, np.column_stack([seen, y]))
    assert search.best_params_ == {"estimator__sigma": 1.0}
    assert search.score(X, np.column_stack([seen, y])) == np.mean(search.predict(X) == y) > 0.9
    # The true labels are for the score alone: learned from all of them or from those seen, the model is the same.
    plain = TSGS3VM(sigma=1.0, **QUICK).fit(X, seen)
    np.testing.assert_array_equal(search.decision_function(X), plain.decision_function(X))


def two_clusters(n=80, n_labeled=30, d=2):
    y = np.arange(n) % 2
    X = np.where(y == 1, 1.0, -1.0)[:, None] + np.random.default_rng(0).normal(size=(n, d)) / 2
    return X, y, np.where(np.arange(n) < n_labeled, y, -1)


@each(
    "baseline, grid, scoring",
    [
        (PNUAUC(penalty="half rkhs", prior=0.5), {"sigma": [1e4, 0.5], "eta": [-0.5, 0.5]}, PNUAUCRisk(15, 15)),
        (SAMULT(), {"sigma": [1e4, 0.5]}, AUCRisk()),
        (SAMULT(), {"sigma": [1e4, 0.5]}, auc_score),
        (BLS3VM(), {"sigma": [1e4, 0.5]}, accuracy),
    ],
)
def test_comparison_methods_are_searched_alike(baseline, grid, scoring):
    X, y, seen = two_clusters()
    search = GridSearchCV(baseline, grid, cv=LabeledFolds(random_state=0), scoring=scoring, error_score="raise")
    search.fit(X, seen)
    assert search.best_params_["sigma"] == 0.5
    assert np.mean(search.predict(X) == y) > 0.9


def test_seen_labels_wants_two_columns_and_shows_what_its_estimator_has():
    with pytest.raises(ParameterError, match=r"y must have the shape \(n, 2\): .* got the shape \(4,\)"):
        SeenLabels(TSGS3VM()).fit(np.zeros((4, 2)), [0, 1, -1, -1])
    assert hasattr(SeenLabels(QS3ORAO()), "ranking_function")
    assert not hasattr(SeenLabels(TSGS3VM()), "ranking_function")


def test_ordinal_and_multi_class_estimators_are_scored_on_labeled_points():
    y = np.arange(120) % 3
    X = y[:, None] + np.random.default_rng(0).normal(size=(120, 2)) / 4
    seen = np.where(np.arange(120) < 60, y, -1)
    cv = LabeledFolds(random_state=0)
    ranked = cross_val_score(QS3ORAO(sigma=0.5, **QUICK), X, seen, cv=cv, scoring=mean_auc_score)
    assert ranked.min() > 0.9
    corners = np.eye(3)[y] + np.random.default_rng(0).normal(size=(120, 3)) / 4
    right = cross_val_score(PS3VT(random_state=0, n_iter=100), corners, seen, cv=cv, scoring=accuracy)
    assert 0.8 < right.mean() <= 1.0


# --- grids


def test_grids_are_the_papers():
    grid = paper_grid("auc")
    assert grid["lam"] == grid["sigma"] == [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0]
    assert grid["gamma"] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert len(paper_grid("pnu_auc")["eta"]) == 21
    assert [len(values) for values in paper_grid("similar_unlabeled").values()] == [15, 15]
    assert [len(values) for values in paper_grid("s3vm").values()] == [7, 7]
    assert paper_grid("s3vm_step") == {"step_size": [1.0, 0.1, 0.01, 0.001]}
    assert {name: len(values) for name, values in paper_grid("multiclass").items()} == {
        "lam": 10,
        "tau_I": 11,
        "tau_S": 11,
        "step_size": 5,
        "theta": 5,
    }


@each(
    "setting, estimator",
    [
        ("similar_unlabeled", TSGSU),
        ("auc", QSGS2AUC),
        ("auc", SAMULT),
        ("pnu_auc", PNUAUC),
        ("s3vm", TSGS3VM),
        ("s3vm_step", TSGS3VM),
        ("ordinal", QS3ORAO),
        ("multiclass", PS3VT),
    ],
)
def test_the_estimators_have_the_parameters_of_their_papers_grid(setting, estimator):
    for name, values in paper_grid(setting).items():
        for value in (values[0], values[-1]):
            assert estimator().set_params(**{name: value}).get_params()[name] == value


def test_a_grid_is_new_at_every_call_and_can_be_cut():
    paper_grid("auc")["lam"].clear()
    assert len(paper_grid("auc")["lam"]) == 7
    assert list(paper_grid("auc", names=("lam",), prefix="estimator__")) == ["estimator__lam"]
    with pytest.raises(ParameterError, match=r"setting must be one of .*, got 'ranking'"):
        paper_grid("ranking")
    with pytest.raises(ParameterError, match="the grid of auc has lam, sigma, gamma, got 'C'"):
        paper_grid("auc", names=("C",))

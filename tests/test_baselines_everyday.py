"""scikit-learn's own methods as competitors: with nothing said they are what people install."""

import warnings

import numpy as np
import pytest
from cases import each
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, SVR

from dsgcore.baselines import (
    COMPETITORS,
    EverydayLogistic,
    EverydayNystroem,
    EverydayOrdinalSVC,
    EverydaySelfTraining,
    EverydaySpreadingKNN,
    EverydaySpreadingRBF,
    EverydaySVC,
    EverydaySVR,
)
from dsgcore.experiments import default_spec, load_split
from dsgcore.experiments.race_parameters import free_parameters

CLASSIFIERS = (
    *(EverydaySVC, EverydayLogistic, EverydayNystroem),
    *(EverydaySelfTraining, EverydaySpreadingKNN, EverydaySpreadingRBF),
)
ORDINAL = (EverydaySVR, EverydayOrdinalSVC)


def clusters(k, n=150, d=3, n_labeled=60, seed=0):
    """Points of k classes, their codes, and the codes with -1 for most."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.2 * y
    return X, y, np.where(np.arange(n) < n_labeled, y, -1)


def theirs(cls, X):
    """The estimator that people would write, and whether it gets the labeled points alone."""
    scale = 1.0 / (X.shape[1] * X.var())
    return {
        EverydaySVC: (SVC(break_ties=True), True),
        EverydayLogistic: (LogisticRegression(), True),
        EverydayNystroem: (make_pipeline(Nystroem(gamma=scale, n_components=60, random_state=0), LogisticRegression()), True),
        EverydaySelfTraining: (SelfTrainingClassifier(CalibratedClassifierCV(SVC(), ensemble=False)), False),
        EverydaySpreadingKNN: (LabelSpreading(kernel="knn"), False),
        EverydaySpreadingRBF: (LabelSpreading(), False),
        EverydaySVR: (SVR(), True),
        EverydayOrdinalSVC: (SVC(), True),
    }[cls]  # fmt: skip


def seeded(cls, **given):
    return cls(random_state=0, **given) if cls is EverydayNystroem else cls(**given)


def quietly(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data)


@each("k", [2, 4])
@each("cls", CLASSIFIERS)
def test_with_nothing_said_each_predicts_as_scikit_learns_own(cls, k):
    X, _, few = clusters(k)
    labeled = few >= 0
    machine, is_alone = theirs(cls, X[labeled])
    quietly(machine, *((X[labeled], few[labeled]) if is_alone else (X, few)))
    model = quietly(seeded(cls), X, few)
    other = np.random.default_rng(1).normal(size=(200, 3)) + 1.0
    np.testing.assert_array_equal(model.predict(other), machine.predict(other))
    values = model.decision_function(other)
    assert values.shape == ((200,) if k == 2 else (200, k))
    if hasattr(machine, "decision_function") and cls is not EverydaySelfTraining:
        np.testing.assert_allclose(values, machine.decision_function(other))


def test_the_regression_on_the_classes_is_scikit_learns_and_cut_in_the_middles():
    X, _, few = clusters(4)
    model, machine = EverydaySVR().fit(X, few), SVR().fit(X[few >= 0], few[few >= 0])
    np.testing.assert_allclose(model.ranking_function(X), machine.predict(X))
    np.testing.assert_array_equal(model.thresholds_, [0.5, 1.5, 2.5])
    np.testing.assert_array_equal(model.predict(X), np.clip(np.floor(machine.predict(X) + 0.5), 0, 3))


def test_the_sum_of_the_duels_ranks_later_classes_higher():
    for k in (2, 3, 5):
        X, y, few = clusters(k)
        model = EverydayOrdinalSVC().fit(X, few)
        assert model.mean_auc(X, y) > 0.75
        assert (np.diff(model.thresholds_) > 0).all()


def test_points_that_nothing_reaches_get_the_labels_shares():
    X, y, _ = clusters(3)
    few = np.where(np.arange(len(y)) < 30, np.where(y == 2, 1, y), -1)  # twice as many of the second class
    far = np.full((2, 3), 1e6)
    model = quietly(EverydaySpreadingRBF(sigma=20.0), X, few)
    np.testing.assert_allclose(model.decision_function(far), 1 / 3)
    np.testing.assert_array_equal(model.predict(far), [1, 1])


def test_self_training_wants_two_labels_of_each_class():
    X, y, few = clusters(2)
    few[few == 1] = -1
    few[1] = 1
    with pytest.raises(ValueError, match=r"^EverydaySelfTraining needs at least two labels of each class, but one"):
        EverydaySelfTraining().fit(X, few)
    few[3] = 1
    assert EverydaySelfTraining().fit(X, few).score(X, y) > 0.5


def test_from_pairs_nobody_who_needs_labels_competes():
    for setting, classes in COMPETITORS.items():
        everyday = {"similar_unlabeled": [], "ordinal": list(ORDINAL)}.get(setting, list(CLASSIFIERS))
        assert [cls for cls in classes if cls.is_everyday] == everyday
        assert [cls.is_everyday for cls in classes] == sorted(cls.is_everyday for cls in classes)


def test_a_cost_for_the_mean_of_the_labels_becomes_one_for_each_label():
    """scikit-learn's C weighs a sum, the run's a mean: by the same name it would be another number."""
    spec = default_spec("s3vm")
    split = load_split(spec)
    used = {p.name: p.default for p in free_parameters(spec, split, EverydaySVC)}
    labels = int((split.y_train >= 0).sum())
    sum_of_all = {p.name: p.default for p in free_parameters(spec, split, COMPETITORS["s3vm"][0])}
    assert used["C"] == sum_of_all["C"]
    assert labels > 1

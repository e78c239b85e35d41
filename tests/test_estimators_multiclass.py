import numpy as np
import pytest
from cases import each
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from dsgcore import LRCMC, PS3VT, SSMC, LinearMC
from dsgcore.multiclass.loop import descend
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.task import make_task

ALL = (PS3VT, LinearMC, LRCMC, SSMC)
# Algorithm 1 to the letter, but for the defaults of `MultiClass`.
PRINTED = {"lam": 1e-6, "step_size": 0.03, "average": None, "tol": None, "fit_intercept": False, "loss": "hinge"}


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    return X, y, np.where(np.arange(len(y)) % 3 == 0, y, -1)


@each("estimator, zeros", [(PS3VT, ()), (LinearMC, ("tau_I", "tau_S")), (LRCMC, ("tau_I",)), (SSMC, ("tau_S",))])
def test_each_is_the_loop_with_its_zeros(wine, estimator, zeros):
    X, _, few = wine
    graph = {} if "tau_I" in zeros else {"tau_I": 1e-6}
    model = estimator(**PRINTED, n_features=256, **graph, n_iter=40, random_state=7).fit(X, few)
    *_, last = descend(make_task(MultiClass(n_iter=40, **dict.fromkeys(zeros, 0.0)), X, few, 7))
    np.testing.assert_array_equal(model.coef_, last.W.T)
    np.testing.assert_allclose(model.decision_function(X), X @ last.W, rtol=1e-12)
    assert model.coef_.shape == (3, 13)
    assert model.n_iter_ == 40


@each("estimator", ALL)
def test_few_labels_are_enough_for_wine(wine, estimator):
    X, y, few = wine
    model = estimator(random_state=0).fit(X, few)
    # The paper's Table 3 has 8 to 9 % errors with 30 % labels; three standard deviations (3 to 5 %) above.
    assert model.score(X[few == -1], y[few == -1]) > 0.78


def test_fourier_features_bend_the_boundary():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 2))
    y = np.digitize(np.linalg.norm(X, axis=1), [0.5, 0.9])  # rings
    few = np.where(np.arange(600) < 200, y, -1)
    # Rings have one direction in common: a linear model cannot, Fourier features can.
    linear = LinearMC(random_state=0).fit(X, few).score(X, y)
    sizes = {"n_features": 128, "radius": 100.0, "step_size": 2.0, "n_iter": 2000}
    model = PS3VT(features="fourier", sigma=2.0, **sizes, random_state=0)
    assert model.fit(X, few).score(X, y) > 0.85 > linear + 0.2
    assert model.coef_.shape == (3, 256)


def test_binary_scores_are_one_number_a_point(wine):
    X, y, _ = wine
    X, y = X[y < 2], np.array(["left", "right"])[y[y < 2]]
    model = PS3VT(random_state=0).fit(X, y)
    scores = model.decision_function(X)
    second = X @ (model.coef_[1] - model.coef_[0]) + model.intercept_[1] - model.intercept_[0]
    np.testing.assert_allclose(scores, second, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "right", "left"))
    assert model.score(X, y) > 0.95


def test_a_grid_search_finds_the_weight_that_leaves_enough_singular_values():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=400, random_state=0, stratify=y)
    pipeline = make_pipeline(MinMaxScaler(), PS3VT(n_iter=300, random_state=0))
    search = GridSearchCV(pipeline, {"ps3vt__tau_S": [1e-3, 100.0]}, cv=3).fit(X_train, y_train)
    # At 100 only the first five of ten singular values are left.
    assert search.best_params_["ps3vt__tau_S"] == 1e-3
    # Ten classes; a linear model without intercept makes about 10 % errors here.
    assert search.score(X_test, y_test) > 0.8


@each(
    "parameters, labels, said",
    [
        ({"lam": -1.0}, None, r"lam must be a number between 0 and 1000 or 'auto', got -1.0$"),
        ({}, np.full(178, -1), "labels of at least two classes are needed, got 0 classes"),
        ({}, np.where(np.arange(178) < 9, 4, -1), "labels of at least two classes are needed, got 1 class"),
        ({}, np.linspace(0.1, 7, 178), "Unknown label type: continuous"),
    ],
)
def test_bad_parameters_and_labels_that_are_no_classes_are_refused(wine, parameters, labels, said):
    X, _, few = wine
    with pytest.raises(ValueError, match=f"^{said}"):
        PS3VT(**parameters).fit(X, few if labels is None else labels)


def test_points_so_far_away_that_a_run_would_diverge_are_refused(wine):
    X, _, few = wine
    with pytest.raises(ValueError, match=r"^X\[0, 0\] must be of size 1e\+70 at most, .*: scale the points$"):
        LinearMC(step_size=1e6, n_iter=10, random_state=0).fit(1e305 * X, few)

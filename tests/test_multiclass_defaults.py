"""Defaults of PS3VT beyond the paper: a step that fits the data, an intercept, the average, and early stopping."""

from dataclasses import replace

import naive_proximal
import numpy as np
import pytest
from cases import each
from scipy.special import softmax
from scipy.stats import sem
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, cross_val_predict, train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from dsgcore import LRCMC, PS3VT, SSMC, LinearMC
from dsgcore.multiclass import task as task_module
from dsgcore.multiclass.exact import smooth_minimiser
from dsgcore.multiclass.features import LazyFeatures
from dsgcore.multiclass.held_out import FACTORS, FOLDS, held_out_factor
from dsgcore.multiclass.loop import descend, tail_mean, train
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.task import make_task
from dsgcore.solver.stopping import Stopping


@pytest.fixture
def points():
    """Sixty points far from the origin; thirty have one of three labels."""
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 2 * np.eye(3, 4)[y] + 50.0
    return X, np.where(np.arange(60) < 30, y, -1)


def open_problem(**said):
    return MultiClass(**{"lam": None, "tau_I": None, "tau_S": None, "step_size": None, "fit_intercept": True, **said})


@each("n_iter", [1, 7, 12, 230, 400, 401])
def test_the_average_is_the_mean_of_the_naive_twins_second_half(points, n_iter):
    X, y = points
    p = MultiClass(lam=0.02, tau_I=0.003, tau_S=0.2, step_size=1e-4, batch_size=5, n_iter=n_iter, n_neighbors=4)
    task = make_task(p, X, y, 5)
    tail = tail_mean(task, None, Stopping(tol=None))
    train(task, is_enough=lambda t, W: tail.add(W))
    M = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4))
    batches = [task.batch(t) for t in range(1, n_iter + 1)]
    Ws = naive_proximal.ps3vt(X[:30], y[:30], 3, batches, M, 0.02, 0.003, 0.2, 2, mu=1e4)
    np.testing.assert_allclose(tail.mean, np.mean(Ws[n_iter // 2 :], axis=0), rtol=1e-10, atol=1e-14)


@each("start", [None, "exact"])
def test_an_average_that_ends_early_is_that_of_the_iterations_made(points, start):
    X, y = points
    model = PS3VT(tol=0.2, n_iter=5000, random_state=4, start=start).fit(X, y)
    assert (400 if start is None else 50) <= model.n_iter_ < 5000
    task = make_task(replace(model.problem_, n_iter=model.n_iter_), X, y, 4)
    tail = np.mean([i.W for i in descend(task, start and smooth_minimiser(task))][model.n_iter_ // 2 :], axis=0)
    W = task.plain(tail)
    np.testing.assert_allclose(model.coef_, W[:-1].T, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, W[-1], rtol=1e-9)
    shorter = PS3VT(tol=None, n_iter=model.n_iter_, random_state=4, start=start).fit(X, y)
    np.testing.assert_allclose(shorter.coef_, model.coef_, rtol=1e-12)


@each("start", [None, "exact"])
def test_without_an_average_the_last_iterate_is_returned(points, start):
    X, y = points
    model = PS3VT(average=None, tol=None, n_iter=30, random_state=4, start=start).fit(X, y)
    task = make_task(model.problem_, X, y, 4)
    *_, last = descend(task, start and smooth_minimiser(task))
    np.testing.assert_allclose(model.coef_, task.plain(last.W)[:-1].T, rtol=1e-12)


@pytest.mark.parametrize("features", ["linear", "fourier"])
def test_the_automatic_step_is_one_over_the_curvature_of_mini_batches(points, features):
    X, y = points
    task = make_task(open_problem(features=features, sigma=0.1, n_features=50, batch_size=8), X, y, 0)
    p, phi = task.problem, task.X
    moment = phi.T @ phi / len(phi)
    ridge = 2 * p.lam
    graph = 0.0 if task.M is None else 2 * p.tau_I * np.linalg.eigvalsh(task.M)[-1]
    curvature = np.linalg.eigvalsh(moment)[-1] + np.trace(moment) / 8 + ridge + graph
    assert p.step_size == pytest.approx(1 / curvature, rel=0.02)  # thirty steps of power iteration
    # The claim of the rule: no mean over mini-batches of (X'X / B)^2 is above curvature * mean X'X / B.
    rng, squares = np.random.default_rng(0), np.zeros_like(moment)
    for _ in range(400):
        batch = phi[rng.integers(0, len(phi), 8)]
        squares += (batch.T @ batch / 8) @ (batch.T @ batch / 8) / 400
    assert np.linalg.eigvalsh(curvature * moment - squares)[0] > -0.05 * curvature * np.trace(moment)


def test_what_is_automatic_counts_as_one_labeled_point(points):
    X, y = points
    task = make_task(open_problem(loss="hinge"), X, y, 0)
    variance = X.var(axis=0).mean()
    assert task.problem.lam == pytest.approx(0.5 * variance / 30)
    assert task.problem.radius == pytest.approx(task.problem.lam**-0.5)
    # The graph's term: the mean squared difference along links, weighted by these, over the number of labels.
    L = naive_proximal.laplacian(X, 10)
    W = np.random.default_rng(0).normal(size=(5, 3))
    f = task.X @ W if len(task.X) == 60 else task.frame(task.features(X)) @ W
    i, j = np.nonzero(L < 0)
    mean = np.average(np.sum((f[i] - f[j]) ** 2, axis=1), weights=-L[i, j])
    assert task.problem.smooth_terms(W, task.X, task.y, task.M)[0]["graph"] == pytest.approx(mean / 30, rel=1e-8)


def test_the_graph_is_left_out_where_it_would_be_nothing():
    rng = np.random.default_rng(0)
    y = np.arange(1100) % 2
    X = rng.normal(size=(1100, 2)) + y[:, None]
    assert make_task(open_problem(), X, y, 0).problem.tau_I == 0.0
    assert make_task(open_problem(), X, np.where(np.arange(1100) < 1000, y, -1), 0).problem.tau_I > 0.0


@pytest.mark.parametrize("cls", [PS3VT, LinearMC, LRCMC, SSMC])
def test_where_the_points_lie_and_how_long_their_unit_is_does_not_matter(points, cls):
    X, y = points
    settings = {"n_iter": 400, "tol": None, "random_state": 0, **({"tau_S": 0.0} if hasattr(cls(), "tau_S") else {})}
    here, there = cls(**settings).fit(X, y), cls(**settings).fit(1e-3 * (X - 50.0), y)
    scores = here.decision_function(X)
    np.testing.assert_allclose(there.decision_function(1e-3 * (X - 50.0)), scores, rtol=1e-6, atol=1e-6)
    assert here.step_size_ == pytest.approx(1e-6 * there.step_size_, rel=1e-6)


def test_one_warning_says_that_more_iterations_were_needed(points, capsys):
    X, y = points
    with pytest.warns(ConvergenceWarning, match=r"^PS3VT was still moving by .* after n_iter=600 iterations") as caught:
        PS3VT(tol=1e-9, n_iter=600, verbose=1, random_state=0).fit(X, y)
    assert len(caught) == 1
    assert capsys.readouterr().out.count("\n") == 12


def test_the_logistic_loss_is_scikit_learns_and_its_gradient_that_of_the_loss(points):
    X, y = points
    problem = MultiClass(lam=0.3, loss="logistic", fit_intercept=True)
    phi, codes = np.hstack([X[:30] - 50.0, np.ones((30, 1))]), y[:30]
    W, step = np.random.default_rng(1).normal(size=(5, 3)), 1e-6
    terms, gradient = problem.smooth_terms(W, phi, codes, None)
    assert terms["logistic"] == pytest.approx(log_loss(codes, softmax(phi @ W, axis=1)), rel=1e-12)
    assert terms["ridge"] == pytest.approx(0.3 * np.sum(W[:-1] ** 2))  # the intercept is free
    for place in np.ndindex(W.shape):
        moved = [np.array(W), np.array(W)]
        moved[0][place] += step
        moved[1][place] -= step
        up, down = (sum(problem.smooth_terms(V, phi, codes, None)[0].values()) for V in moved)
        assert gradient[place] == pytest.approx((up - down) / (2 * step), abs=1e-7)
    enormous = problem.smooth_terms(1e4 * W, phi, codes, None)
    assert np.isfinite(enormous[0]["logistic"])


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_with_the_weights_of_a_logistic_regression_it_is_one(points, C):
    X, y = points
    few = X[:30] - 50.0
    peer = LogisticRegression(C=C, tol=1e-10).fit(few, y[:30])
    alone = {"tau_I": 0.0, "tau_S": 0.0, "lam": 1 / (2 * C * 30), "batch_size": None}
    model = PS3VT(**alone, n_iter=3000, tol=None, average=None, random_state=0).fit(few, y[:30])
    np.testing.assert_allclose(model.coef_ - model.coef_.mean(axis=0), peer.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        model.intercept_ - model.intercept_.mean(), peer.intercept_ - peer.intercept_.mean(), atol=1e-3
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("tau_I", [0.0, 1e-3])
def test_a_run_starts_where_the_objective_without_the_pull_is_smallest(points, n_classes, tau_I):
    X, y = points
    few = np.where(np.arange(len(y)) < 60, np.minimum(y, n_classes - 1), -1)
    task = make_task(MultiClass(lam=0.02, tau_I=tau_I, tau_S=0.0, fit_intercept=True, loss="logistic"), X, few, 0)
    W = smooth_minimiser(task)
    lowest, rng = sum(task.terms(W).values()), np.random.default_rng(0)
    for size in (1e-3, 1e-1):
        others = [sum(task.terms(W + size * rng.normal(size=W.shape)).values()) for _ in range(20)]
        assert min(others) > lowest
    gradient = task.problem.smooth_terms(W, task.X, task.y, task.M)[1]
    assert np.abs(gradient).max() < 1e-4


def losses_held_out(X, y):
    """Return for each factor, after a full fit, the losses at the held-out points and the number of mistakes."""
    Z, folds = X - X.mean(axis=0), list(KFold(FOLDS, shuffle=True, random_state=0).split(X))
    models = [LogisticRegression(C=1 / factor, tol=1e-9, max_iter=10_000) for factor in FACTORS]
    every = [cross_val_predict(model, Z, y, cv=folds, method="predict_log_proba") for model in models]
    return {f: (-c[np.arange(len(y)), y], np.sum(c.argmax(axis=1) != y)) for f, c in zip(FACTORS, every, strict=True)}


def naive_factor(X, y):
    """The rule once more: of the smallest loss, the nearest to 1 within one standard error, unless it mistakes more."""
    held_out = losses_held_out(X, y)
    best = min(FACTORS, key=lambda factor: held_out[factor][0].mean())
    above = {f: held_out[f][0] - held_out[best][0] for f in FACTORS if min(1.0, best) <= f <= max(1.0, best)}
    close = [f for f, losses in above.items() if f == best or losses.mean() <= sem(losses)]
    nearest = min(close, key=lambda f: abs(np.log(f)))
    return nearest if held_out[nearest][1] <= held_out[1.0][1] else 1.0


def test_the_ridge_is_one_that_labels_which_were_held_out_ask_for():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    chosen = []
    for signal in (0.0, 1.0, 4.0):
        X = rng.normal(size=(120, 10)) + signal * np.eye(3, 10)[y]
        factor = held_out_factor(X, y, 0.5)
        assert factor == naive_factor(X, y)
        assert held_out_factor(1e-3 * X + 7.0, y, 0.5e-6) == factor
        chosen.append(factor)
    assert chosen == sorted(chosen, reverse=True)
    assert chosen[0] > 1.0 > chosen[-1]
    rng, few = np.random.default_rng(7), np.arange(45) % 6
    X = rng.normal(size=(45, 9)) + rng.normal(size=(6, 9))[few]
    assert (
        held_out_factor(X, few, 0.5) == naive_factor(X, few) == 1.0
    )  # a factor of 0.3 has less loss and more mistakes


@pytest.mark.parametrize("y", [[0, 1, 0, 1], [0] * 11 + [1]])
def test_where_hardly_any_labels_can_be_held_out_the_ridge_is_some_of_the_usual(y):
    assert held_out_factor(np.random.default_rng(0).normal(size=(len(y), 2)), np.array(y), 0.5) in FACTORS


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_features_that_are_too_many_to_be_held_give_the_same_model(points, loss, monkeypatch):
    X, y = points
    model = PS3VT(features="fourier", n_features=32, n_iter=60, loss=loss, random_state=0)
    held = model.fit(X, y).coef_
    monkeypatch.setattr(task_module, "MOST_FEATURES", 500)
    task = make_task(model.problem_, X, y, 0)
    assert isinstance(task.X, LazyFeatures)
    np.testing.assert_allclose(model.fit(X, y).coef_, held, rtol=1e-9, atol=1e-12)
    W = np.random.default_rng(0).normal(size=(*task.X.shape[1:], 3))
    whole = task.problem.smooth_terms(W, task.X[:], task.y, None)[0]
    assert {name: task.terms(W)[name] for name in whole} == pytest.approx(whole)


def errors(X, y, scaler, model, peer):
    """Return both test errors, mean over two splits, with labels on 30 % of the training points."""
    found = []
    for seed in range(2):
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
        labeled, _ = train_test_split(np.arange(len(train)), train_size=0.3, stratify=y[train], random_state=seed)
        Z = scaler().fit(X[train]).transform(X)
        few = np.full(len(train), -1)
        few[labeled] = y[train][labeled]
        ours = model(seed).fit(Z[train], few)
        theirs = peer().fit(Z[train][labeled], few[labeled])
        found.append([1 - m.score(Z[test], y[test]) for m in (ours, theirs)])
    return np.mean(found, axis=0)


@each(
    "load, scaler",
    [
        (load_iris, StandardScaler),
        (load_iris, MinMaxScaler),
        (load_wine, MinMaxScaler),
        (load_digits, StandardScaler),
    ],
)
def test_default_arguments_are_as_good_as_a_logistic_regression(load, scaler):
    ours, theirs = errors(*load(return_X_y=True), scaler, lambda s: PS3VT(random_state=s), LogisticRegression)
    # Two splits of 45 to 540 points each: as many again as the two points that are allowed.
    assert ours <= theirs + 0.04


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_default_arguments_on_fourier_features_are_as_good_as_svc(load):
    ours, theirs = errors(
        *load(return_X_y=True), StandardScaler, lambda s: PS3VT(features="fourier", random_state=s), SVC
    )
    assert ours <= theirs + 0.04

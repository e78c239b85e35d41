from dataclasses import replace
from pathlib import Path

import naive
import naive_proximal
import numpy as np
import oracle_files
import pytest
from cases import each
from scipy.optimize import minimize

from dsgcore.kernels import Gaussian, block_frequencies
from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.graph import MAX_ANCHORS, laplacian, mean_distance, smoothness
from dsgcore.multiclass.loop import descend, shrink, train
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.task import MultiClassTask, make_task
from dsgcore.solver.problem import ProblemError

LINEAR = FixedFeatures("linear", 1.0, 1, 0)


@pytest.fixture
def points():
    """Forty points in three dimensions; nineteen have one of four labels."""
    rng = np.random.default_rng(8)
    y = np.full(40, -1)
    y[:19] = np.arange(19) % 4
    return rng.normal(size=(40, 3)) + 0.7 * np.eye(4, 3)[y % 4], y


@pytest.fixture
def make(points):
    """Make a small task; what is not said has a default."""

    def make(seed=5, **parameters):
        given = {"lam": 0.02, "tau_I": 0.003, "tau_S": 0.2, "step_size": 0.3, "batch_size": 5, "n_neighbors": 4}
        return make_task(MultiClass(**{**given, "n_iter": 12, **parameters}), *points, seed)

    return make


def run(task, **start):
    return [iterate.W for iterate in descend(task, **start)]


# The papers' algorithms


@each("batch_size", [1, 5, None])
@each("theta, radius", [(0.0, 1.0), (0.34, 1.0), (0.5, 0.25), (1.0, 1.0)])
def test_equals_the_papers_algorithm_1(make, points, batch_size, theta, radius):
    task, (X, y) = make(batch_size=batch_size, theta=theta, radius=radius), points
    p, n_kept = task.problem, {0.0: 0, 0.34: 2, 0.5: 2, 1.0: 3}[theta]
    M = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4))
    batches = [task.batch(t) for t in range(1, 13)]
    expected = naive_proximal.ps3vt(
        X[:19], y[:19], 4, batches, M, p.lam, p.tau_I, p.tau_S, n_kept, mu=1 / p.step_size, radius=radius
    )
    for W, W_expected in zip(run(task), expected, strict=True):
        np.testing.assert_allclose(W, W_expected, rtol=1e-10, atol=1e-12)
    terms = task.terms(expected[-1])
    whole = naive_proximal.objective(expected[-1], X[:19], y[:19], M, p.lam, p.tau_I, p.tau_S, n_kept)
    assert sum(terms.values()) == pytest.approx(whole, rel=1e-10)


@pytest.fixture(scope="module")
def documented():
    """Return the names of the first Python block of the page on the papers."""
    page = Path(__file__).parents[1] / ".github" / "docs" / "papers.md"
    names = {}
    exec(page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], names)
    return names


@each("name", ["algorithm_1", "authors_program"])
def test_what_the_page_on_the_papers_calls_algorithm_1_is_algorithm_1(documented, points, name):
    X, y = points
    model = documented[name].set_params(n_iter=60, n_neighbors=4, random_state=5).fit(X, y)
    p, task = model.problem_, make_task(model.problem_, X, y, 5)
    batches = [task.batch(t) for t in range(1, 61)]
    assert {len(batch) for batch in batches} == {1}
    M = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4, released=p.variant == "released"))
    given = (M, p.lam, p.tau_I, p.tau_S, 2)
    if p.variant == "released":
        Ws = naive_proximal.ps3vt_released(X[:19], y[:19], 4, batches, 1, *given, step=p.step_size)
    else:
        Ws = naive_proximal.ps3vt(X[:19], y[:19], 4, batches, *given, mu=1 / p.step_size)
    np.testing.assert_allclose(model.coef_.T, Ws[-1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), X @ Ws[-1], rtol=1e-9, atol=1e-10)


@each("batch_size", [1, 5, None])
def test_equals_the_released_program(make, points, batch_size):
    task, (X, y) = make(batch_size=batch_size, variant="released", step_size=40.0, n_iter=20), points
    M = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4, released=True))
    batches = [task.batch(t) for t in range(1, 21)]
    size = batch_size or 19
    expected = naive_proximal.ps3vt_released(X[:19], y[:19], 4, batches, size, M, 0.02, 0.003, 0.2, 2, step=40.0)
    for W, W_expected in zip(run(task), expected, strict=True):
        np.testing.assert_allclose(W, W_expected, rtol=1e-10, atol=1e-12)


def test_equals_the_papers_algorithm_1_on_fourier_features(make, points):
    task, (X, y) = make(features="fourier", sigma=0.3, n_features=6), points
    frequencies = 2 * np.pi * block_frequencies(Gaussian(0.3), 5, 0, 3, 6, np.dtype(np.float64))
    phi = np.array([naive.feature_map(frequencies, x) for x in X])
    M = naive_proximal.graph_matrix(phi, naive_proximal.laplacian(X, 4))
    batches = [task.batch(t) for t in range(1, 13)]
    expected = naive_proximal.ps3vt(phi[:19], y[:19], 4, batches, M, 0.02, 0.003, 0.2, 2, mu=1 / 0.3)
    np.testing.assert_allclose(run(task)[-1], expected[-1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("path", oracle_files.files("ps3vt_"))
def test_equals_the_authors_program(path, record_property):
    d = oracle_files.load(path)
    X, labeled, y = d["X"], d["labeled_index"], d["y"]
    L = laplacian(X, n_neighbors=d["knn"], variant="released")
    M = smoothness(X, L)
    problem = MultiClass(
        lam=d["tau_A"],
        tau_I=d["tau_I"],
        tau_S=d["tau_S"],
        step_size=d["step"],
        batch_size=d["n_batch"],
        n_iter=d["iterations"],
        variant="released",
    )
    n_classes = int(y.max()) + 1
    assert problem.n_kept(X.shape[1], n_classes) == d["theta"]
    task = MultiClassTask(problem, LINEAR, X[labeled], y[labeled], n_classes, M, 0, d["order"])
    weights = run(task)
    objective = [sum(task.terms(W).values()) for W in weights]
    hinge = [task.terms(W)["hinge"] for W in weights]
    errors = [np.mean(_margins(d["X_test"] @ W, d["y_test"]) <= 0) for W in weights]
    residuals = {
        "laplacian": np.abs(L.toarray() - d["laplacian"]).max(),
        "XLX": np.abs(M - d["XLX"]).max() / np.abs(d["XLX"]).max(),
        "W": np.abs(weights[-1] - d["W"]).max() / np.abs(d["W"]).max(),
        "objective": np.abs(np.array(objective) / d["train_objective"] - 1).max(),
        "loss": np.abs(hinge - d["train_loss"]).max() / d["train_loss"].max(),
        "test_error": np.abs(errors - d["test_error"]).max(),
    }
    oracle_files.report(record_property, path, **residuals)
    # The README advises 1e-7 on W; these programs agree to rounding.
    assert max(residuals.values()) < 1e-10


def _margins(scores, y):
    own = scores[np.arange(len(y)), y]
    others = np.where(np.eye(scores.shape[1], dtype=bool)[y], -np.inf, scores)
    return own - others.max(axis=1)


# The graph


@each("variant", ["paper", "released"])
def test_the_laplacian_equals_its_definition(points, variant):
    X, _ = points
    L = laplacian(X, n_neighbors=4, variant=variant)
    expected = naive_proximal.laplacian(X, 4, released=variant == "released")
    np.testing.assert_allclose(L.toarray(), expected, rtol=1e-10, atol=1e-13)
    # X L X' is a sum of 3-term products over the links: rounding of a few units at most.
    np.testing.assert_allclose(smoothness(X, L), naive_proximal.graph_matrix(X, expected), rtol=1e-10, atol=1e-12)


@each("variant", ["paper", "released"])
def test_the_graph_term_is_the_sum_over_links_of_squared_differences(points, variant):
    X, _ = points
    L = laplacian(X, n_neighbors=4, variant=variant)
    W = np.random.default_rng(0).normal(size=(3, 4))
    h, S = X @ W, -np.triu(L.toarray(), 1)
    expected = sum(S[i, j] * np.sum((h[i] - h[j]) ** 2) for i in range(40) for j in range(40))
    assert np.vdot(W, smoothness(X, L) @ W) == pytest.approx(expected, rel=1e-10)


def test_the_mean_distance_is_exact_or_close(points):
    X, _ = points
    expected = np.mean([naive_proximal.distance(x, z) for x in X for z in X])
    assert mean_distance(X) == pytest.approx(expected, rel=1e-12)
    many = np.random.default_rng(1).normal(size=(3 * MAX_ANCHORS, 2))
    # Normal points in the plane: a mean distance of sqrt(pi), its standard error about 0.5 / sqrt(1000).
    assert mean_distance(many) == pytest.approx(np.pi**0.5, abs=0.06)


@each("variant", ["paper", "released"])
def test_points_that_coincide_have_weight_one(variant):
    L = laplacian(np.ones((6, 2)), n_neighbors=2, variant=variant)
    assert np.isfinite(L.toarray()).all()
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-12)


def test_more_neighbours_than_points_are_all_the_others():
    X = np.random.default_rng(2).normal(size=(5, 2))
    np.testing.assert_array_equal(laplacian(X, n_neighbors=50).toarray(), laplacian(X, n_neighbors=4).toarray())


# The parts of the objective


@each("term", ["hinge", "ridge", "graph"])
def test_the_gradient_is_the_numerical_derivative_of_each_term(make, term):
    weights = {"hinge": {"lam": 0.0, "tau_I": 0.0}, "ridge": {"tau_I": 0.0}, "graph": {"lam": 0.0}}[term]
    task = make(**weights)
    W = np.random.default_rng(4).normal(size=(3, 4))
    # Away from the hinge's kinks, which a random W misses by more than the differences' step.
    X, y = (task.X, task.y) if term == "hinge" else (np.zeros_like(task.X), task.y)
    _, gradient = task.problem.smooth_terms(W, X, y, task.M)
    numerical = np.zeros_like(W)
    for index in np.ndindex(*W.shape):
        step = np.zeros_like(W)
        step[index] = 1e-6
        above, below = (task.problem.smooth_terms(W + s, X, y, task.M)[0][term] for s in (step, -step))
        numerical[index] = (above - below) / 2e-6
    # Central differences: rounding of 1e-16 / 1e-6, and no third derivatives here.
    np.testing.assert_allclose(gradient, numerical, rtol=1e-7, atol=1e-8)


@each("shape", [(2, 2), (3, 2), (2, 3)])
@each("n_kept", [0, 1, 2])
def test_singular_value_thresholding_is_the_proximal_operator(shape, n_kept):
    rng = np.random.default_rng(10 * n_kept + shape[0])
    Q, tau = rng.normal(size=shape), 0.4

    def objective(w):
        W = w.reshape(shape)
        values = np.linalg.svd(W, compute_uv=False)
        return 0.5 * np.sum((W - Q) ** 2) + tau * values[n_kept:].sum()

    W, values = shrink(Q, tau, slice(n_kept, None))
    np.testing.assert_allclose(np.linalg.svd(W, compute_uv=False), values, atol=1e-12)
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000, "adaptive": True}
    starts = [Q, Q + rng.normal(size=shape)]
    found = [minimize(objective, x0.ravel(), method="Nelder-Mead", options=options) for x0 in starts]
    best = min(found, key=lambda result: result.fun)
    # The penalty is not convex: some starts end in other stationary points, none below.
    assert objective(W.ravel()) <= best.fun + 1e-10
    np.testing.assert_allclose(best.x.reshape(shape), W, atol=1e-3)


def test_a_step_leaves_the_weights_in_the_ball(make):
    for problem, radius in (({}, 1.0), ({"radius": 0.3}, 0.3), ({"variant": "released", "tau_S": 0.0}, 0.02**-0.5)):
        task = make(step_size=500.0, **problem)
        norms = [np.linalg.norm(W) for W in run(task)]
        assert max(norms) == pytest.approx(radius, rel=1e-12)


@each("variant", ["paper", "released"])
@each("tau_S", [0.0, 0.2])
def test_records_hold_the_terms_before_the_step_and_the_singular_values_after_it(make, variant, tau_S):
    task = make(variant=variant, tau_S=tau_S, batch_size=None)
    W = task.start()
    for iterate in descend(task):
        assert iterate.terms == pytest.approx(task.terms(W), rel=1e-10, abs=1e-14)
        _, gradient = task.problem.smooth_terms(W, task.X, task.y, task.M)
        assert iterate.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-10)
        W = iterate.W
        np.testing.assert_allclose(iterate.singular_values, np.linalg.svd(W, compute_uv=False), atol=1e-13)
    assert iterate.t == 12


# Special cases, seeds, errors


@each("variant", ["paper", "released"])
def test_zero_parameters_give_the_special_cases(make, points, variant):
    X, y = points
    M = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4, released=variant == "released"))
    for tau_I, tau_S in ((0.0, 0.0), (0.0, 0.2), (0.003, 0.0)):
        task = make(tau_I=tau_I, tau_S=tau_S, variant=variant)
        assert (task.M is None) == (tau_I == 0.0)
        batches = [task.batch(t) for t in range(1, 13)]
        if variant == "paper":
            expected = naive_proximal.ps3vt(X[:19], y[:19], 4, batches, M, 0.02, tau_I, tau_S, 2, mu=1 / 0.3)
        else:
            expected = naive_proximal.ps3vt_released(X[:19], y[:19], 4, batches, 5, M, 0.02, tau_I, tau_S, 2, step=0.3)
        np.testing.assert_allclose(run(task)[-1], expected[-1], rtol=1e-10, atol=1e-12)


def test_without_the_graph_unlabeled_points_play_no_part(points):
    X, y = points
    problem = MultiClass(tau_I=0.0, n_iter=5)
    with_them = run(make_task(problem, X, y, 0))[-1]
    np.testing.assert_array_equal(with_them, run(make_task(problem, X[:19], y[:19], 0))[-1])
    with_graph = replace(problem, tau_I=0.01)
    assert (run(make_task(with_graph, X, y, 0))[-1] != run(make_task(with_graph, X[:19], y[:19], 0))[-1]).any()


@each("parameters", [{}, {"variant": "released"}, {"features": "fourier", "n_features": 8}])
def test_same_seed_same_bits_other_seed_other_numbers(make, parameters):
    first, again, other = (run(make(seed, **parameters)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first[-1] != other[-1]).any()


@each("variant", ["paper", "released"])
@each("tau_S", [0.0, 0.2])
@each("tau_I", [0.0, 0.003])
@each("batch_size", [1, 4, None])
def test_training_without_records_gives_the_same_bits(make, variant, tau_S, tau_I, batch_size):
    # Steps of 40 reach the ball; 19 points in batches of 4 leave a shorter last one in the released variant.
    task = make(variant=variant, tau_S=tau_S, tau_I=tau_I, batch_size=batch_size, step_size=40.0)
    weights = run(task)
    np.testing.assert_array_equal(train(task)[0], weights[-1])
    W, n_iter = train(task, W=weights[4], t=5)
    np.testing.assert_array_equal(W, weights[-1])
    assert n_iter == 12


@each("parameters", [{}, {"variant": "released"}, {"batch_size": None}])
def test_batches_drawn_before_give_the_same_bits(make, parameters):
    task = make(**parameters)
    known = replace(task, batches=[task.batch(t) for t in range(1, 13)], seed=99)
    np.testing.assert_array_equal(run(known), run(task))


def test_training_that_overflows_returns_the_last_finite_weights(points):
    X, y = points
    task = make_task(MultiClass(tau_I=0.0, step_size=1e6, n_iter=5), X * 1e305, y, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        W, n_iter = train(task)
        assert run(task) == []
    assert n_iter == 0
    np.testing.assert_array_equal(W, task.start())


def test_the_released_variant_visits_every_labeled_point_once_an_epoch(make):
    task = make(variant="released", batch_size=4)
    epochs = [np.concatenate([task.batch(t) for t in range(1 + 5 * e, 6 + 5 * e)]) for e in range(2)]
    assert [len(task.batch(t)) for t in range(1, 6)] == [4, 4, 4, 4, 3]
    assert all(sorted(epoch) == list(range(19)) for epoch in epochs)
    assert (epochs[0] != epochs[1]).any()


def test_orthogonal_frequencies_stand_for_the_same_kernel_with_a_smaller_error():
    X = np.random.default_rng(0).normal(size=(60, 64))
    exact = Gaussian(1 / 64).matrix(X, X)

    def error(seed, *, is_orthogonal):
        phi = FixedFeatures("fourier", 1 / 64, 256, seed, is_orthogonal=is_orthogonal)(X)
        return np.mean((phi @ phi.T - exact) ** 2)

    apart, orthogonal = (np.mean([error(s, is_orthogonal=o) for s in range(8)]) for o in (False, True))
    assert orthogonal < 0.7 * apart
    far = FixedFeatures("fourier", 1 / 64, 20_000, 3, is_orthogonal=True)(X)
    np.testing.assert_allclose(far @ far.T, exact, atol=0.03)


@each("share, d, n_classes, expected", [(0.7, 10, 12, 7), (0.5, 3, 5, 2), (0.0, 4, 3, 0), (1.0, 4, 3, 3)])
def test_theta_is_a_share_of_the_singular_values_rounded_up(share, d, n_classes, expected):
    assert MultiClass(theta=share).n_kept(d, n_classes) == expected


@each("labels, said", [(np.full(40, -1), "0 classes"), (np.full(40, 0), "1 class")])
def test_fewer_than_two_classes_are_refused(points, labels, said):
    with pytest.raises(ProblemError, match=f"labels of at least two classes are needed, got {said}$"):
        make_task(MultiClass(), points[0], labels, 0)

"""PS3VT and its presets: the loop against naive twins and the authors' program, the estimators, and runs of them on pages."""

import runpy
from dataclasses import replace

import naive
import naive_problems
import naive_proximal
import numpy as np
import oracle_files
import pytest
from cases import each
from opened_pages import bench_of, click_like_a_browser, open_page, run_of
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import sem
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from small_specs import changed, finished

from dsgcore import LRCMC, PS3VT, SSMC, DSGSoftmax, LinearMC, Run, Spec, load_model
from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import batch_rows
from dsgcore.experiments import LiveRun, load_split, long_work, script
from dsgcore.experiments.engine import learned_score
from dsgcore.jobs import Job, JobQueue, JobState
from dsgcore.kernels import Gaussian, block_frequencies
from dsgcore.kernels.features import explicit
from dsgcore.multiclass import automatic
from dsgcore.multiclass import graph as graphs
from dsgcore.multiclass import loop as task_module
from dsgcore.multiclass.automatic import RIDGE_FACTORS, left_out_factor, smooth_minimiser
from dsgcore.multiclass.features import FixedFeatures, LazyFeatures
from dsgcore.multiclass.graph import MAX_ANCHORS, laplacian, mean_distance, smoothness
from dsgcore.multiclass.loop import MultiClassTask, descend, make_task, shrink, tail_mean
from dsgcore.multiclass.problem import MultiClass
from dsgcore.multiclass.twin import KernelTwin
from dsgcore.solver.stopping import Stopping

# Forty points in three dimensions; nineteen have one of four labels.
Y = np.where(np.arange(40) < 19, np.arange(40) % 4, -1)
X = np.random.default_rng(8).normal(size=(40, 3)) + 0.7 * np.eye(4, 3)[Y % 4]
L = laplacian(X, n_neighbors=4)


def small_task(seed=5, **parameters):
    """Make a small task; what is not said has a default."""
    given = {"lam": 0.02, "tau_I": 0.003, "tau_S": 0.2, "step_size": 0.3, "batch_size": 5, "n_neighbors": 4}
    return make_task(MultiClass(**{**given, "n_iter": 12, **parameters}), X, Y, seed)


def weights_of(task, **start):
    return [iterate.W for iterate in descend(task, **start)]


def batches_of(task, n_iter=12):
    return [task.batch(t) for t in range(1, n_iter + 1)]


def frequencies(sigma, seed, ts, m):
    return [2 * np.pi * block_frequencies(Gaussian(sigma), seed, t, 3, m, np.dtype(np.float64)) for t in ts]


# The papers' algorithms


@each("batch_size", [1, 5, None])
@each(
    "theta, radius, tau_I, tau_S",
    [
        *((theta, radius, 0.003, 0.2) for theta, radius in ((0.0, 1.0), (0.34, 1.0), (0.5, 0.25), (1.0, 1.0))),
        *((0.5, 1.0, tau_I, tau_S) for tau_I, tau_S in ((0.0, 0.0), (0.0, 0.2), (0.003, 0.0))),  # the presets
    ],
)
def test_equals_the_papers_algorithm_1(batch_size, theta, radius, tau_I, tau_S):
    task = small_task(batch_size=batch_size, theta=theta, radius=radius, tau_I=tau_I, tau_S=tau_S)
    assert (task.M is None) == (tau_I == 0.0)
    p, n_kept = task.problem, {0.0: 0, 0.34: 2, 0.5: 2, 1.0: 3}[theta]
    M = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4))
    terms = (M, p.lam, p.tau_I, p.tau_S, n_kept)
    given = {"mu": 1 / p.step_size, "radius": radius}
    expected = naive_proximal.ps3vt(X[:19], Y[:19], 4, batches_of(task), *terms, **given)
    for W, W_expected in zip(weights_of(task), expected, strict=True):
        np.testing.assert_allclose(W, W_expected, rtol=1e-10, atol=1e-12)
    whole = naive_proximal.objective(expected[-1], X[:19], Y[:19], *terms)
    assert sum(task.terms(expected[-1]).values()) == pytest.approx(whole, rel=1e-10)


def test_equals_the_papers_algorithm_1_on_fourier_features():
    task = small_task(feature_map="fourier", sigma=0.3, n_features=6)
    (drawn,) = frequencies(0.3, 5, [0], 6)
    phi = np.array([naive.feature_map(drawn, x) for x in X])
    M = naive_proximal.graph_matrix(phi, naive_proximal.laplacian(X, 4))
    expected = naive_proximal.ps3vt(phi[:19], Y[:19], 4, batches_of(task), M, 0.02, 0.003, 0.2, 2, mu=1 / 0.3)
    np.testing.assert_allclose(weights_of(task)[-1], expected[-1], rtol=1e-10, atol=1e-12)


def released(problem, X, y, K, M, order):
    """The authors' program from the loop's parts: another step, ball, and singular values (the oracles' description)."""
    W, t, B, n = np.zeros((X.shape[1], K)), 0, problem.batch_size, len(y)
    hinge = replace(problem, lam=0.0, tau_I=0.0)
    for epoch in order:
        for rows in (epoch[start : start + B] for start in range(0, n, B)):
            t += 1
            eta = problem.step_size / (t + n)
            of_batch = hinge.gradient(W, X[rows], y[rows], None) * len(rows) / B  # a shorter last batch counts less
            W = W - eta * (of_batch + 2 * problem.lam * W + 2 * problem.tau_I * M @ W)
            W = W * min(1.0, 1.0 / (problem.lam**0.5 * np.linalg.norm(W)))
            if problem.tau_S:
                kept, threshold = problem.n_kept(*W.shape), eta * problem.tau_S
                U, values, Vt = np.linalg.svd(W, full_matrices=False)
                W = (U * np.append(np.maximum(0.0, values[:kept] - threshold), values[kept:])) @ Vt
            yield W


@pytest.mark.parametrize("path", oracle_files.files("ps3vt_"))
def test_gradient_terms_and_graph_are_those_of_the_authors_program(path, record_property):
    d = oracle_files.load(path)
    X, y, K = d["X"][d["labeled_index"]], d["y"][d["labeled_index"]], int(d["y"].max()) + 1
    given = {"lam": "tau_A", "tau_I": "tau_I", "tau_S": "tau_S", "step_size": "step", "batch_size": "n_batch"}
    theta = d["theta"] / min(X.shape[1], K) if d["tau_S"] else 0.5  # a number of values; without tau_S it is not used
    problem = MultiClass(**{name: d[own] for name, own in given.items()}, theta=theta)
    assert problem.n_kept(X.shape[1], K) == d["theta"] or not d["tau_S"]
    weights = list(released(problem, X, y, K, d["XLX"], d["order"]))[: d["iterations"]]
    terms = [problem.terms(W, X, y, d["XLX"]) for W in weights]
    tails = [d["tau_S"] * np.linalg.svd(W, compute_uv=False).sum() for W in weights]
    errors = [np.mean(_margins(d["X_test"] @ W, d["y_test"]) <= 0) for W in weights]
    released_L = laplacian(d["X"], d["knn"], True)
    residuals = {
        "laplacian": np.abs(released_L - d["laplacian"]).max(),
        "XLX": np.abs(smoothness(d["X"], released_L) - d["XLX"]).max() / np.abs(d["XLX"]).max(),
        "W": np.abs(weights[-1] - d["W"]).max() / np.abs(d["W"]).max(),
        "objective": np.abs((np.array([sum(t.values()) for t in terms]) + tails) / d["train_objective"] - 1).max(),
        "loss": np.abs([t["hinge"] for t in terms] - d["train_loss"]).max() / d["train_loss"].max(),
        "test_error": np.abs(errors - d["test_error"]).max(),
    }
    oracle_files.report(record_property, path, **residuals)
    # The README advises 1e-7 on W; these programs agree to rounding.
    assert max(residuals.values()) < 1e-10


def _margins(scores, y):
    own = scores[np.arange(len(y)), y]
    others = np.where(np.eye(scores.shape[1], dtype=bool)[y], -np.inf, scores)
    return own - others.max(axis=1)


@each("batch_size, tau_S", [(1, 0.2), (1, 0.0), (19, 0.2)])
def test_the_released_variant_is_the_authors_program(batch_size, tau_S):
    task = small_task(variant="released", batch_size=batch_size, tau_S=tau_S, step_size=30.0, lam=0.5, n_iter=40)
    own = naive_proximal.laplacian(X, 4, released=True)
    np.testing.assert_allclose(laplacian(X, 4, True).toarray(), own, rtol=1e-10)
    order = np.concatenate(batches_of(task, 40))[: 40 * batch_size // 19 * 19].reshape(-1, 19)
    assert (np.sort(order, axis=1) == np.arange(19)).all()
    steps = list(descend(task))
    expected = list(released(task.problem, X[:19], Y[:19], 4, naive_proximal.graph_matrix(X, own), order))
    for step, W in zip(steps, expected, strict=False):
        np.testing.assert_allclose(step.W, W, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(step.singular_values, np.linalg.svd(W, compute_uv=False), atol=1e-10)
    assert len(expected) >= 38
    assert (task.problem.ball, steps[4].task.problem.step_size) == (2**0.5, 30.0 / 24)
    assert np.linalg.norm(expected[0]) == pytest.approx(2**0.5) or tau_S
    values = np.linalg.svd(steps[-1].before, compute_uv=False)
    assert steps[-1].terms["tail"] == pytest.approx(tau_S * values.sum())


# Doubly stochastic gradients with the softmax loss


@pytest.mark.parametrize("path", oracle_files.files("dsg_softmax_"))
def test_a_spec_with_the_draws_of_the_authors_softmax_program_is_it(path, monkeypatch, record_property):
    d = oracle_files.load(path)
    n_iter, lam, points, K = d["iters"], d["reg_param"], d["X"], int(d["y"].max()) + 1
    omegas = np.split(d["omega"], n_iter, axis=1)
    steps = [float(d["step_size0"] / (1 + d["step_size1"] * t)) for t in range(1, n_iter + 1)]
    monkeypatch.setattr(FixedFeatures, "of_block", lambda _, t, dims: omegas[t - 1] / (2 * np.pi))
    monkeypatch.setattr(MultiClassTask, "batch", lambda _, t: d["batch_index"][t - 1])
    changes = [{"t": t, "name": "step_size", "value": step} for t, step in enumerate(steps, start=1)]
    solver = {"n_iter": n_iter, "n_features": d["block"], "lam": lam}
    plain = {"setting": "multiclass", "problem": {"variant": "preconditioned softmax"}, "solver": solver}
    spec = Spec.from_dict({**plain, "changes": changes})
    whole, some = d["y"], np.where(d["y"] == 1, 0, d["y"])  # a class without a label stays one
    own = naive_problems.dsg_softmax(points, some, K, d["batch_index"], omegas, steps, lam, 1e-7)
    tested = {"X_test": points[:9], "y_test": whole[:9], "class_names": tuple(map(str, range(K)))}
    for y, expected in ((whole, d["W"].T), *[(some, np.concatenate(own))] * (K > 2)):
        run = Run(spec, replace(load_split(spec), X_train=points, y_train=y, y_hidden=y, **tested))
        run.advance()
        np.testing.assert_allclose(run.model.W, expected, atol=1e-7)
        oracle_files.report(record_property, path, W=np.abs(run.model.W - expected).max())
        if y is whole:  # the program does not apply the ridge to its scores of test points
            parts = zip(omegas, run.engine.blocks, strict=True)
            scores = sum(explicit(d["X_test"], omega / (2 * np.pi)) @ W for omega, (W, _) in parts)
            np.testing.assert_allclose(scores.T, d["test_scores"], atol=1e-7)


@each("is_preconditioned", [False, True])
@each("average", [None, "tail"])
@each("lam, features", [(0.1, "fresh"), (1e-6, "fresh"), (0.1, "fixed")])
def test_the_softmax_estimator_equals_its_naive_twin(is_preconditioned, average, lam, features):
    given = {"lam": lam, "features": features, "is_preconditioned": is_preconditioned, "average": average}
    sizes = {"n_iter": 6, "n_features": 3, "batch_size": 5, "step_size": 0.7, "step_decay": 0.2, "sigma": 0.4}
    model, ts = DSGSoftmax(**sizes, **given, random_state=3).fit(X, Y), range(1, 7)
    batches = [batch_rows(3, "labeled", t, np.arange(19), 5) for t in ts]
    W = frequencies(0.4, 3, ts if features == "fresh" else [1] * 6, 3)
    assert model.coef_.shape == (6 if features == "fresh" else 1, 6, 4)
    steps, tiny = [0.7 / (1 + 0.2 * t) for t in ts], 1e-7 if is_preconditioned else None

    def iterate(n):
        return naive_problems.dsg_softmax(X[:19], Y[:19], 4, batches[:n], W[:n], steps[:n], lam, tiny)

    means = [iterate(n) for n in ((4, 5, 6) if average else (6,))]
    scores = [[[naive.predict(x, [own[:, k] for own in m], W[: len(m)]) for k in range(4)] for x in X] for m in means]
    np.testing.assert_allclose(model.decision_function(X), np.mean(scores, axis=0), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="must hold two classes or more"):
        model.fit(X, np.zeros(40))


each_softmax = each("variant", ("softmax", "preconditioned softmax"))


def softmax_run(variant, steps=None, **solver):
    solver = {"n_iter": 12, "n_features": 8, "step_size": 0.5, "lam": 0.01, "batch_size": 9, **solver}
    data = {"name": "spirals", "n": 120, "n_labeled": 24}
    given = {"data": data, "problem": {"variant": variant}, "solver": solver, "diagnostics": {"n_probes": 10}}
    run = Run(Spec.from_dict({"setting": "multiclass", **given}))
    run.advance(steps)
    return run


each_kind = each("features", ["fresh", "fixed"])


@each_softmax
@each_kind
@each("average", [None, "tail"])
def test_a_run_of_the_softmax_variant_is_its_estimators_bit_for_bit(variant, features, average, tmp_path, monkeypatch):
    run = softmax_run(variant, average=average, features=features)
    (tmp_path / "repeat.py").write_text(script(run), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    model, X_test = runpy.run_path("repeat.py", run_name="__main__")["model"], run.split.X_test
    assert isinstance(model, DSGSoftmax)
    assert model.is_preconditioned == (variant != "softmax")
    np.testing.assert_array_equal(run.result.W, model.coef_.reshape(-1, 4))
    np.testing.assert_array_equal(load_model(tmp_path / "model.npz").evaluate(X_test), model.decision_function(X_test))
    np.testing.assert_allclose(run.result_test_values, model.decision_function(X_test), atol=1e-13)
    np.testing.assert_array_equal(run.engine.learned(run.spec, run.split), run.result_test_values)


@each_softmax
@each_kind
def test_the_softmax_variant_is_steered_replayed_and_looked_back_at(variant, features, tmp_path):
    run = softmax_run(variant, 7, average="tail", features=features)
    earlier = [run.at(t) for t in (3, 7)]
    run.change("step_size", 0.3)
    run.change("lam", 0.02)
    run.advance()
    again, brief = finished(run.spec), Run(run.spec, measure="brief")
    brief.advance()
    np.testing.assert_array_equal(run.history.to_frame(), again.history.to_frame())
    assert brief.last_row()["objective_average"] == run.history.last()["objective_average"]
    for view in (*earlier, run.at(7)):
        short = Run(run.spec)
        short.advance(view.t)
        np.testing.assert_array_equal(view.test_values, short.test_values)
        np.testing.assert_array_equal(view.result.W, short.result.W)
    for other in ({"has_ones": True}, {"is_orthogonal": True}, {"kind": "linear"}):
        replace(run.model, features=replace(run.model.features, **other)).save(tmp_path / "model.npz")
        with pytest.raises(DSGError, match="must be plain Fourier features"):
            load_model(tmp_path / "model.npz")
    with pytest.raises(DSGError, match="name must be one of step_size, lam, got"):
        run.change("tau_I", 0.1)  # it would change nothing
    run = softmax_run(variant, step_size=1e6, lam=1.0, n_iter=400, features=features)
    assert run.stop_reason.name == "DIVERGED"
    assert np.isnan(learned_score(run.spec, run.split))


@each_softmax
@each_kind
def test_the_softmax_variant_comes_to_its_exact_twin_with_many_features(variant, features):
    errors = []
    for m in (8, 512):
        run = softmax_run(variant, n_features=m, n_iter=6, lam=0.1, features=features)
        row = run.history.last()
        errors.append(row["error_mean"] / row["h_squared"])
        assert run.exact_values(run.split.X_test).shape == run.test_values.shape
    assert errors[1] < min(errors[0] / 20, 0.02)


# The graph


def test_the_laplacian_and_its_term_equal_their_definitions():
    expected = naive_proximal.laplacian(X, 4)
    np.testing.assert_allclose(L.toarray(), expected, rtol=1e-10, atol=1e-13)
    # X L X' is a sum of 3-term products over the links: rounding of a few units at most.
    np.testing.assert_allclose(smoothness(X, L), naive_proximal.graph_matrix(X, expected), rtol=1e-10, atol=1e-12)
    W = np.random.default_rng(0).normal(size=(3, 4))
    h, S = X @ W, -np.triu(L.toarray(), 1)
    links = sum(S[i, j] * np.sum((h[i] - h[j]) ** 2) for i in range(40) for j in range(40))
    assert np.vdot(W, smoothness(X, L) @ W) == pytest.approx(links, rel=1e-10)


def test_the_mean_distance_is_exact_or_close():
    expected = np.mean([naive_proximal.distance(x, z) for x in X for z in X])
    assert mean_distance(X) == pytest.approx(expected, rel=1e-12)
    many = np.random.default_rng(1).normal(size=(3 * MAX_ANCHORS, 2))
    # Normal points in the plane: a mean distance of sqrt(pi), its standard error about 0.5 / sqrt(1000).
    assert mean_distance(many) == pytest.approx(np.pi**0.5, abs=0.06)


# The parts of the objective


@each("given", [{}, {"loss": "logistic"}, {"loss": "logistic", "fit_intercept": True}, {"tau_I": 0.0, "lam": 0.3}])
def test_the_gradient_is_the_numerical_derivative_of_the_terms(given):
    task = small_task(**given)
    W = np.random.default_rng(4).normal(size=(task.X.shape[1], 4))
    # Away from the hinge's kinks, which a random W misses by more than the differences' step.
    gradient, numerical = task.problem.gradient(W, task.X, task.y, task.M), np.zeros_like(W)
    for index in np.ndindex(*W.shape):
        step = np.zeros_like(W)
        step[index] = 1e-6
        ends = (sum(task.problem.terms(W + s, task.X, task.y, task.M).values()) for s in (step, -step))
        numerical[index] = np.subtract(*ends) / 2e-6
    # Central differences: rounding of 1e-16 / 1e-6, and small third derivatives.
    np.testing.assert_allclose(gradient, numerical, rtol=1e-6, atol=1e-8)


@each("shape", [(2, 2), (3, 2), (2, 3)])
@each("n_kept", [0, 1, 2])
def test_singular_value_thresholding_is_the_proximal_operator(shape, n_kept):
    rng = np.random.default_rng(10 * n_kept + shape[0])
    Q, tau = rng.normal(size=shape), 0.4

    def objective(w):
        W = w.reshape(shape)
        return 0.5 * np.sum((W - Q) ** 2) + tau * np.linalg.svd(W, compute_uv=False)[n_kept:].sum()

    W, values = shrink(Q, tau, slice(n_kept, None))
    np.testing.assert_allclose(np.linalg.svd(W, compute_uv=False), values, atol=1e-12)
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000, "adaptive": True}
    starts = [Q, Q + rng.normal(size=shape)]
    found = [minimize(objective, x0.ravel(), method="Nelder-Mead", options=options) for x0 in starts]
    best = min(found, key=lambda result: result.fun)
    # The penalty is not convex: some starts end in other stationary points, none below.
    assert objective(W.ravel()) <= best.fun + 1e-10
    np.testing.assert_allclose(best.x.reshape(shape), W, atol=1e-3)


# Special cases, seeds


# The estimators

FOUR = (PS3VT, LinearMC, LRCMC, SSMC)
# Algorithm 1 to the letter, but for the defaults of `MultiClass`.
PRINTED = {"lam": 1e-6, "step_size": 0.03, "average": None, "tol": None, "fit_intercept": False, "loss": "hinge"}
WINE, WINE_CLASSES = load_wine(return_X_y=True)
WINE = MinMaxScaler().fit_transform(WINE)
FEW_WINE = np.where(np.arange(178) % 3 == 0, WINE_CLASSES, -1)


@each("estimator, zeros", [(PS3VT, ()), (LinearMC, ("tau_I", "tau_S")), (LRCMC, ("tau_I",)), (SSMC, ("tau_S",))])
def test_each_is_the_loop_with_its_zeros(estimator, zeros):
    graph = {} if "tau_I" in zeros else {"tau_I": 1e-6}
    model = estimator(**PRINTED, n_features=256, **graph, n_iter=40, random_state=7).fit(WINE, FEW_WINE)
    *_, last = descend(make_task(MultiClass(n_iter=40, **dict.fromkeys(zeros, 0.0)), WINE, FEW_WINE, 7))
    np.testing.assert_array_equal(model.coef_, last.W.T)
    np.testing.assert_allclose(model.decision_function(WINE), WINE @ last.W, rtol=1e-12)
    assert (model.coef_.shape, model.n_iter_) == ((3, 13), 40)


@each("estimator", FOUR)
def test_few_labels_are_enough_for_wine(estimator):
    model, hidden = estimator(random_state=0).fit(WINE, FEW_WINE), FEW_WINE == -1
    # The paper's Table 3 has 8 to 9 % errors with 30 % labels; three standard deviations (3 to 5 %) above.
    assert model.score(WINE[hidden], WINE_CLASSES[hidden]) > 0.78


# Defaults beyond the paper

# Sixty points far from the origin; thirty have one of three labels.
TRUE = np.arange(60) % 3
FAR = np.random.default_rng(3).normal(size=(60, 4)) + 2 * np.eye(3, 4)[TRUE] + 50.0
FEW = np.where(np.arange(60) < 30, TRUE, -1)


def open_task(points=FAR, y=FEW, **said):
    """Make a task all of whose numbers are automatic but those that are said."""
    open_ones = dict.fromkeys(("lam", "tau_I", "tau_S", "step_size"))
    return make_task(MultiClass(**{**open_ones, "fit_intercept": True, **said}), points, y, 0)


def exact(task):
    return smooth_minimiser(task.problem, task.X, task.y, task.n_classes, task.M)


def test_a_start_that_is_not_exact_after_all_warns_of_nothing_because_the_iterations_go_on_from_it(monkeypatch):
    few = {"max_iter": 1}  # of 1,000, which are too few for some real sets
    monkeypatch.setattr(automatic, "LogisticRegression", lambda **given: LogisticRegression(**given | few))
    assert np.isfinite(exact(open_task(loss="logistic"))).all()


@each("n_iter", [1, 7, 12, 230, 400, 401])
def test_the_average_is_the_mean_of_the_naive_twins_second_half(n_iter):
    p = MultiClass(lam=0.02, tau_I=0.003, tau_S=0.2, step_size=1e-4, batch_size=5, n_iter=n_iter, n_neighbors=4)
    task = make_task(p, FAR, FEW, 5)
    tail = tail_mean(task, None, Stopping(tol=None))
    for iterate in descend(task):
        tail.add(iterate.W)
    M = naive_proximal.graph_matrix(FAR, naive_proximal.laplacian(FAR, 4))
    batches = batches_of(task, n_iter)
    Ws = naive_proximal.ps3vt(FAR[:30], FEW[:30], 3, batches, M, 0.02, 0.003, 0.2, 2, mu=1e4)
    np.testing.assert_allclose(tail.mean, np.mean(Ws[n_iter // 2 :], axis=0), rtol=1e-10, atol=1e-14)


@each("start", [None, "exact"])
def test_the_model_is_the_average_of_the_iterations_made_or_without_one_the_last_iterate(start):
    model = PS3VT(tol=0.2, n_iter=5000, random_state=4, start=start).fit(FAR, FEW)
    assert (400 if start is None else 50) <= model.n_iter_ < 5000
    task = make_task(replace(model.problem_, n_iter=model.n_iter_), FAR, FEW, 4)
    weights = weights_of(task, W=start and exact(task))
    W = task.plain(np.mean(weights[model.n_iter_ // 2 :], axis=0))
    np.testing.assert_allclose(model.coef_, W[:-1].T, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, W[-1], rtol=1e-9)
    as_long = {"tol": None, "n_iter": model.n_iter_, "random_state": 4, "start": start}
    last = PS3VT(**as_long, average=None).fit(FAR, FEW)
    np.testing.assert_allclose(last.coef_, task.plain(weights[-1])[:-1].T, rtol=1e-10)


@each("features, tau_I", [("linear", None), ("fourier", None), ("fourier", 10.0)])
def test_the_automatic_step_is_one_over_the_curvature_of_mini_batches(features, tau_I):
    task = open_task(feature_map=features, sigma=0.1, n_features=50, batch_size=8, tau_I=tau_I)
    p, phi = task.problem, task.X
    moment = phi.T @ phi / len(phi)
    graph = 0.0 if task.M is None else 2 * p.tau_I * np.linalg.eigvalsh(task.M)[-1]
    curvature = np.linalg.eigvalsh(moment)[-1] + np.trace(moment) / 8 + 2 * p.lam + graph
    assert p.step_size == pytest.approx(1 / curvature, rel=0.02)  # thirty steps of power iteration
    # The claim of the rule: no mean over mini-batches of (X'X / B)^2 is above curvature * mean X'X / B.
    rng, squares = np.random.default_rng(0), np.zeros_like(moment)
    for _ in range(400):
        batch = phi[rng.integers(0, len(phi), 8)]
        squares += (batch.T @ batch / 8) @ (batch.T @ batch / 8) / 400
    assert np.linalg.eigvalsh(curvature * moment - squares)[0] > -0.05 * curvature * np.trace(moment)


def test_what_is_automatic_counts_as_one_labeled_point():
    task = open_task(loss="hinge")
    assert task.problem.lam == pytest.approx(0.5 * FAR.var(axis=0).mean() / 30)
    assert task.problem.radius == pytest.approx(task.problem.lam**-0.5)
    # The graph's term: the mean squared difference along links, weighted by these, over the number of labels.
    links = naive_proximal.laplacian(FAR, 10)
    W = np.random.default_rng(0).normal(size=(5, 3))
    f = task.X @ W if len(task.X) == 60 else task.frame(task.features(FAR)) @ W
    i, j = np.nonzero(links < 0)
    mean = np.average(np.sum((f[i] - f[j]) ** 2, axis=1), weights=-links[i, j])
    assert task.problem.terms(W, task.X, task.y, task.M)["graph"] == pytest.approx(mean / 30, rel=1e-8)
    # Left out where it would be nothing.
    y = np.arange(1100) % 2
    many = np.random.default_rng(0).normal(size=(1100, 2)) + y[:, None]
    assert open_task(many, y).problem.tau_I == 0.0
    assert open_task(many, np.where(np.arange(1100) < 1000, y, -1)).problem.tau_I > 0.0


@each("cls", FOUR)
def test_where_the_points_lie_and_how_long_their_unit_is_does_not_matter(cls):
    settings = {"n_iter": 400, "tol": None, "random_state": 0}
    settings |= {"tau_S": 0.0} if "tau_S" in cls().get_params() else {}
    moved = 1e-3 * (FAR - 50.0)
    here, there = cls(**settings).fit(FAR, FEW), cls(**settings).fit(moved, FEW)
    np.testing.assert_allclose(there.decision_function(moved), here.decision_function(FAR), rtol=1e-6, atol=1e-6)
    assert here.step_size_ == pytest.approx(1e-6 * there.step_size_, rel=1e-6)


@each("C", [0.1, 1.0])
def test_with_the_weights_of_a_logistic_regression_it_is_one(C):
    few = FAR[:30] - 50.0
    peer = LogisticRegression(C=C, tol=1e-10).fit(few, FEW[:30])
    alone = {"tau_I": 0.0, "tau_S": 0.0, "lam": 1 / (2 * C * 30), "batch_size": None}
    model = PS3VT(**alone, n_iter=3000, tol=None, average=None, random_state=0).fit(few, FEW[:30])
    np.testing.assert_allclose(model.coef_ - model.coef_.mean(axis=0), peer.coef_, rtol=1e-4, atol=1e-5)
    found, expected = (own.intercept_ - own.intercept_.mean() for own in (model, peer))
    np.testing.assert_allclose(found, expected, atol=1e-3)


@each("n_classes", [2, 3])
@each("tau_I", [0.0, 1e-3])
def test_a_run_starts_where_the_objective_without_the_pull_is_smallest(n_classes, tau_I):
    problem = MultiClass(lam=0.02, tau_I=tau_I, tau_S=0.0, fit_intercept=True, loss="logistic")
    task = make_task(problem, FAR, np.minimum(FEW, n_classes - 1), 0)
    W = exact(task)
    lowest, rng = sum(task.terms(W).values()), np.random.default_rng(0)
    for size in (1e-3, 1e-1):
        assert min(sum(task.terms(W + size * rng.normal(size=W.shape)).values()) for _ in range(20)) > lowest
    assert np.abs(task.problem.gradient(W, task.X, task.y, task.M)).max() < 1e-4


def naive_factor(X, y, usual):
    """The rule once more, with a fit for each point that is left out."""
    K = len(np.unique(y))
    T = np.where(np.eye(K)[y] > 0, 1.0, -1.0)[:, 1 if K == 2 else 0 :]
    losses = {}
    for factor in RIDGE_FACTORS:
        ridge = Ridge(2 * usual * factor * K**2 / (K - 1))
        left = [ridge.fit(np.delete(X, i, 0), np.delete(T, i, 0)).predict(X[i : i + 1]) for i in range(len(y))]
        left = 3.0 * np.reshape(left, T.shape)
        chances = softmax(np.hstack([-left, left]) if K == 2 else left, axis=1)
        losses[factor] = -np.log(chances[np.arange(len(y)), y])
    best = min(RIDGE_FACTORS, key=lambda factor: losses[factor].mean())
    above = {f: losses[f] - losses[best] for f in RIDGE_FACTORS if min(1.0, best) <= f <= max(1.0, best)}
    close = [f for f, more in above.items() if f == best or more.mean() <= sem(more)]
    return min(close, key=lambda f: abs(np.log(f)))


@pytest.mark.weekly
def test_the_ridge_is_one_that_labels_which_were_left_out_ask_for():
    rng, chosen = np.random.default_rng(0), []
    for K, signal in ((3, 0.0), (3, 1.0), (3, 4.0), (2, 1.0)):
        y = np.arange(90) % K
        points = rng.normal(size=(90, 10)) + signal * np.eye(K, 10)[y]
        factor = left_out_factor(points, y, 0.5)
        assert factor == naive_factor(points, y, 0.5)
        assert left_out_factor(1e-3 * points + 7.0, y, 0.5e-6) == factor
        chosen.append(factor)
    assert chosen[0] > 1.0 > chosen[2]


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_features_that_are_too_many_to_be_held_give_the_same_model(loss, monkeypatch):
    model = PS3VT(feature_map="fourier", n_features=32, n_iter=60, loss=loss, random_state=0)
    held = model.fit(FAR, FEW).coef_
    monkeypatch.setattr(task_module, "MOST_FEATURES", 500)
    task = make_task(model.problem_, FAR, FEW, 0)
    assert isinstance(task.X, LazyFeatures)
    np.testing.assert_allclose(model.fit(FAR, FEW).coef_, held, rtol=1e-9, atol=1e-12)
    W = np.random.default_rng(0).normal(size=(*task.X.shape[1:], 3))
    whole = task.problem.terms(W, task.X[:], task.y, None)
    assert {name: task.terms(W)[name] for name in whole} == pytest.approx(whole)


def errors(load, scaler, model, peer):
    """Return both test errors, mean over two splits, with labels on 30 % of the training points."""
    (points, y), found = load(return_X_y=True), []
    for seed in range(2):
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
        labeled, _ = train_test_split(np.arange(len(train)), train_size=0.3, stratify=y[train], random_state=seed)
        Z = scaler().fit(points[train]).transform(points)
        few = np.full(len(train), -1)
        few[labeled] = y[train][labeled]
        ours, theirs = model(seed).fit(Z[train], few), peer().fit(Z[train][labeled], few[labeled])
        found.append([1 - m.score(Z[test], y[test]) for m in (ours, theirs)])
    return np.mean(found, axis=0)


@each("load, scaler", [*((load_iris, own) for own in (StandardScaler, MinMaxScaler)), (load_wine, MinMaxScaler),
                       (load_digits, StandardScaler)])  # fmt: skip
def test_default_arguments_are_as_good_as_a_logistic_regression(load, scaler):
    ours, theirs = errors(load, scaler, lambda s: PS3VT(random_state=s), LogisticRegression)
    # Two splits of 45 to 540 points each: as many again as the two points that are allowed.
    assert ours <= theirs + 0.04


@pytest.mark.weekly
@each("load", [load_iris, load_wine])
def test_default_arguments_on_fourier_features_are_as_good_as_svc(load):
    ours, theirs = errors(load, StandardScaler, lambda s: PS3VT(feature_map="fourier", random_state=s), SVC)
    assert ours <= theirs + 0.04


# Runs of specs


def small(**changes):
    """A quick spec; keywords go to the section that has them."""
    plain = Spec.from_dict({"setting": "multiclass"}).to_dict()
    plain["data"] |= {"n": 160, "n_labeled": 16}
    plain["solver"] |= {"n_iter": 20, "n_features": 24, "batch_size": 8}
    return changed(plain, **changes)


# The estimator's values for the same numbers as in `small`.
SAME = {"lam": 1e-6, "tau_S": 0.05, "batch_size": 8, "sigma": 30.0, "n_features": 24, "is_orthogonal": False}
SAME |= {"loss": "hinge", "tol": None, "random_state": 0}
AUTOMATIC = {"step_size": "auto", "average": "tail", "fit_intercept": True, "n_iter": 30}
SHORT = {"solver.n_iter": "20"}


@each("features", ["linear", "fourier"])
@each("is_full", [False, True])
def test_the_run_is_the_estimators(features, is_full):
    run = finished(small(feature_map=features, is_full_gradient=is_full, radius=5.0))
    own = {"tau_I": 1e-3, "step_size": 1.0, "radius": 5.0, "n_iter": 20, "average": None, "fit_intercept": False}
    own |= SAME | {"feature_map": features, "batch_size": None if is_full else 8}
    estimator = PS3VT(**own).fit(run.split.X_train.astype(np.float64), run.split.y_train)
    np.testing.assert_array_equal(run.model.W, estimator.coef_.T)
    assert not [name for name in run.history.names if name.endswith("_average")]  # none was asked for
    if features == "linear":
        assert "error_mean" not in run.history.names
        with pytest.raises(ValueError, match="no exact-kernel twin"):
            run.exact_values(run.split.X_test)


@pytest.mark.parametrize("features", ["linear", "fourier"])
def test_a_spec_can_ask_for_the_automatic_step_the_average_and_an_intercept(tmp_path, features):
    run = finished(small(**AUTOMATIC, feature_map=features, tau_I=0.0))
    estimator = PS3VT(**SAME, tau_I=0.0, radius=10.0, n_iter=30, feature_map=features)
    estimator.fit(run.split.X_train.astype(np.float64), run.split.y_train)
    assert run.engine.automatic_step == estimator.step_size_ == run.history.column("step_size")[0]
    W = run.result.W
    np.testing.assert_allclose(W[:-1], estimator.coef_.T, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(W[-1], estimator.intercept_, rtol=1e-10, atol=1e-14)
    values = run.result.evaluate(run.split.X_test)
    assert run.history.last()["score_average"] == run.problem.score(run.split.y_test, values)
    run.result.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").evaluate(run.split.X_test).tobytes() == values.tobytes()
    np.testing.assert_allclose(run.engine.average_at(30).W, W, rtol=1e-12)
    assert (run.engine.average_at(12).W == run.engine.model_at(12).W).all()


@each("changes", [{}, {"tau_I": 0.0}, {"is_full_gradient": True, "lam": 0.1}, AUTOMATIC])
def test_the_exact_twin_on_the_features_own_kernel_is_the_run_itself(changes, monkeypatch):
    monkeypatch.setattr(KernelTwin, "_kernel", lambda twin, Z: twin.features(Z) @ twin.features(twin.X).T)
    run = Run(small(**changes))
    run.advance(10)
    for name, value in (("tau_S", 0.2), ("lam", 0.05), ("tau_I", 0.002)):
        run.change(name, value)
    run.advance(5)
    np.testing.assert_allclose(run.engine.twin.values(), run.test_values[:256], atol=1e-10)
    np.testing.assert_allclose(run.exact_values(run.split.X_test[5:9]), run.test_values[5:9], atol=1e-10)
    assert "error_mean" in run.history.names


def test_large_samples_are_not_scored_whole(monkeypatch):
    whole = finished(small())
    monkeypatch.setattr("dsgcore.multiclass.engine.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    monkeypatch.setattr("dsgcore.multiclass.graph.MAX_KEPT_FEATURES", 10)
    run = finished(small())
    assert run.training_values is None
    assert "score_unlabeled" in set(whole.history.names) - set(run.history.names)
    np.testing.assert_array_equal(run.history.column("score_test"), whole.history.column("score_test"))


# The graph


def test_a_graph_is_made_once_for_the_same_points_and_neighbours_and_without_weight_on_it_none(monkeypatch):
    made, laplacian = [], graphs.laplacian

    def counted(X, *given, **more):
        made.append((len(X), given[0]))
        return laplacian(X, *given, **more)

    monkeypatch.setattr(graphs, "laplacian", counted)
    run = Run(small(tau_I=0.0))
    run.advance(5)
    assert made == []
    run.change("tau_I", 0.01)  # steered in later, it is the one of the start
    run.advance()
    assert made == [(112, 10)]
    assert run.history.column("term: graph")[4] == 0.0 < run.history.last()["term: graph"]
    assert (finished(run.spec).model.W == run.model.W).all()
    live = LiveRun(small(), LiveRun(small(step_size=0.5)))
    LiveRun(small(sigma=3.0), live)
    assert len(made) == 3  # the run again, then one for run, twin and the next runs
    LiveRun(small(n_neighbors=5), live)
    LiveRun(small(seed=1), live)  # other data
    assert len(made) == 5


def test_neighbours_found_piece_by_piece_are_those_found_at_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:40] = X[0]  # more twins than neighbours are listed
    whole, told = graphs.laplacian(X), []
    monkeypatch.setattr("dsgcore.multiclass.graph.ROWS_AT_A_TIME", 77)
    pieces = graphs.laplacian(X, report=told.append)
    np.testing.assert_array_equal(pieces.toarray() == 0, whole.toarray() == 0)
    np.testing.assert_allclose(pieces.toarray(), whole.toarray(), rtol=1e-12)
    assert told == [77 / 300, 154 / 300, 231 / 300, 1.0]


@pytest.mark.ci
@pytest.mark.parametrize("n", [200, 6000])
def test_the_default_weight_of_the_graph_overshot_on_many_points(n, tmp_path):
    # Four clusters in 30 dimensions, where the graph's pull grows with the number of points.
    y = np.arange(n) % 4
    np.savez(tmp_path / "points.npz", X=np.random.default_rng(0).normal(size=(n, 30)) + 3.0 * np.eye(30)[y], y=y)
    plain = Spec.from_dict({"setting": "multiclass"}).to_dict()
    plain["data"] = {"name": "file", "path": str(tmp_path / "points.npz"), "n_labeled": 40}
    run = finished(changed(plain, sigma=0.5, n_iter=40))
    row, largest = run.history.last(), np.linalg.eigvalsh(run.engine.task.M)[-1]
    assert row["tau_I"] == pytest.approx(min(1e-3, 0.1 / (row["step_size"] * largest)))
    assert run.history.column("term: graph").max() < 1.0  # 110, all that the ball allows, where it overshoots
    assert row["objective"] < 1.5


def test_left_open_the_weight_is_what_the_step_bears_at_most_a_thousandth_and_too_large_a_one_is_said():
    assert small().problem.tau_I is None
    assert finished(small()).model.W.tobytes() == finished(small(tau_I=1e-3)).model.W.tobytes()
    runs = (Run(small(step_size=step, feature_map="linear", n=10_000)) for step in (1000.0, 5000.0))
    weight, other = (run.engine.automatic_tau_I for run in runs)
    assert other == pytest.approx(weight / 5)
    engine = Run(small(tau_I=1e-3)).engine
    borne = engine.largest_step * 1e-3 / engine.step_at(1)
    assert "swing" in Run(small(tau_I=1.1 * borne)).engine.caution
    assert Run(small(tau_I=0.9 * borne)).engine.caution == Run(small()).engine.caution == ""


def test_the_weight_is_steered_from_auto_and_the_link_says_so():
    changes = {"problem.tau_I": "0.01", "changes": "0:tau_I=auto,4:tau_I=0.01"}
    app = open_page("multiclass", **SHORT, **changes, at="7")
    spec = run_of(app, "multiclass").spec
    assert spec.problem.tau_I is None
    assert [(change.t, change.value) for change in spec.changes] == [(4, 0.01)]
    assert app.warning == []
    app.session_state["mc_tau_I"] = None
    app.run()  # nothing can be found in the middle of a run: it begins again
    assert run_of(app, "multiclass").spec.changes == ()
    assert not app.exception


# A graph that takes long to make


@pytest.fixture
def waits_for_all(monkeypatch):
    monkeypatch.setattr("dsgcore.multiclass.engine.MIN_POINTS_TO_WAIT_FOR", 10)


def test_long_work_is_there_until_it_has_been_done_and_the_run_is_the_same(waits_for_all):
    spec, told = small(), []
    split = Run(small(tau_I=0.0)).split
    work = long_work(spec, split)
    work.keep(work.function(*work.arguments, report=told.append))
    assert long_work(spec, split) is None
    assert long_work(small(tau_I=0.0), split) is None
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert "neighbours of 112 points" in told[0][0]
    assert long_work(small(sigma=3.0), split).arguments[1] is not None  # the graph, with other features
    run = Run(spec, split)
    run.advance()
    assert run.model.W.tobytes() == finished(spec).model.W.tobytes()


def test_a_page_waits_for_the_graph_of_a_large_set_which_can_be_cancelled_and_is_given_up_for_other_data(
    waits_for_all, jobs_here
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JobQueue, "submit", lambda *_, **__: Job())  # preparations wait until they are cancelled
        app = open_page("multiclass", **SHORT, at="7")
        bench = bench_of(app, "multiclass")
        first = bench.jobs.preparation.job
        assert bench.live is None
        assert len(app.get("progress")) == 1
    app.button(key="preparing-cancel").click().run()
    app.run()
    assert any("cancelled" in warning.value for warning in app.warning)
    app = click_like_a_browser(app, "try-again")
    assert first.state is JobState.CANCELLED
    assert app.selectbox(key="mc_data"), "the whole page is drawn again, and ticks"
    assert run_of(app, "multiclass").t == 7
    app.selectbox(key="mc_data").select("Blobs").run()
    assert bench.jobs.preparation is None
    assert run_of(app, "multiclass").spec.data.name == "blobs"
    assert run_of(app, "multiclass").engine.task.M is not None
    assert not app.exception

"""A run of PS3VT: what it records besides what every run does."""

from contextlib import contextmanager

import numpy as np
import pytest
from cases import each
from small_specs import changed, finished

from dsgcore import Run, Spec, load_model
from dsgcore.estimators.ps3vt import PS3VT
from dsgcore.experiments import LiveRun, StopReason, theory_of
from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.graph_cache import ScoredPoints
from dsgcore.multiclass.twin import KernelTwin


def small(**changes):
    """A quick spec; keywords go to the section that has them."""
    plain = Spec.from_dict({"setting": "multiclass"}).to_dict()
    plain["data"] |= {"n": 160, "n_labeled": 16}
    plain["solver"] |= {"n_iter": 20, "n_features": 24, "batch_size": 8}
    return changed(plain, **changes)


@each("features", ["linear", "fourier"])
@each("variant", ["paper", "released"])
@each("is_full", [False, True])
def test_the_run_is_the_estimators(features, variant, is_full):
    run = finished(small(features=features, variant=variant, is_full_gradient=is_full, radius=5.0))
    estimator = PS3VT(
        lam=1e-6,
        tau_I=1e-3,
        tau_S=0.05,
        step_size=1.0,
        radius=5.0,
        batch_size=None if is_full else 8,
        n_iter=20,
        variant=variant,
        features=features,
        sigma=30.0,
        n_features=24,
        is_orthogonal=False,
        fit_intercept=False,
        loss="hinge",
        average=None,
        tol=None,
        random_state=0,
    ).fit(run.split.X_train.astype(np.float64), run.split.y_train)
    np.testing.assert_array_equal(run.model.W, estimator.coef_.T)


def test_singular_values_are_those_of_the_weights():
    run = finished(small())
    values = np.linalg.svd(run.model.W, compute_uv=False)
    row = run.history.last()
    recorded = [row[f"singular value {i}"] for i in range(1, 5)]
    np.testing.assert_allclose(recorded, values, atol=1e-12)
    assert row["tail_sum"] == pytest.approx(values[2:].sum(), abs=1e-12)
    assert row["rank"] == 3  # the weights sum to zero over the four classes
    assert finished(small(tau_S=10.0)).history.last()["rank"] == 2


def test_the_twin_is_linear_mc_and_ignores_what_is_steered_of_graph_and_tail():
    live = LiveRun(small())
    live.advance(5)
    live.steer({"tau_I": 0.01, "tau_S": 0.5, "step_size": 0.5})
    live.advance()
    assert {change.name for change in live.run.spec.changes} == {"tau_I", "tau_S", "step_size"}
    assert {change.name for change in live.supervised.spec.changes} == {"step_size"}
    assert (live.supervised.history.column("tau_I") == 0).all()
    assert (live.supervised.history.column("term: graph") == 0).all()
    alone = finished(live.run.spec.baseline())
    assert (alone.history.column("objective") == live.supervised.history.column("objective")).all()


def test_a_graph_that_is_steered_in_later_is_the_one_of_the_start():
    run = Run(small(tau_I=0.0))
    run.advance(5)
    run.change("tau_I", 0.01)
    run.advance()
    assert run.history.column("term: graph")[4] == 0.0 < run.history.last()["term: graph"]
    assert (finished(run.spec).model.W == run.model.W).all()


AUTOMATIC = {"step_size": "auto", "average": "tail", "fit_intercept": True, "n_iter": 30}


@each("changes", [{}, {"tau_I": 0.0}, {"variant": "released"}, {"is_full_gradient": True, "lam": 0.1}, AUTOMATIC])
def test_the_exact_twin_on_the_features_own_kernel_is_the_run_itself(changes, monkeypatch):
    monkeypatch.setattr(KernelTwin, "_kernel", lambda twin, Z: twin.features(Z) @ twin.features(twin.X).T)
    run = Run(small(**changes))
    run.advance(10)
    run.change("tau_S", 0.2)
    run.change("lam", 0.05)
    run.change("tau_I", 0.002)
    run.advance(5)
    np.testing.assert_allclose(run.engine.twin.values(), run.test_values[:256], atol=1e-10)
    np.testing.assert_allclose(run.exact_values(run.split.X_test[5:9]), run.test_values[5:9], atol=1e-10)
    assert "error_mean" in run.history.names


def test_scores_of_a_point_set_have_one_blas_thread(monkeypatch):
    # The number of threads itself can be another test's, whose work goes on in the background.
    run, inside = Run(small()), []

    @contextmanager
    def limited():
        inside.append(True)
        yield
        inside.clear()

    class Features:
        def __matmul__(self, W):
            assert inside == [True]
            return np.zeros((len(run.split.X_train), W.shape[1]))

    points = ScoredPoints(run.split.X_train.astype(float), run.engine.task.features)
    points.phi = Features()
    monkeypatch.setattr("dsgcore.multiclass.graph_cache.single_threaded_blas", limited)
    assert points.scores(np.zeros((48, 3))).shape == (len(run.split.X_train), 3)
    assert not inside


def test_linear_features_have_no_exact_twin():
    run = finished(small(features="linear"))
    assert "error_mean" not in run.history.names
    with pytest.raises(ValueError, match="no exact-kernel twin"):
        run.exact_values(run.split.X_test)


def test_links_are_those_of_the_graph():
    run = Run(small())
    links, every = run.engine.links(50), run.engine.links(10**6)
    assert 0 < len(links) <= 50 < len(every)
    assert (every[:, 0] < every[:, 1]).all()
    X = run.split.X_train
    far = np.linalg.norm(X[:, None] - X, axis=2)
    reach = np.sort(far, axis=1)[:, 10]
    length = np.linalg.norm(X[every[:, 0]] - X[every[:, 1]], axis=1)
    assert (length <= np.maximum(reach[every[:, 0]], reach[every[:, 1]]) + 1e-6).all()


def test_large_samples_are_not_scored_whole(monkeypatch):
    monkeypatch.setattr("dsgcore.multiclass.weight_history.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    monkeypatch.setattr("dsgcore.multiclass.graph_cache.MAX_KEPT_FEATURES", 10)
    run, whole = finished(small()), None
    assert run.training_values is None
    assert "score_unlabeled" not in run.history.names
    monkeypatch.undo()
    whole = finished(small())
    assert "score_unlabeled" in whole.history.names
    np.testing.assert_array_equal(run.history.column("score_test"), whole.history.column("score_test"))


def test_a_run_whose_numbers_overflow_stops_at_its_last_good_state():
    run = finished(small(features="linear", radius=1e6, step_size=1e6, tau_I=1e3, lam=1e3, n_iter=200))
    assert run.stop_reason in (StopReason.FINISHED, StopReason.DIVERGED)
    assert np.isfinite(run.model.W).all()
    assert np.isfinite(run.history.column("objective")).all()


@each(
    "variant, lam, radius, said",
    [
        ("released", 0.04, None, "(here: 5)"),
        ("released", 1.0, None, "(here: 1)"),
        ("released", 0.0, None, "(here: inf)"),
        ("paper", 0.04, None, "(here: 1)"),
        ("released", 0.04, 2.0, "(here: 2)"),
    ],
)
def test_the_theory_says_how_large_the_weights_may_be(variant, lam, radius, said):
    assumption = theory_of(small(variant=variant, lam=lam, radius=radius)).assumptions[2]
    assert assumption.sentence.endswith(f"in the ball of radius 1 {said}.")
    assert assumption.holds == (said == "(here: 1)")


@pytest.mark.parametrize("features", ["linear", "fourier"])
def test_a_spec_can_ask_for_the_automatic_step_the_average_and_an_intercept(tmp_path, features):
    run = finished(small(**AUTOMATIC, features=features, tau_I=0.0))
    estimator = PS3VT(
        lam=1e-6,
        tau_I=0.0,
        tau_S=0.05,
        radius=10.0,
        batch_size=8,
        n_iter=30,
        tol=None,
        loss="hinge",
        features=features,
        sigma=30.0,
        n_features=24,
        random_state=0,
        is_orthogonal=False,
    ).fit(run.split.X_train.astype(np.float64), run.split.y_train)
    assert run.engine.automatic_step == estimator.step_size_ == run.history.column("step_size")[0]
    W = run.result.W
    np.testing.assert_allclose(W[:-1], estimator.coef_.T, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(W[-1], estimator.intercept_, rtol=1e-10, atol=1e-14)
    score = run.problem.score(run.split.y_test, run.result.evaluate(run.split.X_test))
    assert run.history.last()["score_average"] == score
    run.result.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert again.evaluate(run.split.X_test).tobytes() == run.result.evaluate(run.split.X_test).tobytes()


def test_the_average_is_the_same_after_a_longer_end_and_from_an_earlier_iteration():
    whole, run = finished(small(**AUTOMATIC)), Run(small(**(AUTOMATIC | {"n_iter": 24})))
    run.advance()
    run.engine.extend(whole.spec)
    assert (run.engine.average_at(20).W == whole.engine.average_at(20).W).all()
    while run.engine.advance():
        pass
    np.testing.assert_allclose(run.engine.average, whole.engine.average, rtol=1e-12)
    np.testing.assert_allclose(whole.engine.average_at(30).W, whole.result.W, rtol=1e-12)
    assert (whole.engine.average_at(12).W == whole.engine.model_at(12).W).all()


def test_without_being_asked_for_there_is_no_average():
    history = finished(small()).history
    assert not [name for name in history.names if name.endswith("_average")]


def test_scores_of_the_same_weights_are_computed_once_and_others_anew():
    points = ScoredPoints(np.random.default_rng(0).normal(size=(9, 3)), FixedFeatures("linear", 1.0, 1, 0))
    W, other = np.ones((3, 2)), np.ones((3, 2))
    first = points.scores(W)
    assert points.scores(W) is first
    assert points.scores(other) is not first
    np.testing.assert_array_equal(points.scores(2.0 * W), 2.0 * first)
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0


@each("features", ["linear", "fourier"])
def test_classes_without_a_label_have_scores_too(features):
    for seed in range(4):
        plain = small(features=features, seed=seed, n_iter=4).to_dict()
        plain["data"] = {"name": "ten_digits", "n_labeled": 12, "stratified": False}
        live = LiveRun(Spec.from_dict(plain))
        live.advance()
        n_labeled = len(set(live.run.split.y_train.tolist()) - {-1})
        assert n_labeled < 10 == live.run.model.W.shape[1] == live.run.test_values.shape[1]
        assert np.isfinite(live.run.test_values).all()
        assert 0.0 <= live.run.history.last()["score_test"] <= 1.0

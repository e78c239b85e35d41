"""Convergence as the theorems promise it, the page that asks for it, and the assumptions."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each, some
from naive_problems import quadratic
from opened_pages import checked, open_page
from small_specs import finished, small

from dsgcore import Spec
from dsgcore.diagnostics import convergence, fitted, four_runs
from dsgcore.diagnostics.convergence import Convergence, Slope, recorded, reference_of
from dsgcore.experiments import (
    SETTINGS,
    StopReason,
    breaches,
    broken_by,
    default_spec,
    kept_to,
    load_split,
    remedies,
    theory_of,
)
from dsgcore.settings import profile_of
from dsgcore.solver.task import SCHEDULES, Change
from pages.studies.examples import example_of_ways
from pages.studies.trajectory_asking import WITH_A_WAY
from pages.studies.trajectory_showing import answers

STOCHASTIC = [name for name, setting in SETTINGS.items() if setting.engine == "stochastic"]
CONVEX = ["auc", "ordinal"]


def shown(setting, **solver):
    """The theorem's own schedule on the setting's bundled data, with few points."""
    plain = default_spec(setting).to_dict()
    plain["data"] |= {"n": 600 if setting == "similar_unlabeled" else 200}  # with few pairs its correction keeps it off
    for name, value in (profile_of(SETTINGS[setting]).theorem.shown_with | {"step_size": 1.0} | solver).items():
        plain["problem" if name in plain["problem"] else "solver"][name] = value
    return kept_to(Spec.from_dict(plain))


@pytest.mark.weekly
@pytest.mark.parametrize("setting", CONVEX)
def test_with_the_theorems_steps_squared_distances_fall_as_one_over_t(setting):
    found = convergence(shown(setting, n_iter=800), 6)
    assert found.n_diverged == 0
    for name in ("distance", "error", "norm"):
        slope = found.slope(name)
        assert slope.value == pytest.approx(-1.0, abs=max(0.3, 3 * slope.error)), name
        assert slope.keeps(theory_of(found.spec).rates[name].slope - 0.15), name
    for name in ("error", "distance"):
        assert found.bounds(name)
        assert all(np.all(bound > found.mean(name)) for bound in found.bounds(name).values())


@pytest.mark.weekly
@pytest.mark.parametrize(
    ("setting", "name"), [("s3vm", "gradient_mean"), ("s3vm", "error"), ("similar_unlabeled", "gradient_mean")]
)
def test_with_the_theorems_steps_longer_runs_end_as_much_nearer_as_promised(setting, name):
    rate = theory_of(shown(setting)).rates[name]
    assert rate.of == "T"
    step, lengths = profile_of(SETTINGS[setting]).theorem.shown_with["step_size"], (50, 100, 200, 400)
    ends = [convergence(shown(setting, n_iter=T, step_size=step), 4).columns[name][:, -1] for T in lengths]
    slope = fitted(np.array(lengths, dtype=float), np.array(ends).T)
    assert slope.keeps(rate.slope)
    if name == "gradient_mean":  # not much faster either; the other bound is not sharp
        assert slope.value > rate.slope - 0.3


def test_each_assumption_that_is_broken_does_what_is_said_of_it():
    spec = shown("auc", n_iter=400)
    kept = convergence(spec, 3)
    found = {breach.name: convergence(broken_by(spec, breach), 3) for breach in breaches(spec)}
    assert len(found) == 5
    constant = found["constant step"]
    assert abs(constant.slope("distance").value) < 0.4
    assert constant.slope("average").value < -0.6
    assert found["θλ = 0.1"].slope("distance").value == pytest.approx(-0.2, abs=0.1)
    assert not np.isfinite(found["unbounded features"].bounds("error")["the paper's bound"][-1])
    assert kept.slope("error").value < -0.7
    assert found["fixed features"].slope("error").value > -0.3
    changed, half = found["step × 10 at half time"], 200
    before = np.flatnonzero(changed.t <= half)
    assert np.array_equal(changed.columns["error"][:, before], kept.columns["error"][:, before])
    assert changed.mean("error")[-1] > 2 * kept.mean("error")[-1]


@pytest.mark.weekly
def test_a_step_that_the_length_does_not_shrink_leaves_long_runs_where_short_ones_are():
    breach = breaches(shown("s3vm", step_size=5.0))[0]
    broken = (broken_by(shown("s3vm", n_iter=T, step_size=5.0), breach) for T in (300, 900))
    short, long = (convergence(spec, 3).mean("gradient_mean")[-1] for spec in broken)
    assert long > 0.9 * short  # promised: 0.76


@pytest.mark.ci
def test_what_a_biased_gradient_does_is_what_is_said_of_it():
    """Compare the gradient's mean after runs four times as long, without the bias and with it."""

    def biased(kept):
        (breach,) = (a.breach for a in theory_of(kept).assumptions if "gradient of a mini-batch" in a.sentence)
        return broken_by(kept, breach)

    def shrunk(spec):
        spec = replace(spec, data=replace(spec.data, n=250))
        long, short = (replace(spec, solver=replace(spec.solver, n_iter=n)) for n in (400, 100))
        return np.divide(*(convergence(one, 4).mean("gradient_mean")[-1] for one in (long, short)))

    kept = shown("s3vm", step_size=5.0)
    assert shrunk(biased(kept)) < shrunk(kept) + 0.05
    corrected = biased(shown("similar_unlabeled", step_size=5.0))
    assert shrunk(corrected) > 0.85
    assert shrunk(replace(corrected, problem=replace(corrected.problem, correction="identity"))) < 0.75


def printed(found):
    """Return the bound as the paper of the setting prints it, for κ = φ = 1 and M the largest measured sum of |c_b|.

    QSG-S2AUC and QS3ORAO: Theorem 1, (2 C² + 2 κ Q₁²) / t. TSGS3VM: Theorem 1, D / √T. TSGSU: Lemma 1.
    """
    theta, lam, M = found.spec.solver.step_size, found.spec.solver.lam, found.mean("largest_weight")[-1]
    if found.spec.problem.name in ("s3vm", "similar_unlabeled"):
        return theta**2 * M**2 * (np.sqrt(1.0) + np.sqrt(1.0)) ** 2
    gamma, each_L = found.spec.problem.gamma, 2.0  # the derivatives of (1 - u + v)² change twice as fast as u or v
    L = gamma * (2 * each_L) + (1 - gamma) * (4 * each_L)
    Q0 = np.sqrt(2) * (1 + 1) * L * M * theta**2
    root = np.sqrt(Q0**2 + (2 * theta * lam - 1) * (1 + theta * lam) ** 2 * theta**2 * M**2)
    Q1 = max(np.sqrt(found.columns["f_star_norm"][0, -1]), (Q0 + root) / (2 * theta * lam - 1))
    return 2 * (1 + 1) ** 2 * M**2 * theta**2 + 2 * Q1**2


@each("setting", [*CONVEX, "s3vm", "similar_unlabeled"])  # the papers that print its constants
def test_the_drawn_bound_is_the_printed_one_and_never_below_the_mean(setting):
    found = convergence(shown(setting, n_iter=100), 3)
    bound = found.theorem_bound()
    assert bound.value / printed(found) == pytest.approx(1.0, rel=1e-9)
    x = found.t if bound.rate.of == "t" else np.full(len(found.t), 100.0)
    drawn = found.bounds(bound.of)["the theorem's bound"]
    assert drawn == pytest.approx(bound.value * x**bound.rate.slope)  # which the page writes for the last iteration
    assert np.all(drawn > found.mean(bound.of))
    names = {"κ", "φ", "M", "θ"}
    assert set(bound.ingredients) == (names | {"C²", "Q₁", "Q₀", "L", "λ", "‖f*‖"} if setting in CONVEX else names)
    # The curve has the sum of squares itself, for which the two papers with constant steps print an upper bound.
    curve = found.bounds("error")["the paper's bound"][-1] / (2 * found.mean("largest_weight")[-1]) ** 2
    theta, T = found.spec.solver.step_size, 100
    most = {"s3vm": theta**2 / T**0.5, "similar_unlabeled": theta**2}.get(setting, theta**2 / T)
    assert 0.1 * most < curve <= most * (1 + 1e-9)


@each("setting", CONVEX)
@each("gamma", [0.3, 1.0])
def test_the_printed_L_is_half_of_what_the_proof_needs_and_bounds_the_curvature(setting, gamma):
    spec = shown(setting, gamma=gamma)
    split, L = load_split(spec), 4 * gamma + 8 * (1 - gamma)
    whole = reference_of(spec, split).whole
    Q, _ = quadratic(whole.problem, whole.rows, len(whole.K))
    assert np.abs(np.diag(Q)).sum() == pytest.approx(L, rel=1e-6)  # each derivative with its own value, as printed
    assert np.abs(Q).sum() == pytest.approx(2 * L, rel=1e-6)  # and with both values of a pair
    assert convergence(spec, 1).theorem_bound().ingredients["L"] == L
    K = spec.kernel.matrix(*[split.X_train.astype(float)] * 2)
    assert np.abs(np.linalg.eigvals(Q @ K)).max() <= L


@each("setting", STOCHASTIC)
def test_no_run_that_diverges_holds_all_assumptions(setting):
    """Steps from harmless to absurd, with weak and strong ridges: what holds ends, and what diverges does not hold."""
    ended = set[tuple[bool, bool]]()
    for lam in some((0.05, 1e-3, 1.0, 100.0), 2, 4):
        for theta in (0.5, 20.0, 400.0, 3000.0) if setting not in CONVEX else np.array([1.5, 20.0, 100.0]) / lam:
            spec = shown(setting, n_iter=200, lam=lam)
            spec = replace(spec, solver=replace(spec.solver, step_size=float(theta), lam=lam))
            run = finished(spec)
            ended.add((theory_of(spec).holds, run.stop_reason is StopReason.DIVERGED))
            assert theory_of(kept_to(spec)).holds
    assert (True, True) not in ended
    assert {(True, False), (False, True)} <= ended


@pytest.mark.parametrize("setting", STOCHASTIC)
def test_a_way_is_the_runs_own_with_the_distances_of_the_four_runs(setting):
    spec = small(setting)
    found, run = convergence(spec, 1), finished(spec)
    assert found.t[-1] == run.t
    assert found.columns["bound"][0, -1] == run.history.last()["bound"]
    h = run.engine.task.kernel.matrix(run.split.X_train, run.split.X_train) @ run.engine.dual.values
    assert found.columns["error"][0, -1] == pytest.approx(np.mean((run.training_values - h) ** 2), rel=1e-3)
    if "distance" in found.quantities:
        found, (four,) = convergence(spec, [3]), four_runs(spec, [3])
        assert four.is_exact
        last = [found.columns[name][0, -1] for name in ("distance", "error", "scale")]
        assert last == pytest.approx([four.together[-1], four.error[-1], four.scale])


def test_the_average_is_that_of_the_second_half_and_the_gradients_mean_is_that_before_every_step():
    spec = small("auc", solver={"average": "tail"})
    run, found = finished(spec), convergence(spec, 1)
    assert "gradient" not in found.quantities
    reference = reference_of(run.spec, run.split)
    squares = np.mean((run.engine._training.average - reference.K @ reference.optimum) ** 2)
    assert found.columns["average"][0, -1] == pytest.approx(squares, rel=1e-4)
    found = convergence(kept_to(small("similar_unlabeled")), 1)  # though there is an optimum
    assert set(found.quantities) == {"distance", "average", "error", "norm", "gradient", "gradient_mean"}
    found = convergence(small("s3vm"), 1)
    assert set(found.quantities) == {"error", "gradient", "gradient_mean"}
    t, gradients, means = found.t, found.columns["gradient"][0], found.columns["gradient_mean"][0]
    every = t == np.arange(1, len(t) + 1)  # the first ones are all there
    assert every.sum() > 3
    assert means[every] == pytest.approx(np.cumsum(gradients[every]) / t[every])


def test_of_seeds_that_end_earlier_the_last_iterations_are_missing():
    ways = {seed: {"t": np.arange(1.0, n + 1), "error": np.arange(1.0, n + 1)} for seed, n in ((4, 2), (7, 3))}
    found = Convergence.of(small("auc"), ways)
    np.testing.assert_array_equal(found.columns["error"], [[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]])
    assert (found.t.tolist(), found.seeds) == ([1.0, 2.0, 3.0], (4, 7))


def test_runs_that_diverge_are_counted_and_end_there():
    found = convergence(small("auc", solver={"step_size": 100.0, "n_iter": 300}), 2)
    assert found.n_diverged == 2
    assert found.t[-1] < 300
    assert np.isfinite(found.columns["error"]).any()


def test_slopes_have_the_error_of_resampling_the_seeds_and_keep_promises_as_far_as_it_and_a_fifth_tell():
    t, rng = np.geomspace(1, 1000, 61), np.random.default_rng(0)
    values = t**-0.5 * np.exp(rng.normal(size=(20, 1)) * 0.1 * np.log(t))
    slope = fitted(t, values)
    assert slope.value == pytest.approx(-0.5, abs=3 * slope.error)
    assert 0.01 < slope.error < 0.05
    assert np.isnan(fitted(t, values[:1]).error)
    kept = [(-1.46, 0.17, -1.0), (-0.83, 0.02, -1.0), (-0.75, 0.15, -1.0), (-0.23, 0.01, -0.25), (-0.23, np.nan, -0.25)]
    broken = [(-0.75, 0.02, -1.0), (-0.11, 0.03, -0.25)]
    assert [Slope(value, error).keeps(promised) for value, error, promised in kept + broken] == [True] * 5 + [False] * 2
    t = recorded(1000)
    assert (t[0], t[-1]) == (1, 1000)
    assert np.diff(np.log10(t))[-20:] == pytest.approx(0.05, abs=0.01)
    assert recorded(1).tolist() == [1]


# --- the page


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("setting", WITH_A_WAY)
def test_every_setting_begins_with_runs_that_keep_to_its_theorem_and_has_an_example_that_the_theorem_describes(setting):
    app = checked(open_page("convergence", setting=profile_of(SETTINGS[setting]).short))
    asked = app.session_state["_exploring_ways"]
    study, rates = asked.made.study, theory_of(asked.made.study.spec).rates.values()
    assert all(theory_of(spec).holds for spec in study.specs)
    # A rate of the run's length is seen by runs of several lengths.
    assert len({spec.solver.n_iter for spec in study.specs}) == (5 if any(r.of == "T" for r in rates) else 1)
    assert asked.price.seconds < 600
    assert app.button(key="ways-start")
    assert any(info.value.startswith("**Example:** ") for info in app.info)
    *_, described = answers(*(example := example_of_ways(default_spec(setting))))
    assert all(theory_of(one.case.spec).holds for one in example[1])
    assert described.startswith("**The theorem describes it**")


# --- assumptions of a theorem: one click meets them, and the run that follows goes well


def with_values(setting, **sections):
    plain = default_spec(setting).to_dict()
    return Spec.from_dict(plain | {name: plain[name] | values for name, values in sections.items()})


@each("setting", SETTINGS)
@each("lam", [1e-6, 0.01, 0.7, 5.0])
@each("schedule", ["constant", "theta/t", "theta/sqrt(T)"])
@each("step", [{}, {"step_size": None}])  # one that is not known yet
def test_all_assumptions_can_be_made_to_hold_and_what_was_changed_on_the_way_is_forgotten(setting, lam, schedule, step):
    spec = with_values(setting, solver={"lam": lam, "schedule": schedule, **step})
    assert all(assumption.sentence for assumption in theory_of(spec).assumptions)
    kept = kept_to(spec)
    assert theory_of(kept).holds
    assert remedies(kept) == {}
    assert kept_to(kept) == kept
    changed = kept.with_change(Change(5, "lam", 0.3))
    assert not theory_of(changed).holds
    assert theory_of(kept_to(changed)).holds


def test_the_step_stays_what_it_was_under_another_name_if_the_theorem_allows_it():
    for setting in ("s3vm", "similar_unlabeled"):
        after = kept_to(with_values(setting, solver={"step_size": 0.03})).solver
        assert SCHEDULES[after.schedule](after.step_size, 1, after.n_iter) == pytest.approx(0.03, rel=0.005)
    spec = with_values("auc", solver={"step_size": 3.0, "lam": 0.5})  # one for another schedule is replaced with it
    assert kept_to(spec).solver == replace(spec.solver, schedule="theta/t", step_size=3.0)


@pytest.mark.ci
@each("setting", SETTINGS)
def test_a_run_that_keeps_to_the_theorem_goes_well(setting):
    run = finished(kept_to(default_spec(setting)))
    assert run.stop_reason is StopReason.FINISHED
    objectives = run.history.column("objective")
    assert objectives[-1] < run.start_objective
    assert np.isfinite(objectives).all()


@each(
    "schedule, setting, largest",
    [("theta/sqrt(T)", "similar_unlabeled", lambda T: 1.0), ("theta/T^(3/4)", "s3vm", lambda T: T**0.75)],
)
@each("T", [1, 200, 5000])
def test_the_largest_theta_is_the_papers_and_meeting_the_assumptions_keeps_to_it(schedule, setting, largest, T):
    for theta in (None, 0.5 * largest(T), 1.001 * largest(T), 400.0, 3000.0):
        spec = with_values(setting, solver={"schedule": schedule, "step_size": theta, "n_iter": T, "lam": 1.0})
        (limit,) = (a for a in theory_of(spec).assumptions if a.sentence.startswith("θ is at most"))
        assert limit.holds == (theta is not None and theta <= largest(T))
        kept = kept_to(spec).solver
        assert 0 < kept.step_size <= largest(T)
        assert not limit.holds or kept.step_size == pytest.approx(theta, rel=0.005)

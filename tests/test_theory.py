"""Assumptions of a theorem: one click meets them, and the run that follows goes well."""

import re
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from live_page import figure
from opened_pages import OF_EACH_ENGINE, bench_of, checked, open_auc, open_page, run_of
from small_specs import finished as at_its_end
from small_specs import small

from dsgcore import Spec
from dsgcore.experiments import SETTINGS, StopReason, as_in_paper, default_spec, kept_to, remedies, theory_of
from dsgcore.glossary import meaning
from dsgcore.problems.as_in_paper import AS_IN_PAPER
from dsgcore.settings import profile_of
from dsgcore.solver.task import SCHEDULES, Change


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


@each("setting", SETTINGS)
def test_a_statement_has_the_bound_that_its_chart_names_and_each_assumption_its_place_in_the_paper(setting):
    said = theory_of(default_spec(setting))
    bound = profile_of(SETTINGS[setting]).theorem.bound
    assert f"{bound}" in said.statement
    assert not bound or meaning(f"paper's bound ({bound})")
    own = {"Nothing was changed during the run.", "The algorithm is the printed one."}
    for sentence in (a.sentence for a in said.assumptions if a.sentence not in own and setting in AS_IN_PAPER):
        place = r"(Assumption|Lemma|Theorem|Algorithm|Section)s? \d|\(\d+\) and|unbiased.*\. \(6\)\."
        assert re.search(place, sentence), sentence


@each("setting", ["auc", "ordinal", "s3vm", "similar_unlabeled"])
def test_what_cannot_be_made_to_hold_says_why(setting):
    plain = default_spec(setting).to_dict() | {"kernel": {"name": "dot_product"}}
    (left,) = [a for a in theory_of(kept_to(Spec.from_dict(plain))).assumptions if not a.holds]
    assert "Choose a kernel with bounded features" in left.why_not


def test_the_step_stays_what_it_was_under_another_name_if_the_theorem_allows_it():
    for setting in ("s3vm", "similar_unlabeled"):
        after = kept_to(with_values(setting, solver={"step_size": 0.03})).solver
        assert SCHEDULES[after.schedule](after.step_size, 1, after.n_iter) == pytest.approx(0.03, rel=0.005)
    spec = with_values("auc", solver={"step_size": 3.0, "lam": 0.5})  # one for another schedule is replaced with it
    assert kept_to(spec).solver == replace(spec.solver, schedule="theta/t", step_size=3.0)


@pytest.mark.ci
@each("setting", SETTINGS)
def test_a_run_that_keeps_to_the_theorem_goes_well(setting):
    run = at_its_end(kept_to(default_spec(setting)))
    assert run.stop_reason is StopReason.FINISHED
    objectives = run.history.column("objective")
    assert objectives[-1] < run.start_objective
    assert np.isfinite(objectives).all()


@each("kernel", ["gaussian", "orthogonal_gaussian"])
def test_no_theorem_assumes_that_features_of_an_iteration_are_independent(kernel):
    kept = kept_to(with_values("auc", kernel={"name": kernel}))
    assert kept.kernel.name == kernel
    assert theory_of(kept).holds


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


@each(
    "loss, correction, is_smooth",
    [
        ("squared", "identity", True),
        ("logistic", "identity", True),
        ("double hinge", "identity", False),
        ("squared", "absolute value", False),
        ("double hinge", "ReLU", False),
    ],
)
def test_a_gradient_that_jumps_at_a_kink_is_not_lipschitz_as_tsgsus_theorem_assumes(loss, correction, is_smooth):
    spec = with_values("similar_unlabeled", problem={"loss": loss, "correction": correction})
    (smooth,) = (a for a in theory_of(spec).assumptions if "is Lipschitz" in a.sentence)
    assert (smooth.holds, smooth.sentence.endswith("Assumption 5.")) == (is_smooth, True)
    assert theory_of(kept_to(spec)).holds
    assert kept_to(spec).problem.loss == (loss if loss != "double hinge" else "squared")


@each("product", range(1, 9))
def test_the_weight_of_an_earlier_step_is_at_most_theta_over_t_from_t_equal_to_a_whole_theta_lam_on(product):
    def largest(t):
        return max(np.prod([abs(1 - product / j) for j in range(i + 1, t + 1)]) / i for i in range(1, t + 1))

    holds = [largest(t) <= (1 + 1e-12) / t for t in range(1, 40)]
    assert all(holds[product - 1 :])
    assert all(holds) == (product < 4)


# --- on the tab Theory


@each("variant", ["softmax", "preconditioned softmax"])
def test_a_variant_that_is_another_method_has_no_theorem_no_values_and_no_parts_of_the_objective_of_the_paper(variant):
    spec = small("multiclass", problem={"variant": variant})
    assert (theory_of(spec).assumptions, as_in_paper(spec, 700)) == ((), spec)
    parts = [name for name in at_its_end(spec).history.names if name.startswith("term: ")]
    assert parts == ["term: logistic", "term: ridge"]
    app = open_page("multiclass", at="2", **{"problem.variant": variant})
    assert "tail" not in figure(app, "chart-spectrum")["layout"]["meta"]["note"]
    assert "PS3VT" not in captions(app) + " ".join(text.value for text in app.markdown)
    assert not {"keep-to", "as-in-paper"} & {button.key for button in app.button}


def test_a_computed_value_has_four_digits_beside_the_one_that_meets_the_assumptions():
    assert "Regularisation: 0.01316 → 0.2" in captions(open_page("auc", **{"solver.lam": "0.013157894736842105"}))


@pytest.mark.parametrize("setting", OF_EACH_ENGINE)
def test_one_click_makes_the_assumptions_hold_and_another_sets_the_values_of_the_papers_experiments(setting):
    app = open_page(setting)
    before, n = run_of(app, setting).spec, len(run_of(app, setting).split.X_train)
    assert not theory_of(before).holds
    app = checked(app.button(key="keep-to").click().run())
    assert run_of(app, setting).spec == kept_to(before)
    assert "keep-to" not in [button.key for button in app.button]
    app = checked(open_page(setting).button(key="as-in-paper").click().run())
    after, expected = run_of(app, setting).spec, as_in_paper(before, n)
    assert replace(after.solver, dtype=expected.solver.dtype) == expected.solver
    assert (after.problem, after.kernel) == (expected.problem, expected.kernel)
    assert "as-in-paper" not in [button.key for button in app.button]
    assert AS_IN_PAPER[setting].says in captions(app)


def captions(app):
    return " ".join(caption.value for caption in checked(app).caption)


def finished(app):
    """Draw the page until its run is at its end, as its ticks do; return the run."""
    for _ in range(100):
        live, is_at_its_end = bench_of(app).live, bench_of(app).live.is_finished
        app.run()
        if is_at_its_end:
            return live
    raise AssertionError("the run has not come to its end")


def test_what_one_click_sets_and_can_cost_is_said_before_and_what_it_has_cost_afterwards():
    app = open_auc(**{"view.speed": "instant", "solver.n_iter": "64"})
    assert "Regularisation: 0.001 → 0.2" in captions(app)
    assert "The test score can fall" in captions(app)
    before = finished(app).run.history.last()["score_test"]
    live = finished(app.button(key="keep-to").click().run())
    assert f"{before:.3f}" != f"{live.run.history.last()['score_test']:.3f}"
    assert f"Test AUC {live.run.history.last()['score_test']:.3f}; the previous run" in captions(app)
    assert f"reached {before:.3f}" in captions(app)

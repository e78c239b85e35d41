"""Assumptions of a theorem: one click meets them, and the run that follows goes well."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each

from dsgcore import Run, Spec
from dsgcore.experiments import SETTINGS, StopReason, default_spec, kept_to, remedies, theory_of
from dsgcore.solver.plan import SCHEDULES, Change

every_setting = each("setting", SETTINGS)


def with_values(setting, **sections):
    plain = default_spec(setting).to_dict()
    return Spec.from_dict(plain | {name: plain[name] | values for name, values in sections.items()})


@every_setting
@each("lam", [1e-6, 0.01, 0.7, 5.0])
@each("schedule", ["constant", "theta/t", "theta/sqrt(T)"])
def test_all_assumptions_can_be_made_to_hold(setting, lam, schedule):
    spec = with_values(setting, solver={"lam": lam, "schedule": schedule})
    assert theory_of(kept_to(spec)).holds
    assert remedies(kept_to(spec)) == {}
    assert kept_to(kept_to(spec)) == kept_to(spec)


@every_setting
def test_what_was_changed_on_the_way_is_forgotten(setting):
    spec = kept_to(default_spec(setting)).with_change(Change(5, "lam", 0.3))
    assert not theory_of(spec).holds
    assert theory_of(kept_to(spec)).holds


@each("setting", ["auc", "ordinal", "s3vm", "similar_unlabeled"])
def test_orthogonal_features_become_independent_ones_of_the_same_kernel(setting):
    kept = kept_to(with_values(setting, kernel={"name": "orthogonal_gaussian", "sigma": 0.3}))
    assert theory_of(kept).holds
    assert (kept.kernel.name, kept.kernel.sigma) == ("gaussian", 0.3)


@each("setting", ["auc", "ordinal", "s3vm", "similar_unlabeled"])
def test_what_cannot_be_made_to_hold_says_why(setting):
    plain = default_spec(setting).to_dict() | {"kernel": {"name": "dot_product"}}
    left = [a for a in theory_of(kept_to(Spec.from_dict(plain))).assumptions if not a.holds]
    assert len(left) == 1
    assert "Choose a kernel with bounded features" in left[0].why_not


@each("setting", ["s3vm", "similar_unlabeled"])
def test_the_step_stays_what_it_was_under_another_name(setting):
    before, after = default_spec(setting).solver, kept_to(default_spec(setting)).solver
    step = SCHEDULES[after.schedule](after.step_size, 1, after.n_iter)
    assert step == pytest.approx(before.step_size, rel=0.005)


@pytest.mark.compiled
@every_setting
def test_a_run_that_keeps_to_the_theorem_goes_well(setting):
    run = Run(kept_to(default_spec(setting)))
    run.advance()
    assert run.stop_reason is StopReason.FINISHED
    objectives = run.history.column("objective")
    assert objectives[-1] < run.start_objective()
    assert np.isfinite(objectives).all()


def test_a_theta_for_another_schedule_is_replaced_with_it():
    spec = with_values("auc", solver={"step_size": 3.0, "lam": 0.5})
    assert kept_to(spec).solver == replace(spec.solver, schedule="theta/t", step_size=3.0)

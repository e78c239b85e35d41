"""Properties of every setting: its default spec runs, repeats, is replayed and exported."""

import json
import runpy
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from small_specs import finished
from test_run import read_csv, table

from dsgcore import Run, Spec, SpecError, load_model
from dsgcore.__main__ import main
from dsgcore.experiments import (
    SETTINGS,
    Health,
    LiveRun,
    StopReason,
    default_spec,
    script,
    theory_of,
)
from dsgcore.experiments.export import estimator_of
from dsgcore.settings import PROFILES, Profile, profile_of
from dsgcore.settings.theorems import NO_THEOREM

every_setting = pytest.mark.parametrize("setting", SETTINGS)
LABELS_ALONE = ("supervised", "toy_problem")  # settings without a twin; the second is added by test_toys


def quick(setting, **solver):
    """The setting's default spec, made short."""
    plain = default_spec(setting).to_dict()
    plain["solver"] |= {"n_iter": 12, "n_features": 32, **solver}
    plain["data"] |= {"n": 150 if plain["data"]["name"] != "ten_digits" else 300, "n_labeled": 20}
    plain["diagnostics"]["n_probes"] = 20
    return Spec.from_dict(plain)


def twice(values):
    """Double what can be steered; what the run finds by itself gets a number."""
    return {name: 1e-3 if value is None else 2 * value for name, value in values.items()}


@every_setting
def test_the_default_spec_runs_and_comes_down(setting):
    run = Run(default_spec(setting))
    run.advance(40)
    assert run.t == 40
    assert np.isfinite(table(run)).all()
    assert run.health is Health.GOOD
    assert run.history.last()["score_test"] > 0.5


@every_setting
def test_same_spec_same_bits_however_it_is_advanced(setting):
    spec = quick(setting)
    run = Run(spec)
    run.advance(1)
    run.advance(4)
    while not run.is_finished:
        run.advance(seconds=0.0)
    assert run.stop_reason is StopReason.FINISHED
    assert (table(run) == table(finished(spec))).all()
    terms = sum(run.history.column(name) for name in run.history.names if name.startswith("term: "))
    np.testing.assert_allclose(run.history.column("objective"), terms, rtol=1e-12)


@every_setting
def test_changes_become_part_of_the_spec_and_are_replayed_exactly_and_the_twin_comes_along(setting):
    live = LiveRun(quick(setting))
    run = live.run
    live.advance(4)
    doubled = twice(run.spec.values_at(0))
    live.steer(doubled)
    live.advance()
    assert {change.t for change in run.spec.changes} == {5}
    assert run.spec.values_at(5) == doubled
    again = finished(Spec.from_json(run.spec.to_json()))
    assert (table(again) == table(run)).all()
    assert (table(run)[:, :4] == table(finished(quick(setting)))[:, :4]).all()
    assert (live.supervised is None) == (setting in LABELS_ALONE)
    if live.supervised is not None:
        assert live.supervised.t == 12
        assert live.supervised.problem.baseline() == live.supervised.problem


@every_setting
def test_the_exported_script_gives_the_history_of_the_run(setting, tmp_path, monkeypatch):
    run = Run(quick(setting))
    run.advance(5)
    run.change("step_size", 0.2)
    run.advance(4)
    (tmp_path / "repeat_run.py").write_text(script(run), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("repeat_run.py", run_name="__main__")
    np.testing.assert_allclose(read_csv(tmp_path / "history.csv")[1], table(run), rtol=1e-12, atol=0)
    X = run.split.X_test
    np.testing.assert_array_equal(load_model(tmp_path / "model.npz").evaluate(X), run.model.evaluate(X))


@every_setting
def test_the_script_of_a_finished_run_fits_the_estimator_with_its_score(setting, tmp_path, monkeypatch):
    run = finished(replace(quick(setting), seed=3))
    (tmp_path / "repeat_run.py").write_text(text := script(run), encoding="utf-8")
    if estimator_of(SETTINGS[setting]) is None:  # one that somebody adds
        assert ".fit(" not in text
        return
    assert "# If the function still moves at the end, fit says so in a ConvergenceWarning." in text
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path("repeat_run.py", run_name="__main__")
    assert names["model"].score(run.split.X_test, run.split.y_test) == pytest.approx(run.result_score, abs=1e-12)


@every_setting
def test_the_command_line_runs_a_spec(setting, tmp_path):
    spec = quick(setting)
    (tmp_path / "spec.json").write_text(spec.to_json(), encoding="utf-8")
    assert main(["run", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    run = finished(spec)
    assert (read_csv(tmp_path / "out" / "history.csv")[1] == table(run)).all()
    values = load_model(tmp_path / "out" / "model.npz").evaluate(run.split.X_test)
    assert values.tobytes() == run.model.evaluate(run.split.X_test).tobytes()
    assert json.loads((tmp_path / "out" / "result.json").read_text())["spec_sha256"] == spec.sha256


@every_setting
def test_the_theory_says_what_it_assumes(setting):
    said = theory_of(default_spec(setting))
    if profile_of(SETTINGS[setting]).theorem is NO_THEOREM:
        assert said.statement.startswith("DSG Lab knows no theorem")
        return
    assert "Theorem " in said.statement
    assert said.assumptions


def test_the_settings_of_the_project_have_all_texts():
    for name, own in PROFILES.items():
        assert all((own.short, own.paper, own.headline, own.card, own.lessons)), name
        assert own.prefix is not None, name
        assert own.icon != Profile().icon, name


STEERED = "name must be one of step_size, tau_I, tau_S, lam"


@each(
    "section, name, value, words",
    [
        ("solver", "dtype", "float32", "float32"),
        ("kernel", "name", "matern", "matern"),
        ("problem", "lam", 1.0, "lam"),
        ("data", "separation", 3.0, "separation"),
        *(("changes", name, 8, STEERED) for name in ("n_features", "sigma", "tau_A")),
    ],
)
def test_what_only_other_settings_have_or_can_steer_gets_one_sentence(section, name, value, words):
    plain = default_spec("multiclass").to_dict()
    change = [{"t": 3, "name": name, "value": value}]
    plain[section] = change if section == "changes" else plain[section] | {name: value}
    with pytest.raises(SpecError) as caught:
        Spec.from_dict(plain)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@each("setting", ["auc", "s3vm", "similar_unlabeled"])
def test_what_goes_with_the_first_data_set_does_not_go_to_others(setting):
    own, other = default_spec(setting), Spec.from_dict({"setting": setting, "data": {"name": "breast_cancer"}})
    assert other.data.n_labeled > own.data.n_labeled
    assert other.data.n == 569 or other.data.n is None
    assert other.kernel.sigma != own.kernel.sigma

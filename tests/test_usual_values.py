"""On a real set a page begins as the estimator does with default arguments; lessons begin as they were made."""

import json
import runpy
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from cases import each, tiers
from opened_pages import open_page, run_of
from own_tables import with_pairs

from dsgcore import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, Run, Spec
from dsgcore.__main__ import main
from dsgcore.cli.runs import read_study
from dsgcore.comparing import FitRequest, Sample
from dsgcore.comparing.fits import fit
from dsgcore.data import DATASETS
from dsgcore.data.reading import File
from dsgcore.experiments import SETTINGS, LiveRun, StopReason, read_spec
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.export import script
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.solver.task import by_labels
from dsgcore.studies import Store, Study, carry_out
from pages.controls import controls

ESTIMATORS = {"auc": QSGS2AUC, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "similar_unlabeled": TSGSU}
REAL = [
    (setting, entry.name)
    for setting in ESTIMATORS
    for entry in DATASETS.values()
    if not entry.is_generated and entry.suits(SETTINGS[setting].labels)
]
SEVERAL = [e.name for e in DATASETS.values() if not e.is_generated and e.suits(SETTINGS["multiclass"].labels)]
SHARED = ("n_iter", "n_features", "batch_size", "schedule", "average")


def spec_of(setting, dataset, *, for_lesson=False):
    problem = SETTINGS[setting]
    offered = controls.controls_for(problem, dataset, for_lesson=for_lesson)
    return controls.to_spec(problem, {n: c.parameter.default for n, c in offered.items()}, dataset, 0)


@each("setting, dataset", REAL)
def test_a_real_set_begins_with_the_estimators_values(setting, dataset):
    spec, usual = spec_of(setting, dataset), ESTIMATORS[setting]()
    assert spec.solver.step_size is None
    assert usual.step_size == "auto"
    few = {"auto": by_labels(spec.data.n_labeled)}  # what 'auto' stands for
    for name in SHARED:
        given = getattr(usual, name)
        assert getattr(spec.solver, name) == (getattr(few[given], name) if given in few else given)
    for name in ("gamma", "pairing", "correction", "loss"):
        if hasattr(spec.problem, name):
            assert getattr(spec.problem, name) == getattr(usual, name)
    assert getattr(spec.problem, "is_pooled", True) == getattr(usual, "is_pooled", True)


@each("setting, dataset", REAL)
def test_its_ridge_or_weight_is_about_the_one_that_the_estimator_finds(setting, dataset):
    spec = spec_of(setting, dataset)
    split = load_split(spec)
    if setting == "s3vm":
        assert pytest.approx(5.0 * len(split.labeled), rel=0.05) == spec.problem.labeled_weight
        assert spec.problem.unlabeled_weight == pytest.approx(spec.problem.labeled_weight / 10)
        return
    problem = spec.problem.bind(split.y_train)
    assert spec.solver.lam == pytest.approx(problem.usual_ridge(problem.rows(split.y_train)), rel=0.5)


@each("dataset", SEVERAL)
def test_of_several_classes_a_real_set_begins_as_the_estimator_on_fourier_features(dataset):
    """Without the graph, which has almost no weight here, the page's run equals the estimator's fit."""
    begun = spec_of("multiclass", dataset)
    assert begun.solver.n_iter == 800
    assert begun.problem.tau_I > 0.0
    spec = replace(
        begun,
        problem=replace(begun.problem, tau_I=0.0),
        solver=replace(begun.solver, n_iter=20),
        diagnostics=replace(begun.diagnostics, n_probes=0),
    )
    run = Run(spec)
    run.advance()
    same = {
        "sigma": spec.kernel.sigma,
        "n_features": spec.solver.n_features,
        "n_iter": 20,
        "is_orthogonal": False,
        "tol": None,
    }
    model = PS3VT(feature_map="fourier", random_state=0, **same)
    given = run.split.X_train.astype(np.float64), run.split.y_train
    assert model.fit(*given).problem_.lam == pytest.approx(spec.solver.lam, rel=0.05)
    model.set_params(lam=spec.solver.lam).fit(*given)
    np.testing.assert_allclose(run.result.W, np.vstack([model.coef_.T, model.intercept_]), rtol=1e-9, atol=1e-12)


# One's own file: the page's run is that of every other way in: the same points, start, mini-batches, end and test score

# For a setting: what `compare` calls the score.
OWN = {"s3vm": "accuracy", "auc": "auc", "ordinal": "mean_auc"}


def own_rows(setting):
    """Return a table with a gap, a category and rows without a label."""
    rng = np.random.default_rng(0)
    words = ["low", "medium", "high"] if setting == "ordinal" else ["no", "yes"]
    label = np.arange(160) % len(words)
    x = rng.normal(size=(160, 2)) + label[:, None] * (1.0, 0.6)
    table = pd.DataFrame({"height": (100 + 20 * x[:, 0]).round(2), "mass": x[:, 1].round(3)})
    table["kind"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, 160)]
    table["label"] = np.where(np.arange(160) < 80, np.array(words)[label], "")
    table.loc[[3, 70, 100], "mass"] = np.nan
    return table


@pytest.fixture(scope="module", params=tiers(OWN, 1, 3))
def own_run(request):
    """Return a page's finished run on the table."""
    setting = request.param
    app = open_page(setting, **{"data.name": "Your own file"})
    app.file_uploader[0].upload("own.csv", own_rows(setting).to_csv(index=False).encode(), "text/csv").run()
    spec = run_of(app, setting).spec
    run = Run(spec, load_split(spec, files=app.session_state["_files"]))
    run.advance()
    return run


def test_a_files_page_begins_with_the_estimators_preparation_and_values(own_run):
    spec, split = own_run.spec, own_run.split
    assert (spec.data.scaling, len(split.labeled), len(split.y_test)) == ("standard", 60, 20)
    np.testing.assert_allclose(split.X_train.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(split.X_train.std(axis=0), 1.0, atol=1e-6)
    assert spec.kernel.sigma == pytest.approx(1.0 / 5.0, rel=1e-6)
    if spec.problem.name == "s3vm":
        assert (spec.problem.labeled_weight, spec.problem.unlabeled_weight) == (300.0, 30.0)


def test_a_files_run_is_the_estimators_fit(own_run):
    split, setting = own_run.split, own_run.spec.problem.name
    model = ESTIMATORS[setting](random_state=0).fit(split.X_train, split.y_train)
    assert own_run.stop_reason is StopReason.SETTLED
    assert own_run.t == model.n_iter_ < own_run.n_iter
    assert (own_run.spec.kernel.sigma, own_run.spec.solver.lam) == (model.model_.kernel.sigma, model.lam_)
    np.testing.assert_array_equal(model.model_.evaluate(split.X_test), own_run.result.evaluate(split.X_test))
    assert model.score(split.X_test, split.y_test) == pytest.approx(own_run.result_score, abs=1e-12)
    assert own_run.history.last()["score_average"] == own_run.result_score


def test_fit_and_predict_learn_what_the_page_does(own_run, tmp_path):
    split, setting = own_run.split, own_run.spec.problem.name
    table = own_rows(setting)
    table.iloc[split.train_rows].to_csv(tmp_path / "train.csv", index=False)
    table.iloc[split.test_rows].drop(columns="label").to_csv(tmp_path / "test.csv", index=False)
    model, found, method = str(tmp_path / "model"), str(tmp_path / "found.csv"), ESTIMATORS[setting].__name__
    train, test, out = (str(tmp_path / name) for name in ("train.csv", "test.csv", "found"))
    assert main(["fit", method, train, "--target=label", "--out", model, "--quiet"]) == 0
    assert main(["predict", model, test, "--out", out, "--csv", found, "--quiet"]) == 0
    predicted = pd.read_csv(found)
    np.testing.assert_array_equal(predicted["score"].astype(np.float32), own_run.result.evaluate(split.X_test))
    if setting == "s3vm":
        assert np.mean((predicted["class"] == "yes") == split.y_test) == own_run.result_score


def test_a_study_and_the_script_learn_what_the_page_does(own_run, tmp_path, monkeypatch, capsys):
    spec = own_run.spec
    (tmp_path / "own.csv").write_bytes(own_rows(spec.problem.name).to_csv(index=False).encode())
    (outcome,) = carry_out(Study(spec), Store(tmp_path / "runs.sqlite"), folder=str(tmp_path))
    assert (outcome.stored.score, outcome.stored.iterations) == (own_run.result_score, own_run.t)
    (tmp_path / "run.py").write_text(script(spec, spec.solver.n_iter), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    assert f"{own_run.result_score:.6g}\n" in capsys.readouterr().out


def test_a_comparison_has_the_pages_split_and_its_method_alone_the_pages_score(own_run, tmp_path):
    setting = own_run.spec.problem.name
    own_rows(setting).to_csv(tmp_path / "own.csv", index=False)
    file = File.of_path(tmp_path / "own.csv")
    labels = "ordinal" if setting == "ordinal" else "classes"
    recipe = file.recipe(labels, target="label", is_asked=True)
    data = file.labels(recipe, labels)
    is_ordered = setting == "ordinal"
    made = Sample.of(file.kept(recipe), data.y, n_labeled=None, is_ordered=is_ordered, recipe=recipe)
    joblib.dump(made, tmp_path / "sample")
    sample = joblib.load(tmp_path / "sample", mmap_mode="r")
    assert sample.sha256 == made.sha256
    split, same = sample.split(0, sample.n_labeled), own_run.split
    for name in ("X_train", "y_train", "X_test", "y_test", "feature_names"):
        np.testing.assert_array_equal(getattr(split, name), getattr(same, name))
    found = fit(FitRequest(ESTIMATORS[setting].__name__, 0, sample.n_labeled), split, sample.kind)
    assert found.scores[OWN[setting]] == pytest.approx(100 * own_run.result_score, abs=1e-10)


def test_a_settled_run_looks_back_and_its_brief_and_unmeasured_runs_are_the_same(own_run):
    spec, split = own_run.spec, own_run.split
    brief = Run(spec, split, measure="brief")
    brief.advance()
    np.testing.assert_equal(brief.last_row(), own_run.last_row())
    for name in brief.history.names:
        np.testing.assert_array_equal(brief.history.column(name), own_run.history.column(name))
    half = Run(spec, split)
    half.advance(own_run.t // 2)
    view = own_run.at(own_run.t // 2)
    np.testing.assert_array_equal(view.result_test_values, half.result_test_values)
    np.testing.assert_allclose(
        StochasticEngine.learned(spec, split), own_run.result_test_values + own_run.result_shift, rtol=1e-5, atol=1e-5
    )


def test_the_twin_of_a_settled_run_ends_with_it(own_run):
    live = LiveRun(own_run.spec, split=own_run.split)
    live.advance()
    assert live.is_finished
    assert live.supervised.t == live.run.t == own_run.t
    assert live.supervised.stop_reason is StopReason.SETTLED
    assert live.supervised.history.last()["score_average"] == live.supervised.result_score


def test_a_run_on_a_file_is_steered_and_replayed(own_run):
    spec, split = own_run.spec, own_run.split
    run = Run(spec, split)
    run.advance(20)
    run.change("n_features", 32)
    run.advance()
    again = Run(Spec.from_json(run.spec.to_json()), split)
    again.advance()
    assert [row["n_features"] for row in map(run.history.row, (0, 1, 20))] == [1024, 64, 32]
    np.testing.assert_array_equal(run.history.column("objective"), again.history.column("objective"))


def several_rows():
    rng = np.random.default_rng(1)
    label = np.arange(240) % 4
    x = rng.normal(size=(240, 3)) + np.eye(4)[label][:, :3] * 2
    table = pd.DataFrame(x.round(3), columns=["a", "b", "c"])
    return table.assign(label=np.where(np.arange(240) < 120, np.array(list("wxyz"))[label], ""))


@pytest.fixture(scope="module")
def run_of_several():
    """Return a page's finished run on a table of four classes."""
    app = open_page("multiclass", **{"data.name": "Your own file"})
    app.file_uploader[0].upload("own.csv", several_rows().to_csv(index=False).encode(), "text/csv").run()
    spec = run_of(app, "multiclass").spec
    run = Run(spec, load_split(spec, files=app.session_state["_files"]))
    run.advance()
    return run


def test_a_run_of_several_classes_on_a_file_is_the_estimators_fit(run_of_several):
    run, split = run_of_several, run_of_several.split
    given = split.X_train.astype(np.float64), split.y_train
    model = PS3VT(random_state=0).fit(*given)
    assert run.stop_reason is StopReason.SETTLED
    assert run.t == model.n_iter_ < run.n_iter
    W = np.vstack([model.coef_.T, model.intercept_])
    np.testing.assert_allclose(run.result.W, W, rtol=1e-9, atol=1e-12)
    assert np.mean(model.predict(split.X_test.astype(np.float64)) == split.y_test) == run.result_score
    assert run.history.last()["score_average"] == run.result_score
    brief = Run(run.spec, split, measure="brief")
    brief.advance()
    np.testing.assert_equal(brief.last_row(), run.last_row())
    np.testing.assert_array_equal(type(run.engine).learned(run.spec, split), run.result_test_values)
    live = LiveRun(run.spec, split=split)
    live.advance()
    assert live.supervised.t == live.run.t == run.t
    assert live.supervised.stop_reason is StopReason.SETTLED
    half = Run(run.spec, split)
    half.advance(run.t // 2)
    np.testing.assert_array_equal(run.at(run.t // 2).test_values, half.test_values)


def test_a_study_of_several_classes_on_a_file_learns_what_the_page_does(run_of_several, tmp_path):
    run = run_of_several
    (tmp_path / "own.csv").write_bytes(several_rows().to_csv(index=False).encode())
    asked = Study(run.spec)
    (outcome,) = carry_out(asked, Store(tmp_path / "runs.sqlite"), folder=str(tmp_path))
    assert (outcome.stored.score, outcome.stored.iterations) == (run.result_score, run.t)


def test_several_classes_are_compared_fitted_and_predicted_as_the_page_does(run_of_several, tmp_path):
    run, split, table = run_of_several, run_of_several.split, several_rows()
    table.to_csv(tmp_path / "own.csv", index=False)
    file = File.of_path(tmp_path / "own.csv")
    recipe = file.recipe("classes", target="label", is_asked=True)
    sample = Sample.of(
        file.kept(recipe), file.labels(recipe, "classes").y, n_labeled=None, is_ordered=False, recipe=recipe
    )
    compared = sample.split(0, sample.n_labeled)
    np.testing.assert_array_equal(compared.X_train, split.X_train)
    found = fit(FitRequest("PS3VT", 0, sample.n_labeled), compared, sample.kind)
    assert found.scores["accuracy"] == pytest.approx(100 * run.result_score, abs=1e-10)
    table.iloc[split.train_rows].to_csv(tmp_path / "train.csv", index=False)
    table.iloc[split.test_rows].drop(columns="label").to_csv(tmp_path / "test.csv", index=False)
    train, test, model, out, scores = (str(tmp_path / n) for n in ("train.csv", "test.csv", "model", "out", "s.csv"))
    assert main(["fit", "PS3VT", train, "--target=label", "--out", model, "--quiet"]) == 0
    assert main(["predict", model, test, "--out", out, "--csv", scores, "--quiet"]) == 0
    given = np.array(split.class_names)[run.result_test_values.argmax(axis=1)]
    np.testing.assert_array_equal(pd.read_csv(scores)["class"], given)


def test_a_run_of_pairs_on_a_file_is_the_estimators_fit():
    app = open_page("similar_unlabeled", **{"data.name": "Your own file"})
    app.file_uploader[0].upload("own.csv", with_pairs(), "text/csv").run()
    spec = run_of(app, "similar_unlabeled").spec
    run = Run(spec, load_split(spec, files=app.session_state["_files"]))
    run.advance()
    model = TSGSU(prior=spec.problem.prior, random_state=0).fit(run.split.X_train, run.split.y_train)
    assert (spec.kernel.sigma, spec.solver.lam) == (model.model_.kernel.sigma, model.lam_)
    assert run.t == model.n_iter_
    np.testing.assert_array_equal(model.model_.evaluate(run.split.X_test), run.result.evaluate(run.split.X_test))


@pytest.mark.ci
@each("setting", SETTINGS)
def test_a_small_spec_on_a_file_runs_as_the_estimator_fits(setting, tmp_path):
    content = with_pairs() if setting == "similar_unlabeled" else own_rows(setting).to_csv(index=False).encode()
    (tmp_path / "own.csv").write_bytes(content)
    data = {"name": "file", "path": str(tmp_path / "own.csv"), "target": "label"}
    (tmp_path / "spec.json").write_text(json.dumps({"setting": setting, "data": data}))
    spec = read_spec(tmp_path / "spec.json")
    split = load_split(spec)
    given = split.X_train.astype(spec.solver.dtype), split.y_train
    prior = {"prior": spec.problem.prior} if setting == "similar_unlabeled" else {}
    model = (ESTIMATORS | {"multiclass": PS3VT, "supervised": DSG})[setting](random_state=0, **prior).fit(*given)
    run = Run(spec, split)
    run.advance()
    assert run.t == model.n_iter_
    if setting == "multiclass":
        np.testing.assert_allclose(run.result.W[:-1], model.coef_.T, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(run.result.evaluate(split.X_test), model.model_.evaluate(split.X_test))
    (tmp_path / "whole.json").write_text(spec.to_json())
    assert read_spec(tmp_path / "whole.json") == spec
    (tmp_path / "study.json").write_text(json.dumps({"spec": {"setting": setting, "data": data}}))
    assert read_study(tmp_path / "study.json").spec == spec
    small = {"setting": setting, "data": data, "solver": {"n_iter": 3, "lam": 0.5}}
    (tmp_path / "spec.json").write_text(json.dumps(small))
    assert (read_spec(tmp_path / "spec.json").solver.n_iter, read_spec(tmp_path / "spec.json").solver.lam) == (3, 0.5)

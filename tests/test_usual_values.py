"""Usual values: on a real set and on one's own file a page begins as the estimator does, and they follow the number of labels."""

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
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from small_specs import finished

from dsgcore import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, Run, Spec
from dsgcore.__main__ import main
from dsgcore.cli.runs import read_study
from dsgcore.comparing import FitRequest, Sample
from dsgcore.comparing.samples import fit
from dsgcore.data import DATASETS
from dsgcore.data.reading import File
from dsgcore.estimators import base
from dsgcore.experiments import SETTINGS, LiveRun, StopReason, default_spec, read_spec
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.export import script
from dsgcore.settings import PROFILES
from dsgcore.solver.stopping import Stopping
from dsgcore.solver.task import by_labels
from dsgcore.studies import Store, Study, carry_out
from pages.controls import controls

ESTIMATORS = {"auc": QSGS2AUC, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "similar_unlabeled": TSGSU}
EVERY = ESTIMATORS | {"multiclass": PS3VT, "supervised": DSG}
REAL = [
    (setting, entry.name)
    for setting in ESTIMATORS
    for entry in DATASETS.values()
    if not entry.is_generated and entry.suits(SETTINGS[setting].labels)
]
SEVERAL = [e.name for e in DATASETS.values() if not e.is_generated and e.suits(SETTINGS["multiclass"].labels)]


def spec_of(setting, dataset):
    problem = SETTINGS[setting]
    offered = controls.controls_for(problem, dataset, for_lesson=False)
    return controls.to_spec(problem, {n: c.parameter.default for n, c in offered.items()}, dataset, 0)


@each("setting, dataset", REAL)
def test_a_real_set_begins_with_the_estimators_values_and_about_its_ridge_or_weight(setting, dataset):
    spec, usual = spec_of(setting, dataset), ESTIMATORS[setting]()
    assert (spec.solver.step_size, usual.step_size) == (None, "auto")
    few = by_labels(spec.data.n_labeled)  # what 'auto' stands for
    for name in ("n_iter", "n_features", "batch_size", "schedule", "average"):
        given = getattr(usual, name)
        assert getattr(spec.solver, name) == (getattr(few, name) if given == "auto" else given)
    for name in ("gamma", "pairing", "correction", "loss"):
        if hasattr(spec.problem, name):
            assert getattr(spec.problem, name) == getattr(usual, name)
    assert getattr(spec.problem, "is_pooled", True) == getattr(usual, "is_pooled", True)
    split = load_split(spec)
    if setting == "s3vm":
        assert pytest.approx(5.0 * len(split.labeled), rel=0.05) == spec.problem.labeled_weight
        assert spec.problem.unlabeled_weight == pytest.approx(spec.problem.labeled_weight / 10)
    else:
        problem = spec.problem.bind(split.y_train)
        assert spec.solver.lam == pytest.approx(problem.usual_ridge(problem.rows(split.y_train)), rel=0.5)


@each("dataset", SEVERAL)
def test_of_several_classes_a_real_set_begins_as_the_estimator_on_fourier_features(dataset):
    """Without the graph, which has almost no weight here, the page's run equals the estimator's fit."""
    begun = spec_of("multiclass", dataset)
    assert begun.solver.n_iter == 800
    assert begun.problem.tau_I > 0.0
    solver, diagnostics = replace(begun.solver, n_iter=20), replace(begun.diagnostics, n_probes=0)
    spec = replace(begun, problem=replace(begun.problem, tau_I=0.0), solver=solver, diagnostics=diagnostics)
    run = finished(spec)
    same = {"sigma": spec.kernel.sigma, "n_features": solver.n_features, "n_iter": 20, "is_orthogonal": False}
    model = PS3VT(feature_map="fourier", random_state=0, tol=None, **same)
    given = run.split.X_train.astype(np.float64), run.split.y_train
    assert model.fit(*given).problem_.lam == pytest.approx(spec.solver.lam, rel=0.05)
    model.set_params(lam=spec.solver.lam).fit(*given)
    np.testing.assert_allclose(run.result.W, np.vstack([model.coef_.T, model.intercept_]), rtol=1e-9, atol=1e-12)


# One's own file: the page's run is that of every other way in: the same points, start, mini-batches, end and test score

# For a setting: what `compare` calls the score.
OWN = {"s3vm": "accuracy", "multiclass": "accuracy", "auc": "auc", "ordinal": "mean_auc"}


def own_rows(setting):
    """Return a table with rows without a label; if not of several classes, with a gap and a category, too."""
    if setting == "multiclass":
        label = np.arange(240) % 4
        x = np.random.default_rng(1).normal(size=(240, 3)) + np.eye(4)[label][:, :3] * 2
        names = np.where(np.arange(240) < 120, np.array(list("wxyz"))[label], "")
        return pd.DataFrame(x.round(3), columns=["a", "b", "c"]).assign(label=names)
    rng = np.random.default_rng(0)
    words = ["low", "medium", "high"] if setting == "ordinal" else ["no", "yes"]
    label = np.arange(160) % len(words)
    x = rng.normal(size=(160, 2)) + label[:, None] * (1.0, 0.6)
    table = pd.DataFrame({"height": (100 + 20 * x[:, 0]).round(2), "mass": x[:, 1].round(3)})
    table["kind"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, 160)]
    table["label"] = np.where(np.arange(160) < 80, np.array(words)[label], "")
    table.loc[[3, 70, 100], "mass"] = np.nan
    return table


def page_run(setting, content):
    """Return a page's run on a file, at its end."""
    app = open_page(setting, **{"data.name": "Your own file"})
    app.file_uploader[0].upload("own.csv", content, "text/csv").run()
    spec = run_of(app, setting).spec
    run = Run(spec, load_split(spec, files=app.session_state["_files"]))
    run.advance()
    return run


def points_of(run, part="train"):
    X = getattr(run.split, f"X_{part}")
    return X.astype(np.float64) if run.spec.problem.name == "multiclass" else X


@pytest.fixture(scope="module", params=[*tiers(["s3vm", "multiclass"], 2, 2), *tiers(["auc", "ordinal"], 0, 2)])
def own_run(request):
    return page_run(request.param, own_rows(request.param).to_csv(index=False).encode())


def test_a_files_page_begins_with_the_estimators_preparation_and_values_and_its_run_is_the_estimators_fit(own_run):
    run, spec, split = own_run, own_run.spec, own_run.split
    assert spec.data.scaling == "standard"
    np.testing.assert_allclose(split.X_train.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(split.X_train.std(axis=0), 1.0, atol=1e-6)
    model = EVERY[spec.problem.name](random_state=0).fit(points_of(run), split.y_train)
    assert run.stop_reason is StopReason.SETTLED
    assert run.t == model.n_iter_ < run.n_iter
    assert run.history.last()["score_average"] == run.result_score
    assert model.score(points_of(run, "test"), split.y_test) == pytest.approx(run.result_score, abs=1e-12)
    if spec.problem.name == "multiclass":
        np.testing.assert_allclose(run.result.W, np.vstack([model.coef_.T, model.intercept_]), rtol=1e-9, atol=1e-12)
        return
    assert (len(split.labeled), len(split.y_test)) == (60, 20)
    assert spec.kernel.sigma == pytest.approx(1.0 / 5.0, rel=1e-6)
    if spec.problem.name == "s3vm":
        assert (spec.problem.labeled_weight, spec.problem.unlabeled_weight) == (300.0, 30.0)
    assert (spec.kernel.sigma, spec.solver.lam) == (model.model_.kernel.sigma, model.lam_)
    np.testing.assert_array_equal(model.model_.evaluate(split.X_test), run.result.evaluate(split.X_test))


def test_fit_and_predict_learn_what_the_page_does(own_run, tmp_path):
    split, setting = own_run.split, own_run.spec.problem.name
    table = own_rows(setting)
    table.iloc[split.train_rows].to_csv(tmp_path / "train.csv", index=False)
    table.iloc[split.test_rows].drop(columns="label").to_csv(tmp_path / "test.csv", index=False)
    train, test, model, out, csv = (str(tmp_path / n) for n in ("train.csv", "test.csv", "model", "out", "found.csv"))
    assert main(["fit", EVERY[setting].__name__, train, "--target=label", "--out", model, "--quiet"]) == 0
    assert main(["predict", model, test, "--out", out, "--csv", csv, "--quiet"]) == 0
    predicted = pd.read_csv(csv)
    if setting == "multiclass":
        given = np.array(split.class_names)[own_run.result_test_values.argmax(axis=1)]
        np.testing.assert_array_equal(predicted["class"], given)
        return
    np.testing.assert_array_equal(predicted["score"].astype(np.float32), own_run.result.evaluate(split.X_test))
    if setting == "s3vm":
        assert np.mean((predicted["class"] == "yes") == split.y_test) == own_run.result_score


def test_a_study_and_the_script_learn_what_the_page_does(own_run, tmp_path, monkeypatch, capsys):
    spec = own_run.spec
    (tmp_path / "own.csv").write_bytes(own_rows(spec.problem.name).to_csv(index=False).encode())
    (outcome,) = carry_out(Study(spec), Store(tmp_path / "runs.sqlite"), folder=str(tmp_path))
    assert (outcome.stored.score, outcome.stored.iterations) == (own_run.result_score, own_run.t)
    (tmp_path / "run.py").write_text(script(own_run), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    assert f"{own_run.result_score:.6g}\n" in capsys.readouterr().out


def test_a_comparison_has_the_pages_split_and_its_method_alone_the_pages_score(own_run, tmp_path):
    setting = own_run.spec.problem.name
    is_ordered, labels = setting == "ordinal", "ordinal" if setting == "ordinal" else "classes"
    own_rows(setting).to_csv(tmp_path / "own.csv", index=False)
    file = File.of_path(tmp_path / "own.csv")
    recipe = file.recipe(labels, target="label", is_asked=True)
    y = file.labels(recipe, labels).y
    made = Sample.of(file.kept(recipe), y, n_labeled=None, is_ordered=is_ordered, recipe=recipe)
    joblib.dump(made, tmp_path / "sample")
    sample = joblib.load(tmp_path / "sample", mmap_mode="r")
    assert sample.sha256 == made.sha256
    split, same = sample.split(0, sample.n_labeled), own_run.split
    for name in ("X_train", "y_train", "X_test", "y_test", "feature_names"):
        np.testing.assert_array_equal(getattr(split, name), getattr(same, name))
    found = fit(FitRequest(EVERY[setting].__name__, 0, sample.n_labeled), split, sample.kind)
    assert found.scores[OWN[setting]] == pytest.approx(100 * own_run.result_score, abs=1e-10)


def test_a_settled_run_is_the_same_without_measuring_and_its_twin_ends_with_it(own_run):
    run, spec, split = own_run, own_run.spec, own_run.split
    learned = type(run.engine).learned(spec, split)
    np.testing.assert_allclose(learned, run.result_test_values + run.result_shift, rtol=1e-5, atol=1e-5)
    live = LiveRun(spec, split=split)
    live.advance()
    assert live.is_finished
    assert live.supervised.t == live.run.t == run.t
    assert live.supervised.stop_reason is StopReason.SETTLED


def test_a_run_of_pairs_on_a_file_is_the_estimators_fit():
    run = page_run("similar_unlabeled", with_pairs())
    spec, split = run.spec, run.split
    model = TSGSU(prior=spec.problem.prior, random_state=0).fit(split.X_train, split.y_train)
    assert (spec.kernel.sigma, spec.solver.lam) == (model.model_.kernel.sigma, model.lam_)
    assert run.t == model.n_iter_
    np.testing.assert_array_equal(model.model_.evaluate(split.X_test), run.result.evaluate(split.X_test))


@pytest.mark.ci
@each("setting", SETTINGS)
def test_a_small_spec_on_a_file_runs_as_the_estimator_fits(setting, tmp_path):
    content = with_pairs() if setting == "similar_unlabeled" else None
    (tmp_path / "own.csv").write_bytes(content or own_rows(setting).to_csv(index=False).encode())
    plain = {"setting": setting, "data": {"name": "file", "path": str(tmp_path / "own.csv"), "target": "label"}}
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(plain))
    spec = read_spec(file)
    split = load_split(spec)
    prior = {"prior": spec.problem.prior} if setting == "similar_unlabeled" else {}
    model = EVERY[setting](random_state=0, **prior).fit(split.X_train.astype(spec.solver.dtype), split.y_train)
    run = Run(spec, split)
    run.advance()
    assert run.t == model.n_iter_
    if setting == "multiclass":
        np.testing.assert_allclose(run.result.W[:-1], model.coef_.T, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(run.result.evaluate(split.X_test), model.model_.evaluate(split.X_test))
    (tmp_path / "whole.json").write_text(spec.to_json())
    assert read_spec(tmp_path / "whole.json") == spec
    (tmp_path / "study.json").write_text(json.dumps({"spec": plain}))
    assert read_study(tmp_path / "study.json").spec == spec
    file.write_text(json.dumps({**plain, "solver": {"n_iter": 3, "lam": 0.5}}))
    assert (read_spec(file).solver.n_iter, read_spec(file).solver.lam) == (3, 0.5)


@each("place, said", [("", "own.csv"), ("", "elsewhere/own.csv"), ("", r"C:\data\own.csv"), ("sub", "sub/own.csv")])
def test_a_file_beside_its_spec_is_found_by_a_run_and_by_a_study(place, said, tmp_path):
    (folder := tmp_path / f"{place}-{len(said)}" / place).mkdir(parents=True)
    (folder / "own.csv").write_bytes(own_rows("auc").to_csv(index=False).encode())
    folder = tmp_path / f"{place}-{len(said)}"
    plain = {"setting": "auc", "data": {"name": "file", "path": said, "target": "label"}}
    (folder / "spec.json").write_text(json.dumps(plain))
    (folder / "study.json").write_text(json.dumps({"spec": plain}))
    split = load_split(read_spec(folder / "spec.json"), folder=folder)
    np.testing.assert_array_equal(load_split(read_study(folder / "study.json").spec).X_train, split.X_train)


# Values that follow the number of labels: those of few labels stay, many give better scores in a bearable time


@each("setting", ["auc", "s3vm", "ordinal"])
@each("n_labeled", [800, 4000, 50_000, 400_000])
def test_a_run_ends_at_the_tolerance_of_a_fit_with_as_many_labels(monkeypatch, setting, n_labeled):
    found, model = [], ESTIMATORS[setting](random_state=0, n_iter=2, n_features=2, batch_size=4)
    monkeypatch.setattr(base, "Stopping", lambda tol, *others: found.append(tol) or Stopping(tol, *others))
    model.fit(np.linspace(0.0, 1.0, n_labeled)[:, None], np.arange(n_labeled) % 3 // (1 if setting == "ordinal" else 2))
    assert found == [PROFILES[setting].fitted(n_labeled)["tol"]]


@each(
    "kernel, n_labeled, sigma",
    [
        ("gaussian", 20_000, 0.5),
        ("gaussian", 45_000, 0.75),
        ("orthogonal_gaussian", 100_000, 1.0),
        ("laplacian", 90_000, 0.5),
    ],
)
def test_more_than_20_000_labels_have_a_narrower_gaussian_kernel_of_the_hinge_loss_if_its_width_is_not_given(
    kernel, n_labeled, sigma
):
    y = np.arange(n_labeled) % 2
    X = np.stack([y, np.arange(n_labeled) // 2 % 2], axis=1) * 2.0 - 1.0  # of variance 1
    short = {"n_iter": 2, "n_features": 2, "batch_size": 4, "kernel": kernel, "random_state": 0}
    for method in (QSGS2AUC, QS3ORAO, DSG):  # their losses learn the noise of labels with it
        assert method(**short).fit(X, y).model_.kernel.sigma == pytest.approx(0.5)
    assert TSGS3VM(**short).fit(X, y).model_.kernel.sigma == pytest.approx(sigma)
    assert TSGS3VM(**short).automatic_values(X, y)["sigma"] == pytest.approx(sigma)  # a page's
    assert TSGS3VM(sigma=0.25, **short).fit(X, y).model_.kernel.sigma == 0.25


def test_the_share_among_many_labels_is_kept_among_them():
    rng = np.random.default_rng(0)
    y = (rng.random(6000) < 0.2).astype(int)
    X = rng.normal(size=(6000, 2)) + 2.0 * y[:, None]
    labeled = np.arange(6000) < 4000
    model = QSGS2AUC(n_features=16, n_iter=100, tol=None, random_state=0).fit(X, np.where(labeled, y, -1))
    assert model.predict(X[labeled]).mean() == pytest.approx(y[labeled].mean(), abs=0.001)


def test_auto_is_the_number_of_iterations_that_a_fit_and_each_part_make():
    X, y = np.random.default_rng(0).normal(size=(1500, 2)), np.arange(1500) % 2
    n_iter = by_labels(1500).n_iter
    assert n_iter > 800
    for estimator in (QSGS2AUC, TSGS3VM, DSG):
        model = estimator(tol=None, n_features=2, random_state=0)
        assert model.most_iterations(y) == n_iter == model.fit(X, y).n_iter_
        assert model.partial_fit(X[:1000], y[:1000]).n_iter_ == n_iter + 800
    assert TSGSU().most_iterations(y) == 800
    assert QSGS2AUC(n_iter=7).most_iterations(y) == 7


@each("n_unlabeled, n_labeled", [(5000, 1100), (20_400, 40)])
def test_a_run_and_its_estimator_have_the_shift_of_the_same_unlabeled_points(
    n_unlabeled, n_labeled, tmp_path, monkeypatch
):
    plain = default_spec("s3vm").to_dict()
    plain["data"] |= {"n": (n_labeled + n_unlabeled) * 5 // 4, "n_labeled": n_labeled, "test_share": 0.2}
    plain["problem"]["is_balanced"] = True
    plain["solver"] |= {"n_iter": 20, "n_features": 8, "sampling": "shuffled", "average": "tail"}
    run = finished(Spec.from_dict(plain))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.py").write_text(script(run))
    model = runpy.run_path("run.py")["model"]
    assert model.shift_ == pytest.approx(run.result_shift, rel=1e-4)
    f = run.result_test_values + run.result_shift
    np.testing.assert_array_equal(model.decision_function(run.split.X_test) > 0, f > 0)


@pytest.mark.weekly
def test_with_20_000_labels_they_are_not_below_a_linear_machine_on_nystroem_features():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(40_000, 4))
    clean = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    y = (clean + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
    few, (X_test, y_test) = np.where(np.arange(30_000) < 20_000, y[:30_000], -1), (X[30_000:], y[30_000:])
    theirs = make_pipeline(Nystroem(gamma=1 / (4 * X.var()), n_components=500, random_state=0), LinearSVC())
    theirs.fit(X[:20_000], y[:20_000])
    ranking, machine = (method(random_state=0).fit(X[:30_000], few) for method in (QSGS2AUC, TSGS3VM))
    assert ranking.score(X_test, y_test) >= roc_auc_score(y_test, theirs.decision_function(X_test)) - 0.003
    assert machine.score(X_test, y_test) >= theirs.score(X_test, y_test) - 0.003


@pytest.mark.ci
def test_80_000_labels_show_differences_within_the_width_of_a_kernel_for_few():
    """With the width for few labels the accuracy was 0.88, after all iterations."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(90_000, 2))
    y = (np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=len(X)) > 0).astype(int)
    model = TSGS3VM(random_state=0).fit(X[:80_000], y[:80_000])
    assert model.score(X[80_000:], y[80_000:]) >= 0.93

"""Scores against plain loops, of models and of runs, and values at many points, from Dask's collections and Parquet files."""

import itertools

import naive
import numpy as np
import pandas as pd
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from small_specs import finished, small

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.__main__ import main
from dsgcore.baselines import CUU, PNUAUC, SUSL
from dsgcore.core.metrics import auc, auc_of_samples
from dsgcore.experiments import SETTINGS, summary
from dsgcore.experiments.verdict import decision_of, predicted_classes, right_test_points
from dsgcore.problems.thresholds import cuts_of
from dsgcore.studies import Store, Study, StudyRuns, curves_of
from dsgcore.studies.runs import make_run

parquet = pytest.importorskip("pyarrow.parquet")

# --- metrics


# Few different scores, so that ties are the rule.
SAMPLES = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40).filter(
    lambda sample: len({label for label, _ in sample}) == 2
)


@given(SAMPLES, st.sampled_from(["float32", "float64"]))
def test_auc_equals_the_count_of_pairs_and_scikit_learns_and_changes_no_sample(sample, dtype):
    y, scores = np.array([label for label, _ in sample]), np.array([score for _, score in sample], dtype=dtype)
    assert auc(y, scores) == pytest.approx(naive.auc(y, scores), rel=1e-12)
    assert auc(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)
    positive, negative = scores[y], scores[~y]
    assert auc_of_samples(positive, negative) == auc(y, scores)
    assert (positive.tolist(), negative.tolist()) == (scores[y].tolist(), scores[~y].tolist())


# --- models and runs


@pytest.mark.parametrize("stop", [{}, {"patience": 1, "tolerance": 0.5}], ids=["to the end", "stopped early"])
@pytest.mark.parametrize("average", ["tail", None])
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_study_scores_the_model_the_average_or_the_last_iterate(tmp_path, setting, average, stop):
    spec = small(setting, solver={"average": average, "n_iter": 45}, stop=stop)
    run = finished(spec)
    store = Store(tmp_path / "runs.sqlite")
    stored = store.put(*make_run(spec.to_json()))
    row = run.history.last()
    assert stored.score == run.problem.score(run.split.y_test, np.asarray(run.result_test_values))
    assert stored.score == summary(run)["score"]
    if not (average and stop):  # of an average a row has the score of up to fifteen iterations before
        assert stored.score == row["score_average" if average else "score_test"]
    assert stored.objective == row["objective_average" if average else "objective"]
    if average and not stop:
        assert curves_of(store, [spec.sha256]).values[0, -1] == stored.score
        made = StudyRuns(Study(spec))
        made.refresh(store)
        assert made.results("score").mean[0] == stored.score


NAMES = ("lam", "n_iter", "n_features", "batch_size", "step_size", "schedule", "dtype")
METHODS = {
    "auc": (QSGS2AUC, ("gamma", "pairing", "is_pooled")),
    "s3vm": (TSGS3VM, ("labeled_weight", "unlabeled_weight", "loss", "s", "is_balanced")),
    "similar_unlabeled": (TSGSU, ("prior", "loss", "correction", "leak")),
    "ordinal": (QS3ORAO, ("gamma", "pairing")),
}


def fitted_as(run):
    """Return the estimator that a run's numbers stand for, fitted on its points."""
    (kind, own), spec = METHODS[run.spec.problem.name], run.spec
    values = {name: getattr(spec.solver, name) for name in (*NAMES, "kernel") if hasattr(spec.solver, name)}
    values |= {"sigma": spec.kernel.sigma, "random_state": spec.seed, "average": spec.solver.average, "tol": None}
    values |= {"sampling": "independent"} | ({"thresholds": "hinge"} if kind is QS3ORAO else {})
    values |= {name: getattr(spec.problem, name) for name in own}
    return kind(**values).fit(run.split.X_train, run.split.y_train)


@each("average", [None, "tail"])
@each("setting, is_balanced", [*((setting, False) for setting in METHODS), ("s3vm", True)])
def test_the_runs_classes_are_those_that_its_estimator_predicts(setting, is_balanced, average):
    shifted = {"data": {"prior_shift": 0.8}, "problem": {"is_balanced": is_balanced}} if setting == "s3vm" else {}
    run = finished(small(setting, solver={"average": average}, **shifted))
    model, X, y = fitted_as(run), run.split.X_test, run.split.y_test
    values = run.result.evaluate(X)
    np.testing.assert_array_equal(predicted_classes(run, values), model.predict(X))
    assert np.mean(right_test_points(run)) == np.mean(model.predict(X) == y)
    if setting == "auc":
        assert decision_of(run)["threshold"] == pytest.approx(model.threshold_, abs=1e-5)
    if setting in ("auc", "s3vm"):
        assert run.result_score == pytest.approx(model.score(X, y), abs=1e-6)
    np.testing.assert_allclose(run.result_test_values, values, rtol=1e-3, atol=1e-5)
    assert (run.result_shift != 0.0) == is_balanced


@each("setting, is_balanced", [*((setting, False) for setting in METHODS), ("s3vm", True)])
def test_a_value_at_a_threshold_is_of_the_class_below_it_on_the_page_and_for_predict(setting, is_balanced):
    run = finished(small(setting, **({"problem": {"is_balanced": True}} if is_balanced else {})))
    values = cuts_of(decision_of(run))  # as `predict` reads them
    below = np.arange(len(values))
    np.testing.assert_array_equal(predicted_classes(run, values), below)
    if run.problem.is_scored_by_hits:
        assert run.problem.hits(below, values + run.result_shift).all()


@each("cls", [TSGS3VM, TSGSU, QSGS2AUC, SUSL, CUU, PNUAUC])
def test_a_score_of_nothing_is_of_the_first_class_for_every_estimator(cls):
    model = cls()
    vars(model).update(classes_=np.array(["no", "yes"]), decision_function=lambda X: np.array([0.0, 1e-9]))
    assert model.predict(None).tolist() == ["no", "yes"]


@pytest.mark.parametrize("is_large", [False, True])
def test_a_balanced_run_is_shifted_by_its_unlabeled_points_before_its_sign_is_taken(is_large, monkeypatch):
    # Test points of other shares than the unlabeled ones: shifted by them, the score would be another.
    if is_large:
        monkeypatch.setattr("dsgcore.experiments.stochastic.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = finished(small("s3vm", problem={"is_balanced": True}, data={"prior_shift": 0.8}, solver={"batch_size": 16}))
    unlabeled = run.model.evaluate(run.split.X_train[run.split.y_train == -1])
    spread = unlabeled.std() / np.sqrt(10) if is_large else 1e-5
    assert (run.training_values is None) == is_large
    assert run.shift == pytest.approx(run.problem.shift(unlabeled), abs=4 * spread)
    assert run.history.last()["score_test"] == run.problem.score(run.split.y_test, run.test_values + run.shift)


# --- values at many points: lazy on Dask's collections, and from Parquet files to Parquet files

N, GROUP = 2000, 100
SMALL = {"n_iter": 12, "n_features": 16, "batch_size": 16, "random_state": 0, "tol": None}
POINTS = np.random.default_rng(3).normal(size=(N, 3)).astype(np.float32)
THREE = np.where(np.arange(N) < 200, np.digitize(POINTS[:, 0], [-0.5, 0.5]), -1)
TWO = np.where(THREE == 2, 1, THREE)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder with a model's file and a folder of two files of ten row groups each, and the model."""
    folder = tmp_path_factory.mktemp("stored")
    model = QSGS2AUC(**SMALL).fit(POINTS, TWO).model_
    model.save(folder / "model.npz")
    (folder / "data").mkdir()
    for number, own in enumerate(np.split(POINTS, 2)):
        file = folder / "data" / f"{number}.parquet"
        pd.DataFrame(own, columns=list("abc")).to_parquet(file, row_group_size=GROUP)
    return folder, model


@pytest.mark.parametrize("cls", [QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU])
def test_estimators_stay_lazy_on_collections_of_dask(cls):
    array = pytest.importorskip("dask.array", reason="dask is not installed: pip install dsg-lab[dask]")
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed: pip install dsg-lab[dask]")
    of_classes = {"y_holds": "classes", "prior": 0.7} if cls is TSGSU else {}
    model = cls(**SMALL, **of_classes).fit(POINTS, THREE if cls is QS3ORAO else TWO)
    pieces = [POINTS[a:b] for a, b in itertools.pairwise([0, 700, 701, N])]
    lazy = array.from_array(POINTS, chunks=((700, 1, 1299), (2, 1)))
    table = pd.DataFrame(POINTS).set_index(np.arange(N) + 7)
    for method in ("decision_function", "predict"):
        of_pieces = np.concatenate([getattr(model, method)(piece) for piece in pieces])
        made = getattr(model, method)(lazy)
        assert isinstance(made, array.Array)
        assert np.array_equal(made.compute(), of_pieces)
        assert made.dtype == of_pieces.dtype
        assert made.compute().shape == of_pieces.shape
        series = getattr(model, method)(frames.from_pandas(table, npartitions=3))
        assert series.npartitions == 3
        computed = series.compute()
        assert list(computed.index) == list(table.index)
        np.testing.assert_allclose(computed.to_numpy().astype(float), of_pieces.astype(float), atol=1e-4)


def test_whole_numbers_with_a_type_for_missing_ones_are_scored_on_dask():
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed: pip install dsg-lab[dask]")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=90), "g": pd.array(rng.integers(0, 4, 90), dtype="Int64")})
    model = QSGS2AUC(**SMALL).fit(table, np.arange(90) % 2)
    lazy = frames.from_pandas(table, npartitions=3)
    np.testing.assert_allclose(model.decision_function(lazy).compute(), model.decision_function(table), atol=1e-5)
    assert len(model.predict(lazy[lazy.a > 0]).compute()) == (table["a"] > 0).sum()


def scores(folder):
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"part-{number:06}.parquet" for number in range(len(files))]
    return np.concatenate([parquet.read_table(file).column("score").to_numpy() for file in files])


def test_every_row_group_has_its_file_of_scores_made_once_and_anew_where_its_data_changed(stored, tmp_path, capsys):
    def predict(data, out, *options):
        return main(["predict", str(folder / "model.npz"), str(data), "--out", str(tmp_path / out), *options])

    def expected(points):
        return np.concatenate([model.evaluate(points[start : start + GROUP]) for start in range(0, len(points), GROUP)])

    folder, model = stored
    for n_new in (20, 0):  # nothing is made twice
        assert predict(folder / "data", "out") == 0
        assert f"20 of 20 parts, {n_new} new" in capsys.readouterr().out
    assert np.array_equal(scores(tmp_path / "out"), expected(POINTS))
    for others in (("--features", "c,b,a"), ("--keep", "a")):
        assert predict(folder / "data", "out", *others, "--quiet") == 2
        assert "holds other data than this model's values at these points: choose another" in capsys.readouterr().err
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "part-000000.parquet").write_bytes(b"something else")
    for out, options, words in (
        ("no", ("--keep", "nowhere"), "there is no column 'nowhere'"),
        ("no", ("--features", "a,b"), "the model needs 3 feature columns, got 2"),
        ("foreign", (), "or one that this command has written, but"),
    ):
        assert predict(folder / "data", out, *options, "--quiet") == 2
        assert words in capsys.readouterr().err
    assert predict(folder / "data", "other", "--features", "c,b,a", "--quiet") == 0
    assert np.array_equal(scores(tmp_path / "other"), expected(POINTS[:, ::-1]))
    (nested := tmp_path / "nested" / "a=1").mkdir(parents=True)
    table = pd.DataFrame(POINTS, columns=list("abc"))
    for code, own in ((0, table[:50]), (2, table[50:100])):
        own.to_parquet(nested / "0.parquet")
        assert predict(nested.parent, "of nested", "--features", "a,b,c", "--quiet") == code
    table[:60].to_parquet(nested / "1.parquet")
    assert predict(nested.parent, "anew", "--features", "a,b,c", "--quiet") == 0
    assert len(scores(tmp_path / "anew")) == 110
    (tmp_path / "anew" / "part-000001.parquet").unlink()
    assert predict(nested.parent, "anew", "--features", "a,b,c") == 0
    assert "2 of 2 parts, 1 new" in capsys.readouterr().out

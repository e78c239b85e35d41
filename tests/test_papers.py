"""The papers' own values and figures: an estimator "as in the paper" is the paper's algorithm, and each figure is a study."""

import json
import math
from dataclasses import replace

import naive
import naive_problems
import naive_proximal
import numpy as np
import pytest
from cases import some
from opened_pages import checked, left_in_browser, open_page

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.__main__ import main
from dsgcore.core.parameters import ParameterError
from dsgcore.experiments import SETTINGS, Spec, as_in_paper, default_spec
from dsgcore.multiclass.task import make_task
from dsgcore.problems.as_in_paper import AS_IN_PAPER
from dsgcore.settings import profile_of
from dsgcore.solver.task import drawn
from dsgcore.studies import MEASURES, Study
from pages.pictures.results import NOT_COMPARABLE, OUTCOMES, result_of, results
from pages.studies.going import BUDGET
from pages.studies.study_links import link_to_study

FIGURES = [(setting, figure) for setting in SETTINGS for figure in profile_of(SETTINGS[setting]).figures]
# Of each paper, the figures and tables of its experiments.
NAMED = {
    "similar_unlabeled": ["fig1", "fig2", "fig3", "table4", "table5", "fig4"],
    "auc": ["fig1", "fig2"],
    "s3vm": ["fig2", "fig3"],
    "ordinal": ["fig1", "fig2"],
    "multiclass": ["fig1-left", "fig1-right", "table3"],
}
figures = pytest.mark.parametrize(("setting", "figure"), FIGURES, ids=[f"{s}-{f.name}" for s, f in FIGURES])


def keys(study):
    return [run.key for run in study.runs()]


def test_every_figure_of_the_experiments_is_there():
    assert {s: [f.name for f in profile_of(SETTINGS[s]).figures] for s in SETTINGS} == NAMED


@figures
def test_a_figure_is_a_study_at_both_sizes(setting, figure):
    small, full = (Study.from_dict(figure.study(setting, is_full=is_full)) for is_full in (False, True))
    assert not [run.refused for study in (small, full) for run in study.runs() if run.spec is None]
    assert len(full) > len(small) or set(keys(full)) != set(keys(small))
    axes = {axis["name"]: axis for axis in figure.study(setting, is_full=True)["axes"]}
    assert all(changes.items() <= axes[name].items() for name, changes in figure.full_axes.items())
    assert figure.measure in MEASURES
    assert figure.says.endswith(".")
    assert figure.differs.endswith(".")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("setting", "figure"), some(FIGURES, 4))
def test_a_figure_opens_on_the_explore_page_as_the_same_runs_and_leaves_a_link_to_them(setting, figure):
    study = Study.from_dict(figure.study(setting))
    app = checked(open_page("explore", **link_to_study(study, figure.measure)))
    assert not [*app.error, *app.warning]
    state = app.session_state["_exploring_explore"]
    assert keys(state.made.study) == keys(study)
    assert [axis.values for axis in state.made.study.axes] == [axis.values for axis in study.axes]
    assert state.price.seconds < BUDGET.seconds
    assert app.session_state["x_measure"] == figure.measure
    again = checked(open_page("explore", **left_in_browser(app)))
    assert keys(again.session_state["_exploring_explore"].made.study) == keys(study)


@pytest.mark.usefixtures("store")
def test_the_page_shows_statement_result_drawing_and_link_of_each_figure():
    found = {(s, f.name): result_of(s, f.name) for s, f in FIGURES}
    assert {outcome for outcome, _ in found.values()} <= set(OUTCOMES)
    assert not [figure for figure, (_, said) in found.items() if "not measured" in said]
    assert {(s, f) for s, own in results().items() for f in own} == set(found)
    assert result_of("auc", "fig9") == (NOT_COMPARABLE, "It was not measured here.")
    app = checked(open_page("papers"))
    said = [markdown.value for markdown in app.markdown]
    for _, figure in FIGURES:
        assert any(figure.says in text for text in said)
        assert any(figure.differs in text for text in said)
    marked = [text for text in said if any(f"**{outcome.capitalize()}.**" in text for outcome in OUTCOMES)]
    assert len(marked) == len(FIGURES)
    assert len([link for link in app.get("page_link") if link.proto.page == "explore"]) == len(FIGURES)
    missing = [caption.value for caption in app.caption if caption.value == "Not drawn here."]
    assert len(app.get("image")) + len(missing) == len(FIGURES)
    assert len(missing) == 3  # the tables


# As in the paper

rng = np.random.default_rng(3)
X = rng.uniform(size=(24, 3))
CODES = np.array([0, 1, 2, *rng.integers(0, 3, 9), *[-1] * 12])
BINARY = np.minimum(CODES, 1)
PAIRS = np.array([0, 0, 1, 1, 2, 2, *[-1] * 18])
SMALL = {"n_features": 5, "batch_size": 3, "n_iter": 6, "random_state": 7}


def streams(model, y):
    """The streams of a fit in the papers' terms: batches, frequencies in radians, steps and ridges."""
    f, ts = model.model_, range(1, model.n_iter_ + 1)
    rows = model._problem(y).bind(y).rows(y)
    batches = [tuple(own.tolist() for own in drawn(7, t, rows, 3).values()) for t in ts]
    eta = {"theta/t": lambda t: 1 / t, "theta/sqrt(T)": lambda t: 6**-0.5, "constant": lambda t: 1.0}[model.schedule]
    steps = [model.step_size * eta(t) for t in ts]
    return batches, [2 * np.pi * f.frequencies(t, 5) for t in ts], steps, [model.lam] * 6


def twin_of_auc(model, s):
    return naive.qsg_s2auc(X, *s, model.gamma)


def twin_of_tsgsu(model, s):
    return naive_problems.tsgsu(X, *s, 0.7, "squared", "absolute value", 1.0)


def twin_of_s3vm(model, s):
    n_p, n_n = (BINARY == 1).sum(), (BINARY == 0).sum()
    share, C_star = n_p / (n_p + n_n), model.C * (n_p + n_n) / (BINARY == -1).sum()
    return naive_problems.tsgs3vm(X, *s, model.C, C_star, share, "symmetric hinge", 0.0)


def twin_of_ordinal(model, s):
    return naive_problems.qs3orao(X, *s, [model.gamma] * 2, np.bincount(CODES[CODES >= 0]))


@pytest.mark.parametrize(
    ("model", "y", "twin"),
    [
        (QSGS2AUC.as_in_paper(**SMALL), BINARY, twin_of_auc),
        (QSGS2AUC.as_in_paper(lam=4.0, sigma=0.5, gamma=0.3, **SMALL), BINARY, twin_of_auc),
        (TSGSU.as_in_paper(prior=0.7, **SMALL), PAIRS, twin_of_tsgsu),
        (TSGS3VM.as_in_paper(**SMALL), BINARY, twin_of_s3vm),
        (TSGS3VM.as_in_paper(24, C=100.0, step_size=0.1, **SMALL), BINARY, twin_of_s3vm),
        (QS3ORAO.as_in_paper(**SMALL), CODES, twin_of_ordinal),
    ],
    ids=["auc", "auc-searched", "pairs", "s3vm", "s3vm-searched", "ordinal"],
)
def test_as_in_the_paper_is_the_papers_algorithm(model, y, twin):
    model.fit(X, y)
    s = streams(model, y)
    expected = [naive.predict(x, twin(model, s), s[1]) for x in X]
    assert model.n_iter_ == 6
    np.testing.assert_allclose(model.model_.evaluate(X), expected, rtol=1e-10, atol=1e-12)
    assert model.iterate_ is model.model_


def test_ps3vt_as_printed_is_algorithm_1():
    model = PS3VT.as_in_paper(n_iter=60, n_neighbors=4, random_state=5).fit(X, CODES)
    p, task = model.problem_, make_task(model.problem_, X, CODES, 5)
    batches = [task.batch(t) for t in range(1, 61)]
    M = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4))
    n_kept = math.ceil(p.theta * 3)
    Ws = naive_proximal.ps3vt(X[:12], CODES[:12], 3, batches, M, p.lam, p.tau_I, p.tau_S, n_kept, mu=1 / p.step_size)
    assert ({len(batch) for batch in batches}, p.ball, p.loss) == ({1}, 1.0, "hinge")
    np.testing.assert_allclose(model.coef_.T, Ws[-1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), X @ Ws[-1], rtol=1e-9, atol=1e-10)


def test_the_papers_values_are_the_printed_ones():
    model = TSGSU.as_in_paper()
    assert (model.n_features, model.batch_size, model.n_iter, model.schedule) == (1000, 1000, 100, "theta/sqrt(T)")
    model = TSGS3VM.as_in_paper(10_001)
    assert (model.n_features, model.batch_size, model.n_iter, model.C_per) == (101, 256, 40, "mean")
    assert QSGS2AUC.as_in_paper(lam=2.0).step_size == 0.75
    assert QSGS2AUC.as_in_paper(step_size=0.1).step_size == 0.1
    assert QS3ORAO.as_in_paper(gamma=(0.1, 0.9)).gamma == (0.1, 0.9)
    with pytest.raises(ParameterError, match="n must be the number of training points"):
        TSGS3VM.as_in_paper()
    with pytest.raises(TypeError, match="nonsense"):
        QSGS2AUC.as_in_paper(nonsense=1)


@pytest.mark.parametrize("setting", AS_IN_PAPER)
def test_a_spec_as_in_the_paper_is_the_estimators_and_keeps_what_the_grid_holds(setting):
    given = default_spec(setting)
    spec = as_in_paper(given, 1000)
    kind = {"auc": QSGS2AUC, "similar_unlabeled": TSGSU, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "multiclass": PS3VT}[
        setting
    ]
    plain = spec.to_dict()
    held = {**plain["problem"], **plain["kernel"], **plain["solver"]}
    searched = {name: held[name] for name in AS_IN_PAPER[setting].grid}
    model = kind.as_in_paper(1000, **searched).get_params()
    both = (model.keys() & held.keys()) - {"n_features", "batch_size", "n_iter", "tol", "prior", "leak", "sampling"}
    assert {name: model[name] for name in both - {"sigma"}} == {name: held[name] for name in both - {"sigma"}}
    assert as_in_paper(spec, 1000) == spec
    for name, (low, high) in AS_IN_PAPER[setting].grid.items():
        assert low <= searched[name] <= high or searched[name] == 0
    other = {**given.to_dict(), "kernel": {"name": "matern"}} if setting != "multiclass" else given.to_dict()
    assert as_in_paper(Spec.from_dict(other), 1000).kernel.name == "gaussian"


def test_the_command_runs_a_spec_as_in_the_paper(tmp_path):
    spec = default_spec("s3vm")
    spec = replace(spec, solver=replace(spec.solver, n_iter=9), diagnostics=replace(spec.diagnostics, n_probes=0))
    (tmp_path / "spec.json").write_text(spec.to_json())
    assert main(["run", str(tmp_path / "spec.json"), "--as-in-paper", "--out", str(tmp_path / "out"), "--quiet"]) == 0
    made = Spec.from_dict(json.loads((tmp_path / "out" / "spec.json").read_text()))
    n = json.loads((tmp_path / "out" / "result.json").read_text())["data"]["n_train"]
    assert made == as_in_paper(spec, n)
    assert made.solver.n_features == math.ceil(math.sqrt(n))

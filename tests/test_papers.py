"""The papers' own values and figures: an estimator "as in the paper" is the paper's algorithm, and each figure is a study."""

import json
import math
from dataclasses import replace
from functools import wraps
from pathlib import Path

import naive
import naive_problems
import naive_proximal
import numpy as np
import pandas as pd
import pytest
from cases import each, some
from numpy.testing import assert_allclose, assert_array_equal
from opened_pages import checked, left_in_browser, open_page
from streamlit.testing.v1 import AppTest

from dsgcore import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, load_model
from dsgcore.__main__ import main
from dsgcore.baselines import SAMULT
from dsgcore.comparing import reproductions as module
from dsgcore.comparing.reproductions import (
    carry_out_reproduction,
    kept,
    reproduction,
    reproductions,
)
from dsgcore.core.errors import DivergedError
from dsgcore.core.sampling import batches
from dsgcore.experiments import SETTINGS, Run, Spec, as_in_paper, default_spec
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.jobs import Job, JobState
from dsgcore.multiclass.loop import make_task
from dsgcore.problems.as_in_paper import AS_IN_PAPER, PLAIN
from dsgcore.settings import profile_of
from dsgcore.studies import MEASURES, Study
from dsgcore.studies.store import Store
from pages import papers
from pages.studies.going import BUDGET
from pages.studies.links import link_to_figure

FIGURES = [(setting, figure) for setting in SETTINGS for figure in profile_of(SETTINGS[setting]).figures]


def keys(study):
    return [run.key for run in study.runs()]


def asked_of(setting, figure):
    return reproductions()[f"{setting}/{figure.name}"]


# --- figures as studies, and on their pages


@each("setting, figure", FIGURES)
def test_a_figure_is_a_study_and_a_reproduction_whose_outcome_its_note_has(setting, figure):
    study, asked = Study.from_dict(figure.study(setting)), asked_of(setting, figure)
    assert not [run.refused for run in study.runs() if run.spec is None]
    assert figure.measure in MEASURES
    assert set(reproduction(asked.name, is_quick=True).sets) <= set(asked.sets)
    note = (Path(__file__).parents[1] / ".github" / "docs" / "notes" / "papers.md").read_text(encoding="utf-8")
    assert f"| {profile_of(SETTINGS[setting]).paper}, {figure.title} | {kept(asked).outcome} |" in note


NUMBERED = [(setting, number) for setting in SETTINGS for number in range(len(profile_of(SETTINGS[setting]).figures))]
# The first ones measure seconds: a link without a measure opens on scores.
NUMBERED.sort(key=lambda one: profile_of(SETTINGS[one[0]]).figures[one[1]].measure == "score")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("setting", "number"), some(NUMBERED, 4))
def test_a_figure_opens_on_the_explore_page_as_the_same_runs_and_leaves_a_link_to_them(setting, number):
    figure = profile_of(SETTINGS[setting]).figures[number]
    study = Study.from_dict(figure.study(setting))
    n_runs, link = link_to_figure(setting, number)
    app = checked(open_page("explore", **link))
    assert not [*app.error, *app.warning]
    state = app.session_state["_exploring_explore"]
    assert (keys(state.made.study), len(study)) == (keys(study), n_runs)
    assert [axis.values for axis in state.made.study.axes] == [axis.values for axis in study.axes]
    assert state.price.seconds < BUDGET.seconds
    assert app.session_state["x_measure"] == figure.measure
    again = checked(open_page("explore", **left_in_browser(app)))
    assert keys(again.session_state["_exploring_explore"].made.study) == keys(study)


@pytest.mark.usefixtures("jobs_here")
def test_a_quick_form_says_how_far_it_is_and_then_its_outcome_and_its_table(monkeypatch):
    def page():
        from dsgcore.comparing.reproductions import reproductions
        from pages import papers

        papers._offer_quick(reproductions()["ordinal/fig1"], "Fig. 1")

    found = kept(reproductions()["ordinal/fig1"])
    monkeypatch.setattr(papers, "find_set", lambda name, folder: name)
    monkeypatch.setattr(papers, "carry_out_reproduction", lambda asked, report: (report((1, 4, "one fit")), found)[1])
    app = checked(AppTest.from_function(page).run().button(key="quick-ordinal/fig1").click().run())
    (drawn,) = [one.value for one in app.markdown if one.value.startswith("The quick form: ")]
    assert drawn.endswith(f"**{found.outcome}.**\n\n{papers._table(found)}")
    job = app.session_state["_quick_forms"]["ordinal/fig1"] = Job()
    job.state, job.progress = JobState.RUNNING, (1, 4, "one fit")
    (progress,) = [one.proto for one in checked(app.run()).get("progress")]
    assert (progress.value, progress.text) == (25, "One fit")
    assert app.button(key="quick-ordinal/fig1").disabled
    monkeypatch.setattr(papers, "find_set", lambda name, folder: None)
    assert not checked(AppTest.from_function(page).run()).button


# --- as in the paper

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
    drawn = [tuple(own.tolist() for own in batches(7, t, rows, 3).values()) for t in ts]
    eta = {"theta/t": lambda t: 1 / t, "theta/sqrt(T)": lambda t: 6**-0.5, "constant": lambda t: 1.0}[model.schedule]
    return drawn, [2 * np.pi * f.frequencies(t, 5) for t in ts], [model.step_size * eta(t) for t in ts], [model.lam] * 6


def twin(model, y, streams):
    """The values of the dull twin of an estimator's paper."""
    n_labeled = (BINARY >= 0).sum()
    share, C_star = np.mean(BINARY[BINARY >= 0]), getattr(model, "labeled_weight", 1.0) * n_labeled / 12
    learned = {
        QSGS2AUC: lambda: naive.qsg_s2auc(X, *streams, model.gamma),
        TSGSU: lambda: naive_problems.tsgsu(X, *streams, 0.7, "squared", "absolute value", 1.0),
        TSGS3VM: lambda: naive_problems.tsgs3vm(
            X, *streams, model.labeled_weight, C_star, share, "symmetric hinge", 0.0
        ),
        QS3ORAO: lambda: naive_problems.qs3orao(X, *streams, [model.gamma] * 2, np.bincount(CODES[CODES >= 0])),
        DSG: lambda: naive_problems.dsg(X, *streams, share),
    }[type(model)]()
    return [naive.predict(x, learned, streams[1]) for x in X]


AS_PRINTED = [
    (QSGS2AUC.as_in_paper(**SMALL), BINARY),
    (QSGS2AUC.as_in_paper(lam=4.0, sigma=0.5, gamma=0.3, **SMALL), BINARY),
    (TSGSU.as_in_paper(prior=0.7, **SMALL), PAIRS),
    (TSGS3VM.as_in_paper(**SMALL), BINARY),
    (TSGS3VM.as_in_paper(24, labeled_weight=100.0, step_size=0.1, **SMALL), BINARY),
    (QS3ORAO.as_in_paper(**SMALL), CODES),
]


@each("model, y", AS_PRINTED)
def test_as_in_the_paper_is_the_papers_algorithm(model, y):
    model.fit(X, y)
    assert model.n_iter_ == 6
    assert_allclose(model.model_.evaluate(X), twin(model, y, streams(model, y)), rtol=1e-10, atol=1e-12)
    assert model.iterate_ is model.model_


WITH_FIXED = [
    (QSGS2AUC, BINARY, {"lam": 1.0, "pairing": "triplets", "is_pooled": False}),
    (TSGSU, PAIRS, {"lam": 1.0, "prior": 0.7, "correction": "absolute value"}),
    (TSGS3VM, BINARY, {"lam": 1.0, "labeled_weight": 10.0, "is_balanced": False}),
    (QS3ORAO, CODES, {"lam": 1.0, "pairing": "paired"}),
    (DSG, BINARY, {"lam": 0.1}),
]


@each("kind, y, given", WITH_FIXED)
def test_with_fixed_features_a_fit_is_the_algorithm_on_the_first_ones_in_a_model_of_one_block(kind, y, given):
    plain = {name: value for name, value in PLAIN.items() if name != "features"}
    given = {"step_size": 0.3, "sigma": 1.0, **plain, **given, **SMALL}
    model = kind(features="fixed", **given).fit(X, y)
    drawn, W, steps, lams = streams(model, y)
    expected = twin(model, y, (drawn, [W[0]] * 6, steps, lams))
    assert_allclose(model.model_.evaluate(X), expected, rtol=1e-10, atol=1e-12)
    assert_allclose(model.iterate_.evaluate(X), expected, rtol=1e-10, atol=1e-12)
    assert ([b.shape for b in model.model_.blocks], len(model.iterate_), model.n_iter_) == ([(2, 5)], 6, 6)
    assert np.abs(kind(**given).fit(X, y).model_.evaluate(X) - expected).max() > 1e-3  # with fresh ones
    tail = kind(features="fixed", **{**given, "average": "tail"}).fit(X, y)
    iterates = [tail.iterate_.evaluate(X, t) for t in (4, 5, 6)]
    assert_allclose(tail.model_.evaluate(X), np.mean(iterates, axis=0), rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match="fixed features stay 5, got n_features 8"):
        model.set_params(n_features=8).partial_fit(X, y)


@pytest.mark.parametrize("kernel", ["gaussian", "dot_product"])
def test_a_run_with_fixed_features_is_one_block_at_every_iteration(kernel, tmp_path):
    solver = {"features": "fixed", "n_features": 16, "n_iter": 24, "batch_size": 8, "dtype": "float64"}
    data, kernel = {"name": "two_moons", "n": 200, "n_labeled": 20}, {"name": kernel}
    spec = Spec.from_dict({"setting": "auc", "data": data, "kernel": kernel, "solver": {**solver, "average": "tail"}})
    run = Run(spec)
    run.advance(24)
    points, joined = run.split.X_test.astype(float), run.engine.model.joined()
    assert (len(joined), len(run.engine.model)) == (1, 24)
    for t in (1, 9, 24):
        view = run.at(t).engine
        assert_allclose(view.model.evaluate(points), view.test_values, rtol=1e-9, atol=1e-12)
    assert_allclose(StochasticEngine.learned(spec, run.split), run.engine.test_average, rtol=1e-9, atol=1e-12)
    # the band: the spread of the features' contributions to f
    W, alone = run.engine.model.frequencies(1, 16), np.zeros((16, 20))
    for j, out in enumerate(alone):
        own = spec.kernel.feature_map.alone(W, joined.blocks[0], j)
        spec.kernel.feature_map.evaluate(points[:20], own[0], own[1], 0.0, out)
    assert_allclose(run.engine.probes.variance[:20], (16 * alone).var(axis=0, ddof=1) / 16, rtol=1e-6)
    for model in (run.engine.model, joined):
        model.save(tmp_path / "model.npz")
        assert_array_equal(load_model(tmp_path / "model.npz").evaluate(points), model.evaluate(points))


def test_ps3vt_as_printed_is_algorithm_1():
    model = PS3VT.as_in_paper(n_iter=60, n_neighbors=4, random_state=5).fit(X, CODES)
    p, task = model.problem_, make_task(model.problem_, X, CODES, 5)
    batches = [task.batch(t) for t in range(1, 61)]
    M, n_kept = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4)), math.ceil(p.theta * 3)
    Ws = naive_proximal.ps3vt(X[:12], CODES[:12], 3, batches, M, p.lam, p.tau_I, p.tau_S, n_kept, mu=1 / p.step_size)
    assert ({len(batch) for batch in batches}, p.ball, p.loss) == ({1}, 1.0, "hinge")
    assert_allclose(model.coef_.T, Ws[-1], rtol=1e-10, atol=1e-12)
    assert_allclose(model.decision_function(X), X @ Ws[-1], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("variant", ["released", "printed"])
def test_a_run_of_ps3vt_as_in_the_paper_has_the_steps_of_its_variant(variant):
    spec = Spec.from_dict({"setting": "multiclass", "problem": {"variant": variant}, "solver": {"n_iter": 20}})
    run = Run(as_in_paper(spec, 1000))
    run.advance(20)
    assert run.spec.problem.variant == variant
    expected = run.spec.solver.step_size / (1 if variant == "printed" else 20 + spec.data.n_labeled)
    assert run.history.column("step_size")[-1] == run.engine.step_at(20) == pytest.approx(expected)


KINDS = {"auc": QSGS2AUC, "similar_unlabeled": TSGSU, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "multiclass": PS3VT}


@each("setting", AS_IN_PAPER)
def test_a_spec_as_in_the_paper_is_the_estimators_and_keeps_what_the_grid_holds(setting):
    plain = default_spec(setting).to_dict()
    spec = as_in_paper(Spec.from_dict(plain), 1000)
    held = {name: value for part in ("problem", "kernel", "solver") for name, value in spec.to_dict()[part].items()}
    tried = {**AS_IN_PAPER[setting].grid, **AS_IN_PAPER[setting].afterwards}
    model = KINDS[setting].as_in_paper(1000, **{name: held[name] for name in tried}).get_params()
    apart = {"n_features", "batch_size", "n_iter", "tol", "prior", "leak", "sampling", "sigma"}
    both = (model.keys() & held.keys()) - apart
    assert {name: model[name] for name in both} == {name: held[name] for name in both}
    assert as_in_paper(spec, 1000) == spec
    assert all(min(values) <= held[name] <= max(values) for name, values in tried.items())
    other = plain if setting == "multiclass" else plain | {"kernel": {"name": "matern"}}
    assert as_in_paper(Spec.from_dict(other), 1000).kernel.name == "gaussian"


# --- reproduce


def small(name, **changes):
    """A figure on a made-up set, small."""
    asked = reproductions()[name]
    kept = {"sets": ("made",), "unlabeled": (40,), "seeds": 3, "n_labeled": 40, "share_labeled": (), "n_iter": ()}
    return replace(asked, **{**kept, "rivals": asked.rivals[:1], "beside": (), "grid": {}, **changes})


@pytest.fixture
def made(tmp_path):
    """A folder with a set of two classes, which five even bins of the first column divide as well."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    y5 = 1 + np.argsort(np.argsort(X[:, 0])) // 30
    np.savez(tmp_path / "made.npz", X=X, y=np.where(X[:, 0] + 0.5 * rng.normal(size=150) > 0.4, 1, -1), y5=y5)
    return tmp_path


def test_a_set_that_is_fetched_is_read_with_its_zeros_and_each_column_from_0_to_1(tmp_path, monkeypatch):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path))
    (tmp_path / "cod-rna").mkdir()
    (tmp_path / "cod-rna" / "cod-rna").write_text("1 1:2 3:4\n-1 2:3\n1 1:1\n", encoding="utf-8")
    X, y = module.read_set(module.find_set("codrna", None), "binary")
    assert (X.tolist(), y.tolist()) == ([[1, 0, 1], [0, 1, 0], [0.5, 0, 0]], [1, 0, 1])


@pytest.mark.parametrize("name", some(sorted(reproductions()), 4))
def test_a_reproduction_measures_each_method_and_goes_on_where_it_was(name, made, tmp_path, monkeypatch):
    asked, store = small(name), Store(tmp_path / "store.sqlite")
    found = carry_out_reproduction(asked, made, store)
    assert (len(found.fits), found.missing) == (6, ())
    assert len(found.checks) == sum(len(claims) for _, _, claims in asked.methods.values())
    own, rival = (fits["score"].to_numpy() for _, fits in found.fits.groupby("method", sort=False))
    assert asked.claim == module.FASTER or found.checks[0].difference == pytest.approx(np.mean(own - rival))
    calls, measured = [], module.measured
    monkeypatch.setattr(module, "measured", wraps(measured)(lambda *given: calls.append(given) or measured(*given)))
    carry_out_reproduction(replace(asked, seeds=4), made, store)
    assert len(calls) == 4  # the first one of each method compiles, whatever the store has
    again = carry_out_reproduction(asked, made, store)
    assert len(calls) == 4
    pd.testing.assert_frame_equal(again.fits, found.fits)
    assert again.checks == found.checks


def test_a_rival_with_its_usual_values_is_not_searched(made, monkeypatch):
    monkeypatch.setattr(module, "chosen", lambda *given: found.append(given[1]) or {})
    found = []
    rivals = ({"of": "SAMULT"}, {"of": "SAMULT", "usual": True}, {"of": "SAMULT", "lam": 0.5, "usual": True})
    asked = small("auc/fig2", rivals=rivals, beside=(), grid={"sigma": [0.5], "lam": [0.2], "n_iter": [5]})
    fits = carry_out_reproduction(asked, made).fits
    names = ["QSG-S2AUC", "SAMULT", "SAMULT, usual values", "SAMULT, λ = 0.5, usual values"]
    assert list(fits["method"].unique()) == names
    usual = {name: value for name, value in SAMULT().get_params().items() if name in ("sigma", "lam")}
    assert found == [{}, {}, usual, usual | {"lam": 0.5}]


@pytest.mark.parametrize(("within", "outcome", "code"), [(0.2, "reproduced", 0), (-1.0, "not reproduced", 1)])
def test_the_command_says_what_the_fits_say_and_ends_with_0_if_the_claim_holds(
    within, outcome, code, made, tmp_path, monkeypatch, capsys
):
    asked, store = replace(small("auc/fig2"), within=within), tmp_path / "store.sqlite"
    monkeypatch.setattr("dsgcore.cli.compare.reproduction", lambda name, *, is_quick: asked)
    line = ["reproduce", "auc/fig2", "--data", str(made), "--store", str(store), "--json", str(tmp_path / "out.json")]
    assert main(line) == code
    said, found = capsys.readouterr().out, carry_out_reproduction(asked, made, Store(store))
    plain = json.loads((tmp_path / "out.json").read_text())
    assert said.startswith(f"auc/fig2: {outcome}. The paper: {asked.says}\n{asked.checked}\n")
    assert all(f"  {check.state:<5}  {check.words}" in said for check in found.checks)
    assert (plain["outcome"], plain["quick"], plain["missing"]) == (outcome, False, [])
    assert plain["fits"] == found.fits.to_dict("records")
    assert [check["state"] for check in plain["checks"]] == [check.state for check in found.checks]
    main([*line, "--quick"])
    assert f"\n{asked.why}\n" in said
    assert f"\nIn the kept fits, of the full form: {asked.why}\n" in capsys.readouterr().out


def test_a_step_that_diverges_on_all_points_is_halved_and_its_time_counts():
    y = np.arange(200) % 2
    split = module.drawn_split(np.random.default_rng(0).normal(size=(200, 2)) + y[:, None], y, 40, 100, 0)
    given = (QSGS2AUC, {"as_in_paper": True, "lam": 0.001, "step_size": 1500.0}, "auc", split, 0)
    with pytest.raises(DivergedError):
        module.made(*given).fit(split.X_train, split.y_train)
    seconds, score = module.measured(*given)
    assert seconds > 0.0
    assert 0.0 <= score <= 1.0

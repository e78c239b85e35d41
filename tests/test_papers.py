"""The papers' own values and figures: an estimator "as in the paper" is the paper's algorithm, and each figure is a study."""

import json
import math
import re
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
from live_page import figure as figure_on_page
from numpy.testing import assert_allclose, assert_array_equal
from opened_pages import checked, left_in_browser, open_page
from streamlit.testing.v1 import AppTest

from dsgcore import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, load_model
from dsgcore.__main__ import main
from dsgcore.baselines import SAMULT
from dsgcore.comparing import reproductions as module
from dsgcore.comparing.reproductions import (
    Reproduced,
    carry_out_reproduction,
    kept,
    reproduction,
    reproductions,
)
from dsgcore.core.errors import DivergedError, DSGError
from dsgcore.core.parameters import ParameterError
from dsgcore.core.sampling import batches
from dsgcore.experiments import SETTINGS, Run, Spec, as_in_paper, default_spec, theory_of
from dsgcore.experiments.spec import SpecError
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.jobs import Job, JobState
from dsgcore.multiclass.loop import make_task
from dsgcore.problems.as_in_paper import AS_IN_PAPER, PLAIN
from dsgcore.settings import profile_of
from dsgcore.settings.theorems import _lipschitz
from dsgcore.studies import MEASURES, Study
from dsgcore.studies.store import Store
from pages import papers
from pages.shell.plain_text import with_minus
from pages.studies.going import BUDGET
from pages.studies.links import link_to_figure

FIGURES = [(setting, figure) for setting in SETTINGS for figure in profile_of(SETTINGS[setting]).figures]
# Of each paper, the figures and tables of its experiments.
NAMED = {
    "similar_unlabeled": ["fig1", "fig2", "fig3", "table4", "table5", "fig4"],
    "auc": ["fig1", "fig2"],
    "s3vm": ["fig2", "fig3"],
    "ordinal": ["fig1", "fig2"],
    "multiclass": ["fig1-left", "fig1-right", "table3"],
}


def keys(study):
    return [run.key for run in study.runs()]


def asked_of(setting, figure):
    return reproductions()[f"{setting}/{figure.name}"]


# --- figures as studies, and on their pages


@each("setting, figure", FIGURES)
def test_a_figure_is_a_study(setting, figure):
    study = Study.from_dict(figure.study(setting))
    assert not [run.refused for run in study.runs() if run.spec is None]
    assert figure.measure in MEASURES


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


def assert_ends_as_its_table(drawn, found):
    """Assert that the chart ends with the means that the verdict and the first set's table have."""
    of_set = found.fits[found.fits["dataset"] == found.fits["dataset"].iloc[0]]
    means = of_set[of_set["at"] == of_set["at"].max()].groupby("method", sort=False)[["seconds", "score"]].mean()
    is_axis = len(getattr(found.asked, found.asked.axis)) > 1
    what, factor = ("seconds", 1.0) if is_axis and found.asked.claim == module.FASTER else ("score", 100.0)
    ends = {trace["name"]: np.array(trace["y"], float)[-1 if is_axis else 0] for trace in drawn["data"]}
    assert ends == pytest.approx({name: factor * mean for name, mean in means[what].items()}, rel=1e-3)


@pytest.mark.usefixtures("store")
def test_the_page_and_the_note_have_statement_verdict_numbers_and_link_of_each_figure():
    app = checked(open_page("papers"))
    said, captions = ("\n\n".join(one.value for one in every) for every in (app.markdown, app.caption))
    note = (Path(__file__).parents[1] / ".github" / "docs" / "notes" / "papers.md").read_text(encoding="utf-8")
    for setting, figure in FIGURES:
        asked = asked_of(setting, figure)
        found = kept(asked)
        words = [figure.says, figure.differs, *(with_minus(check.words) for check in found.checks)]
        for one in (*words, f"`dsg-lab reproduce {asked.name} "):
            assert one in said
        for name in found.fits["method"].unique():
            assert not re.search(r"_|\b(lam|centers|kernel|variant|correction) \w+$|\.0\b|(?<!\.)\b\d{4}", name), name
        verdict = f"**{found.outcome.capitalize()}.**"
        assert any(verdict in one.value and with_minus(asked.why) in one.value for one in app.markdown), asked.name
        assert {check.rival for check in found.checks} <= set(asked.methods)
        assert all(f"| {name} | score, % | seconds |" in said for name in found.fits["dataset"].unique())
        assert (f"Not run: needs {', '.join(found.missing)}." in captions) == bool(found.missing)
        assert_ends_as_its_table(figure_on_page(app, f"chart-{asked.name.replace('/', '-')}"), found)
        assert f"| {profile_of(SETTINGS[setting]).paper}, {figure.title} | {found.outcome} |" in note
    assert not re.search(r"[ (][-.]\d|0\.\d+ share", said), "a minus sign, a zero before the point, 50 %"
    for setting, paper in AS_IN_PAPER.items():
        assert SETTINGS[setting].citation in said
        assert paper.says in said
    assert len([link for link in app.get("page_link") if link.proto.page == "explore"]) == len(FIGURES)
    assert kept(replace(reproductions()["auc/fig1"], name="auc/fig9")).outcome == module.NOT_RUN


@pytest.mark.usefixtures("store")
def test_the_quick_form_is_a_button_where_its_sets_are_in_the_cache(made, monkeypatch):
    def buttons(app):
        return [button.key for button in app.button if button.label.startswith("Run the quick form")]

    monkeypatch.setenv("DSGLAB_CACHE", str(made))
    app = open_page("papers")
    assert buttons(app) == []
    caption = "Once its sets are there, a button runs the quick form. Needs sgemm: name a folder that holds sgemm.npz."
    assert caption in [one.value for one in app.caption]
    (made / "made.npz").rename(made / "sgemm.npz")
    assert buttons(open_page("papers")) == ["quick-ordinal/fig1", "quick-ordinal/fig2"]


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
    solver = {
        "features": "fixed",
        "n_features": 16,
        "n_iter": 24,
        "batch_size": 8,
        "dtype": "float64",
        "average": "tail",
    }
    data = {"name": "two_moons", "n": 200, "n_labeled": 20}
    plain = {"setting": "auc", "data": data, "kernel": {"name": kernel}, "solver": solver}
    spec = Spec.from_dict(plain)
    assert Spec.from_json(spec.to_json()) == spec
    assert spec.sha256 != Spec.from_dict({**plain, "solver": {**solver, "features": "fresh"}}).sha256
    assert "features" not in default_spec("auc").to_dict()["solver"]
    run = Run(spec)
    run.advance(24)
    points, joined = run.split.X_test.astype(float), run.engine.model.joined()
    assert (len(joined), len(run.engine.model)) == (1, 24)
    for t in (1, 9, 24):
        view = run.at(t)
        assert_allclose(view.engine.model.evaluate(points), view.engine.test_values, rtol=1e-9, atol=1e-12)
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
    with pytest.raises(SpecError, match="name must be"):
        run.change("n_features", 8)


def test_ps3vt_as_printed_is_algorithm_1():
    model = PS3VT.as_in_paper(n_iter=60, n_neighbors=4, random_state=5).fit(X, CODES)
    p, task = model.problem_, make_task(model.problem_, X, CODES, 5)
    batches = [task.batch(t) for t in range(1, 61)]
    M, n_kept = naive_proximal.graph_matrix(X, naive_proximal.laplacian(X, 4)), math.ceil(p.theta * 3)
    Ws = naive_proximal.ps3vt(X[:12], CODES[:12], 3, batches, M, p.lam, p.tau_I, p.tau_S, n_kept, mu=1 / p.step_size)
    assert ({len(batch) for batch in batches}, p.ball, p.loss) == ({1}, 1.0, "hinge")
    assert_allclose(model.coef_.T, Ws[-1], rtol=1e-10, atol=1e-12)
    assert_allclose(model.decision_function(X), X @ Ws[-1], rtol=1e-9, atol=1e-10)


def test_ps3vt_as_released_is_apart_from_as_printed():
    given = {"n_iter": 30, "n_neighbors": 4, "random_state": 5}
    models = {v: PS3VT.as_in_paper(variant=v, **given).fit(X, CODES) for v in ("released", "printed")}
    released, printed = models.values()
    assert released.problem_.ball == pytest.approx(released.problem_.lam**-0.5)
    assert_array_equal(printed.coef_, PS3VT.as_in_paper(**given).fit(X, CODES).coef_)
    assert np.linalg.norm(printed.coef_) == pytest.approx(1.0)
    assert np.linalg.norm(released.coef_) > 10.0
    for variant in models:
        spec = Spec.from_dict({"setting": "multiclass", "problem": {"variant": variant}, "solver": {"n_iter": 20}})
        run = Run(as_in_paper(spec, 1000))
        run.advance(20)
        assert run.spec.problem.variant == variant
        expected = run.spec.solver.step_size / (1 if variant == "printed" else 20 + spec.data.n_labeled)
        assert run.history.column("step_size")[-1] == run.engine.step_at(20) == pytest.approx(expected)


def test_the_papers_values_are_the_printed_ones():
    model = TSGSU.as_in_paper()
    assert (model.n_features, model.batch_size, model.n_iter, model.schedule) == (1000, 1000, 100, "theta/sqrt(T)")
    model = TSGS3VM.as_in_paper(10_001)
    assert (model.n_features, model.batch_size, model.n_iter, model.labeled_weight) == (101, 256, 40, 1.0)
    assert QSGS2AUC.as_in_paper(lam=2.0).step_size == 0.75
    assert QSGS2AUC.as_in_paper(step_size=0.1).step_size == 0.1
    assert QS3ORAO.as_in_paper(gamma=(0.1, 0.9)).gamma == (0.1, 0.9)
    assert AS_IN_PAPER["multiclass"].at(None)["tau_I"] == 3.16e-11  # the middle of those that are not 0
    with pytest.raises(ParameterError, match="n must be the number of training points"):
        TSGS3VM.as_in_paper()
    with pytest.raises(TypeError, match="nonsense"):
        QSGS2AUC.as_in_paper(nonsense=1)
    several = Spec.from_dict({"setting": "ordinal", "problem": {"gamma": [0.0, 0.5, 0.5, 1.0]}})
    assert _lipschitz(several) == pytest.approx(6.0)  # a weight for each place between classes
    assert theory_of(several).assumptions


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


def test_each_figure_of_the_papers_has_a_reproduction_and_a_quick_form_on_some_of_its_sets():
    named = [f"{setting}/{name}" for setting, names in NAMED.items() for name in names]
    assert sorted(reproductions()) == sorted(named) == sorted(asked_of(*one).name for one in FIGURES)
    for name in named:
        assert set(reproduction(name, is_quick=True).sets) <= set(reproductions()[name].sets)


def test_sets_come_with_the_package_or_are_fetched_or_are_named_with_a_way_to_get_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path))
    for name in ("iris", "wine"):
        X, y = module.read_set(module.find_set(name, None), "classes")
        assert (X.min(), X.max(), len(np.unique(y))) == (0.0, 1.0, 3)
    get = "Needs codrna, baby: fetch it with `dsg-lab data fetch cod-rna` and name a folder that holds baby.npz."
    assert module.how_to_get(["codrna", "baby"]) == get
    assert module.how_to_get(["svhn", "pet"]) == "Needs svhn, pet: name a folder that holds svhn.npz, pet.npz."
    assert main(["reproduce", "auc/fig1", "--quick", "--store", str(tmp_path / "store")]) == 1
    assert "dsg-lab data fetch cod-rna" in capsys.readouterr().out
    (tmp_path / "cod-rna").mkdir()
    (tmp_path / "cod-rna" / "cod-rna").write_text("1 1:2 3:4\n-1 2:3\n1 1:1\n", encoding="utf-8")
    X, y = module.read_set(module.find_set("codrna", None), "binary")
    assert X.tolist() == [[1, 0, 1], [0, 1, 0], [0.5, 0, 0]]
    assert y.tolist() == [1, 0, 1]
    assert module.find_set("real-sim", None) is None  # too large to be read whole


@pytest.mark.parametrize("name", some(sorted(reproductions()), 4))
def test_a_reproduction_measures_each_method_and_goes_on_where_it_was(name, made, tmp_path, monkeypatch):
    asked, store = small(name), Store(tmp_path / "store.sqlite")
    found = carry_out_reproduction(asked, made, store)
    assert len(found.fits) == 6
    assert (found.fits["seconds"] > 0).all()
    assert found.fits["score"].between(0.0, 1.0).all()
    assert (len(found.checks), found.missing) == (sum(len(claims) for _, _, claims in asked.methods.values()), ())
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


def test_the_outcome_follows_from_all_checks_by_the_interval_of_each():
    asked = replace(reproductions()["auc/fig2"], within=0.01)

    def found(*scores, asked=asked, chance=0.5, seconds=(1.0, 1.0, 1.0)):
        """A reproduction of methods whose scores start at these and grow by 0.01 a seed; a rival's fit takes a second."""
        all_scores = [one if isinstance(one, tuple) else (one, one + 0.01, one + 0.02) for one in scores]
        rows = [
            ("one", name, 9, seed, seconds[seed] if name == "QSG-S2AUC" else 1.0, score, chance)
            for name, own in zip(("QSG-S2AUC", "SAMULT", "PNU-AUC"), all_scores, strict=False)
            for seed, score in enumerate(own)
        ]
        return Reproduced(asked, pd.DataFrame(rows, columns=module.COLUMNS))

    outcomes = [found(0.8, *rivals).outcome for rivals in ((0.7, 0.805), (0.7, 0.9), (0.9,))]
    assert outcomes == [module.REPRODUCED, module.IN_PART, module.NOT_REPRODUCED]
    wide = found((0.7, 0.9, 0.8), (0.81, 0.81, 0.81))
    assert (wide.checks[0].state, wide.outcome) == ("open", "undecided")
    both = replace(asked, rivals=({"of": "SAMULT", "claims": ["faster", "better"]}, *asked.rivals[1:]))
    own = found(0.8, 0.805, 0.8, asked=both)
    expected = [("faster", "open"), ("better", "fails"), ("as good", "holds")]
    assert [(check.claim, check.state) for check in own.checks] == expected
    assert "against SAMULT less processor time and a score that is higher by a tenth of a point" in own.asked.checked
    better = replace(asked, claim="better", within=0.0)
    same, near = found(0.8, 0.8, (0.8002, 0.8101, 0.8200), asked=better).checks
    assert (same.state, same.words) == ("fails", "one against SAMULT: equal in every draw")
    assert (near.state, near.words) == ("fails", "one against PNU-AUC: -0.01 points (-0.03 to +0.01)")
    assert found((0.8, 0.812), (0.8, 0.81), asked=better).checks[0].state == "open"
    fast = replace(near, claim="faster", difference=math.log(128.0), low=math.log(0.314), high=math.log(2140.0))
    assert fast.words == "one against PNU-AUC: 130 times as fast (0.31 to 2,100)"
    below = found((0.8, 0.81, 0.82), (0.80002, 0.81001, 0.82), asked=better).checks[0]
    assert below.words == "one against SAMULT: +0.00 points (+0.00 to +0.00)"
    # A difference says nothing where one value for all points would pass as well.
    held, near = (found(0.8, 0.79, 0.6, chance=chance) for chance in (0.77, 0.78))
    assert (held.outcome, near.outcome) == (module.REPRODUCED, module.UNDECIDED)
    said = "+1.00 points (+1.00 to +1.00, needed above -1.0); neither is clearly 1.0 points above chance (78.0)"
    assert near.checks[0].words == f"one against SAMULT: {said}"
    assert found(0.8, 0.9, chance=0.85).outcome == module.NOT_REPRODUCED  # the rival learns
    held, near = (found(0.8, 0.7, asked=better, chance=chance) for chance in (0.78, 0.8))
    assert (held.outcome, near.outcome) == (module.REPRODUCED, module.UNDECIDED)
    assert near.checks[0].words.endswith("points (+10.00 to +10.00); neither is clearly above chance (80.0)")
    both = found(0.8, 0.7, asked=both, chance=0.9)
    assert [check.state for check in both.checks] == ["open", "open"]
    assert [check.chance for check in both.checks] == [pytest.approx(0.9)] * 2
    # A fit that learns nothing is not faster, however short it is; a longer one is slower all the same.
    speed, quick, slow = replace(asked, claim="faster", within=0.0), (0.5, 0.6, 0.7), (9.0, 8.0, 7.0)
    for seconds, states in ((quick, ["holds", "open"]), (slow, ["fails", "fails"])):
        learned, at_chance = (found(0.8, 0.9, asked=speed, chance=chance, seconds=seconds) for chance in (0.7, 0.8))
        assert [check.checks[0].state for check in (learned, at_chance)] == states
        assert at_chance.checks[0].words.endswith("); its fits are not clearly above chance (80.0)")
    rival_at_chance = found(0.8, 0.7, asked=speed, chance=0.75, seconds=quick)
    assert rival_at_chance.outcome == module.REPRODUCED


def test_more_points_than_a_set_has_are_all_that_the_test_leaves(made):
    found = carry_out_reproduction(small("auc/fig2", unlabeled=(40, 100, 200)), made)
    assert sorted(found.fits["at"].unique()) == [40, 80]  # 150 points, 40 labels, 30 for the test
    assert len(found.fits) == 12


def test_a_figure_whose_sets_are_not_there_is_not_run_and_says_which(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path / "cache"))
    line = ["reproduce", "ordinal/fig2", "--data", str(tmp_path), "--store", str(tmp_path / "store.sqlite")]
    assert main([*line, "--quick"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("ordinal/fig2: not run. Needs sgemm: name a folder that holds sgemm.npz. ")
    assert "--data" in said
    (tmp_path / "sgemm.npz").write_bytes(b"no archive")
    assert main(line) == 2
    assert "must hold X and y5" in capsys.readouterr().err


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


def test_the_labels_of_a_draw_are_of_all_classes_or_the_draw_is_refused():
    y = np.repeat([0, 1], [196, 4])
    split = module.drawn_split(np.zeros((200, 1)), y, 10, 50, 0)
    assert set(split.y_train) == {-1, 0, 1}
    assert (len(split.labeled), len(split.X_train), len(split.X_test)) == (10, 60, 140)
    with pytest.raises(DSGError, match="take more labels"):
        module.drawn_split(np.zeros((200, 1)), np.arange(200) % 20, 10, 50, 0)


def test_a_step_that_diverges_on_all_points_is_halved_and_its_time_counts():
    y = np.arange(200) % 2
    split = module.drawn_split(np.random.default_rng(0).normal(size=(200, 2)) + y[:, None], y, 40, 100, 0)
    given = (QSGS2AUC, {"as_in_paper": True, "lam": 0.001, "step_size": 1500.0}, "auc", split, 0)
    with pytest.raises(DivergedError):
        module.made(*given).fit(split.X_train, split.y_train)
    seconds, score = module.measured(*given)
    assert seconds > 0.0
    assert 0.0 <= score <= 1.0

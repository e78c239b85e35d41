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
from cases import some
from opened_pages import checked, left_in_browser, open_page

from dsgcore import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, load_model
from dsgcore.__main__ import main
from dsgcore.comparing import reproductions as module
from dsgcore.comparing.reproductions import (
    COLUMNS,
    FASTER,
    IN_PART,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    Reproduced,
    carry_out_reproduction,
    drawn_split,
    find_set,
    how_to_get,
    kept,
    reproduction,
    reproductions,
)
from dsgcore.core.errors import DivergedError, DSGError
from dsgcore.core.parameters import ParameterError
from dsgcore.core.sampling import batches
from dsgcore.experiments import SETTINGS, Run, Spec, as_in_paper, default_spec, theory_of
from dsgcore.experiments import race as race_module
from dsgcore.experiments.race import Heat, run_heats, title, with_fixed_features
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.multiclass.loop import make_task
from dsgcore.problems.as_in_paper import AS_IN_PAPER, PLAIN
from dsgcore.settings import profile_of
from dsgcore.settings.theorems import _lipschitz
from dsgcore.studies import MEASURES, Study
from dsgcore.studies.store import Store
from pages.studies.going import BUDGET
from pages.studies.links import link_to_study

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
    assert {s: [f.name for f in profile_of(SETTINGS[s]).figures] for s in SETTINGS if s in NAMED} == NAMED


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
def test_the_page_shows_statement_verdict_numbers_and_link_of_each_figure():
    app = checked(open_page("papers"))
    said = [markdown.value for markdown in app.markdown]
    for setting, figure in FIGURES:
        asked = reproductions()[f"{setting}/{figure.name}"]
        found = kept(asked)
        assert any(figure.says in text for text in said)
        assert any(figure.differs in text for text in said)
        assert any(f"**{found.outcome.capitalize()}.**" in text and asked.why in text for text in said)
        assert any(f"`dsg-lab reproduce {asked.name} " in text for text in said)
        assert {check.rival for check in found.checks} <= set(asked.methods)
        for check in found.checks:
            assert any(check.words in text for text in said)
        missing = f"Not run: needs {', '.join(found.missing)}."
        assert (missing in [caption.value for caption in app.caption]) == bool(found.missing)
    for setting, paper in AS_IN_PAPER.items():
        assert any(SETTINGS[setting].citation in text and paper.says in text for text in said)
    assert len([link for link in app.get("page_link") if link.proto.page == "explore"]) == len(FIGURES)
    assert kept(replace(reproductions()["auc/fig1"], name="auc/fig9")).outcome == NOT_RUN


@pytest.mark.usefixtures("store")
def test_the_quick_form_is_a_button_where_its_sets_are_in_the_cache(made, monkeypatch):
    monkeypatch.setenv("DSGLAB_CACHE", str(made))
    assert not [button for button in open_page("papers").button if button.label == "Run the quick form"]
    (made / "made.npz").rename(made / "sgemm.npz")
    keys = [button.key for button in open_page("papers").button if button.label == "Run the quick form"]
    assert keys == ["quick-ordinal/fig1", "quick-ordinal/fig2"]


def test_sets_of_the_package_need_no_file_and_others_are_named_with_a_way_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path))
    for name in ("iris", "wine"):
        X, y = module.read_set(find_set(name, None), "classes")
        assert (X.min(), X.max(), len(np.unique(y))) == (0.0, 1.0, 3)
    assert how_to_get(["codrna", "baby"]) == (
        "Needs codrna, baby: fetch it with `dsg-lab data fetch cod-rna` and name a folder that holds baby.npz."
    )
    caption = "Once its sets are there, a button runs the quick form. Needs sgemm: name a folder that holds sgemm.npz."
    assert caption in [one.value for one in open_page("papers").caption]


def test_the_note_has_the_verdicts_of_the_kept_fits():
    note = (Path(__file__).parents[1] / ".github" / "docs" / "notes" / "papers.md").read_text(encoding="utf-8")
    for setting, figure in FIGURES:
        outcome = kept(reproductions()[f"{setting}/{figure.name}"]).outcome
        assert f"| {profile_of(SETTINGS[setting]).paper}, {figure.title} | {outcome} |" in note


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
    drawn = [tuple(own.tolist() for own in batches(7, t, rows, 3).values()) for t in ts]
    eta = {"theta/t": lambda t: 1 / t, "theta/sqrt(T)": lambda t: 6**-0.5, "constant": lambda t: 1.0}[model.schedule]
    steps = [model.step_size * eta(t) for t in ts]
    return drawn, [2 * np.pi * f.frequencies(t, 5) for t in ts], steps, [model.lam] * 6


def twin_of_auc(model, s):
    return naive.qsg_s2auc(X, *s, model.gamma)


def twin_of_tsgsu(model, s):
    return naive_problems.tsgsu(X, *s, 0.7, "squared", "absolute value", 1.0)


def twin_of_s3vm(model, s):
    n_p, n_n = (BINARY == 1).sum(), (BINARY == 0).sum()
    share, C_star = n_p / (n_p + n_n), model.labeled_weight * (n_p + n_n) / (BINARY == -1).sum()
    return naive_problems.tsgs3vm(X, *s, model.labeled_weight, C_star, share, "symmetric hinge", 0.0)


def twin_of_ordinal(model, s):
    return naive_problems.qs3orao(X, *s, [model.gamma] * 2, np.bincount(CODES[CODES >= 0]))


@pytest.mark.parametrize(
    ("model", "y", "twin"),
    [
        (QSGS2AUC.as_in_paper(**SMALL), BINARY, twin_of_auc),
        (QSGS2AUC.as_in_paper(lam=4.0, sigma=0.5, gamma=0.3, **SMALL), BINARY, twin_of_auc),
        (TSGSU.as_in_paper(prior=0.7, **SMALL), PAIRS, twin_of_tsgsu),
        (TSGS3VM.as_in_paper(**SMALL), BINARY, twin_of_s3vm),
        (TSGS3VM.as_in_paper(24, labeled_weight=100.0, step_size=0.1, **SMALL), BINARY, twin_of_s3vm),
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


def twin_of_labels(model, s):
    return naive_problems.dsg(X, *s, np.mean(BINARY[BINARY >= 0] == 1))


@pytest.mark.parametrize(
    ("kind", "y", "twin", "given"),
    [
        (QSGS2AUC, BINARY, twin_of_auc, {"lam": 1.0, "pairing": "triplets", "is_pooled": False}),
        (TSGSU, PAIRS, twin_of_tsgsu, {"lam": 1.0, "prior": 0.7, "correction": "absolute value"}),
        (TSGS3VM, BINARY, twin_of_s3vm, {"lam": 1.0, "labeled_weight": 10.0, "is_balanced": False}),
        (QS3ORAO, CODES, twin_of_ordinal, {"lam": 1.0, "pairing": "paired"}),
        (DSG, BINARY, twin_of_labels, {"lam": 0.1}),
    ],
    ids=["auc", "pairs", "s3vm", "ordinal", "labels"],
)
def test_with_fixed_features_a_fit_is_the_algorithm_on_the_first_ones_in_a_model_of_one_block(kind, y, twin, given):
    plain = {name: value for name, value in PLAIN.items() if name != "features"}
    given = {"step_size": 0.3, "sigma": 1.0, **plain, **given, **SMALL}
    model = kind(features="fixed", **given).fit(X, y)
    drawn, W, steps, lams = streams(model, y)
    s = (drawn, [W[0]] * 6, steps, lams)
    expected = [naive.predict(x, twin(model, s), s[1]) for x in X]
    np.testing.assert_allclose(model.model_.evaluate(X), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.iterate_.evaluate(X), expected, rtol=1e-10, atol=1e-12)
    assert ([b.shape for b in model.model_.blocks], len(model.iterate_), model.n_iter_) == ([(2, 5)], 6, 6)
    fresh = kind(**given).fit(X, y)
    assert np.abs(fresh.model_.evaluate(X) - expected).max() > 1e-3
    tail = kind(features="fixed", **{**given, "average": "tail"}).fit(X, y)
    iterates = [tail.iterate_.evaluate(X, t) for t in (4, 5, 6)]
    np.testing.assert_allclose(tail.model_.evaluate(X), np.mean(iterates, axis=0), rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match="fixed features stay 5, got n_features 8"):
        model.set_params(n_features=8).partial_fit(X, y)


@pytest.mark.parametrize("kernel", ["gaussian", "dot_product"])
def test_a_run_with_fixed_features_is_one_block_at_every_iteration(kernel, tmp_path):
    plain = {
        "setting": "auc",
        "data": {"name": "two_moons", "n": 200, "n_labeled": 20},
        "kernel": {"name": kernel},
        "solver": {
            "features": "fixed",
            "n_features": 16,
            "n_iter": 24,
            "batch_size": 8,
            "dtype": "float64",
            "average": "tail",
        },
    }
    spec = Spec.from_dict(plain)
    assert Spec.from_json(spec.to_json()) == spec
    assert spec.sha256 != Spec.from_dict({**plain, "solver": {**plain["solver"], "features": "fresh"}}).sha256
    assert "features" not in default_spec("auc").to_dict()["solver"]
    run = Run(spec)
    run.advance(24)
    X = run.split.X_test.astype(float)
    joined = run.engine.model.joined()
    assert (len(joined), len(run.engine.model)) == (1, 24)
    for t in (1, 9, 24):
        view = run.at(t)
        np.testing.assert_allclose(view.engine.model.evaluate(X), view.engine.test_values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        StochasticEngine.learned(spec, run.split), run.engine.test_average, rtol=1e-9, atol=1e-12
    )
    # the band: the spread of the features' contributions to f
    W, map_ = run.engine.model.frequencies(1, 16), spec.kernel.feature_map
    each = np.stack([_alone(map_, W, joined.blocks[0], X[:20], j) for j in range(16)]) * 16
    np.testing.assert_allclose(run.engine.probes.variance[:20], each.var(axis=0, ddof=1) / 16, rtol=1e-6)
    for model in (run.engine.model, joined):
        model.save(tmp_path / "model.npz")
        np.testing.assert_array_equal(load_model(tmp_path / "model.npz").evaluate(X), model.evaluate(X))
    with pytest.raises(ParameterError, match="name must be"):
        run.change("n_features", 8)


def _alone(feature_map, W, block, X, j):
    own, out = feature_map.alone(W, block, X.shape[1], j), np.zeros(len(X))
    feature_map.evaluate(X, own[0], own[1], 0.0, out)
    return out


def test_fresh_races_fixed_at_equal_memory():
    spec = Spec.from_dict(
        {
            "setting": "s3vm",
            "data": {"name": "two_moons", "n": 200, "n_labeled": 10},
            "solver": {"n_iter": 6, "n_features": 8},
            "changes": [{"t": 5, "name": "n_features", "value": 16}],
        }
    )
    assert with_fixed_features(spec).solver.n_features == 4 * 8 + 2 * 16
    heats = run_heats(spec.to_json(), ["fixed"], (40,), 2)
    assert {heat.method for heat in heats} == {"TSGS3VM", "TSGS3VM, 64 fixed features"}
    assert all(0.0 <= heat.score <= 1.0 and heat.seconds > 0.0 for heat in heats)
    with pytest.raises(DSGError, match="leave 'fixed' out"):
        run_heats(default_spec("multiclass").to_json(), ["fixed"], (40,), 1)


def test_the_time_at_a_larger_size_is_expected_to_grow_with_the_square_of_the_points_but_with_fixed_features(
    monkeypatch,
):
    told = []

    def heat(spec, name, split, seed, expected, most):
        told.append((name, expected))
        return Heat(title(spec, name), int((split.y_train == -1).sum()), seed, 2.0, 0.5)

    monkeypatch.setattr(race_module, "_heat", heat)
    spec = {"setting": "auc", "data": {"name": "two_moons", "n": 300, "n_labeled": 10}, "solver": {"n_iter": 5}}
    run_heats(Spec.from_dict(spec).to_json(), ["fixed", "SAMULT"], (100, 10), 1)
    assert told[1:3] == [("fixed", 0.0), ("SAMULT", 0.0)]
    assert told[4:] == [("fixed", 2.0), ("SAMULT", pytest.approx(200.0))]


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


def test_ps3vt_as_released_is_apart_from_as_printed():
    given = {"n_iter": 30, "n_neighbors": 4, "random_state": 5}
    released, printed = (PS3VT.as_in_paper(variant=v, **given).fit(X, CODES) for v in ("released", "printed"))
    assert (printed.variant, released.problem_.ball) == ("printed", pytest.approx(released.problem_.lam**-0.5))
    np.testing.assert_array_equal(printed.coef_, PS3VT.as_in_paper(**given).fit(X, CODES).coef_)
    assert np.linalg.norm(printed.coef_) == pytest.approx(1.0)
    assert np.linalg.norm(released.coef_) > 10.0
    for variant in ("printed", "released"):
        spec = Spec.from_dict({"setting": "multiclass", "problem": {"variant": variant}, "solver": {"n_iter": 20}})
        spec = as_in_paper(spec, 1000)
        run = Run(spec)
        run.advance(20)
        assert spec.problem.variant == variant
        expected = spec.solver.step_size / (1 if variant == "printed" else 20 + spec.data.n_labeled)
        assert run.history.column("step_size")[-1] == run.engine.step_at(20) == pytest.approx(expected)


def test_the_printed_constants_take_a_weight_for_each_place_between_classes():
    spec = Spec.from_dict({"setting": "ordinal", "problem": {"gamma": [0.0, 0.5, 0.5, 1.0]}})
    assert _lipschitz(spec) == pytest.approx(6.0)
    assert theory_of(spec).assumptions


def test_the_papers_values_are_the_printed_ones():
    model = TSGSU.as_in_paper()
    assert (model.n_features, model.batch_size, model.n_iter, model.schedule) == (1000, 1000, 100, "theta/sqrt(T)")
    model = TSGS3VM.as_in_paper(10_001)
    assert (model.n_features, model.batch_size, model.n_iter, model.labeled_weight) == (101, 256, 40, 1.0)
    assert QSGS2AUC.as_in_paper(lam=2.0).step_size == 0.75
    assert AS_IN_PAPER["multiclass"].at(None)["tau_I"] == 3.16e-11  # the middle of those that are not 0
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
    tried = {**AS_IN_PAPER[setting].grid, **AS_IN_PAPER[setting].afterwards}
    searched = {name: held[name] for name in tried}
    model = kind.as_in_paper(1000, **searched).get_params()
    both = (model.keys() & held.keys()) - {"n_features", "batch_size", "n_iter", "tol", "prior", "leak", "sampling"}
    assert {name: model[name] for name in both - {"sigma"}} == {name: held[name] for name in both - {"sigma"}}
    assert as_in_paper(spec, 1000) == spec
    for name, values in tried.items():
        assert min(values) <= searched[name] <= max(values)
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


# Reproduce


def small(name, **changes):
    """A figure on a made-up set, small."""
    asked = reproductions()[name]
    kept = {"sets": ("made",), "unlabeled": (40,), "seeds": 3, "n_labeled": 20, "share_labeled": (), "n_iter": ()}
    return replace(asked, **{**kept, "rivals": asked.rivals[:1], "beside": (), "grid": {}, **changes})


@pytest.fixture
def made(tmp_path):
    """A folder with a set of two classes, which five even bins of the first column divide as well."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    y5 = 1 + np.argsort(np.argsort(X[:, 0])) // 30
    np.savez(tmp_path / "made.npz", X=X, y=np.where(X[:, 0] + 0.5 * rng.normal(size=150) > 0.4, 1, -1), y5=y5)
    return tmp_path


def test_the_list_of_reproductions_names_figures_of_the_papers_and_known_rivals(capsys):
    assert main(["reproduce", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(reproductions())
    assert lines[0].startswith("auc/fig1                  reproduced            5 sets, 3 seeds, 180 fits in 239 s")
    assert {name: set(figures) for name, figures in NAMED.items()} == {
        setting: {name.split("/")[1] for name, asked in reproductions().items() if asked.setting == setting}
        for setting in NAMED
    }
    for name, asked in reproductions().items():
        assert asked.claim in (FASTER, "better", "as good")
        quick = reproduction(name, is_quick=True)
        assert set(quick.sets) <= set(asked.sets)
        assert len(quick.methods) == 1 + len(quick.rivals) + len(quick.beside)


def test_a_fetched_set_serves_as_the_figures_set(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path))
    assert main(["reproduce", "auc/fig1", "--quick", "--store", str(tmp_path / "store")]) == 1
    assert "dsg-lab data fetch cod-rna" in capsys.readouterr().out
    file = tmp_path / "cod-rna" / "cod-rna"
    file.parent.mkdir()
    file.write_text("1 1:2 3:4\n-1 2:3\n1 1:1\n", encoding="utf-8")
    X, y = module.read_set(module.find_set("codrna", None), "binary")
    assert X.tolist() == [[1, 0, 1], [0, 1, 0], [0.5, 0, 0]]
    assert y.tolist() == [1, 0, 1]
    assert module.find_set("real-sim", None) is None  # too large to be read whole


@pytest.mark.parametrize("name", some(sorted(reproductions()), 4))
def test_a_reproduction_measures_each_method_and_goes_on_where_it_was(name, made, tmp_path, monkeypatch):
    store = Store(tmp_path / "store.sqlite")
    asked = small(name, n_labeled=40)
    found = carry_out_reproduction(asked, made, store)
    assert len(found.fits) == 6
    assert (found.fits["seconds"] > 0).all()
    assert found.fits["score"].between(0.0, 1.0).all()
    assert (len(found.checks), found.missing) == (sum(len(claims) for _, _, claims in asked.methods.values()), ())
    own, rival = (fits["score"] for _, fits in found.fits.groupby("method", sort=False))
    if asked.claim != FASTER:
        expected = own.to_numpy() - rival.to_numpy()
        assert found.checks[0].difference == pytest.approx(np.mean(expected))
    calls, measured = [], module.measured
    monkeypatch.setattr(module, "measured", wraps(measured)(lambda *given: calls.append(given) or measured(*given)))
    carry_out_reproduction(replace(asked, seeds=4), made, store)
    assert len(calls) == 3  # the first one compiles, whatever the store has
    monkeypatch.setattr(module, "measured", wraps(measured)(lambda *_: pytest.fail("it has been measured")))
    again = carry_out_reproduction(asked, made, store)
    pd.testing.assert_frame_equal(again.fits, found.fits)
    assert again.checks == found.checks


def test_the_outcome_follows_from_all_checks_by_the_interval_of_each():
    asked = replace(reproductions()["auc/fig2"], within=0.01)

    def found(ours, *rivals):
        methods = [("QSGS2AUC", ours), *zip(("SAMULT", "PNUAUC"), rivals, strict=False)]
        rows = [("one", name, 9, seed, 1.0, score) for name, own in methods for seed, score in enumerate(own)]
        return Reproduced(asked, pd.DataFrame(rows, columns=COLUMNS))

    def outcome(*scores):
        return found((0.8, 0.81, 0.82), *((score, score + 0.01, score + 0.02) for score in scores)).outcome

    assert (outcome(0.7, 0.805), outcome(0.7, 0.9), outcome(0.9)) == (REPRODUCED, IN_PART, NOT_REPRODUCED)
    wide = found((0.7, 0.9, 0.8), (0.81, 0.81, 0.81))
    assert (wide.checks[0].state, wide.outcome) == ("open", "undecided")
    both = replace(asked, rivals=({"of": "SAMULT", "claims": ["faster", "better"]}, *asked.rivals[1:]))
    own = Reproduced(both, found((0.8, 0.81, 0.82), (0.805, 0.815, 0.825), (0.8, 0.81, 0.82)).fits)
    assert [(check.claim, check.state) for check in own.checks] == [
        ("faster", "open"),
        ("better", "fails"),
        ("as good", "holds"),
    ]
    assert own.asked.methods.keys() == asked.methods.keys()
    assert "against SAMULT less processor time and a higher score" in own.asked.checked


def test_a_figure_whose_sets_are_not_there_is_not_run_and_says_which(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path / "cache"))
    store = ["--store", str(tmp_path / "store.sqlite")]
    assert main(["reproduce", "ordinal/fig2", "--quick", "--data", str(tmp_path), *store]) == 1
    said = capsys.readouterr().out
    assert said.startswith("ordinal/fig2: not run. Needs sgemm: name a folder that holds sgemm.npz. ")
    assert "--data" in said
    (tmp_path / "sgemm.npz").write_bytes(b"no archive")
    assert main(["reproduce", "ordinal/fig2", "--data", str(tmp_path), *store]) == 2
    assert "must hold X and y5" in capsys.readouterr().err


@pytest.mark.parametrize(("within", "outcome", "code"), [(1.0, REPRODUCED, 0), (-1.0, NOT_REPRODUCED, 1)])
def test_the_command_says_what_the_fits_say_and_ends_with_0_if_the_claim_holds(
    within, outcome, code, made, tmp_path, monkeypatch, capsys
):
    asked, store = replace(small("auc/fig2", n_labeled=40), within=within), tmp_path / "store.sqlite"
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


def test_the_labels_of_a_draw_are_of_all_classes_or_the_draw_is_refused():
    y = np.repeat([0, 1], [196, 4])
    split = drawn_split(np.zeros((200, 1)), y, 10, 50, 0)
    assert set(split.y_train) == {-1, 0, 1}
    assert (len(split.labeled), len(split.X_train), len(split.X_test)) == (10, 60, 140)
    with pytest.raises(DSGError, match="take more labels"):
        drawn_split(np.zeros((200, 1)), np.arange(200) % 20, 10, 50, 0)


def test_a_step_that_diverges_on_all_points_is_halved_and_its_time_counts():
    drawn = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = drawn.normal(size=(200, 2)) + y[:, None]
    split = drawn_split(X, y, 40, 100, 0)
    values = {"as_in_paper": True, "lam": 0.001, "step_size": 1500.0}
    with pytest.raises(DivergedError):
        module.made(QSGS2AUC, values, "auc", split, 0).fit(split.X_train, split.y_train)
    seconds, score = module.measured(QSGS2AUC, values, "auc", split, 0)
    assert seconds > 0.0
    assert 0.0 <= score <= 1.0

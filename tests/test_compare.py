"""Pinned runs beside each other, and a run over ten seeds, without a browser."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each
from opened_pages import checked, open_page, run_of, said
from test_edits import send
from test_explore import figure, fill, opened

from dsgcore.experiments import Run, Spec, default_spec
from dsgcore.experiments.export import summary
from dsgcore.studies import Store, Study, StudyRuns, curves_of
from dsgcore.studies.results import EVALUATIONS, SECONDS, x_values

DATA = {"name": "two_moons", "n": 200, "n_labeled": 20}
SPEC = Spec.from_dict({"setting": "auc", "data": DATA, "solver": {"n_iter": 6, "n_features": 8}})
OTHER = Spec.from_dict({"setting": "auc", "data": DATA, "solver": {"n_iter": 4, "n_features": 8, "step_size": 0.1}})
SEEDS = (0, 1, 2)


def made(store, *specs):
    """The runs of some specs over a few seeds, made and kept."""
    runs = StudyRuns(Study(specs[0], seeds=SEEDS, others=specs[1:]))
    for one in runs.runs:
        run = Run(one.spec)
        run.advance()
        store.put(one.spec.to_json(), summary(run), {name: run.history.column(name) for name in run.history.names})
    runs.refresh(store)
    return runs


def test_specs_over_seeds_are_plain_data_and_their_runs_have_the_seeds():
    gathered = Study(SPEC, seeds=SEEDS, others=(OTHER,))
    assert Study.from_dict(gathered.to_dict()) == gathered
    assert [(run.values, run.seed, run.spec.seed) for run in gathered.runs()][2:4] == [((0,), 2, 2), ((1,), 0, 0)]
    assert len(gathered) == 6


def test_curves_over_seeds_have_a_median_and_a_band(store):
    runs = made(store, SPEC)
    curves = curves_of(store, runs.hashes)
    assert curves.values.shape == (3, 6)
    assert (curves.middle == np.median(curves.values, axis=0)).all()
    assert (curves.low == curves.values.min(axis=0)).all()
    assert (curves.high == curves.values.max(axis=0)).all()
    assert runs.results("score").values[0] == pytest.approx(curves.values[:, -1])
    stored = [runs.stored[name] for name in runs.hashes]
    assert x_values(EVALUATIONS, curves.t, SPEC, stored).tolist() == [8 * 128 * t for t in range(1, 7)]
    assert x_values(SECONDS, curves.t, SPEC, stored)[-1] == pytest.approx(np.mean([run.seconds for run in stored]))


def test_one_pin_asks_for_another_and_two_settings_are_not_compared(store):
    other = default_spec("s3vm")
    for spec in (SPEC, other):
        store.keep("pin", [(spec.sha256, spec.to_json(), None)])
    app = opened(page="pinned", runs=SPEC.sha256[:12])
    assert "One is pinned" in "".join(m.value for m in app.markdown)
    app = opened(page="pinned", runs=f"{SPEC.sha256[:12]},{other.sha256[:12]}")
    assert "different settings" in app.info[0].value
    app = opened(page="pinned", runs=f"{SPEC.sha256[:12]},{OTHER.sha256[:12]}")
    assert not app.info


def test_pins_of_a_link_are_compared_with_what_differs_and_by_how_much(store):
    runs = made(store, SPEC, OTHER)
    for spec in (SPEC, OTHER):
        store.keep("pin", [(spec.sha256, spec.to_json(), None)])
    app = opened(page="pinned", runs=f"{SPEC.sha256[:12]},{OTHER.sha256[:12]},{'0' * 12}", seeds="3")
    assert "0" * 12 in app.warning[0].value
    scores, parameters = (frame.value for frame in app.dataframe)
    assert scores["run"].tolist() == ["A: Two moons", "B: Two moons"]
    difference = runs.results("score").compared(1, 0)
    assert scores["minus A"][1] == f"{difference.mean:+.2g}"
    assert scores["95 % interval"][1] == f"{difference.low:+.2g} to {difference.high:+.2g}"
    assert parameters.set_index("parameter").T.to_dict() == {
        "Step size": {"A": "0.5", "B": "0.1"},
        "Iterations": {"A": "6", "B": "4"},
    }
    assert [trace["name"] for trace in figure(app, "chart-pinned")["data"][-2:]] == ["A: Two moons", "B: Two moons"]
    app.segmented_control(key="c_by").set_value(SECONDS).run()
    assert not app.exception
    app.button(key=f"unpin-{SPEC.sha256[:12]}").click().run()
    assert not app.exception
    assert len(app.session_state["_pins"]) == 1


def test_a_link_adds_as_many_pins_as_there_are_places_beside_the_sessions(store):
    own, other = ([replace(SPEC, seed=seed) for seed in seeds] for seeds in (range(5), range(5, 11)))
    for spec in (*own, *other):
        store.keep("pin", [(spec.sha256, spec.to_json(), None)])
    app = opened("data")
    app.session_state["_pins"] = {spec.sha256: spec for spec in own}
    app.query_params["runs"] = ",".join(spec.sha256[:12] for spec in (own[1], *other))
    (notice,) = said(app.switch_page("pages/pinned.py").run())
    assert list(app.session_state["_pins"].values()) == [*own, *other[:3]]
    assert notice.endswith(f"runs of the link: {', '.join(spec.sha256[:12] for spec in other[3:])}.")


def test_a_visit_without_a_link_opens_no_store(monkeypatch):
    monkeypatch.setattr("pages.studies.pins.Store", None)
    checked(open_page("pinned"))


@pytest.mark.usefixtures("store")
def test_a_hostile_link_is_refused_in_a_sentence():
    app = opened(page="pinned", runs="' OR 1=1 --,%,zz" + "f" * 500)
    assert "runs that are not pinned" in app.warning[0].value


@each(
    "text",
    ["", "null", "[]", "{", '{"setting": "auk"}', '{"setting": "auc", "solver": {"step_size": "x"}}', '{"data": 3}'],
)
def test_a_pin_whose_spec_is_no_longer_valid_is_left_out_in_a_sentence(store, text):
    name = "ab" * 32
    store.keep("pin", [(name, text, None)])
    app = opened(page="pinned", runs=name[:12])
    (notice,) = said(app)
    assert f"runs that are not pinned or no longer valid: {name[:12]}" in notice


def test_a_run_of_the_workbench_is_shown_over_ten_seeds_once_they_are_there(monkeypatch, tmp_path):
    monkeypatch.setenv("DSGLAB_STORE", str(tmp_path / "runs.sqlite"))
    link = {"at": "2", "solver.n_iter": "16", "solver.n_features": "16"}
    app = opened(page="auc", **link)
    app.session_state["tabs"] = "Race"
    app.run()
    state = app.session_state["_exploring_repeats_auc"]
    assert len(state.made.runs) == 20  # with the twin
    assert app.button(key="repeats-start").label == "Run with 10 seeds"
    fill(Store(tmp_path / "runs.sqlite"), state.made, is_diverging=False)
    app.run()
    assert not app.exception
    said = next(m.value for m in app.markdown if "10 seeds" in m.value or "of 10 seeds" in m.value)
    assert "mean and standard error of 10 seeds" in said
    # The twin has the scores of the later places: higher by the same amount for each seed.
    effect = next(m.value for m in app.markdown if "HURTS" in m.value)
    assert "-0.1 [-0.1, -0.1]" in effect
    assert "paired over 10 seeds" in effect
    assert "its 95 % interval lies below 0" in effect
    assert "labels only, median" in [trace.get("name") for trace in figure(app, "chart-repeats")["data"]]
    app.button(key="pin-auc").click().run()
    assert len(app.session_state["_pins"]) == 1


@pytest.mark.usefixtures("store")
def test_ten_seeds_can_be_run_again_after_an_edit_that_fits_one_seed_is_undone():
    app = open_page("auc", at="2", **{"view.by_hand": "true", "solver.n_iter": "4"})
    assert app.button(key="repeats-start")
    app = checked(send(app, {"do": "erase", "rows": [int(run_of(app).split.train_rows[-1])]}))
    (refused,) = (caption.value for caption in app.caption if caption.value.startswith("Over 10 seeds"))
    app = checked(send(app, {"do": "undo"}, first=2))
    assert refused not in [caption.value for caption in app.caption]
    assert app.button(key="repeats-start")

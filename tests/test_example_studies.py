"""The finished examples of the pages Explore and Convergence: small files, made again, and gone once a study begins."""

import json

import numpy as np
import pytest
from test_explore import figure, fill, looked_at, opened

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from dsgcore.studies import StudyRuns
from dsgcore.studies.examples import (
    FOLDER,
    STATES,
    _thinned,
    columns_of_study,
    example_study,
    example_ways,
    rounded,
)
from dsgcore.studies.examples.__main__ import make_again
from pages.studies.trajectory_asking import WITH_A_WAY

pytestmark = pytest.mark.usefixtures("store")


def is_example(app):
    """Return True if the page says that it shows an example."""
    return any(info.value.startswith("**Example:** ") for info in app.info)


def test_the_files_are_small():
    files = list(FOLDER.glob("*.npz"))
    assert len(files) == len(SETTINGS) + len(WITH_A_WAY)
    assert sum(file.stat().st_size for file in files) < 90_000


@pytest.mark.weekly
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_run_of_an_example_made_again_is_the_same(setting, store):
    made = example_study(setting)
    best = int(made.results("score").ranking()[0])
    run = made.runs[best * len(made.study.seeds)]
    text, summary, columns = made.study.make(run.text)
    again = store.put(text, summary, columns)
    kept = made.stored[run.key]
    assert again.score == pytest.approx(kept.score, rel=2e-3)
    assert again.objective == pytest.approx(kept.objective, rel=1e-2)
    assert (again.state, again.iterations) == (kept.state, kept.iterations)


@pytest.mark.parametrize("setting", WITH_A_WAY)
def test_a_curve_of_an_example_made_again_is_the_same(setting):
    example = example_ways(setting)
    run = next(iter(example.study.runs()))
    way, kept = _thinned(example.study.make(run.text)[2]), example.found[0]
    np.testing.assert_array_equal(way["t"], kept.t)
    for name in kept.quantities:
        np.testing.assert_allclose(kept.columns[name][0], way[name], rtol=2e-2, err_msg=name)


@pytest.mark.parametrize("setting", SETTINGS)
def test_explore_opens_with_a_question_that_can_be_asked_and_a_finished_example(setting):
    app = opened(x_setting=profile_of(SETTINGS[setting]).short)
    assert not app.error
    asked = looked_at(app).made
    assert asked.study.spec.problem.name == setting
    assert len(asked.study.axes) == 2
    assert all(run.spec is not None for run in asked.runs)
    assert is_example(app)
    (heat,) = [trace for trace in figure(app)["data"] if trace["type"] == "heatmap"]
    made = example_study(setting)
    assert np.isfinite(np.array(heat["z"], dtype=float)).sum() >= len(made.points) // 2
    assert app.button(key="study-start")
    values = next(frame.value for frame in app.dataframe if "parameter" in frame.value)
    spec = made.study.spec
    assert values.set_index("parameter")["value"]["Iterations"] == str(spec.solver.n_iter)
    assert any(f"python -m dsgcore.studies.examples study-{setting}" in code.value for code in app.code)


def test_the_readers_own_study_replaces_the_example(store):
    app = opened()
    assert is_example(app)
    fill(store, looked_at(app).made)
    app = opened()
    assert not is_example(app)
    assert "All runs are done" in "".join(m.value for m in app.markdown)


def test_the_example_goes_when_a_study_is_begun(monkeypatch):
    app = opened()
    monkeypatch.setattr("pages.studies.going.Exploring.is_going", True)
    assert not is_example(app.run())
    app = opened("convergence")
    assert not is_example(app)


def test_a_point_of_the_example_opens_in_the_workbench():
    app = opened()
    point = next(box for box in app.selectbox if box.label == "Point")
    assert len(point.options) > 10


def test_numbers_are_rounded_to_four_digits():
    values = np.array([123456.0, 0.00123456, -1.0, 0.0, np.nan, np.inf])
    np.testing.assert_allclose(rounded(values), [123500.0, 0.001235, -1.0, 0.0, np.nan, np.inf])


def test_the_command_makes_an_example_again(monkeypatch, tmp_path):
    study = example_study("auc").study.to_dict()
    study["axes"] = [{"name": "solver.step_size", "values": [0.1]}]
    study["seeds"] = [0]
    study["spec"]["solver"]["n_iter"] = 3
    monkeypatch.setattr("dsgcore.studies.examples.FOLDER", tmp_path)
    np.savez_compressed(tmp_path / "study-auc.npz", study=np.array(json.dumps(study)))
    make_again("study", "auc")
    with np.load(tmp_path / "study-auc.npz") as archive:
        assert json.loads(str(archive["study"]))["seeds"] == [0]
        assert STATES[int(archive["state"][0])] == "finished"
        assert 0.0 < archive["score"][0] <= 1.0


def test_columns_of_a_study_are_those_of_the_store(store):
    made = StudyRuns(looked_at(opened()).made.study)
    fill(store, made)
    columns = columns_of_study(made.study, store)
    assert columns["score"].shape == (len(made.runs),)
    assert {STATES[int(state)] for state in columns["state"]} == {"finished", "diverged"}

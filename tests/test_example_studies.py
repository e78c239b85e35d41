"""The finished examples of the pages Explore and Convergence: small files, made again, and gone once a study begins."""

import json

import numpy as np
import pytest
from test_explore import figure, fill, looked_at, opened

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from dsgcore.studies import Store
from dsgcore.studies.examples import FILE, KIND, example_study, example_trajectories, make_again
from pages.studies.trajectory_asking import WITH_A_WAY

pytestmark = pytest.mark.usefixtures("store")


def is_example(app):
    """Return True if the page says that it shows an example."""
    return any(info.value.startswith("**Example:** ") for info in app.info)


def test_the_store_is_small_and_holds_an_example_of_each_page():
    names = {f"study-{setting}" for setting in SETTINGS} | {f"ways-{setting}" for setting in WITH_A_WAY}
    assert Store(FILE, is_fixed=True).kept(KIND).keys() == names
    assert FILE.stat().st_size < 400_000


def test_the_store_is_read_where_nothing_can_be_written(monkeypatch):
    monkeypatch.setattr("pathlib.Path.mkdir", lambda *_, **__: pytest.fail("a folder is made"))
    before = FILE.read_bytes()
    assert example_study.__wrapped__("auc").n_there > 100
    assert example_trajectories.__wrapped__("auc")[1]
    assert FILE.read_bytes() == before
    assert sorted(FILE.parent.glob("examples.sqlite*")) == [FILE]


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
    study, (kept, *_) = example_trajectories(setting)
    way = study.make(next(iter(study.runs())).text)[2]
    places = np.isin(way["t"], kept.t)
    np.testing.assert_array_equal(way["t"][places], kept.t)
    for name in kept.quantities:
        np.testing.assert_allclose(kept.columns[name][0], way[name][places], rtol=2e-2, err_msg=name)


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


def test_the_examples_can_be_made_again(monkeypatch, tmp_path):
    own = Store(tmp_path / "own" / "examples.sqlite")
    spec = example_study("auc").study.spec.to_dict()
    spec["solver"] |= {"n_iter": 3}
    study = {"spec": spec, "axes": [{"name": "solver.step_size", "values": [0.1]}], "seeds": [0]}
    ways = example_trajectories("auc")[0].to_dict() | {"seeds": [0]}
    ways["specs"] = [ways["specs"][0] | {"solver": ways["specs"][0]["solver"] | {"n_iter": 30}}]
    for name, said in (("study-auc", study), ("ways-auc", ways)):
        own.keep(KIND, [(name, json.dumps({"study": said, "keys": [None]}), None)])
    monkeypatch.setattr("dsgcore.studies.examples.FILE", own.file)
    make_again()
    assert list(own.file.parent.iterdir()) == [own.file]
    (run,) = example_study.__wrapped__("auc").stored.values()
    assert (run.state, run.iterations) == ("finished", 3)
    _, (kept,) = example_trajectories.__wrapped__("auc")
    assert kept.t[-1] == 30

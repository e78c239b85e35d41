"""The Explore page without a browser: what is asked, what it costs, what is shown, and the way to the workbench."""

import json
from functools import cache

import numpy as np
import pytest
from opened_pages import OF_EACH_ENGINE, checked, open_page, shown

from dsgcore.cli.sweep import asked_study
from dsgcore.experiments import SETTINGS, Spec
from dsgcore.settings import profile_of
from dsgcore.studies import Pool, Store, Study, StudyRuns, carry_out, csv_of, table_of
from dsgcore.studies.examples import FILE, KIND, example_study, example_trajectories, make_again
from pages.studies import links
from pages.studies.onward import link_to_study
from pages.studies.trajectory_asking import WITH_A_WAY


def opened(page="explore", **link):
    return checked(open_page(page, **link))


def looked_at(app):
    return app.session_state["_exploring_explore"]


@cache
def first_study():
    """Return the study that the page asks at first."""
    return looked_at(opened()).made.study


def first_runs():
    return StudyRuns(first_study())


def fill(store, made, *, is_diverging=True):
    """Let every run of a study be there; those of the largest first value have diverged."""
    last = (max(point[0] for point in made.points) or None) if is_diverging else None
    for run in made.runs:
        row = {
            "spec_sha256": run.spec.sha256,
            "last": {"score_test": 0.5 + 0.01 * run.place, "objective": 0.1, "error_mean": 0.1},
            "seconds": 0.1,
            "stop_reason": "diverged" if run.values[0] == last else "finished",
            "iterations": 6,
        }
        store.put(run.spec.to_json(), row, {"t": np.arange(6.0), "score_test": np.linspace(0.4, 0.5, 6)})


def figure(app, key="chart-study"):
    chart = next(c for c in app.get("bidi_component") if key in c.proto.id)
    return json.loads(chart.proto.bytes.split(b"\n", 1)[1])


@pytest.mark.usefixtures("store")
def test_what_is_too_much_is_refused_in_a_sentence_with_what_would_fit():
    app = opened(seeds="50", **{"solver.step_size.n": "20", "kernel.sigma.n": "20"})
    (error,) = app.error
    assert "at most 2,000 are allowed; with 5 seeds it would fit" in error.value.replace("\\", "")
    assert looked_at(app).made is None


def test_what_the_store_has_is_shown_and_a_diverged_run_stretches_nothing(store):
    fill(store, first_runs())
    app = opened()
    assert "All runs are done" in "".join(m.value for m in app.markdown)
    heat, *others = figure(app)["data"]
    assert heat["type"] == "heatmap"
    assert np.isfinite(np.array(heat["z"], dtype=float)).sum() == 30
    assert [t["name"] for t in others if t.get("mode") == "markers"] == ["all seeds diverged"]
    ranking = app.dataframe[0].value
    assert len(ranking) == 36
    assert ranking["test AUC"].str.contains("diverged").tolist() == [False] * 30 + [True] * 6
    assert ranking["minus the best (AUC)"][0] == ""
    assert ranking["minus the best (AUC)"][1].count(",") == 1


@pytest.mark.parametrize(("link", "kind"), [({}, "heatmap"), ({"vary": "Step size"}, "scatter")])
def test_an_error_is_drawn_from_zero(store, link, kind):
    fill(store, looked_at(opened(**link)).made)
    drawn = figure(opened(measure="|f − h|²", **link))
    trace = next(trace for trace in drawn["data"] if trace["type"] == kind)
    assert (trace["zmin"] if kind == "heatmap" else drawn["layout"]["yaxis"]["rangemode"]) in (0, "tozero")


def test_the_time_to_a_score_is_compared_like_any_other_number(store):
    fill(store, first_runs())
    app = opened(measure="time to score", target="0.45")
    (heat,) = [trace for trace in figure(app)["data"] if trace["type"] == "heatmap"]
    # Each run takes 0.1 s for six iterations, and is at 0.46 at the fourth.
    seconds = [z for row in heat["z"] for z in row if z is not None]
    assert len(seconds) == 30
    assert seconds == pytest.approx([4 / 6 * 0.1] * 30, rel=1e-3)
    assert "seconds to 0.45" in app.dataframe[0].value
    app.number_input(key="x_target").set_value(0.6).run()
    # No run reaches it: only the diverged ones are left.
    assert set(checked(app).dataframe[0].value["seconds to 0.6"]) == {"– (3 diverged)"}
    app.number_input(key="x_target").set_value(None).run()
    assert "seconds to" in figure(checked(app))["layout"]["title"]["text"]


@pytest.mark.usefixtures("store")
def test_best_first_is_asked_for_by_a_toggle_and_its_link():
    assert not looked_at(opened()).made.study.is_best_first
    assert looked_at(opened(best_first="true")).made.study.is_best_first


def test_one_axis_is_lines_with_a_band_and_three_are_parallel_with_what_is_not_selected_in_grey(store):
    fill(store, looked_at(opened(vary="Step size")).made)
    lines = figure(opened(vary="Step size"))["data"]
    assert {"lowest to highest seed", "mean", "diverged"} <= {trace.get("name") for trace in lines}
    three = {"vary": "Step size,Regularisation,Mini-batch", "random": "true", "points": "12"}
    fill(store, looked_at(opened(**three)).made)
    app = opened(**three)
    assert len(looked_at(app).made.points) == 12
    assert "not selected" not in {trace.get("name") for trace in figure(app)["data"]}
    app.select_slider(key="x_best").set_value(0.25).run()
    grey = next(trace for trace in figure(checked(app))["data"] if trace.get("name") == "not selected")
    assert grey["y"].count(None) == 11 - 3  # a gap a line


def fill_by_width(store, made):
    """Let every run of a study be there; the score follows the second slider."""
    for run in made.runs:
        last = {"score_test": 0.5 + 0.01 * np.log(run.values[1]) + 0.001 * run.seed, "objective": 0.1}
        row = {"spec_sha256": run.spec.sha256, "last": last, "seconds": 0.1, "stop_reason": "finished", "iterations": 6}
        store.put(run.spec.to_json(), row, {"t": np.arange(6.0)})


def test_the_importance_of_each_slider_is_drawn_with_its_spread_and_a_table(store):
    fill_by_width(store, first_runs())
    app = opened(view="Importance")
    (bars,) = figure(app, "chart-importance")["data"]
    assert bars["y"][-1] == "Inverse bandwidth"
    assert bars["x"][-1] > 0.9
    assert len(bars["error_x"]["array"]) == 2
    table = app.dataframe[0].value
    assert table["slider"].tolist() == ["Inverse bandwidth", "Step size"]
    assert " to " in table["range over splits"][0]
    assert "Permutation importance" in "".join(c.value for c in app.caption)


def test_no_importance_is_said_of_too_few_points(store):
    few = {"solver.step_size.n": "2", "kernel.sigma.n": "2"}
    fill_by_width(store, looked_at(opened(**few)).made)
    for view, word in (("Importance", "No importance"), ("Contour", "No contour")):
        (said,) = opened(view=view, **few).info
        assert said.value.startswith(word)
        assert "4 have a value, and 20 are needed" in shown(said.value)


def test_two_sliders_of_three_are_drawn_as_a_contour(store):
    three = {"vary": "Step size,Inverse bandwidth,Mini-batch", "random": "true", "points": "40"}
    fill_by_width(store, looked_at(opened(**three)).made)
    app = opened(view="Contour", **three)
    surface, points = figure(app, "chart-contour")["data"]
    assert surface["type"] == "contour"
    assert len(points["x"]) == 40
    assert np.array(surface["z"]).shape == (len(surface["y"]), len(surface["x"]))
    app.selectbox(key="x-contour-across").set_value("Mini-batch").run()
    assert figure(checked(app), "chart-contour")["layout"]["xaxis"]["title"]["text"] == "Mini-batch"


def test_a_map_is_also_drawn_on_parallel_axes_where_lines_are_brushed(store):
    fill_by_width(store, first_runs())
    app = opened(view="Parallel")
    assert "not selected" not in {trace.get("name") for trace in figure(app)["data"]}
    app.select_slider(key="x_best").set_value(0.25).run()
    assert "not selected" in {trace.get("name") for trace in figure(checked(app))["data"]}
    colors = [trace["line"]["color"] for trace in figure(opened(view="Parallel"))["data"]]
    assert len(set(colors)) == 6  # one for each of the six means


def test_the_table_is_the_commands(store):
    made = first_runs()
    fill(store, made)
    made.refresh(store)
    again = StudyRuns(Study.from_dict(made.study.to_dict()))
    again.refresh(store)
    table = table_of(made.study, made.outcomes())
    assert table_of(again.study, again.outcomes()).equals(table)
    assert csv_of(table).splitlines()[1].startswith("0.05,0.05,0,0.5,0.1,0.1,finished,")


def test_the_pages_files_are_the_study_for_the_command_and_back_on_the_page(store, tmp_path, monkeypatch):
    made, files = first_runs(), {}
    fill(store, made)
    with monkeypatch.context() as patch:
        patch.setattr("streamlit.download_button", lambda label, make, file, *_, **__: files.update({file: make}))
        looked_at(opened())
    (tmp_path / "study.json").write_text(files["study.json"](), encoding="utf-8")
    study = asked_study(tmp_path / "study.json", [], None)
    assert study == made.study
    assert csv_of(table_of(study, carry_out(study, store, Pool(None)))) == files["study.csv"]()  # none is made again
    assert looked_at(opened(**link_to_study(study))).made.study == study


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("setting", OF_EACH_ENGINE)
def test_a_point_opens_as_the_same_run_in_the_workbench(setting):
    made = looked_at(opened(setting=profile_of(SETTINGS[setting]).short)).made
    spec = made.runs[4].spec
    link = links.link_to_run(spec)
    app = opened(setting, **link, at="2")
    shown = next(c.value for c in app.code if c.language == "python").split('r"""')[1].split('"""')[0]
    assert Spec.from_json(shown).to_dict() == spec.to_dict()


# --- the finished examples of the pages Explore and Convergence: small files, made again, and gone once a study begins


def is_example(app):
    """Return True if the page says that it shows an example."""
    return any(info.value.startswith("**Example:** ") for info in app.info)


@pytest.mark.usefixtures("store")
def test_the_store_is_small_and_holds_an_example_of_each_page():
    names = {f"study-{setting}" for setting in SETTINGS} | {f"ways-{setting}" for setting in WITH_A_WAY}
    assert Store(FILE, is_fixed=True).kept(KIND).keys() == names
    assert FILE.stat().st_size < 90_000 * len(SETTINGS)


@pytest.mark.usefixtures("store")
def test_the_store_is_read_where_nothing_can_be_written(monkeypatch):
    monkeypatch.setattr("pathlib.Path.mkdir", lambda *_, **__: pytest.fail("a folder is made"))
    before = FILE.read_bytes()
    assert example_study.__wrapped__("auc").n_there > 100
    assert example_trajectories.__wrapped__("auc")[1]
    assert FILE.read_bytes() == before
    assert sorted(FILE.parent.glob("examples.sqlite*")) == [FILE]


@pytest.mark.weekly
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.usefixtures("store")
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


@pytest.mark.ci
@pytest.mark.parametrize("setting", WITH_A_WAY)
@pytest.mark.usefixtures("store")
def test_a_curve_of_an_example_made_again_is_the_same(setting):
    study, (kept, *_) = example_trajectories(setting)
    way = study.make(next(iter(study.runs())).text)[2]
    places = np.isin(way["t"], kept.t)
    np.testing.assert_array_equal(way["t"][places], kept.t)
    for name in kept.quantities:
        np.testing.assert_allclose(kept.columns[name][0], way[name][places], rtol=2e-2, err_msg=name)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.usefixtures("store")
def test_explore_opens_with_a_question_that_can_be_asked_and_a_finished_example(setting):
    app = opened(setting=profile_of(SETTINGS[setting]).short)
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


@pytest.mark.usefixtures("store")
def test_the_readers_own_study_replaces_the_example(store):
    app = opened()
    assert is_example(app)
    fill(store, looked_at(app).made)
    app = opened()
    assert not is_example(app)
    assert "All runs are done" in "".join(m.value for m in app.markdown)


@pytest.mark.usefixtures("store")
def test_the_example_goes_when_a_study_is_begun(monkeypatch):
    app = opened()
    monkeypatch.setattr("pages.studies.going.Exploring.is_going", True)
    assert not is_example(app.run())
    app = opened("convergence")
    assert not is_example(app)


@pytest.mark.usefixtures("store")
def test_a_point_of_the_example_opens_in_the_workbench():
    app = opened()
    point = next(box for box in app.selectbox if box.label == "Point")
    assert len(point.options) > 10


@pytest.mark.usefixtures("store")
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

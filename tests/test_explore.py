"""The Explore page without a browser: what is asked, what it costs, what is shown, and the way to the workbench."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each
from live_page import figure
from opened_pages import OF_EACH_ENGINE, checked, errors, open_page

from dsgcore.cli.runs import asked_study
from dsgcore.experiments import SETTINGS, Spec
from dsgcore.jobs import JobState
from dsgcore.settings import profile_of
from dsgcore.studies import Store, StudyRuns, carry_out, csv_of, examples, table_of
from dsgcore.studies.examples import FILE, KIND, example_study
from pages.studies import going, links, showing
from pages.studies.links import link_to_study
from pages.studies.trajectory_asking import WITH_A_WAY

pytestmark = pytest.mark.usefixtures("store")


def opened(page="explore", **link):
    return checked(open_page(page, **link))


def looked_at(app):
    return app.session_state["_exploring_explore"]


@cache
def first_study():
    """Return the study that the page asks at first."""
    return looked_at(opened()).made.study


def fill(store, made, *, is_diverging=True, rise=0.01):
    """Let every run of a study be there; those of the largest first value have diverged, and each score is higher by `rise`."""
    last = (max(point[0] for point in made.points) or None) if is_diverging else None
    for run in made.runs:
        row = {
            "spec_sha256": run.spec.sha256,
            "last": {"score_test": 0.5 + rise * run.place, "objective": 0.1, "error_mean": 0.1},
            "seconds": 0.1,
            "stop_reason": "diverged" if run.values[0] == last else "finished",
            "iterations": 6,
        }
        store.put(run.spec.to_json(), row, {"t": np.arange(6.0), "score_test": np.linspace(0.4, 0.5, 6)})


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return a store that has all runs of the study that the page asks at first, and these runs."""
    store, runs = Store(tmp_path_factory.mktemp("filled") / "runs.sqlite"), StudyRuns(first_study())
    fill(store, runs)
    return store, runs


@pytest.fixture
def made(filled, store, monkeypatch):
    """Give the app the filled store instead of its empty one; return the runs."""
    monkeypatch.setenv("DSGLAB_STORE", str(filled[0].file))
    return filled[1]


def drawn(app):
    return figure(app, "chart-study")


def heat(app):
    """Return the finite numbers of the page's one map of colours."""
    (trace,) = [trace for trace in drawn(app)["data"] if trace["type"] == "heatmap"]
    return [z for row in trace["z"] for z in row if z is not None]


def test_of_equal_means_no_point_is_the_best_and_the_colours_have_no_scale(store):
    fill(store, StudyRuns(first_study()), rise=0.0)
    app = opened()
    (trace,) = [trace for trace in drawn(app)["data"] if trace["type"] == "heatmap"]
    assert (set(heat(app)), trace["showscale"]) == ({0.5}, False)
    (caption,) = [c.value for c in app.caption if "paired over seeds" in c.value]
    assert caption.endswith("All means are equal, so no point is the best.")


@pytest.mark.usefixtures("made")
def test_the_time_to_a_score_is_compared_like_any_other_number():
    app = opened(measure="time to score", target="0.45")
    # Each run takes 0.1 s for six iterations, and is at 0.46 at the fourth.
    assert heat(app) == pytest.approx([4 / 6 * 0.1] * 30, rel=1e-3)
    assert "seconds to 0.45" in app.dataframe[0].value
    app.number_input(key="x_target").set_value(0.6).run()
    # No run reaches it: only the diverged ones are left.
    assert set(checked(app).dataframe[0].value["seconds to 0.6"]) == {"– (3 diverged)"}
    app.number_input(key="x_target").set_value(None).run()
    assert "seconds to" in drawn(checked(app))["layout"]["title"]["text"]


@pytest.mark.usefixtures("made")
def test_what_a_studys_job_does_is_said_and_what_a_forest_learns_waits_for_its_end():
    app = opened(view="Importance")
    state = looked_at(app)
    for now, text, kind, words in (
        (JobState.WAITING, state.text, "progress", ": this study waits, because the server runs another one"),
        (JobState.RUNNING, state.text, "progress", ": 108 done"),
        (JobState.RUNNING, "of another study", "info", "The runs that you started before are still in progress."),
        (JobState.FAILED, state.text, "error", "A worker broke"),
    ):
        is_over = now is JobState.FAILED
        state.job = SimpleNamespace(state=now, is_over=is_over, progress=None, error="A worker broke.")
        state.job_text = text
        drawn = [str(one.proto) for one in checked(app.run()).get(kind)]
        assert any(words in one for one in drawn), drawn
        assert is_over != any(caption.value == showing.WAITS for caption in app.caption)


def test_a_store_that_is_full_gets_no_more_runs(monkeypatch):
    monkeypatch.setattr(going, "LARGEST_STORE", 0)
    app = opened()
    app = checked(app.button(key="study-start").click().run())
    assert errors(app) == ["The store of runs is full: it has 0 GB."]
    assert looked_at(app).job is None


@pytest.mark.usefixtures("made")
def test_a_point_that_is_clicked_is_the_one_to_open(monkeypatch):
    app, clicks = opened(), []
    monkeypatch.setattr(showing, "live_chart", lambda *_, on_clicked, **__: clicks.append(on_clicked))
    app.run()
    for place, chosen in ((len(first_study().seeds), len(first_study().seeds)), (-1, None), (36, None), ("7", None)):
        looked_at(app).chosen = None
        monkeypatch.setattr(
            showing, "sent", lambda *asked, place=place: place if asked == (showing.CHART, "clicked") else None
        )
        clicks[-1]()
        assert looked_at(app).chosen == chosen


def test_the_pages_files_are_the_study_for_the_command_and_back_on_the_page(filled, made, tmp_path, monkeypatch):
    files = {}
    with monkeypatch.context() as patch:
        patch.setattr("streamlit.download_button", lambda label, make, file, *_, **__: files.update({file: make}))
        opened()
    (tmp_path / "study.json").write_text(files["study.json"](), encoding="utf-8")
    study = asked_study(tmp_path / "study.json", [], None)
    assert study == made.study
    table = csv_of(table_of(study, carry_out(study, filled[0])))  # none is made again
    assert table == files["study.csv"]()
    assert table.splitlines()[1].startswith("0.05,0.05,0,0.5,0.1,0.1,finished,")
    assert looked_at(opened(**link_to_study(study))).made.study == study


@pytest.mark.parametrize("setting", OF_EACH_ENGINE)
def test_a_point_opens_as_the_same_run_in_the_workbench(setting):
    spec = looked_at(opened(setting=profile_of(SETTINGS[setting]).short)).made.runs[4].spec
    app = opened(setting, **links.link_to_run(spec), at="2")
    shown = next(c.value for c in app.code if c.language == "python").split('r"""')[1].split('"""')[0]
    assert Spec.from_json(shown) == spec


def test_the_point_to_open_is_the_best_until_the_reader_chooses_one_that_stays(store):
    def point(app):
        return next(box for box in checked(app).selectbox if box.label == "Point")

    made = StudyRuns(first_study())
    first, second = (SimpleNamespace(points=made.points, runs=made.runs[: n * len(made.study.seeds)]) for n in (2, 3))
    fill(store, first, is_diverging=False)
    app = opened()
    assert point(app).value == 1
    late = point(app).set_value(1).root  # as a browser sends it that has not seen the next drawing
    fill(store, second, is_diverging=False)
    assert point(app.run()).value == 2
    app._tree = late
    assert point(app.run()).value == 2
    app = point(app).set_value(1).run()
    fill(store, made, is_diverging=False)
    for _ in range(2):
        assert point(app.run()).value == looked_at(app).chosen == 1
    assert len(point(app).options) == len(made.points)


# --- the finished examples of the pages Explore and Convergence: small files, made again, and gone once a study begins


def is_example(app):
    """Return True if the page says that it shows an example."""
    return any(
        info.value.startswith("**Example:** ") and "results come with DSG Lab" in info.value for info in app.info
    )


def test_the_store_is_small_and_holds_an_example_of_each_page():
    names = {f"study-{setting}" for setting in SETTINGS} | {f"ways-{setting}" for setting in WITH_A_WAY}
    assert Store(FILE, is_fixed=True).kept(KIND).keys() == names
    assert FILE.stat().st_size < 90_000 * len(SETTINGS)


@each("read, setting", [(examples.example_study, "auc"), (examples.example_trajectories, WITH_A_WAY[0])])
def test_examples_are_read_alone_for_an_installation_may_not_be_written(read, setting, tmp_path_factory):
    (own := tmp_path_factory.mktemp("installed") / "examples.sqlite").write_bytes(FILE.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "FILE", own)
        assert read.__wrapped__(setting)
    assert own.read_bytes() == FILE.read_bytes()
    assert [*own.parent.iterdir()] == [own]


@pytest.mark.parametrize("setting", SETTINGS)
def test_explore_opens_with_a_question_that_can_be_asked_and_a_finished_example(setting, monkeypatch):
    app = opened(setting=profile_of(SETTINGS[setting]).short)
    assert not app.error
    asked, example = looked_at(app).made, example_study(setting)
    assert (asked.study.spec.problem.name, len(asked.study.axes)) == (setting, 2)
    assert all(run.spec is not None for run in asked.runs)
    assert is_example(app)
    assert len(heat(app)) >= len(example.points) // 2
    assert app.button(key="study-start")
    led = []
    monkeypatch.setattr(links, "open_with", lambda page, _: led.append(page))
    checked(app.button(key="pin-point").click().run())
    assert led == ["explore"]  # once
    values = next(frame.value for frame in app.dataframe if "parameter" in frame.value).set_index("parameter")["value"]
    assert values["Iterations"] == str(example.study.spec.solver.n_iter)

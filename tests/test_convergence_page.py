"""The Convergence page without a browser: questions, refusals, and the charts of finished runs."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from opened_pages import checked, open_page
from test_example_studies import is_example
from test_explore import figure

from dsgcore.experiments import SETTINGS, theory_of
from dsgcore.settings import profile_of
from dsgcore.studies import Trajectories, carry_out
from pages.studies.axis_view import short_number
from pages.studies.trajectory_asking import ALL, ASKED, EACH, WITH_A_WAY, AskedTrajectories, Case
from pages.studies.trajectory_showing import shown_of, table_of_ways

pytestmark = pytest.mark.usefixtures("store")

SMALL = {"v_n": "150", "v_n_iter": "32", "v_n_features": "16", "v_batch_size": "16", "v_seeds": "2"}


def opened(**link):
    return checked(open_page("convergence", **link))


def asked(app):
    return app.session_state["_exploring_ways"]


def answered(store, **link):
    """The page once all of its runs are there."""
    study = asked(opened(**link)).made.study
    with ThreadPoolExecutor(1) as executor:
        carry_out(study, store, executor, 1)
    app = opened(**link)
    assert "All runs are done" in "".join(m.value for m in app.markdown)
    return app


@pytest.mark.parametrize("setting", WITH_A_WAY)
def test_every_setting_begins_with_a_run_that_keeps_to_its_theorem_and_a_finished_example(setting):
    app = opened(v_setting=profile_of(SETTINGS[setting]).short)
    assert not app.error
    study = asked(app).made.study
    assert isinstance(study, Trajectories)
    assert all(theory_of(spec).holds for spec in study.specs)
    assert len(study.seeds) == 8
    rates = theory_of(study.spec).rates.values()
    # A rate of the run's length is seen by runs of several lengths.
    assert len({spec.solver.n_iter for spec in study.specs}) == (5 if any(r.of == "T" for r in rates) else 1)
    assert asked(app).price.seconds < 600
    assert app.button(key="ways-start")
    assert is_example(app)
    drawn = figure(app, "chart-ways")["data"]
    assert any(np.isfinite(np.array(trace["y"], dtype=float)).sum() > 5 for trace in drawn)


def test_settings_without_such_a_way_are_not_offered():
    assert set(SETTINGS) - set(WITH_A_WAY) == {"multiclass"}
    (select,) = (box for box in opened().selectbox if box.key == "v_setting")
    assert profile_of(SETTINGS["multiclass"]).short not in select.options


def test_more_than_4000_training_points_are_not_refused(store):
    app = opened(v_n="10000", v_n_iter="100", v_seeds="2")
    assert not app.error
    assert app.button(key="ways-start")


def test_curves_on_a_part_of_the_points_say_so(store, monkeypatch):
    monkeypatch.setattr("dsgcore.diagnostics.references.MAX_POINTS", 60)
    app = answered(store, **SMALL)
    said = next(c.value for c in app.caption if "training points" in c.value)
    assert "Measured on 60 of the 105 training points, drawn at random." in said
    assert "Each seed (0, 1) draws its own points." in said


def test_curves_have_seeds_median_band_bound_the_promised_slope_and_a_table(store):
    app = answered(store, **SMALL)
    chart = figure(app, "chart-ways")
    names = [trace.get("name") for trace in chart["data"]]
    assert {"20 to 80 % of the seeds", "the run", "the theorem's bound", "the theorem's 1/t"} <= set(names)
    assert sum(trace.get("opacity", 1) < 0.5 for trace in chart["data"]) == 2
    assert chart["layout"]["xaxis"]["type"] == chart["layout"]["yaxis"]["type"] == "log"
    assert "2 seeds" in chart["layout"]["title"]["text"]
    assert app.dataframe[0].value["theorem"][0].startswith("-1.00 (1/t)")
    said = "".join(m.value for m in app.markdown)
    assert said.count(":green[● holds:]") == 5
    assert "with κ = 1, φ = 1, M = " in said
    drawn = next(trace["y"][-1] for trace in chart["data"] if trace.get("name") == "the theorem's bound")
    assert f"At t = 32 it is {short_number(drawn)}; the measured value is" in said
    question = AskedTrajectories((Case(ALL, None, asked(app).made.study.spec),), 2, "nothing", None)
    found = app.session_state["_ways_found"][1]
    rows = list(csv.DictReader(io.StringIO(table_of_ways(shown_of(question, found)))))
    assert {row["seed"] for row in rows} == {"0", "1"}
    assert rows[-1]["t"] == "32"
    assert float(rows[-1]["distance"]) == found[0].columns["distance"][1, -1]


def test_broken_assumptions_stand_beside_the_kept_ones_and_say_what_happens(store):
    app = answered(store, **SMALL, v_steps=EACH)
    names = list(app.dataframe[0].value.iloc[:, 0])
    assert names[0] == "all assumptions kept"
    assert len(names) == 5
    assert all(name.startswith("broken: ") for name in names[1:])
    assert app.dataframe[0].value["theorem"][1].endswith("assumptions are broken")
    said = "".join(m.value for m in app.markdown)
    assert said.count(":grey[○ **") == 4
    assert "the curves become flat" in said


def test_ends_are_drawn_against_what_varies_and_curves_over_evaluations(store):
    varied = {"v_vary": "Random features", "v_n_features_range": ["4", "16"], "v_n_features_n": "3"}
    app = answered(store, **SMALL | varied, v_over="evaluations", v_quantity_distance="|f − h|²")
    ends = figure(app, "chart-ends")
    assert ends["layout"]["xaxis"]["ticktext"] == ["4", "8", "16"]
    assert "1/m" in [trace.get("name") for trace in ends["data"]]
    assert ends["layout"]["meta"]["note"].startswith("slope ")
    curves = figure(app, "chart-ways")
    last = {trace["name"]: trace["x"][-1] for trace in curves["data"] if trace.get("name", "").startswith("m = ")}
    assert last == {"m = 4": 32 * 16 * 4, "m = 8": 32 * 16 * 8, "m = 16": 32 * 16 * 16}
    app = checked(app.segmented_control(key="v_over").set_value("seconds").run())
    assert figure(app, "chart-ways")["layout"]["xaxis"]["title"]["text"].startswith("seconds")


def test_the_rate_of_a_constant_step_is_read_from_runs_of_several_lengths(store):
    small = {"v_svm_n": "150", "v_svm_n_iter_range": ["16", "64"], "v_svm_n_iter_n": "3", "v_seeds": "2"}
    app = answered(store, v_setting="Gaps", **small)
    table = app.dataframe[0].value
    assert table.iloc[:, 0].tolist() == ["T = 16", "T = 32", "T = 64", "against T"]
    assert table["theorem"].iloc[-1].startswith("-0.25 (1/T^¼)")
    assert "the theorem's 1/T^¼" in [trace.get("name") for trace in figure(app, "chart-ends")["data"]]


def test_values_at_the_side_can_be_taken_as_they_are_and_the_marks_say_what_does_not_hold(store):
    app = answered(store, **SMALL, v_steps=ASKED)
    assert ":grey[○ does not hold:]" in "".join(m.value for m in app.markdown)
    assert "the theorem's" in "".join(str(t.get("name")) for t in figure(app, "chart-ways")["data"])

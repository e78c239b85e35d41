"""The section "Which method for my data?" of the Data page, and the comparison in the background."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit")
from opened_pages import checked, open_page
from sklearn.datasets import load_iris
from streamlit.testing.v1 import AppTest
from test_data_page import written
from test_usual_values import own_rows

from dsgcore import label
from dsgcore.comparing import Background, Sample, rounds
from dsgcore.data.reading import File
from dsgcore.jobs import shared_queue
from pages.comparing import which_method
from pages.studies.going import BUDGET

pytestmark = pytest.mark.usefixtures("store")

IRIS = load_iris(return_X_y=True)
TWO = ["LogisticRegression", "SVC"]
QUICK = {"n_labeled": 30, "seeds": 3, "methods": TWO, "curves": False, "store": None, "jobs": 1}


@pytest.fixture
def only_two(monkeypatch):
    """Let the page compare two quick methods."""

    def begun(*arguments, **options):
        return Background(*arguments, **options | {"methods": TWO, "curves": True, "seconds": None})

    monkeypatch.setattr(which_method, "Background", begun)


def answered(app: AppTest) -> AppTest:
    """Wait for the comparison and draw the page again."""
    app.session_state["_which_method"].wait(120)
    return checked(app.run())


def test_a_click_leads_to_a_verdict_with_a_table_curves_and_a_report(only_two):
    app = checked(open_page("data", **{"data.name": "Iris"}))
    assert "Which method for my data?" in [header.value for header in app.header]
    app.number_input(key="which_labels").set_value(30).run()
    app.number_input(key="which_seeds").set_value(3).run()
    checked(app.button(key="compare-methods").click().run())
    answered(app)
    found = app.session_state["_which_method"].progress
    assert found.n_labeled == 30
    assert found.verdict.recommended in TWO
    assert which_method.plain(found.verdict.sentence) in written(app)
    (table,) = [frame.value for frame in app.dataframe if "method" in frame.value]
    assert set(table["method"]) == {"LogisticRegression", "SVC"}
    assert {"Report (HTML)", "Table (CSV)"} <= {button.label for button in app.get("download_button")}
    assert "How many labels would you need?" in [sub.value for sub in app.subheader]
    assert not app.button(key="compare-methods").disabled


def test_a_session_cannot_take_more_time_or_memory_than_its_share(monkeypatch):
    begun = []
    monkeypatch.setattr(which_method, "Background", lambda *_, **options: begun.append(options))
    app = checked(open_page("data", **{"data.name": "Iris"}))
    checked(app.selectbox(key="which_seconds").select(max(which_method.TIMES)).run())
    app.button(key="compare-methods").click().run()
    assert (begun[0]["memory_limit"], begun[0]["seconds"], begun[0]["jobs"]) == (
        BUDGET.run.memory,
        300.0,
        shared_queue(),
    )
    assert begun[0]["seconds"] < BUDGET.seconds


def test_a_files_comparison_prepares_each_split_as_the_command_does(monkeypatch, tmp_path):
    begun = []
    monkeypatch.setattr(which_method, "Background", lambda *given, **options: begun.append((given, options)))
    file = tmp_path / "own.csv"
    own_rows("s3vm").to_csv(file, index=False)
    app = open_page("data", **{"data.name": "Your own file"})
    checked(app.file_uploader[0].upload("own.csv", file.read_bytes(), "text/csv").run())
    checked(app.button(key="compare-methods").click().run())
    ((rows, y), options) = begun[0]
    read = File.of_path(file)
    recipe = read.recipe("classes", target="label", is_asked=True)  # as `dsg-lab compare` does
    kept, data = read.kept(recipe), read.labels(recipe, "classes")
    ours = Sample.of(rows, y, n_labeled=None, is_ordered=False, recipe=options["recipe"])
    commands = Sample.of(kept, data.y, n_labeled=None, is_ordered=False, recipe=recipe)
    split, same = (sample.split(1, sample.n_labeled) for sample in (ours, commands))
    for name in ("X_train", "y_train", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(split, name), getattr(same, name))


def test_an_upload_leads_over_the_verdict_to_a_labeled_file(only_two):
    table = own_rows("ordinal")  # three classes, of which the page's setting makes two
    app = open_page("data", **{"data.name": "Your own file"})
    checked(app.file_uploader[0].upload("own.csv", table.to_csv(index=False).encode(), "text/csv").run())
    app.number_input(key="which_seeds").set_value(3).run()
    checked(app.button(key="compare-methods").click().run())
    answered(app)
    method = app.session_state["_which_method"].progress.verdict.recommended
    assert app.button(key="label-rows").label == f"Label 80 rows with {method}"
    assert f"dsg-lab fit {method} own.csv --target label --out model" in [code.value for code in app.code]
    app.multiselect(key="which_keep").select("kind").run()
    app.button(key="label-rows").click().run()
    job = app.session_state["_label_rows"]
    assert job.wait(120)
    assert not job.error
    checked(app.run())
    assert which_method.plain(job.result.sentence) in written(app)
    assert {"Labeled rows (CSV)", "Report (text)"} <= {button.label for button in app.get("download_button")}
    same = label(table.replace("", None), "label", method=method, keep=["kind"], ask=10)
    pd.testing.assert_frame_equal(job.result.table, same.table)
    assert job.result.ask == same.ask
    assert job.result.expected == same.expected


@pytest.mark.parametrize("how", ["cancelled", "left"])
def test_a_comparison_ends_if_nobody_wants_it(how, monkeypatch):
    monkeypatch.setattr(rounds, "LEASE", -1.0 if how == "left" else 90.0)
    going = Background(*IRIS, **QUICK | {"seeds": 100})
    if how == "cancelled":
        going.cancel()
    going.wait(60)
    assert going.is_over
    assert 0 < len(going.progress.fits) < 200
    assert np.isfinite(going.seconds)

"""The page of a run that diverges: it says so, without a traceback."""

from __future__ import annotations

import pytest

pytest.importorskip("streamlit")
from streamlit.testing.v1 import AppTest
from test_app import APP, figure

from dsgcore.experiments import StopReason
from pages.shell import warm_up

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(
    ("setting", "prefix"), [("auc", ""), ("s3vm", "svm_"), ("similar_unlabeled", "su_"), ("ordinal", "ord_")]
)
def test_a_run_that_diverges_draws_a_page_without_an_error(setting, prefix):
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params |= {"speed": "instant", f"{prefix}step_size": "1000"}
    app.run()
    warm_up.warm_up().thread.join()
    app.switch_page(f"pages/{setting}.py").run()
    assert app.session_state[f"_bench_{setting}"].live.run.stop_reason is StopReason.DIVERGED
    assert not app.exception
    # On a linear axis the last step before the end would be all there is.
    assert figure(app, "chart-objective")["layout"]["yaxis"]["type"] == "log"
    score = next(metric for metric in app.metric if metric.label.startswith("Test "))
    assert score.delta in ("", "There is no verdict, because the run has diverged.")

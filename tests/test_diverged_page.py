"""The page of a run that diverges: it says so, without a traceback."""

import numpy as np
import pytest
from live_page import figure, head, numbers, status
from opened_pages import checked, open_page, run_of

from dsgcore.experiments import Run, StopReason
from pages.live import map_view

SETTINGS = [("auc", ""), ("s3vm", "svm_"), ("similar_unlabeled", "su_"), ("ordinal", "ord_")]


def diverged(setting, prefix, **link):
    """Open a page whose run has diverged."""
    return checked(open_page(setting, **{f"{prefix}speed": "instant", f"{prefix}step_size": "1000", **link}))


@pytest.mark.parametrize(
    ("setting", "prefix", "shown"), [*((*one, "f") for one in SETTINGS), ("auc", "", "h"), ("auc", "", "error")]
)
def test_map_and_numbers_are_of_the_last_finite_step_and_it_is_said(setting, prefix, shown):
    app = diverged(setting, prefix, **{f"{prefix}map": shown})
    live = run_of(app, setting)
    assert live.stop_reason is StopReason.DIVERGED
    # On a linear axis the last step before the end would be all there is.
    assert figure(app, "chart-objective")["layout"]["yaxis"]["type"] == "log"
    assert head(app)["judgement"]["tone"] == "red"
    assert live.model_t < live.t
    assert status(app) == f"step {live.t} of {live.n_iter} · diverged, last finite step shown"
    drawn = figure(app, "chart-map")
    assert drawn["layout"]["meta"]["note"] == map_view.step_note(live.t, live.n_iter)
    z = np.array(drawn["data"][0]["z"], dtype=float)
    assert np.isfinite(z).all()
    assert np.ptp(z) > 0  # not blank
    stopped = Run(live.spec, live.split)
    stopped.advance(live.t)
    said = numbers(app)["chart-objective"]["training data"]
    assert float(said) == pytest.approx(stopped.history.last()["objective"], rel=0.05)
    state = map_view._new_map(stopped, (None, None))
    assert z == pytest.approx(map_view._values(stopped, state, shown).reshape(z.shape), rel=1e-3)


def test_the_tabs_of_a_run_that_diverged_can_be_opened():
    app = diverged("auc", "")
    for tab in ("Race", "Theory", "Limits"):
        app.session_state["tabs"] = tab
        checked(app.run())


def test_of_a_large_set_whose_run_diverged_numbers_and_map_are_of_the_step_it_went_back_to(monkeypatch):
    monkeypatch.setattr("dsgcore.experiments.stochastic.StochasticEngine.can_look_back", False)
    app = diverged("auc", "")
    live = run_of(app)
    assert live.model_t < live.t
    assert figure(app, "chart-map")["layout"]["meta"]["note"] == map_view.step_note(live.model_t, live.n_iter)
    said = numbers(app)["chart-objective"]["training data"]
    row = live.history.first(live.model_t).last()
    assert float(said) == pytest.approx(row.get("objective", live.start_objective()), rel=0.01)


def test_the_step_of_the_map_has_the_same_width_throughout_a_run():
    notes = [map_view.step_note(t, 300) for t in (0, 7, 42, 300)]
    assert {len(note) for note in notes} == {8}
    assert [note.replace(map_view.FIGURE_SPACE, "") for note in notes] == ["step 0", "step 7", "step 42", "step 300"]

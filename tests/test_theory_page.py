"""The Theory tab's one click: the controls follow, and the run that begins keeps to the theorem."""

import pytest
from opened_pages import OF_EACH_ENGINE, bench_of, open_auc, open_page, run_of

from dsgcore.experiments import kept_to, theory_of


@pytest.mark.parametrize("setting", OF_EACH_ENGINE)
def test_one_click_makes_the_assumptions_hold(setting):
    app = open_page(setting)
    before = run_of(app, setting).spec
    assert not theory_of(before).holds
    app = app.button(key="keep-to").click().run()
    assert not app.exception
    after = run_of(app, setting).spec
    assert after == kept_to(before)
    assert theory_of(after).holds
    assert "keep-to" not in [button.key for button in app.button]


def captions(app):
    assert not app.exception
    return " ".join(caption.value for caption in app.caption)


def finished(app):
    """Draw the page until its run is at its end, as its ticks do; return the run."""
    for _ in range(100):
        live = bench_of(app).live
        if live.is_finished:
            app.run()
            return live
        app.run()
    raise AssertionError("the run has not come to its end")


def test_what_one_click_sets_and_can_cost_is_said_before_and_what_it_has_cost_afterwards():
    app = open_auc(speed="instant")
    assert "Regularisation: 0.001 → 0.2" in captions(app)
    assert "The test score can fall" in captions(app)
    before = finished(app).run.history.last()["score_test"]
    app = app.button(key="keep-to").click().run()
    live = finished(app)
    assert f"Test AUC {live.run.history.last()['score_test']:.3f}; the previous run" in captions(app)
    assert f"reached {before:.3f}" in captions(app)

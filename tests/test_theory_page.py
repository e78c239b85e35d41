"""The Theory tab's one click: the controls follow, and the run that begins keeps to the theorem."""

from __future__ import annotations

import pytest

pytest.importorskip("streamlit")
from streamlit.testing.v1 import AppTest
from test_app import APP

from dsgcore.experiments import SETTINGS, kept_to, theory_of
from pages.shell import warm_up

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("setting", SETTINGS)
def test_one_click_makes_the_assumptions_hold(setting):
    app = AppTest.from_file(APP, default_timeout=60).run()
    warm_up.warm_up().thread.join()
    app.switch_page(f"pages/{setting}.py").run()
    before = app.session_state[f"_bench_{setting}"].live.run.spec
    assert not theory_of(before).holds
    app = app.button(key="keep-to").click().run()
    assert not app.exception
    after = app.session_state[f"_bench_{setting}"].live.run.spec
    assert after == kept_to(before)
    assert theory_of(after).holds
    assert "keep-to" not in [button.key for button in app.button]

"""That a page waits until it has been sent: streamlit's inner side is still what this looks at."""

from __future__ import annotations

import inspect
import threading

import pytest

pytest.importorskip("streamlit")
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.session_manager import SessionManager

from pages.shell import sending


def test_it_waits_while_there_is_something_to_send_and_no_longer(monkeypatch):
    queue = ["a message"]
    monkeypatch.setattr(sending, "_queue", lambda: queue)
    threading.Timer(0.2, queue.clear).start()
    sending.wait_until_sent()
    assert not queue


def test_it_gives_up_where_nobody_takes_anything(monkeypatch):
    monkeypatch.setattr(sending, "_queue", lambda: ["a message"])
    monkeypatch.setattr(sending, "LONGEST_WAIT", 0.05)
    sending.wait_until_sent()


def test_streamlit_keeps_what_is_to_be_sent_where_it_is_looked_for():
    assert "self._session_mgr" in inspect.getsource(Runtime)
    assert "self._browser_queue = ForwardMsgQueue()" in inspect.getsource(AppSession.__init__)
    assert "session" in inspect.getsource(SessionManager.get_active_session_info)
    assert not ForwardMsgQueue(), "without a message it is false"

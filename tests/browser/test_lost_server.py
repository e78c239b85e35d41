"""A server that is killed while a run plays: the open page comes back by itself, where it was, once there is a server again."""

import re
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect
from servers import started, wait_for

LONG = 90_000


def begun(folder, port=0):
    server, address = started(folder, port=port, DSGLAB_SESSIONS="600")
    try:
        wait_for(server, address, folder / "log")
    except BaseException:
        server.kill()
        server.wait()
        raise
    return server, address


def killed(server, address, folder):
    """Kill a server, and begin another one at its port and with its store."""
    server.kill()
    server.wait()
    return begun(folder, urlsplit(address).port)[0]


@pytest.mark.weekly
def test_after_a_killed_server_the_page_is_back_where_it_was(browser, tmp_path):
    server, address = begun(tmp_path)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    try:
        page.goto(f"{address}/auc?view.speed=slow&solver.lam=0.01&solver.n_iter=1000")
        page.wait_for_url(re.compile(r"at=\d\d-playing"), timeout=LONG)
        kept = int(re.search(r"at=(\d+)-playing", page.url)[1])
        server = killed(server, address, tmp_path)
        # It has not started over: that would take seconds, and the link would show its first steps.
        page.wait_for_function(f"Number(/at=(\\d+)-playing/.exec(location.search)?.[1]) > {kept}", timeout=LONG)
        status = page.locator(".live-status")
        expect(status).to_contain_text(re.compile(r"step \d+ of 1000 · running"), timeout=LONG)
        assert page.evaluate("performance.getEntriesByType('navigation')[0].type") == "reload"
        assert "lam=0.01" in page.url
        # A paused page requests nothing: it gets a message when the connection is back.
        page.get_by_role("button", name=re.compile("^Pause")).click()
        expect(status).to_contain_text("paused", timeout=LONG)
        where = re.search(r"step \d+ of 1000", status.inner_text())[0]
        page.evaluate("window.wasHere = true")
        server = killed(server, address, tmp_path)
        page.wait_for_function("!window.wasHere", timeout=LONG)
        expect(status).to_contain_text(f"{where} · paused", timeout=LONG)
        # Nor does streamlit draw one that has no run.
        page.goto(f"{address}/auc?data.name=Your+own+file")
        page.locator("input[type=file]").wait_for(state="attached", timeout=LONG)
        page.evaluate("window.wasHere = true")
        server = killed(server, address, tmp_path)
        page.wait_for_function("!window.wasHere", timeout=LONG)
        page.locator("input[type=file]").wait_for(state="attached", timeout=LONG)
        assert page.get_by_test_id("stException").count() == 0
    finally:
        context.close()
        server.kill()
        server.wait()

"""Servers below a prefix, at their base path and behind nginx that keeps the prefix or takes it off, and one that is killed."""

import re
from urllib.parse import urlsplit

import pytest
from servers import NGINX, NO_NGINX, Server, nginx, served

from .test_room_browser import SAVED, ask_the_class, bars, button, open_lesson, says
from .watched_pages import status

PREFIX = "lab"
POINTS = """[...document.querySelectorAll('.js-plotly-plot')].map(
    plot => Math.max(...plot.data.map(trace => (trace.y ?? trace.z ?? []).length)))"""


@pytest.fixture(scope="module")
def below(tmp_path_factory):
    """The address of a server that is begun with a base path."""
    with served(tmp_path_factory.mktemp("below"), PREFIX) as url:
        yield url


@pytest.fixture(scope="module", params=["base path", "nginx keeps it", "nginx takes it off"])
def app_url(request, app_url, below, tmp_path_factory):
    """The address of the app below a prefix, in place of the one that all other tests have."""
    if request.param == "base path":
        yield below
        return
    if NGINX is None:
        pytest.skip(NO_NGINX)
    is_kept = request.param == "nginx keeps it"
    if not is_kept and urlsplit(app_url).path:
        pytest.skip("the server has a base path of its own, which nothing can take off")
    port = urlsplit(below if is_kept else app_url).port
    with nginx(tmp_path_factory.mktemp("nginx"), (port, port), "" if is_kept else PREFIX) as before:
        yield f"http://127.0.0.1:{before}/{PREFIX}"


@pytest.fixture
def asked(app_url, open_page):
    """Give a function that watches a page: at the end, none has asked for a path that is not below the prefix."""
    astray = []

    def note(asked):
        parts = urlsplit(asked.url)
        if parts.scheme in ("http", "ws") and not f"{parts.path}/".startswith(f"/{PREFIX}/"):
            astray.append(asked.url)

    def watch(page):
        page.on("request", note)
        page.on("websocket", note)
        return page

    yield watch
    assert astray == []


@pytest.mark.weekly
def test_runs_and_ways_to_other_pages_stay_below_a_prefix(open_page, asked, app_url):
    page = asked(open_page("auc?solver.n_iter=20"))
    status(page, "step 20 of 20 · done")
    page.wait_for_function(f"{POINTS}.length >= 3 && {POINTS}.every(count => count > 1)")
    page.wait_for_url(re.compile(rf"/{PREFIX}/auc\?.*at=20"))
    page.reload()
    status(page, "step 20 of 20 · done")

    page.goto(app_url)
    assert urlsplit(page.url).path == f"/{PREFIX}/"
    for name in ("Lessons", "Data"):
        page.get_by_role("link", name=name, exact=True).first.click()
        page.wait_for_url(f"{app_url}/{name.lower()}")
    page.go_back()
    page.wait_for_url(f"{app_url}/lessons")
    answer = page.request.get(f"{app_url}/auc/?code=ABCD2345")  # which the server answers by itself
    assert answer.ok
    assert urlsplit(answer.url).path == f"/{PREFIX}/auc"


# Where the prefix is taken off, only the browser knows it; test_server.py has the room's addresses at a base path.
@pytest.mark.weekly
@pytest.mark.parametrize("app_url", ["nginx takes it off"], indirect=True, scope="module")
def test_a_class_answers_below_the_prefix_and_a_reload_keeps_its_room(open_page, page_health, asked, new_page, app_url):
    lecturer = asked(open_lesson(open_page, "auc?lesson=unlabeled"))
    cookie = ask_the_class(lecturer)
    assert cookie["path"] == f"/{PREFIX}"  # no other app on this host is sent it
    code = cookie["name"].removeprefix("dsglab_room_")
    address = lecturer.locator(".room-key a, .room-address a").get_attribute("href")
    assert urlsplit(address).path == f"/{PREFIX}/r/{code}"
    phone = asked(new_page())  # of somebody else, who has seen nothing of the app yet
    page_health.watch(phone)
    phone.goto(f"{app_url}/r")
    phone.get_by_label("The room's code").fill(code.lower())
    button(phone, "Enter").click()
    button(phone, "about the same").click()
    says(phone, "#said", SAVED)
    button(lecturer, "Reveal").click()
    bars(lecturer, "A: 0, B: 1, C: 0")
    lecturer.wait_for_url(re.compile("room=[A-Z0-9]{8}(&|$)"))
    lecturer.reload()
    bars(lecturer, "A: 0, B: 1, C: 0")


# --- a server that is killed while a run plays: once there is a server again, the open page comes back by itself, where it was


@pytest.mark.weekly
def test_after_a_killed_server_the_page_is_back_where_it_was(new_page, tmp_path):
    server, page = Server(tmp_path, DSGLAB_SESSIONS="600"), new_page()
    address = server.address

    def restarted():
        """Kill the server, and start it again; wait until the page is loaded again."""
        page.evaluate("window.wasHere = true")
        server.kill()
        server.start()
        page.wait_for_function("!window.wasHere")

    try:
        page.goto(f"{address}/auc?view.speed=slow&solver.lam=0.01&solver.n_iter=1000")
        page.wait_for_url(re.compile(r"at=\d\d-playing"))
        kept = int(re.search(r"at=(\d+)-playing", page.url)[1])
        restarted()
        # It has not started over: that would take seconds, and the link would show its first steps.
        page.wait_for_function(f"Number(/at=(\\d+)-playing/.exec(location.search)?.[1]) > {kept}")
        status(page, re.compile(r"step \d+ of 1000 · running"))
        assert "lam=0.01" in page.url
        # A paused page requests nothing: it gets a message when the connection is back.
        page.get_by_role("button", name=re.compile("^Pause")).click()
        status(page, "paused")
        where = re.search(r"step \d+ of 1000", page.locator(".live-status").inner_text())[0]
        restarted()
        status(page, f"{where} · paused")
        assert page.get_by_test_id("stException").count() == 0
    finally:
        server.kill()

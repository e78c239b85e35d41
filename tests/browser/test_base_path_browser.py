"""Pages below a prefix: at the server's base path, and behind nginx that keeps the prefix or takes it off."""

import re
from html import unescape
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect
from proxies import NGINX, NO_NGINX, nginx
from servers import served

PREFIX = "lab"
LONG = 60_000
POINTS = """() => [...document.querySelectorAll('.js-plotly-plot')].map(
    plot => Math.max(...plot.data.map(trace => (trace.y ?? trace.z ?? []).length)))"""


@pytest.fixture(scope="module")
def below(tmp_path_factory):
    """The address of a server that is begun with a base path."""
    with served(tmp_path_factory.mktemp("below"), PREFIX) as url:
        yield url


BEHIND_NGINX = [pytest.param(name, marks=pytest.mark.weekly) for name in ("nginx keeps it", "nginx takes it off")]


@pytest.fixture(scope="module", params=["base path", *BEHIND_NGINX])
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
    """Every path that the browser asks for, where it is not below the prefix."""
    astray = []

    def watch(page):
        page.on("request", lambda request: note(request.url))
        page.on("websocket", lambda socket: note(socket.url))
        return page

    def note(url):
        parts = urlsplit(url)
        if parts.scheme in ("http", "ws") and not f"{parts.path}/".startswith(f"/{PREFIX}/"):
            astray.append(url)

    yield watch
    assert astray == []


@pytest.mark.weekly
def test_runs_ways_to_other_pages_and_what_is_handed_on_stay_below_a_prefix(open_page, wait_ready, asked, app_url):
    page = asked(open_page("auc?solver.n_iter=20"))
    status = page.locator(".live-status")
    expect(status).to_contain_text("step 20 of 20 · done", timeout=LONG)
    page.wait_for_function(f"() => ({POINTS})().length >= 3 && ({POINTS})().every(count => count > 1)")
    assert page.locator(".js-plotly-plot .main-svg").count() >= 3
    assert page.evaluate("Boolean(window.Plotly)")
    page.wait_for_url(re.compile(rf"/{PREFIX}/auc\?.*at=20"))
    page.reload()
    expect(status).to_contain_text("step 20 of 20 · done", timeout=LONG)
    assert_ways_lead_to_other_pages(page, app_url)
    assert_what_is_handed_on_leads_below_the_prefix(page, wait_ready, app_url)


def assert_ways_lead_to_other_pages(page, app_url):
    page.goto(app_url)
    assert urlsplit(page.url).path == f"/{PREFIX}/"
    page.get_by_role("link", name="Lessons").first.click()
    page.wait_for_url(f"{app_url}/lessons")
    page.get_by_role("link", name="Data", exact=True).first.click()
    page.wait_for_url(f"{app_url}/data")
    page.go_back()
    page.wait_for_url(f"{app_url}/lessons")
    # The server answers this one by itself: its page need not be drawn.
    answer = page.request.get(f"{app_url}/auc/?code=ABCD2345")
    assert answer.ok
    assert urlsplit(answer.url).path == f"/{PREFIX}/auc"


def assert_what_is_handed_on_leads_below_the_prefix(page, wait_ready, app_url):
    page.goto(f"{app_url}/take_away")
    codes = page.locator(".st-key-take-away [data-testid=stCode]")
    expect(codes.filter(has_text="<iframe")).to_contain_text("embed=true", timeout=LONG)  # the last of them
    # Behind a proxy of this machine, students get its address in the network.
    handed_on = [re.sub(r"//[\d.]+:", "//127.0.0.1:", unescape(text)) for text in codes.all_inner_texts()]
    assert len(handed_on) >= 3
    assert all(f"{app_url}/" in text for text in handed_on)
    page.goto(next(text for text in handed_on if not text.startswith("<")).strip())
    wait_ready(page)
    assert page.get_by_text("Page not found").count() == 0
    assert urlsplit(page.url).path.startswith(f"/{PREFIX}/")


@pytest.fixture
def other_window(browser):
    """A page of somebody else, who has seen nothing of the app yet."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


# Where the prefix is taken off, only the browser knows it; test_server.py has the room's addresses at a base path.
@pytest.mark.weekly
@pytest.mark.parametrize("app_url", ["nginx takes it off"], indirect=True, scope="module")
def test_a_class_answers_below_the_prefix_and_a_reload_keeps_its_room(
    open_page, page_health, wait_ready, asked, other_window, app_url
):
    lecturer = asked(open_page("auc?present=1&lesson=unlabeled&view.speed=instant"))
    expect(lecturer.get_by_role("button", name="Ask the class")).to_be_visible(timeout=LONG)
    wait_ready(lecturer)
    with lecturer.expect_response("**/room-key"):
        lecturer.get_by_role("button", name="Ask the class").click()
    (cookie,) = [one for one in lecturer.context.cookies() if one["name"].startswith("dsglab_room_")]
    assert cookie["path"] == f"/{PREFIX}"  # no other app on this host is sent it
    address = lecturer.locator(".room-key a, .room-address a").get_attribute("href")
    code = cookie["name"].removeprefix("dsglab_room_")
    assert urlsplit(address).path == f"/{PREFIX}/r/{code}"
    phone = asked(other_window)
    page_health.watch(phone)
    phone.goto(f"{app_url}/r")
    phone.get_by_label("The room's code").fill(code.lower())
    phone.get_by_role("button", name="Enter").click()
    phone.get_by_role("button", name="about the same").click()
    expect(phone.locator("#said")).to_contain_text("Your answer is saved")
    lecturer.get_by_role("button", name="Reveal").click()
    bars = lecturer.locator(".room-bars")
    expect(bars).to_have_attribute("aria-label", "Guesses: A: 0, B: 1, C: 0", timeout=LONG)
    lecturer.wait_for_url(re.compile("room=[A-Z0-9]{8}(&|$)"))
    lecturer.reload()
    expect(bars).to_have_attribute("aria-label", "Guesses: A: 0, B: 1, C: 0", timeout=LONG)

"""The app in a real browser: one server and one Chromium for the session, and a window that each test gets as if new.

A page's programs are compiled for each new renderer, which takes half of the loading time. In a window that has shown the app
they are there; what a test leaves in it is removed. A test of a first visit, and whatever is open beside, has a new one.

Without a browser or Playwright the tests are skipped. Where CI is set, those without a browser fail.
"""

import os
import shutil
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from servers import served

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-quic"),
    *("--no-first-run", "--disable-component-update", "--disable-sync"),
)
# A test's page lives for seconds: to optimise its programs takes more time than it saves, and so do threads that help them.
UNOPTIMISED = ("--js-flags=--no-opt --single-threaded",)
LONG = 90_000  # milliseconds after which a test gives up, on a machine with other tests
LOOK_MS = 100  # between two looks at a page that is waited for: by itself Playwright looks with each frame


def pytest_collection_modifyitems(items):
    """Mark every test of this folder; the hook is given those of the whole session."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def app_url(tmp_path_factory):
    """Start the app for all tests."""
    with served(tmp_path_factory.mktemp("app"), os.environ.get("DSGLAB_BASE_PATH", "")) as url:
        yield url


def find_browser():
    """Return the browser named by DSGLAB_CHROMIUM, or the first known one on the path; else skip, or fail where CI is set."""
    named = os.environ.get("DSGLAB_CHROMIUM")
    for name in (named,) if named else BROWSERS:
        if path := shutil.which(name):
            return path
    reason = f"no browser: {named or ', '.join(BROWSERS)} (set DSGLAB_CHROMIUM to its path)"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI is set", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="package")
def browser():
    """Launch the system's Chromium, once a session."""
    from playwright.sync_api import sync_playwright

    executable = find_browser()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=[*BROWSER_ARGUMENTS, *UNOPTIMISED])
        yield chromium
        chromium.close()


class PageHealth:
    """Record of forbidden events on a test's pages: logged errors, exceptions, tracebacks, requests to other hosts."""

    def __init__(self, app_host):
        self.app_host, self.pages, self.errors = app_host, [], []
        self._listeners = {
            "console": self._on_console,
            "pageerror": lambda error: self.errors.append(f"page error: {error}"),
            "request": self._on_address,
            "websocket": self._on_address,
        }

    def watch(self, page):
        """Record what `page` does from now on."""
        for event, listener in self._listeners.items():
            page.on(event, listener)
        self.pages.append(page)

    @contextmanager
    def kept(self):
        """Fail at the end with what went wrong; record nothing more of any page then."""
        try:
            yield
            self.assert_clean()
        finally:
            for page in self.pages:
                for event, listener in self._listeners.items():
                    page.remove_listener(event, listener)

    def assert_clean(self):
        """Fail with everything that went wrong so far on the test's pages."""
        found = [*self.errors]
        for page in (page for page in self.pages if not page.is_closed()):
            found += [
                f"exception on {page.url}: {box.inner_text()}" for box in page.get_by_test_id("stException").all()
            ]
            found += [f"no such page: {page.url}"] * page.get_by_text("Page not found", exact=True).count()
        assert not found, "\n".join(found)

    def _on_console(self, message):
        if message.type == "error":
            self.errors.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _on_address(self, asked):
        parts = urlsplit(asked.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != self.app_host:
            self.errors.append(f"outside request: {asked.url}")


@pytest.fixture
def page_health(app_url):
    """Give the record of all pages that the test opens."""
    return PageHealth(urlsplit(app_url).netloc)


def page_of_its_own(browser, **options):
    """Return a page in a context of these options, such as those of a phone."""
    context = browser.new_context(**options)
    context.set_default_timeout(LONG)
    page = context.new_page()
    page.wait_for_function = partial(page.wait_for_function, polling=LOOK_MS)
    return page


@pytest.fixture
def new_page(browser):
    """Give a function that makes pages in contexts of their own."""
    pages = []

    def make(**options):
        pages.append(page_of_its_own(browser, **options))
        return pages[-1]

    yield make
    for page in pages:
        page.context.close()


class Window:
    """A page that is lent to one test after the other, each of which finds it as if new."""

    def __init__(self, browser):
        self._browser, self._page, self.is_lent = browser, None, False

    def lend(self):
        """Return the page; make one if there is none."""
        if self._page is None:
            self._page = page_of_its_own(self._browser)
        self.is_lent = True
        return self._page

    def take_back(self):
        """Remove what a test has left: files and addresses it answered itself, what the browser remembers, where the mouse is.

        A page in which that can't be done is closed, with all that its context holds.
        """
        if not self.is_lent:
            return
        from playwright.sync_api import Error as PlaywrightError

        self.is_lent, page, context = False, self._page, self._page.context
        try:
            page.unroute_all(behavior="ignoreErrors")
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
            page.goto("about:blank")
            page.mouse.move(0, 0)
            context.clear_cookies()
            if context.pages != [page]:
                self.close()
        except PlaywrightError:
            self.close()

    def close(self):
        """End it; the next test gets another one."""
        if self._page is not None:
            self._page.context.close()
        self._page = None


@pytest.fixture(scope="package")
def window(browser):
    """Give the window that tests share."""
    shared = Window(browser)
    yield shared
    shared.close()


@pytest.fixture
def open_page(new_page, window, app_url, page_health):
    """Give a function that opens a page, the first in the shared window; check all of them at the end."""
    from .watched_pages import until_ready

    def open_one(path="", viewport=(1280, 900), theme="light", is_first_visit=False, **options):
        is_new = is_first_visit or options or window.is_lent
        page = new_page(**options) if is_new else window.lend()
        page.set_viewport_size(dict(zip(("width", "height"), viewport, strict=True)))
        page.emulate_media(color_scheme=theme)
        page_health.watch(page)
        page.goto(f"{app_url}/{path.lstrip('/')}")
        until_ready(page)
        return page

    try:
        with page_health.kept():
            yield open_one
    finally:
        window.take_back()

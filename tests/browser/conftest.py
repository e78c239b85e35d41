"""The app in a real browser: one server and one Chromium for the session, and a window that each test gets as if new.

A page's programs are compiled for each new renderer, which takes half of the loading time. In a window that has shown the app
they are there; what a test leaves in it is removed. A test of a first visit, and whatever is open beside, has a new one.

    def test_curve_moves(open_page, page_health):
        page = open_page("similar?eta=0.1", viewport=(390, 844), theme="dark")
        page.get_by_text("running").wait_for()
        page_health.assert_clean()  # also asked of every page when the test ends

Without a browser or Playwright the tests are skipped, except where CI is set: there they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest
from servers import served

from .watched_pages import PageHealth

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-quic",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
)
# A test's page lives for seconds: to optimise its programs takes more time than it saves, and so do threads that help them.
UNOPTIMISED = ("--js-flags=--no-opt --single-threaded",)
READY_MS = 60_000
LOOK_MS = 100  # between two looks at a page that is waited for: by itself Playwright looks with each frame


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder; the hook is given those of the whole session."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


# --- the server


@pytest.fixture(scope="package")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the app for all tests."""
    with served(tmp_path_factory.mktemp("app"), os.environ.get("DSGLAB_BASE_PATH", "")) as url:
        yield url


# --- the browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Launch the system's Chromium, once a session."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _go_without("playwright is not installed")
    executable = _find_browser()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=[*BROWSER_ARGUMENTS, *UNOPTIMISED])
        yield chromium
        chromium.close()


def _find_browser() -> str:
    """Return the browser named by DSGLAB_CHROMIUM, or the first known one on the path."""
    named = os.environ.get("DSGLAB_CHROMIUM")
    found = [path for name in ((named,) if named else BROWSERS) if (path := shutil.which(name))]
    if not found:
        _go_without(f"no browser: {named or ', '.join(BROWSERS)} (set DSGLAB_CHROMIUM to its path)")
    return found[0]


def _go_without(reason: str) -> None:
    """Skip; fail where a missing browser would hide that nothing was tested."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI is set", pytrace=False)
    pytest.skip(reason)


# --- the page


@pytest.fixture
def page_health(app_url: str) -> PageHealth:
    """Give the record of all pages that the test opens."""
    return PageHealth(urlsplit(app_url).netloc)


class Window:
    """A page that is lent to one test after the other, each of which finds it as if it were new.

    Parameters
    ----------
    browser : Browser
    **options
        Those of the page's context: a touch screen, for instance.
    """

    def __init__(self, browser: Browser, **options: Any) -> None:
        self._browser, self._options = browser, options
        self._page: Page | None = None
        self.is_lent = False

    def lend(self) -> Page:
        """Return the page; make one if there is none."""
        if self._page is None:
            self._page = self._browser.new_context(**self._options).new_page()
        self.is_lent = True
        return self._page

    def take_back(self) -> None:
        """Remove what a test has left: files and addresses it answered itself, what the browser remembers, where the mouse is.

        A page in which that can't be done is closed, with all that its context holds.
        """
        if not self.is_lent or self._page is None:
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

    def close(self) -> None:
        """End it; the next test gets another one."""
        if self._page is not None:
            self._page.context.close()
        self._page = None


@pytest.fixture(scope="package")
def window(browser: Browser) -> Iterator[Window]:
    """Give the window that tests share."""
    shared = Window(browser)
    yield shared
    shared.close()


@pytest.fixture
def open_page(browser: Browser, window: Window, app_url: str, page_health: PageHealth) -> Iterator[Callable[..., Page]]:
    """Give a function that opens a page, the first in the shared window; check all of them at the end."""
    contexts = []

    def open_one(
        path: str = "",
        viewport: tuple[int, int] = (1280, 900),
        theme: Literal["light", "dark"] = "light",
        is_first_visit: bool = False,
    ) -> Page:
        if is_first_visit or window.is_lent:
            contexts.append(browser.new_context())
            page = contexts[-1].new_page()
        else:
            page = window.lend()
        page.set_viewport_size(dict(zip(("width", "height"), viewport, strict=True)))
        page.emulate_media(color_scheme=theme)
        page.wait_for_function = partial(page.wait_for_function, polling=LOOK_MS)  # type: ignore[method-assign]
        page_health.watch(page)
        page.goto(f"{app_url}/{path.lstrip('/')}")
        _wait_ready(page)
        return page

    try:
        with page_health.kept():
            yield open_one
    finally:
        window.take_back()
        for context in contexts:
            context.close()


@pytest.fixture
def wait_ready() -> Callable[[Page], None]:
    """Give the function that waits for the end of a script run."""
    return _wait_ready


def _wait_ready(page: Page) -> None:
    """Wait until the page is connected, its script has ended and nothing is being filled in.

    A live fragment runs again at once: there, wait for a text of the page afterwards.
    """
    for name, value in (("connection", "CONNECTED"), ("script", "notRunning")):
        app = f'[data-testid="stApp"][data-test-{name}-state="{value}"]'
        page.wait_for_selector(app, state="attached", timeout=READY_MS)
    page.wait_for_selector('[data-testid="stSkeleton"]', state="detached", timeout=READY_MS)

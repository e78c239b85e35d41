"""What must not happen on any page that a test opens, and the record of it; a choice from a list."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Locator, Page, Request, WebSocket
    from playwright.sync_api import Error as PlaywrightError


@dataclass
class PageHealth:
    """Record of forbidden events on a page: logged errors, exceptions, tracebacks, requests to other hosts."""

    app_host: str
    pages: list[Page] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Record what `page` does from now on."""
        for event, listener in self._listeners():
            page.on(event, listener)
        self.pages.append(page)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Fail at the end with what went wrong; record nothing more of any page then."""
        try:
            yield
            self.assert_clean()
        finally:
            for page in self.pages:
                for event, listener in self._listeners():
                    page.remove_listener(event, listener)

    def assert_clean(self) -> None:
        """Fail with everything that went wrong so far on the test's pages."""
        shown = [
            f"exception on {page.url}: {box.inner_text()}"
            for page in self.pages
            if not page.is_closed()
            for box in page.get_by_test_id("stException").all()
        ]
        shown += [
            f"no such page: {page.url}"
            for page in self.pages
            if not page.is_closed() and page.get_by_text("Page not found", exact=True).count()
        ]
        assert not self.errors + shown, "\n".join(self.errors + shown)

    def _listeners(self) -> tuple[tuple[Any, Any], ...]:
        return (
            ("console", self._on_console),
            ("pageerror", self._on_error),
            ("request", self._on_address),
            ("websocket", self._on_address),
        )

    def _on_error(self, error: PlaywrightError) -> None:
        self.errors.append(f"page error: {error}")

    def _on_address(self, asked: Request | WebSocket) -> None:
        self._on_url(asked.url)

    def _on_console(self, message: ConsoleMessage) -> None:
        url = message.location.get("url", "")
        if message.type == "error":
            self.errors.append(f"console: {message.text} ({url})")

    def _on_url(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != self.app_host:
            self.errors.append(f"outside request: {url}")


STILL = """box => new Promise(done => {
    let top = NaN, frames = 0;
    const look = () => {
        const now = box.getBoundingClientRect().top;
        frames = now === top ? frames + 1 : 0;
        top = now;
        frames < 20 ? requestAnimationFrame(look) : done();
    };
    look();
})"""


def choose(page: Page, box: Locator, option: str) -> None:
    """Choose an option by click. An open list closes when the page scrolls, so the box is brought into view before."""
    box.hover()
    box.evaluate(STILL)
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


def tab_to(page: Page, selector: str, most: int = 40) -> None:
    """Go on by Tab until an element of that kind has the focus."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no way by Tab to {selector}")

"""The first visit to a fresh server, straight to an address."""

import pytest

from .conftest import _free_port, _server, _stop, _wait_ready, _wait_until_up


@pytest.mark.weekly
def test_the_first_visit_to_a_fresh_server_opens_the_page_of_its_address(browser, tmp_path):
    port, log = _free_port(), tmp_path / "log"
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output, _server(port, output, tmp_path / "runs.sqlite") as server:
        context = browser.new_context()
        try:
            _wait_until_up(url, server, log)
            page = context.new_page()
            page.goto(f"{url}/auc?seed=7&solver.n_iter=100")
            page.get_by_text("Ranking").first.wait_for(timeout=60_000)
            _wait_ready(page)
            assert not page.get_by_text("Page not found").count()
            assert "seed=7" in page.url
            assert page.get_by_test_id("stException").count() == 0
        finally:
            context.close()
            _stop(server)

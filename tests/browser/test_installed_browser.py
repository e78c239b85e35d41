"""The app of an installed wheel, in a browser: started by the command in an empty folder, it draws a run."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).parents[1]))
from installed import built, serving, unpacked

LONG = 120_000


@pytest.mark.weekly
def test_an_installed_app_draws_a_run(browser, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # test_package.py compiles; all loops would take half a minute
    site = unpacked(built("wheel", tmp_path / "wheel"), tmp_path / "site-packages")
    context = browser.new_context()
    page, failed = context.new_page(), []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    try:
        with serving(site, tmp_path) as address:
            page.goto(f"{address}/auc?solver.n_iter=20&solver.n_features=8")
            expect(page.locator(".js-plotly-plot .js-line").first).to_be_attached(timeout=LONG)
            expect(page.locator(".live-status")).to_contain_text(re.compile(r"step [1-9]\d* of 20"), timeout=LONG)
            assert page.get_by_test_id("stException").count() == 0
            assert [url for url in failed if "/_stcore/" not in url] == []
    finally:
        context.close()

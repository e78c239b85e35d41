"""A person's file on its way through the app: to its first curve; and to a verdict, then to Explore and Convergence."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect
from sklearn.datasets import load_wine

from .test_auc_page import CURVE

ROWS, LABELS = 2_100, 100
# A verdict needs three seeds of the quick methods. The whole comparison may take 120 s.
VERDICT_MS, PAGE_MS = 200_000, 60_000


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 5)).round(4)
    is_yes = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=ROWS) > 0
    label = np.where(np.arange(ROWS) < LABELS, np.where(is_yes, "yes", "no"), "")
    return pd.DataFrame(X, columns=list("abcde")).assign(label=label).to_csv(index=False).encode()


def give(page, name, content):
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator("input[type=file]").set_input_files(file, timeout=PAGE_MS)


def test_a_file_leads_to_a_first_curve(open_page, page_health):
    wine = load_wine(as_frame=True)
    grower = [f"grower {k}" for k in wine.target]
    page = open_page("auc")
    page.locator(".st-key-data input").first.click()
    page.get_by_role("option", name="Your own file").click()
    expect(page.get_by_text("A table with a column of labels")).to_be_visible(timeout=30_000)
    content = wine.data.assign(grower=grower).to_csv(index=False).encode()
    give(page, "wine.csv", content)
    said = page.get_by_test_id("stMain").get_by_test_id("stMarkdown")
    expect(said.filter(has_text="wine.csv").first).to_be_visible(timeout=30_000)
    curve = ["chart-objective", "training data"]
    page.wait_for_function(f"args => ({CURVE})(args).length >= 3", arg=curve, timeout=PAGE_MS)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("178 rows, 13 features")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("innerWidth === 390 && document.documentElement.scrollWidth <= innerWidth", timeout=5_000)
    page_health.assert_clean()


@pytest.mark.ci
def test_a_file_leads_to_a_verdict_and_to_labeled_rows_and_goes_on_to_explore_and_convergence(open_page):
    page = open_page("data")
    page.locator(".st-key-look-file button").click()
    give(page, "mine.csv", table())  # in the system's window this takes two clicks
    expect(page.get_by_text("2,000 rows without a label")).to_be_visible(timeout=PAGE_MS)
    page.get_by_role("button", name="Compare methods").click()
    verdict = page.get_by_test_id("stMarkdown").get_by_text(re.compile(r"^(Use|Nothing clearly beats) .*seeds"))
    expect(verdict).to_be_visible(timeout=VERDICT_MS)
    expect(page.get_by_text("The difference is to the best method")).to_be_visible(timeout=PAGE_MS)
    page.locator(".st-key-stop-comparing button").click()
    page.get_by_role("button", name="Label 2,000 rows").click(timeout=PAGE_MS)
    with page.expect_download(timeout=VERDICT_MS) as labeled:
        page.get_by_role("button", name="Labeled rows (CSV)").click(timeout=VERDICT_MS)
    assert pd.read_csv(labeled.value.path())["row"].tolist() == list(range(LABELS, ROWS))
    page.locator(".st-key-open-in").get_by_role("link", name="Explore", exact=True).click()
    page.wait_for_url(re.compile("/explore"))
    assert_on_file(page, "Explore")
    # Through the navigation a page begins with its own set. The file is one click away.
    page.locator("header nav").get_by_role("link", name="Convergence").click()
    page.get_by_role("button", name="Use mine.csv").click(timeout=PAGE_MS)
    assert_on_file(page, "Convergence")


def assert_on_file(page, name):
    """Fail unless a page asks its question about the file, and the study can start."""
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible(timeout=PAGE_MS)
    expect(page.get_by_text("2,000 rows without a label")).to_be_visible(timeout=PAGE_MS)
    expect(page.locator(".st-key-part-study-transport button").first).to_be_enabled(timeout=PAGE_MS)
    assert page.get_by_test_id("stAlertContentError").count() == 0

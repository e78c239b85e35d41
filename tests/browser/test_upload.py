"""One's own file, as a newcomer brings it: choose it, and see the curve."""

import io
import sys
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from cases import some
from playwright.sync_api import expect
from sklearn.datasets import load_wine

from .test_auc_page import CURVE

sys.path.insert(0, str(Path(__file__).parents[1]))
from hostile_files import REFUSED

SECONDS = 60


def wine():
    X, y = load_wine(return_X_y=True)
    return pd.DataFrame(X, columns=load_wine().feature_names), y


def as_csv():
    X, y = wine()
    return X.assign(grower=[f"grower {k}" for k in y]).to_csv(index=False).encode()


def as_parquet():
    X, y = wine()
    content = io.BytesIO()
    X.assign(grower=[f"grower {k}" for k in y]).to_parquet(content)
    return content.getvalue()


FILES = {"wine.csv": as_csv, "wine.parquet": as_parquet}


def wait_for_points(page, count):
    """Wait for a curve; where the machine is busy, longer than for one that only grows on."""
    given = ["chart-objective", "training data"]
    page.wait_for_function(f"args => ({CURVE})(args).length >= {count}", arg=given, timeout=1000 * SECONDS)


def choose_own_file(page, key):
    page.locator(f".st-key-{key} input").first.click()
    page.get_by_role("option", name="Your own file").click()
    expect(page.get_by_text("A table with a column of labels")).to_be_visible(timeout=30_000)


def give(page, name, content):
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)


def sentence(page):
    return page.get_by_test_id("stMain").get_by_test_id("stMarkdown")


@pytest.mark.parametrize(
    ("name", "setting", "key"),
    some([("wine.csv", "auc", "data"), ("wine.parquet", "multiclass", "mc_data")], 1),
)
def test_a_file_leads_to_a_first_curve(open_page, page_health, name, setting, key):
    page = open_page(setting)
    choose_own_file(page, key)
    give(page, name, FILES[name]())
    expect(sentence(page).filter(has_text=name).first).to_be_visible(timeout=30_000)
    wait_for_points(page, 3)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("178 rows, 13 features")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("innerWidth === 390 && document.documentElement.scrollWidth <= innerWidth", timeout=5_000)
    page_health.assert_clean()


@pytest.mark.ci
def test_broken_files_get_a_sentence_and_the_app_goes_on(open_page, page_health):
    page = open_page("auc?data.name=Your+own+file&view.speed=instant")
    for name in (
        "header only",
        "truncated Parquet",
        "npz of objects",
        "SVMlight with a negative index",
        "10,000 columns",
    ):
        file_name, content, said = REFUSED[name]
        give(page, file_name, content)
        # Look at all sentences: while the page is drawn, that of the previous file may still be there.
        alerts = page.get_by_test_id("stSidebar").get_by_test_id("stAlert")
        expect(alerts.filter(has_text=said.split(",")[0].removeprefix("the ")[:30])).to_be_visible(timeout=30_000)
        expect(alerts).to_have_count(1)
        page_health.assert_clean()
    give(page, "wine.csv", as_csv())
    wait_for_points(page, 2)

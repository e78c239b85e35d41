"""One's own file, as a newcomer brings it: choose it, and see the curve."""

import io
import sys
import time
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
def test_from_a_file_to_its_first_curve_in_a_minute(open_page, page_health, name, setting, key):
    page = open_page(setting)
    started = time.monotonic()
    choose_own_file(page, key)
    give(page, name, FILES[name]())
    expect(sentence(page).filter(has_text=name).first).to_be_visible(timeout=30_000)
    wait_for_points(page, 3)
    seconds = time.monotonic() - started
    print(f"{name}: first curve after {seconds:.1f} s")
    assert seconds < SECONDS
    expect(page.get_by_test_id("stSidebar")).to_contain_text("178 rows, 13 features")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("innerWidth === 390 && document.documentElement.scrollWidth <= innerWidth", timeout=5_000)
    page_health.assert_clean()


@pytest.mark.weekly
def test_what_was_done_is_listed_and_a_link_asks_for_the_file(open_page, app_url):
    page = open_page(
        "auc?data.name=Your+own+file&view.speed=instant"
    )  # at any other, both pages would be drawn all the time
    give(page, "wine.csv", as_csv())
    wait_for_points(page, 2)
    page.get_by_text("wine.csv: columns, first rows, what was done").click()
    page.get_by_role("tab", name="What was done").click()
    expect(page.get_by_text("is positive, the others are negative")).to_be_visible(timeout=10_000)
    page.wait_for_url("**file=%7B*")
    other = open_page(page.url.removeprefix(f"{app_url}/"))
    expect(other.get_by_text("This link needs the file wine.csv")).to_be_visible(timeout=30_000)
    give(other, "again.csv", as_csv())
    wait_for_points(other, 2)
    expect(other.get_by_text("This link needs the file")).to_have_count(0)
    other.get_by_text("More", exact=True).click()
    other.get_by_role("button", name="Suggest", exact=True).click()
    expect(other.get_by_text("Searching: ")).to_be_visible(timeout=30_000)
    other.locator(".st-key-suggest-cancel button").click()
    expect(other.get_by_text("Cancelled after")).to_be_visible(timeout=30_000)


@pytest.mark.ci
def test_with_notes_on_a_file_three_plots_fit_and_a_reload_keeps_the_file(open_page, page_health):
    X, y = wine()
    labels = ["-1" if k % 3 else f"grower {one}" for k, one in enumerate(y)]
    table = X.assign(row=[f"wine {k}" for k in range(len(X))], grower=labels).to_csv(index=False).encode()
    page = open_page("multiclass", viewport=(1366, 768))
    choose_own_file(page, "mc_data")
    give(page, "wines.csv", table)
    wait_for_points(page, 3)
    expect(page.locator(".st-key-part-notes p").nth(1)).to_be_visible()
    plots = "[...document.querySelectorAll('[data-place=curves] .live-chart')].at(-1).getBoundingClientRect().bottom"
    page.wait_for_function(f"{plots} <= innerHeight", timeout=1000 * SECONDS)
    page.wait_for_url("**file=%7B*")
    page.reload()
    wait_for_points(page, 3)
    expect(page.locator(".stMain")).not_to_contain_text("does not have")
    page_health.assert_clean()


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


def with_thousands():
    """Return a table as a German spreadsheet writes it, with a column that is left out."""
    rows = [f"{1000 * i + 1.5:,.2f}".replace(",", "x").replace(".", ",").replace("x", ".") for i in range(1, 121)]
    lines = [f"{price};{i % 7},5;Nr. {i};{'ab'[i > 60]}" for i, price in enumerate(rows)]
    return "\n".join(["Preis;Lage;Name;Klasse", *lines]).encode()


@pytest.mark.weekly
def test_from_the_data_page_with_a_file_of_ones_own_into_a_run(open_page, page_health):
    page = open_page("data")
    page.locator(".st-key-look-file button").click()
    expect(page.get_by_text("A table with a column of labels")).to_be_visible(timeout=30_000)
    give(page, "preise.csv", with_thousands())
    expect(page.get_by_text("1 of 4 columns is left out")).to_be_visible(timeout=30_000)
    expect(page.get_by_test_id("stMain")).to_contain_text("120 points · 2 features · 2 classes")
    expect(page.locator(".st-key-chart-plane .js-plotly-plot")).to_be_visible(timeout=30_000)
    page.get_by_test_id("stMain").get_by_role("link", name="Ranking", exact=True).click()
    wait_for_points(page, 2)
    expect(sentence(page).filter(has_text="preise.csv").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("1 of 4 columns is left out")).to_be_visible()
    page.get_by_text("preise.csv: columns, first rows, what was done").click()
    page.get_by_role("tab", name="What was done").click()
    expect(page.get_by_text("'Preis': numbers written like 1.234,5, which is read as 1234.5")).to_be_visible()
    page_health.assert_clean()

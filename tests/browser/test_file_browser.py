"""A person's file and the gallery's sets: to a first curve, and into other pages. test_compare.py has verdicts and labeled rows."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from .watched_pages import IS_NO_WIDER, PHONE, PLOT, alerts, at_size, expect, give, status, wait_for_points

KEPT = """async () => {
    const result = asked => new Promise(done => { asked.onsuccess = () => done(asked.result); });
    const opened = await result(indexedDB.open("dsg-lab", 1));
    return (await result(opened.transaction("files").objectStore("files").getAll())).map(kept => kept.file.name).join();
}"""


def test_a_file_leads_to_a_first_curve_also_after_a_reload_and_is_forgotten_when_it_is_removed(open_page):
    wine = load_wine(as_frame=True)
    grower = [f"grower {k}" for k in wine.target]
    page = open_page("auc?view.speed=slow")  # a fast run keeps the browser busy
    page.locator(".st-key-data input").first.click()
    page.get_by_role("option", name="Your own file").click()
    expect(page.get_by_text("A table with a column of labels")).to_be_visible()
    give(page, "wine.csv", wine.data.assign(grower=grower).to_csv(index=False).encode())
    said = page.get_by_test_id("stMain").get_by_test_id("stMarkdown")
    expect(said.filter(has_text="wine.csv").first).to_be_visible()
    wait_for_points(page, 3)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("178 rows, 13 features")
    at_size(page, *PHONE)
    page.wait_for_function(IS_NO_WIDER, timeout=5_000)
    late = []
    page.route("**/static/js/FileUploader.*", lambda route: late.append(route))
    page.reload()  # the session is gone, and the browser has kept the file, for a chooser that comes after the page has asked
    page.wait_for_function("window.dsgLab?.hasBroughtBack")
    for route in late:
        route.continue_()
    wait_for_points(page, 3)
    expect(page.get_by_test_id("stMain").get_by_text("wine.csv").first).to_be_attached()
    at_size(page, 1280, 900)
    assert "wine.csv" in page.evaluate(KEPT)
    page.get_by_test_id("stFileUploader").get_by_role("button", name=re.compile("Remove|Delete")).click()
    expect(page.get_by_text("This link needs the file wine.csv")).to_be_visible()
    page.wait_for_function(f"async () => !(await ({KEPT})()).includes('wine.csv')")


@pytest.mark.ci
def test_a_file_goes_on_to_explore_and_convergence(open_page):
    page = open_page("data")
    page.locator(".st-key-look-file button").click()
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(140, 3)), columns=list("abc"))
    table["label"] = ["yes", "no"] * 20 + [""] * 100
    give(page, "mine.csv", table.to_csv(index=False).encode())  # in the system's window this takes two clicks
    expect(page.get_by_text("100 rows without a label")).to_be_visible()
    page.locator(".st-key-open-in").get_by_role("link", name="Explore with these data").click()
    page.wait_for_url(re.compile("/explore"))
    assert_on_file(page, "Explore")
    # Through the navigation a page begins with its own set. The file is one click away.
    page.locator("header nav").get_by_role("link", name="Convergence").click()
    page.get_by_role("button", name="Use mine.csv").click()
    assert_on_file(page, "Convergence")


def assert_on_file(page, name):
    """Fail unless a page asks its question about the file, and the study can start."""
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    expect(page.get_by_text("100 rows without a label")).to_be_visible()
    expect(page.locator(".st-key-part-study-transport button").first).to_be_enabled()
    assert page.get_by_test_id("stAlertContentError").count() == 0


# --- the gallery


@pytest.mark.ci
def test_a_close_look_in_the_gallery_fits_a_desk_and_a_phone_and_a_card_leads_into_another_run(open_page):
    page = open_page("data")
    card = page.locator(".st-key-card-wine")
    picture = card.locator("img").element_handle()
    page.wait_for_function("picture => picture.complete && picture.naturalWidth > 0", arg=picture)
    page.locator(".st-key-look-diabetes button").click()
    for chart in ("chart-plane", "chart-data-balance", "chart-data-coverage", "chart-feature"):
        page.wait_for_function(f"chart => ({PLOT})(chart)?.data.length > 0", arg=chart)
    for size in (PHONE, (1280, 900)):
        at_size(page, *size)
        page.wait_for_function(IS_NO_WIDER, timeout=5_000)
    page.go_back()
    card.get_by_role("link", name="Ranking Wine", exact=True).click()
    page.wait_for_url(re.compile(r"/auc\?.*data.name=wine"))
    status(page, "step")
    wait_for_points(page, 2)
    assert alerts(page) == []

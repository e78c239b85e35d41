"""The navigation in a real browser: all pages can be reached, and nothing wraps or sticks out."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

SMALL, PHONE = (1280, 800), (390, 844)
DOORS = ("Home", "Lessons", "Methods", "Data", "Explore", "Convergence", "Papers")
ONE_LINE = """() => {
    const bar = document.querySelector("header").getBoundingClientRect();
    return bar.height < 80 && document.documentElement.scrollWidth <= window.innerWidth;
}"""


@pytest.mark.ci
def test_beside_the_sidebar_of_a_small_window_all_doors_are_in_one_line_and_the_setting_switches_the_page(open_page):
    page = open_page("auc?at=3&data.name=Two+moons", viewport=SMALL)
    assert page.evaluate(ONE_LINE)
    for name in DOORS:
        expect(page.locator("header nav").get_by_role("link", name=name, exact=True)).to_be_in_viewport()
    setting = page.get_by_test_id("stSidebar").get_by_role("combobox", name="Setting")
    setting.click()
    page.get_by_role("option", name="Gaps").click()
    expect(page).to_have_title("Gaps - DSG Lab")
    expect(page.get_by_test_id("stSidebar").get_by_role("combobox", name="Data", exact=True)).to_have_value("Two moons")


@pytest.mark.ci
def test_an_empty_sidebar_of_the_page_before_takes_no_room_from_the_bar(open_page):
    page = open_page("auc?at=3", viewport=SMALL)
    # On the way to a page without a sidebar, Streamlit sometimes does this, and keeps the sidebar until a later drawing.
    page.evaluate("document.querySelector('.stSidebar .stVerticalBlock').replaceChildren()")
    expect(page.locator("header nav").get_by_role("link", name=DOORS[-1])).to_be_in_viewport()


@pytest.mark.ci
@pytest.mark.parametrize("path", ["data", "auc?at=3"])
def test_on_a_phone_the_drawer_has_all_doors_above_its_sliders_and_closes_behind_the_reader(open_page, path):
    page = open_page(path, viewport=PHONE)
    opens, drawer = page.get_by_test_id("stExpandSidebarButton"), page.get_by_test_id("stSidebarNav")
    opens.click()
    for name in DOORS:
        expect(drawer.get_by_text(name, exact=True)).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    drawer.get_by_text("Explore", exact=True).click()
    expect(page).to_have_title("Explore - DSG Lab")
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    opens.click()
    expect(drawer.get_by_text("Papers", exact=True)).to_be_in_viewport()
    page.go_back()
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()


def test_an_unknown_address_keeps_style_and_links_and_offers_the_doors(open_page, page_health):
    page = open_page("nothing")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    assert [error for error in page_health.errors if "/_stcore/" not in error] == page_health.errors
    assert len(page_health.errors) == 1, "the address's own answer, 404"
    page_health.errors.clear()
    page.locator(".st-key-doors").get_by_role("link", name="Methods").click()
    expect(page).to_have_title("Methods - DSG Lab")
    page.locator(".st-key-method-auc").click()  # anywhere on the card
    expect(page).to_have_title("Ranking - DSG Lab")
    expect(page.locator(".st-key-part-head")).to_be_visible()
    assert page.evaluate(ONE_LINE)


def test_a_word_of_the_menu_is_an_address(open_page):
    page = open_page("gaps?at=3")
    expect(page).to_have_title("Gaps - DSG Lab")

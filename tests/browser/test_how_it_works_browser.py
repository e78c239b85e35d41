"""The five screens of "How it works": no scrolling, a picture that follows at once, keys, and links."""

import pytest
from cases import some

from .watched_pages import DESK, PHONE, PROJECTOR, assert_accessible, at_size, expect, until_ready

SCREENS = range(1, 6)
LOOKED_INTO = some(SCREENS, 2)  # by axe-core
SCROLLS = """() => {
    const all = [document.scrollingElement, document.querySelector(".stMain")];
    const page = all.some(part => part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth + 1);
    return page || document.querySelector(".how-way button").getBoundingClientRect().bottom > innerHeight;
}"""
# Move the slider to each stop; count those after which the next frame shows another picture.
DRAG = """async () => {
    const slider = document.querySelector(".how-slider input");
    const look = () => document.querySelector(".how-panels").outerHTML;
    let followed = 0, moved = 0;
    for (let stop = Number(slider.min); stop <= Number(slider.max); stop++) {
        if (stop === Number(slider.value)) continue;
        const before = look();
        slider.value = stop;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
        followed += look() !== before;
        moved += 1;
    }
    return {followed, moved};
}"""


def screen(page, number):
    expect(page.locator(".how-way")).to_contain_text(f"{number} of 5")
    expect(page.locator(".how-said")).not_to_be_empty()


@pytest.mark.ci
def test_each_screen_fits_three_windows_and_follows_its_slider_at_once_and_the_first_lesson_follows(open_page):
    page = open_page("how_it_works")
    for number in SCREENS:
        screen(page, number)
        until_ready(page)
        for size in (DESK, PROJECTOR, PHONE):
            at_size(page, *size)
            assert not page.evaluate(SCROLLS), f"screen {number} at {size}"
        dragged = page.evaluate(DRAG)
        assert dragged["followed"] == dragged["moved"] > 5, number
        if number in LOOKED_INTO:
            assert_accessible(page)
        if number < 5:
            page.get_by_role("button", name="Next").click()
    curve = page.locator(".how-panel:last-child .scatterlayer .trace path.js-line").last
    both = curve.get_attribute("d")
    page.get_by_label("few points").uncheck()  # switches turn each noise off, and are in the link
    page.wait_for_url("**off=points**")
    assert curve.get_attribute("d") != both
    page.get_by_label("few waves").uncheck()
    page.wait_for_url("**off=both**")
    page.reload()
    screen(page, 5)
    expect(page.get_by_label("few points")).not_to_be_checked()
    expect(page.get_by_label("few waves")).not_to_be_checked()
    page.get_by_role("button", name="Try a lesson").click()
    expect(page).to_have_title("Ranking - DSG Lab")
    expect(page.locator(".st-key-stage-text")).to_contain_text("Ten")
    assert "lesson=unlabeled" in page.url


def test_keys_alone_reach_the_slider_and_the_next_screen_and_the_link_keeps_the_place(open_page):
    page = open_page("how_it_works?screen=2&at=3")
    screen(page, 2)
    slider = page.get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "m = 4 waves, error 0.25")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".how-said")).to_contain_text("m = 8 waves")
    page.wait_for_url("**at=4**")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Next")).to_be_focused()
    page.keyboard.press("Enter")
    screen(page, 3)
    expect(page.get_by_role("heading", name="One step")).to_be_focused()
    page.wait_for_url("**screen=3**")
    page.goto("about:blank")
    page.go_back()
    screen(page, 3)
    slider.click()  # a presenter's remote control sends the page keys
    page.keyboard.press("PageDown")
    screen(page, 4)
    page.keyboard.press("PageUp")
    screen(page, 3)

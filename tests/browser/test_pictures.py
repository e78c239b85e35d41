"""The README's pictures: they show the menu and the controls that the app has."""

import json

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from .recording import RECORDED, RUN, SIZE, STILLS, words_of


@pytest.mark.weekly
@pytest.mark.parametrize("name", ["run", *STILLS])
def test_a_picture_shows_the_words_of_the_page(open_page, name):
    page = open_page({**STILLS, "run": RUN}[name], viewport=(SIZE["width"], SIZE["height"]))
    recorded = set(json.loads(RECORDED.read_text(encoding="utf-8"))[name])
    for _ in range(20):  # a run begins and ends, and its buttons with it
        shown = set(words_of(page))
        if len(recorded & shown) >= 0.85 * len(recorded | shown):
            return
        page.wait_for_timeout(500)
    pytest.fail(f"record the pictures again, these words differ: {sorted(recorded ^ shown)}")

"""The pages in the navigation: every page that a reader may look for."""

from types import SimpleNamespace
from urllib.parse import quote

import streamlit as st
from cases import each
from opened_pages import APP, bench_of, checked, open_page, said, shown
from streamlit.testing.v1 import AppTest

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from pages.controls.setting_picker import carried
from pages.shell import unknown_page

DOORS = ["Home", "Lessons", "Methods", "Data", "Explore", "Convergence", "Papers"]
BEHIND = ["How it works", "Glossary", "Pinned runs", "To take away"]


def test_the_menu_has_seven_doors_and_every_other_page_keeps_its_address(monkeypatch):
    given, navigation = {}, st.navigation

    def seen(pages, **options):
        given.update({page.title: page for page in pages})
        return navigation(pages, **options)

    monkeypatch.setattr(st, "navigation", seen)
    assert not AppTest.from_file(APP, default_timeout=60).run().exception
    assert [title for title, page in given.items() if page.visibility == "visible"] == DOORS
    methods = [profile_of(setting).short for setting in SETTINGS.values()]
    assert list(given) == [*DOORS, *methods, *BEHIND]
    assert [given[title].url_path for title in methods] == list(SETTINGS)


def test_methods_leads_to_every_method_and_says_what_it_learns_from_what():
    app = checked(open_page("methods"))
    links = {link.proto.page: link.proto.label for link in app.get("page_link")}
    (table,) = [text.value for text in app.markdown if text.value.startswith("| Method")]
    for name, setting in SETTINGS.items():
        profile = profile_of(setting)
        assert links[name] == f"**{profile.full_name}** {profile.card}"
        (row,) = [row for row in table.splitlines() if profile.full_name in row]
        assert setting.score_name in row


@each("before, link, after, there", [
    ("auc", {"seed": "7", "speed": "slow"}, "s3vm", {"data": "Circles", "seed": "7", "speed": "slow"}),
    ("auc", {"n_features": "64"}, "s3vm", {"n_features": "64"}),
    ("s3vm", {"svm_data": "Breast cancer", "svm_n_labeled": "20"}, "auc", {"data": "Breast cancer", "n_labeled": "20"}),
    ("auc", {"data": "Breast cancer", "seed": "7"}, "ordinal", {"seed": "7"}),
])  # fmt: skip
def test_another_setting_keeps_what_it_allows_of_the_data_and_the_values(before, link, after, there):
    app = checked(open_page(before, **link))
    assert app.sidebar.selectbox[0].label == "Setting"
    app = checked(app.selectbox(key=f"setting-{before}").set_value(after).run())
    bench = bench_of(app, after)
    prefix = profile_of(SETTINGS[after]).prefix
    assert bench.spec.problem.name == after
    assert not said(app)
    assert {name: bench.link.texts.get(prefix + name, app.query_params.get(prefix + name)) for name in there} == there


@each(
    "link, value",
    [("step_size", "1e9"), ("n_features", "nan"), ("seed", "-1"), ("kernel", "no kernel"), ("data", "no data")],
)
def test_a_value_that_no_setting_has_is_not_handed_on(link, value):
    for after in SETTINGS.values():
        assert value not in carried(SETTINGS["auc"], after, {link: value}).values()


def test_a_setting_is_named_by_what_it_does_and_on_the_pages_of_lessons_and_papers_its_paper_is_second():
    profiles = [profile_of(setting) for setting in SETTINGS.values()]
    assert all(profile.full_name.startswith(f"{profile.short} (") for profile in profiles)
    for page in ("lessons", "papers"):
        assert {heading.value for heading in checked(open_page(page)).header} == {one.full_name for one in profiles}


PAGES = [SimpleNamespace(url_path=path, visibility="visible") for path in ("", "auc", "data", "take_away")]


@each("address", ["nothing", "[Log in](https://a.b)", "päge", "x" * 200, ":red[a]", "$x$"])
def test_an_address_of_no_page_says_so_in_plain_text_and_offers_all_pages(monkeypatch, address):
    monkeypatch.setattr(
        unknown_page.st, "context", SimpleNamespace(url=f"https://h/lab/{quote(address, safe='')}?a=/b")
    )
    monkeypatch.setattr(unknown_page.st, "Page", lambda draw, **options: SimpleNamespace(**options))
    (page,) = unknown_page.unknown_page(PAGES)
    assert page.url_path == address
    said = []
    monkeypatch.setattr(unknown_page.st, "markdown", said.append)
    unknown_page.draw_unknown(address, [])
    assert address[:30] in shown(said[0])
    assert "](" not in said[0]


@each("path", ["", "auc", "data", "take_away"])
def test_an_address_of_a_page_is_not_unknown(monkeypatch, path):
    monkeypatch.setattr(unknown_page.st, "context", SimpleNamespace(url=f"https://h/lab/{path}"))
    assert unknown_page.unknown_page(PAGES) == []

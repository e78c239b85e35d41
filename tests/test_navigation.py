"""The pages in the navigation: every page that a reader may look for, home, and the doors from one page to the next."""

from __future__ import annotations

import re
from types import SimpleNamespace
from urllib.parse import quote

import pytest
import streamlit as st
from cases import each
from live_page import figure
from opened_pages import APP, bench_of, checked, errors, left_in_browser, open_page, run_of, said, shown
from streamlit.testing.v1 import AppTest
from test_explore import is_example
from test_file_on_pages import OWN, chosen_on_data_page, opened, study_of

from dsgcore.experiments import SETTINGS
from dsgcore.settings import PROFILES, profile_of
from pages.controls.pickers import carried
from pages.shell import router

DOORS = ["Home", "Lessons", "Methods", "Data", "Explore", "Convergence", "Papers"]
BEHIND = ["How it works", "Glossary", "Pinned runs", "To take away"]


def test_the_menu_has_seven_doors_and_every_other_page_keeps_its_address(monkeypatch):
    given, navigation = {}, st.navigation

    def seen(pages, **options):
        given.update({page.title: page for page in pages})
        return navigation(pages, **options)

    monkeypatch.setattr(st, "navigation", seen)
    checked(AppTest.from_file(APP, default_timeout=60).run())
    assert [title for title, page in given.items() if page.visibility == "visible"] == DOORS
    methods = [profile_of(setting).short for setting in SETTINGS.values()]
    assert list(given) == [*DOORS, *methods, *BEHIND]
    assert [given[title].url_path for title in methods] == list(SETTINGS)


@each("before, link, after, lost", [
    ("auc", {"data.name": "circles", "seed": "7", "view.speed": "slow"}, "s3vm", ()),
    ("auc", {"solver.n_features": "64"}, "s3vm", ()),
    ("s3vm", {"data.name": "breast_cancer", "data.n_labeled": "20"}, "auc", ()),
    ("auc", {"data.name": "breast_cancer", "seed": "7"}, "ordinal", ("data.name",)),
])  # fmt: skip
def test_another_setting_keeps_what_it_allows_of_the_data_and_the_values(before, link, after, lost):
    app = checked(open_page(before, **link))
    assert app.sidebar.selectbox[0].label == "Setting"
    app = checked(app.selectbox(key=f"setting-{before}").set_value(after).run())
    assert bench_of(app, after).spec.problem.name == after
    assert not said(app)
    assert {name: left_in_browser(app).get(name) for name in link if name not in lost}.items() <= link.items()


@each(
    "link, value",
    [("solver.step_size", "1e9"), ("solver.n_features", "nan"), ("seed", "-1"), ("kernel.name", "no kernel")],
)
def test_a_value_that_no_setting_has_is_not_handed_on(link, value):
    for after in SETTINGS.values():
        assert value not in carried(SETTINGS["auc"], after, {link: value}).values()


@each("address", ["nothing", "[Log in](https://a.b)", "päge", "x" * 200, ":red[a]", "$x$"])
def test_an_address_of_no_page_says_so_in_plain_text_and_offers_all_pages(monkeypatch, address):
    pages = [SimpleNamespace(url_path=path, title=path, visibility="visible") for path in ("", "auc", "data")]
    monkeypatch.setattr(router.st, "context", SimpleNamespace(url=f"https://h/lab/{quote(address, safe='')}?a=/b"))
    monkeypatch.setattr(router.st, "Page", lambda draw, **options: SimpleNamespace(**options))
    (page,) = router.unknown_page(pages)
    assert page.url_path == address
    said = []
    monkeypatch.setattr(router.st, "markdown", said.append)
    router.draw_unknown(address, [])
    assert address[:30] in shown(said[0])
    assert "](" not in said[0]


# --- home: every setting at work in a picture, words before names, and one place to start


def test_home_leads_to_the_first_lesson_to_how_it_works_to_a_file_and_to_every_method():
    app = checked(open_page("home"))
    links = [link.proto for link in app.get("page_link")]
    assert [(link.label.split("**")[1], link.page) for link in links[:3]] == [
        ("Start the first lesson", "auc"),
        ("How it works", "how_it_works"),
        ("Try your own file", "data"),
    ]
    assert links[0].query_string.startswith("lesson=unlabeled")
    assert links[2].query_string == "data.name=file"
    cards = {link.page: link.label for link in links[3:]}
    assert cards.items() >= {(name, f"**{profile.short}** {profile.card}") for name, profile in PROFILES.items()}
    assert not re.search(r"[A-Z]{2}", " ".join(cards[name] for name in PROFILES)), "words, not acronyms"
    assert len(app.get("image")) == 2 * len(PROFILES), "a moving and a still one"


def test_the_picture_learns_from_ten_labels_and_a_crowd_by_itself_and_anew_from_a_label_given_by_hand():
    app = checked(open_page("home"))
    split = run_of(app, "home").split
    assert (len(run_of(app, "home").labeled_rows), len(split.X_train) > 300) == (10, True)
    assert bench_of(app, "home").is_playing
    wipe = figure(app, "chart-map")["layout"]["meta"]["wipe"]
    assert wipe["left"].startswith("labels only")
    assert wipe["right"].startswith("with grey points")
    grey = int(split.train_rows[split.y_train < 0][0])
    for number, edit in enumerate(({"do": "label", "rows": [grey], "to": 1}, {"do": "label", "rows": "all"}), start=1):
        bench = bench_of(app, "home")
        bench.hand.take({"mount": "here", "edits": [[number, edit]]}, bench.spec, bench.live.run.split)
        assert not bench.hand.refused
        checked(app.run())
        if number == 1:
            assert len(run_of(app, "home").labeled_rows) == 11
    assert bench.hand.lacks in [shown(text.value) for text in app.markdown]  # without labels it says what to do


# --- a run's data and settings on their way to Explore, Convergence and the Data page, without a browser


@pytest.mark.ci
@pytest.mark.usefixtures("store")
def test_one_click_takes_a_file_with_its_recipe_labels_and_settings_to_explore():
    app = opened("auc", chosen_on_data_page(), **{"data.name": OWN})  # not everything of the file is as guessed
    app = checked(app.select_slider(key="n_labeled").set_value(50).run())
    app = checked(app.select_slider(key="gamma").set_value(0.25).run())
    spec = run_of(app).spec
    app = checked(app.button(key="to-explore").click().run())
    study = study_of(app)
    assert errors(app) == []
    for section, name in (("data", "sha256"), ("data", "recipe"), ("data", "n_labeled"), ("problem", "gamma")):
        assert getattr(getattr(study.spec, section), name) == getattr(getattr(spec, section), name)
    assert (study.spec.kernel, study.spec.solver) == (spec.kernel, spec.solver)
    assert [axis.name for axis in study.axes] == ["solver.step_size", "kernel.sigma"]


@each("page, place", [("explore", "explore"), ("convergence", "ways")])
@pytest.mark.usefixtures("store")
def test_the_door_from_a_methods_page_varies_its_run_and_from_elsewhere_opens_the_example(page, place):
    app = open_page("auc", **{"solver.lam": "0.01", "data.name": "Two moons", "solver.n_features": "64"}, at="2")
    app = checked(app.switch_page(f"pages/{page}.py").run())
    spec = study_of(app, place).specs[-1]
    assert errors(app) == []
    assert (spec.data.name, spec.solver.n_features) == ("two_moons", 64)
    assert spec.solver.lam == 0.01 or page == "convergence"  # the theorem has a λ of its own
    assert not is_example(app)
    assert is_example(checked(open_page("papers").switch_page(f"pages/{page}.py").run()))

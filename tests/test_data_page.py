"""The data page without a browser: the gallery, a close look, its link, and the workbench's Data tab."""

import json

import numpy as np
import pytest
from cases import each
from live_page import figure
from opened_pages import errors, left_in_browser, open_page, said

from dsgcore.data import DATASETS
from dsgcore.data.inspection import Coverage
from dsgcore.data.reading.sources import READABLE
from dsgcore.experiments import SETTINGS
from pages.gallery.data_views import agreement


def checked(app):
    assert not app.exception
    assert errors(app) == []
    return app


def written(app):
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


def spec_shown(app):
    return json.loads(next(c.value for c in app.code if c.language == "python").split('r"""')[1].split('"""')[0])


def links(app):
    """Every way to another page: its label, page, query, and whether it is open."""
    return [(p.label, p.page, p.query_string, p.disabled) for p in (e.proto for e in app.get("page_link"))]


def traces(app, key):
    return figure(app, key)["data"]


def names(app, key):
    return {trace["name"] for trace in traces(app, key)}


def test_the_gallery_has_a_card_for_every_set_that_leads_to_settings_and_to_a_close_look():
    app = checked(open_page("data"))
    text = written(app)
    for entry in DATASETS.values():
        assert f"**{entry.title}**" in text
        assert entry.sentence in text
        assert f"{entry.n:,} points · {entry.d} features · {len(entry.class_names)}" in text
        assert (entry.licence in text) or entry.is_generated
    assert f"{READABLE}." in text
    assert len(app.get("image")) == len(DATASETS)
    assert len(links(app)) == len(SETTINGS) * len(DATASETS)
    assert len([button for button in app.button if button.key.startswith("look-")]) == len(DATASETS) + 1  # one's own
    closed = [label for label, _, _, is_disabled in links(app) if is_disabled]
    assert closed == ["Ordered classes"] * sum(not entry.suits("ordinal") for entry in DATASETS.values())
    assert ("Gaps", "s3vm", "data.name=iris", False) in links(app)
    assert ("Ranking", "auc", "data.name=ten_digits", False) in links(app)
    app = checked(app.button(key="look-wine").click().run())
    assert left_in_browser(app) == {"data.name": "wine"}
    assert "## Wine" in written(app)
    app = checked(next(b for b in app.button if b.label == "All data sets").click().run())
    assert left_in_browser(app) == {}
    assert "**Two moons**" in written(app)


@each("name", ["iris", "diabetes"])
def test_a_close_look_at_a_set(name):
    entry = DATASETS[name]
    app = checked(open_page("data", **{"data.name": entry.title}))
    assert f"## {entry.title}" in written(app)
    assert names(app, "chart-plane") == names(app, "chart-feature") == set(entry.class_names)
    assert sum(len(trace["x"]) for trace in traces(app, "chart-plane")) == pytest.approx(entry.n * 0.7, abs=1)
    balance = traces(app, "chart-data-balance")
    assert [trace["name"] for trace in balance] == ["labeled", "unlabeled", "test"]
    assert sum(int(text.replace(",", "")) for trace in balance for text in trace["text"]) == entry.n
    assert len(traces(app, "chart-data-coverage")) == 2
    columns, table = app.dataframe
    assert len(columns.value) == entry.d
    assert list(table.value.columns[:2]) == ["class", "used as"]
    assert set(table.value["used as"]) == {"labeled", "unlabeled", "test"}
    assert "Leaks" in written(app)
    why = "Ordered classes: The classes of Iris have no order, so there is nothing to rank."
    assert (why in written(app)) == (name == "iris")


def test_a_link_holds_the_set_the_setting_and_the_options():
    own = {"data.name": "Iris", "data.positive": "virginica", "data.label_noise": "0.2", "setting": "Gaps", "seed": "3"}
    views = {"view.across": "petal length (cm)", "view.feature": "petal width (cm)"}
    app = checked(open_page("data", **own, **views))
    assert not any(one.startswith("In the link") for one in said(app))
    assert names(app, "chart-plane") == {"not virginica", "virginica"}
    assert figure(app, "chart-plane")["layout"]["xaxis"]["title"]["text"] == "petal length (cm)"
    assert figure(app, "chart-feature")["layout"]["title"]["text"] == "petal width (cm), by class"
    query = next(query for label, _, query, _ in links(app) if label == "Gaps")
    assert set(query.split("&")) == {"data.name=iris", "data.positive=virginica", "data.label_noise=0.2", "seed=3"}
    app = checked(open_page("s3vm", at="1", **dict(pair.split("=") for pair in query.split("&"))))
    assert any("virginica against the rest" in one for one in written(app).splitlines())


# --- in the workbench


def test_other_data_bring_the_options_that_suit_them():
    app = checked(open_page("similar_unlabeled", **{"solver.n_iter": "5"}))
    for box, choice, prior in (("su_data", "wine", 0.33), ("su_positive", "class_1", 0.4)):  # 59 and 71 of 178
        app = checked(app.selectbox(key=box).select(choice).run())
        assert spec_shown(app)["data"]["name"] == "wine"
        assert spec_shown(app)["problem"]["prior"] == prior
    assert spec_shown(app)["data"]["convert"] == "one against the rest"
    assert spec_shown(app)["data"]["positive"] == 1


def test_the_data_tab_shows_balance_coverage_pairs_and_leaks():
    app = checked(open_page("similar_unlabeled", at="3", **{"data.label_noise": "0.5"}))
    assert [len(traces(app, f"chart-tab-{chart}")) for chart in ("balance", "coverage")] == [3, 2]
    assert "25 of 50 pairs share a class" in written(app)
    assert "No test point equals a training point." in written(app)


LABELED, IN_PAIR = "the nearest labeled point has the same", "the nearest point in a pair has the same"
OF_KNOWN = "For 9 of 11 unlabeled points whose class the source gives, "


@each("right, known, is_pairs, sentence", [
    (9, 11, False, f"{OF_KNOWN}{LABELED}"),
    (9, 11, True, f"{OF_KNOWN}{IN_PAIR}"),
    (98, 100, False, f"For **98%** of 100 unlabeled points, {LABELED} class: the labels"),
    (60, 100, False, "the unlabeled points have to fill the gaps."),
    (60, 100, True, f"For **60%** of 100 unlabeled points, {IN_PAIR} class."),
    (0, 0, False, "The source gives no classes"),
])  # fmt: skip
def test_a_share_says_of_how_many_points_it_is_and_concludes_nothing_from_few(right, known, is_pairs, sentence):
    said = agreement(Coverage(np.zeros(100), np.zeros(100), right, known), is_pairs=is_pairs)
    assert sentence in said
    assert ("too few points for a conclusion" in said) is (known == 11)

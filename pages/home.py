"""Home: why few labels and many points, a live picture to label in, the way on, and the methods."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dsgcore.experiments import SETTINGS, Spec
from dsgcore.experiments.spec import FILE
from pages.charts.live_chart import theme_now
from pages.controls.own_file import store
from pages.controls.view import LABELS_ONLY
from pages.gallery.gallery import method_cards
from pages.session.bench import Bench, Scene, View
from pages.session.link import first_lesson
from pages.shell.plain_text import plain
from pages.shell.router import page_named, page_of
from pages.shell.warm_up import is_ready

SETTING = "s3vm"  # its map has a boundary that everybody can read
PICTURE = {
    "setting": SETTING,
    "problem": {"is_balanced": False},  # it would hold f to the labels' shares, which each label more changes
    "data": {"name": "two_moons", "n": 500, "n_labeled": 10},
    "solver": {"step_size": 0.01, "batch_size": 512, "n_features": 1024},  # little noise: both sides come to rest
    "seed": 27,
}
SIDES = ("labels only", "with grey points")
HIDDEN = frozenset({"transport", "limits", "tabs"})  # parts of a method's page
_BENCH = "_bench_home"


def home() -> None:
    """Draw the page: the picture and the ways on fill the window, and the methods are below."""
    # The style sheet puts the picture beside the words and the ways on, where the window is wide enough.
    with st.container(key="home"):
        with st.container(key="home-words"):
            st.title("Labels are expensive, points are free")
            st.markdown(
                "Ten points came with a colour, because somebody gave them one. The rest came grey, and yet they tell where "
                "the colours end. DSG Lab lets you watch how that is learned."
            )
            st.markdown("**Click a grey point to label it.** Drag the line to see what the grey points add.")
        with st.container(key="home-picture"):
            if is_ready():
                _picture()
        with st.container(key="home-ways"):
            setting, given = first_lesson()
            own, first, screens, data = (
                {"data.name": FILE},
                page_of(setting),
                page_named("how_it_works"),
                page_named("data"),
            )
            ways: tuple[tuple[Any, str, str, dict[str, str]], ...] = (
                (first, "play_arrow", "**Start the first lesson** Two minutes: guess, watch, and read why.", given),
                (screens, "lightbulb", "**How it works** Five screens, with one thing to drag on each.", {}),
                (data, "upload_file", "**Try your own file** A table with a column of labels.", own),
            )
            for page, icon, label, query in ways:
                st.page_link(page, label=label, icon=f":material/{icon}:", query_params=query, width="stretch")
    st.header("Six methods, six questions")
    method_cards(has_acronyms=False)
    with st.container(horizontal=True, key="home-more"):
        st.page_link(page_named("methods"), label="All methods")
        st.page_link(page_named("glossary"), label="Every word explained")


def _picture() -> None:
    """Draw the run in its map, and start it again if the reader has given a label."""
    from pages.live.tick import draw_charts, draw_head, head_data  # here, so that the words appear sooner
    from pages.workbench.page import edit, go_further
    from pages.workbench.steering import follow

    bench: Bench = st.session_state.setdefault(_BENCH, Bench(store()))
    with bench.feed.hold.taken():
        bench.drawing.number += 1
        follow(SETTINGS[SETTING], bench, Spec.from_dict(PICTURE))
        if bench.live is None:
            return
        scene = Scene(can_edit=True, sides=SIDES)
        bench.view = View(theme_now(), HIDDEN, scene=scene, can_edit=True, divider=LABELS_ONLY)
        go_further(bench)
        draw_head(head_data(bench))
        draw_charts(on_edit=partial(edit, bench), lesson={"first": "map", "step": "home", "canTurn": False})
        if bench.hand.lacks:
            st.markdown(plain(bench.hand.lacks))


home()

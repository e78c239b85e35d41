"""Cards: of each data set with a picture, its size and links, and of each method with a moving picture; and pictures in files."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from dsgcore.core.parameters import counted
from dsgcore.data import CONVERSIONS, DATASETS, DatasetEntry
from dsgcore.data.datasets import AS_IS, ONE_REST
from dsgcore.data.reading.sources import READABLE
from dsgcore.experiments import SETTINGS
from dsgcore.experiments.spec import FILE
from dsgcore.settings import profile_of
from pages.charts.figures import INK
from pages.charts.live_chart import theme_now
from pages.controls.controls import data_picker
from pages.controls.own_file import TITLE as OWN_TITLE
from pages.gallery.data_charts import picture_of_data
from pages.shell.plain_text import label_about
from pages.shell.router import page_of

COLUMNS = 5
GROUPS = {
    "binary": "Two classes",
    "ordinal": "Ordered classes",
    "classes": "Several classes",
}


def gallery(choose: Callable[[str], None]) -> None:
    """Draw a card for each data set, grouped by its kind of labels. A click calls `choose` with the name of the set.

    The card for a file of the reader's comes first.
    """
    with st.container(border=True, key="card-file", horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{OWN_TITLE}**  \nA table with a column of labels: {READABLE}.")
        st.button("Choose a file", key="look-file", icon=":material/upload_file:", on_click=choose, args=(FILE,))
    for labels, title in GROUPS.items():
        st.header(title)
        entries = [entry for entry in DATASETS.values() if entry.is_made_for(labels)]
        for start in range(0, len(entries), COLUMNS):
            for column, entry in zip(st.columns(COLUMNS), entries[start : start + COLUMNS], strict=False):
                with column, st.container(border=True, key=f"card-{entry.name}", height="stretch"):
                    st.image(
                        picture_of_data(entry.name),
                        width="stretch",
                        alt=f"Points of {entry.title}, coloured by class.",
                    )
                    st.markdown(f"**{entry.title}**  \n{entry.sentence}")
                    st.caption(facts(entry))
                    with st.container(horizontal=True, gap="xsmall"):
                        for setting in SETTINGS:
                            setting_link(entry, setting, is_of_card=True)
                    st.button(
                        label_about("Look closer", entry.title),
                        key=f"look-{entry.name}",
                        icon=":material/search:",
                        on_click=choose,
                        args=(entry.name,),
                    )


def facts(entry: DatasetEntry) -> str:
    """Return a set's size, source and licence as text."""
    what = {"regression": "bins of a regression target", "ordinal": "ordered classes"}.get(entry.target, "classes")
    points = counted(entry.n + entry.n_unlabeled, "point")
    if entry.n_unlabeled:
        points += f", {entry.n_unlabeled:,} of them without a label"
    size = f"{points} · {counted(entry.d, 'feature')} · {len(entry.class_names)} {what}"
    if entry.name == FILE:
        return size
    return f"{size}  \nGenerated" if entry.is_generated else f"{size}  \n{entry.source} · {entry.licence}"


def setting_link(
    entry: DatasetEntry, setting: str, options: dict[str, str] | None = None, *, is_of_card: bool = False
) -> None:
    """Draw a link to a setting's workbench with this set, or a grey one with the reason why it does not fit."""
    problem, query = SETTINGS[setting], dict[str, str]()
    help_ = entry.why_not(problem.labels)
    is_off = bool(help_)
    if not is_off:  # say how the setting uses the set's classes, unless it uses them as they are
        query = {data_picker(problem).name: entry.name, **(options or {})}
        name = entry.conversions_for(problem.labels)[0]
        against = f"{entry.class_names[0]} against the rest, to begin with."
        help_ = against if name == ONE_REST else "" if name == AS_IS else CONVERSIONS[name]
    short = profile_of(problem).short
    # What is heard alone: the set, of one of many cards, and of a grey link that it leads nowhere.
    about = ", ".join([entry.title] * is_of_card + ["does not fit"] * is_off)
    label = label_about(short, about) if about else short
    st.page_link(page_of(problem), label=label, disabled=is_off, help=help_ or None, query_params=query)


def method_cards(*, has_acronyms: bool) -> None:
    """Draw a card for each method, with the name of its paper's method if `has_acronyms` is true."""
    with st.container(key="methods"):
        for setting in SETTINGS.values():
            with st.container(key=f"method-{setting.name}"):
                profile = profile_of(setting)
                if picture := kept_picture(setting.name):
                    with st.container(key=f"method-picture-{setting.name}"):
                        for one in (picture, still(picture)):
                            st.image(
                                one.svg,
                                width="stretch",
                                alt=f"{profile.headline}: the map changes while the method learns.",
                            )
                name = profile.full_name if has_acronyms else profile.short
                # The style sheet makes the link as large as the card.
                st.page_link(page_of(setting), label=f"**{name}** {profile.card}")


# --- pictures that are files, because a page should not wait for runs; CONTRIBUTING.md says how to draw them again


PICTURES = Path(__file__).parents[1] / "pictures"
CURRENT_COLOR = "currentColor"  # the page puts its theme's ink there


@dataclass(frozen=True)
class Picture:
    """A picture as SVG text, its width in pixels, and its text for a screen reader."""

    svg: str
    width: int
    alt: str


def file_of(name: str) -> Path:
    """Return the path of the picture of a setting, of a term or of a paper's figure, which may not exist."""
    return PICTURES / f"{name}.svg"


def kept_picture(name: str) -> Picture | None:
    """Return a picture in the colours of the reader's theme, or None if there is none of this name."""
    file = file_of(name)
    if not file.is_file():
        return None
    svg = file.read_text(encoding="utf-8")
    root = ET.fromstring(svg)
    return Picture(svg.replace(CURRENT_COLOR, INK[theme_now()]), int(root.get("width", 0)), root.get("aria-label", ""))


def still(picture: Picture) -> Picture:
    """Return the last frame of a moving picture, for readers who have asked their system for less motion.

    A browser does not tell a picture in a file about that wish.
    """
    frames = re.compile(r"<style>.*?</style>|<g\b.*?</g>(?=.*<g\b)", re.DOTALL)
    return replace(picture, svg=frames.sub("", picture.svg))

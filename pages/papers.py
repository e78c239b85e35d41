"""The Papers page: for each figure or table of the five papers its statement, DSG Lab's result, and a study."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.problems.as_in_paper import AS_IN_PAPER
from dsgcore.settings import profile_of
from dsgcore.studies.reproductions import reproductions
from pages.pictures import results
from pages.pictures.kept import kept_picture
from pages.shell.warm_up import is_ready
from pages.studies.study_links import link_to_figure

# The marks differ in shape, not only in colour.
MARKS = {
    results.REPRODUCED: ":green[✓]",
    results.IN_PART: ":orange[◐]",
    results.NOT_REPRODUCED: ":red[✗]",
    results.NOT_COMPARABLE: ":gray[–]",
}


def page() -> None:
    """Draw a card for each figure."""
    st.title("Figures of the papers")
    st.markdown(
        "Each card has the paper's statement, and the result of a small measurement with DSG Lab. The drawing shows the "
        "numbers of that measurement, not the figure of the paper. The link opens a study of the paper's method, small "
        "enough for a laptop."
    )
    st.caption(" · ".join(f"{mark} {outcome}" for outcome, mark in MARKS.items()))
    for setting in SETTINGS.values():
        profile = profile_of(setting)
        if profile.figures:
            st.header(profile.full_name)
            st.markdown(_source(setting))
            with st.container(key=f"papers-{setting.name}"):
                _cards(setting, len(profile.figures))


def _source(setting: type[Setting]) -> str:
    """Return the paper, and the values of its experiments with their place in it."""
    paper = AS_IN_PAPER.get(setting.name)
    return setting.citation + "." + (f" **{paper.source}**: {paper.says}" if paper else "")


def _cards(setting: type[Setting], n: int) -> None:
    for start in range(0, n, 3):
        for column, number in zip(st.columns(3), range(start, min(start + 3, n)), strict=False):
            with column, st.container(border=True, height="stretch"):
                _card(setting, number)


def _card(setting: type[Setting], number: int) -> None:
    figure = profile_of(setting).figures[number]
    n_runs, link = link_to_figure(setting.name, number)
    st.markdown(f"### {figure.title}\n**{figure.asks}**\n\nThe paper: {figure.says}")
    outcome, found = results.result_of(setting.name, figure.name)
    st.markdown(f"{MARKS[outcome]} **{outcome.capitalize()}.** {found}")
    _draw_picture(setting.name, figure.name)
    if (name := f"{setting.name}/{figure.name}") in reproductions():
        st.markdown(f"On the paper's own sets, against its rivals: `dsg-lab reproduce {name} --data FOLDER`")
    st.markdown(f"The study: {figure.differs}")
    st.page_link(
        "pages/explore.py",
        label=f"Open {figure.title} ({n_runs:,} runs)",
        icon=":material/grid_on:",
        query_params=link,
        width="content",
    )


def _draw_picture(setting: str, name: str) -> None:
    """Draw the numbers that were measured here, in the theme's colour."""
    picture = kept_picture(f"paper-{setting}-{name}")
    if picture is None:
        st.caption("Not drawn here.")
    else:
        st.image(picture.svg, width=picture.width, alt=picture.alt)


page()
is_ready()

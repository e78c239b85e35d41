"""Links that carry a run's data and settings to Explore, Convergence and the Data page."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dsgcore.data.datasets import SEED
from dsgcore.experiments import Spec
from dsgcore.experiments.settings import DATA_PARAMETERS
from dsgcore.settings import profile_of
from pages.controls.control import key_of
from pages.studies.asking import PREFIX as EXPLORE
from pages.studies.beginning import SETTING
from pages.studies.edited import edits_entry
from pages.studies.links import at_its_end, data_in_link, said_of
from pages.studies.trajectory_asking import PREFIX as CONVERGENCE
from pages.studies.trajectory_asking import WITH_A_WAY

Link = dict[str, str]


def to_explore(spec: Spec) -> Link:
    """Return the query of a link that varies a run's parameters on the Explore page."""
    return _to_question(spec, EXPLORE)


def to_convergence(spec: Spec) -> Link:
    """Return the query of a link that checks a run's convergence."""
    return _to_question(spec, CONVERGENCE)


def _to_question(spec: Spec, prefix: str) -> Link:
    problem = type(spec.problem)
    said = {prefix + SETTING: profile_of(problem).short}
    said |= data_in_link(spec, prefix + key_of(problem, "data"), prefix + key_of(problem, "file"))
    said |= edits_entry(spec, prefix)
    return said | said_of(at_its_end(spec), lambda control: prefix + control.key)


def to_data(spec: Spec) -> Link:
    """Return the query of a link that shows a run's data on the Data page, and compares methods on them."""
    names = {parameter.name for parameter in DATA_PARAMETERS}
    said = said_of(spec, lambda control: f"data_{control.parameter.name}")
    own = {key: text for key, text in said.items() if key.removeprefix("data_") in names}
    seed = {"look_seed": str(spec.seed)} if spec.seed != SEED.default else {}
    start = {"data_setting": profile_of(type(spec.problem)).short}
    return start | data_in_link(spec, "set", "look_file") | own | seed


def draw_links(spec: Spec) -> None:
    """Draw links to Explore and Convergence with a spec's data."""
    pages = {"explore": to_explore} | ({"convergence": to_convergence} if _has_a_way(spec) else {})
    for page, link in pages.items():
        st.page_link(f"pages/{page}.py", label=page.title(), query_params=link(spec))


def draw_onward(spec: Spec) -> None:
    """Draw the buttons that take a run to Explore, Convergence and the Data page."""
    _button("Vary this run's parameters", "grid_on", "explore", to_explore, spec)
    if _has_a_way(spec):
        _button("Check its convergence", "trending_down", "convergence", to_convergence, spec)
    why = "This comparison hides labels at random, so it cannot use data that were edited by hand."
    _button("Which method suits these data?", "trophy", "data", to_data, spec, why=why if spec.data.edits else "")


def _has_a_way(spec: Spec) -> bool:
    return type(spec.problem).name in WITH_A_WAY


def _button(label: str, icon: str, page: str, link: Callable[[Spec], Link], spec: Spec, why: str = "") -> None:
    # The link is made at the click, because it takes too long for each drawing of the page.
    icon = f":material/{icon}:"
    if st.button(label, icon=icon, type="tertiary", key=f"to-{page}", disabled=bool(why), help=why or None):
        st.switch_page(f"pages/{page}.py", query_params=link(spec))

"""The section "Which method for my data?" of the Data page: a comparison of the methods on a data set, with a verdict."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dsgcore.comparing import METHODS, Background, Comparison, ComparisonError, Sample, html_of
from dsgcore.comparing.report import BANDS, curve_figure, explanation_of, setting_of, shown_table
from dsgcore.core.cost import GIGABYTE
from dsgcore.core.parameters import counted
from dsgcore.data import DataError, Dataset, DatasetEntry
from dsgcore.data.reading import Recipe
from dsgcore.data.reading.labels import class_codes
from dsgcore.experiments import SETTINGS
from dsgcore.jobs import shared_queue
from dsgcore.settings import profile_of
from pages.comparing.label_rows import label_rows
from pages.controls.control import draw_download
from pages.gallery.gallery import setting_link
from pages.shell.job_panel import watched
from pages.shell.plain_text import plain, with_minus

GOING, LABELS, SEEDS, SECONDS = "_which_method", "which_labels", "which_seeds", "which_seconds"
USUAL_LABELS, TIMES = 200, (30, 75, 150, 300)
WHAT = (
    "Fits the methods of this app and those of scikit-learn to the same labels, over several seeds, and compares them on "
    "held-out labels. The answer says which method to use, how sure that is, and whether the unlabeled points help."
)

SEEDS_HELP = "Number of repetitions. If empty: 10, and up to 50 for methods between which the choice is not clear."


def which_method(
    dataset: Dataset,
    name: str,
    entry: DatasetEntry,
    *,
    is_ordered: bool,
    table: tuple[pd.DataFrame, Recipe] | None = None,
    options: Sequence[str] = (),
) -> None:
    """Draw the button that starts the comparison, and its result so far.

    Of a person's file, `table` holds the rows and the recipe: each split prepares its points. `options` are those of a command.
    """
    st.header("Which method for my data?")
    X, recipe = (dataset.X, None) if table is None else table
    y, names = dataset.y, dataset.class_names
    try:
        if table is not None:  # the file's own classes, also where a setting joins some of them
            y, names, _ = class_codes(table[0][table[1].label()], table[1], "ordinal" if is_ordered else "classes")
        sample = Sample.of(X, y, n_labeled=None, is_ordered=is_ordered, recipe=recipe, class_names=names)
    except (ComparisonError, DataError) as error:
        st.caption(plain(f"No comparison is possible: {error}."))
        return
    going: Background | None = st.session_state.get(GOING)
    if going is not None and st.session_state[f"{GOING}_data"] != sample.sha256:
        going.cancel()
        going = st.session_state[GOING] = None
    _question(sample, name, going, is_ordered=is_ordered)
    if going is not None:
        is_going = not going.is_over
        watched(going, _answer, going)
        if not is_going and going.progress is not None and going.progress.verdict.recommended is not None:
            file = None if recipe is None else (name, "--target", recipe.label(), *options)
            _onward(going.progress.verdict.recommended, entry, file)
            if table is not None:
                label_rows((*table, y, names), going.progress, sample.sha256, is_ordered=is_ordered)


def _onward(method: str, entry: DatasetEntry, file: Sequence[str] | None) -> None:
    """Draw the way to the recommended method: its page if it has one, and for a file the command that fits it."""
    own = METHODS[method].estimator.__name__
    for setting, problem in SETTINGS.items():
        if profile_of(problem).paper.replace("-", "") == own:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="part-recommended"):
                st.markdown(f"See {own} learn on", width="content")
                setting_link(entry, setting)
    if file is not None:
        said = " ".join(map(shlex.quote, file))
        st.code(f"dsg-lab fit {method} {said} --out model", language="bash", wrap_lines=True)


def _question(sample: Sample, name: str, going: Background | None, *, is_ordered: bool) -> None:
    least, most, is_going = len(sample.classes), sample.n_labeled, going is not None and not going.is_over
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="part-which-method"):
        labels = st.number_input("Labels to learn from", least, most, min(USUAL_LABELS, most), key=LABELS, width=170)
        seeds = st.number_input("Seeds", 3, 100, None, key=SEEDS, width=110, placeholder="10 to 50", help=SEEDS_HELP)
        seconds = st.selectbox("Time", TIMES, index=1, key=SECONDS, format_func="{} s".format, width=110)

        def begin() -> None:
            given: dict[str, Any] = {"n_labeled": int(labels), "seeds": seeds, "seconds": float(seconds)}
            given |= {"ordered": is_ordered, "recipe": sample.recipe, "class_names": sample.classes, "name": name}
            points = sample.X if sample.table is None else sample.table
            begun = Background(points, sample.y, **given, jobs=shared_queue(), memory_limit=GIGABYTE)
            st.session_state[GOING], st.session_state[f"{GOING}_data"] = begun, sample.sha256

        look: dict[str, Any] = {"icon": ":material/trophy:", "help": WHAT, "key": "compare-methods"}
        st.button("Compare methods", disabled=is_going, on_click=begin, **look)
        if is_going and going is not None:
            st.button("Stop", icon=":material/close:", key="stop-comparing", on_click=going.cancel)


def _answer(going: Background) -> None:
    is_over, found = going.is_over, going.progress
    if going.error:
        st.error(plain(going.error))
    elif not is_over:
        n, said = 0 if found is None else len(found.fits), ""
        if found is not None and found.verdict.recommended is not None:
            n_left = 1 + len(found.verdict.contenders)
            said = f" {n_left} method{'s' if n_left > 1 else ''} may still be the best."
        st.caption(f"{counted(n, 'fit')} done, {going.seconds:.0f} s.{said}")
    if found is not None and found.ranking:
        _draw(found)


def _draw(found: Comparison) -> None:
    st.markdown(f"**{plain(with_minus(found.verdict.sentence))}**")
    for sentence in found.warnings:
        st.warning(plain(sentence), icon=":material/warning:")
    st.dataframe(shown_table(found).map(with_minus), hide_index=True, width="stretch", key="which-table")
    st.caption(plain(f"{setting_of(found)} {explanation_of(found)}"))
    if figure := curve_figure(found.curves, found.score.title, found.most):
        st.subheader("How many labels would you need?")
        alt = "Learning curves: the score of the methods over the number of labels."
        st.image(figure, caption=BANDS, width=760, alt=alt)
    with st.container(horizontal=True):
        draw_download("Report (HTML)", "comparison.html", lambda: html_of(found))
        draw_download("Table (CSV)", "comparison.csv", found.to_csv)

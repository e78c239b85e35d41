"""The button "Label my rows" below a verdict: the recommended method gives a file's unlabeled rows classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.comparing import Comparison
from dsgcore.comparing.label import COLUMNS, Labeled, label_in_job
from dsgcore.core.cost import GIGABYTE
from dsgcore.data.reading import Recipe
from dsgcore.jobs import Job, shared_queue
from dsgcore.problems import UNLABELED
from pages.controls.control import draw_download
from pages.shell.job_panel import watched
from pages.shell.plain_text import plain, with_minus

LABELING, KEEP = "_label_rows", "which_keep"
# Seconds of computing, and without a look from the page, after which it ends; rows to ask for, and rows that are shown.
SECONDS, LEASE, ASK, SHOWN = 300.0, 60.0, 10, 100


def label_rows(
    given: tuple[pd.DataFrame, Recipe, NDArray[np.int64], Sequence[str]],
    found: Comparison,
    sha256: str,
    *,
    is_ordered: bool,
) -> None:
    """Draw the button, and the labels so far; nothing if the verdict names no method or every row has a label.

    `given` are the rows, their recipe, class codes and the classes' names, and `sha256` the digest of the comparison's data.
    """
    frame, _, y, _ = given
    method, n = found.verdict.recommended, int((y == UNLABELED).sum())
    if method is None or not n:
        return
    st.subheader("Label my rows")
    job: Job | None = st.session_state.get(LABELING)
    asked = (sha256, method)
    if job is not None and st.session_state[f"{LABELING}_for"] != asked:
        job.cancel()
        job = st.session_state[LABELING] = None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="part-label-rows"):
        others = [name for name in map(str, frame.columns) if name not in COLUMNS]
        keep = st.multiselect("Columns to keep", others, key=KEEP, width=300)

        def begin() -> None:
            options = {"found": found, "ordered": is_ordered, "ask": ASK, "keep": keep, "seconds": 60.0}
            st.session_state[LABELING] = shared_queue().submit(
                label_in_job, given, options, memory_limit=2 * GIGABYTE, time_limit=SECONDS, lease=LEASE
            )
            st.session_state[f"{LABELING}_for"] = asked

        is_going = job is not None and not job.is_over
        words = f"Label {n:,} row{'s' * (n != 1)} with {method}"
        st.button(words, icon=":material/label:", key="label-rows", disabled=is_going, on_click=begin, type="primary")
    if job is not None:
        watched(job, _answer, job)


def _answer(job: Job) -> None:
    job.keep()
    if not job.is_over:
        st.caption(plain(f"{str(job.progress or 'starting').capitalize()}, {job.seconds:.0f} s."))
    elif job.error:
        st.error(plain(job.error))
    elif isinstance(job.result, Labeled):
        _draw(job.result)


def _draw(labeled: Labeled) -> None:
    st.markdown(f"**{plain(labeled.sentence)}**")
    for sentence in labeled.warnings:
        st.warning(plain(sentence), icon=":material/warning:")
    st.dataframe(labeled.table.head(SHOWN), hide_index=True, width="stretch", key="labeled-table")
    others = [line for line in labeled.report.splitlines()[2:] if line not in labeled.warnings]
    st.caption(plain(with_minus(" ".join(others))))
    with st.container(horizontal=True):
        draw_download("Labeled rows (CSV)", "labeled.csv", labeled.to_csv)
        draw_download("Report (text)", "report.txt", lambda: labeled.report)

"""The effect of a moved control on the run: none, a change from the next iteration on, or a new run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dsgcore.data import DataError, IncompleteDataError
from dsgcore.data.datasets import CountError
from dsgcore.data.edits import AS_GENERATED, EDITS
from dsgcore.experiments import Setting, Spec, load_split, long_work
from dsgcore.experiments.cost import check_cost
from dsgcore.experiments.data_of import with_choice
from dsgcore.jobs import JobState
from pages.controls.control import BAD_INPUT, also_offer, key_of, too_many
from pages.controls.controls import controls_for
from pages.controls.hand import Hand
from pages.controls.link import CHANGES, changes_to_text, with_changes
from pages.controls.pickers import make_ready
from pages.controls.view import SLIDER, SPEED, viewed
from pages.session.bench import BUDGET, MOST_DIGITS, Bench, begin, begin_prepared
from pages.shell.page_link import given
from pages.shell.plain_text import in_sentence, plain
from pages.studies.differing import differing

MOST_MOVED = 2  # of the values that a moved control has changed, so many are said


def follow(problem: type[Setting], bench: Bench, asked: Spec) -> None:
    """Bring the run in line with the controls and the edits: leave it, steer it, or start another run."""
    make_ready(asked.kernel.name)
    try:
        check_cost(asked, BUDGET)  # before edits of a lesson or of a link load the data
        asked = _with_edits(bench, asked)
        if bench.link.is_unread or bench.asked is None:
            _follow_link(problem, bench, asked)
        elif bench.preparation is not None and asked == bench.asked and not bench.wants_restart:
            if bench.preparation.job.state is JobState.DONE:
                begin_prepared(bench)
        elif bench.live is None or bench.preparation is not None or bench.wants_restart or _wants_new_run(bench, asked):
            bench.wants_restart = False
            begin(bench, asked)
            bench.begun_with = _moved(bench.asked, asked) if bench.asked else ""
        elif asked != bench.asked:
            check_cost(asked, BUDGET, bench.shape)
            bench.live.steer(asked.values_at(0))
        bench.asked = asked
    except IncompleteDataError as error:
        _wait_for_labels(bench, asked, error.next_step)
    except CountError as error:
        _clamp_labels(problem, bench, asked, error)
    except BAD_INPUT as error:
        st.error(plain(str(error)))


def _moved(before: Spec, asked: Spec) -> str:
    """Return what the controls have changed, in words: at most two values."""
    rows = differing([before, asked], ["before", "now"], leave_out=("data.edits",))  # they are seen on the map
    rows.sort(key=lambda row: row["parameter"] != "Data")  # which sets others
    said = [f"{in_sentence(row['parameter'])} {row['now']}" for row in rows[:MOST_MOVED]]
    return ", ".join([*said, *["…"] * (len(rows) > MOST_MOVED)])


def _clamp_labels(problem: type[Setting], bench: Bench, asked: Spec, error: CountError) -> None:
    """Set the number of labels to one that the data have, and draw the page again; say so beside the run."""
    key, number = key_of(problem, "n_labeled"), asked.data.n_labeled
    notice = too_many(number, error)
    bench.link.notices = [said for said in bench.link.notices if said != notice]
    if number == error.nearest:  # another number would not help
        st.error(plain(str(error)))
        return
    bench.link.notices.append(notice)
    also_offer(key, error.nearest)
    bench.given[key] = error.nearest
    st.rerun()


def _with_edits(bench: Bench, asked: Spec) -> Spec:
    """Return the controls' spec with the edits of its data. Edits from a link that do not suit the data are left out."""
    spec = bench.hand.edit(asked)
    if bench.hand.is_new and bench.lesson.place is not None:
        choice = bench.lesson.place.values.get(EDITS, AS_GENERATED)
        bench.hand.begin(with_choice(asked, choice, files=bench.files).data.edits)
        return bench.hand.edit(asked)
    if bench.link.is_unread and spec.data.edits:
        try:
            load_split(spec, files=bench.files, may_lack=True)
        except DataError as error:
            bench.link.notices.append(f"In the link, {error}; all edits are left out.")
            bench.hand = Hand()
            return asked
    return spec


def _wait_for_labels(bench: Bench, asked: Spec, next_step: str) -> None:
    """Show edited data that lack what a run needs, until another edit completes them."""
    if bench.live is None or bench.live.run.t:  # the map then shows no run of earlier data
        begin(bench, replace(asked, data=replace(asked.data, edits=())))
    bench.hand.lacks, bench.hand.split = next_step, load_split(asked, files=bench.files, may_lack=True)
    bench.surface, bench.asked, bench.is_playing = None, asked, False


def take(bench: Bench, changes: Mapping[str, Any]) -> None:
    """Set controls of the solver to other values, and start again."""
    if bench.live is None:  # other data were chosen at the same moment
        return
    spec = bench.live.run.spec
    offered = controls_for(type(spec.problem), spec.data.name, spec.kernel.name)
    bench.given |= {offered[name].key: value for name, value in changes.items()}
    bench.wants_restart = True


def _wants_new_run(bench: Bench, asked: Spec) -> bool:
    if bench.asked is None or asked == bench.asked:
        return False
    problem = type(asked.problem)
    if bench.lesson.place is not None or viewed(problem, SLIDER) == "redo" or viewed(problem, SPEED) == "instant":
        return True
    if bench.present.run.is_finished or not bench.present.run.t:
        return True
    # Values that the run finds by itself are found before it starts. A graph that takes long is built before, too.
    if any(value is None and bench.asked.values_at(0)[name] is not None for name, value in asked.values_at(0).items()):
        return True
    if long_work(asked, bench.present.run.split) is not None:
        return True
    return _without_steerable(asked) != _without_steerable(bench.asked)


def _without_steerable(spec: Spec) -> dict[str, Any]:
    plain = spec.to_dict()
    for section in ("solver", "problem"):
        plain[section] = {name: v for name, v in plain[section].items() if name not in spec.steerable}
    return plain


def _follow_link(problem: type[Setting], bench: Bench, asked: Spec) -> None:
    """Start the run from the link, unless it is the run that the reader left on the page.

    If the link holds an iteration, the run advances to it. The link is read first, because nothing may interrupt the run on
    the way there.
    """
    changes, at, look = map(given, (CHANGES, "at", "look"))
    bench.link.is_unread = False
    if bench.spec is not None and (asked, changes) == (bench.asked, changes_to_text(bench.spec)):
        return
    spec = asked
    try:
        spec = with_changes(asked, changes)
    except BAD_INPUT as error:
        bench.link.notices.append(str(error))
    begin(bench, spec, at)
    if look.isascii() and look.isdigit() and len(look) <= MOST_DIGITS:
        bench.look = int(look)  # clipped to the iterations of the run

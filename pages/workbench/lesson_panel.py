"""A guided lesson on a setting's page: a text, a question before the run, and after it what came of the guess."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dsgcore.experiments import Setting
from dsgcore.settings import Curve, Estimate, Pick
from pages.workbench.bench import Bench
from pages.workbench.drawn_curve import draw_curve, lay_over, show_curve
from pages.workbench.layout import ANSWER
from pages.workbench.lesson_links import to_take_away
from pages.workbench.lesson_place import Place
from pages.workbench.lesson_steps import go_to_step, lesson_button, light_up, show_solution
from pages.workbench.presenting import presented


def panel(problem: type[Setting], bench: Bench) -> None:
    """Draw the step that the reader is at; nothing where the page shows no lesson."""
    place = bench.place
    if place is None:
        return
    place.note(bench.live)
    if place.stage is not None:
        presented(problem, bench)
        return
    light_up(problem, place)
    with st.container(key="part-lesson", border=True):
        _header(bench, place)
        is_told = not place.waits and place.outcome is not None
        # The wider one has what is to be read now.
        text, answer = st.columns([2, 3] if is_told else [3, 2], gap="medium")
        with text:
            st.markdown(place.step.text)
            if is_told and not is_exercise(bench):
                _laid_over(place)  # here: below the verdict it would push the run out of the window
        with answer:
            if place.waits:
                _question(problem, bench, place)
            elif place.outcome is None:
                _meanwhile(problem, bench, place)
            elif is_exercise(bench):
                _handed_in(place)
            else:
                _verdict(place)
                st.markdown(place.step.explanation)
                _onwards(problem, bench, place)


def is_exercise(bench: Bench) -> bool:
    """Whether the link keeps the answer to itself: the reader is to find it, and to hand in what was found."""
    return ANSWER in bench.hidden


def _handed_in(place: Place) -> None:
    done = ":green[✓] **Reached.**" if place.step.goal is not None else "**Your guess is kept.**"
    st.markdown(
        f"{done} It is in this page's address: copy that to hand it in. Say why, in a sentence or two of your own."
    )


def _header(bench: Bench, place: Place) -> None:
    with st.container(key="lesson-head", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"## {place.lesson.title}")
        st.caption(f"Step {place.number + 1} of {len(place.lesson.steps)}", width="content")
        lesson_button(
            bench, "Leave the lesson", "lesson-leave", _leave, bench, type="tertiary", icon=":material/close:"
        )


def _question(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Ask for a guess; the run waits for it."""
    asks, key = place.step.asks, f"lesson-guess-{place.text}"
    assert asks is not None
    with st.container(key="lesson-question", gap="small"):
        guess: Any
        if isinstance(asks, Pick):
            words = [option.words for option in asks.options]
            chosen = st.radio(asks.text, words, index=None, key=key, width="content")
            guess = None if chosen is None else words.index(chosen)
        elif isinstance(asks, Curve):
            guess = draw_curve(asks, key=key, page=problem.name)
        else:
            middle = (asks.low + asks.high) / 2
            guess = st.slider(asks.text, asks.low, asks.high, middle, key=key)
        off = guess is None
        lesson_button(
            bench, "Run it", "lesson-run", _answer, bench, guess, type="primary", disabled=off, shortcut="Enter"
        )


def _answer(bench: Bench, guess: Any) -> None:
    assert bench.place is not None
    bench.place.guesses[bench.place.number] = guess
    bench.is_playing = True


def _meanwhile(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Say what there is to do while the run goes on, or until the goal is reached."""
    goal = place.step.goal
    if goal is None:
        st.caption("The run goes on." if is_exercise(bench) else "Watch: the explanation comes when the run has ended.")
        return
    with st.container(key="lesson-goal", gap="small"):
        st.markdown(f"⚑ **{_as_it_is(goal.text)}**")
        if not is_exercise(bench):
            icon = ":material/visibility:"
            lesson_button(bench, "Show me", "lesson-show", show_solution, problem, bench, type="tertiary", icon=icon)
    if bench.live is not None and bench.live.is_finished:
        st.caption(
            "Not yet: this run has not come there. Move what is marked at the side (» on a phone), and run again."
        )


def _verdict(place: Place) -> None:
    """Lay the guess over the outcome."""
    asks = place.step.asks
    if asks is not None and place.guess is None:
        st.markdown(f"**Answer:** *{_as_it_is(asks.answer(place.outcome or {}))}*.")
    elif isinstance(asks, Pick):
        _picked(asks, place)
    elif isinstance(asks, Estimate):
        _estimated(asks, place)
    elif isinstance(asks, Curve):
        _drawn(asks, place)
    elif place.step.goal is not None:
        st.markdown(":green[✓] **Reached.**")


def _onwards(problem: type[Setting], bench: Bench, place: Place) -> None:
    if place.is_last:
        st.markdown(f"**What you know now:** {place.lesson.learned}")
    with st.container(key="lesson-on", horizontal=True, vertical_alignment="center", gap="small"):
        if place.number:
            lesson_button(bench, "Back", "lesson-back", go_to_step, problem, bench, -1, icon=":material/arrow_back:")
        if place.is_last:
            st.page_link("pages/lessons.py", label="All lessons", icon=":material/arrow_forward:", width="content")
            to_take_away(problem, place.lesson, "To take away")
        else:
            lesson_button(bench, "Next", "lesson-next", go_to_step, problem, bench, 1, type="primary", shortcut="Enter")


def _picked(asks: Pick, place: Place) -> None:
    assert place.outcome is not None
    right, guessed = asks.right(place.outcome), asks.options[int(place.guess)]
    if right is None:
        st.markdown(f"You guessed *{_as_it_is(guessed.words)}*. This run came to none of these: another seed will.")
    elif right is guessed:
        st.markdown(f":green[✓] You guessed *{_as_it_is(guessed.words)}*, and so it came.")
    else:
        st.markdown(
            f":orange[➜] You guessed *{_as_it_is(guessed.words)}*. It came otherwise: *{_as_it_is(right.words)}*."
        )


def _as_it_is(words: str) -> str:
    """Return words for a place within emphasis, which an asterisk of theirs, as in C*, would end."""
    return words.replace("*", r"\*").replace(" %", "\N{NO-BREAK SPACE}%")


def _estimated(asks: Estimate, place: Place) -> None:
    """Draw the guess and what the run came to on one line of numbers."""
    assert place.outcome is not None
    came_to = place.outcome.get(asks.measure)
    if came_to is None:
        st.markdown(f"You guessed {place.guess:.2f}; this run came to no number.")
        return
    good = ":green[✓] A good guess" if place.was_right() else ":orange[➜] Not quite"
    st.markdown(f"{good}: you said {place.guess:.2f}, and {asks.words} came to **{came_to:.2f}**.")
    st.html(_line_of_numbers(asks, float(place.guess), came_to))


def _drawn(asks: Curve, place: Place) -> None:
    """Lay the curve that was drawn over the one that came."""
    assert place.outcome is not None
    came_to = asks.came_to(place.outcome)
    if came_to is None:
        st.markdown("This run has no such curve.")
        return
    good = ":green[✓] Well drawn" if place.was_right() else ":orange[➜] Not quite"
    off = sum(abs(a - b) for a, b in zip(place.guess, came_to, strict=True)) / len(came_to)
    st.markdown(f"{good}: off by **{off:.2f}** in the mean.")


def _laid_over(place: Place) -> None:
    """Draw the curve that was drawn over the one that came, where the step asked for one."""
    asks = place.step.asks
    came_to = asks.came_to(place.outcome) if isinstance(asks, Curve) and place.outcome is not None else None
    if isinstance(asks, Curve) and came_to is not None:
        key = f"lesson-outcome-{place.number}"
        if place.guess is None:
            show_curve(asks, came_to, key=key)
        else:
            lay_over(asks, place.guess, came_to, key=key)


def _line_of_numbers(asks: Estimate, guess: float, came_to: float) -> str:
    """Return a line from the lowest to the highest guess: an open mark for the guess, a full one for what came."""

    def at(value: float) -> float:
        return 100 * min(1.0, max(0.0, (value - asks.low) / (asks.high - asks.low)))

    low, high = sorted((at(guess), at(came_to)))
    said = f"Guess {guess:.2f}, outcome {came_to:.2f}, on a line from {asks.low:g} to {asks.high:g}"
    return (
        f'<div class="lesson-line" role="img" aria-label="{said}"><span style="left: {low:.1f}%; width: {high - low:.1f}%"></span>'
        f'<i style="left: {at(guess):.1f}%"></i><b style="left: {at(came_to):.1f}%"></b></div>'
        f'<div class="lesson-ends"><span>{asks.low:g}</span><span>○ guess ● outcome</span><span>{asks.high:g}</span></div>'
    )


def _leave(bench: Bench) -> None:
    bench.place = None

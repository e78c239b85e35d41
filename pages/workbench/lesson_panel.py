"""Guided lesson on a setting's page: a text, a question before the run, and the explanation after it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dsgcore.experiments import Setting
from dsgcore.settings import Curve, Estimate, Pick
from pages.session.bench import Bench
from pages.session.lesson_place import Place
from pages.workbench.drawn_curve import draw_curve, lay_over, show_curve
from pages.workbench.layout import ANSWER
from pages.workbench.lesson_links import to_take_away
from pages.workbench.lesson_steps import go_to_step, lesson_button, light_up, show_solution
from pages.workbench.presenting import presented


def panel(problem: type[Setting], bench: Bench) -> None:
    """Draw the present step, if the page shows a lesson."""
    place = bench.lesson.place
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
        # The wider column holds the text to read now.
        text, answer = st.columns([2, 3] if is_told else [3, 2], gap="medium")
        with text:
            st.markdown(place.step.text)
            if is_told and not is_exercise(bench):
                _laid_over(place)  # below the verdict it would push the run out of the window
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
    """Return True if the link hides the answer. The reader finds it and hands it in."""
    return ANSWER in bench.hidden


def _handed_in(place: Place) -> None:
    done = ":green[✓] **Goal reached.**" if place.step.goal is not None else "**Your guess is saved.**"
    st.markdown(f"{done} To hand it in, copy this page's address. Add one or two sentences that say why.")


def _header(bench: Bench, place: Place) -> None:
    with st.container(key="lesson-head", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"## {place.lesson.title}")
        st.caption(f"Step {place.number + 1} of {len(place.lesson.steps)}", width="content")
        lesson_button(
            bench, "Leave the lesson", "lesson-leave", _leave, bench, type="tertiary", icon=":material/close:"
        )


def _question(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Ask for a guess. The run waits for it."""
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
    assert bench.lesson.place is not None
    bench.lesson.place.guesses[bench.lesson.place.number] = guess
    bench.is_playing = True


def _meanwhile(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Tell the reader what to do until the run ends or the goal is reached."""
    goal = place.step.goal
    if goal is None:
        st.caption(
            "The run is going." if is_exercise(bench) else "Watch the run. The explanation appears when it ends."
        )
        return
    with st.container(key="lesson-goal", gap="small"):
        st.markdown(f"⚑ **{_as_it_is(goal.text)}**")
        if not is_exercise(bench):
            icon = ":material/visibility:"
            lesson_button(bench, "Show me", "lesson-show", show_solution, problem, bench, type="tertiary", icon=icon)
    if bench.live is not None and bench.live.is_finished:
        st.caption(
            "Not yet: this run does not reach the goal. Change a marked control in the sidebar (» on a phone) and run again."
        )


def _verdict(place: Place) -> None:
    """Compare the guess with the outcome."""
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
        st.markdown(":green[✓] **Goal reached.**")


def _onwards(problem: type[Setting], bench: Bench, place: Place) -> None:
    if place.is_last:
        st.markdown(f"**What you learned:** {place.lesson.learned}")
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
        st.markdown(f"You guessed *{_as_it_is(guessed.words)}*. No option is right for this run. Try another seed.")
    elif right is guessed:
        st.markdown(f":green[✓] You guessed *{_as_it_is(guessed.words)}*. That is right.")
    else:
        st.markdown(f":orange[➜] You guessed *{_as_it_is(guessed.words)}*. The run gave: *{_as_it_is(right.words)}*.")


def _as_it_is(words: str) -> str:
    """Escape asterisks, such as that of C*, for use inside emphasis."""
    return words.replace("*", r"\*").replace(" %", "\N{NO-BREAK SPACE}%")


def _estimated(asks: Estimate, place: Place) -> None:
    """Draw the guess and the result on one number line."""
    assert place.outcome is not None
    came_to = place.outcome.get(asks.measure)
    if came_to is None:
        st.markdown(f"You guessed {place.guess:.2f}. This run has no finite value.")
        return
    good = ":green[✓] A good guess" if place.was_right() else ":orange[➜] Not quite"
    st.markdown(f"{good}: you said {place.guess:.2f}, and {asks.words} is **{came_to:.2f}**.")
    st.html(_line_of_numbers(asks, float(place.guess), came_to))


def _drawn(asks: Curve, place: Place) -> None:
    """Compare the drawn curve with the run's curve."""
    assert place.outcome is not None
    came_to = asks.came_to(place.outcome)
    if came_to is None:
        st.markdown("This run has no such curve.")
        return
    good = ":green[✓] Well drawn" if place.was_right() else ":orange[➜] Not quite"
    off = sum(abs(a - b) for a, b in zip(place.guess, came_to, strict=True)) / len(came_to)
    st.markdown(f"{good}: your mean error is **{off:.2f}**.")


def _laid_over(place: Place) -> None:
    """Draw the guessed curve over the run's curve, if the step asked for one."""
    asks = place.step.asks
    came_to = asks.came_to(place.outcome) if isinstance(asks, Curve) and place.outcome is not None else None
    if isinstance(asks, Curve) and came_to is not None:
        key = f"lesson-outcome-{place.number}"
        if place.guess is None:
            show_curve(asks, came_to, key=key)
        else:
            lay_over(asks, place.guess, came_to, key=key)


def _line_of_numbers(asks: Estimate, guess: float, came_to: float) -> str:
    """Return a number line with an open mark for the guess and a filled mark for the result."""

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
    bench.lesson.place = None

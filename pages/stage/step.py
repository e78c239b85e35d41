"""The words of a step: its text, its question or goal, and in the same place the verdict and the explanation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from html import escape
from typing import Any

import streamlit as st

from dsgcore.data.edits import EDITS
from dsgcore.experiments import Setting
from dsgcore.glossary import TOPICS
from dsgcore.settings import Curve, Estimate, Pick
from dsgcore.settings.lessons import LETTERS, SHARES, Claim
from pages.charts.live_chart import mounted, nothing
from pages.room.lecturer import show_own_question
from pages.session.bench import Bench
from pages.session.lesson_place import Place, Stage
from pages.shell.plain_text import plain, say_of_link
from pages.workbench.head import ANSWER, is_presented

_FORMULA = re.compile(r"\|[^|\s]+(?: − [^|\s]+)?\|²?")
# Measures that are no number to read.
NOT_SAID = {"verdict", "gain", "growth"}
REACHED: dict[str, Callable[[float], str]] = {
    "choice_rank": lambda share: f"beat {100 * share:.3g} % of them",  # 49.5 % of them is not half
    "labels": "had {:.0f} labels".format,
    "step_size": "had a step size of {:g}".format,
    "n_features": "had {:.0f} random features".format,
    "batch": "had mini-batches of {:.0f}".format,
}


LINE, TITLE_LINE = 46, 40  # letters in a line of a phone, and in one of the question
MORE_LINES = 2  # between the parts, and for a line of numbers


def lines_of_answer(place: Place) -> int:
    """Return the most lines that a phone needs for a step's question or goal, and for its answers or its explanation."""
    step = place.step
    options = step.asks.options if isinstance(step.asks, Pick) else ()
    said = max((len(f"{o.why or 'You guessed ' + o.words} The run gave: ") for o in options), default=3 * LINE)
    explained = said + max((len(o.words) for o in options), default=0) + len(step.explanation)
    return (
        math.ceil(len(step.task) / TITLE_LINE)
        + max(sum(math.ceil(len(o.words) / LINE) for o in options), math.ceil(explained / LINE))
        + math.ceil(place.is_last * len(f"What you learned: {place.lesson.learned}") / LINE)
        + MORE_LINES
    )


def is_exercise(bench: Bench) -> bool:
    """Return True if the link hides the answer. The reader finds it and hands it in."""
    return ANSWER in bench.view.hidden


def text(bench: Bench, place: Place) -> None:
    """Draw the text before the run, and sentences about the link that the page could not follow."""
    for notice in bench.link.notices:
        say_of_link(notice)
    if bench.group.own is None:
        st.markdown(explained(unbroken(place.step.text)), unsafe_allow_html=True)


def answer(problem: type[Setting], bench: Bench, place: Place) -> Any:
    """Draw the question or the goal, and below it the choice of a guess or the explanation; return the guess so far."""
    step = place.step
    if bench.group.own is not None:
        show_own_question(bench.group.own)
        return None
    asked = step.task
    if asked:
        st.markdown(f"## {escaped(asked)}")
    if place.stage is Stage.QUESTION:
        return _guess(problem, place)
    if place.stage is Stage.RUN:
        _say_while_running(bench, place)
    elif is_exercise(bench):
        done = "Goal reached." if step.goal is not None else "Your guess is saved."
        st.markdown(f"**{done}** To hand it in, copy this page's address. Add one or two sentences that say why.")
    else:
        _explain(bench, place)
    return None


def _guess(problem: type[Setting], place: Place) -> Any:
    asks, key = place.step.asks, f"lesson-guess-{place.text}"
    assert asks is not None
    if isinstance(asks, Pick):
        words = [
            f"{f'**{letter}** ' * is_presented()}{o.words}" for letter, o in zip(LETTERS, asks.options, strict=False)
        ]
        chosen = st.radio(asks.text, words, index=None, key=key, width="stretch", label_visibility="collapsed")
        return None if chosen is None else words.index(chosen)
    if isinstance(asks, Curve):
        with st.container(key="stage-hint"):
            st.caption("Draw with the mouse, or with Tab and the arrow keys.")
        with st.container(key="stage-pad"):
            return _draw_curve(asks, key=key, page=problem.name)
    middle = (asks.low + asks.high) / 2
    guess = st.slider(asks.text, asks.low, asks.high, middle, key=key, label_visibility="collapsed")
    return None if is_presented() and guess == middle else guess  # a slider that a lecturer leaves alone is no guess


def _draw_curve(asks: Curve, *, key: str, page: str) -> tuple[float, ...] | None:
    """Let the reader draw a curve by mouse, finger or arrow keys; return it, or None before anything was drawn."""
    middle = [(asks.low + asks.high) / 2] * len(SHARES)
    data = {
        "shares": list(SHARES),
        "words": asks.words,
        "low": asks.low,
        "high": asks.high,
        "values": middle,
        "page": page,
    }
    draw = mounted("drawn_curve", "charts/browser/curve_pad.js", html='<div class="drawn-curve"></div>')
    return curve_in(asks, draw(key=key, data=data, default={"guess": None}, on_guess_change=nothing).get("guess"))


def curve_in(asks: Curve, drawn: Any) -> tuple[float, ...] | None:
    """Return the browser's values if they are a curve on the axis: anyone can send anything."""
    try:
        return None if drawn is None else asks.read(asks.say(drawn))
    except (TypeError, ValueError, OverflowError):
        return None


def reached(claim: Claim, value: float) -> str:
    """Return what a run had that missed a claim: to three digits, or to more if these would meet the claim."""
    if claim.measure in REACHED:
        return REACHED[claim.measure](value)
    texts = (f"{value:.{digits}g}" for digits in range(3, 18))
    return f"reached {next(text for text in texts if not claim.holds({claim.measure: float(text)}))}"


def _say_while_running(bench: Bench, place: Place) -> None:
    """Say what to do during the run, and of a goal what the last run reached."""
    goal, live, tried = place.step.goal, bench.live, place.tried
    if bench.hand.lacks:
        st.markdown(plain(bench.hand.lacks))
    elif goal is None:
        st.caption("The run is going." if is_exercise(bench) else "Watch the run. The explanation appears here.")
    elif live is not None and live.is_finished and live.run.t > 0 and not is_exercise(bench):
        missed = [c for c in goal.claims if c.measure in tried and c.measure not in NOT_SAID and not c.holds(tried)]
        had = [reached(claim, tried[claim.measure]) for claim in missed]
        said = f" This run {' and '.join(had)}." if had else ""
        said = " This run diverged." if tried.get("growth") == math.inf else said.replace(" %", "\N{NO-BREAK SPACE}%")
        how = "Change the data in the map" if EDITS in place.step.controls else "Change a control below"
        st.markdown(f"**Not yet.**{said} {how} and watch the next run.")
    if live is not None and live.run.engine.caution and goal is not None:
        st.caption(plain(live.run.engine.caution))


def _explain(bench: Bench, place: Place) -> None:
    """Compare the guess with the outcome, and say why it came so. A later run with other values is not the one explained."""
    if bench.hand.lacks:  # of labels that the class has placed afterwards
        st.markdown(plain(bench.hand.lacks))
        return
    earlier = "" if bench.spec == place.explained.get(place.number) else "**Earlier run:** "
    st.markdown(explained(f"{earlier}{verdict(place)} {unbroken(place.step.explanation)}"), unsafe_allow_html=True)
    asks = place.step.asks
    if isinstance(asks, Estimate) and place.guess is not None and place.outcome is not None:
        came_to = place.outcome.get(asks.measure)
        if came_to is not None:
            st.html(line_of_numbers(asks, float(place.guess), came_to))
    if place.is_last:
        st.markdown(f"**What you learned:** {place.lesson.learned}")


def verdict(place: Place) -> str:
    """Return the comparison of the guess with the outcome, in a sentence."""
    asks, outcome = place.step.asks, place.outcome or {}
    if asks is None:
        return ":green[✓] **Goal reached.**"
    if place.guess is None:
        return f"**Answer:** {_said(asks.answer(outcome))}"
    right = asks.is_right(place.guess, outcome)
    if isinstance(asks, Pick):
        chosen = asks.options[int(place.guess)]
        guessed = f"You guessed {_said(chosen.words)}"
        if right is None:
            return f"{guessed} No option is right for this run. Try another seed."
        why = f":orange[➜] {unbroken(chosen.why) or guessed} The run gave: {_said(asks.answer(outcome))}"
        return ":green[✓] **Correct.**" if right else why
    if right is None:
        return "This run has no finite value."
    if isinstance(asks, Estimate):
        good = ":green[✓] **A good guess:**" if right else ":orange[➜] **Not quite:**"
        return f"{good} you said {place.guess:.2f}, and {asks.words} is **{outcome[asks.measure]:.2f}**."
    came_to = asks.came_to(outcome) or []
    off = sum(abs(a - b) for a, b in zip(place.guess, came_to, strict=True)) / len(came_to)
    return f"{':green[✓] **Well drawn:**' if right else ':orange[➜] **Not quite:**'} your mean error is {off:.2f}."


def _said(words: str) -> str:
    """Return an option or an outcome in italics, with one full stop."""
    return f"*{escaped(words.removesuffix('.'))}*."


def escaped(words: str) -> str:
    """Escape asterisks, such as that of C*, for use inside emphasis."""
    return unbroken(words.replace("*", r"\*"))


def unbroken(words: str) -> str:
    """Keep a formula such as |f − h|² or σ = 2, and a number with its per cent sign, on one line."""
    whole = _FORMULA.sub(
        lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}").replace("|²", "|\N{WORD JOINER}²"), words
    )
    return whole.replace(" %", "\N{NO-BREAK SPACE}%").replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


# Entries of the glossary whose names also are words of every day, or mean something else in a lesson: a score ranks points.
_EVERYDAY = {"band", "best", "bound", "constant", "correction", "rank", "slope", "tie"}
_TERMS = {
    entry.name.casefold(): entry.student for topic in TOPICS for entry in topic.terms if entry.name not in _EVERYDAY
}
_TERM = re.compile(
    rf"\b({'|'.join(re.escape(name) for name in sorted(_TERMS, key=len, reverse=True) if len(name) > 2)})s?\b", re.I
)


def explained(words: str) -> str:
    """Return a text with the meaning of each word of the glossary where it first stands: a tap, Tab or the mouse shows it."""
    left = dict(_TERMS)

    def with_meaning(found: re.Match[str]) -> str:
        meaning = left.pop(found[1].casefold(), "")
        plain = escape(meaning).replace("*", "&#42;").replace("$", "&#36;")
        tip = f'<span class="stage-meaning" role="tooltip">{plain}</span>'
        return f'<span class="stage-term" tabindex="0">{found[0]}{tip}</span>' if meaning else found[0]

    return _TERM.sub(with_meaning, escape(words, quote=False))


def line_of_numbers(asks: Estimate, guess: float, came_to: float) -> str:
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

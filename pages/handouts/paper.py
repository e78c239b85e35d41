"""A lesson as one page of HTML to print: questions with room for answers, then the answers with the outcomes of the runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from dsgcore.experiments import Setting
from dsgcore.settings import Curve, Estimate, GuidedLesson, LessonStep, Pick
from dsgcore.settings.lessons import SHARES
from pages.charts.figures import INK
from pages.charts.figures import Curve as Line
from pages.controls import controls
from pages.handouts.making import Scale, Shown, drawing

_STRONG, _EMPHASIS = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"(?<!\w)\*(?=\S)(.+?)(?<=\S)\*(?!\w)")
LINES = 3 * '<div class="why"></div>'  # borders, because browsers do not print backgrounds by default
_STYLE = """
:root {color-scheme: light}
body {margin: 0 auto; padding: 1.2rem; max-width: 48rem; background: #FFFFFF; color: #1F2933; font: 15px/1.45 system-ui, sans-serif}
h1 {font-size: 1.5rem; margin: 0.2rem 0} h2 {font-size: 1.1rem; margin: 0 0 0.3rem} p {margin: 0.4rem 0}
.who {display: flex; gap: 2rem; margin: 1rem 0} .who span {flex: 1; border-bottom: 1px solid #5B6670}
section {border-top: 1px solid #C4CCD3; padding: 0.8rem 0; break-inside: avoid}
.step {display: flex; gap: 1rem; align-items: flex-start} .step > div {flex: 1 1 0} .step svg {flex: none}
.drawings {display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: flex-start}
svg {max-width: 100%; height: auto} svg + svg {border: 0}
ul {list-style: none; padding: 0; margin: 0.4rem 0} li::before {content: "\\2610"; margin-right: 0.5rem}
.why {height: 1.5rem; border-bottom: 1px solid #C4CCD3}
.range {display: flex; justify-content: space-between; border-top: 2px solid #1F2933; max-width: 22rem; margin: 1.6rem 0 0.6rem}
.link {font-size: 0.78rem; overflow-wrap: anywhere} a {color: #25577B}
.answers {break-before: page}
@page {margin: 14mm}
@media print {body {padding: 0; max-width: none; font-size: 10.5pt} a {color: inherit}}
"""
_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title><style>{style}</style></head><body>
"""


@dataclass(frozen=True)
class Links:
    """The addresses of one step: with its answer hidden, and with its answer shown."""

    exercise: str
    answer: str


def handout(setting: type[Setting], lesson: GuidedLesson, shown: Sequence[Shown], links: Sequence[Links]) -> str:
    """Return the page.

    Parameters
    ----------
    setting : type of Setting
    lesson : GuidedLesson
    shown : sequence of Shown
        The contents of each step.
    links : sequence of Links
        The links of each step.

    Returns
    -------
    str
        HTML that needs no other file: it contains its style and drawings.
    """
    steps = list(zip(lesson.steps, shown, links, strict=True))
    questions = [
        _question(number, *step, has_points=_are_new(shown, number)) for number, step in enumerate(steps, start=1)
    ]
    answers = [_answer(setting, lesson, number, *step) for number, step in enumerate(steps, start=1)]
    return "\n".join(
        [
            _HEAD.format(title=escape(lesson.title), style=_STYLE),
            f"<header><p>DSG Lab · {escape(setting.title)}</p><h1>{escape(lesson.title)}</h1>",
            '<p class="who">Name: <span></span> Date: <span></span></p></header><main>',
            *questions,
            f'<div class="answers"><h1>Answers: {escape(lesson.title)}</h1>',
            f"<p>Each answer comes from one run, with seed {shown[0].seed}. Another seed gives another run.</p>",
            *answers,
            f"<p><b>What you learned:</b> {marked(lesson.learned)}</p></div></main></body></html>",
        ]
    )


def marked(text: str) -> str:
    """Return a lesson's Markdown as HTML. It knows bold and emphasis only, and escapes any HTML in the text."""
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<b>\1</b>", escape(text).replace(" %", "&nbsp;%")))


def _are_new(shown: Sequence[Shown], number: int) -> bool:
    """Return True if a step has other points than the step before."""
    return number == 1 or shown[number - 1].points != shown[number - 2].points


def _question(number: int, step: LessonStep, shown: Shown, links: Links, *, has_points: bool) -> str:
    if step.goal is not None:
        asked = f'<p><b>{marked(step.goal.text)}</b></p><p class="who">Reached with: <span></span></p>'
    else:
        assert step.asks is not None
        asked = f"<p><b>{marked(step.asks.text)}</b></p>{room_for(step.asks, shown.end)}"
    return (
        f'<section><h2>{number}</h2><div class="step"><div><p>{marked(step.text)}</p>{asked}</div>{shown.points * has_points}</div>'
        f"<p>Reason:</p>{LINES}{_link('Try it', links.exercise)}</section>"
    )


def _link(said: str, address: str) -> str:
    return f'<p class="link">{said}: <a href="{escape(address)}">{escape(address)}</a></p>'


@singledispatch
def room_for(asks: Any, end: int) -> str:
    """Return the room for an answer: boxes, a number line, or axes to draw on."""
    raise TypeError(type(asks))


@room_for.register
def _(asks: Pick, end: int) -> str:
    return "<ul>" + "".join(f"<li>{marked(option.words)}</li>" for option in asks.options) + "</ul>"


@room_for.register
def _(asks: Estimate, end: int) -> str:
    return f'<div class="range"><span>{asks.low:g}</span><span>{asks.high:g}</span></div>'


@room_for.register
def _(asks: Curve, end: int) -> str:
    return drawing(asks.words, [], Scale(asks.low, asks.high, end))


@singledispatch
def drawn_answer(asks: Any, shown: Shown) -> list[str]:
    """Return the drawings of an answer: the run's map and charts."""
    return list(shown.drawings)


@drawn_answer.register
def _(asks: Curve, shown: Shown) -> list[str]:
    """Return the drawings with the true curve, on the axes of the question, instead of the chart that the question is
    about."""
    came_to = asks.came_to(shown.outcome)
    if came_to is None:
        return list(shown.drawings)
    learned, first, score = shown.drawings
    line = Line(asks.words, np.array(SHARES) * shown.end, np.array(came_to), INK["light"])
    drawn = drawing(asks.words, [line], Scale(asks.low, asks.high, shown.end))
    return [learned, *([first, drawn] if asks.column == "score_test" else [drawn, score])]


def _answer(
    setting: type[Setting], lesson: GuidedLesson, number: int, step: LessonStep, shown: Shown, links: Links
) -> str:
    said = _reached(setting, lesson, number, step) if step.asks is None else marked(step.asks.answer(shown.outcome))
    drawings = "\n".join(drawn_answer(step.asks, shown))
    return (
        f"<section><h2>{number}</h2><p><b>{said[0].upper()}{said[1:]}.</b></p><p>{marked(step.explanation)}</p>"
        f'<div class="drawings">{drawings}</div>{_link("See it", links.answer)}</section>'
    )


def _reached(setting: type[Setting], lesson: GuidedLesson, number: int, step: LessonStep) -> str:
    """Return a sentence with the values that reach the goal."""
    assert step.goal is not None
    values = lesson.values_at(number - 1)
    dataset = values.get("data", controls.dataset_choice(setting).default)
    offered = controls.controls_for(setting, dataset, values.get("kernel"), for_lesson=True)
    said = [
        f"{offered[name].parameter.label}: {offered[name].say(value)}" if name in offered else f"these edits: {value}"
        for name, value in step.goal.solution.items()
    ]
    return escape(f"it is reached with {', '.join(said)}")

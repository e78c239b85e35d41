"""A step of a lesson as one HTML file: recorded runs for each value of its slider, which a browser draws without a server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from dsgcore.core.errors import DSGError
from dsgcore.core.files import whole_files
from dsgcore.core.parameters import Integer, Parameter, Real, grid
from dsgcore.data.datasets import SEED
from dsgcore.experiments import SETTINGS, LiveRun, Plane, Run, Setting, Spec, load_split, outcome_of
from dsgcore.lessons import lesson_named
from dsgcore.rooms.questions import Asked, plain_question, result_of
from dsgcore.settings import GuidedLesson, profile_of
from pages.charts import figures as charts
from pages.charts.live_chart import LIBRARY, MODULES, STYLE, encoded
from pages.charts.run_map import CLASSES, SCORE, decision_heats, run_map
from pages.controls import controls
from pages.controls.control import shown
from pages.handouts.notes import marked
from pages.session.lesson_check import spec_at

MOST_VALUES, MOST_ROWS, N_SURFACES, GRID = 11, 150, 14, 32
_MARK = " - DSG Lab</title>"  # in each file that is written here
STEPS = 2  # a map has at least 10 to this power of them in its range of colours
_FILES = Path(__file__).with_name("static")
_PARTS = (
    *(f"charts/browser/{name}.js" for name in ("saving", "head", "projected", "chart", "curve_pad")),
    "room/browser/question.js",
)
_IMPORT, _EXPORT = re.compile(r"^import .*?;\n", re.MULTILINE), re.compile(r"^export (default )?", re.MULTILINE)
_COLUMNS = {"objective": "objective", "score": "score_test", "error": "error_mean"}


@dataclass(frozen=True)
class _Shown:
    """The step that a file shows, the control that its slider moves, and the values of the slider."""

    setting: type[Setting]
    lesson: GuidedLesson
    number: int
    parameter: Parameter
    values: tuple[Any, ...]

    @property
    def place(self) -> str:
        """The lesson's setting and name, and the step's number, as a file says them."""
        return f"{self.lesson.setting}/{self.lesson.name} {self.number + 1}"

    @property
    def chart(self) -> str:
        """The chart beside the map."""
        chart = self.lesson.steps[self.number].chart
        return chart if chart in _COLUMNS else "score"

    def spec(self, value: Any) -> Spec:
        """Return the spec of the step's run with a value of the slider."""
        spec = spec_at(self.setting, self.lesson.values_at(self.number) | {self.parameter.name: value})
        return spec if self.chart == "error" else replace(spec, diagnostics=replace(spec.diagnostics, n_probes=0))


def write_lesson(name: str, folder: Path, step: int | None = None) -> Path:
    """Write a step of a lesson to a folder; return its file.

    `name` is that of the lesson, such as "step-size", or with its setting, such as "auc/step-size". `step` counts from 1; by
    default it is the last one with a slider.
    """
    chosen = _chosen(name, step)
    file = folder / f"{chosen.lesson.name}.html"
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    if file.exists() and f'<meta name="step" content="{chosen.place}">' not in text:
        kind = "is another step, or of another setting" if _MARK in text else "is no lesson of DSG Lab"
        raise DSGError(f"{file} is there already and {kind}: name another folder with --out")
    with whole_files(folder, [file.name]) as part:  # tested before the runs
        possible = list[Any]()
        for value in chosen.values:
            with suppress(DSGError):  # the spec or the data refuse it, such as more labels than there are rows
                load_split(chosen.spec(value))
                possible.append(value)
        if not possible:
            why = f"no value of {chosen.parameter.name} makes a run in this step of {name!r}"
            raise DSGError(f"{why}: name another one with --step")
        (part / file.name).write_text(_page(replace(chosen, values=tuple(possible))), encoding="utf-8")
    return file


def _chosen(name: str, step: int | None) -> _Shown:
    lesson = lesson_named(name)
    setting = SETTINGS[lesson.setting]
    if step is not None and not 1 <= step <= len(lesson.steps):
        raise DSGError(f"--step must be from 1 to {len(lesson.steps)}, got {step}")
    numbers = range(len(lesson.steps) - 1, -1, -1) if step is None else [step - 1]
    for number in numbers:
        for control in lesson.steps[number].controls:
            values = lesson.values_at(number)
            _, offered = controls.lesson_controls(setting, values)
            parameter = offered[control].parameter if control in offered else None
            if isinstance(parameter, Real | Integer):
                # With the page's stops, or fewer with equal distances, and the step's own.
                stops, own = grid(parameter), values.get(control)
                places = np.unique(np.linspace(0, len(stops) - 1, MOST_VALUES).round().astype(int))
                kept = {stops[place] for place in places} | ({own} if own is not None else set())
                return _Shown(setting, lesson, number, parameter, tuple(sorted(map(parameter.check, kept))))
    raise DSGError(f"no slider is part of this step of {name!r}: name another one with --step")


def _page(chosen: _Shown) -> str:
    step, run = chosen.lesson.steps[chosen.number], Run(chosen.spec(chosen.values[0]))
    own, kind = chosen.lesson.values_at(chosen.number).get(chosen.parameter.name), _kind(run)
    plane = Plane.through(run.split.X_train, names=run.split.feature_names)
    runs = [_recorded(chosen, value, plane) for value in chosen.values]
    score = run.problem.score_name[0].upper() + run.problem.score_name[1:]
    title = {"objective": "Objective", "error": "Error of the random features"}.get(chosen.chart, score)
    # The curve without its points, whose axis has room for each run that stays near the start; the map before the first iteration.
    nothing, blank = np.zeros(0), np.zeros((GRID * GRID, len(run.split.class_names)))
    curve = charts.line_chart(
        [charts.Curve(title, nothing, nothing, charts.INK["light"])], title=title, x_range=(0, run.n_iter)
    )
    if chosen.chart != "error":
        high = 1.3 * run.start_objective if chosen.chart == "objective" else 1.0
        curve["layout"]["yaxis"] |= {"range": [0.0, high], "showticklabels": True, "autorange": False}
    (heat,) = decision_heats(run, plane, [blank if kind == CLASSES else blank[:, 0]], shown=kind, theme="light")
    map_ = run_map(run, plane, heat | {"showscale": False}, title="Score f", theme="light", revision="0")
    recorded = {
        "runs": runs,
        "n_iter": run.n_iter,
        "name": title,
        "words": "Map of the data over the learned score",
        "figures": {"curve": curve, "map": map_},
        "task": _task(chosen),
    }
    words = {
        "title": chosen.lesson.title,
        "place": chosen.place,
        "control": chosen.parameter.label,
        "setting": profile_of(chosen.setting).full_name,
        "seed": SEED.default,
        "n_iter": run.n_iter,
        "last": len(runs) - 1,
        "first": chosen.values.index(own) if own in chosen.values else len(runs) // 2,
    }
    # One script, because a page from a disk cannot import files; what looks like a script's end is written in another way.
    modules = "\n".join(_EXPORT.sub("", _IMPORT.sub("", MODULES[name].read_text(encoding="utf-8"))) for name in _PARTS)
    texts = {
        "text": f"<p>{marked(step.text)}</p>",
        "asked": marked(step.task),
        "explanation": f"<p>{marked(step.explanation)}</p>",
        "chart_style": STYLE,
        "library": LIBRARY.read_text(encoding="utf-8").replace("</script", "<\\/script"),
        "recorded": encoded(recorded).replace("<", "\\u003c"),
        "modules": modules.replace("</script", "<\\/script"),
        "script": (_FILES / "lesson.js").read_text(encoding="utf-8"),
    }
    template = Template((_FILES / "lesson.html").read_text(encoding="utf-8"))
    return template.substitute({name: escape(str(word)) for name, word in words.items()} | texts)


def _task(chosen: _Shown) -> dict[str, Any]:
    """Return the step's question as phones get it, with what its run says; or which values reach its goal."""
    step, values = chosen.lesson.steps[chosen.number], chosen.lesson.values_at(chosen.number)
    if step.goal is not None:
        outcomes = (_outcome(chosen, values | {chosen.parameter.name: value}) for value in chosen.values)
        return {"kind": "goal", "reached": [step.goal.is_reached(outcome) for outcome in outcomes]}
    assert step.asks is not None
    asked = Asked(chosen.setting.name, chosen.lesson.name, chosen.number)
    return plain_question(step.asks) | {"result": result_of(asked, _outcome(chosen, values))}


def _outcome(chosen: _Shown, values: Mapping[str, Any]) -> dict[str, float]:
    live = LiveRun(spec_at(chosen.setting, values))
    live.advance()
    return outcome_of(live, chosen.lesson.steps[chosen.number].measures)


def _recorded(chosen: _Shown, value: Any, plane: Plane) -> dict[str, Any]:
    """Return a run as compact arrays: its curve, and its map at some iterations."""
    run, surfaces = Run(chosen.spec(value)), list[dict[str, Any]]()
    for end in np.unique(np.geomspace(1, run.n_iter, N_SURFACES).round().astype(int)):
        run.advance(int(end) - run.t)
        if run.t != end:  # it has diverged
            break
        values = run.result.evaluate(plane.grid(GRID)).astype(float)
        trace = decision_heats(run, plane, [values], shown=_kind(run), theme="light")[0]
        places = STEPS - int(np.floor(np.log10(trace["zmax"] - trace["zmin"] or 1.0)))
        z = [[_number(value) for value in row] for row in np.array(trace["z"], dtype=float).round(places)]
        kept = {name: trace[name] for name in ("zmin", "zmax", "colorscale")}
        surfaces.append({"t": int(end), "trace": kept | {"z": z}})
    t, y = charts.thinned(run.history.column("t"), run.history.column(_COLUMNS[chosen.chart]), MOST_ROWS)
    ending = f"The run has ended after iteration {run.t}: its numbers have grown too far." * (run.t < run.n_iter)
    return {"words": shown(value), "t": t.tolist(), "y": [*map(_number, y)], "surfaces": surfaces, "ending": ending}


def _kind(run: Run) -> str:
    return CLASSES if run.problem.decision == "highest" else SCORE


def _number(value: float) -> float | None:
    """Return a number with six digits, or None for one that JSON has not."""
    return float(f"{value:.6g}") if np.isfinite(value) else None

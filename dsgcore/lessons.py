"""The lessons of each setting and the lectures made of them: the project's, and those in a folder of one's own.

The files are read again as soon as one is saved. A file with a mistake is left out, and its message is kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import ParameterError, Text, check_names, did_you_mean, items
from dsgcore.data import DATASETS
from dsgcore.data.edits import CHOICES, EDITS
from dsgcore.experiments import SETTINGS, Setting, Spec, default_spec
from dsgcore.experiments.spec import sections_of
from dsgcore.settings.lessons import (
    HERE,
    SPECTRUM,
    GuidedLesson,
    LessonError,
    read_lesson,
    read_table,
    some_text,
    table_in,
)

FOLDER = "DSGLAB_LESSONS"  # environment variable: a folder with files of one's own


@dataclass(frozen=True)
class Lecture:
    """Lessons and questions in the order of a lecture."""

    title: str = some_text()
    # Each is a lesson, such as "auc/unlabeled", or a question with its answers, such as "Who knows? | I do | I do
    # not", "How many? | 0 to 100" or "Where? | map". The first is a lesson, and no lesson is there twice.
    parts: tuple[str, ...] = items(Text("part", ""), least=1)

    def __post_init__(self) -> None:
        """Raise `ParameterError` if the first part is a question, or a lesson is there twice."""
        named = [part for part in self.parts if "|" not in part]
        if self.parts[0] not in named:
            raise ParameterError(f"must begin with a lesson, such as auc/unlabeled, got {self.parts[0]!r}")
        if again := [part for part in named if named.count(part) > 1]:
            raise ParameterError(f"can have a lesson once, got {again[0]!r} {named.count(again[0])} times")


@dataclass
class Library:
    """What some files hold, and the messages of those that are left out."""

    lessons: dict[str, dict[str, GuidedLesson]] = field(default_factory=lambda: {name: {} for name in SETTINGS})
    lectures: dict[str, Lecture] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, file: Path) -> None:
        """Read a file; a lesson takes the place of one with the same name."""
        try:
            plain = table_in(file, "a lesson in TOML")
            if "parts" in plain:
                self.lectures[file.stem] = read_table(Lecture, plain, file)
                return
            lesson = read_lesson(file)
            if HERE not in file.parents:  # those of the project are checked by its tests
                check_lesson(lesson, file)
            self.lessons[lesson.setting][lesson.name] = lesson
        except LessonError as error:
            self.faults.append(str(error))


SECONDS_BETWEEN_LOOKS = 1.0  # at the files


def library() -> Library:
    """Return the project's files and those of the folder that the environment names, as they are now."""
    return _read(_files(os.environ.get(FOLDER), time.monotonic() // SECONDS_BETWEEN_LOOKS))


@lru_cache(maxsize=1)
def _files(own: str | None, look: float) -> tuple[tuple[Path, int, int], ...]:
    """Return all files, each with its time and size; the same ones for each look."""
    found = list[tuple[Path, int, int]]()
    for file in [*sorted(HERE.glob("*/*.toml")), *(sorted(Path(own).rglob("*.toml")) if own else ())]:
        try:
            stat = file.stat()
            found.append((file, stat.st_mtime_ns, stat.st_size))
        except OSError:  # it is saved at this moment
            found.append((file, 0, 0))
    return tuple(found)


@lru_cache(maxsize=1)  # until a file is another one
def _read(files: tuple[tuple[Path, int, int], ...]) -> Library:
    made = Library()
    for file, _, _ in files:
        made.add(file)
    return made


def lessons_of(setting: type[Setting] | str) -> tuple[GuidedLesson, ...]:
    """Return the lessons of a setting, sorted by `order` and name."""
    named = library().lessons.get(setting if isinstance(setting, str) else setting.name, {})
    return tuple(sorted(named.values(), key=lambda lesson: (lesson.order, lesson.name)))


def lesson_named(name: str) -> GuidedLesson:
    """Return a lesson by its name, or by its setting's and its own; raise `LessonError` if there is none or several."""
    all_of = {f"{lesson.setting}/{lesson.name}": lesson for one in SETTINGS for lesson in lessons_of(one)}
    found = [lesson for full, lesson in all_of.items() if name in (full, lesson.name)]
    if len(found) != 1:
        left_out = [fault for fault in library().faults if f"/{name.rpartition('/')[2]}.toml" in fault]
        said = f"no single lesson has the name {name!r}{did_you_mean(name, all_of)}: name one of {', '.join(all_of)}"
        raise LessonError(left_out[0] if left_out else f"{said}. Lessons of your own are found with --lessons FOLDER")
    return found[0]


def check_lesson(lesson: GuidedLesson, file: Path) -> None:
    """Raise `LessonError` if a lesson names a setting, a control or a value that there is not."""
    place = f"{file.parent.name}/{file.name}"
    if lesson.setting not in SETTINGS:
        said = f'setting must be one of {", ".join(SETTINGS)}, as in setting = "auc"'
        raise LessonError(f"{place}, {said}, got {lesson.setting!r}")
    if set(":/|") & set(lesson.name):  # which separate the parts of a link and of a lecture
        raise LessonError(f"{place}: the name of a lesson's file must have no colon and no bar")
    for number, step in enumerate(lesson.steps):
        here = f"{place}, step {number + 1}"
        if (step.asks is None) == (step.goal is None):
            raise LessonError(f"{here} must have either a question (pick, estimate or curve) or a goal")
        if SPECTRUM in step.show and SETTINGS[lesson.setting].decision != "highest":
            raise LessonError(f"{here}, show: {lesson.setting} has no {SPECTRUM}, which is that of multiclass")
        for values in (lesson.values_at(number), lesson.solved_at(number)):
            try:
                _check_values(lesson.setting, values, step.controls)
            except DSGError as error:
                raise LessonError(f"{here}, values: {error}") from None


def _check_values(setting: str, values: Mapping[str, Any], controls: tuple[str, ...]) -> None:
    """Raise `DSGError` if a page cannot set its controls to these values, or has not these controls."""
    problem, default = SETTINGS[setting], default_spec(setting)
    data, kernel = values.get("data", default.data.name), values.get("kernel", default.kernel.name)
    suiting = [entry.name for entry in DATASETS.values() if entry.suits(problem.labels)]
    for name, value, allowed in (("data", data, suiting), ("kernel", kernel, problem.kernels)):
        if value not in allowed:
            raise LessonError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    if values.get(EDITS, next(iter(CHOICES))) not in CHOICES:
        raise LessonError(f"{EDITS} must be one of {', '.join(CHOICES)}, got {values[EDITS]!r}")
    sections = sections_of(problem, kernel)
    del sections["diagnostics"]  # which no control sets
    places = {p.name: (section, p) for section, parameters in sections.items() for p in parameters}
    check_names((*values, *controls), [*places, "data", "kernel", EDITS], setting, "control")
    plain: dict[str, dict[str, Any]] = {"data": {"name": data}, "kernel": {"name": kernel}}
    for name, value in values.items():
        if name in places and name != "positive":  # which is the name of a class here
            plain.setdefault(places[name][0], {})[name] = value
    Spec.from_dict({"setting": setting, **plain})

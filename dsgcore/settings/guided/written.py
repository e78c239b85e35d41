"""Reader of lesson files: one TOML file per lesson, in a folder per setting. The file's name is the lesson's name in links.

A file has the fields of `GuidedLesson` except its name, and each of its ``[[steps]]`` those of `LessonStep`. A claim is a
table or a name in `NAMED`. The value "auto" lets the run choose, as in links.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.core.files import TextFileError, read_text
from dsgcore.core.parameters import Made, ParameterError, read
from dsgcore.settings.guided.lesson import GuidedLesson

HERE = Path(__file__).parent


class LessonError(DSGError):
    """Error in a lesson file. The message says where it is, the value given, and what is allowed."""


def lessons_of(setting: str, folder: Path = HERE) -> tuple[GuidedLesson, ...]:
    """Return the lessons of a setting, sorted by `order` and name.

    Raises
    ------
    LessonError
        If a file is not valid. The message names the file, the place, the value given, and what is allowed.
    """
    found = [
        read_file(GuidedLesson, file, "a lesson in TOML", name=file.stem)
        for file in sorted((folder / setting).glob("*.toml"))
    ]
    return tuple(sorted(found, key=lambda lesson: lesson.order))


def read_file(cls: type[Made], file: Path, holds: str, **more: Any) -> Made:
    """Return an object of a class whose fields are parameters, as a TOML file describes it. `holds` names its content.

    Raises
    ------
    LessonError
        As `lessons_of`.
    """
    place = f"{file.parent.name}/{file.name}"
    try:
        return read(cls, tomllib.loads(read_text(file, holds)), place, **more)
    except (TextFileError, ParameterError) as error:
        raise LessonError(str(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{place} is not valid TOML: {error}") from None

"""The project's page on the web: ``python .ci/site.py FOLDER``. It holds the API reference and lessons that need no install.

A lesson is there if one of its steps has a slider.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

from reference import write

from dsgcore.__main__ import main
from dsgcore.experiments import SETTINGS
from dsgcore.lessons import lessons_of

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>DSG Lab</title>
<style>body {{font: 18px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem}}</style></head>
<body><h1>DSG Lab</h1>
<p>How kernel methods learn from a few labels and many unlabeled points.</p>
<h2>Lessons that need no install</h2><p>Move the slider: each value shows a recorded run.</p><ul>{lessons}</ul>
<h2>Reference</h2><p><a href="reference/index.html">The Python classes and functions</a></p></body></html>
"""


def write_lessons(folder: Path) -> list[tuple[str, str]]:
    """Write the lessons to a folder; return the file and the title of each."""
    found = []
    for setting in SETTINGS.values():
        for lesson in lessons_of(setting):
            name = f"{setting.name}/{lesson.name}"
            if main(["export-lesson", name, "--out", str(folder / setting.name), "--quiet"]) == 0:
                found.append((f"{setting.name}/{lesson.name}.html", lesson.title))
    return found


def site(folder: Path) -> None:
    """Write the whole page to a folder."""
    write(folder / "reference")
    listed = "".join(
        f'<li><a href="lessons/{escape(file)}">{escape(title)}</a></li>'
        for file, title in write_lessons(folder / "lessons")
    )
    (folder / "index.html").write_text(PAGE.format(lessons=listed), encoding="utf-8")


if __name__ == "__main__":
    site(Path(sys.argv[1]))

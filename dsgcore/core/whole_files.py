"""Files that belong together, written so that no failure leaves a part of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_files(folder: str | os.PathLike[str], names: Sequence[str]) -> Iterator[Path]:
    """Give a place to write files of these names; at the end they come to `folder` together, after a failure none does.

    The folder is made where it is not there, and tried, before anything is written: `OSError` where nothing can be. Files of these
    names are replaced; `IsADirectoryError` where one of them is a folder. The last one is taken away first and comes last: even a
    process that is killed in between leaves no mixture with it.
    """
    to = Path(folder)
    if taken := next((to / name for name in names if (to / name).is_dir()), None):
        raise IsADirectoryError(f"{taken} must be a file path, but it is a folder")
    with ExitStack() as made:
        for missing in [place for place in (to, *to.parents) if not place.exists()][::-1]:
            missing.mkdir(exist_ok=True)
            made.callback(_remove_if_empty, missing)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=to) as part:
            yield Path(part)
            _move(Path(part), to, names)
        made.pop_all()


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _move(part: Path, to: Path, names: Sequence[str]) -> None:
    with ExitStack() as undo:
        for name in reversed(names):
            if (to / name).exists():
                os.replace(to / name, part / f"before-{name}")
                undo.callback(os.replace, part / f"before-{name}", to / name)
        for name in names:
            undo.callback((to / name).unlink, missing_ok=True)
            os.replace(part / name, to / name)
        undo.pop_all()

"""Files that are written together, completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_files(folder: str | os.PathLike[str], names: Sequence[str]) -> Iterator[Path]:
    """Provide a place to write files of these names. At the end all of them move to `folder`; after a failure none does.

    The folder is created if necessary, and tested before anything is written. Files of these names are replaced. The
    last one is removed first and moved last, so even a killed process leaves no mixture that includes it.

    Raises
    ------
    OSError
        If the folder cannot be written.
    IsADirectoryError
        If one of the files is a folder.
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

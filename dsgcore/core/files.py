"""Files: text in the encodings that editors and shells save, files written together, and this program's folders."""

from __future__ import annotations

import codecs
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from dsgcore.core.errors import DSGError

# By platform: the environment variable that names the folder, and its place below the home folder if unset.
_CACHES = {
    "win32": ("LOCALAPPDATA", "AppData/Local"),
    "darwin": ("", "Library/Caches"),
    "": ("XDG_CACHE_HOME", ".cache"),
}
_DATA = _CACHES | {"darwin": ("", "Library/Application Support"), "": ("XDG_DATA_HOME", ".local/share")}


def cache_folder() -> Path:
    """Return the folder of files that can be downloaded again: DSGLAB_CACHE, else the platform's cache folder."""
    return Path(named) if (named := os.environ.get("DSGLAB_CACHE")) else _folder(_CACHES)


def data_folder() -> Path:
    """Return the platform's folder for programs' data."""
    return _folder(_DATA)


def _folder(places: dict[str, tuple[str, str]]) -> Path:
    variable, below = places.get(sys.platform, places[""])
    return Path(os.environ.get(variable) or Path.home() / below) / "dsg-lab"


# Byte order marks, the longer ones first: UTF-32's begins like UTF-16's.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class TextFileError(DSGError):
    """A file that cannot be read as text, or written. The message gives its name and a remedy."""


def read_text(file: str | os.PathLike[str], holds: str) -> str:
    """Return a file's text, without a byte order mark; `holds` names the content in messages, such as "a spec in JSON".

    Raise `TextFileError` if it is missing, a folder, empty, not readable or not text in UTF-8 or marked UTF-16.
    """
    path = Path(file)
    is_folder = TextFileError(f"{path} is a folder: give the file in it that holds {holds}")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise TextFileError(f"{path} does not exist: give the path of a file that holds {holds}") from None
    except IsADirectoryError:
        raise is_folder from None
    except OSError as error:
        if path.is_dir():  # Windows denies permission to read it
            raise is_folder from None
        if isinstance(error, PermissionError):
            raise TextFileError(
                f"{path} cannot be read, for you have no permission: allow it, or copy the file"
            ) from None
        raise TextFileError(f"{path} cannot be read ({error.strerror}): give a file that holds {holds}") from None
    mark = next((mark for mark in _MARKS if content.startswith(mark)), b"")
    try:
        text = content[len(mark) :].decode(_MARKS.get(mark, "utf-8"))
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise TextFileError(f"{path} is not text in UTF-8: save {holds} as UTF-8, and give that file")
    if not text.strip():
        raise TextFileError(f"{path} is empty: it must hold {holds}")
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as Python opens text


def check_place(file: Path, option: str) -> None:
    """Raise `TextFileError` if the file of a command-line option cannot be written."""
    if file.is_dir():
        raise TextFileError(f"{option} must name a file, but {file} is a folder: add a file's name")
    if not file.parent.is_dir():
        raise TextFileError(
            f"{option} names the file {file}, but the folder {file.parent} does not exist: make it first"
        )
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise TextFileError(f"{option} names the file {file}, which you have no permission to write: name another one")


@contextmanager
def whole_files(folder: str | os.PathLike[str], names: Sequence[str]) -> Iterator[Path]:
    """Provide a place to write files of these names. At the end all of them move to `folder`; after a failure none does.

    The folder is created if necessary, and tested before anything is written: `OSError` if it cannot be written. Files of these
    names are replaced; a folder of such a name is an `IsADirectoryError`. The last file is removed first and moved last, so even
    a killed process leaves no mixture that includes it.
    """
    to = Path(folder)
    if taken := next((to / name for name in names if (to / name).is_dir()), None):
        raise IsADirectoryError(f"{taken} must be a file path, but it is a folder")
    with ExitStack() as made:
        for missing in [place for place in (to, *to.parents) if not place.exists()][::-1]:
            missing.mkdir(exist_ok=True)
            made.callback(_remove_if_empty, missing)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=to) as part, ExitStack() as undo:
            yield Path(part)
            for name in reversed(names):
                if (to / name).exists():
                    os.replace(to / name, Path(part) / f"before-{name}")
                    undo.callback(os.replace, Path(part) / f"before-{name}", to / name)
            for name in names:
                undo.callback((to / name).unlink, missing_ok=True)
                os.replace(Path(part) / name, to / name)
            undo.pop_all()
        made.pop_all()


@contextmanager
def whole_file(file: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Provide a text file in UTF-8 that takes its place only when it is complete; errors are those of `whole_files`.

    Through a link, the file that it leads to is replaced. What is no file, such as a pipe or a device, is written as it is.
    """
    to = Path(os.path.realpath(file))
    with ExitStack() as opened:
        if not os.path.exists(file) or to.is_file():
            to = opened.enter_context(whole_files(to.parent, [to.name])) / to.name
        else:
            to = Path(file)
        yield opened.enter_context(to.open("w", encoding="utf-8", newline=""))


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()

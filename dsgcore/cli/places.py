"""Places of results: apart from everything that the command reads, and never on files that it has not written itself."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path

from dsgcore.core.files import TextFileError, check_place
from dsgcore.core.parameters import quoted

# Bytes of an earlier result's head, and of its end, in which the text is that tells it.
_SEARCHED = 65_536
# Files that systems and tools put into folders; a folder with nothing else is empty.
_UNSEEN = ("Thumbs.db", "desktop.ini")


def check_given_files(given: argparse.Namespace) -> None:
    """Raise `TextFileError` unless a command may write the files that its options name, as `commands.toml` marks them."""
    named = {name: getattr(given, name) for name in given.writes}
    files = {
        f"--{name}": (file, given.writes[name])
        for name, file in named.items()
        if file is not None and (name, str(file)) != ("json", "-")
    }
    read = ((Path(getattr(given, name)), kind) for name, kind in given.reads.items())
    check_files(files, [one for place, kind in read for one in places_read(place, kind)])


def places_read(place: Path, kind: str = "spec") -> list[Path]:
    """Return what a command reads: a place, the files of a folder, or a spec's or study's file with the spec's data."""
    if kind == "files" and place.is_dir():
        return [*place.glob("*")]
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        if kind == "spec" and place.is_file():  # a pipe can be read once
            plain = json.loads(place.read_bytes())
            own = plain.get("spec", plain)["data"]["path"]
            return [place, Path(own), place.parent / own]
    return [place]


def check_files(files: Mapping[str, tuple[Path, str]], inputs: Sequence[Path]) -> None:
    """Raise `TextFileError` unless a command may write its files, beside its inputs.

    `files` has for each option its file, and a text that is in each file that the command writes there: so an earlier result is
    known, which it may replace.
    """
    for option, (file, mark) in files.items():
        check_place(file, option)
        _check_apart(file, option, inputs)
        twin = next((other for other in files if other < option and _is_same(files[other][0], file)), None)
        if twin is not None:
            raise TextFileError(f"{twin} and {option} must name two files, got {file} for both")
        check_own(file, option, mark)


def check_own(file: Path, option: str, mark: str) -> None:
    """Raise `TextFileError` if a file exists and is not empty, and neither its head nor its end has the text."""
    if not file.exists() or file.stat().st_size == 0:
        return
    with file.open("rb") as opened:
        ends = opened.read(_SEARCHED)
        opened.seek(max(0, file.stat().st_size - _SEARCHED))
        ends += opened.read()
    if mark.encode() not in ends:
        raise TextFileError(
            f"{option} names the file {file}, which is there already and is no earlier result of this command: "
            "name another file"
        )


def check_folder(folder: Path, names: Sequence[str], inputs: Sequence[Path], is_own: Callable[[Path], bool]) -> None:
    """Raise `TextFileError` unless the folder of --out is new, empty, or one that the command has written before.

    The command will write files of these names there; `is_own` is True for a file that no other command writes.
    """
    check_no_file(folder)
    _check_apart(folder, "--out", inputs)
    for name in names:
        _check_apart(folder / name, "--out", inputs)
        if (folder / name).is_dir():
            raise TextFileError(f"{folder / name} must be a file path, but it is a folder: name another folder")
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    seen = [one for one in there if not one.name.startswith(".") and one.name not in _UNSEEN]
    if seen and not any(map(is_own, there)):
        raise TextFileError(
            f"--out must name a new or empty folder, or one that this command has written, but {folder} holds "
            f"{quoted(seen[0].name)}: name another folder"
        )


def check_no_file(folder: Path) -> None:
    """Raise `TextFileError` if the folder of --out, or one above it, is a file."""
    taken = next((place for place in (folder, *folder.parents) if place.is_file()), None)
    if taken is not None:
        raise TextFileError(f"--out must name a folder, but {taken} is a file: name another folder")


def holds_fields(file: Path, name: str, fields: Set[str]) -> bool:
    """Return True if a file has this name and holds a JSON object with these fields."""
    if file.name != name:
        return False
    try:
        return fields <= json.loads(file.read_bytes()).keys()
    except (OSError, ValueError, AttributeError):
        return False


def _check_apart(place: Path, option: str, inputs: Sequence[Path]) -> None:
    real = Path(os.path.realpath(place))
    for read in inputs:
        if _is_same(real, read):
            raise TextFileError(f"{option} would write to {place}, which the command reads: name another place")
        if read.is_dir() and any(_is_same(above, read) for above in real.parents):
            raise TextFileError(
                f"{option} would write to {place}, in the folder {read} of the data: name another place"
            )


def _is_same(one: Path, other: Path) -> bool:
    """Return True if two paths lead to one file or folder, by whatever way."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return os.path.realpath(one) == os.path.realpath(other)

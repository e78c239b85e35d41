"""Places of results: apart from everything that the command reads, and never on files that it has not written itself."""

from __future__ import annotations

import argparse
import json
import os
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dsgcore.core.files import TextFileError, check_place
from dsgcore.core.parameters import quoted

# Bytes of an earlier result's head, and of its end, in which the text is that tells it.
_SEARCHED = 65_536
# The last bytes of a Parquet file: the size of what describes its columns, which is before them, and its kind.
_FOOTER = struct.Struct("<I4s")
# Files that systems and tools put into folders; a folder with nothing else is empty.
_UNSEEN = ("Thumbs.db", "desktop.ini")


def check_given_places(given: argparse.Namespace) -> None:
    """Raise `TextFileError` unless a command may write the files and folders of its options, as `commands.toml` marks them."""
    read = {name: places_read(Path(getattr(given, name)), kind) for name, kind in given.reads.items()}
    written = dict[str, Path]()
    for name, mark in given.writes.items():
        place = getattr(given, name)
        if place is None or (name, str(place)) == ("json", "-"):
            continue
        inputs = [one for other, places in read.items() if other != name for one in places]
        if not isinstance(mark, str):
            check_folder(place, mark, inputs)
            continue
        check_file(place, f"--{name}", mark, inputs)
        if twin := next((other for other, file in written.items() if _is_same(file, place)), None):
            raise TextFileError(f"--{twin} and --{name} must name two files, got {place} for both")
        written[name] = place


def places_read(place: Path, kind: str) -> list[Path]:
    """Return what a command reads: a place, the files of a folder, or a spec's or study's file with the spec's data."""
    if kind == "files" and place.is_dir():
        return [*place.glob("*")]
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        if kind == "spec" and place.is_file():  # a pipe can be read once
            plain = json.loads(place.read_bytes())
            own = plain.get("spec", plain)["data"]["path"]
            return [place, Path(own), place.parent / own]
    return [place]


def check_file(file: Path, option: str, mark: str, inputs: Sequence[Path]) -> None:
    """Raise `TextFileError` unless a command may write a file; the mark is a text in each that it writes there."""
    check_place(file, option)
    _check_apart(file, option, inputs)
    if file.exists() and file.stat().st_size and not _holds(file, mark):
        raise TextFileError(
            f"{option} names the file {file}, which is there already and is no earlier result of this command: "
            "name another file"
        )


def check_folder(folder: Path, marks: Mapping[str, Sequence[str]], inputs: Sequence[Path]) -> None:
    """Raise `TextFileError` unless the folder of --out is new, empty, or one that the command has written before.

    `marks` has the names of the files that the command writes there, and texts that are in each, or none if it does not tell
    the command. Without names, the files are new in any folder.
    """
    taken = next((place for place in (folder, *folder.parents) if place.is_file()), None)
    if taken is not None:
        raise TextFileError(f"--out must name a folder, but {taken} is a file: name another folder")
    _check_apart(folder, "--out", inputs)
    for name in marks:
        _check_apart(folder / name, "--out", inputs)
        if (folder / name).is_dir():
            raise TextFileError(f"{folder / name} must be a file path, but it is a folder: name another folder")
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    seen = [one for one in there if not one.name.startswith(".") and one.name not in _UNSEEN]
    own = (
        all(_holds(file, text) for text in texts)
        for name, texts in marks.items()
        for file in folder.glob(name)
        if texts
    )
    if marks and seen and not any(own):
        raise TextFileError(
            f"--out must name a new or empty folder, or one that this command has written, but {folder} holds "
            f"{quoted(seen[0].name)}: name another folder"
        )


def _holds(file: Path, mark: str) -> bool:
    """Return True if the head or the end of a file has a text; the end of a Parquet file is all that describes its columns."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        ends = opened.read(_SEARCHED)
        opened.seek(max(0, size - _FOOTER.size))
        length, kind = _FOOTER.unpack(opened.read().rjust(_FOOTER.size))
        opened.seek(max(0, size - max(_SEARCHED, length if kind == b"PAR1" else 0)))
        return mark.encode() in ends + opened.read()


def _check_apart(place: Path, option: str, inputs: Sequence[Path]) -> None:
    real = Path(os.path.realpath(place))
    for read in inputs:
        if _is_same(real, read):
            raise TextFileError(f"{option} would write to {place}, which the command reads: name another place")
        if read.is_dir() and any(_is_same(above, read) for above in real.parents):
            raise TextFileError(f"{option} would write to {place}, in the folder {read} of the data: name another")


def _is_same(one: Path, other: Path) -> bool:
    """Return True if two paths lead to one file or folder, by whatever way."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return os.path.realpath(one) == os.path.realpath(other)

"""The command ``dsg-lab data``: list, fetch, describe, convert."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dsgcore.cli.ending import note
from dsgcore.cli.help_page import help_page, place
from dsgcore.cli.reading import add_reading_options, reading_of
from dsgcore.core.parameters import quoted
from dsgcore.core.text_files import cache_folder
from dsgcore.data.conversions import LABELS
from dsgcore.data.converting import convert_file, describe_file
from dsgcore.data.datasets import DataError
from dsgcore.data.downloads import REMOTE_SETS, RemoteSet, cached, fetch, remote_set
from dsgcore.data.reading import File, Recipe, Source, sniff_format
from dsgcore.data.reading.binary import streamed
from dsgcore.data.reading.limits import IN_PIECES, shown_size
from dsgcore.data.registry import DATASETS

_LINE_SECONDS = 0.5
_OF_TEXT = ("header", "delimiter", "decimal", "encoding", "missing_words")
_TABLE = "sample_data/iris.csv"
# Each command: a line for the list of commands, a description, and an example.
_COMMANDS = {
    "list": (
        "list the data sets of the package and of public archives",
        "List the data sets: those of the package, and those that `data fetch` downloads from public archives.",
        "list",
    ),
    "fetch": (
        "download the papers' sets from public archives to the cache",
        "Download sets of the papers from their public archives to the cache, and print the paths of the files.",
        "fetch cod-rna",
    ),
    "describe": (
        "describe a set or a file, and how it would be read",
        "Describe a set or a file: its rows, columns and classes, how it would be read, and the settings that it suits.",
        f"describe {_TABLE} --labels binary --positive setosa",
    ),
    "convert": (
        "write a file as Parquet, also one that is larger than the memory",
        "Write a set or a file as a folder of Parquet. Text is read in pieces, so it need not fit in memory.",
        f"convert {_TABLE} iris",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own arguments."""
    commands = parser.add_subparsers(dest="data_command", required=True, metavar="COMMAND")
    parsers = {
        name: commands.add_parser(name, help=sentence, **help_page(description, f"data {example}"))
        for name, (sentence, description, example) in _COMMANDS.items()
    }
    get, tell, make = parsers["fetch"], parsers["describe"], parsers["convert"]
    get.add_argument("names", nargs="+", metavar="NAME", help="a name from `data list`")
    get.add_argument("--quiet", action="store_true", help="print only the files' paths")
    for reader in (tell, make):
        reader.add_argument("what", metavar="NAME_OR_FILE", help="a name from `data list`, or a path")
    make.add_argument("folder", type=place, metavar="FOLDER", help="new folder for the Parquet files")
    make.add_argument("--quiet", action="store_true", help="print nothing but errors")
    for reader in (tell, make):
        _add_reading_arguments(reader)


def _add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels", choices=LABELS, default="classes", help="kind of labels to learn from (default: classes)"
    )
    add_reading_options(parser)


def run(given: argparse.Namespace, settings: Mapping[str, str] | None = None) -> int:
    """Run the command; raise `DataError` or OSError if it cannot be done.

    `settings` maps each setting's name to the kind of labels that it learns from. With it, a description lists the
    settings that suit.
    """
    match given.data_command:
        case "list":
            _list()
        case "fetch":
            _fetch(given.names, is_quiet=given.quiet)
        case "describe":
            _describe(given, settings or {})
        case _:
            _convert(given)
    return 0


def _list() -> None:
    print("With the package:")
    for entry in DATASETS.values():
        print(f"  {entry.name:<18} {entry.n:>11,} x {entry.d:<6,} {entry.title}")
    print("\nIn public archives (fetched by name):")
    for remote in REMOTE_SETS.values():
        there = "fetched" if cached(remote) else ""
        print(
            f"  {remote.name:<18} {remote.n:>11,} x {remote.d:<6,} {remote.archive:<13} {remote.title:<24} {there}".rstrip()
        )
    print(f"\nThe cache is {cache_folder()} (DSGLAB_CACHE names another folder).")


def _fetch(names: list[str], *, is_quiet: bool) -> None:
    sets = [remote_set(name) for name in names]  # a wrong name is reported before any download begins
    for remote in sets:
        print(fetch(remote, progress=None if is_quiet else _now_and_then(partial(_arrived, remote))))


def _now_and_then(line: Callable[..., str], start: float = 0.0) -> Callable[..., None]:
    """Return a callback that prints its line at most once in a while."""
    last = [start]

    def show(*given: Any) -> None:
        if time.monotonic() - last[0] >= _LINE_SECONDS or len(set(given)) == 1:  # at the end everything has arrived
            last[0] = time.monotonic()
            note(line(*given))

    return show


def _arrived(remote: RemoteSet, have: int, total: int | None) -> str:
    of = f" of {shown_size(total)} ({have / total:.0%})" if total else ""
    return f"{remote.name}: {shown_size(have)}{of}"


def _describe(given: argparse.Namespace, settings: Mapping[str, str]) -> None:
    if given.what in DATASETS and not Path(given.what).exists():
        entry = DATASETS[given.what]
        print(
            f"{entry.title}: {entry.n:,} rows, {entry.d:,} columns, {len(entry.class_names)} classes.\n{entry.sentence}"
        )
        print(f"Source: {entry.source}. Licence: {entry.licence}.")
        return
    path, remote = _found(given.what)
    if remote is not None:
        classes = f"{remote.classes} classes" if remote.classes else "a number to predict"
        print(f"{remote.title}, {remote.archive}: {remote.n:,} rows, {remote.d:,} columns, {classes}.")
        print(f"Used in the paper of {', '.join(remote.used_by)}. {remote.sizes_elsewhere}".rstrip())
        print(f"Licence: {remote.licence}. {remote.address}")
    if path is None:
        print(f"It is not in the cache: dsg-lab data fetch {given.what}")
        return
    file = File.of_path(path)
    recipe = _recipe(file, given, remote)
    described = describe_file(file, recipe, given.labels)
    print(*described.sentences(), sep="\n")
    print(f"Suits {', '.join(name for name, labels in settings.items() if not described.refusals[labels])}.")
    for labels, reason in described.refusals.items():
        unsuited = [name for name, own in settings.items() if own == labels]
        if reason and unsuited:
            print(f"Not {', '.join(unsuited)}: {reason}.")
    print(f"{path} is read as {recipe.format}:")
    for name, value in recipe.to_dict().items():
        if value not in (None, [], {}):
            print(f"  {name}: {value}")


def _found(what: str) -> tuple[Path | None, RemoteSet | None]:
    """Return the file of a name or path, or None if a set of the archives is not in the cache."""
    if Path(what).exists():
        return Path(what), None
    if what in REMOTE_SETS:
        return cached(REMOTE_SETS[what]), REMOTE_SETS[what]
    raise DataError(f"there is no file {quoted(what)}, and no set of that name (see: dsg-lab data list)")


def _recipe(file: File, given: argparse.Namespace, remote: RemoteSet | None) -> Recipe:
    """Return the guessed recipe, changed by the arguments and by the set's own entry."""
    said = reading_of(given)
    if remote is not None:
        said |= {"target": said["target"] or remote.label, "drop": [*said["drop"], *remote.ignored]}
    return file.recipe(given.labels, **said)


def _convert(given: argparse.Namespace) -> None:
    path, _ = _found(given.what)
    if path is None:
        raise DataError(f"{given.what} is not in the cache: dsg-lab data fetch {given.what}")
    said = {name: value for name, value in reading_of(given).items() if name in _OF_TEXT and value is not None}
    recipe = sniff_format(streamed(Source.of_path(path), IN_PIECES), **said)
    progress = None if given.quiet else _now_and_then("{}: {:,} rows".format, time.monotonic())
    n = convert_file(path, given.folder, recipe, progress=progress)
    if not given.quiet:
        print(f"{given.folder}: {n:,} rows as Parquet")

"""The command ``dsg-lab data``: list, fetch, describe, convert."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dsgcore.cli.ending import note
from dsgcore.cli.help_page import MISSING_WORDS_HELP, UNLABELED_HELP, columns, help_page, place
from dsgcore.cli.places import check_folder, holds_fields
from dsgcore.core.parameters import quoted
from dsgcore.core.text_files import cache_folder
from dsgcore.data.conversions import LABELS
from dsgcore.data.converting import DESCRIPTION, POINTS, convert_file, describe_file, sniff_file
from dsgcore.data.datasets import DataError
from dsgcore.data.downloads import REMOTE_SETS, RemoteSet, cached, fetch, remote_set
from dsgcore.data.reading import MISSING, Recipe
from dsgcore.data.reading.limits import shown_size
from dsgcore.data.reading.names import listed_names
from dsgcore.data.reading.unlabeled import AUTO
from dsgcore.data.registry import DATASETS

_LINE_SECONDS = 0.5
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
        "write a set or a file as a float32 memory map",
        "Write a set or a file as a float32 memory map. It is read in pieces, so it need not fit in memory.",
        f"convert {_TABLE} --out iris --labels binary --positive setosa",
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
    make.add_argument("--out", type=place, required=True, metavar="DIR", help="folder for X.npy, y.npy and data.json")
    make.add_argument("--quiet", action="store_true", help="print nothing but errors")
    for reader in (tell, make):
        _add_reading_arguments(reader)


def _add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels", choices=LABELS, default="classes", help="kind of labels to learn from (default: classes)"
    )
    parser.add_argument("--target", metavar="COLUMN", help="label column (default: it is guessed)")
    parser.add_argument(
        "--features", metavar="A,B,..", help="feature columns (default: all except an index, dates and the like)"
    )
    parser.add_argument(
        "--category",
        action="extend",
        type=columns,
        default=[],
        metavar="A,B,..",
        help="columns of categories; can be repeated",
    )
    parser.add_argument(
        "--drop",
        action="extend",
        type=columns,
        default=[],
        metavar="A,B,..",
        help="leave out these columns; can be repeated",
    )
    parser.add_argument("--missing-words", metavar="A,B,..", help=MISSING_WORDS_HELP)
    parser.add_argument("--unlabeled", default=AUTO, metavar="LABEL", help=UNLABELED_HELP)
    parser.add_argument("--positive", metavar="LABEL", help="positive label, for --labels binary")
    parser.add_argument("--bins", type=int, metavar="K", help="cut a numeric label into this many bins")
    parser.add_argument("--missing", choices=MISSING, help="treatment of missing numbers (default: mean)")


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
    recipe = _recipe(path, given, remote)
    described = describe_file(path, recipe, given.labels)
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


def _recipe(path: Path, given: argparse.Namespace, remote: RemoteSet | None) -> Recipe:
    """Return the guessed recipe, changed by the arguments and by the set's own entry."""
    plain = sniff_file(
        path,
        given.labels,
        given.target or (remote.label if remote else None),
        features=listed_names(given.features),
        category=given.category,
        drop=[*given.drop, *(remote.ignored if remote else ())],
        missing_words=listed_names(given.missing_words),
        unlabeled=given.unlabeled,
    ).to_dict()
    plain |= {name: value for name in ("positive", "bins", "missing") if (value := getattr(given, name)) is not None}
    return Recipe.from_dict(plain)


def _convert(given: argparse.Namespace) -> None:
    path, remote = _found(given.what)
    if path is None:
        raise DataError(f"{given.what} is not in the cache: dsg-lab data fetch {given.what}")
    recipe = _recipe(path, given, remote)
    check_folder(given.out, (POINTS, "y.npy", DESCRIPTION), [path], _is_own)
    progress = None if given.quiet else _now_and_then("{}: {:,} rows".format, time.monotonic())
    made = convert_file(path, given.out, recipe, labels=given.labels, progress=progress)
    if not given.quiet:
        print(*made.report, sep="\n")
        print(f"{made.points}: {made.n:,} x {made.d:,}, float32; np.load(..., mmap_mode='r') maps it")


def _is_own(file: Path) -> bool:
    return holds_fields(file, DESCRIPTION, {"feature_names", "report"})

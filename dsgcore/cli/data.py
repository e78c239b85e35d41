"""The command ``dsg-lab data``: list, fetch, describe, convert."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from dsgcore.cli.ending import Made, Progress
from dsgcore.cli.options import options_given, reading_of
from dsgcore.core.cost import per_cent
from dsgcore.core.files import cache_folder
from dsgcore.core.parameters import counted, quoted
from dsgcore.data.archive_sets import REMOTE_SETS, RemoteSet, cached, fetch, remote_set
from dsgcore.data.converting import convert_file, describe_file
from dsgcore.data.datasets import DataError
from dsgcore.data.reading import File, Source, sniff_format
from dsgcore.data.reading.recipe import IN_PIECES, shown_size
from dsgcore.data.reading.sources import files_of, streamed, telling
from dsgcore.data.sets import DATASETS
from dsgcore.experiments import SETTINGS

_OF_TEXT = ("header", "below", "delimiter", "decimal", "encoding", "missing_words")


def list_sets(given: argparse.Namespace) -> Made:
    """List the sets of the package and of the archives."""
    lines, plain = ["With the package:"], {"package": list[Any](), "archives": list[Any]()}
    for one in DATASETS.values():
        lines.append(f"  {one.name:<18} {one.n:>11,} x {one.d:<6,} {one.title}")
        plain["package"].append({"name": one.name, "title": one.title, "rows": one.n, "columns": one.d})
    lines += ["", "In public archives (fetched by name):"]
    for name, remote in REMOTE_SETS.items():
        file, size = cached(remote), f"{remote.n:>11,} x {remote.d:<6,}"
        there = "fetched" if file else ""
        lines.append(f"  {name:<18} {size} {remote.archive:<13} {remote.title:<24} {there}".rstrip())
        about = {"name": name, "title": remote.title, "rows": remote.n, "columns": remote.d, "file": file}
        plain["archives"].append(about)
    lines += ["", f"The cache is {cache_folder()} (DSGLAB_CACHE names another folder)."]
    return Made({**plain, "cache": cache_folder()}, "\n".join(lines), is_result=True)


def fetch_sets(given: argparse.Namespace) -> Made:
    """Download sets of the archives."""
    sets = [remote_set(name) for name in given.names]  # a wrong name is reported before any download begins
    line = Progress(is_quiet=given.quiet)

    def show(name: str, have: int, total: int | None) -> None:
        of = f" of {shown_size(total)} ({per_cent(have / total)})" if total else ""
        line.show(f"{name}: {shown_size(have)}{of}")

    files = {one.name: fetch(one, progress=partial(show, one.name)) for one in sets}
    return Made({"files": files}, "\n".join(map(str, files.values())), is_result=True)


def describe(given: argparse.Namespace) -> Made:
    """Describe a set or a file, and say how it would be read."""
    if given.what in DATASETS and not Path(given.what).exists():
        entry = DATASETS[given.what]
        size = f"{entry.n:,} rows, {entry.d:,} columns, {len(entry.class_names)} classes"
        text = f"{entry.title}: {size}.\n{entry.sentence}\nSource: {entry.source}. Licence: {entry.licence}."
        return Made({"name": entry.name, "rows": entry.n, "columns": entry.d}, text, is_result=True)
    path, remote = _found(given.what)
    lines, said = list[str](), reading_of(given)
    if remote is not None:
        classes = f"{remote.classes} classes" if remote.classes else "a number to predict"
        lines.append(f"{remote.title}, {remote.archive}: {remote.n:,} rows, {remote.d:,} columns, {classes}.")
        lines.append(remote.use)
        lines.append(f"Licence: {remote.licence}. {remote.address}")
        said |= {"target": said["target"] or remote.label, "drop": [*said["drop"], *remote.ignored]}
    if path is None:
        return Made(
            text="\n".join([*lines, f"It is not in the cache: dsg-lab data fetch {given.what}"]), is_result=True
        )
    file = File.of_path(path)
    recipe = file.recipe(given.labels, **said)
    described = describe_file(file, recipe, given.labels)
    names = (problem.citation.split(",")[0].replace("-", "") for problem in SETTINGS.values())  # those of the classes
    suited = {n: described.refusals[p.labels] for n, p in zip(names, SETTINGS.values(), strict=True)}
    lines += [*described.sentences(), f"Suits {', '.join(name for name, reason in suited.items() if not reason)}."]
    for reason in dict.fromkeys(filter(None, suited.values())):
        lines.append(f"Not {', '.join(name for name, own in suited.items() if own == reason)}: {reason}.")
    lines.append(f"{path} is read as {recipe.format}:")
    plain = recipe.to_dict()
    lines += [f"  {name}: {value}" for name, value in plain.items() if value not in (None, [], {})]
    facts = {"rows": described.n, "missing": described.missing, "classes": described.class_sizes}
    return Made({"file": path, "recipe": plain, "notes": described.notes, **facts}, "\n".join(lines), is_result=True)


def _found(what: str) -> tuple[Path | None, RemoteSet | None]:
    """Return the file of a name or path, or None if a set of the archives is not in the cache."""
    if Path(what).exists():
        return Path(what), None
    if what in REMOTE_SETS:
        return cached(REMOTE_SETS[what]), REMOTE_SETS[what]
    if what in DATASETS:
        raise DataError(f"{what} comes with the package, and is no file: `dsg-lab compare {what}` and specs know it")
    raise DataError(f"there is no file {quoted(what)}, and no set of that name (see: dsg-lab data list)")


def convert(given: argparse.Namespace) -> Made:
    """Write a file as a folder of Parquet files."""
    path, _ = _found(given.what)
    if path is None:
        raise DataError(f"{given.what} is not in the cache: dsg-lab data fetch {given.what}")
    if ignored := options_given(given, _OF_TEXT):
        raise DataError(f"{', '.join(ignored)}: not for convert, which writes each column as it is: give it to fit")
    said = {name: value for name, value in reading_of(given).items() if name in _OF_TEXT and value is not None}
    files = [Source.of_path(path)] if path.is_file() else files_of(path)
    first, others = (
        (streamed(one, IN_PIECES) for one in files) for _ in range(2)
    )  # one after the other, not all in memory
    recipe = sniff_format(telling(first), others, **said)
    line = Progress(is_quiet=given.quiet)
    n = convert_file(
        path, given.folder, recipe, progress=lambda doing, so_far: line.show(f"{doing}: {counted(so_far, 'row')}")
    )
    return Made({"folder": given.folder, "rows": n}, f"{given.folder}: {counted(n, 'row')} as Parquet")

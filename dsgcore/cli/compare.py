"""Commands ``compare``, ``label`` and ``reproduce``: which method to use, classes of unlabeled rows, and a paper's figure."""

from __future__ import annotations

import argparse
import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dsgcore.cli.ending import NO, Made, Progress, note
from dsgcore.cli.options import client_of, options_given, reading_of
from dsgcore.comparing.label import label as label_data
from dsgcore.comparing.report import html_of, text_of
from dsgcore.comparing.reproductions import (
    NOT_RUN,
    REPRODUCED,
    carry_out_reproduction,
    how_to_get,
    kept,
    reproduction,
    reproductions,
)
from dsgcore.comparing.result import Comparison
from dsgcore.comparing.rounds import compare as compare_methods
from dsgcore.core.cost import duration_text
from dsgcore.core.errors import DSGError
from dsgcore.core.files import whole_file
from dsgcore.core.parameters import counted, quoted
from dsgcore.data import DATASETS, DataError, load
from dsgcore.data.datasets import Dataset
from dsgcore.data.reading import File, Recipe
from dsgcore.studies.store import Store, default_store


def compare(given: argparse.Namespace) -> Made:
    """Compare the methods on a file or a named set, and write the results; the exit code is 0 with a verdict, else 1."""
    data, points, recipe = data_of_command(given)
    line, end = Progress(is_quiet=given.quiet), time.monotonic() + given.seconds

    def tell(so_far: Comparison) -> None:
        n = sum(bool(so_far.scores(name)) for name in so_far.methods)
        best = f", best so far: {so_far.best}" if so_far.best else ""
        left = duration_text(max(0.0, end - time.monotonic()))
        line.show(
            f"{counted(len(so_far.fits), 'fit')}, {n} of {len(so_far.methods)} methods{best}, at most {left} left"
        )

    try:
        with client_of(given.dask) if given.dask else nullcontext() as client:
            found = compare_methods(
                *(points, data.y),
                recipe=recipe,
                class_names=data.class_names,
                n_labeled=given.n_labeled,
                seeds=given.seeds,
                seconds=given.seconds,
                score=given.score,
                methods=given.methods,
                ordered=given.ordered,
                curves=not given.no_curves,
                store=given.store or default_store(),
                jobs=given.jobs,
                client=client,
                name=data.name,
                callback=tell,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("finished fits are kept, and the same command continues") from None
    for file, table in ((given.csv, found.to_csv), (given.html, lambda: html_of(found))):
        if file is not None:
            with whole_file(file) as to:
                to.write(table())
    named = (given.json, given.csv, given.html)
    written = [str(file) for file in named if file is not None and str(file) != "-"]
    text = text_of(found) + (f"\nThe files are written: {', '.join(written)}." if written and not given.quiet else "")
    return Made(found.to_dict(), text, NO if found.verdict.recommended is None else 0, is_result=True)


def data_of_command(given: argparse.Namespace) -> tuple[Dataset, Any, Recipe | None]:
    """Return the labels of the command's file or named set, its points or rows, and the recipe of a file."""
    path = Path(given.data)
    if not path.exists():
        if given.data in DATASETS:
            if ignored := options_given(given):
                raise DataError(f"{', '.join(ignored)}: for a file only, and {given.data} comes with the package")
            data = load(given.data)
            return data, data.X, None
        raise DataError(f"there is no file {quoted(given.data)}, and no set of that name (see: dsg-lab data list)")
    given.ordered = given.ordered or bool(given.order and given.positive is None)
    if given.ordered and given.positive is not None:
        raise DataError("--positive makes two classes, which --ordered does not compare: give one of them")
    labels = "ordinal" if given.ordered else "classes" if given.positive is None else "binary"
    file = File.of_path(path)
    recipe = file.recipe(labels, is_asked=True, **reading_of(given))
    return file.labels(recipe, labels), file.kept(recipe), recipe


def label(given: argparse.Namespace) -> Made:
    """Label the unlabeled rows of a file, and write them to a CSV file."""
    if not given.data.exists():
        raise DataError(f"there is no file {str(given.data)!r}")
    line = Progress(is_quiet=given.quiet)
    found = label_data(
        given.data,
        method=given.method,
        ordered=given.ordered,
        ask=given.ask,
        keep=given.keep or (),
        seconds=given.seconds,
        report=line.show,
        **reading_of(given),
    )
    if not given.quiet and found.notes:
        note("\n".join(found.notes))
    with whole_file(given.out) as to:
        to.write(found.to_csv())
    return Made(found.to_dict() | {"out": given.out}, f"{found.report}\nThe rows are in {given.out}.", is_result=True)


def reproduce(given: argparse.Namespace) -> Made:
    """Measure a figure, or list all with their kept verdicts; the exit code is 0 if the paper's claim is reproduced, else 1."""
    if given.list:
        every = {name: kept(asked) for name, asked in reproductions().items()}
        text = "\n".join(f"{name:<26}{found.outcome:<20}  {found.size}" for name, found in every.items())
        figures = {name: {"says": found.asked.says, "outcome": found.outcome} for name, found in every.items()}
        return Made({"figures": figures}, text, is_result=True)
    if given.name is None:
        raise DSGError("name a figure, such as auc/fig1, or give --list")
    if given.data is not None and not given.data.is_dir():
        raise DSGError(f"--data must be a folder, got {given.data}")
    asked, progress = reproduction(given.name, is_quick=given.quick), Progress(is_quiet=given.quiet)
    with client_of(given.dask) if given.dask else nullcontext() as client:
        store = Store(given.store or default_store())  # made when all else is checked
        found = carry_out_reproduction(
            asked, given.data, store, client=client, report=lambda so_far: progress.part(*so_far)
        )
    data = {"figure": asked.name, "says": asked.says, "quick": given.quick, "outcome": found.outcome}
    data |= {"checks": [asdict(check) | {"state": check.state} for check in found.checks]}
    data |= {"fits": found.fits.to_dict("records"), "missing": found.missing}
    lines = [f"{asked.name}: {found.outcome}. The paper: {asked.says}", asked.checked]
    lines += [f"  {check.state:<5}  {check.words}" for check in found.checks]
    lines += [f"Left out: {', '.join(found.missing)}. {how_to_get(found.missing)}"] if found.missing else []
    # The words are on the kept fits.
    lines += [f"In the kept fits, of the full form: {asked.why}" if given.quick else asked.why] if asked.why else []
    lines += [f"{asked.seeds} seeds, 95 % intervals over them; seconds are the processor's, in one thread."]
    if found.outcome == NOT_RUN:
        lines = [f"{asked.name}: not run. {how_to_get(found.missing)} The option --data names a folder with NAME.npz."]
    return Made(data, "\n".join(lines), 0 if found.outcome == REPRODUCED else NO, is_result=True)

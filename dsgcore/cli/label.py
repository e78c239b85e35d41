"""Command ``dsg-lab label DATA --target COLUMN --out FILE``: classes of the unlabeled rows, and how good they are."""

from __future__ import annotations

import argparse

from dsgcore.cli.ending import Line, Made, note
from dsgcore.cli.options import listed_names, reading_of
from dsgcore.cli.places import check_files, json_file
from dsgcore.comparing.label import COLUMNS
from dsgcore.comparing.label import label as label_data
from dsgcore.core.files import whole_file
from dsgcore.data import DataError


def label(given: argparse.Namespace) -> Made:
    """Label the unlabeled rows of a file, and write them to a CSV file."""
    if not given.data.exists():
        raise DataError(f"there is no file {str(given.data)!r}")
    check_files({"--out": (given.out, ",".join(COLUMNS))} | json_file(given), [given.data])
    line = Line(is_quiet=given.quiet)
    found = label_data(
        given.data,
        method=given.method,
        ordered=given.ordered,
        ask=given.ask,
        keep=listed_names(given.keep) or (),
        seconds=given.seconds,
        report=line.show,
        **reading_of(given),
    )
    if not given.quiet and found.notes:
        note("\n".join(found.notes))
    with whole_file(given.out) as to:
        to.write(found.to_csv())
    return Made(found.to_dict() | {"out": given.out}, f"{found.report}\nThe rows are in {given.out}.", is_result=True)

"""Shared parts of the benchmarks: command line, Markdown tables, kept rows, the machine, and the folder of data."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def command_line(doc: str | None, what: Iterable[str] = (), **options: Any) -> argparse.Namespace:
    """Read the command line.

    Parameters
    ----------
    doc : str
        The script's docstring, which explains each option.
    what : iterable of str
        Words without dashes: some of them may be given, and none means all.
    **options
        For each option its default, its type (None unless given), or the words it may be, the default first.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = list(what)
    if what:
        parser.add_argument("what", nargs="*", choices=what)
    for name, value in options.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **_kind(value))
    given = parser.parse_args()
    given.what = getattr(given, "what", []) or what
    return given


def _kind(value: Any) -> dict[str, Any]:
    if value is False:
        return {"action": "store_true"}
    if callable(value):
        return {"type": value}
    if isinstance(value, tuple):
        return {"choices": value, "default": value[0]}
    if isinstance(value, list):
        return {"nargs": "*", "type": type(value[0]) if value else str, "default": value}
    return {"type": type(value), "default": value, "help": "(default: %(default)s)"}


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows))


def show(text: str, file: Path | None = None) -> None:
    """Print a text; write it into the file, if there is one."""
    print(text, flush=True)
    if file is not None:
        file.write_text(text + "\n", encoding="utf-8")


def machine() -> str:
    """Return the processor, and the versions of the libraries that compute."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    own = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    versions = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "scipy", "numba"))
    return f"{platform.machine()}, {own}, {os.cpu_count()} cores, with Python {platform.python_version()}, {versions}"


def data_file(name: str) -> Path:
    """Return a set's file, NAME.npz in the folder that DSGLAB_DATA names, or in ../shared/data beside the project."""
    return Path(os.environ.get("DSGLAB_DATA") or Path(__file__).parents[3] / "shared" / "data") / f"{name}.npz"


def arrays_of(name: str) -> dict[str, NDArray]:
    """Return the arrays of a set's file."""
    with np.load(data_file(name), allow_pickle=False) as held:
        return dict(held)

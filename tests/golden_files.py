"""Results that are kept in tests/golden/: whatever a change moves, a test shows, line by line.

A fault that no other test expects moves a line, too. A change that is meant moves lines as well: write them anew, and read what
`git diff` says of them, with ``DSGLAB_WRITE_GOLDEN=all python -m pytest tests/test_golden_*.py``. Lines that another processor
moves are then to be loosened, with ``DSGLAB_WRITE_GOLDEN=loose`` and each of `PROCESSORS` in the environment.
"""

import os
import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from difflib import SequenceMatcher
from enum import Enum
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).parent / "golden"
WRITE = "DSGLAB_WRITE_GOLDEN"
# A line that depends on the processor, and environments that are as others.
LOOSE = "~"
PROCESSORS = (
    {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "Haswell"},
    {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "Sandybridge"},
    {"OPENBLAS_CORETYPE": "Zen"},
    {"OPENBLAS_CORETYPE": "SkylakeX"},
    {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
)
# Decimal fractions may differ by so much of their size, or by one unit of their last digit: another processor rounds otherwise.
# Those after # are exact.
NEAR = 1e-3
_FRACTION = re.compile(r"(?<![\w.#])[-\N{MINUS SIGN}]?\d[\d,]*\.\d+(?:e[-+\N{MINUS SIGN}]?\d+)?")
_MOST_SHOWN = 12
LONGEST = 390


def check(name, lines):
    """Compare lines of text with those kept in golden/NAME.txt, or keep them."""
    file, lines = FOLDER / f"{name}.txt", [line for text in lines for line in str(text).rstrip().splitlines() or [""]]
    how = os.environ.get(WRITE, "")
    if how == "all":
        FOLDER.mkdir(exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        (FOLDER / "versions.txt").write_text("\n".join(_versions()) + "\n", encoding="utf-8")
        return
    kept = file.read_text(encoding="utf-8").splitlines()
    moved, held, words = [], [], [[_FRACTION.sub("#", line) for line in text] for text in (kept, lines)]
    for kind, *(a, b, c, d) in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        then, now = kept[a:b], lines[c:d]
        pairs = [*zip_longest(then, now, fillvalue="(no line)")] * ({*then} != {LOOSE})
        new = [(a + i, *pair) for i, pair in enumerate(pairs) if kind != "equal" or not _are_near(*pair)]
        moved += [one for one in new if one[1] != LOOSE]
        held += [LOOSE] if kind != "equal" else [LOOSE if not _are_near(*pair) else pair[0] for pair in pairs]
    if how == "loose":
        file.write_text("\n".join(held) + "\n", encoding="utf-8")
        return
    said = [f"{file.name}:{number + 1}\n  was {then}\n  is  {now}" for number, then, now in moved[:_MOST_SHOWN]]
    if moved and (
        others := set((FOLDER / "versions.txt").read_text(encoding="utf-8").split("\n")) ^ {*_versions(), ""}
    ):
        pytest.skip(f"results are kept for other versions than {', '.join(sorted(others))}, and some moved")
    assert not moved, "\n".join(["lines that moved:", *said, f"{len(moved)} in all; {WRITE}=all keeps them"])


def _versions():
    """Return what the kept texts and numbers depend on: the system, and the packages whose results they show."""
    names = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "numba", "plotly", "streamlit")
    own = [f"{name} {'.'.join(version(name).split('.')[:2])}" for name in names]
    return [f"{sys.platform} {platform.machine()}", *own]


def _are_near(then, now):
    """Return True for lines of the same words and whole numbers whose fractions are nearly equal."""
    return then == now or all(map(_is_near, _FRACTION.findall(then), _FRACTION.findall(now)))


def _is_near(then, now):
    one, other = (float(text.replace(",", "").replace("\N{MINUS SIGN}", "-")) for text in (then, now))
    digits, _, power = then.replace("\N{MINUS SIGN}", "-").partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return abs(one - other) <= 1.01 * unit + NEAR * abs(one)


def keep(name, lines):
    """Check lines, the long ones in pieces."""
    lines = [line.replace(" nan 0 size", "").replace("-0.0000", "0.0000") for line in lines]  # 0 has no sign
    check(name, [line[i : i + LONGEST] for line in lines for i in range(0, max(1, len(line)), LONGEST)])


def summary(values):
    """Return an array in a line: shape, kind, and sums that tell exchanged, moved or scaled values."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiub":
        return f"{values.shape} {values.dtype.kind} {' '.join(map(str, values.ravel()[:8]))}"
    flat = values.astype(float).ravel()
    gaps, flat = int(np.isnan(flat).sum()), np.nan_to_num(flat)
    size = float(np.abs(flat).sum())
    shares = [float(flat @ ramp) / (size or 1.0) for ramp in (np.ones(flat.size), np.cos(np.arange(flat.size)))]
    return f"{values.shape} {values.dtype.kind} nan {gaps} size {size:.4e} sum {shares[0]:z.4f} place {shares[1]:z.4f}"


# What another run, machine or version would give otherwise, or is long.
UNSTEADY = ("seconds", "megabytes", "memory", "versions", "sha256", "spec_sha256", "missing_words")
_WIDTH = 360


def lines_of(name, value):
    """Return lines that name a value and show it, each short enough to be read."""
    text = f"{name}: {shown(value)}"
    return [text[first : first + _WIDTH] for first in range(0, len(text), _WIDTH)]


def tried(name, function, *arguments, **options):
    """Return lines that show what a function returns, or its error."""
    try:
        return lines_of(name, function(*arguments, **options))
    except Exception as error:
        return lines_of(name, f"{type(error).__name__}: {error}")


def shown(value):
    """Return a value in a line: four digits of fractions, short arrays whole, long ones as a summary, records by their fields."""
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, bool | np.bool_ | int | np.integer | str):
        return str(value)
    if isinstance(value, float | np.floating):
        value = 0.0 if abs(value) < 1e-12 else float(value)
        return f"{value:.3e}" if 1000 <= abs(value) < np.inf or 0 < abs(value) < 1e-3 else f"{value:#.4g}"
    if isinstance(value, np.ndarray):
        return shown(value.tolist()) if value.size <= 4 else _in_short(value)
    if isinstance(value, pd.DataFrame):
        return shown({name: value[name].tolist() for name in value})
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__ + shown({one.name: getattr(value, one.name) for one in fields(value)})
    if hasattr(value, "items"):
        return f"{{{', '.join(f'{name} {shown(own)}' for name, own in value.items() if name not in UNSTEADY)}}}"
    if isinstance(value, set | frozenset):
        return shown(sorted(value))
    return f"[{', '.join(map(shown, value))}]" if isinstance(value, Iterable) else type(value).__name__


def _in_short(values):
    """Return the shape of an array, its mean size, and two sums that tell exchanged or moved values."""
    if values.dtype.kind not in "fiub":
        return summary(values)
    flat = values.astype(float).ravel()
    gaps, flat = int(np.isnan(flat).sum()), np.nan_to_num(flat, posinf=0.0, neginf=0.0)
    size, ramps = np.abs(flat).mean(), (np.ones(flat.size), np.cos(np.arange(flat.size)))
    shares = [f"{float(flat @ ramp) / flat.size / (size if size > 1e-12 else 1.0):z.4f}" for ramp in ramps]
    return f"{'x'.join(map(str, values.shape))}{f' nan {gaps}' * bool(gaps)} ({shown(size)} {' '.join(shares)})"

"""Results that are kept in tests/golden/: whatever a change moves, a test shows, line by line.

A fault that no other test expects moves a line, too. A change that is meant moves lines as well: write them anew, and read what
`git diff` says of them, with ``DSGLAB_WRITE_GOLDEN=1 python -m pytest tests/test_golden_*.py``.
"""

import os
import re
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "golden"
WRITE = "DSGLAB_WRITE_GOLDEN"
# Decimal fractions may differ by so much of their size, or by one unit of their last digit: another processor rounds otherwise.
NEAR = 1e-3
_FRACTION = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?:e[-+\N{MINUS SIGN}]?\d+)?")
_MOST_SHOWN = 12


def check(name, lines):
    """Compare lines of text with those kept in golden/NAME.txt, or keep them."""
    file, lines = FOLDER / f"{name}.txt", [line for text in lines for line in str(text).rstrip().splitlines() or [""]]
    if os.environ.get(WRITE):
        FOLDER.mkdir(exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    kept = file.read_text(encoding="utf-8").splitlines()
    moved = [
        f"{file.name}:{number}\n  was {then}\n  is  {now}"
        for number, (then, now) in enumerate(zip(kept, lines, strict=False), start=1)
        if not _same(then, now)
    ]
    moved += [f"{file.name} has {len(kept)} lines, and now {len(lines)}"] * (len(kept) != len(lines))
    assert not moved, "\n".join(
        ["lines that moved:", *moved[:_MOST_SHOWN], f"{len(moved)} in all; {WRITE}=1 keeps them"]
    )


def _same(then, now):
    """Return True for lines with equal words and whole numbers, and nearly equal fractions."""
    if then == now:
        return True
    if _FRACTION.sub("#", then) != _FRACTION.sub("#", now):
        return False
    return all(map(_are_near, _FRACTION.findall(then), _FRACTION.findall(now)))


def _are_near(then, now):
    one, other = (float(text.replace(",", "").replace("\N{MINUS SIGN}", "-")) for text in (then, now))
    digits, _, power = then.replace("\N{MINUS SIGN}", "-").partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return abs(one - other) <= 1.01 * unit + NEAR * abs(one)


def summary(values):
    """Return an array in a line: shape, kind, and sums that tell exchanged, moved or scaled values."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiub":
        return f"{values.shape} {values.dtype.kind} {' '.join(map(str, values.ravel()[:8]))}"
    flat = values.astype(float).ravel()
    gaps, flat = int(np.isnan(flat).sum()), np.nan_to_num(flat)
    size = float(np.abs(flat).sum())
    shares = [float(flat @ ramp) / (size or 1.0) for ramp in (np.ones(flat.size), np.cos(np.arange(flat.size)))]
    return f"{values.shape} {values.dtype.kind} nan {gaps} size {size:.4e} sum {shares[0]:.4f} place {shares[1]:.4f}"

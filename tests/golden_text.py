"""Any value, call and its warnings as short text, for the golden results of numbers."""

import dataclasses
import re
import textwrap
import warnings
from enum import Enum

import golden_files
import numpy as np
import pandas as pd
import scipy.sparse

from dsgcore.core.errors import DSGError
from dsgcore.solver.model import Expansion

WIDEST = 390


def text(value, depth=0):
    """Return any value as short text: rounded numbers, sums of arrays, the fields of records."""
    if isinstance(value, float | np.floating):
        return str(float(value)) if not np.isfinite(value) else "0.0" if abs(value) < 1e-7 else f"{value:#.4g}"
    if isinstance(value, np.ndarray) and value.size <= 6 and value.dtype.kind in "fiubU":
        return f"{value.dtype.kind}{value.shape} " + " ".join(_small(value))
    if isinstance(value, np.ndarray | pd.Series | pd.Index):
        values = np.asarray(value)
        if values.dtype.kind in "fiub":
            return golden_files.summary(values).replace(" nan 0 size", "").replace(" sum", "").replace(" place", "")
        names, codes = np.unique(values.astype(str), return_inverse=True)
        return f"{values.dtype.kind} {' '.join(names[:9].tolist())} {text(codes)}"
    if scipy.sparse.issparse(value):
        return f"sparse {value.nnz} {golden_files.summary(value.toarray())}"
    if isinstance(value, Expansion):
        sizes = [block.shape[1] for block in value.blocks]
        joined = np.concatenate([block[0] for block in value.blocks]) if sizes else np.zeros(0)
        kind = f"{text(value.kernel)} {value.dtype} {value.is_fixed} sizes {sizes[:3]} of {len(sizes)}"
        return f"{kind} {text(joined)} decays {text(np.array(value.decays))}"
    if isinstance(value, pd.DataFrame):
        return "table " + ", ".join(f"{name} {text(value[name].to_numpy())}" for name in value)
    if dataclasses.is_dataclass(value) and depth < 3 and not hasattr(value, "get_params"):
        own = {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
        return type(value).__name__ + text({k: v for k, v in own.items() if not callable(v)}, depth + 1)
    if isinstance(value, slice | Enum):
        return f"{value.start}:{value.stop}" if isinstance(value, slice) else value.name
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {text(each, depth + 1)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        more = f" .. {len(value)}" * (len(value) > 8)
        return "[" + ", ".join(text(each, depth + 1) for each in value[:8]) + more + "]"
    return str(value) if value is None or isinstance(value, str | int | bool | np.generic) else type(value).__name__


def _small(values):
    values = np.asarray(values)
    if values.dtype.kind != "f":
        return map(str, values.ravel())
    if np.nanmax(np.abs(values), initial=0.0) >= 1e6:
        return (f"{each:.3e}" for each in values.ravel().tolist())
    digits = max(0, 4 - int(np.floor(np.log10(max(float(np.nanmax(np.abs(values), initial=1e-9)), 1e-9)))))
    return (f"{0.0 if abs(each) < 10.0**-digits else each:.{digits}f}" for each in values.ravel().tolist())


def _short(argument):
    """Return an argument in a word: arrays by their shape, records by their class."""
    if isinstance(argument, str | int | float | np.generic) or argument is None:
        return text(argument)
    if isinstance(argument, list | tuple | dict) and not any(np.ndim(one) for one in argument):
        return text(argument)
    return str(getattr(argument, "shape", type(argument).__name__))


def said(call, *arguments, **given):
    """Return what a call gives as text: its result, or its error, and its warnings. Other packages' sentences are left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = text(call(*arguments, **given))
        except Exception as error:
            found = f"{type(error).__name__}: {error}" if isinstance(error, DSGError) else type(error).__name__
    kinds = (FutureWarning, DeprecationWarning, RuntimeWarning)
    told = sorted(
        f"{each.category.__name__}: {each.message}"
        for each in caught
        if not issubclass(each.category, kinds) and "sklearn" not in each.filename
    )
    return " !! ".join([found, *told])


def asked_all(rows):
    """Return a line for each row of a function and its arguments: what it gives."""
    lines = []
    for function, *arguments in rows:
        given = arguments.pop() if arguments and isinstance(arguments[-1], dict) and arguments[-1].pop("", None) else {}
        name = re.split("(?:<locals>|<listcomp>)[.]", getattr(function, "__qualname__", type(function).__name__))[-1]
        shown = f"{' '.join(map(_short, arguments))[:60]} {text(given) if given else ''}"
        lines.append(f"{name} {shown} -> {said(function, *arguments, **given)}")
    return lines


def check(name, lines):
    """Compare lines with those that are kept; a longer one than 390 characters goes on in the next."""
    every = [line.rstrip() for text in lines for line in str(text).splitlines()]
    golden_files.check(
        f"numbers_{name}",
        [
            part
            for line in every
            for part in textwrap.wrap(
                line,
                WIDEST,
                subsequent_indent="      ",
                drop_whitespace=False,
                break_on_hyphens=False,
                expand_tabs=False,
            )
            or [""]
        ],
    )

"""Scores from Parquet to Parquet: one output file per row group. Each is written completely, so a stopped job can resume."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data import DataError
from dsgcore.data.out_of_core import Preparation, Rows, rows_of
from dsgcore.models import load_model
from dsgcore.solver.model import points_at_a_time
from dsgcore.solver.model_files import ModelError

KEY = b"dsgcore"
# Row groups submitted to an executor ahead of their use.
MOST_WAITING = 16
PARTS_AT_ONCE = 2


@dataclass(frozen=True)
class _Task:
    """One part of the data, with all that another process needs to know."""

    model: str
    data: str
    features: tuple[str, ...] | None
    preparation: str  # as JSON, or empty
    digest: str  # identifies the model and the files: after a change they are opened again
    number: int
    to: str
    part: str  # its name, and its number of rows

    @property
    def key(self) -> str:
        """Cache key of the values in a file."""
        return f"{self.digest} {self.features} {self.preparation}{self.part}"


def score_parquet(
    model: Path,
    data: Path,
    out: Path,
    *,
    features: Sequence[str] | None = None,
    executor: Executor | None = None,
    tell: Callable[[int, int, int], object] = lambda done, of, new: None,
) -> int:
    """Write a model's values at the points of Parquet files, one file per row group; return the number of new files.

    Parameters
    ----------
    model : path
        A model file, as `Expansion.save` writes it; or the folder that ``dsg-lab fit`` has written. A folder
        also gives the columns and the preparation of rows.
    data : path
        A Parquet file, or a folder of them.
    out : path
        A folder. Files in it for the same model and data are kept, and not computed again.
    features : sequence of str, optional
        The feature columns, in their order; by default those of the folder, or all.
    executor : concurrent.futures.Executor, optional
        Other processes, which find the same files. By default this process, on all cores.
    tell : callable, optional
        Called with the number of finished parts, the number of all parts, and the number of new ones.

    Returns
    -------
    int

    Raises
    ------
    DSGError
        If the files, the model or the folder cannot be used.
    """
    model, named, preparation = _fitted(model)
    features = _tuple(features) or named
    stamp = _stamp(data)
    rows, d = _rows(str(data.resolve()), features, preparation, stamp, None), load_model(model).d
    if rows.shape[1] != d:
        raise DataError(f"the model needs {d} feature columns, got {rows.shape[1]}: choose them with --features")
    out.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(model.read_bytes() + stamp).hexdigest()
    task = partial(_Task, str(model.resolve()), str(data.resolve()), features, preparation, digest)
    tasks = list(_tasks(task, out, rows))
    missing = [task for task in tasks if not _is_there(task)]
    tell(len(tasks) - len(missing), len(tasks), 0)
    with ExitStack() as stack:
        if executor is None:  # one part is read or written while another one is evaluated on all cores
            executor = ThreadPoolExecutor(PARTS_AT_ONCE)
            stack.callback(executor.shutdown, cancel_futures=True)
        for new, _ in enumerate(_made(missing, executor), start=1):
            tell(len(tasks) - len(missing) + new, len(tasks), new)
    for left in out.glob("part-*.parquet.*.part"):  # left by a process that was killed while writing
        left.unlink(missing_ok=True)
    return len(missing)


def _tuple(features: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if features is None else tuple(features)


def _fitted(model: Path) -> tuple[Path, tuple[str, ...] | None, str]:
    """Return a model's file; for a folder that a fit has written also its columns and, as JSON, its preparation of rows."""
    if not model.is_dir():
        return model, None, ""
    try:
        said = json.loads((model / "fit.json").read_text(encoding="utf-8"))
        features, preparation = said["features"], said.get("preparation")
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            f"{quoted(str(model))} must be a model's file, or a folder that `dsgcore fit` has written"
        ) from None
    return model / "model.npz", _tuple(features) or None, "" if preparation is None else json.dumps(preparation)


def _tasks(task: Callable[..., _Task], out: Path, rows: Rows) -> Iterator[_Task]:
    for number, (name, n) in enumerate(rows.parts()):
        yield task(number, str((out / f"part-{number:06}.parquet").resolve()), f"{name} {n}")


def _stamp(data: Path) -> bytes:
    """Return a stamp that changes when one of the files does."""
    files = [data] if data.is_file() else sorted(data.rglob("*.parquet"))
    return repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]).encode()


def _is_there(task: _Task) -> bool:
    """Return True if a part's values exist; raise `DataError` if another file is in their place."""
    from pyarrow import parquet

    if not os.path.exists(task.to):
        return False
    try:
        key = (parquet.read_schema(task.to).metadata or {}).get(KEY, b"").decode()
    except (OSError, ValueError):
        key = ""
    if key != task.key:
        raise DataError(
            f"{quoted(task.to)} holds other data than this model's values at these points: choose another folder"
        )
    return True


def _made(tasks: Sequence[_Task], executor: Executor) -> Iterator[None]:
    """Do the tasks; yield after each."""
    waiting: list[Future[None]] = []
    for task in tasks:
        if len(waiting) == MOST_WAITING:
            yield waiting.pop(0).result()
        waiting.append(executor.submit(score_part, task))
    yield from (future.result() for future in waiting)


def score_part(task: _Task) -> None:
    """Write the values at one part's points, completely or not at all."""
    import pyarrow
    from pyarrow import parquet

    model = _model(task.model, os.stat(task.model).st_mtime_ns)
    rows = _rows(task.data, task.features, task.preparation, task.digest, model.dtype)
    pieces = rows.pieces(rows.rows_of_part(task.number), points_at_a_time(model.d))
    try:
        values = np.concatenate([model.evaluate(piece) for piece in pieces])
    except ModelError as error:
        raise DataError(f"{task.part}: {error}") from None
    table = pyarrow.table(_columns(values)).replace_schema_metadata({KEY: task.key.encode()})
    part = f"{task.to}.{os.getpid()}.part"
    parquet.write_table(table, part)
    os.replace(part, task.to)


def _columns(values: NDArray) -> dict[str, NDArray]:
    """Return the columns of a table: one score per point, or one per class."""
    if values.ndim == 1:
        return {"score": values}
    return {f"score {k}": np.ascontiguousarray(column) for k, column in enumerate(values.T)}


@lru_cache(maxsize=2)
def _model(file: str, changed: int) -> Any:
    return load_model(file)


@lru_cache(maxsize=2)
def _rows(
    data: str, features: tuple[str, ...] | None, preparation: str, as_of: str | bytes, dtype: np.dtype | None
) -> Rows:
    done = Preparation.from_dict(json.loads(preparation)) if preparation else None
    rows, _ = rows_of(data, features=features, preparation=done)
    return rows if dtype is None else rows.astype(dtype)

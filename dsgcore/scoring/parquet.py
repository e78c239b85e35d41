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

import numpy as np

from dsgcore.core.parameters import quoted
from dsgcore.data import DataError
from dsgcore.data.out_of_core import Preparation, Rows, rows_of
from dsgcore.scoring.fitted import MACHINE, MODEL, Fitted, facts_of
from dsgcore.solver.model import points_at_a_time
from dsgcore.solver.model_files import ModelError

KEY = b"dsgcore"
# Row groups submitted to an executor ahead of their use.
MOST_WAITING = 16
PARTS_AT_ONCE = 2


@dataclass(frozen=True)
class _Task:
    """One part of the data, with all that another process needs to know."""

    model: Fitted
    data: str
    features: tuple[str, ...] | None
    preparation: str  # as JSON, or empty
    digest: str  # identifies the model and the files: after a change they are opened again
    keep: tuple[str, ...]  # columns to copy from the data
    number: int
    to: str
    part: str  # its name, and its number of rows

    @property
    def key(self) -> str:
        """Cache key of the values in a file."""
        columns = f"{self.keep} " if self.keep else ""
        return f"{self.digest} {self.features} {columns}{self.model.decision}{self.preparation}{self.part}"


def score_parquet(
    model: Path,
    data: Path,
    out: Path,
    *,
    features: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    executor: Executor | None = None,
    tell: Callable[[int, int, int], object] = lambda done, of, new: None,
) -> int:
    """Write classes and scores of the points of Parquet files, one file per row group; return the number of new files.

    Parameters
    ----------
    model : path
        A model file, as `Expansion.save` writes it; or the folder that ``dsg-lab fit`` has written. A folder
        also gives the columns, the preparation of rows, and the classes.
    data : path
        A Parquet file, or a folder of them.
    out : path
        A folder. Files in it for the same model and data are kept, and not computed again.
    features : sequence of str, optional
        The feature columns, in their order; by default those of the folder, or all.
    keep : sequence of str, optional
        Columns of the data that the output has, too.
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
    fitted, named, preparation = _fitted(model)
    features = _tuple(features) or named
    stamp = _stamp(data)
    rows, d = _rows(str(data.resolve()), features, preparation, stamp, None), fitted.d
    if rows.shape[1] != d:
        raise DataError(f"the model needs {d} feature columns, got {rows.shape[1]}: choose them with --features")
    out.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(Path(fitted.file).read_bytes() + stamp).hexdigest()
    task = partial(_Task, fitted, str(data.resolve()), features, preparation, digest, tuple(keep))
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


def _fitted(model: Path) -> tuple[Fitted, tuple[str, ...] | None, str]:
    """Return a trained method; for a folder that a fit has written also its columns and, as JSON, its preparation of rows."""
    if not model.is_dir():
        return Fitted.of(model), None, ""
    said = facts_of(model)
    file = next((model / name for name in (MODEL, MACHINE) if (model / name).exists()), model / MODEL)
    preparation = said.get("preparation")
    return (
        Fitted.of(file, said),
        _tuple(said["features"]) or None,
        "" if preparation is None else json.dumps(preparation),
    )


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

    model = _model(task.model, os.stat(task.model.file).st_mtime_ns)
    rows = _rows(task.data, task.features, task.preparation, task.digest, model.dtype)
    pieces = rows.pieces(rows.rows_of_part(task.number), points_at_a_time(model.d))
    try:
        made = [model.scored(piece) for piece in pieces]
    except ModelError as error:
        raise DataError(f"{task.part}: {error}") from None
    columns = {name: rows.column_of_part(name, task.number) for name in task.keep}
    columns |= {name: np.concatenate([piece[name] for piece in made]) for name in made[0]}
    table = pyarrow.table(columns).replace_schema_metadata({KEY: task.key.encode()})
    part = f"{task.to}.{os.getpid()}.part"
    parquet.write_table(table, part)
    os.replace(part, task.to)


@lru_cache(maxsize=2)
def _model(model: Fitted, changed: int) -> Fitted:
    return Fitted(model.file, model.decision)  # reads its file once


@lru_cache(maxsize=2)
def _rows(
    data: str, features: tuple[str, ...] | None, preparation: str, as_of: str | bytes, dtype: np.dtype | None
) -> Rows:
    done = Preparation.from_dict(json.loads(preparation)) if preparation else None
    rows, _ = rows_of(data, features=features, preparation=done)
    return rows if dtype is None else rows.astype(dtype)

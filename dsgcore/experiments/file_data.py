"""A spec's data file: found in memory or on disk, checked by its digest, and read by its recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data import DataError, Dataset
from dsgcore.data.reading import LOCAL, File, Limits, Recipe, Source, Step, take_steps
from dsgcore.experiments.cost import Budget
from dsgcore.experiments.settings import DataSpec

SHOWN = 12  # characters of a digest
# Most files and results of a session: of steps that give points or a table, and of each other step.
MOST_FILES, MOST_OTHERS, MOST = 3, 12, {"points": 2, "kept": 1}


class FileStore:
    """The last few files of a session by their SHA-256, with the last results of reading each.

    `take` takes the steps of a file's reading. By default it is `take_steps`, in this process. `budget` limits all data that
    are loaded for the session; by default only the machine does.
    """

    def __init__(
        self, take: Callable[[bytes, str, Step], list[tuple[Step, Any]]] = take_steps, budget: Budget | None = None
    ) -> None:
        self._take, self.budget = take, budget
        self._contents: dict[str, bytes] = {}
        self._results: dict[tuple[str, Step], Any] = {}

    def add(self, content: bytes) -> str:
        """Store a file's bytes; return their digest. If the file could not be read before, the next step tries again."""
        digest = hashlib.sha256(content).hexdigest()
        refused = [key for key, result in self._results.items() if key[0] == digest and isinstance(result, DataError)]
        for key in refused:
            del self._results[key]
        self._contents[digest] = self._contents.pop(digest, content)
        while len(self._contents) > MOST_FILES:
            self._contents.pop(next(iter(self._contents)))
        return digest

    def __contains__(self, digest: object) -> bool:
        return digest in self._contents

    def __getitem__(self, digest: str) -> bytes:
        return self._contents[digest]

    @property
    def size(self) -> int:
        """Bytes that the files and the points made of them take."""
        points = (result.X.nbytes for result in self._results.values() if isinstance(result, Dataset))
        tables = (result.memory_usage().sum() for result in self._results.values() if isinstance(result, pd.DataFrame))
        return sum(map(len, self._contents.values())) + sum(points) + int(sum(tables))

    def result(self, digest: str, name: str, step: Step) -> Any:
        """Return the result of a step of a file's reading, taken once; raise `DataError` if it cannot be taken."""
        if (digest, step) not in self._results:
            for taken, result in self._take(self[digest], name, step):
                self._keep((digest, taken), result)
        found = self._results[digest, step]
        if isinstance(found, DataError):
            raise DataError(str(found))
        return found

    def _keep(self, key: tuple[str, Step], result: Any) -> None:
        """Store a result, and drop old ones. Points and tables take much memory."""
        self._results.pop(key, None)
        self._results[key] = result
        kind = key[1].name if key[1].name in MOST else ""
        alike = [known for known in self._results if (known[1].name if known[1].name in MOST else "") == kind]
        for known in alike[: -MOST.get(kind, MOST_OTHERS)]:
            del self._results[known]


@dataclass(frozen=True)
class FileData:
    """A spec's file, found and parsed.

    Attributes
    ----------
    labels : callable
        Returns the data set, possibly without its points.
    prepare : callable
        Returns it with the points that some rows (their bytes, None: all) and a scaling give.
    """

    labels: Callable[[], Dataset]
    prepare: Callable[[bytes | None, str], Dataset]

    def points(self, fitted_rows: NDArray[np.int64] | None = None, scaling: str = "none") -> Dataset:
        """Return the data set. Its points are prepared as those rows of the table say (default: all)."""
        rows = None if fitted_rows is None else np.sort(np.asarray(fitted_rows, dtype=np.int64)).tobytes()
        return self.prepare(rows, scaling)


def read_file(data: DataSpec, labels: str, *, files: FileStore | None = None, folder: Path | None = None) -> FileData:
    """Find and read a spec's file with labels "binary", "pairs", "ordinal" or "classes"; the rest as in `load_split`."""
    content = content_of(data, files, folder)
    packed = Source.of_bytes(content, file_name(str(data.path)))
    if data.recipe is not None and files is not None and data.sha256 is not None:
        prepare = partial(_points_of, files, data.sha256, packed.name, data.recipe, labels)
        return FileData(partial(prepare, None, "none"), prepare)
    file = File(packed, LOCAL if files is None else Limits())
    recipe = data.recipe or _guessed(file, data, labels)

    @lru_cache(maxsize=2)  # all rows, and the training rows of a study's runs
    def prepared(rows: bytes | None, scaling: str) -> Dataset:
        fitted = None if rows is None else np.frombuffer(rows, np.int64)
        return file.points(recipe, labels, fitted, scaling)

    return FileData(partial(file.labels, recipe, labels), prepared)


def _guessed(file: File, data: DataSpec, labels: str) -> Recipe:
    """Return the guessed recipe, with the spec's own settings for labels."""
    names = file.table(file.sniff()).frame.columns
    positive = None if data.positive is None else str(data.positive)
    return file.recipe(labels, target=data.target if data.target in names else None, positive=positive)


def _points_of(
    files: FileStore, digest: str, name: str, recipe: Recipe, labels: str, rows: bytes | None, scaling: str
) -> Dataset:
    made: Dataset = files.result(digest, name, Step("points", labels, recipe, rows, scaling))
    return made


def file_name(path: str) -> str:
    """Return a file's name without folders, for paths of any operating system."""
    return PureWindowsPath(path).name or path


def place_of(data: DataSpec, folder: Path) -> Path:
    """Return the place of a spec's file in a folder of several files: two files can have the same name."""
    return folder / str(data.sha256)[:SHOWN] / file_name(str(data.path))


def path_of(data: DataSpec, folder: Path | None) -> Path:
    """Return the path of a spec's file: in a folder, if it is there, else as the spec says."""
    path = Path(str(data.path))
    places = [] if folder is None else [place_of(data, folder), path, folder / file_name(str(data.path))]
    return next((place for place in places if place.exists()), path)


def content_of(data: DataSpec, files: FileStore | None, folder: Path | None) -> bytes:
    """Return the file's bytes if they have the spec's digest; raise `DataError` otherwise."""
    name = file_name(str(data.path))
    if files is not None:
        if data.sha256 is None or data.sha256 not in files:
            digest = f" (SHA-256 {data.sha256[:SHOWN]}…)" if data.sha256 else ""
            raise DataError(f"this session does not have the file {quoted(name)}{digest}: choose it as your own file")
        return files[data.sha256]
    path = path_of(data, folder)
    LOCAL.check_size(Source.of_path(path).size)
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if data.sha256 is not None and digest != data.sha256.lower():
        raise DataError(
            f"the file {quoted(name)} differs from the spec's file: its SHA-256 begins with {digest[:SHOWN]}, not with "
            f"{data.sha256[:SHOWN]}"
        )
    return content

"""A spec's data file: found in memory or on disk, checked by its digest, and read by its recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data import DataError, Dataset, parse_npz
from dsgcore.data.reading import LOCAL, Limits, Recipe, Source, dataset_of, guessed, read_table, sniff_format, unpacked
from dsgcore.data.reading.looking import Answer, AskPoints, Question, answers
from dsgcore.experiments.settings import DataSpec

SHOWN = 12  # characters of a digest
MOST_FILES, MOST_ANSWERS, MOST_POINTS = 3, 12, 2


class FileStore:
    """The last few files of a session by their SHA-256, with the last answers to questions about each.

    `ask` answers a question about a file's content and name. By default it is `answers`, in this process.
    """

    def __init__(self, ask: Callable[[bytes, str, Question], list[Answer]] = answers) -> None:
        self._ask = ask
        self._contents: dict[str, bytes] = {}
        self._answers: dict[tuple[str, Question], Any] = {}

    def add(self, content: bytes) -> str:
        """Store a file's bytes; return their digest. If the file could not be read before, the next question tries again."""
        digest = hashlib.sha256(content).hexdigest()
        refused = [key for key, answer in self._answers.items() if key[0] == digest and isinstance(answer, DataError)]
        for key in refused:
            del self._answers[key]
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
        points = (answer.X.nbytes for answer in self._answers.values() if isinstance(answer, Dataset))
        return sum(map(len, self._contents.values())) + sum(points)

    def answer(self, digest: str, name: str, question: Question) -> Any:
        """Return the answer to a question about a file, computed once; raise `DataError` if the file cannot be read so."""
        if (digest, question) not in self._answers:
            for asked, answer in self._ask(self[digest], name, question):
                self._keep((digest, asked), answer)
        found = self._answers[digest, question]
        if isinstance(found, DataError):
            raise DataError(str(found))
        return found

    def _keep(self, key: tuple[str, Question], answer: Any) -> None:
        """Store an answer, and drop old ones."""
        self._answers.pop(key, None)
        self._answers[key] = answer
        alike = [known for known in self._answers if known[1].is_large == key[1].is_large]
        for known in alike[: -(MOST_POINTS if key[1].is_large else MOST_ANSWERS)]:
            del self._answers[known]


def read_file(
    data: DataSpec, labels: str, *, files: FileStore | None = None, folder: Path | None = None
) -> Callable[..., Dataset]:
    """Find and read a spec's file with labels "binary", "pairs", "ordinal" or "classes"; the rest as in `load_split`.

    Returns
    -------
    callable
        Makes the data set. It learns from the rows `fitted_rows` of the table (default: all).
    """
    content = content_of(data, files, folder)
    packed = Source.of_bytes(content, file_name(str(data.path)))
    if files is None and data.recipe is None and packed.name.lower().endswith(".npz"):
        dataset = parse_npz(
            content,
            name=PurePath(packed.name).stem,
            positive=data.positive,
            is_binary=labels in ("binary", "pairs"),
            target=data.target,
        )
        return lambda fitted_rows=None: dataset
    limits = LOCAL if files is None else Limits()
    if data.recipe is not None and files is not None and data.sha256 is not None:
        return partial(_asked, files, data.sha256, packed.name, data.recipe, labels)
    source = unpacked(packed, limits)
    recipe = data.recipe or sniff_format(source)
    table = read_table(source, recipe, limits)
    if data.recipe is None:  # the spec's settings for labels, in a spec without a recipe
        recipe = recipe if data.positive is None else replace(recipe, positive=str(data.positive))
        target = data.target if data.target in table.frame.columns else None
        recipe = guessed(table.frame, recipe, labels, limits, target)
    # The digest belongs to the file itself, packed or not.
    return partial(dataset_of, table, recipe, packed, labels=labels, limits=limits)


def _asked(
    files: FileStore, digest: str, name: str, recipe: Recipe, labels: str, fitted_rows: NDArray[np.int64] | None = None
) -> Dataset:
    rows = None if fitted_rows is None else np.asarray(fitted_rows, dtype=np.int64).tobytes()
    return files.answer(digest, name, AskPoints(recipe, labels, rows))


def file_name(path: str) -> str:
    """Return a file's name without folders, for paths of any operating system."""
    return PureWindowsPath(path).name or path


def place_of(data: DataSpec, folder: Path) -> Path:
    """Return the place of a spec's file in a folder of several files: two files can have the same name."""
    return folder / str(data.sha256)[:SHOWN] / file_name(str(data.path))


def content_of(data: DataSpec, files: FileStore | None, folder: Path | None) -> bytes:
    """Return the file's bytes if they have the spec's digest; raise `DataError` otherwise."""
    name = file_name(str(data.path))
    if files is not None:
        if data.sha256 is None or data.sha256 not in files:
            digest = f" (SHA-256 {data.sha256[:SHOWN]}…)" if data.sha256 else ""
            raise DataError(f"this session does not have the file {quoted(name)}{digest}: choose it as your own file")
        return files[data.sha256]
    path = Path(str(data.path))
    if folder is not None:
        places = place_of(data, folder), path, folder / name
        path = next((place for place in places if place.exists()), path)
    LOCAL.check_size(Source.of_path(path).size)
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if data.sha256 is not None and digest != data.sha256.lower():
        raise DataError(
            f"the file {quoted(name)} differs from the spec's file: its SHA-256 begins with {digest[:SHOWN]}, not with "
            f"{data.sha256[:SHOWN]}"
        )
    return content

"""Model files: NumPy archives of plain arrays with a JSON header. Nothing is pickled; a bad file raises one clear error.

Damage to the numbers is found by the archive's own check sums.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import REQUIRED, Choice, Integer, Parameter, ParameterError
from dsgcore.core.sampling import MAX_SEED
from dsgcore.kernels import Kernel, block_frequencies

FORMAT = 2
ESTIMATOR = "estimator"
_MODEL = Choice("model", None, options=("expansion", "weights", ESTIMATOR))
HEADER = "header"
# The header field of a checkpoint that determines its run.
RUN = "run"
# What the header of every model has: a seed, and the number of a point's coordinates.
OF_ALL_MODELS = (Integer("seed", REQUIRED, low=0, high=MAX_SEED), Integer("d", REQUIRED, low=1))
MAX_HEADER_CHARACTERS = 4096
# Exceptions of NumPy, zipfile and zlib for files that are not archives, are damaged, or claim to hold huge arrays.
_UNREADABLE = (
    OSError,
    KeyError,
    ValueError,
    TypeError,
    EOFError,
    MemoryError,
    ArithmeticError,
    RuntimeError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
# So many random numbers are compared: enough to distinguish generators, whatever d a header claims.
NUMBERS_COMPARED = 2**20


class ModelError(DSGError):
    """A model file that cannot be read or reproduced here, or points that do not fit a model."""


@dataclass(frozen=True)
class ModelFile:
    """Contents of a file, before they are checked and made into a model."""

    model: str  # its kind: "expansion", "weights" or "estimator"
    header: dict[str, Any]  # all other fields but the format's number; plain data
    arrays: dict[str, NDArray]  # in this machine's byte order

    def expect(self, header: set[str], arrays: set[str], parameters: Sequence[Parameter] = ()) -> dict[str, Any]:
        """Raise `ModelError` if fields or arrays are missing, or do not belong to such a model.

        Return the header's `parameters`, checked. Those that have a default may be missing.
        """
        needed = {p.name for p in parameters if p.default is REQUIRED or p.name in self.header}
        for place, kind, given, expected in (
            ("its header", "field", set(self.header), header | needed),
            ("it", "array", set(self.arrays), arrays),
        ):
            for name in sorted(expected - given):
                raise ModelError(f"not a model file: {place} has no {kind} {name!r}")
            for name in sorted(given - expected):
                raise ModelError(f"not a model file: {place} has the unknown {kind} {name[:40]!r}")
        try:
            return {p.name: p.check(self.header[p.name]) if p.name in needed else p.default for p in parameters}
        except ParameterError as error:
            raise damaged_header(error) from error


def write(file: str | Path | IO[bytes], model: str, header: Mapping[str, Any], **arrays: NDArray) -> None:
    """Write a model: its arrays, and a header with its kind."""
    text = json.dumps({"format": FORMAT, "model": model, **header})
    np.savez(file, **{HEADER: np.array(text)}, **arrays)  # type: ignore[arg-type]  # the stubs mistake them for an option


def read(file: str | Path | IO[bytes]) -> ModelFile:
    """Read a file that `write` wrote; raise `ModelError` for any other file."""
    try:
        if isinstance(file, str | os.PathLike):  # NumPy, given a path, leaves a file open if it is not an archive
            content = Path(file).read_bytes()
        else:
            file.seek(0)
            content = file.read()
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if min((info.header_offset for info in archive.infolist()), default=0) > 0:
                raise ValueError("it is cut off")  # so that the model inside an estimator's file is found
            # Models are not compressed. A file that unpacks to more than its size may be meant to fill memory.
            if sum(info.file_size for info in archive.infolist()) > len(content):
                raise ValueError("its arrays are larger than the file")
        arrays: dict[str, NDArray] = {}
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            for name in archive.files:
                if not isinstance(array := archive[name], np.ndarray):
                    raise TypeError(f"{name[:40]!r} is not an array")
                # In this machine's byte order, as the loops need it.
                arrays[name] = array.astype(array.dtype.newbyteorder("="), order="K", copy=False)
    except FileNotFoundError as error:
        raise ModelError(f"{file} does not exist.") from error
    except _UNREADABLE as error:
        reason = " ".join(str(error).partition("\n")[0].split()) or type(error).__name__
        raise ModelError(f"not a model file, or a damaged one ({reason})") from error
    if HEADER not in arrays:
        raise ModelError(f"not a model file: it has no array {HEADER!r}")
    text = arrays.pop(HEADER)
    try:
        if text.dtype.kind != "U" or text.size != 1 or text.dtype.itemsize > 4 * MAX_HEADER_CHARACTERS:
            raise ValueError(f"it must be text of at most {MAX_HEADER_CHARACTERS} characters")
        header: dict[str, Any] = json.loads(str(text))
        if not isinstance(header, dict):
            raise ValueError("it must be an object with fields")
        number = header.pop("format", None)
        if number != FORMAT:
            raise ModelError(f"the model file has format {number!r}, this program reads format {FORMAT}")
        model = _MODEL.check(header.pop("model", None))
    except ModelError:
        raise
    except (TypeError, ValueError, RecursionError, SystemError) as error:
        raise damaged_header(error) from error
    return ModelFile(model, header, arrays)


def damaged_header(error: Exception) -> ModelError:
    """Return the error for a header with a field that is not allowed."""
    return ModelError(f"not a model file: its header is damaged ({error})")


def fingerprint(kernel: Kernel, seed: int, t: int, d: int, m: int) -> str:
    """Return a digest of the frequencies of iteration `t`, (d, m), which differs if they cannot be drawn again.

    With many coordinates only the first are drawn: their numbers come from the same generator.
    """
    drawn = block_frequencies(kernel, seed, t, max(1, min(d, NUMBERS_COMPARED // m)), m, np.dtype(np.float32))
    return hashlib.sha256(f"{d} {m} ".encode() + drawn.tobytes()).hexdigest()


def check_fingerprint(given: object, own: str) -> None:
    """Raise `ModelError` if a model's random features differ from those that it was trained with."""
    if given != own:
        raise ModelError(
            "the model cannot be reproduced here: this version of NumPy draws other random features "
            "from its seed than those it was trained with"
        )


def check_points(X: NDArray, d: int) -> None:
    """Raise `ModelError` if points do not fit a model with `d` coordinates."""
    if X.ndim != 2 or X.shape[1] != d:
        raise ModelError(f"points must have shape (n, {d}), got {X.shape}")

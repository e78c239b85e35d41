"""The papers' sets by name: brought to the cache once, and then found there."""

from __future__ import annotations

import shutil
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from dsgcore.core.parameters import quoted
from dsgcore.core.user_folders import cache_folder
from dsgcore.core.whole_files import whole_files
from dsgcore.data.datasets import DataError
from dsgcore.data.downloads.archives import REMOTE_SETS, RemoteSet
from dsgcore.data.downloads.transfer import Patience, Progress, download
from dsgcore.data.reading.names import reason_of


def remote_set(name: str) -> RemoteSet:
    """Return a set of the papers by its name, or raise `DataError`."""
    if name not in REMOTE_SETS:
        raise DataError(f"the set must be one of {', '.join(REMOTE_SETS)}, got {quoted(name)}")
    return REMOTE_SETS[name]


def cached(remote: RemoteSet) -> Path | None:
    """Return the file of a set where it is in the cache."""
    path = _path(remote)
    return path if path.exists() else None


def _path(remote: RemoteSet) -> Path:
    member = remote.member and Path(remote.member).name
    name = f"{remote.name}.npz" if remote.is_through_scikit_learn else member or remote.file_name
    return cache_folder() / remote.name / name


def fetch(remote: RemoteSet, *, progress: Progress | None = None, patience: Patience | None = None) -> Path:
    """Bring a set's file to the cache, unless it is there.

    Parameters
    ----------
    remote : RemoteSet
    progress, patience
        As in `transfer.download`.

    Returns
    -------
    path
        Of a file that `dsgcore.data.reading` reads. What scikit-learn brings shows no progress, and is not taken up again.

    Raises
    ------
    DataError
        With one sentence, also where there is no network.
    """
    path = _path(remote)
    if path.exists():
        return path
    if remote.is_through_scikit_learn:
        return _through_scikit_learn(remote, path)
    if remote.member is None:
        return download(remote.address, path, progress=progress, patience=patience)
    packed = path.with_name(remote.file_name)
    download(remote.address, packed, progress=progress, patience=patience)
    _take_out(packed, remote.member, path)
    packed.unlink()
    return path


def _take_out(packed: Path, member: str, path: Path) -> None:
    """Unpack one member of a zip archive, or of one inside it."""
    try:
        with zipfile.ZipFile(packed) as archive, whole_files(path.parent, [path.name]) as part:
            names = [name for name in archive.namelist() if Path(name).name == member]
            if not names:
                raise DataError(f"the archive {packed.name!r} holds no {member!r}")
            with archive.open(names[0]) as source, (part / path.name).open("wb") as target:
                shutil.copyfileobj(source, target)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        packed.unlink()
        raise DataError(f"the archive {packed.name!r} is damaged; it was removed, ask again") from None


def _through_scikit_learn(remote: RemoteSet, path: Path) -> Path:
    """Let scikit-learn's own fetcher bring a set, which checks its digest, and keep its points and labels."""
    import sklearn.datasets

    fetcher: Any = getattr(sklearn.datasets, remote.address)
    options = {} if remote.number is None else {"data_id": remote.number, "as_frame": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it tries again; the end is told
            bunch = fetcher(data_home=str(cache_folder() / "scikit-learn"), **options)
    except (OSError, ValueError) as error:
        raise DataError(
            f"scikit-learn cannot bring {remote.name!r} (is there a network?): {reason_of(error)}"
        ) from None
    X, y = np.asarray(bunch.data, dtype=np.float32), np.asarray(bunch.target).astype(str)
    with whole_files(path.parent, [path.name]) as part:
        np.savez_compressed(part / path.name, X=X, y=y)
    return path

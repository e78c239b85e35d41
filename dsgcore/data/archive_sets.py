"""The papers' data sets in public archives, and their download: in pieces, resumed after a break, and checked.

The fetchers of pooch and scikit-learn start again after a break, so a download of several gigabytes may never end.
"""

from __future__ import annotations

import http.client
import os
import shutil
import ssl
import tomllib
import urllib.error
import urllib.request
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from dsgcore.core.files import cache_folder, whole_files
from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import reason_of

_PIECE = 2**16
_HEADERS = {"User-Agent": "dsg-lab", "Accept-Encoding": "identity"}
_PAGES = ("text/html", "application/xhtml+xml")

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class RemoteSet:
    """A data set of a public archive."""

    name: str  # name on the command line
    title: str
    archive: str  # "LIBSVM", "UCI", "OpenML" or "scikit-learn"
    address: str  # for sets from scikit-learn (its own and OpenML's, whose digests it checks): the name of its fetcher
    n: int  # numbers of rows and feature columns, as the archive states them
    d: int
    classes: int | None  # None: the target is a number, which is cut into bins
    used_by: Sequence[str]  # the methods whose papers use it; none if a paper uses another form of it
    licence: str = "not stated (LIBSVM's page)"
    member: str | None = None  # for a zip archive: the file inside
    label: str | None = None  # the label column, if a guess would take another one
    ignored: Sequence[str] = ()  # columns that are not features
    number: int | None = None  # OpenML's own
    other_sizes: Mapping[str, int] = field(default_factory=dict)  # rows in a paper's table, where it has another number
    other_shape: str = ""  # a sentence on what else a paper has otherwise

    @property
    def use(self) -> str:
        """Sentences on the papers that use it, and on what they have otherwise."""
        papers = f"paper{'s' * (len(self.used_by) > 1)} of {', '.join(self.used_by)}"
        by = f"Used in the {papers}." if self.used_by else "No paper uses it as it is."
        sizes = [f"{method} has {n:,} rows of it." for method, n in self.other_sizes.items()]
        return " ".join([by, *sizes, self.other_shape]).rstrip()

    @property
    def file_name(self) -> str:
        """The name of the file in its archive."""
        return self.address.rsplit("/", 1)[-1]

    @property
    def is_through_scikit_learn(self) -> bool:
        """True if a fetcher of scikit-learn downloads it."""
        return self.address.startswith("fetch_")


REMOTE_SETS: Mapping[str, RemoteSet] = {
    name: RemoteSet(name, **{"classes": None} | said)
    for name, said in tomllib.loads(files("dsgcore.data").joinpath("archive_sets.toml").read_text("utf-8")).items()
}


def remote_set(name: str) -> RemoteSet:
    """Return one of the papers' sets by its name; raise `DataError` if there is no such set."""
    if name not in REMOTE_SETS:
        raise DataError(f"the set must be one of {', '.join(REMOTE_SETS)}, got {quoted(name)}")
    return REMOTE_SETS[name]


def cached(remote: RemoteSet) -> Path | None:
    """Return the cached file of a set, or None if it is not in the cache."""
    path = _path(remote)
    return path if path.exists() else None


def _path(remote: RemoteSet) -> Path:
    member = remote.member and Path(remote.member).name
    name = f"{remote.name}.npz" if remote.is_through_scikit_learn else member or remote.file_name
    return cache_folder() / remote.name / name


def fetch(remote: RemoteSet, **how: Any) -> Path:
    """Download a set's file to the cache unless it is there; return its path.

    `dsgcore.data.reading` reads the file. Keywords and errors as in `download`. A download through scikit-learn shows no
    progress, and cannot be resumed.
    """
    path = _path(remote)
    if path.exists():
        return path
    if remote.is_through_scikit_learn:
        return _through_scikit_learn(remote, path)
    if remote.member is None:
        return download(remote.address, path, **how)
    packed = download(remote.address, path.with_name(remote.file_name), **how)
    try:
        with zipfile.ZipFile(packed) as archive, whole_files(path.parent, [path.name]) as part:
            names = [name for name in archive.namelist() if Path(name).name == remote.member]
            if not names:
                raise DataError(f"the archive {packed.name!r} holds no {remote.member!r}")
            with archive.open(names[0]) as source, (part / path.name).open("wb") as target:
                shutil.copyfileobj(source, target)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        packed.unlink()
        raise DataError(f"the archive {packed.name!r} is damaged; it was removed, so try again") from None
    packed.unlink()
    return path


def _through_scikit_learn(remote: RemoteSet, path: Path) -> Path:
    """Download a set with scikit-learn's fetcher, which checks its digest; keep its points and labels."""
    import sklearn.datasets

    fetcher: Any = getattr(sklearn.datasets, remote.address)
    options = {} if remote.number is None else {"data_id": remote.number, "as_frame": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn reports its retries; the final error is reported here
            bunch = fetcher(data_home=str(cache_folder() / "scikit-learn"), **options)
    except (OSError, ValueError) as error:
        raise DataError(
            f"scikit-learn cannot download {remote.name!r} (is there a network?): {reason_of(error)}"
        ) from None
    X, y = np.asarray(bunch.data, dtype=np.float32), np.asarray(bunch.target).astype(str)
    with whole_files(path.parent, [path.name]) as part:
        np.savez_compressed(part / path.name, X=X, y=y)
    return path


# --- one file


def download(
    address: str, to: Path, *, progress: Progress | None = None, seconds: float = 20.0, attempts: int = 4
) -> Path:
    """Download a file to `to`, unless it is there.

    After a break, the received bytes stay in a file ending in ``.part``, and the rest is requested. The download starts
    again if the server cannot send a rest, or if the file has changed.

    Parameters
    ----------
    address : str
        With the scheme https (or http, for this machine only).
    to : path
    progress : callable, optional
        Called with the number of bytes received and the total number (None: not known).
    seconds : float, default 20
        Time to wait without an answer or a byte.
    attempts : int, default 4
        Attempts in a row without progress.

    Raises
    ------
    DataError
        If there is no network or no such file, or if the file is of another kind or cut off.
    """
    if to.exists():
        return to
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")):
        raise DataError(f"an address must begin with https://, got {address[:80]!r}")
    to.parent.mkdir(parents=True, exist_ok=True)
    part, mark = (to.with_name(to.name + ending) for ending in (".part", ".part.version"))
    failures, fault = 0, ""
    while failures < attempts:
        before = _size(part)
        try:
            _fetch_rest(address, part, mark, progress, seconds)
            os.replace(part, to)
            mark.unlink(missing_ok=True)
            return to
        except (OSError, http.client.HTTPException) as error:
            fault = _fault(error, parts.netloc, address)
            failures = 0 if _size(part) > before else failures + 1
    kept = f"; the {_size(part):,} bytes received are kept, so try again" if part.exists() else ""
    raise DataError(fault + kept)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _fetch_rest(address: str, part: Path, mark: Path, progress: Progress | None, seconds: float) -> None:
    """Request the missing bytes of a part, and append them; `mark` records the version of the file that it belongs to."""
    have, headers = _size(part), dict(_HEADERS)
    if have:
        headers["Range"] = f"bytes={have}-"
        if mark.exists():
            headers["If-Range"] = mark.read_text(encoding="utf-8")
    try:
        answer = urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=seconds)
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            part.unlink()  # the part is longer than the file: another version
            raise OSError("the part on the disk does not fit the server's file") from None
        raise
    with answer:
        if answer.headers.get_content_type() in _PAGES:
            raise DataError(f"{urlsplit(address).netloc} gave a web page instead of the file: {address}")
        is_rest = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        have = have if is_rest else 0
        total, free = None if answer.length is None else have + answer.length, shutil.disk_usage(part.parent).free
        if total is not None and total - have > free:
            needed = f"{total - have:,} bytes more, and {free:,} are free"
            raise DataError(f"the file needs {needed} in {str(part.parent)!r}")
        mark.unlink(missing_ok=True)
        version = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        if version and not version.startswith("W/"):
            mark.write_text(version, encoding="utf-8")
        with part.open("ab" if is_rest else "wb") as file:
            while piece := answer.read1(_PIECE):
                file.write(piece)
                have += len(piece)
                if progress is not None:
                    progress(have, total)
    if total is not None and have < total:
        raise http.client.IncompleteRead(b"", total - have)


def _fault(error: BaseException, host: str, address: str) -> str:
    """Return what went wrong; raise `DataError` at once if another attempt cannot mend it."""
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        if error.code < http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise DataError(f"{host} refused the file with {error.code} ({error.reason}): {address}") from None
        return f"{host} reported a server error ({error.code} {error.reason})"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        raise DataError(f"the certificate of {host} is not valid: {reason.verify_message}") from None
    if isinstance(error, TimeoutError) or "timed out" in str(error):
        return f"{host} stopped answering"
    if isinstance(error, http.client.IncompleteRead | http.client.RemoteDisconnected | ConnectionResetError):
        return f"{host} broke off the download"
    return f"{host} cannot be reached (is there a network?)"

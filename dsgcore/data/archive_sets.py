"""The papers' data sets in public archives, and their download: in pieces, resumed after a break, and checked.

The fetchers of pooch and scikit-learn start again after a break, so a download of several gigabytes may never end.
"""

from __future__ import annotations

import http.client
import os
import shutil
import ssl
import urllib.error
import urllib.request
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from dsgcore.core.files import cache_folder, whole_files
from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.cells import reason_of

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
UCI = "https://archive.ics.uci.edu/static/public"
# UCI's tables: the archive, the file in it, the label column, and columns that are not features.
_UCI_FILES = {
    "dota2": ("367/dota2+games+results", "dota2Train.csv", "x1"),
    "sgemm": ("440/sgemm+gpu+kernel+performance", "sgemm_product.csv", *(f"Run{i} (ms)" for i in (1, 2, 3, 4))),
    "road3d": ("246/3d+road+network+north+jutland+denmark", "3D_spatial_network.txt", "x4", "x1"),
    "hepmass": ("347/hepmass", "all_train.csv.gz", "label"),
}


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
    used_by: tuple[str, ...]  # the methods whose papers use it
    licence: str = "not stated (LIBSVM's page)"
    member: str | None = None  # for a zip archive: the file inside
    label: str | None = None  # the label column, if a guess would take another one
    ignored: tuple[str, ...] = ()  # columns that are not features
    number: int | None = None  # OpenML's own

    @property
    def sizes_elsewhere(self) -> str:
        """A sentence on papers whose table has another number of rows; empty if all have this one."""
        sizes = OTHER_SIZES.get(self.name, {})
        return " ".join(f"{method} has {n:,} rows of it." for method, n in sizes.items())

    @property
    def file_name(self) -> str:
        """The name of the file in its archive."""
        return self.address.rsplit("/", 1)[-1]

    @property
    def is_through_scikit_learn(self) -> bool:
        """True if a fetcher of scikit-learn downloads it."""
        return self.address.startswith("fetch_")


def _libsvm(name: str, title: str, path: str, n: int, d: int, classes: int | None, *used_by: str) -> RemoteSet:
    return RemoteSet(name, title, "LIBSVM", f"{LIBSVM}/{path}", n, d, classes, used_by)


def _uci(name: str, title: str, n: int, d: int, classes: int | None, *used_by: str) -> RemoteSet:
    path, member, label, *ignored = _UCI_FILES[name]
    address = f"{UCI}/{path}.zip"
    return RemoteSet(name, title, "UCI", address, n, d, classes, used_by, "CC BY 4.0", member, label, tuple(ignored))


def _openml(name: str, title: str, number: int, n: int, d: int, classes: int | None, *used_by: str) -> RemoteSet:
    return RemoteSet(name, title, "OpenML", "fetch_openml", n, d, classes, used_by, "as OpenML states", number=number)


_SETS = (
    _libsvm("cod-rna", "Non-coding RNA", "binary/cod-rna", 59_535, 8, 2, "QSG-S2AUC", "TSGS3VM"),
    _libsvm("w6a", "Web pages", "binary/w6a", 17_188, 300, 2, "TSGS3VM"),
    _libsvm("ijcnn1", "IJCNN 2001 challenge", "binary/ijcnn1.bz2", 49_990, 22, 2, "QSG-S2AUC", "TSGS3VM"),
    _libsvm("skin", "Skin segmentation", "binary/skin_nonskin", 245_057, 3, 2, "QSG-S2AUC", "TSGS3VM"),
    _libsvm("real-sim", "Real against simulated", "binary/real-sim.bz2", 72_309, 20_958, 2, "TSGSU"),
    _libsvm("susy", "SUSY", "binary/SUSY.xz", 5_000_000, 18, 2, "QSG-S2AUC", "TSGS3VM", "TSGSU"),
    _libsvm("higgs", "HIGGS", "binary/HIGGS.xz", 11_000_000, 28, 2, "QSG-S2AUC", "TSGS3VM"),
    _libsvm("glass", "Glass", "multiclass/glass.scale", 214, 9, 6, "PS3VT"),
    _libsvm("svmguide2", "Guide 2", "multiclass/svmguide2", 391, 20, 3, "PS3VT"),
    _libsvm("vowel", "Vowel", "multiclass/vowel.scale", 528, 10, 11, "PS3VT"),
    _libsvm("vehicle", "Vehicle silhouettes", "multiclass/vehicle.scale", 846, 18, 4, "PS3VT"),
    _libsvm("satimage", "Satellite image", "multiclass/satimage.scale", 4435, 36, 6, "PS3VT"),
    _libsvm("dna", "DNA", "multiclass/dna.scale", 2000, 180, 3, "PS3VT"),
    _libsvm("segment", "Image segments", "multiclass/segment.scale", 2310, 19, 7, "PS3VT"),
    _libsvm("pendigits", "Pen digits", "multiclass/pendigits", 7494, 16, 10, "PS3VT"),
    _libsvm("usps", "USPS digits", "multiclass/usps.bz2", 7291, 256, 10, "PS3VT"),
    _libsvm("shuttle", "Shuttle", "multiclass/shuttle.scale", 43_500, 9, 7, "PS3VT"),
    _libsvm("letter", "Letters", "multiclass/letter.scale", 15_000, 16, 26, "PS3VT"),
    _libsvm("poker", "Poker hands", "multiclass/poker.bz2", 25_010, 10, 10, "PS3VT", "TSGSU"),
    _libsvm("sensorless", "Sensorless drive", "multiclass/Sensorless", 58_509, 48, 11, "PS3VT"),
    _libsvm("acoustic", "Vehicles, acoustic", "multiclass/vehicle/acoustic.bz2", 78_823, 50, 3, "TSGSU"),
    _libsvm("combined", "Vehicles, combined", "multiclass/vehicle/combined.bz2", 78_823, 100, 3, "TSGSU"),
    _libsvm("svhn", "House numbers", "multiclass/SVHN.xz", 73_257, 3072, 10, "TSGSU"),
    _libsvm("mnist8m", "Deformed MNIST digits", "multiclass/mnist8m.xz", 8_100_000, 784, 10, "TSGSU"),
    _libsvm("year", "Year of a song", "regression/YearPredictionMSD.bz2", 463_715, 90, None, "QS3ORAO", "TSGSU"),
    _uci("dota2", "Dota 2 games", 92_650, 116, 2, "QSG-S2AUC", "TSGS3VM"),
    _uci("sgemm", "GPU kernel run times", 241_600, 14, None, "QS3ORAO"),
    _uci("road3d", "Road network", 434_874, 2, None, "QS3ORAO"),
    _uci("hepmass", "HEPMASS", 7_000_000, 28, 2, "TSGS3VM"),
    RemoteSet(
        "covtype", "Forest cover", "scikit-learn", "fetch_covtype", 581_012, 54, 7, ("QSG-S2AUC", "TSGSU"), "CC BY 4.0"
    ),
    _openml("mnist", "MNIST digits", 554, 70_000, 784, 10, "TSGSU"),
    _openml("yolanda", "Yolanda", 42_705, 400_000, 100, None, "QS3ORAO"),
)
# Rows in a paper's table of data sets, where the archive has another number.
OTHER_SIZES: Mapping[str, Mapping[str, int]] = {
    "w6a": {"TSGS3VM": 49_749},
    "dota2": {"TSGS3VM": 102_944},
    "hepmass": {"TSGS3VM": 10_500_000},
    "higgs": {"QSG-S2AUC": 1_100_000, "TSGS3VM": 1_100_000},
}
REMOTE_SETS: Mapping[str, RemoteSet] = MappingProxyType({remote.name: remote for remote in _SETS})


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


def fetch(remote: RemoteSet, *, progress: Progress | None = None, patience: Patience | None = None) -> Path:
    """Download a set's file to the cache unless it is there; return its path.

    `dsgcore.data.reading` reads the file. Parameters and errors as in `download`. A download through scikit-learn shows no
    progress, and cannot be resumed.
    """
    path = _path(remote)
    if path.exists():
        return path
    if remote.is_through_scikit_learn:
        return _through_scikit_learn(remote, path)
    if remote.member is None:
        return download(remote.address, path, progress=progress, patience=patience)
    packed = download(remote.address, path.with_name(remote.file_name), progress=progress, patience=patience)
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


@dataclass(frozen=True)
class Patience:
    """Time to wait for a server, and number of attempts."""

    seconds: float = 20.0  # seconds without an answer or a byte
    attempts: int = 4  # attempts in a row without progress


def download(address: str, to: Path, *, progress: Progress | None = None, patience: Patience | None = None) -> Path:
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
    patience : Patience, optional

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
    patience, failures, fault = patience or Patience(), 0, ""
    while failures < patience.attempts:
        before = _size(part)
        try:
            _fetch_rest(address, part, mark, progress, patience.seconds)
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

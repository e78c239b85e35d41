"""Download of one file: in pieces, resumed after a break, and checked.

The fetchers of pooch and scikit-learn start again after a break, so a download of several gigabytes may never end.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dsgcore.data.datasets import DataError

PIECE = 2**16
_HEADERS = {"User-Agent": "dsg-lab", "Accept-Encoding": "identity"}
_PAGES = ("text/html", "application/xhtml+xml")

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Patience:
    """Time to wait for a server, and number of attempts."""

    seconds: float = 20.0  # seconds without an answer or a byte
    attempts: int = 4  # attempts in a row without progress


def download(
    address: str,
    to: Path,
    *,
    digest: tuple[str, str] | None = None,
    progress: Progress | None = None,
    patience: Patience | None = None,
) -> Path:
    """Download a file to `to`, unless it is there.

    After a break, the received bytes stay in a file ending in ``.part``, and the rest is requested. The download starts
    again if the server cannot send a rest, or if the file has changed.

    Parameters
    ----------
    address : str
        With the scheme https (or http, for this machine only).
    to : path
    digest : tuple of str, optional
        The algorithm ("sha256", "md5") and the required hexadecimal digest.
    progress : callable, optional
        Called with the number of bytes received and the total number (None: not known).
    patience : Patience, optional

    Returns
    -------
    path

    Raises
    ------
    DataError
        If there is no network or no such file, if the file is of another kind or cut off, or if its digest is wrong.
    """
    if to.exists():
        return to
    _check_address(address)
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(to.name + ".part")
    patience, failures = patience or Patience(), 0
    while True:
        before = _size(part)
        try:
            _fetch_rest(address, part, progress, patience.seconds)
            break
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            _refuse_for_good(error, address)
            failures = 0 if _size(part) > before else failures + 1
            if failures >= patience.attempts:
                raise DataError(_unreachable(error, address, part)) from None
    _check_digest(part, digest, address)
    os.replace(part, to)
    _mark(part).unlink(missing_ok=True)
    return to


def _check_address(address: str) -> None:
    parts = urlsplit(address)
    is_local = parts.hostname in ("127.0.0.1", "localhost")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        raise DataError(f"an address must begin with https://, got {address[:80]!r}")


def _mark(part: Path) -> Path:
    """Return the file that records the version to which a part belongs."""
    return part.with_name(part.name + ".version")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _fetch_rest(address: str, part: Path, progress: Progress | None, seconds: float) -> None:
    """Request the missing bytes of a part, and append them."""
    have = _size(part)
    with _answer(address, part, have, seconds) as answer:
        is_rest = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        have = have if is_rest else 0
        total = None if answer.length is None else have + answer.length
        free = shutil.disk_usage(part.parent).free
        if total is not None and total - have > free:
            raise DataError(
                f"the file needs {total - have:,} bytes more, and {free:,} are free in {str(part.parent)!r}"
            )
        _note_version(part, answer)
        with part.open("ab" if is_rest else "wb") as file:
            while piece := answer.read1(PIECE):
                file.write(piece)
                have += len(piece)
                if progress is not None:
                    progress(have, total)
    if total is not None and have < total:
        raise http.client.IncompleteRead(b"", total - have)


def _answer(address: str, part: Path, have: int, seconds: float) -> Any:
    """Open the address, from the byte at which a part ends."""
    headers = dict(_HEADERS)
    if have:
        headers["Range"] = f"bytes={have}-"
        if _mark(part).exists():
            headers["If-Range"] = _mark(part).read_text(encoding="utf-8")
    try:
        answer = urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=seconds)
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            error.close()
            part.unlink()  # the part is longer than the file: another version
            raise OSError("the part on the disk does not fit the server's file") from None
        raise
    if answer.headers.get_content_type() in _PAGES:
        answer.close()
        raise DataError(f"{_host(address)} gave a web page instead of the file: {address}")
    return answer


def _note_version(part: Path, answer: Any) -> None:
    version = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
    if version and not version.startswith("W/"):
        _mark(part).write_text(version, encoding="utf-8")
    else:
        _mark(part).unlink(missing_ok=True)


def _refuse_for_good(error: BaseException, address: str) -> None:
    """Raise an error for faults that a retry does not change."""
    if isinstance(error, urllib.error.HTTPError) and error.code < http.HTTPStatus.INTERNAL_SERVER_ERROR:
        raise DataError(f"{_host(address)} refused the file with {error.code} ({error.reason}): {address}") from None
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        raise DataError(f"the certificate of {_host(address)} is not valid: {reason.verify_message}") from None


def _unreachable(error: BaseException, address: str, part: Path) -> str:
    kept = f"; the {_size(part):,} bytes received are kept, so try again" if part.exists() else ""
    if isinstance(error, TimeoutError) or "timed out" in str(error):
        return f"{_host(address)} stopped answering{kept}"
    if isinstance(error, http.client.IncompleteRead | http.client.RemoteDisconnected | ConnectionResetError):
        return f"{_host(address)} broke off the download{kept}"
    if isinstance(error, urllib.error.HTTPError):
        return f"{_host(address)} reported a server error ({error.code} {error.reason}){kept}"
    return f"{_host(address)} cannot be reached (is there a network?){kept}"


def _host(address: str) -> str:
    return urlsplit(address).netloc


def _check_digest(part: Path, digest: tuple[str, str] | None, address: str) -> None:
    if digest is None:
        return
    algorithm, wanted = digest
    with part.open("rb") as file:
        got = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()
    if got != wanted.lower():
        part.unlink()
        _mark(part).unlink(missing_ok=True)
        raise DataError(
            f"the file from {_host(address)} has the wrong digest: its {algorithm.upper()} begins with "
            f"{got[:12]} instead of {wanted[:12]}. The file was removed"
        )

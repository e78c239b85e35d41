"""Edits of the data by hand, as text for the link."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence

from dsgcore import SpecError
from dsgcore.data import Edit, read_edits

EDITS = "edits"
# Bounds that are checked before anything is read: characters of the text, and bytes after it is unpacked. The most edits
# that are allowed need less.
LONGEST_TEXT, MOST_BYTES = 400_000, 1_000_000


def edits_to_text(edits: Sequence[Edit]) -> str:
    """Return edits as text for the link: compressed JSON. Without edits the text is empty."""
    if not edits:
        return ""
    plain = json.dumps([edit.to_dict() for edit in edits], separators=(",", ":"), allow_nan=False)
    return base64.urlsafe_b64encode(zlib.compress(plain.encode(), 9)).decode().rstrip("=")


def edits_in(text: str) -> tuple[Edit, ...]:
    """Return the edits of a link's text.

    Raises
    ------
    SpecError
        If the text is too long, or is not a list of edits.
    DataError
        If an edit is not valid, or if there are too many.
    """
    if not text:
        return ()
    if len(text) > LONGEST_TEXT:
        raise SpecError(f"edits must have at most {LONGEST_TEXT:,} characters, got {len(text):,}")
    try:
        plain = _unpacked(text)
        read = json.loads(plain) if len(plain) <= MOST_BYTES else None
    except (ValueError, zlib.error, RecursionError):  # also for text that is no base64, and for too deep lists
        raise SpecError("edits must be text that this app has written, got something else") from None
    if len(plain) > MOST_BYTES:
        raise SpecError(f"edits must have at most {MOST_BYTES:,} bytes of plain data, got more")
    return read_edits(read)


def _unpacked(text: str) -> bytes:
    """Return the JSON in a text, or the beginning of one that is longer than the bound."""
    padded = text.encode("ascii", "replace") + b"=" * (-len(text) % 4)
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(base64.b64decode(padded, altchars=b"-_", validate=True), MOST_BYTES + 1)
    if not unpacker.eof and len(plain) <= MOST_BYTES:
        raise ValueError("the end is missing")
    return plain

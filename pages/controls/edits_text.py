"""Edits of the data by hand, as text for the link."""

from __future__ import annotations

import base64
import binascii
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
        plain = json.loads(_unpacked(text))
    except (ValueError, zlib.error, RecursionError):  # also for text that is no base64, and for too deep lists
        raise SpecError("edits must be text that this app has written, got something else") from None
    return read_edits(plain)


def _unpacked(text: str) -> bytes:
    """Return the JSON in a text; raise an error if it is longer than the bound, before it is unpacked further."""
    try:
        packed = base64.b64decode(
            text.encode("ascii", "replace") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(packed, MOST_BYTES)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise SpecError(f"edits must have at most {MOST_BYTES:,} bytes of plain data")
    return plain

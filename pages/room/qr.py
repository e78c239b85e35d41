"""QR codes of addresses, for phones."""

from __future__ import annotations

from functools import lru_cache

import segno

_QUIET_ZONE = 4  # modules around a code, which scanners need


@lru_cache(maxsize=32)
def qr_image(text: str) -> str:
    """Return the QR code of a text as the address of an SVG image."""
    # Black on white in both themes, because some scanners read no inverted code.
    code = segno.make(text, error="m", micro=False)
    return str(code.svg_data_uri(scale=8, border=_QUIET_ZONE, dark="#000", light="#fff"))

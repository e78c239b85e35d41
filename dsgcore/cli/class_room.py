"""Option ``--class`` of ``dsg-lab app``: the app for the phones of a class, with the address and a QR code in the terminal."""

from __future__ import annotations

import os
import sys
from io import StringIO
from typing import TextIO
from urllib.parse import SplitResult

import segno

from dsgcore.cli.network import VARIABLE, addresses, firewall_hint, obstacles, place_for_phones, said_address

EVERYWHERE = "0.0.0.0"
# The short address of the page on which phones enter the code of a room.
ENTRANCE = "r"


def open_to_the_class(chosen: str | None, port: int, base_path: str, out: TextIO | None = None) -> None:
    """Print the address for phones and what may keep them away, and let the app show the same address.

    Parameters
    ----------
    chosen : str or None
        The address for phones; by default that of DSGLAB_ADDRESS, or the first one of this machine.
    port : int
    base_path : str
    out : text stream, optional
        Default: standard output.
    """
    out = sys.stdout if out is None else out
    found = addresses()
    said = place_for_phones(chosen) if chosen else said_address()
    if said is None and not found:
        print(f"Attention: {obstacles('', found)[0]}", file=out)
        return
    there = place_for_phones(found[0]) if said is None else said
    if chosen:  # otherwise the app finds the same address by itself, also if it is opened through a proxy
        os.environ[VARIABLE] = chosen
    address = entrance(there, port, base_path)
    _print_qr(address, out)
    print(f"Students open {address} on their phones, and enter the code that 'Ask the class' shows.", file=out)
    for sentence in obstacles(there.hostname or "", found):
        print(f"Attention: {sentence}", file=out)
    print(firewall_hint(port), file=out, flush=True)


def entrance(there: SplitResult, port: int, base_path: str) -> str:
    """Return the whole address of the phones' page; what the given address does not say is the server's."""
    if there.scheme:
        return f"{there.geturl().rstrip('/')}/{ENTRANCE}"
    folder = f"/{base_path.strip('/')}" if base_path.strip("/") else ""
    host = f"[{there.hostname}]" if ":" in (there.hostname or "") else there.hostname
    return f"http://{host}:{there.port or port}{folder}/{ENTRANCE}"


def _print_qr(address: str, out: TextIO) -> None:
    code = StringIO()
    segno.make(address, error="m", micro=False).terminal(out=code, compact=True)
    try:
        code.getvalue().encode(getattr(out, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        print("This terminal cannot show a QR code.", file=out)
    else:
        print(code.getvalue(), end="", file=out)

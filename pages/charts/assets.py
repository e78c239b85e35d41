"""The app's own modules for the browser, and the script by which a component loads one of them."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

_PAGES = Path(__file__).parents[1]
FOLDER = "assets"
# By address: the folder of each module stays, so that modules import each other by the same paths as on disk.
MODULES = {path.relative_to(_PAGES).as_posix(): path for path in sorted(_PAGES.glob("*/browser/*.js"))}
# A component's script is not at the address of a module, so it cannot import one by a relative path. Streamlit calls the
# component again for each update, possibly before the module is there; the newest update is then the first to be shown.
_LOADER = """
const loading = import(new URL("{address}", document.baseURI));
export default function (mounted) {{
  let end = null, isOver = false;
  loading.then(module => {{ if (!isOver) end = module.default(mounted); }},
    () => mounted.parentElement.append("A script of this page could not be loaded. Load the page again."));
  return () => {{ isOver = true; end?.(); }};
}}
"""


@cache
def digest() -> str:
    """Return a digest of all modules. It is in their addresses, so a browser never mixes two versions."""
    content = sha256()
    for path in MODULES.values():
        content.update(path.read_bytes())
    return content.hexdigest()[:16]


def address_of(module: str) -> str:
    """Return the address of a module below the root of the server; `module` is as in "charts/browser/chart.js"."""
    return f"{FOLDER}/{digest()}/{module}"


def loader(module: str) -> str:
    """Return a component's script, which loads the module and calls its default function at each update."""
    return _LOADER.format(address=address_of(module))

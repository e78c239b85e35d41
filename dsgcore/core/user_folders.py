"""Where a program keeps files on this platform: what can be made again, and what cannot."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# By platform: the environment's variable that names the folder, and where it is below the person's own when unset.
_CACHES = {
    "win32": ("LOCALAPPDATA", "AppData/Local"),
    "darwin": ("", "Library/Caches"),
    "": ("XDG_CACHE_HOME", ".cache"),
}
_DATA = _CACHES | {"darwin": ("", "Library/Application Support"), "": ("XDG_DATA_HOME", ".local/share")}


def cache_folder() -> Path:
    """Return where files are kept that can be fetched again: DSGLAB_CACHE, else the platform's folder for caches."""
    return Path(named) if (named := os.environ.get("DSGLAB_CACHE")) else _folder(_CACHES)


def data_folder() -> Path:
    """Return the platform's folder for what programs keep."""
    return _folder(_DATA)


def _folder(places: dict[str, tuple[str, str]]) -> Path:
    variable, below = places.get(sys.platform, places[""])
    return Path(os.environ.get(variable) or Path.home() / below) / "dsg-lab"

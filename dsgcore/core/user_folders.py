"""Folders for this program's files on each platform: a cache and a data folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# By platform: the environment variable that names the folder, and its place below the home folder if unset.
_CACHES = {
    "win32": ("LOCALAPPDATA", "AppData/Local"),
    "darwin": ("", "Library/Caches"),
    "": ("XDG_CACHE_HOME", ".cache"),
}
_DATA = _CACHES | {"darwin": ("", "Library/Application Support"), "": ("XDG_DATA_HOME", ".local/share")}


def cache_folder() -> Path:
    """Return the folder of files that can be downloaded again: DSGLAB_CACHE, else the platform's cache folder."""
    return Path(named) if (named := os.environ.get("DSGLAB_CACHE")) else _folder(_CACHES)


def data_folder() -> Path:
    """Return the platform's folder for programs' data."""
    return _folder(_DATA)


def _folder(places: dict[str, tuple[str, str]]) -> Path:
    variable, below = places.get(sys.platform, places[""])
    return Path(os.environ.get(variable) or Path.home() / below) / "dsg-lab"

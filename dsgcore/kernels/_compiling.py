"""Compilation of loops with numba: without the interpreter's lock, and cached on disk if possible."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba import config, njit

from dsgcore.core.text_files import cache_folder

_log = logging.getLogger(__name__)
# Exceptions from reading cached code if its file is cut off, damaged or another program's, or if the disk fails.
_UNREADABLE = (
    OSError,
    EOFError,
    pickle.UnpicklingError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ImportError,
)


# The app's folder is in the package only if the package is installed from a wheel.
_IS_INSTALLED = Path(__file__).parents[1].joinpath("_app").is_dir()


@contextmanager
def _cache_of_user() -> Iterator[None]:
    """Let numba keep an installed package's loops in the user's cache folder: beside the package they would outlive it."""
    named = config.CACHE_DIR
    if _IS_INSTALLED and not named:
        config.CACHE_DIR = str(cache_folder() / "compiled")
    try:
        yield
    finally:
        config.CACHE_DIR = named


def _is_cache_writable() -> bool:
    try:
        with _cache_of_user():
            njit(cache=True)(_is_cache_writable)
    except RuntimeError:  # numba has looked in all its places
        return False
    return True


def _stamp() -> tuple[tuple[float, int], ...]:
    """Return a stamp of all files of loops: one loop is compiled into another, but numba checks the caller's file alone."""
    found = (file.stat() for file in sorted(Path(__file__).parent.glob("_loops*.py")))
    return tuple((state.st_mtime, state.st_size) for state in found)


IS_COMPILED = not config.DISABLE_JIT
CACHE = _is_cache_writable()  # without a cache everything works, but every process compiles again


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a loop; options as in numba's `njit`."""

    def decorate(function: Callable[..., Any]) -> Any:
        with _cache_of_user():
            return _forgiving(njit(cache=CACHE, nogil=True, **options)(function))

    return decorate


def _forgiving(dispatcher: Any) -> Any:
    """Make numba's cache best-effort: recompile if a cached entry cannot be read, and ignore failed writes."""
    cache: Any = getattr(dispatcher, "_cache", None)
    if not (hasattr(cache, "load_overload") and hasattr(cache, "save_overload")):
        return dispatcher  # not compiled, or by a numba version with another cache
    load, save = cache.load_overload, cache.save_overload
    if hasattr(cache, "_cache_file"):
        cache._cache_file._source_stamp = _stamp()

    def load_if_readable(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except _UNREADABLE as error:
            _log.warning("the cached loop %s cannot be read (%s), so it is compiled again", dispatcher.__name__, error)
            with suppress(OSError):
                cache.flush()
            return None

    def save_if_possible(*arguments: Any) -> None:
        try:
            save(*arguments)
        except OSError as error:
            _log.warning("the compiled loop %s cannot be cached: %s", dispatcher.__name__, error)

    cache.load_overload, cache.save_overload = load_if_readable, save_if_possible
    return dispatcher

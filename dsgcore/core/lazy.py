"""Public names of a package whose modules are imported on first access. Standard library only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazily(
    package: str, modules: Mapping[str, str], *, has_parts: bool = False
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__`, which import the module of a public name on first access.

    Parameters
    ----------
    package : str
        Name of the package.
    modules : mapping of str to str
        Full name of the module that holds each public name.
    has_parts : bool
        True if the package's public modules are also imported on first access.
    """

    def find(name: str) -> Any:
        if name in modules:
            value = getattr(import_module(modules[name]), name)
        elif has_parts and not name.startswith("_") and find_spec(f"{package}.{name}"):
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted({*vars(sys.modules[package]), *modules})

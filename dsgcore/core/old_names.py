"""Old names of parameters and options. They are still read, but no text shows them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])
# Options of the command line, by their old names.
_OPTIONS = {
    "--ignore": "--drop",
    "--label": "--target",
    "--memory": "--memory-limit",
    "--na": "--missing-words",
}


def accepts_old_names(**names: str) -> Callable[[Class], Class]:
    """Return a class decorator: the constructor and `set_params` also accept old names, with a FutureWarning."""

    def decorate(cls: Class) -> Class:
        cls.old_names = names
        for method in ("__init__", "set_params"):
            setattr(cls, method, _with_new_names(getattr(cls, method), names))
        return cls

    return decorate


def new_names(cls: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with a class's present names of parameters."""
    names: Mapping[str, str] = getattr(cls, "old_names", {})
    return {names.get(name, name): value for name, value in given.items()}


def new_options(said: Sequence[str]) -> list[str]:
    """Return the arguments of a command line with the present names of options."""
    split = (one.partition("=") for one in said)
    return [f"{_OPTIONS.get(name, name)}{sign}{value}" for name, sign, value in split]


def _with_new_names(method: Callable[..., Any], names: Mapping[str, str]) -> Callable[..., Any]:
    @wraps(method)
    def renaming(self: Any, *args: Any, **given: Any) -> Any:
        for old in names.keys() & given.keys():
            message = f"{type(self).__name__}: the parameter {old} is now called {names[old]}"
            warnings.warn(message, FutureWarning, stacklevel=2)
        return method(self, *args, **new_names(type(self), given))

    return renaming

"""The API reference, one page for each public class and function: ``python .ci/reference.py FOLDER [PACKAGE ...]``.

pdoc makes the pages from the docstrings. Any warning is an error. A class that a public function returns has a page, too.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import warnings
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pdoc.doc
import pdoc.render

PACKAGES = (
    "dsgcore",
    "dsgcore.baselines",
    "dsgcore.model_selection",
    "dsgcore.kernels",
    "dsgcore.diagnostics",
    "dsgcore.data",
    "dsgcore.experiments",
    "dsgcore.studies",
    "dsgcore.prior",
)
FOOTER = "DSG Lab"
# Modules whose classes are parts of others, and no results.
INTERNAL = (
    *("dsgcore.core.parameters", "dsgcore.kernels.features", "dsgcore.baselines.base", "dsgcore.data.reading.file"),
    *("dsgcore.solver.start", "dsgcore.solver.task"),
)


def public(package: types.ModuleType) -> dict[str, Any]:
    """Return the classes and functions that a package exports, by their names, sorted."""
    names = vars(package).get("__all__", dir(package))
    objects = {name: getattr(package, name) for name in names if not name.startswith("_")}
    return {name: value for name, value in objects.items() if is_ours(value)}


def named(value: Any) -> list[type]:
    """Return the project's classes that a function returns, or that the methods, properties and fields of a class hold."""
    own = {"": value} if inspect.isfunction(value) else {n: f for n, f in vars(value).items() if not n.startswith("_")}
    functions = [f.fget if isinstance(f, property) else getattr(f, "__func__", f) for f in own.values()]
    texts = [f.__annotations__.get("return", "") for f in functions if inspect.isfunction(f)]
    if inspect.isclass(value):
        texts += [text for name, text in vars(value).get("__annotations__", {}).items() if not name.startswith("_")]
    names = vars(sys.modules[value.__module__])
    found = [names.get(word) for text in texts for word in re.findall(r"\w+", str(text))]
    return [cls for cls in found if inspect.isclass(cls) and is_ours(cls) and cls.__module__ not in INTERNAL]


def results(values: Iterable[Any]) -> dict[str, type]:
    """Return the classes that these name, those that the found ones name, and so on, by their names."""
    known = list(values)
    n = len(known)
    for value in known:  # it grows
        known += [cls for cls in dict.fromkeys(named(value)) if cls not in known and not cls.__name__.startswith("_")]
    return {cls.__name__: cls for cls in known[n:]}


def is_ours(value: object) -> bool:
    """Return whether a value is a class or a function of the project."""
    return (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("dsgcore")


def page_of(package: types.ModuleType, name: str, value: Any) -> pdoc.doc.Module:
    """Return a page that holds one class or function, as a name of a package."""
    if inspect.isclass(value):
        resolve_types(value)
    page = types.ModuleType(f"{package.__name__}.{name}", "")
    page.__dict__.update({name: value, "__all__": [name]})
    shown = pdoc.doc.Module(page)
    for member in shown.members.values():
        if isinstance(member, pdoc.doc.Class):
            member.own_members = methods_of(member)  # type: ignore[misc]
    return shown


def methods_of(shown: pdoc.doc.Class) -> list[pdoc.doc.Doc]:
    """Return what a class's page shows: the constructor, and the methods of the project's classes, inherited or not."""
    return [
        member
        for member in shown.members.values()
        if member.taken_from[0].startswith("dsgcore")
        and not member.name.endswith("_request")  # scikit-learn's
        and (member.docstring or not isinstance(member, pdoc.doc.Variable))
    ]


def resolve_types(cls: type) -> None:
    """Replace the text of inherited types by the types: pdoc looks for their names in the subclass's module only."""
    known = ChainMap(*(vars(sys.modules[parent.__module__]) for parent in cls.__mro__))
    types_of_init = cls.__init__.__annotations__ if "__init__" in vars(cls) else {}
    for name, text in types_of_init.items():
        if isinstance(text, str) and name != "return":
            types_of_init[name] = eval(text, dict(known))


def front_of(package: types.ModuleType, values: Mapping[str, Any]) -> pdoc.doc.Module:
    """Return the page of a package: its docstring, and links to its names and then to what they return."""
    folder = package.__name__.split(".")[-1]
    links = {name: f"- [`{name}`]({folder}/{name}.html): {summary(value)}" for name, value in values.items()}
    exported = public(package)
    rows, more = [[link for name, link in links.items() if (name in exported) == own] for own in (True, False)]
    rows += ["", "Classes that these return or hold:", "", *more] if more else []
    if package.__name__ == PACKAGES[0]:
        rows += ["", "The other packages:", ""]
        rows += [
            f"- [{other}]({other.replace('.', '/')}.html): {summary(sys.modules[other])}" for other in PACKAGES[1:]
        ]
    page = types.ModuleType(package.__name__, "\n".join([inspect.getdoc(package) or "", "", *rows]))
    page.__dict__["__all__"] = []
    return pdoc.doc.Module(page)


def summary(value: object) -> str:
    """Return the first paragraph of a docstring."""
    return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")


class ArrayLike:
    """numpy's type of the same name, which its many cases would make unreadable; `ArrayLike[..]` is itself."""

    def __class_getitem__(cls, item: object) -> type:
        return cls


def shorten_types() -> None:
    """Let the signatures of all modules name numpy's array types by their short names."""
    NDArray = type("NDArray", (ArrayLike,), {})
    for short in (ArrayLike, NDArray):
        short.__module__ = "numpy.typing"
        for module in [module for name, module in sys.modules.items() if name.startswith("dsgcore")]:
            if short.__name__ in vars(module):
                setattr(module, short.__name__, short)


def write(folder: Path, chosen: Sequence[str] = PACKAGES) -> int:
    """Write the pages of some packages to a folder; return how many there are."""
    pdoc.render.configure(docformat="numpy", footer_text=FOOTER, search=True, show_source=False)
    pages: dict[str, pdoc.doc.Module] = {}
    packages = {package: public(package) for package in map(import_module, PACKAGES)}
    shown = [value for values in packages.values() for value in values.values()]
    for values in packages.values():
        more = {name: cls for name, cls in results(values.values()).items() if cls not in shown}
        values |= more
        shown += more.values()
    shorten_types()
    for package, values in packages.items():
        if package.__name__ in chosen:
            pages[package.__name__] = front_of(package, values)
            pages |= {f"{package.__name__}.{name}": page_of(package, name, value) for name, value in values.items()}
    for name, page in pages.items():
        file = folder.joinpath(*name.split(".")).with_suffix(".html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(pdoc.render.html_module(page, pages), encoding="utf-8")
    (folder / "index.html").write_text(pdoc.render.html_index(pages), encoding="utf-8")
    (folder / "search.js").write_text(pdoc.render.search_index(pages), encoding="utf-8")
    return len(pages)


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(f"{write(Path(sys.argv[1]), sys.argv[2:] or PACKAGES)} pages in {sys.argv[1]}")

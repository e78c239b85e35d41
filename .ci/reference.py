"""The API reference, one page for each public class and function: ``python .ci/reference.py FOLDER [PACKAGE ...]``.

pdoc makes the pages from the docstrings. Any warning is an error.
"""

from __future__ import annotations

import inspect
import sys
import types
import warnings
from collections import ChainMap
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

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


def public_names(package: types.ModuleType) -> list[str]:
    """Return the names of the classes and functions that a package exports, sorted."""
    names = vars(package).get("__all__", dir(package))
    objects = {name: getattr(package, name) for name in names if not name.startswith("_")}
    return [name for name, value in objects.items() if is_ours(value)]


def is_ours(value: object) -> bool:
    """Return whether a value is a class or a function of the project."""
    return (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("dsgcore")


def page_of(package: types.ModuleType, name: str) -> pdoc.doc.Module:
    """Return a page that holds one public name of a package."""
    value = getattr(package, name)
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


def front_of(package: types.ModuleType, names: list[str]) -> pdoc.doc.Module:
    """Return the page of a package: its docstring, and a list of links to its names."""
    rows = [f"- [`{name}`]({package.__name__.split('.')[-1]}/{name}.html): {summary(package, name)}" for name in names]
    if package.__name__ == PACKAGES[0]:
        rows += ["", "The other packages:", ""]
        rows += [f"- [{other}]({other.replace('.', '/')}.html): {summary(package, other)}" for other in PACKAGES[1:]]
    page = types.ModuleType(package.__name__, "\n".join([inspect.getdoc(package) or "", "", *rows]))
    page.__dict__["__all__"] = []
    return pdoc.doc.Module(page)


def summary(package: types.ModuleType, name: str) -> str:
    """Return the first paragraph of the docstring of a name, or of another package."""
    value = sys.modules.get(name) or getattr(package, name)
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
    packages = {
        package: public_names(package) for package in map(import_module, PACKAGES) if package.__name__ in chosen
    }
    shorten_types()
    for package, names in packages.items():
        pages[package.__name__] = front_of(package, names)
        pages |= {f"{package.__name__}.{name}": page_of(package, name) for name in names}
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

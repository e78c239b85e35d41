"""The pages' directions, read from their imports: what they may know of the core, and of each other."""

import ast

from cases import each
from test_imports import PAGES, ROOT, nodes

NAMES = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in PAGES}
# Rooms from the ground up: each may import those before it, and itself. The router stands above all of them.
ORDER = (
    "charts",
    "pictures",
    "server",
    "shell",
    "controls",
    "explained",
    "upload",
    "gallery",
    "comparing",
    "race",
    "studies",
    "session",
    "room",
    "live",
    "handouts",
    "workbench",
    "stage",
)

ROUTER = "pages.shell.router"


def imported(file):
    """The modules and names that a file imports, in functions as well, as whole names."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, file
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def pages_of(file):
    """The pages' modules that a file imports."""
    return {name if name in NAMES else name.rpartition(".")[0] for name in imported(file) if name.startswith("pages.")}


def test_the_rooms_are_those_that_are_there():
    assert {file.parent.name for file in PAGES if file.parents[1].name == "pages"} == set(ORDER)
    assert pages_of(NAMES["pages.home"]) <= set(NAMES)


@each("room", ORDER)
def test_a_room_imports_nothing_that_stands_above_it(room):
    below = {*ORDER[: ORDER.index(room) + 1]}
    strange = {
        f"{name} imports {other}"
        for name, file in NAMES.items()
        if name.startswith(f"pages.{room}.") and name != ROUTER
        for other in pages_of(file) - {ROUTER}
        if other.split(".")[1] not in below
    }
    assert strange == set()


def test_the_pages_import_in_no_circle():
    waiting = {name: pages_of(file) for name, file in NAMES.items()}
    while free := [name for name, needs in waiting.items() if not needs & set(waiting)]:
        for name in free:
            del waiting[name]
    assert waiting == {}

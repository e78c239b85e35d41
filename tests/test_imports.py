"""The architecture's directions, read from the imports themselves."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest
from cases import each

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dsgcore"
MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted(PACKAGE.rglob("*.py"))
}
PAGES = sorted([*ROOT.glob("app.py"), *ROOT.glob("pages/**/*.py")])
# All Python files of the project, without hidden folders, virtual environments and builds.
FILES = sorted(
    file
    for file in ROOT.rglob("*.py")
    if not any(part.startswith(".") or part in ("venv", "build", "dist") for part in file.relative_to(ROOT).parts)
)


@cache
def tree(file):
    """A file's tree; parsed once more where another test's thread did the same at that moment, which CPython 3.11 cannot bear."""
    source = file.read_text(encoding="utf-8")
    try:
        return ast.parse(source)
    except SystemError:
        return ast.parse(source)


def nodes(file, *, runs=False):
    """Every node of a file, or only those that ever run: not those for type checkers."""
    waiting = [tree(file)]
    while waiting:
        node = waiting.pop()
        yield node
        if runs and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
            continue
        waiting.extend(ast.iter_child_nodes(node))


def base_of(node, name, file):
    """Return the absolute name of a `from` import's module: relative ones start at the file's package."""
    if not node.level:
        return node.module
    is_package = file.name == "__init__.py"
    parts = name.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, *([node.module] if node.module else [])])


@cache
def imported(file, *, runs=False):
    """The modules that a file imports: `from a import b` is a.b where that is a module, else a."""
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    found = set()
    for node in nodes(file, runs=runs):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = base_of(node, name, file)
            found.update(f"{base}.{a.name}" if f"{base}.{a.name}" in MODULES else base for a in node.names)
    return found


def imports(file, *packages):
    """Whether a file imports one of these packages or modules, or something in them."""
    return any(name == p or name.startswith(p + ".") for name in imported(file) for p in packages)


def shown(files):
    return [str(file.relative_to(ROOT)) for file in files]


def of(*names):
    """The files of some modules of the package, and of everything in them."""
    names = [f"dsgcore.{name}" for name in names]
    return [file for module, file in MODULES.items() if any(module == n or module.startswith(n + ".") for n in names)]


def test_the_reading_of_imports_sees_what_there_is():
    assert {
        "dsgcore",
        "dsgcore.kernels.loops",
        "dsgcore.solver.loop",
        "dsgcore.problems",
        "dsgcore.problems.auc",
    } <= set(MODULES)
    assert "numba" in imported(PACKAGE / "kernels" / "loops.py")
    assert {"dsgcore.kernels.loops", "dsgcore.core.threads"} <= imported(PACKAGE / "kernels" / "features.py")
    assert "dsgcore.solver.carried" in imported(PACKAGE / "solver" / "loop.py")
    assert PACKAGE / "solver" / "loop.py" in FILES
    assert imports(PACKAGE / "kernels" / "loops.py", "numba")
    assert not imports(PACKAGE / "solver" / "loop.py", "numba")


def test_numba_is_imported_by_the_loops_only():
    assert shown(f for f in FILES if "tests" not in f.parts and imports(f, "numba")) == ["dsgcore/kernels/loops.py"]


def test_streamlit_and_plotly_are_imported_by_the_app_and_its_pages_only():
    allowed = {*PAGES, *(ROOT / "tests").rglob("*.py")}
    assert shown(f for f in FILES if f not in allowed and imports(f, "streamlit", "plotly")) == []


# Each room, and the only others that it may import.
ROOMS = {
    "core": (),
    "kernels": ("core",),
    "solver": ("core", "kernels"),
    "jobs": ("core",),
    "problems": ("core", "kernels", "solver"),
    "data": ("core", "kernels", "solver", "problems"),
    "settings": ("core", "kernels", "solver", "problems", "multiclass", "prior"),
}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_nothing_that_stands_above_it(room):
    files = of(room)
    assert files
    allowed = {"dsgcore", f"dsgcore.{room}", *(f"dsgcore.{other}" for other in ROOMS[room])}
    strange = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for name in imported(file, runs=room == "settings")  # whose types are those of specs
        if name.split(".")[0] == "dsgcore" and ".".join(name.split(".")[:2]) not in allowed
    }
    assert strange == set()


def room_of(name):
    """The folder of a module, or the module itself beside the folders."""
    return name.split(".")[1]


def named(file):
    """The modules that a file's texts name, as tables of what is imported on first access do."""
    texts = (
        node.value for node in nodes(file, runs=True) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return {text.split(":")[0] for text in texts if re.fullmatch(r"dsgcore(\.\w+)+(:\w+)?", text)}


def test_no_folders_import_each_other_in_a_circle():
    graph = {}
    for name, file in MODULES.items():
        if name not in ("dsgcore", "dsgcore.__main__"):
            others = {room_of(o) for o in imported(file, runs=True) | named(file) if o.startswith("dsgcore.")}
            graph.setdefault(room_of(name), set()).update(others - {room_of(name)})
    assert "dsgcore.cli.fit" in named(PACKAGE / "__main__.py")
    assert {"core", "kernels", "solver", "problems"} <= graph["estimators"]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(f"folders in a circle: {' -> '.join(circle.args[1])}")


def test_the_loops_are_called_through_few_modules():
    users = [f for f in MODULES.values() if imports(f, "dsgcore.kernels.loops") and not f.name.startswith("_loops_")]
    assert shown(users) == [
        "dsgcore/kernels/features.py",
        "dsgcore/kernels/kernels.py",
        "dsgcore/solver/near_risks.py",
    ]


def test_the_loops_import_nothing_of_the_package_but_the_cache_folder():
    own = {name for name in imported(PACKAGE / "kernels" / "loops.py") if name.startswith("dsgcore.")}
    assert own == {"dsgcore.core.files"}


def test_baselines_never_import_the_solver():
    assert shown(f for f in of("baselines") if imports(f, "dsgcore.solver.loop", "dsgcore.multiclass.loop")) == []


def test_nothing_in_the_package_imports_the_app_or_the_tests():
    assert shown(f for f in MODULES.values() if imports(f, "app", "pages", "tests", "naive")) == []


def private_names(file):
    """Return the names with a leading underscore that a file imports from the package."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "dsgcore" and any(part.startswith("_") for part in name.split(".")):
                yield name


@each("file", PAGES)
def test_pages_import_public_names_of_the_package_only(file):
    assert list(private_names(file)) == []


def test_modules_do_not_import_each_other_in_a_circle():
    # Importing a.b also runs a/__init__. This does not count, or every package would be a circle.
    waits_for = {
        name: {other for other in imported(file, runs=True) if other in MODULES} - {name}
        for name, file in MODULES.items()
    }
    while ready := [name for name, others in waits_for.items() if not others]:
        for name in ready:
            del waits_for[name]
        waits_for = {name: others - set(ready) for name, others in waits_for.items()}
    assert waits_for == {}, "these modules wait for each other"


def undocumented(file):
    for node in tree(file).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if ast.get_docstring(node) is None:
                yield node.name
            methods = node.body if isinstance(node, ast.ClassDef) else []
            for method in methods:
                if (
                    isinstance(method, ast.FunctionDef)
                    and not method.name.startswith("_")
                    and ast.get_docstring(method) is None
                ):
                    yield f"{node.name}.{method.name}"


@each("name", MODULES)
def test_public_functions_and_classes_have_docstrings(name):
    assert list(undocumented(MODULES[name])) == []


def test_the_parts_of_the_package_are_there_without_an_import_of_their_own():
    said = "import dsgcore; print(dsgcore.baselines.SVOREX.__name__, dsgcore.data.DATASETS['wine'].n)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout.split() == ["SVOREX", "178"], done.stderr[-500:]


@pytest.mark.parametrize("name", [n.split(".")[1] for n in MODULES if n.count(".") == 1 and "._" not in n])
def test_each_public_part_is_an_attribute_of_the_package(monkeypatch, name):
    import_module(f"dsgcore.{name}")
    monkeypatch.delattr(f"dsgcore.{name}")
    assert getattr(import_module("dsgcore"), name).__name__ == f"dsgcore.{name}"


@pytest.mark.parametrize("name", ["nothing", "_loops_of_nothing", "__path_of_nothing__"])
def test_what_is_no_part_of_the_package_is_no_attribute(name):
    assert not hasattr(import_module("dsgcore"), name)

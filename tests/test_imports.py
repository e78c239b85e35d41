"""The architecture's directions, read from the imports themselves."""

import ast
import re
import subprocess
import sys
import threading
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import numpy as np
import pytest
from cases import each
from sklearn.datasets import make_moons

import dsgcore
from dsgcore import QSGS2AUC
from dsgcore.core import threads
from dsgcore.experiments import Run, read_spec
from dsgcore.kernels import Gaussian
from dsgcore.problems import SemiSupervisedAUC
from dsgcore.solver.loop import solve
from dsgcore.solver.task import Plan, Task

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dsgcore"


def named_files(*files):
    """Return files by the names of their modules."""
    return {".".join(f.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): f for f in sorted(files)}


MODULES = named_files(*PACKAGE.rglob("*.py"))
PAGES = named_files(ROOT / "app.py", *ROOT.glob("pages/**/*.py"))
# Rooms of the package, each with the only others that it may import.
ROOMS = {
    "core": (),
    "kernels": ("core",),
    "solver": ("core", "kernels"),
    "jobs": ("core",),
    "problems": ("core", "kernels", "solver"),
    "data": ("core", "kernels", "solver", "problems"),
    "settings": ("core", "kernels", "solver", "problems", "multiclass", "prior"),
}
# Rooms of the pages from the ground up: each may import those before it, and itself. The router stands above all of them.
ORDER = (
    *("charts", "shell", "controls", "explained", "upload", "gallery", "comparing", "race"),
    *("studies", "session", "room", "live", "handouts", "workbench", "stage"),
)
ROUTER = "pages.shell.router"
ALLOWED = {
    f"dsgcore.{room}": {"dsgcore", *(f"dsgcore.{one}" for one in (room, *below))} for room, below in ROOMS.items()
}
ALLOWED |= {f"pages.{room}": {f"pages.{one}" for one in ORDER[: place + 1]} for place, room in enumerate(ORDER)}


def nodes(file, *, runs=False):
    """Every node of a file, or only those that ever run: not those for type checkers."""
    waiting = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        yield node
        if runs and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
        else:
            waiting.extend(ast.iter_child_nodes(node))


@cache
def imported(file, *, runs=False):
    """The modules that a file imports, in functions as well: `from a import b` is a.b where that is a module, else a."""
    found = set()
    for node in nodes(file, runs=runs):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file} has a relative import"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found.update(name if name in MODULES or name in PAGES else node.module for name in names)
    return found


def those_that_import(files, *packages):
    """Return the files that import one of these packages or modules, or something in them."""
    found = {f for f in files for name in imported(f) if any(name == p or name.startswith(p + ".") for p in packages)}
    return sorted(str(file.relative_to(ROOT)) for file in found)


def of(room):
    """Return the files of a room; the router is of none."""
    found = {name: file for name, file in (MODULES | PAGES).items() if f"{name}.".startswith(f"{room}.")}
    return [file for name, file in found.items() if name != ROUTER]


def test_some_libraries_are_imported_in_few_places_and_some_parts_of_the_package_nowhere():
    files = MODULES.values()
    assert those_that_import([*files, *PAGES.values()], "numba") == ["dsgcore/kernels/loops.py"]
    assert {name for name in imported(PACKAGE / "kernels" / "loops.py") if "dsgcore." in name} == {"dsgcore.core.files"}
    assert those_that_import([*files, *PAGES.values()], "plotly") == []  # 60 MB: the browser draws with its own copy
    assert those_that_import(files, "streamlit", "app", "pages", "tests", "naive") == []
    assert those_that_import(of("dsgcore.baselines"), "dsgcore.solver.loop", "dsgcore.multiclass.loop") == []
    users = those_that_import(files, "dsgcore.kernels.loops")
    assert [Path(user).stem for user in users] == ["features", "kernels", "start"]


@each("room, allowed", ALLOWED.items())
def test_a_room_imports_nothing_that_stands_above_it(room, allowed):
    whole = room.partition(".")[0]
    found = {name for file in of(room) for name in imported(file) - {ROUTER} if name.partition(".")[0] == whole}
    assert of(room)
    assert {name for name in found if ".".join(name.split(".")[:2]) not in allowed} == set()


def test_pages_import_public_names_of_the_package_only():
    for name, file in PAGES.items():
        lines = [ast.unparse(node) for node in nodes(file) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert [line for line in lines if re.search(r"dsgcore\S* .*\b_|dsgcore\S*\._", line)] == [], name


def test_every_room_of_the_pages_has_its_place():
    assert {name.split(".")[1] for name in PAGES if name.count(".") == 2} == {*ORDER}


def named(file):
    """The modules that a file's texts name, as tables of what is imported on first access do."""
    texts = (n.value for n in nodes(file, runs=True) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return {text.split(":")[0] for text in texts if re.fullmatch(r"dsgcore(\.\w+)+(:\w+)?", text)}


def fail_for_a_circle(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(f"in a circle: {' -> '.join(circle.args[1])}")


def test_neither_folders_nor_modules_import_each_other_in_a_circle():
    folders = {}
    for name, file in MODULES.items():
        if name not in ("dsgcore", "dsgcore.__main__"):
            room = name.split(".")[1]
            others = {o.split(".")[1] for o in imported(file) | named(file) if o.startswith("dsgcore.")}
            folders.setdefault(room, set()).update(others - {room})
    fail_for_a_circle(folders)
    for modules in (MODULES, PAGES):  # importing a.b also runs a/__init__: this does not count
        fail_for_a_circle({n: (imported(f, runs=True) & set(modules)) - {n} for n, f in modules.items()})


def test_the_package_alone_imports_nothing_heavy_its_parts_on_first_access_and_models_and_the_solver_no_scikit_learn():
    program = (
        "import sys, dsgcore; print([m for m in ('numpy', 'numba', 'scipy', 'sklearn') if m in sys.modules])\n"
        "print(dsgcore.kernels.__name__)\n"
        "from dsgcore import Expansion, load_model; import dsgcore.solver.loop; print('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "dsgcore.kernels", "False"]


def test_every_public_name_is_there_and_no_other():
    assert set(dsgcore.__all__) <= set(dir(dsgcore))
    assert all(hasattr(dsgcore, name) for name in dsgcore.__all__)
    for name in ("nothing", "_loops_of_nothing", "__path_of_nothing__"):
        assert not hasattr(dsgcore, name)


# --- how much code a reader passes


SOURCES = str(Path(dsgcore.__file__).parent)
X, Y = make_moons(400, noise=0.1, random_state=0)
FEW = np.where(np.arange(400) < 40, Y, -1)
COMPILED = f"{SOURCES}/kernels/loops.py"


class Passed:
    """The functions of the package that are called, in all threads; comprehensions and compiled loops do not count."""

    def __init__(self):
        self.functions, self.depths = set(), Counter()

    def __call__(self, frame, event, argument):
        if event != "call" or not is_ours(frame):
            return
        self.functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))
        if frame.f_code.co_qualname == "solve":
            self.depths[depth_of(frame.f_back)] += 1

    def __enter__(self):
        threading.setprofile(self)
        threads.set_workers(threads.n_workers())  # new threads, which are followed
        sys.setprofile(self)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)
        threading.setprofile(None)
        threads.set_workers(threads.n_workers())

    @property
    def files(self):
        return {file for file, _ in self.functions}

    def shown(self):
        return "\n".join(sorted(f"{Path(file).relative_to(SOURCES)}: {name}" for file, name in self.functions))


def is_ours(frame):
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    return file.startswith(SOURCES) and file != COMPILED and not name.endswith("comp>") and name != "<genexpr>"


def depth_of(frame):
    """Return the number of the package's frames from a fit to here."""
    n = 0
    while frame is not None:
        n += is_ours(frame)
        frame = frame.f_back
    return n


def test_few_frames_lead_from_a_fit_to_the_solver_and_a_fit_passes_few_functions_in_few_files():
    model = QSGS2AUC(random_state=0).fit(X, FEW)  # compiles what is not compiled yet
    with Passed() as fit:
        model.fit(X, FEW)
    assert set(fit.depths) == {3}
    assert len(fit.functions) <= 90, fit.shown()
    assert len(fit.files) <= 20, fit.shown()


def test_an_iteration_passes_few_functions_in_few_files():
    problem = SemiSupervisedAUC().bind(FEW)
    plan = Plan("constant", 0.5, 0.01, 64, 40)
    task = Task(problem, Gaussian(1.0), X.astype(np.float32), problem.rows(FEW), plan, 32, 0, np.dtype("float32"))
    iterates = solve(task, task.new_model())
    for _ in range(10):
        next(iterates)
    with Passed() as passed:
        next(iterates)
    assert len(passed.functions) <= 15, passed.shown()
    assert len(passed.files) <= 8, passed.shown()


def test_from_a_spec_to_its_history_few_functions_in_few_files_are_passed(tmp_path):
    spec = tmp_path / "spec.json"
    spec.write_text('{"setting": "auc", "data": {"name": "two_moons", "n": 500}, "solver": {"n_iter": 20}}')
    Run(read_spec(spec)).advance()  # compiles what is not compiled yet
    with Passed() as passed:
        run = Run(read_spec(spec))
    assert len(passed.functions) <= 64, passed.shown()  # wanted: 60 in 18 files
    assert len(passed.files) <= 20, passed.shown()
    with Passed() as passed:
        run.advance()
    assert len(passed.functions) <= 70, passed.shown()
    assert len(passed.files) <= 15, passed.shown()

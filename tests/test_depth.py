"""How much code a reader passes: frames down to the solver, and functions and files of a fit and of an iteration."""

import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_moons

import dsgcore
from dsgcore import QSGS2AUC
from dsgcore.core import threads
from dsgcore.experiments import Run, read_spec
from dsgcore.kernels import Gaussian
from dsgcore.problems import SemiSupervisedAUC
from dsgcore.solver.loop import solve
from dsgcore.solver.plan import Plan
from dsgcore.solver.task import Task

PACKAGE = str(Path(dsgcore.__file__).parent)
X, Y = make_moons(400, noise=0.1, random_state=0)
FEW = np.where(np.arange(400) < 40, Y, -1)
COMPILED = f"{PACKAGE}/kernels/loops.py"


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
        return "\n".join(sorted(f"{Path(file).relative_to(PACKAGE)}: {name}" for file, name in self.functions))


def is_ours(frame):
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    return file.startswith(PACKAGE) and file != COMPILED and not name.endswith("comp>") and name != "<genexpr>"


def depth_of(frame):
    """Return the number of the package's frames from a fit to here."""
    n = 0
    while frame is not None:
        n += is_ours(frame)
        frame = frame.f_back
    return n


@pytest.fixture(scope="module")
def fit():
    model = QSGS2AUC(random_state=0).fit(X, FEW)  # compiles what is not compiled yet
    with Passed() as passed:
        model.fit(X, FEW)
    return passed


def test_few_frames_lead_from_a_fit_to_the_solver(fit):
    assert set(fit.depths) == {3}


def test_a_fit_passes_few_functions_in_few_files(fit):
    assert len(fit.functions) <= 170, fit.shown()  # wanted: 90 in 20 files
    assert len(fit.files) <= 26, fit.shown()


def test_an_iteration_passes_few_functions_in_few_files():
    problem = SemiSupervisedAUC().bind(FEW)
    plan = Plan("constant", 0.5, 0.01, 64, 40)
    task = Task(problem, Gaussian(1.0), X.astype(np.float32), problem.rows(FEW), plan, 32, 0, np.dtype("float32"))
    iterates = solve(task, task.new_model())
    for _ in range(10):
        next(iterates)
    with Passed() as passed:
        next(iterates)
    assert len(passed.functions) <= 37, passed.shown()  # wanted: 15 in 8 files
    assert len(passed.files) <= 10, passed.shown()


def test_from_a_spec_to_its_history_few_functions_in_few_files_are_passed(tmp_path):
    spec = tmp_path / "spec.json"
    spec.write_text('{"setting": "auc", "data": {"name": "two_moons", "n": 500}, "solver": {"n_iter": 20}}')
    Run(read_spec(spec)).advance()  # compiles what is not compiled yet
    with Passed() as passed:
        run = Run(read_spec(spec))
    assert len(passed.functions) <= 134, passed.shown()  # wanted: 30 in 10 files
    assert len(passed.files) <= 32, passed.shown()
    with Passed() as passed:
        run.advance()
    assert len(passed.functions) <= 101, passed.shown()
    assert len(passed.files) <= 19, passed.shown()

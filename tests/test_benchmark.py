"""The benchmark's structure, at tiny sizes; its figures are for people."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from performance import (
    GROUPS,
    LONG_GROUPS,
    Sizes,
    memory,
    plain,
    prediction,
    run_benchmark,
    start,
)
from performance.machine import heading, line, summary

import dsgcore
from dsgcore.solver.exact import alpha
from dsgcore.solver.loop import solve

FEW = {"repeats": 1, "n": 60, "d": 3, "m": 8, "n_iter": 4, "batch_size": 5, "plain_iter": 2, "growth": 2}
MANY = {"rows": 200, "demo_iter": 2, "predicted": 100, "stored": 3000, "fitted": 200, "fitted_d": 5}
TINY = Sizes(**FEW, **MANY, dimensions=(3, 130))


@pytest.fixture
def in_this_process(monkeypatch):
    """Run the measurements' programs in this process: a separate one takes seconds to import the same."""

    def run(program, *arguments, **environment):
        with monkeypatch.context() as patch, redirect_stdout(StringIO()) as printed:
            patch.setattr(sys, "argv", ["", *map(str, arguments)])
            exec(program, {})
        return json.loads(printed.getvalue())

    for module in (memory, prediction, start):
        monkeypatch.setattr(module, "in_new_process", run)


@pytest.mark.weekly
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("name", [*GROUPS, *LONG_GROUPS])
def test_every_group_gives_rows_of_finite_numbers(name, capsys):
    rows = run_benchmark(only=name, sizes=TINY)
    assert rows
    assert all(np.isfinite(row.value) for row in rows)
    assert len({row.name for row in rows}) == len(rows)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == heading()
    assert printed[1:] == [*map(line, rows), summary(rows)]


def test_the_plain_algorithm_makes_the_solvers_model(make_task):
    task = make_task()
    model = task.new_model()
    for _ in solve(task, model):
        pass
    for t, coefficients in enumerate(plain.train(task, task.plan.n_iter), start=1):
        np.testing.assert_allclose(coefficients, alpha(model, t), rtol=1e-9, atol=1e-12)


# Imports and the first call


def in_new_process(program, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_package_alone_imports_nothing_heavy_and_models_and_the_solver_no_scikit_learn():
    heavy = in_new_process(
        "import sys, dsgcore; print([m for m in ('numpy', 'numba', 'scipy', 'sklearn') if m in sys.modules])\n"
        "from dsgcore import Expansion, load_model; import dsgcore.solver.loop; print('sklearn' in sys.modules)"
    )
    assert heavy.split() == ["[]", "False"]


def test_every_public_name_is_there_and_listed():
    assert set(dsgcore.__all__) <= set(dir(dsgcore))
    assert all(getattr(dsgcore, name) is getattr(dsgcore, name) for name in dsgcore.__all__)
    assert dsgcore._MODULES.keys() == set(dsgcore.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = dsgcore.nothing


@pytest.mark.ci
def test_all_works_where_no_cache_can_be_written(tmp_path):
    # Tests may run as root, which no permission stops. So files take the places of folders here.
    shutil.copytree(Path(dsgcore.__file__).parent, tmp_path / "dsgcore", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (tmp_path / "dsgcore", *(tmp_path / "dsgcore").glob("*/")):
        (folder / "__pycache__").touch()
    nowhere = os.devnull + "/none"
    printed = in_new_process(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from dsgcore.kernels import loops, features\n"
        "first = next(iter(features.warm_up_steps().values()))\n"
        "print(loops.__file__, hasattr(loops.evaluate, 'kept'), first().shape)",
        HOME=nowhere,
        XDG_CACHE_HOME=nowhere,
        NUMBA_CACHE_DIR=nowhere,
        LOCALAPPDATA=nowhere,
    )
    assert printed == f"{tmp_path / 'dsgcore' / 'kernels' / 'loops.py'} False (2, 2)"

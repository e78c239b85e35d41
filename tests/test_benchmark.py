"""The benchmark's structure, at tiny sizes; its figures are for people."""

import os
import subprocess
import sys

import pytest

import dsgcore

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

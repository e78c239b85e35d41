"""The benchmark's structure, at tiny sizes; its figures are for people."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import performance
import pytest
from performance import (
    GROUPS,
    LONG_GROUPS,
    Sizes,
    machine,
    measuring,
    memory,
    plain,
    prediction,
    run_benchmark,
    runs,
    start,
)
from performance.figure import figure
from performance.machine import Row, heading, line, summary
from speed import main

import dsgcore
from dsgcore.solver.diagnostics import alpha
from dsgcore.solver.loop import solve

FEW = {"repeats": 1, "n": 60, "d": 3, "m": 8, "n_iter": 4, "batch_size": 5, "plain_iter": 2, "growth": 2}
MANY = {"rows": 200, "demo_iter": 2, "predicted": 100, "stored": 3000, "fitted": 200, "fitted_d": 5}
TINY = Sizes(**FEW, **MANY, dimensions=(3, 130))


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(performance, "Sizes", lambda: TINY)


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


def test_the_json_file_has_the_agreed_shape(tiny, tmp_path, capsys):
    file = tmp_path / "bench.json"
    main(["--only", "machine", "--json", str(file)])
    report = json.loads(file.read_text(encoding="utf-8"))
    assert set(report) == {"machine", "results"}
    assert report["machine"]["cores"] >= 1
    assert len(report["results"]) == 2
    for result in report["results"]:
        assert list(result) == ["name", "value", "unit", "target", "met"]


def test_the_kernel_is_measured_beside_its_floor():
    for d in (1, 784):
        measured, floor, share, numpy = machine.measure_kernel(d, n=20, m=8, repeats=1)
        assert share.value == pytest.approx(floor.value / measured.value)
        assert (share.target, numpy.target) == (0.95, 1.0 if d == 784 else None)


def test_without_a_name_all_groups_run_and_the_long_ones_if_asked(monkeypatch, capsys):
    called = []

    def group(name):
        def measure(sizes):
            called.append(name)
            yield Row(name, 1.0, "")

        return measure

    for groups in (GROUPS, LONG_GROUPS):
        for name in groups:
            monkeypatch.setitem(groups, name, group(name))
    main([])
    assert called == list(GROUPS)
    main(["--long"])
    assert called == [*GROUPS, *GROUPS, *LONG_GROUPS]


def test_a_target_is_met_from_its_own_side():
    assert [Row("", v, "", 2.0).met for v in (1.0, 2.0, 3.0)] == [False, True, True]
    assert [Row("", v, "", 2.0, is_most=True).met for v in (1.0, 2.0, 3.0)] == [True, True, False]
    assert Row("", 1.0, "").met is None
    assert Row("", np.float64(1.0), "", 2.0).met is False, "JSON knows no booleans of NumPy"
    rows = [Row("", 1.0, "", 2.0), Row("", 3.0, "", 2.0), Row("", 3.0, "")]
    assert summary(rows) == "1 of 2 targets are met."
    assert line(rows[0]).endswith(">= 2  NO, 50.0% below")
    assert line(Row("", 3.0, "", 2.0, is_most=True)).endswith("<= 2  NO, 50.0% above")


def test_the_plain_algorithm_makes_the_solvers_model(make_task):
    task = make_task()
    model = task.new_model()
    for _ in solve(task, model):
        pass
    for t, coefficients in enumerate(plain.train(task, task.plan.n_iter), start=1):
        np.testing.assert_allclose(coefficients, alpha(model, t), rtol=1e-9, atol=1e-12)


def test_evaluations_are_counted_where_they_are_made(monkeypatch):
    task, counted = runs.paper_task(40, 3, 7, 6, 5), []
    feature_map = task.kernel.feature_map
    for name in ("evaluate", "accumulate"):
        original = getattr(feature_map, name)

        def counting(X, second, *others, original=original, name=name):
            counted.append(len(X) * 7)
            return original(X, second, *others)

        monkeypatch.setattr(feature_map, name, counting)
    assert runs.train(task) == sum(counted)


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


def test_a_process_of_its_own_gives_what_it_prints():
    program = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ['SAID']]))"
    assert measuring.in_new_process(program, 1, SAID="yes") == [["1"], "yes"]


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


def test_the_figure_shows_the_comparisons_and_is_well_formed():
    rows = [Row("a < b / ours", 8.0, "x"), Row("memory", 3.0, "MB"), Row("  c / ours", 0.5, "x", 60)]
    report = {"machine": {"processor": "R&D", "workers": 2}, "results": [row.to_dict() for row in rows]}
    texts = [
        element.text for element in ElementTree.fromstring(figure(report)).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert texts == ["Time of others / time of dsgcore (R&D, 2 threads)", "a < b", "8×", "c", "0.5×"]

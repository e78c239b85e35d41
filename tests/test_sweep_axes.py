"""Axes and seeds of ``sweep`` on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from cases import each
from commands import refusal

from dsgcore.__main__ import main
from dsgcore.cli.sweep import asked_study, axis_of
from dsgcore.studies import Study, StudyError

SPEC = {"setting": "auc", "data": {"name": "two_moons", "n": 100, "n_labeled": 20}, "solver": {"n_iter": 3}}


@each(
    "text, axis",
    (
        ("kernel.sigma=0.1:10:8:log", {"name": "kernel.sigma", "from": 0.1, "to": 10.0, "n": 8, "scale": "log"}),
        ("problem.gamma=0:1:3", {"name": "problem.gamma", "from": 0.0, "to": 1.0, "n": 3}),
        ("problem.gamma=0,0.5", {"name": "problem.gamma", "values": [0, 0.5]}),
        ("problem.pairing=all,triplets", {"name": "problem.pairing", "values": ["all", "triplets"]}),
        ("solver.n_iter=5", {"name": "solver.n_iter", "values": [5]}),
    ),
)
def test_an_axis_is_a_range_or_values(text, axis):
    assert axis_of(text) == axis


@each(
    "text",
    (
        "kernel.sigma",
        "kernel.sigma=",
        "kernel.sigma=1:2",
        "kernel.sigma=a:2:3",
        "kernel.sigma=1:2:3.5",
        "x=1:2:3:log:4",
    ),
)
def test_an_axis_that_cannot_be_read_is_refused(text):
    with pytest.raises(StudyError, match="--axis must be NAME=FROM:TO:N"):
        axis_of(text)


def test_a_settings_name_is_a_study_of_its_default_spec():
    study = asked_study(Path("auc"), ["kernel.sigma=0.1:10:3:log"], 2)
    assert study.spec.problem.name == "auc"
    assert study.seeds == (0, 1)
    assert sorted({run.values[0] for run in study.runs()}) == pytest.approx(np.geomspace(0.1, 10, 3))


def test_options_replace_the_axes_and_seeds_of_a_file(tmp_path):
    file = tmp_path / "study.json"
    plain = {"spec": SPEC, "axes": [{"name": "problem.gamma", "values": [0, 1]}], "seeds": [5]}
    file.write_text(json.dumps(plain), encoding="utf-8")
    assert asked_study(file, [], None) == Study.from_dict(plain)
    changed = asked_study(file, ["solver.n_iter=2,3"], 3)
    assert [axis.name for axis in changed.axes] == ["solver.n_iter"]
    assert (changed.seeds, len(changed)) == ((0, 1, 2), 6)


@pytest.mark.compiled
def test_the_command_makes_the_runs(tmp_path):
    file, table = tmp_path / "study.json", tmp_path / "table.csv"
    file.write_text(json.dumps({"spec": SPEC}), encoding="utf-8")
    given = ["sweep", str(file), "--axis", "problem.gamma=0,1", "--seeds", "2", "--jobs", "1", "--quiet"]
    assert main([*given, "--store", str(tmp_path / "runs.sqlite"), "--csv", str(table)]) == 0
    assert len(table.read_text().splitlines()) == 1 + 4


@each(
    "options, message",
    (
        (["--axis", "sigma"], "--axis must be NAME=FROM:TO:N"),
        (["--axis", "eta=1,2"], "an axis must be one of"),
        (["--seeds", "0"], "--seeds must be at least 1"),
    ),
)
def test_bad_options_end_with_one_sentence(options, message, capsys):
    assert message in refusal(capsys, ["sweep", "auc", *options])

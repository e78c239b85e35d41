"""The commands: their ends and results, what their options become, the places of results, their streams and their help."""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each, some
from clocks import Clock
from commands import refusal
from small_specs import OWN_LESSON
from test_run import read_csv, small, table

from dsgcore import TSGS3VM, DSGError, Run, Spec, load_model
from dsgcore.__main__ import main
from dsgcore.cli.ending import Progress
from dsgcore.cli.fit import METHODS, estimator_of, own_of
from dsgcore.cli.options import PROGRAM, command_parser, reading_of
from dsgcore.comparing.reproductions import reproduction
from dsgcore.core.durations import TimeLeft
from dsgcore.data.archive_sets import REMOTE_SETS
from dsgcore.data.datasets import LABELS


def written(place, spec):
    place.write_text(spec.to_json(), encoding="utf-8")
    return str(place)


def test_run_writes_history_model_spec_and_result_and_that_it_has_diverged(tmp_path, capsys):
    spec, out = small(), tmp_path / "out"
    assert main(["run", written(tmp_path / "spec.json", spec), "--out", str(out), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    run = Run(spec)
    run.advance()
    assert (read_csv(out / "history.csv")[1] == table(run)).all()
    assert Spec.from_json((out / "spec.json").read_text(encoding="utf-8")) == spec
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert (result["spec_sha256"], result["stop_reason"], result["iterations"]) == (spec.sha256, "finished", 12)
    assert result["last"]["score_test"] == run.history.last()["score_test"]
    assert len(load_model(out / "model.npz")) == 12
    wild = written(tmp_path / "wild.json", small(step_size=1e6))
    assert main(["run", wild, "--out", str(tmp_path / "wild"), "--quiet"]) == 1
    assert capsys.readouterr().out == ""
    assert json.loads((tmp_path / "wild" / "result.json").read_text(encoding="utf-8"))["stop_reason"] == "diverged"


def contents(folder):
    return {file: (file.read_bytes(), file.is_symlink()) for file in folder.rglob("*") if file.is_file()}


def fails_at(monkeypatch, step):
    """Let the `step`-th call of whatever writes, saves or renames fail."""
    calls = itertools.count(1)

    def failing(function):
        def called(*given, **options):
            if next(calls) == step:
                raise OSError("no space left on device")
            return function(*given, **options)

        return called

    for owner, name in ((os, "replace"), (np, "save"), (Path, "write_text")):
        monkeypatch.setattr(owner, name, failing(getattr(owner, name)))


def test_a_failure_while_results_are_written_leaves_those_before_as_a_whole(tmp_path, monkeypatch):
    out, before = tmp_path / "out", None
    for step in range(9):
        spec = written(tmp_path / "spec.json", replace(small(), seed=step))
        command = ["run", spec, "--out", str(out), "--quiet"]
        if step:
            with monkeypatch.context() as broken:
                fails_at(broken, step)
                assert main(command) == 2
            assert {file.name: file.read_bytes() for file in out.iterdir()} == before
        assert main(command) == 0
        assert before is None or (out / "history.csv").read_bytes() != before["history.csv"]
        before = {file.name: file.read_bytes() for file in out.iterdir()}


# --- what commands end with, and what they print


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    """A person's folder: a table, a study of it, specs, a folder of Parquet files, a model, and what cannot be used."""
    folder = tmp_path_factory.mktemp("person")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    table["class"] = np.where(table["a"] > 0, "yes", "no")
    table.to_csv(folder / "data.csv", index=False)
    table.assign(**{"class": table["class"].where(table.index < 40)}).to_csv(folder / "half.csv", index=False)
    (folder / "rows").mkdir()
    table.to_parquet(folder / "rows" / "0.parquet")
    spec = {"setting": "auc", "data": {"name": "file", "path": "data.csv", "n_labeled": 10}, "solver": {"n_iter": 3}}
    moons = {"name": "two_moons", "n": 100, "n_labeled": 10}
    settled = {"n_iter": 4000, "n_features": 64, "batch_size": 16, "lam": 0.5, "step_size": 0.1}
    named = {
        "spec": spec,
        "study": {"spec": spec, "axes": [{"name": "kernel.sigma", "values": [1.0]}], "seeds": [0]},
        "wild": {**spec, "solver": {"n_iter": 5, "step_size": 1e6}},
        "settled": {"setting": "auc", "data": moons, "solver": settled},
        "late": {"spec": spec, "budget": {"seconds": 0}},
        "ten": {"setting": "auc", "solver": {"n_iter": "ten"}},
        "many": {"setting": "auc", "data": {"n_labeled": 5000}},
        "lost": {"setting": "auc", "data": {"name": "file", "path": "nowhere.npz"}},
        "others": {"spec": {"setting": "auc"}, "others": [{"setting": "auc"}]},
        "ways": {"spec": {"setting": "auc"}, "data_seed": 0},
    }
    for name, plain in named.items():
        (folder / f"{name}.json").write_text(json.dumps(plain), encoding="utf-8")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "lesson.toml").write_text(OWN_LESSON, encoding="utf-8")
    (folder / "wrong.toml").write_text(OWN_LESSON.replace("low = 20", "low = 21"), encoding="utf-8")
    y, fields = np.resize([0, 1, -1], 30), [("a", float), ("b", float)]
    for name, X in (("imaginary", np.ones((30, 2)) * 1j), ("fields", np.zeros(30, fields)), ("flat", np.ones(30))):
        np.savez(folder / f"{name}.npz", X=X, y=y)
    np.savez(folder / "points.npz", points=np.zeros((3, 2)))
    (folder / "empty.csv").write_bytes(b"")
    (folder / "wide.csv").write_bytes(b"a;b;c;kind\n" + b"1,1,x\n" * 9)
    fit = ["fit", "TSGS3VM", folder / "data.csv", "--target", "class", "--out", folder / "model", "--quiet"]
    assert main([*map(str, fit), "--set", "n_iter=3", "--set", "tol=None"]) == 0
    return folder


# A command line of each command, of names in a person's folder, and the function that does its work; OUT is a new folder or file.
COMMANDS = {
    "app": ("app --no-browser", "runpy.run_module"),
    "run": ("run spec.json --out OUT", "dsgcore.cli.runs.load_split"),
    "check": ("check spec.json --json OUT", "dsgcore.cli.runs.limits"),
    "sweep": ("sweep study.json --store OUT.sqlite --csv OUT", "dsgcore.cli.runs.carry_out"),
    "compare": ("compare data.csv --target class --store OUT.sqlite --json OUT", "dsgcore.cli.compare.compare_methods"),
    "label": ("label half.csv --target class --seconds 5 --out OUT", "dsgcore.cli.compare.label_data"),
    "fit": ("fit TSGS3VM data.csv --target class --out OUT --set n_iter=3", "dsgcore.cli.fit._training"),
    "fit in memory": ("fit PS3VT data.csv --target class --out OUT --set n_iter=3", "dsgcore.cli.fit._training"),
    "predict": ("predict model data.csv --out OUT --csv OUT.csv", "dsgcore.cli.predict.write_scores"),
    "data list": ("data list", "dsgcore.cli.data.cached"),
    "data fetch": ("data fetch cod-rna", "dsgcore.cli.data.fetch"),
    "data describe": ("data describe data.csv", "dsgcore.cli.data.describe_file"),
    "data convert": ("data convert data.csv OUT", "dsgcore.cli.data.convert_file"),
    "study open": ("study open study.json --no-browser", "runpy.run_module"),
    "export-lesson": ("export-lesson step-size --out OUT", "pages.handouts.static_lesson._page"),
    "race": ("race spec.json --json OUT", "dsgcore.cli.runs.load_split"),
    "check-lesson": ("check-lesson lesson.toml --seeds 1", "pages.session.lesson_check.findings"),
    "reproduce": ("reproduce auc/fig1 --quick --store OUT.sqlite", "dsgcore.cli.compare.carry_out_reproduction"),
}
ENDS = [
    (DSGError("the file\nis empty"), 2, "dsg-lab: the file is empty\n"),
    (FileNotFoundError(2, "No such file", "x.csv"), 2, "dsg-lab: x.csv cannot be used: No such file\n"),
    (OSError(28, "No space left on device"), 2, "dsg-lab: No space left on device\n"),
    (MemoryError(), 2, "dsg-lab: there is not enough memory: give less data\n"),
    (KeyError("step"), 70, "KeyError: 'step'); please report it"),
    (KeyboardInterrupt(), 130, "dsg-lab: stopped"),
]
# What Ctrl+C says of the work so far.
KEPT = {
    "sweep": "stopped; finished runs are kept in ",
    "compare": "stopped; finished fits are kept, and the same command continues",
    "fit": "stopped; nothing is kept",
    "predict": " are kept, and the same command continues",
}


def typed(line, out):
    return line.replace("OUT", str(out)).split()


@pytest.mark.parametrize("command", COMMANDS)
@each("error, code, said", ENDS)
def test_every_command_ends_with_a_code_and_one_sentence(command, person, capsys, error, code, said):
    line, work = COMMANDS[command]

    def fails(*_, **__):
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(person)
        patch.setattr(sys, "argv", [])
        patch.setattr(work, fails)
        ended = main(typed(line, f"out-of-{command.replace(' ', '-')}"))
    printed = capsys.readouterr().err
    if command in ("app", "study open") and code == 130:  # Ctrl+C is how it ends
        assert (ended, printed) == (0, "")
        return
    assert ended == code
    assert said in printed
    assert code != 130 or KEPT.get(command, said) in printed
    assert printed.count("\n") == 1


# What commands end with: 0, 1 if the answer is no, 2 for input that cannot be used; and words that they print; OUT is new.
# What was asked for is printed with --quiet, too.
SHORT = "--quiet --seconds 500 --methods SVC,LogisticRegression --no-curves --store OUT.sqlite"
ANSWERED = {
    "run wild.json --out OUT": (1, "dsg-lab: the run has diverged after iteration "),
    "run spec.json --out OUT": (0, "All iterations are done. history.csv, model.npz, spec.json, result.json are in "),
    "check spec.json --seeds 1 --quiet": (1, "The run has not converged: at the end it is "),
    "check settled.json --seeds 1": (0, "The run has converged: at the end it is "),
    "sweep study.json --store OUT --quiet": (0, "kernel.sigma,seed,score"),
    "sweep late.json --store OUT": (1, "dsg-lab: no run has a result: "),
    f"compare data.csv --target class --seeds 3 {SHORT}": (0, "Each seed draws 60 labels and 0 unlabeled points"),
    f"compare data.csv --target class --seeds 1 {SHORT}": (
        1,
        "No verdict yet: it needs at least 3 seeds, and there is 1.",
    ),
    "label half.csv --target class --method SVC --out OUT --quiet": (
        0,
        "SVC gives 40 rows a class, from 40 labels. Expect ",
    ),
    "fit SVC data.csv --target class --out OUT": (0, "SVC is trained. The model is in "),
    "fit DSG data.csv --target class --out OUT --set n_iter=3": (
        0,
        "DSG is trained in 3 iterations, which are all of n_iter.",
    ),
    "fit DSG data.csv --target class --out OUT --set n_iter=3 --set random_state=0.1E2": (
        0,
        "'yes' is positive, 'no' is negative.\n",
    ),
    "fit DSGSoftmax data.csv --target class --out OUT --set n_iter=3": (0, "DSGSoftmax is trained. The model is in "),
    "predict model data.csv --out OUT": (0, "1 of 1 parts, 1 new. The predictions are in "),
    "race spec.json --with SAMULT --sizes 10 --seeds 1 --quiet": (0, "SAMULT                          10"),
    "reproduce --list --quiet": (0, "auc/fig1 "),
    "reproduce auc/fig1 --quick --store OUT --quiet": (1, "auc/fig1: not run. Needs codrna"),
    "check-lesson lesson.toml --seeds 1 --quiet": (0, "lesson.toml: all holds"),
    "check-lesson wrong.toml --seeds 1 --quiet": (1, " statements do not hold"),
    "data list --quiet": (0, "In public archives (fetched by name):"),
    "data describe data.csv --quiet": (0, "80 rows, 3 columns: 2 features, the label 'class'"),
    "data convert data.csv OUT": (0, "80 rows as Parquet"),
}
# Commands, and a file that each reads.
READS = {
    "run spec.json --out OUT": "spec.json",
    "check spec.json": "spec.json",
    "sweep study.json": "study.json",
    "race spec.json": "spec.json",
    "compare data.csv": "data.csv",
    "label half.csv --out OUT": "half.csv",
    "fit TSGS3VM data.csv --out OUT": "data.csv",
    "fit PS3VT rows/0.parquet --out OUT": "rows/0.parquet",
    "predict model data.csv --out OUT": "data.csv",
    "predict model/model.npz data.csv --out OUT": "model/model.npz",
    "check-lesson lesson.toml": "lesson.toml",
    "data describe data.csv": "data.csv",
    "data convert data.csv OUT": "data.csv",
}
FIT, OF_CLASS = "fit TSGS3VM data.csv --out OUT", "data.csv --target class --out OUT"
REFUSED = {
    "nothing": "invalid choice: 'nothing'",
    "run nowhere.json --out OUT": "nowhere.json",
    "run ten.json --out OUT": "n_iter must be a whole number",
    "run many.json --out OUT": "n_labeled",
    "run lost.json --out OUT": "nowhere.npz",
    "run spec.json --out OUT --json data.csv": "--json would write to data.csv, which the command reads",
    **{f"{line} --json {own}": f"--json would write to {own}, which the command reads" for line, own in READS.items()},
    "check data.csv": "dsg-lab: ",
    "sweep study.json --axis eta=1": "eta",
    "sweep study.json --store OUT.sqlite --jobs 9999": "jobs must be a whole number between 1 and 256 or null, got 9999",
    "sweep deep.json --store OUT.sqlite": "the study is not valid JSON: it is nested too deeply (in deep.json)",
    "sweep others.json --store OUT.sqlite": "leave out others and data_seed (in others.json)",
    "sweep ways.json --store OUT.sqlite": "leave out others and data_seed (in ways.json)",
    "compare data.csv --target nothing": "there is no column 'nothing'",
    "compare nowhere.csv": "there is no file 'nowhere.csv', and no set of that name",
    "compare iris --n-labeled 1000": "n_labeled must be a whole number from 3",
    "compare iris --seeds 0": "--seeds must be at least 1",
    "compare iris --score r2": "score must be one of accuracy",
    "compare iris --positive zzz": "--positive: for a file only, and iris comes with the package",
    "compare iris --category a --no-header": "--role, --header: for a file only",
    "compare data.csv --target class --positive zzz": "the positive label must be one of",
    "compare data.csv --positive yes --ordered": "--positive makes two classes, which --ordered does not compare",
    "compare data.csv --encoding utf-16": "encoding",
    "compare data.csv --target class --csv new --json ./new": "--csv and --json must name two files",
    "compare iris --json nowhere/x.json": "the folder nowhere does not exist",
    f"label {OF_CLASS}": "every row has a label in 'class'",
    f"fit Nobody {OF_CLASS}": "METHOD must be one of ",
    f"fit TSGS3VM {OF_CLASS} --drop a,town": "there is no column 'town'",
    f"{FIT} --set depth=3": "--set must be NAME=VALUE, of ",
    f"fit PS3VT {OF_CLASS} --set C=1": "--set must be NAME=VALUE, of ",
    f"{FIT} --set n_iter": "--set must be NAME=VALUE, of ",
    f"{FIT} --set n_iter=many": "n_iter must be a whole number",
    f"{FIT} --set random_state=2.5": "random_state",
    f"{FIT} --set random_state=1e30": "random_state",
    f"{FIT} --set C=1e30": "C must be a number between 1e-06 and 1e+06, got 1e+30",
    f"{FIT} --set sigma=[]": "sigma",
    f"{FIT} --features a,a": "the features must name each column once, got 'a' twice",
    f"{FIT} --target class --features class": "column 'class' is the label",
    f"{FIT} --every 0": "every must be a whole number",
    f"{FIT} --bins 1": "bins must be a whole number",
    f"{FIT} --role a=king": "the role of 'a' must be one of",
    f"{FIT} --role a": "--role must be COLUMN=ROLE",
    f"{FIT} --encoding base64": "encoding must be one of",
    f"{FIT} --delimiter ab": "delimiter",
    "fit PS3VT points.npz --out OUT": "must hold an array 'X'",
    **{f"fit TSGS3VM {name}.npz --out OUT": "dsg-lab: " for name in ("imaginary", "fields", "flat")},
    "predict nowhere data.csv --out OUT": "there is no model nowhere: give model.npz, or the folder that",
    "predict model nowhere.csv --out OUT": "nowhere.csv",
    "predict data.csv data.csv --out OUT": "data.csv: not a model file",
    "predict rows data.csv --out OUT": "'rows' must be a model's file, or a folder that `dsg-lab fit` has written",
    "predict model data.csv --out OUT --decimal ;": "decimal",
    "predict model data.csv --out OUT --encoding nope": "encoding must be one of",
    "predict model data.csv --out p.csv": "--out must be a folder, for one Parquet file per row group, got p.csv",
    "race spec.json --with Nobody": "got 'Nobody'",
    "race spec.json --memory-limit nan": "memory_limit must be a number of gigabytes above 0, got nan",
    "race spec.json --memory-limit -1": "memory_limit must be a number of gigabytes above 0, got -1",
    "race spec.json --sizes 61 --seeds 1": "a size must be at most 50, the number of unlabeled points, got 61",
    "race spec.json --sizes ,": "--sizes must be whole numbers of points, such as 500,5000, got ','",
    "race spec.json --sizes 2.5": "--sizes must be whole numbers of points, such as 500,5000, got '2.5'",
    "race spec.json --with ,": "--with must be a list such as A,B, got ','",
    "reproduce": "name a figure, such as auc/fig1, or give --list",
    "reproduce auc/fig99": "the figure must be one of auc/fig1",
    "reproduce auc/fig1 --data nowhere": "--data must be a folder, got nowhere",
    "check-lesson data.csv": "dsg-lab: data.csv is not valid TOML",
    "export-lesson no-lesson --out OUT": "no-lesson",
    "export-lesson step-size --out data.csv": "--out must name a folder, but data.csv is a file",
    "data fetch no-set": "no-set",
    "data describe nowhere.csv": "there is no file 'nowhere.csv'",
    "data describe data.csv --target bogus": "there is no column 'bogus'",
    "data describe data.csv --bins 1": "bins must be a whole number",
    "data describe wide.csv --delimiter semicolon": "line 2 has 1 cells, and the first has 4",
    "data convert empty.csv OUT": "the file is empty",
    "data describe data.csv --drop bogus": "there is no column 'bogus'",
    "data describe data.csv --encoding=": "encoding",
    "data describe data.csv --decimal=": "decimal",
    "data convert data.csv OUT --delimiter .": "delimiter",
    "data convert data.csv OUT --encoding utf-16": "encoding",
    "data convert nowhere.csv OUT": "there is no file 'nowhere.csv'",
    "data convert wine OUT": "wine comes with the package, and is no file",
    "data convert data.csv .": "'.' must be a new or empty folder, and it is not: name another one",
    **{
        f"data convert {own} {own}": f"'{own}' must be a new or empty folder, and it is not"
        for own in ("data.csv", "rows")
    },
    "predict model rows --out OUT --json rows/new": "--json would write to rows/new, in the folder rows of the data",
    "study open nowhere.json --no-browser": "nowhere.json",
    "app --port 99999 --no-browser": "port 99999 of 127.0.0.1 cannot be used: name a free one with --port\n",
}
LONG = ("check settled.json --seeds 1",)


@pytest.mark.parametrize("line", [pytest.param(line, marks=[pytest.mark.ci] * (line in LONG)) for line in ANSWERED])
def test_a_command_ends_with_0_or_1_for_no_and_says_what_it_has_made(line, person, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(person)
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path))
    code, said = ANSWERED[line]
    assert main(typed(line, tmp_path / "out")) == code
    printed = capsys.readouterr()
    assert said in printed.out + printed.err


@each("line, said", REFUSED.items())
def test_what_cannot_be_used_ends_with_2_and_is_named_in_a_sentence(line, said, person, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(person)
    before = contents(person)
    sentence = refusal(capsys, typed(line, tmp_path / "out"))
    assert sentence.startswith("dsg-lab: ")
    assert said in sentence
    assert contents(person) == before
    assert not line.startswith("run") or not (tmp_path / "out").exists()


def test_json_is_the_result_and_quiet_says_nothing_else(person, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(person)
    others = {"app", "study open", "compare", "label", "data fetch", "export-lesson"}
    for command in sorted(COMMANDS.keys() - others):
        line = [*typed(COMMANDS[command][0], tmp_path / command.replace(" ", "-")), "--quiet", "--json"]
        assert main([*line, "-"]) in (0, 1), command
        printed = capsys.readouterr()
        assert json.loads(printed.out)["command"] == f"dsg-lab {command}".removesuffix(" in memory")
        for _ in range(2 if command != "data convert" else 0):  # an earlier result may be replaced
            assert main([*line, str(tmp_path / f"{command}.json")]) in (0, 1), command
            assert json.loads((tmp_path / f"{command}.json").read_text()).keys() == json.loads(printed.out).keys()
        capsys.readouterr()
        (tmp_path / "own.json").write_text('{"mine": 1}')
        assert "--json" in refusal(capsys, [*line, tmp_path / "own.json"]), command


# Commands that only tell, and words of what they tell.
ASKED = {
    "data describe data.csv": "80 rows",
    "data describe wine": "178 rows",
    "data describe cod-rna": "It is not in the cache: dsg-lab data fetch cod-rna",
}


def test_a_quiet_command_prints_what_was_asked_for_and_not_what_was_done(person, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(person)
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path))
    for line, asked in ASKED.items():
        assert main([*line.split(), "--quiet"]) == 0
        assert asked in capsys.readouterr().out, line
    for more, said in ((["--quiet"], ""), ([], f"{tmp_path / 'new'}: 80 rows as Parquet\n")):
        assert main(["data", "convert", "data.csv", str(tmp_path / "new"), *more]) == 0
        assert capsys.readouterr().out == said
        shutil.rmtree(tmp_path / "new")


# --- what options become


class SeenError(Exception):
    """What a command has asked of the function that does its work."""


# By the function that does a command's work, command lines and what their options become there: values by position or by name.
COMPARED = dict.fromkeys(("n_labeled", "seeds", "score", "methods", "jobs", "client"))
TUNED = "--labels 9 --seeds 4 --seconds 7 --score auc --methods SVC,PS3VT --no-curves --jobs 2"
SAID = {
    "n_labeled": 9,
    "seeds": 4,
    "seconds": 7.0,
    "score": "auc",
    "methods": ["SVC", "PS3VT"],
    "curves": False,
    "jobs": 2,
}
TEXT = {"header": False, "delimiter": "|", "decimal": ",", "encoding": None}
OPTIONS = {
    "dsgcore.cli.compare.compare_methods": {
        "compare data.csv --target class": COMPARED
        | {"seconds": 75.0, "ordered": False, "curves": True, "class_names": ("no", "yes")},
        f"compare data.csv --target class {TUNED}": SAID,
        "compare data.csv --target class --n-labeled 8 --ordered --order yes,no --store own": {
            "n_labeled": 8,
            "ordered": True,
        }
        | {"class_names": ("yes", "no"), "store": Path("own")},
    },
    "dsgcore.cli.compare.client_of": {"compare data.csv --dask tcp://nowhere:1": {0: "tcp://nowhere:1"}},
    "dsgcore.cli.compare.label_data": {
        "label half.csv --target class --out new": {0: Path("half.csv"), "method": None, "ordered": False, "ask": 0}
        | {"keep": (), "seconds": 60.0, "target": "class"},
        "label half.csv --out new --method SVC --ordered --ask 3 --keep a,b --seconds 9 --drop a": {
            "method": "SVC",
            "ask": 3,
        }
        | {"ordered": True, "keep": ["a", "b"], "seconds": 9.0, "target": None, "drop": ["a"]},
    },
    "dsgcore.cli.runs.limits": {"check spec.json": {1: 5}, "check spec.json --seeds 7": {1: 7}},
    "dsgcore.cli.runs.machine_budget": {"run spec.json --out new --memory-limit 0.5": {0: 0.5}},
    "dsgcore.cli.runs.as_in_paper": {"run spec.json --out new --as-in-paper": {1: 60}},
    "dsgcore.cli.runs.carry_out": {"sweep study.json --jobs 3": {2: 3, "client": None}},
    "dsgcore.cli.runs.Store": {"sweep study.json --store own": {0: Path("own")}},
    "dsgcore.cli.runs.client_of": {"sweep study.json --dask tcp://nowhere:1": {0: "tcp://nowhere:1"}},
    "dsgcore.cli.runs.to_optuna": {"sweep study.json --optuna-storage sqlite://": {2: "sqlite://"}},
    "dsgcore.cli.runs.asked_study": {
        "sweep study.json --axis kernel.sigma=1,2 --seeds 4": {0: Path("study.json"), 1: ["kernel.sigma=1,2"], 2: 4}
    },
    "dsgcore.cli.runs.JobQueue.submit": {
        "race spec.json --with SAMULT,fixed --sizes 20,5 --seeds 2 --memory-limit 3": {
            3: ["SAMULT", "fixed"],
            4: [20, 5],
        }
        | {5: 2, "memory_limit": 3 * 10**9},
        "race spec.json": {3: ["PNUAUC", "SAMULT"], 4: (10, 16, 50), 5: 3},
    },
    "dsgcore.cli.compare.carry_out_reproduction": {
        "reproduce auc/fig1 --quick --data rows": {0: reproduction("auc/fig1", is_quick=True), 1: Path("rows")},
        "reproduce auc/fig1": {0: reproduction("auc/fig1"), 1: None},
    },
    "dsgcore.cli.compare.Store": {"reproduce auc/fig1 --store own": {0: Path("own")}},
    "dsgcore.estimators.s3vm.TSGS3VM.fit": {
        "fit TSGS3VM data.csv --target class --out new": {"every": 50, "checkpoint": Path("new/checkpoint.npz")},
        "fit TSGS3VM data.csv --out new --every 7": {"every": 7},
        "fit TSGS3VM data.csv --out new --scaling unit --set n_iter=3 --set C=2": {
            0: TSGS3VM(n_iter=3, C=2, random_state=0)
        },
    },
    "dsgcore.cli.predict.write_scores": {
        "predict model data.csv --out new --features a,b --keep b,a,b --no-header --delimiter bar --decimal ,": {
            **{
                0: Path("model"),
                1: Path("data.csv"),
                2: Path("new"),
                "features": ["a", "b"],
                "keep": ["b", "a"],
                "text": TEXT,
            }
        }
    },
    "dsgcore.cli.predict.whole_file": {"predict model data.csv --out new --csv all.csv": {0: Path("all.csv")}},
    "dsgcore.cli.data.fetch": {"data fetch cod-rna": {0: REMOTE_SETS["cod-rna"]}},
    "dsgcore.cli.data.describe_file": {"data describe data.csv --labels binary --positive yes": {2: "binary"}},
    "dsgcore.cli.data.convert_file": {"data convert data.csv new": {0: Path("data.csv"), 1: Path("new")}},
    "pages.handouts.static_lesson.write_lesson": {
        "export-lesson step-size --out new --step 2": {0: "step-size", 1: Path("new"), 2: 2}
    },
    "pages.session.lesson_check.check_file": {"check-lesson lesson.toml --seeds 4": {0: Path("lesson.toml"), 1: 4}},
}


@each("work", OPTIONS)
def test_what_is_typed_arrives_where_a_command_does_its_work(work, person, tmp_path, monkeypatch):
    def see(*arguments, **named):
        raise SeenError(arguments, named)

    monkeypatch.chdir(shutil.copytree(person, tmp_path / "own", dirs_exist_ok=True))
    for line, expected in OPTIONS[work].items():
        with monkeypatch.context() as patch:
            patch.setattr(work, see)
            patch.setattr("dsgcore.__main__.exit_code", lambda command: command())
            with pytest.raises(SeenError) as seen:
                main(line.split())
        arguments, named = seen.value.args
        for place, value in expected.items():
            found = arguments[place] if isinstance(place, int) else named[place]
            if hasattr(value, "get_params"):
                found, value = found.get_params(), value.get_params()
            assert found == value, (line, place, found, value)


# What each option of a table says to its reader, beside the default.
READ = {
    "--target y": {"target": "y"},
    "--features a,b": {"features": ["a", "b"]},
    "--drop a --drop b,c": {"drop": ["a", "b", "c"]},
    "--category a,b --role c=date": {"roles": {"a": "category", "b": "category", "c": "date"}},
    "--positive yes": {"positive": "yes"},
    "--bins 4": {"bins": 4},
    "--order low,high": {"order": ("low", "high")},
    "--unlabeled none": {"unlabeled": "none"},
    "--missing-words x,0": {"missing_words": ("x", "0")},
    "--missing drop": {"missing": "drop"},
    "--header": {"header": True},
    "--no-header": {"header": False},
    "--delimiter tab": {"delimiter": "\t"},
    "--decimal ,": {"decimal": ","},
    "--encoding cp1252": {"encoding": "cp1252"},
}


@each("command", ["compare d", "label d --out o", "fit SVC d --out o", "data describe d", "data convert d o"])
def test_what_is_typed_about_a_table_is_what_its_reader_is_told(command):
    usual = reading_of(command_parser().parse_args(command.split()))
    assert {name: value for name, value in usual.items() if value not in (None, [], {})} == {}
    for line, expected in READ.items():
        assert reading_of(command_parser().parse_args([*command.split(), *line.split()])) == usual | expected, line


# Options that other tests look at: where results go, and how the app is served.
ELSEWHERE = {"--help", "--version", "--json", "--quiet", "--html", "--list", "--class", "--lessons"}
ELSEWHERE |= {"--port", "--address", "--base-path", "--no-browser"}


def test_every_option_is_looked_at():
    lines = [line for lines in (*OPTIONS.values(), READ, ANSWERED) for line in lines]
    offered = {option for parser in PAGES.values() for a in parser._actions for option in a.option_strings[-1:]}
    assert offered - {"-h"} - {word for line in lines for word in line.split()} - ELSEWHERE == set()
    assert {a.dest: a.choices for a in PAGES["data", "describe"]._actions}["labels"] == list(LABELS)


# --- places of results


# Command lines up to the option that names a place of results, a folder or a file.
FOLDERS = [
    "run spec.json --out",
    "fit TSGS3VM data.csv --target class --out",
    "fit PS3VT data.csv --target class --out",
    "fit TSGS3VM rows --target class --out",
    "predict model data.csv --out",
    "predict model rows --out",
]
FILES = [
    "check spec.json --json",
    "sweep study.json --store new.sqlite --csv",
    "sweep study.json --store",
    *(f"compare data.csv --target class --{name}" for name in ("csv", "json", "html", "store")),
    "label half.csv --target class --out",
    "reproduce auc/fig1 --quick --store",
    "predict model data.csv --out new --csv",
    "predict model rows --out new --csv",
]


@each("line", [*some(FOLDERS, 4, len(FOLDERS)), *some(FILES, 4, len(FILES))])
def test_no_result_takes_a_place_that_somebody_else_has_made(line, person, tmp_path_factory, capsys):
    own, words = tmp_path_factory.mktemp("copy") / "own", line.split()
    shutil.copytree(person, own)
    (own / "notes").mkdir()
    (own / "notes" / "history.csv").write_text("my own", encoding="utf-8")
    (own / "fits").mkdir()  # of another program
    (own / "fits" / "fit.json").write_text('{"parameters": [1.5]}', encoding="utf-8")
    (own / "notes" / "data.csv").hardlink_to(own / "data.csv")
    for name, to in (("link.csv", "data.csv"), ("linked", "rows"), ("away", "rows/new")):
        (own / name).symlink_to(to)
    if line in FOLDERS:
        places = ["", ".", "..", "notes", "fits", "data.csv", "data.csv/new"]
        places += ["rows", "rows/new", "linked", "linked/new", "away", f"{own}/model/../rows"] * ("rows" in words)
    else:
        places = [word for word in words if (own / word).is_file()]
        places += ["data.csv", "./notes/../data.csv", "link.csv", "notes/data.csv", "notes/history.csv"]
        places += ["rows/0.parquet", "rows/new.csv", "linked/new.csv"] * ("rows" in words)
    before = contents(own)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(own)
        for _, work in COMMANDS.values():
            patch.setattr(work, lambda *_, **__: pytest.fail("the work has begun"))
        for place in places:
            assert words[-1] in refusal(capsys, [*words, place]), place
            assert contents(own) == before, place


def test_kept_columns_are_never_replaced_by_predictions(person, tmp_path, capsys):
    line = ["predict", person / "model", person / "data.csv", "--out", tmp_path / "out", "--keep"]
    for name in ("class", "score", "score 1", "a,class"):
        assert "the predictions have a column of that name" in refusal(capsys, [*line, name])
    assert not (tmp_path / "out").exists()
    assert main([*map(str, line), "a, b,a", "--quiet"]) == 0
    made = pd.read_parquet(tmp_path / "out" / "part-000000.parquet")
    assert list(made.columns) == ["a", "b", "class", "score"]


def test_predictions_with_many_kept_columns_are_known_as_an_earlier_result(person, tmp_path):
    table = pd.read_csv(person / "data.csv")
    more = [f"a column that is kept and has the number {number}" for number in range(600)]
    pd.concat([table, pd.DataFrame(0.0, table.index, more)], axis=1).to_parquet(tmp_path / "wide.parquet")
    line = ["predict", person / "model", tmp_path / "wide.parquet", "--out", tmp_path / "out", "--quiet"]
    for _ in range(2):
        assert main([*map(str, line), "--keep", ",".join(more)]) == 0


HOSTILE = ("-5", "NaN", "inf", "1e400", "1e1", "1e30", "2.5", "None", "[]", "abc", "true", "False")


def sets():
    """Return 1000 of all pairs, drawn: a method, and a value of one of its parameters, or the name of another method's."""
    known = {name: own_of(estimator_of(name, ())).get_params().keys() for name in METHODS}
    names = {one for own in known.values() for one in own}
    pairs = [(name, f"{one}={value}") for name, own in known.items() for one in own for value in HOSTILE]
    pairs += [(name, f"{one}=1") for name, own in known.items() for one in sorted(names - own)]
    return random.Random(0).sample(pairs, 1000)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of few iterations
@each("method, said", some(sets(), 12, 84))
def test_any_value_of_set_is_taken_or_refused_in_a_sentence(method, said, person, tmp_path_factory, capsys):
    known, out = own_of(estimator_of(method, ())).get_params(), tmp_path_factory.mktemp("set") / "out"
    few = [f"{name}=3" for name in ("n_iter", "n_features", "batch_size", "max_iter") if name in known]
    line = ["fit", method, person / "half.csv", "--target", "class", "--out", out, "--quiet"]
    ended = main([*map(str, line), *(word for one in (*few, said) for word in ("--set", one))])
    printed = capsys.readouterr().err
    assert ended in (0, 2), printed
    assert printed.count("dsg-lab: ") == (ended == 2), printed
    assert ended == 0 or not (out / "fit.json").exists()
    assert ended == 2 or said.partition("=")[0] in known


CHANGED = {
    "--drop b": "drop was [] and is ['b']",
    "--features a": "features was ['a', 'b'] and is ['a']",
    "--missing mean": "missing was None and is 'mean'",
    "--missing-words x": "missing_words was None and is ['x']",
    "--scaling unit": "scaling was 'standard' and is 'unit'",
    "--set n_iter=4": "n_iter was 3 and is 4",
}


@pytest.mark.parametrize("method", ["TSGS3VM", pytest.param("PS3VT", marks=pytest.mark.ci)])
@each("options, said", CHANGED.items())
def test_a_model_is_replaced_by_the_same_options_only(method, person, tmp_path_factory, capsys, options, said):
    out = tmp_path_factory.mktemp("model") / "out"
    line = f"fit {method} {person / 'data.csv'} --target class --out {out} --set n_iter=3 --quiet".split()
    line += [] if options.startswith("--drop") else ["--features", "a, b"]
    for _ in range(2):
        assert main(line) == 0
    before = contents(out)
    capsys.readouterr()  # notes about the data
    assert said in refusal(capsys, [*line, *options.split()])
    assert contents(out) == before


def test_a_table_without_a_column_of_the_model_is_refused(person, tmp_path, capsys):
    pd.DataFrame({"a": [1.0, 2.0], "c": [1.0, 2.0]}).to_csv(tmp_path / "other.csv", index=False)
    line = ["predict", person / "model", tmp_path / "other.csv", "--out", tmp_path / "scores"]
    assert "there is no column 'b': the table has 'a', 'c'" in refusal(capsys, line)
    line[2:3] = [person / "data.csv", "--features"]
    said = refusal(capsys, [*line[:4], "b,a", *line[4:]])
    assert "--features must be left out, because the model was trained on 'a', 'b', got 'b', 'a'" in said
    assert main([*map(str, line[:4]), "a, b", *map(str, line[4:]), "--quiet"]) == 0


# --- streams: any encoding, a closed pipe, Ctrl+C, a shell that completes words, and a line of progress


@each("given", ["", "--help", "fit --help", "fit PS3VT 重さ.csv --target 重さ --out weights", "data describe 重さ.csv",
                "predict no", "bogus"])  # fmt: skip
def test_any_encoding_of_the_streams_will_do(given, person, monkeypatch):
    (person / "重さ.csv").write_text("重さ,b\n" + "1,x\n2,y\n" * 10, encoding="utf-8")
    monkeypatch.chdir(person)
    for encoding in ("cp1252", "cp437", "ascii"):
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        monkeypatch.setattr("runpy.run_module", lambda *_, **__: None)
        monkeypatch.setattr(sys, "argv", [])
        with suppress(SystemExit):  # a page of help
            assert main(given.split()) in (0, 2)
        err.seek(0)
        assert err.read().count("dsg-lab: ") <= 1


def test_a_closed_pipe_ends_a_command_with_0_and_in_silence(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert main(["data", "list"]) == 0
    assert capsys.readouterr().err == ""


def test_an_interruption_of_the_imports_ends_without_a_traceback():
    line = (
        "import runpy, sys\n"
        "class Stops:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'dsgcore.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stops()); runpy.run_module('dsgcore', run_name='__main__')"
    )
    ended = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "dsg-lab: stopped\n")


def test_a_shell_completes_the_words_of_the_parser(monkeypatch):
    asked = []
    monkeypatch.setitem(sys.modules, "argcomplete", SimpleNamespace(autocomplete=asked.append))
    for is_asked in ("", "1"):
        monkeypatch.setenv("_ARGCOMPLETE", is_asked)
        assert main(["fit", "Forest", "data.csv", "--out", "new"]) == 2
    assert [parser.prog for parser in asked] == ["dsg-lab"]
    assert "PYTHON_ARGCOMPLETE_OK" in Path(sys.modules["dsgcore.__main__"].__file__).read_text(encoding="utf-8")[:1024]


def test_a_line_of_progress_is_written_over_and_ended_once_and_the_time_left_follows_from_the_parts_so_far(
    capsys, monkeypatch
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    line = Progress(is_quiet=False)
    for show in (line.end, lambda: line.show("a longer text"), lambda: line.show("short"), line.end, line.end):
        show()
    said = capsys.readouterr().err
    first, second = said.removeprefix("\r").rstrip("\n").split("\r")
    assert (first.rstrip(), second.rstrip()) == ("a longer text", "short")
    assert len(second) == len(first)
    assert said.count("\n") == 1
    # Parts that an earlier command has made take no time of this one.
    line.left = TimeLeft(clock := Clock(0.0))
    line.part(20, 40, is_new=False)
    clock.now = 10.0
    line.part(25, 40, "words")
    line.end()
    assert capsys.readouterr().err.rstrip().endswith("] words, about 30 s left")
    clock = Clock()
    left = TimeLeft(clock)
    clock.now += 30.0
    assert left.text(10, 40) == ", about 2 min left"
    clock.now += 30.0
    assert left.text(30, 40) == ", about 20 s left"
    # Nothing is said before the first parts, or after the last.
    assert left.text(0, 10) == left.text(10, 10) == TimeLeft(clock).text(1, 1000) == ""


# --- help pages


def pages(parser, words=()):
    """Yield the words of each command, and its parser."""
    yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                yield from pages(each, (*words, name))


PAGES = dict(pages(command_parser()))


@each("words", PAGES)
def test_each_help_page_explains_its_options_and_ends_with_an_example_that_parses(words, capsys):
    parser = PAGES[words]
    assert parser.description.endswith(".")
    unexplained = [a.dest for a in parser._actions if not a.help and not isinstance(a, argparse._SubParsersAction)]
    assert unexplained == []
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code == 0
    example = capsys.readouterr().out.split("\nexample:\n", 1)[1].strip()
    assert example.startswith(PROGRAM)
    typed = shlex.split(example.removeprefix(PROGRAM))
    assert tuple(typed[: len(words)]) == words
    if typed:
        assert command_parser().parse_args(typed).command == typed[0]

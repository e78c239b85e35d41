from __future__ import annotations

import argparse
import inspect
import io
import json
import os
import pkgutil
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each, some
from clocks import Clock
from commands import refusal
from proxies import free_port
from small_specs import OWN_LESSON
from test_run import read_csv, small, table

from dsgcore import DSGError, Run, Spec, load_model
from dsgcore.__main__ import main
from dsgcore.cli.ending import Progress
from dsgcore.cli.fit import STREAMED, estimator_of, own_of
from dsgcore.cli.options import PORT, PROGRAM, command_parser
from dsgcore.comparing.reproductions import reproduction
from dsgcore.core.durations import TimeLeft
from dsgcore.data import datasets
from dsgcore.data.datasets import DataError
from dsgcore.experiments.race import run_heats
from dsgcore.studies import Study


@pytest.fixture
def spec_file(tmp_path):
    def write(plain):
        path = tmp_path / "spec.json"
        path.write_text(plain if isinstance(plain, str) else json.dumps(plain), encoding="utf-8")
        return str(path)

    return write


def fails_at(monkeypatch, step):
    """Let the `step`-th call of whatever writes, saves or renames fail, and return the calls."""
    calls = []

    def failing(function):
        def called(*given, **options):
            calls.append(function.__name__)
            if len(calls) == step:
                raise OSError("no space left on device")
            return function(*given, **options)

        return called

    monkeypatch.setattr("os.replace", failing(os.replace))
    monkeypatch.setattr("numpy.save", failing(np.save))
    monkeypatch.setattr("pathlib.Path.write_text", failing(Path.write_text))
    return calls


def test_run_writes_history_model_spec_and_result(spec_file, tmp_path, capsys):
    spec = small()
    out = tmp_path / "out"
    assert main(["run", spec_file(spec.to_dict()), "--out", str(out), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    run = Run(spec)
    run.advance()
    assert (read_csv(out / "history.csv")[1] == table(run)).all()
    assert Spec.from_json((out / "spec.json").read_text(encoding="utf-8")) == spec
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["spec_sha256"] == spec.sha256
    assert (result["stop_reason"], result["iterations"]) == ("finished", 12)
    assert result["last"]["score_test"] == run.history.last()["score_test"]
    assert len(load_model(out / "model.npz")) == 12


@each(
    "given, said",
    [
        ({"setting": "auc", "solver": {"n_iter": "ten"}}, "n_iter must be a whole number"),
        ({"setting": "auc", "data": {"n_labeled": 5000}}, "n_labeled"),
        ({"setting": "auc", "data": {"name": "file", "path": "nowhere.npz"}}, "nowhere.npz"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(spec_file, tmp_path, capsys, given, said):
    assert said in refusal(capsys, ["run", spec_file(given), "--out", tmp_path / "out"])
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_told_before_anything_is_computed(spec_file, tmp_path, capsys, monkeypatch):
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    monkeypatch.setattr(Run, "advance", lambda *_, **__: pytest.fail("it was computed first"))
    for out, said in (
        (tmp_path / "taken", "is a file"),
        (tmp_path / "taken/within", "is a file"),
        ("", "an empty text"),
    ):
        refused = refusal(capsys, ["run", spec_file(small().to_dict()), "--out", out])
        assert refused.startswith("dsg-lab: --out must name a ")
        assert said in refused
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("step", range(1, 9))
def test_a_failure_while_results_are_written_leaves_those_before_as_a_whole(spec_file, tmp_path, monkeypatch, step):
    out, spec = tmp_path / "out", small()
    command = ["run", spec_file(spec.to_dict()), "--out", str(out), "--quiet"]
    assert main(command) == 0
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    command[1] = spec_file(replace(spec, seed=1).to_dict())
    with monkeypatch.context() as broken:
        fails_at(broken, step)
        assert main(command) == 2
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    assert main(command) == 0
    assert (out / "history.csv").read_bytes() != before["history.csv"]


# --- every command: its end, and the places of its results


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    """A person's folder: a table, a study of it, a spec, a folder of Parquet files, and a model."""
    folder = tmp_path_factory.mktemp("person")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    table["class"] = np.where(table["a"] > 0, "yes", "no")
    table.to_csv(folder / "data.csv", index=False)
    table.assign(**{"class": table["class"].where(table.index < 40)}).to_csv(folder / "half.csv", index=False)
    (folder / "rows").mkdir()
    table.to_parquet(folder / "rows" / "0.parquet")
    spec = {"setting": "auc", "data": {"name": "file", "path": "data.csv", "n_labeled": 10}, "solver": {"n_iter": 3}}
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    study = {"spec": spec, "axes": [{"name": "kernel.sigma", "values": [1.0]}], "seeds": [0]}
    (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    (folder / "lesson.toml").write_text(OWN_LESSON, encoding="utf-8")
    fit = ["fit", "TSGS3VM", folder / "data.csv", "--target", "class", "--out", folder / "model", "--quiet"]
    assert main([*map(str, fit), "--set", "n_iter=3", "--set", "tol=None"]) == 0
    return folder


# A command line of each command, of names in a person's folder; OUT is a new folder or file.
COMMANDS = {
    "app": ["app", "--no-browser"],
    "run": ["run", "spec.json", "--out", "OUT"],
    "check": ["check", "spec.json", "--json", "OUT"],
    "sweep": ["sweep", "study.json", "--store", "OUT.sqlite", "--csv", "OUT"],
    "compare": ["compare", "data.csv", "--target", "class", "--store", "OUT.sqlite", "--json", "OUT"],
    "label": ["label", "half.csv", "--target", "class", "--seconds", "5", "--out", "OUT"],
    "fit": ["fit", "TSGS3VM", "data.csv", "--target", "class", "--out", "OUT", "--set", "n_iter=3"],
    "fit in memory": ["fit", "PS3VT", "data.csv", "--target", "class", "--out", "OUT", "--set", "n_iter=3"],
    "predict": ["predict", "model", "data.csv", "--out", "OUT"],
    "data list": ["data", "list"],
    "data fetch": ["data", "fetch", "cod-rna"],
    "data describe": ["data", "describe", "data.csv"],
    "data convert": ["data", "convert", "data.csv", "OUT"],
    "study open": ["study", "open", "study.json", "--no-browser"],
    "export-lesson": ["export-lesson", "step-size", "--out", "OUT"],
    "race": ["race", "spec.json", "--json", "OUT"],
    "check-lesson": ["check-lesson", "lesson.toml", "--seeds", "1"],
    "reproduce": ["reproduce", "auc/fig1", "--quick", "--store", "OUT.sqlite"],
}
# The function that does a command's work.
WORK = {
    "app": "runpy.run_module",
    "run": "dsgcore.cli.runs.load_split",
    "check": "dsgcore.cli.runs.limits",
    "sweep": "dsgcore.cli.runs.carry_out",
    "compare": "dsgcore.cli.compare.compare_methods",
    "label": "dsgcore.cli.compare.label_data",
    "fit": "dsgcore.cli.fit._training",
    "fit in memory": "dsgcore.cli.fit._training",
    "predict": "dsgcore.cli.predict.write_scores",
    "data list": "dsgcore.cli.data.cached",
    "data fetch": "dsgcore.cli.data.fetch",
    "data describe": "dsgcore.cli.data.describe_file",
    "data convert": "dsgcore.cli.data.convert_file",
    "study open": "runpy.run_module",
    "export-lesson": "pages.handouts.static_lesson._page",
    "race": "dsgcore.cli.runs.load_split",
    "check-lesson": "pages.session.lesson_check.findings",
    "reproduce": "dsgcore.cli.reproduce.carry_out_reproduction",
}


def typed(command, out="OUT"):
    return [word.replace("OUT", str(out)) for word in COMMANDS[command]]


@pytest.mark.parametrize("command", COMMANDS)
@each(
    "error, code, said",
    [
        (DSGError("the file\nis empty"), 2, "dsg-lab: the file is empty\n"),
        (FileNotFoundError(2, "No such file", "x.csv"), 2, "dsg-lab: x.csv cannot be used: No such file\n"),
        (OSError(28, "No space left on device"), 2, "dsg-lab: No space left on device\n"),
        (MemoryError(), 2, "dsg-lab: there is not enough memory: give less data\n"),
        (KeyError("step"), 70, "KeyError: 'step'); please report it"),
        (KeyboardInterrupt(), 130, "dsg-lab: stopped"),
    ],
)
def test_every_command_ends_with_a_code_and_one_sentence(command, person, capsys, error, code, said):
    def fails(*_, **__):
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(person)
        patch.setattr(sys, "argv", [])
        patch.setattr(WORK[command], fails)
        given = typed(command, f"out of {command}")
        found = main(given)
    printed = capsys.readouterr().err
    if command in ("app", "study open") and code == 130:  # Ctrl+C is how it ends
        assert (found, printed) == (0, "")
        return
    assert found == code
    assert said in printed
    assert printed.count("\n") == 1


# Lines of the person's folder with options; the function that does the work; and what the options must be among its arguments.
READING = "--features a,b --drop b --category a --role b=date --positive yes --missing median"
READING += " --missing-words n/a,9 --unlabeled none"
AS_READ = {
    **{"order": None, "bins": None, "features": ["a", "b"], "drop": ["b"], "roles": {"a": "category", "b": "date"}},
    **{"positive": "yes", "missing": "median", "missing_words": ("n/a", "9"), "unlabeled": "none"},
    **{"header": False, "delimiter": ";", "decimal": ",", "encoding": "cp1252"},
}
TEXT = "--no-header --delimiter semicolon --decimal , --encoding cp1252"
HEARD = {
    "compare data.csv --target class --labels 20 --seeds 4 --seconds 9 --score auc --methods SVC,Boosting --no-curves "
    "--jobs 2 --store OUT.sqlite": (
        WORK["compare"],
        {"n_labeled": 20, "seeds": 4, "seconds": 9.0, "score": "auc", "methods": ["SVC", "Boosting"], "curves": False}
        | {"jobs": 2, "store.name": "OUT.sqlite", "ordered": False, "client": None},
    ),
    "compare data.csv --target class --ordered": (
        WORK["compare"],
        {"ordered": True, "curves": True, "seeds": None, "seconds": 75.0, "methods": None},
    ),
    f"label half.csv --target class {READING} {TEXT} --method SVC --ordered --ask 3 --keep a,b --seconds 5 --out OUT": (
        WORK["label"],
        {"target": "class", "method": "SVC", "ordered": True, "ask": 3, "keep": ["a", "b"], "seconds": 5.0}
        | {"reading": AS_READ},
    ),
    f"predict model data.csv --features a,b --keep b,a,b {TEXT} --out OUT": (
        WORK["predict"],
        {"features": ["a", "b"], "keep": ["b", "a"], "out.name": "OUT"}
        | {"text": {name: AS_READ[name] for name in ("header", "delimiter", "decimal", "encoding")}},
    ),
    "check spec.json --seeds 3": (WORK["check"], {"seeds": 3}),
    "sweep study.json --seeds 3 --axis solver.lam=0.1,1 --jobs 2 --store OUT.sqlite": (
        WORK["sweep"],
        {
            "study.seeds": (0, 1, 2),
            "study.axes": [("solver.lam", (0.1, 1.0))],
            "jobs": 2,
            "store.file.name": "OUT.sqlite",
        },
    ),
    "run spec.json --out OUT --memory-limit 2": ("dsgcore.cli.runs.machine_budget", {"memory_limit": 2.0}),
    "run spec.json --out OUT --as-in-paper": ("dsgcore.cli.runs.as_in_paper", {"n": 60}),
    "race spec.json --with SAMULT,SVC --sizes 10,20 --seeds 2 --memory-limit 3": (
        "dsgcore.cli.runs.JobQueue.submit",
        {"rivals": ["SAMULT", "SVC"], "sizes": [10, 20], "n_seeds": 2, "memory_limit": 3 * 10**9},
    ),
    "reproduce auc/fig1 --quick --data rows --store OUT.sqlite": (
        WORK["reproduce"],
        {"asked": reproduction("auc/fig1", is_quick=True), "folder.name": "rows", "store.file.name": "OUT.sqlite"},
    ),
    "export-lesson auc/step-size --out OUT --step 2": (
        "pages.handouts.static_lesson.write_lesson",
        {"name": "auc/step-size", "folder.name": "OUT", "step": 2},
    ),
    "check-lesson lesson.toml --seeds 4": (
        "pages.session.lesson_check.check_file",
        {"file.name": "lesson.toml", "n": 4},
    ),
    "data describe data.csv --target b --labels binary": (
        WORK["data describe"],
        {"recipe.label": "b", "labels": "binary"},
    ),
    "data convert data.csv OUT --no-header --delimiter bar": (
        WORK["data convert"],
        {"recipe.header": False, "recipe.delimiter": "|", "folder.name": "OUT"},
    ),
}


def found_in(arguments, name):
    """Return an argument, or a part of one, as plain data."""
    name, *parts = name.split(".")
    found = reduce(getattr, parts, arguments[name])
    if name == "study" and parts == ["axes"]:
        return [(axis.name, axis.values) for axis in found]
    return found() if callable(found) else found


@each("line, work, expected", [(line, *told) for line, told in HEARD.items()])
def test_each_option_reaches_what_does_the_work(line, work, expected, person, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(person)
    heard, own = [], run_heats if work.endswith("submit") else pkgutil.resolve_name(work)

    def hear(*given, **options):
        if own is run_heats:  # it is given to the queue
            given = given[2:]
            heard.append(inspect.signature(own).bind(*given).arguments | options)
        else:
            heard.append(inspect.signature(own).bind(*given, **options).arguments)
        raise DSGError("heard")

    with monkeypatch.context() as patch:
        patch.setattr(work, hear)
        code = main(line.replace("OUT", str(tmp_path / "OUT")).split())
    assert code == 2
    assert capsys.readouterr().err == "dsg-lab: heard\n"
    (arguments,) = heard
    assert {name: found_in(arguments, name) for name in expected} == expected


def test_options_of_the_app_reach_streamlit(monkeypatch):
    monkeypatch.setattr("runpy.run_module", lambda *_, **__: None)
    monkeypatch.setattr(sys, "argv", [])
    assert main(["app", "--port", str(port := free_port()), "--base-path", "lab", "--no-browser"]) == 0
    options = dict(word.removeprefix("--server.").split("=") for word in sys.argv if word.startswith("--server."))
    assert options == {"address": "127.0.0.1", "port": str(port), "baseUrlPath": "lab"}


# What commands end with: 0, 1 if the answer is no, 2 for input that cannot be used. WILD is a spec that diverges, LATE a
# study without a result, and OUT is new.
SHORT = "--seconds 500 --methods SVC,LogisticRegression --no-curves --store OUT.sqlite"
ENDS = {
    "run spec.json --out OUT": 0,
    "run wild.json --out OUT": 1,
    "run nowhere.json --out OUT": 2,
    "check spec.json --seeds 1": 1,
    "check settled.json --seeds 1": 0,
    "check data.csv": 2,
    "sweep study.json --store OUT": 0,
    "sweep late.json --store OUT": 1,
    "sweep study.json --axis eta=1": 2,
    f"compare data.csv --target class --seeds 3 {SHORT}": 0,
    f"compare data.csv --target class --seeds 1 {SHORT}": 1,
    "compare data.csv --target nothing": 2,
    "label half.csv --target class --method SVC --out OUT": 0,
    "label data.csv --target class --out OUT": 2,
    "fit SVC data.csv --target class --out OUT": 0,
    "fit DSG data.csv --target class --out OUT --set n_iter=3": 0,
    "fit DSGSoftmax data.csv --target class --out OUT --set n_iter=3": 0,
    "fit Nobody data.csv --target class --out OUT": 2,
    "predict model data.csv --out OUT": 0,
    "predict model nowhere.csv --out OUT": 2,
    "race spec.json --with SAMULT --sizes 10 --seeds 1": 0,
    "race spec.json --with Nobody": 2,
    "reproduce --list": 0,
    "reproduce auc/fig1 --quick --store OUT": 1,
    "reproduce auc/fig99": 2,
    "check-lesson lesson.toml --seeds 1": 0,
    "check-lesson wrong.toml --seeds 1": 1,
    "check-lesson data.csv": 2,
    "export-lesson no-lesson --out OUT": 2,
    "data list": 0,
    "data fetch no-set": 2,
    "data describe data.csv": 0,
    "data describe nowhere.csv": 2,
    "data convert data.csv OUT": 0,
    "data convert nowhere.csv OUT": 2,
    "study open nowhere.json --no-browser": 2,
    "app --port 99999 --no-browser": 2,
    "nothing": 2,
}

LONG = ("check settled.json --seeds 1", f"compare data.csv --target class --seeds 3 {SHORT}")


@pytest.fixture(scope="module")
def ends(person):
    """The person's folder with what ENDS names."""
    spec = json.loads((person / "spec.json").read_text(encoding="utf-8"))
    moons = {"name": "two_moons", "n": 100, "n_labeled": 10}
    settled = {"n_iter": 4000, "n_features": 64, "batch_size": 16, "lam": 0.5, "step_size": 0.1}
    named = {
        "wild": {**spec, "solver": {"n_iter": 5, "step_size": 1e6}},
        "settled": {"setting": "auc", "data": moons, "solver": settled},
        "late": {"spec": spec, "budget": {"seconds": 0}},
    }
    for name, plain in named.items():
        (person / f"{name}.json").write_text(json.dumps(plain), encoding="utf-8")
    (person / "wrong.toml").write_text(OWN_LESSON.replace("low = 20", "low = 21"), encoding="utf-8")
    return person


@pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.ci)])
@each("line, code", ENDS.items())
def test_a_command_ends_with_0_or_1_for_no_or_2_for_bad_input(is_long, line, code, ends, tmp_path, monkeypatch, capsys):
    if (line in LONG) is not is_long:
        return
    monkeypatch.chdir(ends)
    found = main(line.replace("OUT", str(tmp_path / f"out{[*ENDS].index(line)}")).split())
    printed = capsys.readouterr()
    assert found == code, printed
    if code == 2:
        assert printed.err.startswith("dsg-lab: ")
        assert (printed.out, printed.err.count("\n")) == ("", 1)


@each(
    "given",
    [
        [],
        ["--help"],
        ["fit", "--help"],
        ["fit", "PS3VT", "重さ.csv", "--target", "重さ", "--out", "weights"],
        ["data", "describe", "重さ.csv"],
        ["predict", "no"],
        ["bogus"],
    ],
)
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
            assert main(given) in (0, 2)
        err.seek(0)
        assert err.read().count("dsg-lab: ") <= 1


def test_a_closed_pipe_ends_a_command_with_0_and_in_silence(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert main(["data", "list"]) == 0
    assert capsys.readouterr().err == ""


def contents(folder):
    return {file: (file.read_bytes(), file.is_symlink()) for file in folder.rglob("*") if file.is_file()}


# Command lines by the option that names a place of results, which follows at the end.
FOLDERS = {
    "run": ["run", "spec.json", "--out"],
    "fit": ["fit", "TSGS3VM", "data.csv", "--target", "class", "--out"],
    "fit in memory": ["fit", "PS3VT", "data.csv", "--target", "class", "--out"],
    "fit of a folder": ["fit", "TSGS3VM", "rows", "--target", "class", "--out"],
    "predict": ["predict", "model", "data.csv", "--out"],
    "predict of a folder": ["predict", "model", "rows", "--out"],
    "convert": ["data", "convert", "data.csv", "--out"],
}
FILES = {
    "check": ["check", "spec.json", "--json"],
    "sweep": ["sweep", "study.json", "--store", "new.sqlite", "--csv"],
    "store of a sweep": ["sweep", "study.json", "--store"],
    **{
        f"compare {name}": ["compare", "data.csv", "--target", "class", f"--{name}"] for name in ("csv", "json", "html")
    },
    "label": ["label", "half.csv", "--target", "class", "--out"],
    "store of a comparison": ["compare", "data.csv", "--target", "class", "--store"],
    "predict": ["predict", "model", "data.csv", "--out", "new", "--csv"],
    "predict of a folder": ["predict", "model", "rows", "--out", "new", "--csv"],
}


@pytest.fixture
def owned(person, tmp_path, monkeypatch):
    """A copy of the person's folder with other ways to its files, in which no command may do its work."""
    own = tmp_path / "own"
    shutil.copytree(person, own)
    (own / "notes").mkdir()
    (own / "notes" / "history.csv").write_text("my own", encoding="utf-8")
    (own / "notes" / "data.csv").hardlink_to(own / "data.csv")
    for name, to in (("link.csv", "data.csv"), ("linked rows", "rows"), ("away", "rows/new")):
        (own / name).symlink_to(to)
    monkeypatch.chdir(own)
    for work in WORK.values():
        monkeypatch.setattr(work, lambda *_, **__: pytest.fail("the work has begun"))
    return own


@each("command", some(FOLDERS, 4, len(FOLDERS)))
def test_no_folder_of_results_is_one_that_somebody_else_has_made(command, owned, capsys):
    before, line = contents(owned), FOLDERS[command]
    of_folder = ("rows", "rows/new", "linked rows", "linked rows/new", "away", str(owned / "model" / ".." / "rows"))
    for place in (".", "..", "notes", "data.csv", "data.csv/new", *(of_folder if "rows" in line else ())):
        assert "--out" in refusal(capsys, [*line, place]), place
        assert contents(owned) == before


@each("command", some(FILES, 4, len(FILES)))
def test_no_file_of_results_is_one_that_somebody_else_has_made(command, owned, capsys):
    before, line = contents(owned), FILES[command]
    own = [word for word in line if Path(word).is_file()]
    of_folder = ("rows/0.parquet", "rows/new.csv", "linked rows/new.csv") if "rows" in line else ()
    for place in (
        *own,
        "data.csv",
        "./notes/../data.csv",
        "link.csv",
        "notes/data.csv",
        "notes/history.csv",
        *of_folder,
    ):
        assert line[-1] in refusal(capsys, [*line, place]), place
        assert contents(owned) == before


def test_two_results_are_not_written_to_one_file(owned, capsys):
    said = refusal(capsys, ["compare", "data.csv", "--target", "class", "--csv", "new", "--json", "./new"])
    assert "--csv and --json must name two files" in said


def test_results_of_the_same_command_are_replaced(person, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(person)
    out = str(tmp_path / "out")
    for command in some(("run", "fit", "predict", "check", "sweep", "fit in memory"), 3, 6):
        for _ in range(2):
            assert main(typed(command, out + command)) in (0, 1), capsys.readouterr()
    for _ in range(2):
        assert main([*typed("predict", out + "predict"), "--csv", out + ".csv"]) == 0


def test_json_is_the_result_and_quiet_says_nothing_else(person, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(person)
    others = {"app", "study open", "compare", "label", "data fetch", "export-lesson"}
    for command in some(sorted(COMMANDS.keys() - others), 6, len(COMMANDS)):
        line = [*typed(command, tmp_path / command), "--quiet", "--json"]
        assert main([*line, "-"]) in (0, 1), command
        printed = capsys.readouterr()
        assert json.loads(printed.out)["command"] == f"dsg-lab {command}".removesuffix(" in memory")
        for _ in range(2 if command != "data convert" else 0):  # an earlier result may be replaced
            assert main([*line, str(tmp_path / f"{command}.json")]) in (0, 1), command
            assert json.loads((tmp_path / f"{command}.json").read_text()).keys() == json.loads(printed.out).keys()
        capsys.readouterr()
        (tmp_path / "own.json").write_text('{"mine": 1}')
        assert "--json" in refusal(capsys, [*line, tmp_path / "own.json"]), command


def test_kept_columns_are_never_replaced_by_predictions(person, tmp_path, capsys):
    line = ["predict", person / "model", person / "data.csv", "--out", tmp_path / "out", "--keep"]
    for name in ("class", "score", "score 1", "a,class"):
        assert "the predictions have a column of that name" in refusal(capsys, [*line, name])
    assert not (tmp_path / "out").exists()
    assert main([*map(str, line), "a, b,a", "--quiet"]) == 0
    made = pd.read_parquet(tmp_path / "out" / "part-000000.parquet")
    assert list(made.columns) == ["a", "b", "class", "score"]


_OTHERS = [name for name in (*STREAMED, "PS3VT") if name != "TSGS3VM"]


@pytest.mark.parametrize(
    "method", ["TSGS3VM", "SVC", *(pytest.param(name, marks=pytest.mark.weekly) for name in _OTHERS)]
)
def test_any_value_of_set_is_taken_or_refused_in_a_sentence(method, person, tmp_path_factory, capsys):
    known = own_of(estimator_of(method, ())).get_params()
    usual = [f"{name}=3" for name in ("n_iter", "n_features", "batch_size", "max_iter") if name in known]
    sets = [f"{name}={value}" for name in known for value in ("-5", "NaN", "1e1", "None", "[]", "abc", "true", "False")]
    out = tmp_path_factory.mktemp("sets")
    for number, one in enumerate([*some(sets, 40), "random_state=1e30", "random_state=2.5"]):
        line = ["fit", method, person / "data.csv", "--target", "class", "--out", out / str(number), "--quiet"]
        line += [word for value in (*usual, one) for word in ("--set", value)]
        assert main([*map(str, line)]) in (0, 2), (one, capsys.readouterr().err)
        assert capsys.readouterr().err.count("dsg-lab: ") <= 1, one


@each(
    "options, said",
    [
        (["--drop", "b"], "drop was [] and is ['b']"),
        (["--features", "a"], "features was ['a', 'b'] and is ['a']"),
        (["--missing", "mean"], "missing was None and is 'mean'"),
        (["--missing-words", "x"], "missing_words was None and is ['x']"),
        (["--scaling", "unit"], "scaling was 'standard' and is 'unit'"),
        (["--set", "n_iter=4"], "n_iter was 3 and is 4"),
    ],
)
@pytest.mark.parametrize("method", ["TSGS3VM", pytest.param("PS3VT", marks=pytest.mark.ci)])
def test_a_model_is_replaced_by_the_same_options_only(method, person, tmp_path_factory, capsys, options, said):
    out = tmp_path_factory.mktemp("model") / "out"
    line = [*("fit", method, person / "data.csv", "--target", "class", "--out", out, "--set", "n_iter=3")]
    line = [*map(str, line), "--quiet", *([] if options[0] == "--drop" else ["--features", "a, b"])]
    for _ in range(2):
        assert main(line) == 0
    before = contents(out)
    capsys.readouterr()  # notes about the data
    assert said in refusal(capsys, [*line, *options])
    assert contents(out) == before


def test_a_run_that_diverges_ends_with_1_and_the_reason(spec_file, tmp_path, capsys):
    spec = small(step_size=1e6).to_dict()
    assert main(["run", spec_file(spec), "--out", str(tmp_path / "out"), "--quiet"]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("dsg-lab: the run has diverged after iteration ")
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))["stop_reason"] == "diverged"


@each(
    "line, said",
    [
        ("predict nowhere data.csv --out new", "there is no model nowhere: give model.npz, or the folder that"),
        *((f"fit TSGS3VM {name} --out new", "dsg-lab: ") for name in ("imaginary.npz", "fields.npz", "flat.npz")),
        ("predict data.csv data.csv --out other", "data.csv: not a model file"),
        (
            "sweep study.json --store s.sqlite --jobs 9999",
            "jobs must be a whole number between 1 and 256 or null, got 9999",
        ),
        ("sweep deep.json --store s.sqlite", "the study is not valid JSON: it is nested too deeply (in deep.json)"),
        ("race spec.json --memory-limit nan", "memory_limit must be a number of gigabytes above 0, got nan"),
        ("race spec.json --memory-limit -1", "memory_limit must be a number of gigabytes above 0, got -1"),
        ("race spec.json --sizes 61 --seeds 1", "a size must be at most 50, the number of unlabeled points, got 61"),
        ("race spec.json --sizes ,", "--sizes must be whole numbers of points, such as 500,5000, got ','"),
        ("race spec.json --with ,", "--with must be a list such as A,B, got ','"),
        ("data convert wine other", "wine comes with the package, and is no file"),
        ("export-lesson step-size --out data.csv", "--out must name a folder, but data.csv is a file"),
        ("check-lesson data.csv", "dsg-lab: data.csv is not valid TOML"),
    ],
)
def test_what_cannot_be_used_is_named_with_a_remedy(line, said, person, monkeypatch, capsys):
    monkeypatch.chdir(person)
    y = np.resize([0, 1, -1], 30)
    np.savez("imaginary.npz", X=np.ones((30, 2)) * 1j, y=y)
    np.savez("fields.npz", X=np.zeros(30, dtype=[("a", float), ("b", float)]), y=y)
    np.savez("flat.npz", X=np.ones(30), y=y)
    Path("deep.json").write_text("[" * 100_000)
    assert said in refusal(capsys, line.split())


def test_a_table_without_a_column_of_the_model_is_refused(person, tmp_path, capsys):
    pd.DataFrame({"a": [1.0, 2.0], "c": [1.0, 2.0]}).to_csv(tmp_path / "other.csv", index=False)
    line = ["fit", "PS3VT", person / "data.csv", "--target", "class", "--set", "n_iter=3", "--out", tmp_path / "model"]
    assert main([*map(str, line), "--quiet"]) == 0
    capsys.readouterr()
    said = refusal(capsys, ["predict", tmp_path / "model", tmp_path / "other.csv", "--out", tmp_path / "scores"])
    assert "there is no column 'b': the table has 'a', 'c'" in said
    line = ["predict", tmp_path / "model", person / "data.csv", "--out", tmp_path / "scores", "--features"]
    said = refusal(capsys, [*line, "b,a"])
    assert "--features must be left out, because the model was trained on 'a', 'b', got 'b', 'a'" in said
    assert main([*map(str, line), "a, b", "--quiet"]) == 0


@each("value", [("--encoding", "nope"), ("--encoding", "base64"), ("--encoding", ""), ("--encoding", "utf-16"),
                ("--delimiter", "ab"), ("--delimiter", "."), ("--decimal", ";"), ("--decimal", "")])  # fmt: skip
@each("command", ["fit", "predict", "compare", "data describe", "data convert"])
def test_a_way_of_writing_that_is_none_is_refused_by_every_command(
    command, value, person, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(person)
    said = refusal(capsys, [*typed(command, tmp_path / command.replace(" ", "-")), *value])
    assert value[0][2:] in said


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


def test_columns_to_drop_are_a_list(person, tmp_path, capsys):
    line = ["fit", "TSGS3VM", person / "data.csv", "--target", "class", "--set", "n_iter=3", "--out", tmp_path / "out"]
    assert "there is no column 'town'" in refusal(capsys, [*line, "--drop", "a, town"])
    assert main([*map(str, line), "--drop", "a,", "--quiet"]) == 0
    assert json.loads((tmp_path / "out" / "fit.json").read_text(encoding="utf-8"))["features"] == ["b"]


def test_a_shell_completes_the_words_of_the_parser(monkeypatch):
    asked = []
    monkeypatch.setitem(sys.modules, "argcomplete", SimpleNamespace(autocomplete=asked.append))
    for is_asked in ("", "1"):
        monkeypatch.setenv("_ARGCOMPLETE", is_asked)
        assert main(["fit", "Forest", "data.csv", "--out", "new"]) == 2
    assert [parser.prog for parser in asked] == ["dsg-lab"]
    assert "PYTHON_ARGCOMPLETE_OK" in Path(sys.modules["dsgcore.__main__"].__file__).read_text(encoding="utf-8")[:1024]


@each(
    "data, said",
    [
        ({"name": "two_moons", "n": 400, "n_labeled": 20}, "data.name=two_moons"),
        ({"name": "file", "path": "data.csv", "n_labeled": 10}, "data.csv"),
    ],
)
def test_a_study_opens_in_the_app(data, said, person, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(person)
    axis = {"name": "kernel.sigma", "from": 0.1, "to": 10, "n": 3, "scale": "log"}
    study = Study.from_dict({"spec": {"setting": "auc", "data": data}, "axes": [axis], "seeds": [0, 1]})
    file = person / f"{tmp_path.name}.json"  # as Explore writes it
    file.write_text(json.dumps(study.to_dict()), encoding="utf-8")
    served = []
    monkeypatch.setattr("runpy.run_module", lambda *given, **_: served.append(given))
    monkeypatch.setattr(sys, "argv", [])
    assert main(["study", "open", str(file), "--no-browser", "--base-path", "lab", "--port", "8599"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The study is at http://127.0.0.1:8599/lab/explore?setting=auc&")
    assert said in printed
    assert (" The page asks for " in printed) is (data["name"] == "file")
    assert served == [("streamlit",)]
    other = {"name": "file", "path": "data.csv", "sha256": "0" * 64, "n_labeled": 10}
    file.write_text(json.dumps({"spec": {"setting": "auc", "data": other}, "axes": [axis]}), encoding="utf-8")
    assert "the file 'data.csv' differs from the spec's file" in refusal(capsys, ["study", "open", file])
    file.write_text(json.dumps(study.to_dict() | {"budget": {"seconds": 5.0}}), encoding="utf-8")
    assert "the Explore page cannot show this study: it must have an axis and no time limit" in refusal(
        capsys, ["study", "open", file]
    )


# --- the project's errors have one base class, so no other ValueError is taken for bad input


def break_(*_, **__):
    return np.zeros(3).reshape(2, 2)


def test_a_fault_of_the_program_is_not_printed_as_bad_input(monkeypatch, capsys):
    monkeypatch.setattr("dsgcore.cli.data.data", break_)
    assert main(["data", "list"]) == 70
    said = capsys.readouterr().err
    assert said.startswith("dsg-lab: this is a fault of DSG Lab (")
    assert "ValueError: cannot reshape" in said
    assert said.count("\n") == 1


def test_bad_input_is_printed_in_one_sentence(monkeypatch, capsys):
    def refuse(*_, **__):
        raise DataError("the file is empty")

    monkeypatch.setattr("dsgcore.cli.data.data", refuse)
    assert main(["data", "list"]) == 2
    assert capsys.readouterr().err == "dsg-lab: the file is empty\n"


# --- progress lines of the commands: the time left, and a line that is written again


@pytest.fixture
def clock():
    return Clock()


def test_the_time_left_follows_from_the_parts_so_far(clock):
    left = TimeLeft(clock)
    clock.now += 30.0
    assert left.text(10, 40) == ", about 2 min left"
    clock.now += 30.0
    assert left.text(30, 40) == ", about 20 s left"


@each("done, total", ((0, 10), (1, 1000), (10, 10)))
def test_nothing_is_said_before_the_first_parts_or_after_the_last(done, total):
    clock = Clock()
    left = TimeLeft(clock)
    clock.now += 5.0
    assert left.text(done, total) == ""


def test_a_line_is_written_over_and_ended_once(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    line = Progress(is_quiet=False)
    line.end()
    line.show("a longer text")
    line.show("short")
    line.end()
    line.end()
    said = capsys.readouterr().err
    first, second = said.removeprefix("\r").rstrip("\n").split("\r")
    assert (first.rstrip(), second.rstrip()) == ("a longer text", "short")
    assert len(second) == len(first)
    assert said.count("\n") == 1


# --- the commands' help pages: each option is explained, and each page ends with an example that can be typed


def pages(parser, words=()):
    """Yield the words of each command, and its parser."""
    yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                yield from pages(each, (*words, name))


PAGES = dict(pages(command_parser()))


def shown(words, capsys):
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


@each("words", PAGES)
def test_the_help_of_each_command_ends_with_an_example_that_parses(words, capsys):
    example = shown(words, capsys).split("\nexample:\n", 1)[1].strip()
    assert example.startswith(PROGRAM)
    typed = shlex.split(example.removeprefix(PROGRAM))
    assert tuple(typed[: len(words)]) == words
    if typed:
        assert command_parser().parse_args(typed).command == typed[0]


@each("words", PAGES)
def test_each_command_and_each_option_is_explained(words):
    parser = PAGES[words]
    assert parser.description.endswith(".")
    unexplained = [a.dest for a in parser._actions if not a.help and not isinstance(a, argparse._SubParsersAction)]
    assert unexplained == []


def test_what_the_light_file_repeats_is_as_elsewhere():
    offered = {a.dest: a for words in (("data", "describe"), ("app",)) for a in PAGES[words]._actions}
    assert tuple(offered["labels"].choices) == datasets.LABELS
    assert f"from {PORT} on" in offered["port"].help

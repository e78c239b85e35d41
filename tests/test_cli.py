"""The commands: their ends, what their options become, places of results, streams, and files as editors save them."""

from __future__ import annotations

import codecs
import io
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each, some
from clocks import Clock
from commands import refusal
from small_specs import OWN_LESSON
from small_specs import small as small_spec
from test_run import small

from dsgcore import DSGError
from dsgcore.__main__ import main
from dsgcore.cli.ending import Progress
from dsgcore.cli.fit import METHODS, estimator_of, own_of
from dsgcore.cli.options import check_file, places_read
from dsgcore.cli.runs import read_study
from dsgcore.comparing.reproductions import reproduction
from dsgcore.core.cost import TimeLeft
from dsgcore.core.files import TextFileError, whole_file
from dsgcore.data.archive_sets import REMOTE_SETS
from dsgcore.experiments import read_spec
from dsgcore.settings.lessons import read_lesson


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
    (tmp_path / "spec.json").write_text(small().to_json(), encoding="utf-8")
    for step in range(9):
        command = ["run", str(tmp_path / "spec.json"), "--out", str(out), "--quiet"]
        if step:
            with monkeypatch.context() as broken:
                fails_at(broken, step)
                assert main(command) == 2
            assert contents(out) == before
        assert main(command) == 0
        assert contents(out) != before
        (out / "history.csv").write_text("an earlier one", encoding="utf-8")
        before = contents(out)


# --- what commands end with, and what they print


def write_person(folder):
    """Write a person's files: a table, a study of it, specs, a folder of Parquet files, a model, and what cannot be used."""
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
    (folder / "windows.json").write_text(json.dumps(spec), encoding="utf-16")  # as a Windows shell saves it
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "lesson.toml").write_text(OWN_LESSON, encoding="utf-8")
    (folder / "wrong.toml").write_text(OWN_LESSON.replace("low = 20", "low = 21"), encoding="utf-8")
    y, fields = np.resize([0, 1, -1], 30), [("a", float), ("b", float)]
    for name, X in (("imaginary", np.ones((30, 2)) * 1j), ("fields", np.zeros(30, fields)), ("flat", np.ones(30))):
        np.savez(folder / f"{name}.npz", X=X, y=y)
    np.savez(folder / "points.npz", points=np.zeros((3, 2)))
    (folder / "empty.csv").write_bytes(b"")
    (folder / "wide.csv").write_bytes(b"a;b;c;kind\n" + b"1,1,x\n" * 9)
    poor = {
        "alone": "x\n1\n2\n3\n4\n",
        "short": "x,label\n1,a\n",
        "names": "name,label\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(40)),
        "single": "x,label\n1,a\n2,b\n",
        "cut": "t,v,state\n" + "".join(f"{i},{i % 3}.5,{['fail', 'ok'][i % 2]}\n" for i in range(40)) + "40,0.5,fa\n",
        "gaps": "x,z,code,label\n"
        + "".join(f"{i},{i % 7 or ''},k{i},{'abc'[i % 3] * (i % 4 > 0)}\n" for i in range(60)),
    }
    for name, text in poor.items():
        (folder / f"{name}.csv").write_text(text)
    spoilt = {
        "blank": b" \n",
        "mark": codecs.BOM_UTF16_LE,
        "latin": "é".encode("latin-1"),
        "half": '{"setting": "auc"}'.encode("utf-16-le"),
        "noise": bytes(range(256)),
        "brace": b"{",
        "yaml": b"setting: auc",
        "field": b'{"setting": "auc", "bogus": 1}',
        "fields": b'{"spec": {"setting": "auc", "bogus": 1}, "bogus": 1}',
        "list": b"[1]",
        "digits": b"1" * 5000,
    }
    for name, content in spoilt.items():
        (folder / f"{name}.json").write_bytes(content)
    fit = ["fit", "TSGS3VM", folder / "data.csv", "--target", "class", "--out", folder / "model", "--quiet"]
    assert main([*map(str, fit), "--set", "n_iter=3", "--set", "tol=None"]) == 0


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    write_person(folder := tmp_path_factory.mktemp("person"))
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


@pytest.mark.ci
def test_a_run_that_has_converged_ends_its_check_with_0(person, capsys):
    assert main(["check", str(person / "settled.json"), "--seeds", "1"]) == 0
    assert "The run has converged: at the end it is " in capsys.readouterr().out


# --- what options become


class SeenError(Exception):
    """What a command has asked of the function that does its work."""


# What is typed becomes, where a function does the command's work: values by position or by name. Kept results show the others.
LABELED = {
    0: Path("half.csv"),
    "method": None,
    "ordered": False,
    "ask": 0,
    "keep": (),
    "seconds": 60.0,
    "target": "class",
}
COMPARED = {"client": None, "seconds": 75.0, "ordered": False, "curves": True, "class_names": ("no", "yes")}
DASK = "--dask tcp://nowhere:1"
QUICK_FIGURE = {0: reproduction("auc/fig1", is_quick=True), 1: Path("rows")}
OPTIONS = [
    ("dsgcore.cli.compare.compare_methods", "compare data.csv --target class", COMPARED),
    ("dsgcore.cli.compare.compare_methods", "compare data.csv --target class --labels 9", {"n_labeled": 9}),
    ("dsgcore.cli.compare.compare_methods", "compare wine --seconds 7 --jobs 2", {"seconds": 7.0, "jobs": 2}),
    ("dsgcore.cli.compare.client_of", f"compare data.csv {DASK}", {0: "tcp://nowhere:1"}),
    ("dsgcore.cli.compare.label_data", "label half.csv --target class --out new", LABELED),
    ("dsgcore.cli.compare.label_data", "label half.csv --out new --seconds 9", {"seconds": 9.0}),
    ("dsgcore.cli.compare.carry_out_reproduction", "reproduce auc/fig1", {0: reproduction("auc/fig1"), 1: None}),
    ("dsgcore.cli.compare.carry_out_reproduction", "reproduce auc/fig1 --quick --data rows", QUICK_FIGURE),
    ("dsgcore.cli.runs.limits", "check spec.json", {1: 5}),
    ("dsgcore.cli.runs.carry_out", "sweep study.json --jobs 3", {2: 3, "client": None}),
    ("dsgcore.cli.runs.client_of", f"sweep study.json {DASK}", {0: "tcp://nowhere:1"}),
    ("dsgcore.cli.runs.to_optuna", "sweep study.json --optuna-storage sqlite://", {2: "sqlite://"}),
    ("dsgcore.cli.runs.JobQueue.submit", "race spec.json", {3: ["PNUAUC", "SAMULT"], 4: (10, 16, 50), 5: 3}),
    ("dsgcore.cli.runs.JobQueue.submit", "race spec.json --memory-limit 3", {"memory_limit": 3 * 10**9}),
    ("dsgcore.estimators.s3vm.TSGS3VM.fit", "fit TSGS3VM data.csv --target class --out new", {"every": 50}),
    ("dsgcore.cli.data.fetch", "data fetch cod-rna", {0: REMOTE_SETS["cod-rna"]}),
    ("pages.handouts.static_lesson.write_lesson", "export-lesson step-size --out new --step 2", {0: "step-size", 2: 2}),
]


@each("work, line, expected", OPTIONS)
def test_what_is_typed_arrives_where_a_command_does_its_work(work, line, expected, person, tmp_path_factory):
    def see(*arguments, **named):
        raise SeenError({**dict(enumerate(arguments)), **named})

    own = shutil.copytree(person, tmp_path_factory.mktemp("copy") / "own")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(own)
        patch.setattr(work, see)
        patch.setattr("dsgcore.__main__.exit_code", lambda command: command())
        with pytest.raises(SeenError) as seen:
            main(line.split())
    for place, value in expected.items():
        found = seen.value.args[0][place]
        if hasattr(value, "get_params"):
            found, value = found.get_params(), value.get_params()
        assert found == value, (place, found, value)


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


def test_many_kept_columns_are_known_as_an_earlier_result(person, tmp_path):
    more = [f"a column that is kept and has the number {number}" for number in range(600)]
    wide, out = pd.read_csv(person / "data.csv"), tmp_path / "out"
    pd.concat([wide, pd.DataFrame(0.0, wide.index, more)], axis=1).to_parquet(tmp_path / "wide.parquet")
    line = ["predict", person / "model", tmp_path / "wide.parquet", "--out", out, "--quiet", "--keep"]
    for _ in range(2):
        assert main([*map(str, line), "a, b,a," + ",".join(more)]) == 0
    assert list(pd.read_parquet(out / "part-000000.parquet").columns) == ["a", "b", *more, "class", "score"]


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


def test_a_run_is_replaced_by_the_run_of_the_same_spec_and_file_only(person, tmp_path, capsys):
    for name in ("data.csv", "spec.json"):
        shutil.copy(person / name, tmp_path)
    out, data, spec = (tmp_path / name for name in ("out", "data.csv", "spec.json"))
    line = ["run", str(spec), "--out", str(out)]
    assert main(line) == 0
    data.write_text(data.read_text() + data.read_text().splitlines()[-1] + "\n")
    said = refusal(capsys, line)  # the spec's file has changed, and the spec has not
    assert f"{out} holds the run of another spec or file: take another folder for --out" in said
    spec.write_text(json.dumps(json.loads(spec.read_text()) | {"seed": 1}))
    before = contents(out)
    for name in ("result.json", "fit.json"):  # either of them tells the run
        shutil.move(out / name, tmp_path / name)
        assert f"{out} holds the run of another spec" in refusal(capsys, line)
        shutil.move(tmp_path / name, out / name)
    assert contents(out) == before
    for name in said.rpartition(" delete ")[2].rpartition(" there")[0].split(", "):
        (out / name).unlink()
    assert main(line) == 0


# --- streams: any encoding, a closed pipe, Ctrl+C, a shell that completes words, and a line of progress


TYPED = [
    "",
    "--help",
    "fit --help",
    "fit PS3VT 重さ.csv --target 重さ --out weights",
    "data describe 重さ.csv",
    "predict no",
]


@each("given", [*TYPED, "bogus"])
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


def test_reading_takes_no_time_of_the_iterations(person, tmp_path, monkeypatch):
    found = []
    monkeypatch.setattr(Progress, "part", lambda self, done, of, words="", *, is_new=True: found.append(is_new))
    assert main([*f"fit TSGS3VM {person}/data.csv --set n_iter=3 --out".split(), str(tmp_path / "new")]) == 0
    assert found == [False, True, True]


def test_a_line_of_progress_is_written_over_and_ended_once(capsys, monkeypatch):
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


# --- files of specs, studies and lessons, as editors and shells save them, and files of results


SPEC = small_spec("auc")
STUDY = {"spec": SPEC.to_dict(), "seeds": [0, 1]}
# As editors and Windows' shells save text: the name of the encoding, and the mark.
SAVED = {
    "UTF-8": ("utf-8", b""),
    "UTF-8 with a mark": ("utf-8", codecs.BOM_UTF8),
    "UTF-16, little-endian": ("utf-16-le", codecs.BOM_UTF16_LE),
    "UTF-16, big-endian": ("utf-16-be", codecs.BOM_UTF16_BE),
    "UTF-32, little-endian": ("utf-32-le", codecs.BOM_UTF32_LE),
    "UTF-32, big-endian": ("utf-32-be", codecs.BOM_UTF32_BE),
}


def save(file, text, how):
    encoding, mark = SAVED[how]
    file.write_bytes(mark + text.replace("\n", "\r\n").encode(encoding))
    return file


@each("how", SAVED)
def test_a_spec_a_study_and_a_lesson_are_read_as_they_are_saved(tmp_path, how):
    assert read_spec(save(tmp_path / "spec.json", SPEC.to_json(indent=2), how)) == SPEC
    study = read_study(save(tmp_path / "study.json", json.dumps(STUDY, indent=2), how))
    assert (study.spec, study.seeds) == (SPEC, (0, 1))
    (tmp_path / "auc").mkdir(exist_ok=True)
    save(tmp_path / "auc" / "lesson.toml", OWN_LESSON.replace("And now?", "Größe σ?"), how)
    lesson = read_lesson(tmp_path / "auc" / "lesson.toml")
    assert "Größe σ?" in lesson.steps[1].text
    assert "\r" not in lesson.steps[1].text


def test_a_result_takes_its_place_when_it_is_whole(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("before")

    def stopped():
        with whole_file(file) as to:
            to.write("half of it")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither, or only for administrators")
def test_a_result_is_written_through_a_link_and_to_a_pipe(tmp_path):
    file, link = tmp_path / "table.csv", tmp_path / "latest.csv"
    file.write_text("before")
    link.symlink_to(file)
    with whole_file(link) as to:
        to.write("after")
    assert link.is_symlink()
    assert file.read_text() == "after"
    reader, writer = os.pipe()
    with whole_file(f"/dev/fd/{writer}") as to:
        to.write("after")
    assert os.read(reader, 100) == b"after"
    os.close(reader)
    os.close(writer)


@each("plain", [OF_FILE := {"data": {"path": "a.csv"}}, {"spec": OF_FILE}])
def test_no_result_is_written_to_the_data_beside_a_spec_or_study(plain, tmp_path_factory):
    (spec := tmp_path_factory.mktemp("other") / "spec.json").write_text(json.dumps(plain))
    (own := spec.with_name("a.csv")).write_text("a,label")
    with pytest.raises(TextFileError, match=r"^--json would write to .*a\.csv, which the command reads"):
        check_file(own, "--json", "", places_read(spec, "spec"))


@each("command, words, option", [("check", SPEC.to_dict(), "--json"), ("sweep", STUDY, "--csv")])
def test_a_place_for_a_result_is_tried_before_anything_is_computed(
    command, words, option, tmp_path_factory, monkeypatch
):
    (file := tmp_path_factory.mktemp("places") / "asked.json").write_text(json.dumps(words))
    monkeypatch.chdir(file.parent)
    for name in ("limits", "carry_out"):
        monkeypatch.setattr(f"dsgcore.cli.runs.{name}", lambda *_, **__: pytest.fail("it was computed first"))
    assert main([command, file.name, option, "none/a.txt"]) == 2

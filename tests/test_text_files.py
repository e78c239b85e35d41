"""Files of specs, studies and lessons: read however an editor or a shell saves them, or refused in a sentence that names them."""

from __future__ import annotations

import codecs
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hostile_files import GOOD
from own_tables import own_spec
from small_specs import small
from test_written_lessons import TEXT

from dsgcore.__main__ import main
from dsgcore.core.text_files import read_text
from dsgcore.data.reading import sniff
from dsgcore.diagnostics import command as check_command
from dsgcore.experiments import SpecError, read_spec, script
from dsgcore.settings.guided.written import LessonError, lessons_of
from dsgcore.studies.command import read_study

SPEC = small("auc")
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
saved = pytest.mark.parametrize("how", SAVED)


def save(file, text, how):
    encoding, mark = SAVED[how]
    file.write_bytes(mark + text.replace("\n", "\r\n").encode(encoding))
    return file


def command(name, file, tmp_path):
    more = {"run": ["--out", tmp_path / "out", "--quiet"], "check": [], "sweep": ["--store", tmp_path / "runs.sqlite"]}
    return [name, str(file), *map(str, more[name])]


@saved
def test_a_spec_a_study_and_a_lesson_are_read_as_they_are_saved(tmp_path, how):
    assert read_spec(save(tmp_path / "spec.json", SPEC.to_json(indent=2), how)) == SPEC
    study = read_study(save(tmp_path / "study.json", json.dumps(STUDY, indent=2), how))
    assert (study.spec, study.seeds) == (SPEC, (0, 1))
    (tmp_path / "auc").mkdir()
    save(tmp_path / "auc" / "lesson.toml", TEXT.replace("What will be?", "Größe σ?"), how)
    (lesson,) = lessons_of("auc", tmp_path)
    assert "Größe σ?" in repr(lesson.steps[0])
    assert "\r" not in lesson.steps[0].text


@pytest.mark.parametrize("how", ["UTF-8 with a mark", "UTF-16, little-endian"])
def test_a_spec_that_a_windows_shell_has_saved_is_run(tmp_path, how):
    file = save(tmp_path / "spec.json", SPEC.to_json(), how)
    assert main(command("run", file, tmp_path)) == 0
    assert read_spec(tmp_path / "out" / "spec.json") == SPEC


def _missing(file):
    return "does not exist: give the path"


def _folder(file):
    file.mkdir()
    return "is a folder: give the file in it"


def _empty(file):
    file.write_text(" \n", encoding="utf-8")
    return "is empty: it must hold"


def _only_a_mark(file):
    file.write_bytes(codecs.BOM_UTF16_LE)
    return "is empty: it must hold"


def _latin(file):
    file.write_bytes("é".encode("latin-1"))
    return "is not text in UTF-8: save"


def _unmarked(file):
    file.write_bytes('{"setting": "auc"}'.encode("utf-16-le"))
    return "is not text in UTF-8: save"


def _binary(file):
    file.write_bytes(bytes(range(256)))
    return "is not text in UTF-8: save"


def _in_a_file(file):
    file.parent.rmdir()
    file.parent.write_text("a file in place of a folder", encoding="utf-8")
    return "cannot be read"


MISTAKES = [_missing, _folder, _empty, _only_a_mark, _latin, _unmarked, _binary, _in_a_file]


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("name", ["run", "check", "sweep"])
def test_a_file_that_is_no_text_is_named_in_one_sentence(tmp_path, capsys, name, mistake):
    folder = tmp_path / "in"
    folder.mkdir()
    words = mistake(folder / "asked.json")
    assert main(command(name, folder / "asked.json", tmp_path)) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"dsgcore: {folder / 'asked.json'} {words}")
    assert said.count("\n") == 1
    assert "Errno" not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not valid JSON: "),
        ("setting: auc", "is not valid JSON: "),
        ('{"setting": "auc", "bogus": 1}', "has no field '"),
        ('{"spec": {"setting": "auc", "bogus": 1}, "bogus": 1}', "has no field '"),
        ("[1]", "must be an object with named fields, got [1]"),
        ("1" * 5000, "is not valid JSON: "),
        ("[" * 100_000, "is not valid JSON: "),
    ],
)
@pytest.mark.parametrize("name", ["run", "check", "sweep"])
def test_an_error_in_a_file_names_the_file(tmp_path, capsys, name, text, words):
    file = tmp_path / "asked.json"
    file.write_text(text, encoding="utf-8")
    assert main(command(name, file, tmp_path)) == 2
    said = capsys.readouterr().err
    assert said.endswith(f" (in {file})\n")
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied"), "cannot be read, for you have no permission: allow it"),
        (OSError(5, "Input/output error"), "cannot be read (Input/output error): give"),
    ],
)
def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch, error, words):
    def refuse(file):
        raise error

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ValueError, match="spec") as caught:
        read_text(tmp_path / "spec.json", "a spec in JSON")
    assert str(caught.value).startswith(f"{tmp_path / 'spec.json'} {words}")


@pytest.mark.parametrize("mistake", [_folder, _empty, _latin, _unmarked])
def test_a_lesson_that_is_no_text_is_named_in_one_sentence(tmp_path, mistake):
    (tmp_path / "auc").mkdir()
    words = mistake(tmp_path / "auc" / "lesson.toml")
    with pytest.raises(LessonError) as caught:
        lessons_of("auc", tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'auc' / 'lesson.toml'} {words}")


@pytest.mark.parametrize("option", ["--json", "--csv"])
@pytest.mark.parametrize(
    ("place", "words"), [("", "is a folder: add a file's name"), ("none/a.txt", "does not exist: make it first")]
)
def test_a_place_for_a_result_is_tried_before_anything_is_computed(tmp_path, capsys, monkeypatch, option, place, words):
    monkeypatch.setattr(check_command, "limits", lambda *_: pytest.fail("it was computed first"))
    file = tmp_path / "asked.json"
    file.write_text(SPEC.to_json() if option == "--json" else json.dumps(STUDY), encoding="utf-8")
    name = "check" if option == "--json" else "sweep"
    assert main([*command(name, file, tmp_path), option, str(tmp_path / place)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"dsgcore: {option} ")
    assert words in said
    assert said.count("\n") == 1


def test_a_place_without_permission_is_refused_before_anything_is_computed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert main(["bench", "--json", str(tmp_path / "a.json")]) == 2
    assert "which you have no permission to write: name another one" in capsys.readouterr().err


@pytest.mark.parametrize("found", ["nothing", "another file", "a folder"])
def test_an_exported_script_without_its_file_of_data_ends_with_one_sentence(tmp_path, found):
    spec, _ = own_spec(GOOD, sniff(GOOD, "table.csv"))
    if found == "another file":
        (tmp_path / spec.data.path).write_bytes(b"x,label\n0,a\n")
    elif found == "a folder":
        (tmp_path / spec.data.path).mkdir()
    (tmp_path / "repeat_run.py").write_text(script(spec, 1), encoding="utf-8")
    done = subprocess.run([sys.executable, "repeat_run.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert f"{spec.data.path}" in done.stderr
    assert "Put the spec's file of data beside repeat_run.py." in done.stderr
    assert not (tmp_path / "history.csv").exists()


def test_an_error_in_a_file_keeps_its_class_and_names_the_file(tmp_path):
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(replace(SPEC, seed=1).to_dict() | {"seed": -1}), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_spec(file)
    assert str(caught.value).startswith("seed must be a whole number between 0")
    assert str(caught.value).endswith(f" (in {file})")

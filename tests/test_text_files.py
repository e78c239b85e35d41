"""Files of specs, studies and lessons: read however an editor or a shell saves them, or refused in a sentence that names them."""

import codecs
import json
import os
import re

import pytest
from cases import each
from commands import refusal
from small_specs import small
from test_golden_server import LESSON

from dsgcore.__main__ import main
from dsgcore.cli import runs as run_commands
from dsgcore.cli.options import check_file, places_read
from dsgcore.cli.runs import read_study
from dsgcore.core.files import TextFileError, whole_file
from dsgcore.experiments import read_spec
from dsgcore.settings.lessons import read_lesson

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


def save(file, text, how):
    encoding, mark = SAVED[how]
    file.write_bytes(mark + text.replace("\n", "\r\n").encode(encoding))
    return file


def command(name, file, tmp_path):
    more = {"run": ["--out", tmp_path / "out", "--quiet"], "check": [], "sweep": ["--store", tmp_path / "runs.sqlite"]}
    return [name, str(file), *map(str, more[name])]


@each("how", SAVED)
def test_a_spec_a_study_and_a_lesson_are_read_as_they_are_saved(tmp_path, how):
    assert read_spec(save(tmp_path / "spec.json", SPEC.to_json(indent=2), how)) == SPEC
    study = read_study(save(tmp_path / "study.json", json.dumps(STUDY, indent=2), how))
    assert (study.spec, study.seeds) == (SPEC, (0, 1))
    (tmp_path / "auc").mkdir(exist_ok=True)
    save(tmp_path / "auc" / "lesson.toml", LESSON.replace("What will be?", "Größe σ?"), how)
    lesson = read_lesson(tmp_path / "auc" / "lesson.toml")
    assert "Größe σ?" in repr(lesson.steps[0])
    assert "\r" not in lesson.steps[0].text


def in_a_file(file):
    file.parent.rmdir()
    file.parent.write_text("a file in place of a folder", encoding="utf-8")


NO_TEXT, NO_JSON, NO_FIELD = "{file} is not text in UTF-8: save", "is not valid JSON: ", "has no field '"
# A way to damage a file, its text or its bytes, and the expected message.
MISTAKES = [
    (lambda file: None, "{file} does not exist: give the path"),
    (lambda file: file.mkdir(), "{file} is a folder: give the file in it"),
    (in_a_file, "{file} cannot be read"),
    (b" \n", "{file} is empty: it must hold"),
    (codecs.BOM_UTF16_LE, "{file} is empty: it must hold"),
    ("é".encode("latin-1"), NO_TEXT),
    ('{"setting": "auc"}'.encode("utf-16-le"), NO_TEXT),
    (bytes(range(256)), NO_TEXT),
    (b"{", NO_JSON),
    (b"setting: auc", NO_JSON),
    (b'{"setting": "auc", "bogus": 1}', NO_FIELD),
    (b'{"spec": {"setting": "auc", "bogus": 1}, "bogus": 1}', NO_FIELD),
    (b"[1]", "must be an object with "),
    (b"1" * 5000, NO_JSON),
    (b"[" * 100_000, NO_JSON),
]


@each("mistake, words", MISTAKES)
@each("name", ["run", "check", "sweep"])
def test_a_file_that_cannot_be_used_is_named_in_one_sentence(tmp_path_factory, capsys, name, mistake, words):
    tmp_path = tmp_path_factory.mktemp("spoilt")
    file = tmp_path / "in" / "asked.json"
    file.parent.mkdir()
    mistake(file) if callable(mistake) else file.write_bytes(mistake)
    said = refusal(capsys, command(name, file, tmp_path))
    assert said.startswith("dsg-lab: ")
    assert words.replace("{file}", str(file)) in said
    assert "{file}" in words or said.endswith(f" (in {file})\n")
    assert "Errno" not in said


@each("option, name", [("--json", "check"), ("--csv", "sweep")])
def test_a_place_for_a_result_is_tried_before_anything_is_computed(tmp_path_factory, capsys, option, name):
    tmp_path = tmp_path_factory.mktemp("places")
    file = tmp_path / "asked.json"
    file.write_text(SPEC.to_json() if option == "--json" else json.dumps(STUDY), encoding="utf-8")
    for place, words in (("", "is a folder: add a file's name"), ("none/a.txt", "does not exist: make it first")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_commands, "limits", lambda *_: pytest.fail("it was computed first"))
            assert main([*command(name, file, tmp_path), option, str(tmp_path / place)]) == 2
        assert re.fullmatch(rf"dsg-lab: {option} .*{words}.*\n", capsys.readouterr().err)


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

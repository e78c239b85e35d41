from __future__ import annotations

import json
from dataclasses import replace

import pytest
from cases import each
from commands import refusal
from test_data_command import fails_at
from test_run import read_csv, small, table

from dsgcore import Run, Spec, load_model
from dsgcore.__main__ import main


@pytest.fixture
def spec_file(tmp_path):
    def write(plain):
        path = tmp_path / "spec.json"
        path.write_text(plain if isinstance(plain, str) else json.dumps(plain), encoding="utf-8")
        return str(path)

    return write


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
        assert refused.startswith("dsg-lab: --out must name a folder, ")
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

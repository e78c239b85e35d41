from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from cases import each
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


def test_run_reads_a_file_of_points(spec_file, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    np.savez(tmp_path / "points.npz", X=X, y=np.where(X[:, 0] > 0, 1, -1))
    plain = small().to_dict()
    plain["data"] = {"name": "file", "path": str(tmp_path / "points.npz"), "n_labeled": 20}
    assert main(["run", spec_file(plain), "--out", str(tmp_path / "out"), "--quiet"]) == 0


@each(
    "given, said",
    [
        ({"setting": "auc", "bogus": 1}, "no field 'bogus'"),
        ({"setting": "auc", "solver": {"n_iter": "ten"}}, "n_iter must be a whole number"),
        ({"setting": "auc", "data": {"n_labeled": 5000}}, "n_labeled"),
        ({"setting": "auc", "data": {"name": "file", "path": "nowhere.npz"}}, "nowhere.npz"),
        ("{", "not valid JSON"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(spec_file, tmp_path, capsys, given, said):
    assert main(["run", spec_file(given), "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_told_before_anything_is_computed(spec_file, tmp_path, capsys, monkeypatch):
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    monkeypatch.setattr(Run, "advance", lambda *_, **__: pytest.fail("it was computed first"))
    for out, said in (
        (tmp_path / "taken", "is a file"),
        (tmp_path / "taken/within", "is a file"),
        ("", "an empty text"),
    ):
        assert main(["run", spec_file(small().to_dict()), "--out", str(out)]) == 2
        refused = capsys.readouterr().err
        assert refused.startswith("dsg-lab: --out must name a folder, ")
        assert said in refused
        assert refused.count("\n") == 1
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

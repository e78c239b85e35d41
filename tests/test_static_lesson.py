"""Lessons as files: the size, the numbers that are recorded, and the names that are understood."""

import base64
import json
import re

import numpy as np
import pytest
from installed import ROOT

from dsgcore.__main__ import main
from dsgcore.core.errors import DSGError
from dsgcore.experiments import Run
from pages.handouts import static_lesson
from pages.handouts.static_lesson import _chosen, _surface, write_lesson

DEMO = ROOT / ".github" / "demo" / "step-size.html"
MOST_BYTES = 3_000_000


def recorded(file):
    found = re.search(r'id="recorded">(.*?)</script>', file.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def numbers(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


@pytest.mark.compiled
def test_the_command_writes_a_file_with_the_numbers_of_the_app(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(static_lesson, "MOST_VALUES", 2)
    monkeypatch.setattr(static_lesson, "N_SURFACES", 3)
    assert main(["export-lesson", "auc/step-size", "--out", str(tmp_path / "new")]) == 0
    file = tmp_path / "new" / "step-size.html"
    assert capsys.readouterr().out == f"{file}\n"
    said, chosen = recorded(file), _chosen("step-size", None)
    assert [own["words"] for own in said["runs"]] == [static_lesson.shown(value) for value in chosen.values]
    run = Run(chosen.spec(chosen.values[0]))
    run.advance()
    assert numbers(said["runs"][0]["y"])[-1] == np.float32(run.history.last()["objective"])
    assert "://" not in re.sub(r"<script>.*?</script>", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_values_that_the_data_refuse_are_left_out():
    for name, value in (("pairs", 200), ("thresholds", 2), ("how-many-labels", 2), ("equal-shares", 0.5)):
        chosen = _chosen(name, 1)
        assert value in chosen.values
        assert not chosen.is_possible(value)
        assert any(map(chosen.is_possible, chosen.values))


def test_a_curve_beyond_single_precision_is_kept_at_its_largest_number():
    assert numbers(static_lesson._packed(np.array([1.0, 1e300, -1e300]))).tolist() == [
        *(1.0, np.finfo("f4").max, np.finfo("f4").min)
    ]


def test_a_file_that_is_no_lesson_is_not_replaced(tmp_path):
    (tmp_path / "step-size.html").write_text("mine", encoding="utf-8")
    with pytest.raises(DSGError, match="is no lesson of DSG Lab"):
        write_lesson("step-size", tmp_path)
    assert (tmp_path / "step-size.html").read_text(encoding="utf-8") == "mine"


def test_the_example_is_small_and_holds_a_run_for_each_value():
    said = recorded(DEMO)
    assert DEMO.stat().st_size < MOST_BYTES
    assert len(said["runs"]) > 5
    assert any(run["ending"] for run in said["runs"])  # the largest steps diverge
    assert all(len(numbers(run["t"])) == len(numbers(run["y"])) > 0 for run in said["runs"])


def test_a_surface_keeps_its_numbers_to_a_step_and_its_gaps():
    z = np.array([[0.0, 1.0], [np.nan, 0.5]])
    kept = _surface(z)
    steps = np.frombuffer(base64.b64decode(kept["z"]), dtype=np.uint8).reshape(2, 2)
    assert (kept["low"], kept["high"], steps.tolist()) == (0.0, 1.0, [[0, 254], [255, 127]])


def test_a_name_or_a_step_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DSGError, match=r"no single lesson has the name 'none': name one of .*auc/step-size"):
        write_lesson("none", tmp_path)
    with pytest.raises(DSGError, match="--step must be from 1 to 3, got 9"):
        write_lesson("step-size", tmp_path, 9)

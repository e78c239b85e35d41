"""The project's errors have one base class, so no other ValueError is taken for bad input."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import dsgcore
from dsgcore import QSGS2AUC, DSGError
from dsgcore.__main__ import main
from dsgcore.comparing.rounds import Unwanted
from dsgcore.data.datasets import DataError
from dsgcore.model_selection import suggest
from dsgcore.studies.processes import GivenUpError

NOT_MENDED_BY_INPUT = {GivenUpError, Unwanted}  # the time given to a run is over; nobody waits for a comparison


def error_classes():
    for module in pkgutil.walk_packages(dsgcore.__path__, "dsgcore."):
        if module.name.endswith("__main__"):
            continue
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if (
                issubclass(found, Exception)
                and not issubclass(found, Warning)
                and found.__module__.startswith("dsgcore")
            ):
                yield found


def test_every_error_of_the_project_derives_from_one_base_class():
    found = set(error_classes())
    assert len(found) > 10
    assert {cls for cls in found if not issubclass(cls, DSGError)} == NOT_MENDED_BY_INPUT


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


def test_a_search_does_not_hide_a_fault_of_the_program(monkeypatch):
    monkeypatch.setattr("dsgcore.estimators.auc.QSGS2AUC.fit", break_)
    y = np.repeat([0, 1, -1], 20)
    with pytest.raises(ValueError, match="cannot reshape"):
        suggest(QSGS2AUC(random_state=0), np.random.default_rng(0).normal(size=(60, 2)), y, seconds=5)

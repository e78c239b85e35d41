"""A parameter has one name in Python, in a spec, on the command line and in the app."""

import inspect
import re
from dataclasses import fields
from itertools import chain
from pathlib import Path

import pytest
from cases import each

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.__main__ import main
from dsgcore.baselines import COMPETITORS
from dsgcore.cli.scores import write_scores
from dsgcore.cli.sweep import asked_study
from dsgcore.comparing import compare
from dsgcore.core.parameters import PARAMETER
from dsgcore.data import rows_of
from dsgcore.data.reading import File, Recipe
from dsgcore.diagnostics import limits
from dsgcore.experiments import SETTINGS, default_spec
from dsgcore.experiments.cost import machine_budget
from dsgcore.experiments.settings import DataSpec, DiagnosticsSpec, StopSpec, solver_parameters
from dsgcore.kernels import KERNELS
from dsgcore.studies import begin_study, carry_out, local_processes

DOCS = Path(__file__).parent.parent / ".github/docs"
ESTIMATORS = {"similar_unlabeled": TSGSU, "auc": QSGS2AUC, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "multiclass": PS3VT}
COMPETITOR_CLASSES = set(chain.from_iterable(COMPETITORS.values()))
SECTIONS = (*SETTINGS.values(), *KERNELS.values(), DataSpec, StopSpec, DiagnosticsSpec, Recipe)
# Fields of a spec that an estimator does not have, and the docs' words about each.
NOT_OF_ESTIMATORS = {"is_full_gradient": "batch_size=None", "schedule": "PS3VT", "dtype": "PS3VT"}
# Options about the command itself: its files, its output, its processes.
# `--no-header` sets the recipe's header to False, and `--category` and `--role` set its roles.
OF_THE_COMMAND = {
    "category",
    "csv",
    "dask",
    "help",
    "html",
    "json",
    "no_curves",
    "no_header",
    "optuna_storage",
    "out",
    "quiet",
    "role",
    "set",
}


def named_fields(kind):
    """Return the fields of a class that are parameters, with the name that the parameter had where it was defined."""
    return [(one.name, one.metadata[PARAMETER].name) for one in fields(kind) if PARAMETER in one.metadata]


def test_a_parameter_that_several_classes_share_has_one_name():
    other = {
        (kind.__name__, name, defined)
        for kind in (*ESTIMATORS.values(), *COMPETITOR_CLASSES, *SECTIONS)
        for name, defined in named_fields(kind)
        if defined not in ("", name)
    }
    assert other == set()


def test_one_label_belongs_to_one_name():
    names = {}
    solvers = [p for setting in SETTINGS.values() for p in solver_parameters(setting)]
    own = [p for kind in (*SECTIONS, *COMPETITOR_CLASSES) for p in kind.parameters]
    for parameter in (*solvers, *own):
        if parameter.label:
            names.setdefault(parameter.label, set()).add(parameter.name)
    assert len(names) > 50
    assert {label: found for label, found in names.items() if len(found) > 1} == {}


@pytest.mark.parametrize("setting", ESTIMATORS)
def test_a_spec_and_its_estimator_have_the_same_names(setting):
    spec, python = default_spec(setting), ESTIMATORS[setting]().get_params().keys()
    asked = {p.name for p in (*spec.problem.parameters, *spec.kernel.parameters, *solver_parameters(SETTINGS[setting]))}
    said = (DOCS / "python.md").read_text(encoding="utf-8")
    for name in asked - python:
        assert NOT_OF_ESTIMATORS[name] in said
        assert f"`{name}`" in said


def test_seed_and_random_state_are_the_only_two_names_and_the_docs_say_why():
    takes = [inspect.signature(kind).parameters for kind in (*ESTIMATORS.values(), *COMPETITOR_CLASSES)]
    assert not any("seed" in names for names in takes)
    assert any("random_state" in names for names in takes)
    assert "seed" in default_spec("auc").to_dict()
    said = (DOCS / "python.md").read_text(encoding="utf-8")
    assert re.search(r"`random_state` .*scikit-learn.*`seed`", said)


# The functions that a command gives its options to, and the names of their arguments.
TAKEN_BY = {
    "run": (machine_budget,),
    "check": (limits,),
    "sweep": (local_processes, begin_study, asked_study, carry_out),
    "compare": (compare, File.recipe, Recipe),
    "fit": (rows_of, QSGS2AUC.fit, File.recipe, Recipe),
    "predict": (write_scores, Recipe),
    "data fetch": (),
    "data describe": (File.recipe, Recipe),
    "data convert": (File.recipe, Recipe),
}


@each("command", TAKEN_BY)
def test_an_option_has_the_name_of_the_argument_that_it_is_given_to(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    options = {name.replace("-", "_") for name in re.findall(r"(?<=--)[a-z][a-z-]*", capsys.readouterr().out)}
    spec_fields = {p.name for p in DataSpec.parameters}
    known = OF_THE_COMMAND | spec_fields | set(chain.from_iterable(map(_arguments, TAKEN_BY[command])))
    assert options - known == set()


def _arguments(function):
    return inspect.signature(function).parameters


def test_a_control_has_the_name_of_its_parameter():
    from dsgcore.settings import profile_of
    from pages.controls.kernel_parameters import OWN_KEYS
    from pages.controls.names import names_of

    kernels = {OWN_KEYS.get((k, p.name), p.name) for k, kind in KERNELS.items() for p in kind.parameters}
    for setting in SETTINGS.values():
        named = {p.name for p in (*setting.parameters, *solver_parameters(setting))} | kernels
        named |= {p.name for kind in (StopSpec, DataSpec) for p in kind.parameters}
        keys = {key.removeprefix(profile_of(setting).prefix) for key in names_of(setting).values()}
        assert keys - named == {"kernel", "data", "seed", "file", "also"} - named
    assert all(key.endswith(name) for (_, name), key in OWN_KEYS.items())

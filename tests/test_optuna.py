"""Runs of a study as trials in an Optuna storage."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Barrier

import numpy as np
import pytest
from cases import each

pytest.importorskip("optuna", reason="optuna is not installed: install dsg-lab[optuna]")
import optuna
from sqlalchemy.exc import OperationalError

from dsgcore.__main__ import main
from dsgcore.studies import SpecList, Store, Study, StudyError, carry_out, table_of
from dsgcore.studies.optuna_trials import OptunaTrials, optuna_name

SPEC = {
    "setting": "auc",
    "data": {"name": "two_moons", "n": 100, "n_labeled": 20},
    "solver": {"n_iter": 3, "n_features": 8},
}
AXES = [
    {"name": "kernel.sigma", "from": 0.1, "to": 10.0, "n": 3, "scale": "log"},
    {"name": "problem.pairing", "values": ["all", "triplets"]},
]
OPTIONS = ["--axis", "kernel.sigma=0.1:10:3:log", "--axis", "problem.pairing=all,triplets", "--jobs", "1", "--quiet"]


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/trials.db"


def study_of(seeds=(0, 1)):
    return Study.from_dict({"spec": SPEC, "axes": AXES, "seeds": list(seeds)})


def kept(store, run, score, state="finished"):
    row = {"spec_sha256": run.spec.sha256, "last": {"score_test": score}, "seconds": 0.1}
    return store.put(run.spec.to_json(), row | {"stop_reason": state, "iterations": 3}, {"t": np.arange(3.0)})


def filled(study, store):
    """Keep a score for each run of a study: the number of its place; the last run has diverged."""
    runs = list(study.runs())
    for run in runs:
        kept(store, run, float(run.place), "diverged" if run is runs[-1] else "finished")


def carried_out(study, tmp_path, storage):
    with ThreadPoolExecutor(1) as executor:
        return carry_out(study, Store(tmp_path / "runs.sqlite"), executor, 1, optuna_storage=storage)


@contextmanager
def opened(storage):
    """Open a database for reading, and close its connections at the end."""
    database = optuna.storages.RDBStorage(storage)
    try:
        yield database
    finally:
        database.engine.dispose()


def trials_of(study, storage):
    with opened(storage) as database:
        return optuna.load_study(study_name=optuna_name(study), storage=database).get_trials()


def test_each_run_is_a_trial_with_its_values_its_score_and_its_seed(tmp_path, storage):
    study = study_of()
    filled(study, Store(tmp_path / "runs.sqlite"))
    outcomes = carried_out(study, tmp_path, storage)
    trials = trials_of(study, storage)
    assert len(trials) == len(outcomes) == 12
    for trial, outcome in zip(trials, outcomes, strict=True):
        run = outcome.run
        assert tuple(trial.params[axis.name] for axis in study.axes) == run.values
        assert (trial.user_attrs["seed"], trial.user_attrs["sha256"]) == (run.seed, run.spec.sha256)
    assert [trial.value for trial in trials[:-1]] == [float(place) for place in range(11)]
    assert [trial.state.name for trial in trials] == ["COMPLETE"] * 11 + ["FAIL"]
    assert {trial.duration.total_seconds() for trial in trials} == {0.1}
    width = trials[0].distributions["kernel.sigma"]
    assert (width.low, width.high, width.log) == (0.1, 10.0, True)
    assert trials[0].distributions["problem.pairing"].choices == ("all", "triplets")


def test_a_study_that_goes_on_writes_only_its_new_runs(tmp_path, storage):
    store = Store(tmp_path / "runs.sqlite")
    filled(study_of([0]), store)
    carried_out(study_of([0]), tmp_path, storage)
    carried_out(study_of([0]), tmp_path, storage)
    filled(study_of([0, 1]), store)
    carried_out(study_of([0, 1]), tmp_path, storage)
    digests = [trial.user_attrs["sha256"] for trial in trials_of(study_of(), storage)]
    assert len(digests) == len(set(digests)) == 12


def test_other_axes_are_another_study_of_the_storage(tmp_path, storage):
    narrow = Study.from_dict({"spec": SPEC, "axes": AXES[:1], "seeds": [0]})
    for study in (study_of([0]), narrow):
        filled(study, Store(tmp_path / "runs.sqlite"))
        carried_out(study, tmp_path, storage)
    with opened(storage) as database:
        assert len(optuna.get_all_study_names(storage=database)) == 2
    assert len(trials_of(narrow, storage)) == 3


def test_a_run_without_a_result_is_written_once_it_has_one(tmp_path, storage):
    study, store = study_of([0]), Store(tmp_path / "runs.sqlite")
    first = next(iter(study.runs()))
    with closing(OptunaTrials(study, storage)) as writer:
        writer.add(first, None)
        assert trials_of(study, storage) == []
        writer.add(first, kept(store, first, 0.5))
    assert [trial.value for trial in trials_of(study, storage)] == [0.5]


def test_two_writers_at_once_write_each_run_once(tmp_path, storage):
    study, store = study_of(range(4)), Store(tmp_path / "runs.sqlite")
    done = [(run, kept(store, run, 0.5)) for run in study.runs()]
    together = Barrier(2, timeout=60)
    OptunaTrials(study, storage).close()

    def write():
        with closing(OptunaTrials(study, storage)) as writer:
            for run, stored in done:
                together.wait()
                writer.add(run, stored)

    with ThreadPoolExecutor(2) as executor:
        for future in [executor.submit(write) for _ in range(2)]:
            future.result()
    digests = [trial.user_attrs["sha256"] for trial in trials_of(study, storage)]
    assert sorted(digests) == sorted(stored.sha256 for _, stored in done)


def test_a_database_whose_tables_another_writer_creates_at_this_moment_is_opened(monkeypatch, storage):
    tries = []

    class Busy(optuna.storages.RDBStorage):
        def __init__(self, *given, **named):
            tries.append(given)
            if len(tries) == 1:
                raise OperationalError("CREATE TABLE studies", {}, Exception("table studies already exists"))
            super().__init__(*given, **named)

    monkeypatch.setattr(optuna.storages, "RDBStorage", Busy)
    OptunaTrials(study_of(), storage).close()
    assert trials_of(study_of(), storage) == []


def test_a_writer_sees_what_another_one_has_committed_since_it_was_opened(tmp_path, storage):
    study, store = study_of([0]), Store(tmp_path / "runs.sqlite")
    first = next(iter(study.runs()))
    stored = kept(store, first, 0.5)
    with closing(OptunaTrials(study, storage)) as writer, opened(storage) as database:
        with closing(OptunaTrials(study, database)) as other:
            other.add(first, stored)
        writer.add(first, stored)
    assert len(trials_of(study, storage)) == 1


def test_optuna_finds_the_best_run_and_goes_on_from_it(tmp_path, storage):
    study = study_of()
    filled(study, Store(tmp_path / "runs.sqlite"))
    carried_out(study, tmp_path, storage)
    with opened(storage) as database:
        found = optuna.load_study(study_name=optuna_name(study), storage=database)
        assert found.best_value == 10.0
        asked = found.ask(found.trials[0].distributions)
        assert 0.1 <= asked.params["kernel.sigma"] <= 10.0


@each(
    "given, message",
    (
        ("nonsense", "the Optuna storage 'nonsense' cannot be used: Could not parse"),
        ("sqlite:////no/such/folder/a.db", "cannot be used: .*unable to open database file"),
        ("postgresql+nothing://localhost/x", "cannot be used: "),
    ),
)
def test_a_storage_that_cannot_be_used_is_refused_before_any_run(given, message, tmp_path):
    with pytest.raises(StudyError, match=message):
        carried_out(study_of(), tmp_path, given)
    assert len(Store(tmp_path / "runs.sqlite")) == 0


@each(
    "url",
    (
        "mysql://u:s3cret@host/db",
        "postgresql+nothing://u:s3cret@localhost/x",
        "mysql://u:s3c:s3cret@host/db",
        "mysql://u:@/:s3cret@host/db",
        "mysql://host/db?password=s3cret",
    ),
)
def test_a_password_is_never_printed(url, tmp_path):
    with pytest.raises(StudyError, match=r"the Optuna storage .* cannot be used: ") as refused:
        carried_out(study_of(), tmp_path, url)
    assert "s3c" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_list_of_specs_is_refused(storage):
    with pytest.raises(StudyError, match="a study along axes"):
        OptunaTrials(SpecList((study_of().spec,), (0,)), storage)


@pytest.mark.compiled
def test_the_command_writes_trials_and_the_same_table_as_without(tmp_path, storage, capsys):
    table = tmp_path / "table.csv"
    given = ["sweep", "auc", *OPTIONS, "--store", str(tmp_path / "runs.sqlite"), "--csv", str(table)]
    assert main([*given, "--optuna", storage]) == 0
    assert main([*given, "--optuna", storage, "--seeds", "2"]) == 0
    assert capsys.readouterr().err == ""
    with closing(sqlite3.connect(tmp_path / "trials.db")) as connection:
        assert connection.execute("SELECT count(*) FROM trials").fetchone() == (12,)
    with_trials = table.read_text()
    assert main([*given, "--seeds", "2"]) == 0
    assert table.read_text() == with_trials


def test_without_optuna_a_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(StudyError, match=r"install dsg-lab\[optuna\]"):
        carried_out(study_of(), tmp_path, "sqlite://")


def test_a_table_does_not_depend_on_the_storage(tmp_path, storage):
    study = study_of([0])
    filled(study, Store(tmp_path / "runs.sqlite"))
    assert table_of(study, carried_out(study, tmp_path, storage)) == table_of(study, carried_out(study, tmp_path, None))

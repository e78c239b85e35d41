"""Runs of a study as trials in an Optuna storage."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Barrier

import pytest
from cases import each
from test_study_results import kept

pytest.importorskip("optuna", reason="optuna is not installed: install dsg-lab[optuna]")
import optuna

from dsgcore.__main__ import main
from dsgcore.studies import Store, Study, StudyError, to_optuna
from dsgcore.studies.optuna_trials import optuna_name

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


def filled(study, store):
    """Keep a score for each run of a study: the number of its place; the last run has diverged."""
    runs = list(study.runs())
    for run in runs:
        kept(store, run, float(run.place), "diverged" if run is runs[-1] else "finished")


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


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs.sqlite")


def test_each_run_is_a_trial_with_its_values_its_score_and_its_seed(store, storage):
    study = study_of()
    filled(study, store)
    assert to_optuna(study, store, storage) == 12
    trials = {trial.user_attrs["sha256"]: trial for trial in trials_of(study, storage)}
    runs = list(study.runs())
    assert len(trials) == 12
    for run in runs:
        trial = trials[run.spec.sha256]
        assert tuple(trial.params[axis.name] for axis in study.axes) == run.values
        assert trial.user_attrs["seed"] == run.seed
        assert trial.state.name == ("FAIL" if run is runs[-1] else "COMPLETE")
        assert trial.value == (None if run is runs[-1] else float(run.place))
        assert trial.duration.total_seconds() == 0.1
    width = trial.distributions["kernel.sigma"]
    assert (width.low, width.high, width.log) == (0.1, 10.0, True)
    assert trial.distributions["problem.pairing"].choices == ("all", "triplets")


def test_a_study_that_goes_on_writes_only_its_new_runs(store, storage):
    assert to_optuna(study_of([0]), store, storage) == 0  # a run without a result is written once it has one
    filled(study_of([0]), store)
    assert [to_optuna(study_of([0]), store, storage) for _ in range(2)] == [6, 0]
    filled(study_of([0, 1]), store)
    assert to_optuna(study_of([0, 1]), store, storage) == 6
    digests = [trial.user_attrs["sha256"] for trial in trials_of(study_of(), storage)]
    assert len(digests) == len(set(digests)) == 12


def test_other_axes_are_another_study_of_the_storage(store, storage):
    narrow = Study.from_dict({"spec": SPEC, "axes": AXES[:1], "seeds": [0]})
    for study in (study_of([0]), narrow):
        filled(study, store)
        to_optuna(study, store, storage)
    with opened(storage) as database:
        assert len(optuna.get_all_study_names(storage=database)) == 2
    assert len(trials_of(narrow, storage)) == 3


@pytest.mark.ci
def test_sweeps_at_once_write_each_run_once(store, storage):
    study, together = study_of(range(4)), Barrier(3, timeout=60)
    filled(study, store)

    def write():
        together.wait()
        return to_optuna(study, store, storage)

    with ThreadPoolExecutor(3) as executor:
        numbers = [future.result() for future in [executor.submit(write) for _ in range(3)]]
    digests = [trial.user_attrs["sha256"] for trial in trials_of(study, storage)]
    assert sum(numbers) == len(digests) == len(set(digests)) == len(study)


def test_optuna_finds_the_best_run_and_goes_on_from_it(store, storage):
    study = study_of()
    filled(study, store)
    with opened(storage) as database:
        to_optuna(study, store, database)
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
def test_a_storage_that_cannot_be_used_is_refused_before_any_run(given, message, store, capsys):
    with pytest.raises(StudyError, match=message):
        to_optuna(study_of(), store, given)
    assert main(["sweep", "auc", *OPTIONS, "--store", str(store.file), "--optuna", given]) == 2
    assert "the Optuna storage" in capsys.readouterr().err
    assert len(store) == 0


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
def test_a_password_is_never_printed(url, store):
    with pytest.raises(StudyError, match=r"the Optuna storage .* cannot be used: ") as refused:
        to_optuna(study_of(), store, url)
    assert "s3c" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.weekly
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

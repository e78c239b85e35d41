"""Studies: which runs they ask for, that each is made once and none is lost, the store, and the command."""

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each
from clocks import until
from job_functions import make_runs_and_be_killed_once, write_runs
from own_tables import sniff
from sklearn.datasets import make_moons
from sklearn.feature_extraction.text import TfidfVectorizer
from small_specs import finished

from dsgcore.__main__ import main
from dsgcore.cli.runs import asked_study
from dsgcore.data.reading import File
from dsgcore.experiments import Spec, load_split
from dsgcore.jobs import JobQueue, JobState, tasks
from dsgcore.jobs.tasks import ThisProcess
from dsgcore.studies import Store, StoreError, Study, StudyError, carry_out, carrying_out, csv_of, table_of
from dsgcore.studies import store as store_module

SPEC = {
    "setting": "auc",
    "data": {"name": "two_moons", "n": 200, "n_labeled": 20},
    "solver": {"n_iter": 6, "n_features": 8},
}
STEPS = {"name": "solver.step_size", "values": [0.1, 0.5]}
AXES = [STEPS, {"name": "kernel.sigma", "from": 0.1, "to": 10, "n": 3, "scale": "log"}]
STUDY = {"spec": SPEC, "axes": AXES, "seeds": [0, 1]}
PYTHON = (sys.executable, "-W", "error")


def test_a_run_is_made_as_run_makes_it_and_a_diverged_one_is_a_state_of_its_own(store):
    study = Study.from_dict({"spec": SPEC})
    (outcome,) = carry_out(study, store)
    run = finished(study.spec)
    assert outcome.stored.score == run.history.last()["score_test"]
    kept = store.history(study.spec.sha256)
    assert set(kept) == {"t", "objective", "score_test"}
    assert all((kept[name] == run.history.column(name)).all() for name in kept)
    averaged = Study.from_dict({"spec": SPEC | {"solver": SPEC["solver"] | {"average": "tail"}}})
    last, (outcome,) = finished(averaged.spec).history.last(), carry_out(averaged, store)
    assert (outcome.stored.score, outcome.stored.objective) == (last["score_average"], last["objective_average"])
    steps = Study.from_dict({"spec": SPEC, "axes": [{"name": "solver.step_size", "values": [0.1, 1e6]}]})
    assert [outcome.stored.state for outcome in carry_out(steps, store)] == ["finished", "diverged"]


def own_files(folder):
    """Return the data sections of a spec for a person's file, in every way in which a spec can name one."""
    X, y = make_moons(80, noise=0.1, random_state=0)
    table, archive = folder / "table.csv", folder / "points.npz"
    pd.DataFrame(X, columns=["a", "b"]).assign(c=y).to_csv(table, index=False)
    np.savez(archive, X=X, y=y)
    recipe, digest = sniff(table.read_bytes(), "table.csv").to_dict(), hashlib.sha256(table.read_bytes()).hexdigest()
    more = {"n_labeled": 10, "name": "file"}
    return (
        {"path": str(table), **more},
        {"path": str(table), "recipe": recipe, "sha256": digest, **more},
        {"path": str(table), "target": "c", "positive": 0, **more},
        {"path": str(archive), **more},
        {"path": "table.csv", "sha256": digest, **more},  # in the study's folder
    )


def studies_of(spec):
    for axis in ({"name": "data.name", "values": ["file", "digits"]}, {"name": "solver.lam", "values": [0.1, 1.0]}):
        yield Study.from_dict({"spec": spec, "axes": [axis], "seeds": [0, 1]})
    yield Study(Spec.from_dict(spec), seeds=(0, 1))
    yield Study(Spec.from_dict(spec), seeds=(0, 1), data_seed=1)


def test_every_kind_of_study_keeps_every_field_of_a_persons_file(tmp_path):
    for i, data in enumerate(own_files(tmp_path)):
        spec = {"setting": "auc", "data": data, "solver": {"n_iter": 3, "n_features": 8}, "kernel": {"sigma": 1.0}}
        for study in studies_of(spec):
            outcomes = carry_out(study, Store(tmp_path / f"{i}.sqlite"), folder=str(tmp_path))
            assert [outcome.failed for outcome in outcomes] == [""] * len(study)


def test_a_changed_file_is_another_one_also_where_a_study_names_it_by_its_path_alone(tmp_path):
    data, store = own_files(tmp_path)[0], Store(tmp_path / "runs.sqlite")
    study = Study.from_dict({"spec": {"setting": "auc", "data": data, "solver": {"n_iter": 3}}, "seeds": [0, 1]})
    assert [outcome.is_new for outcome in carry_out(study, store)] == [True, True]
    assert [outcome.is_new for outcome in carry_out(study, store)] == [False, False]
    table = pd.read_csv(data["path"])
    table.assign(a=-3.0 * table["b"]).to_csv(data["path"], index=False)
    assert [outcome.is_new for outcome in carry_out(study, store)] == [True, True]
    (tmp_path / "table.csv").unlink()
    assert all("table.csv" in outcome.failed for outcome in carry_out(study, store))


def test_a_file_is_parsed_once_for_all_runs_and_the_words_of_a_text_are_fitted_once(tmp_path, monkeypatch):
    parsed, read, data = [], File.table, own_files(tmp_path)[1]

    def table(self, recipe):
        if not self._tables:
            parsed.append(recipe)
        return read(self, recipe)

    monkeypatch.setattr(File, "table", table)
    spec = {"setting": "auc", "data": data, "solver": {"n_iter": 2}}
    for study in studies_of(spec):
        carry_out(study, Store(tmp_path / "runs.sqlite"))
    assert len(parsed) == 1
    table_file = tmp_path / "table.csv"
    os.utime(table_file, ns=(0, 0))  # another version
    carry_out(Study.from_dict({"spec": spec, "seeds": [5, 6]}), Store(tmp_path / "runs.sqlite"))
    assert len(parsed) == 2
    fitted, fit = [], TfidfVectorizer.fit_transform
    monkeypatch.setattr(TfidfVectorizer, "fit_transform", lambda *given: fitted.append(given) or fit(*given))
    notes = [f"the {['old', 'new', 'odd'][i % 3]} house number {i} on hill {i % 7}" for i in range(60)]
    pd.DataFrame({"note": notes, "kind": ["a", "b"] * 30}).to_csv(tmp_path / "notes.csv", index=False)
    data = {"name": "file", "path": str(tmp_path / "notes.csv"), "n_labeled": 10, "target": "kind"}
    load_split(Spec.from_dict({"setting": "auc", "data": data}))
    assert len(fitted) == 1


@pytest.mark.parametrize(("seconds", "n_made"), [(0, 0), (1, 1)])
def test_what_waits_does_not_begin_after_the_time(store, monkeypatch, seconds, n_made):
    clock, study = [0.0], Study.from_dict({**STUDY, "budget": {"seconds": seconds}})
    for module in (carrying_out, tasks):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=lambda _: None))
    outcomes = carry_out(study, store, callback=lambda outcome: clock.__setitem__(0, 2.0))
    assert [outcome.failed for outcome in outcomes] == [""] * n_made + [carrying_out.LATE] * (12 - n_made)


# --- the store


def is_whole(file):
    connection = sqlite3.connect(file)
    (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return answer == "ok"


class Killed:
    """A job whose process was killed."""

    is_over, error, cancel, wait = True, "killed", print, print


class Fragile:
    """Jobs whose process each run kills once, and one always."""

    n_at_a_time = 2

    def __init__(self):
        self.killed = set()

    def submit(self, function, *shared, on_report, memory_limit):
        step = Spec.from_json(shared[-1][0]).solver.step_size
        if step == 0.5 or step not in self.killed:
            self.killed.add(step)
            return Killed()
        return ThisProcess().submit(function, *shared, on_report=on_report)


def test_a_killed_process_loses_no_run_and_the_run_that_kills_it_again_has_its_reason(store):
    axes = [{"name": "solver.step_size", "values": [0.1, 0.2, 0.3, 0.5, 0.7]}]
    outcomes = carry_out(Study.from_dict({"spec": SPEC, "axes": axes}), store, Fragile())
    assert [outcome.failed for outcome in outcomes] == ["", "", "", carrying_out.KILLED.format("killed"), ""]
    assert len(store) == 4
    always = Study.from_dict({"spec": SPEC | {"solver": {"step_size": 0.5}}, "seeds": list(range(6))})
    with pytest.raises(StudyError, match=r"^the processes of several runs in a row ended [^\n]*Finished runs are kept"):
        carry_out(always, store, Fragile())


@pytest.mark.ci
def test_a_worker_that_is_killed_loses_no_run(store, tmp_path, monkeypatch):
    killed = tmp_path / "killed"
    monkeypatch.setattr(carrying_out, "make_runs", partial(make_runs_and_be_killed_once, killed))
    study = Study.from_dict({**STUDY, "seeds": list(range(10))})
    outcomes = carry_out(study, store, 2)
    assert killed.exists()
    assert {outcome.failed for outcome in outcomes} == {""}
    assert len(store) == len(study) == 60


def test_several_that_make_a_store_at_once_make_one_and_what_two_processes_write_at_once_is_there(tmp_path):
    for attempt in range(5):
        at_once, file = threading.Barrier(4), tmp_path / f"folder {attempt}" / "runs.sqlite"

        def make(file=file, at_once=at_once):
            at_once.wait()
            return len(Store(file))

        with ThreadPoolExecutor(4) as pool:
            assert [made.result() for made in [pool.submit(make) for _ in range(4)]] == [0] * 4
    file = tmp_path / "runs.sqlite"
    with JobQueue(2) as queue:
        writers = [queue.submit(write_runs, file, SPEC, range(start, start + 40)) for start in (0, 30)]
        assert [writer.wait(60.0) and writer.error for writer in writers] == ["", ""]
    assert len(Store(file)) == 70  # ten of them were written by both
    assert is_whole(file)


@each(
    "code, seconds, tries",
    [(sqlite3.SQLITE_BUSY, 60.0, 3), (sqlite3.SQLITE_BUSY, -1.0, 1), (sqlite3.SQLITE_FULL, 60.0, 1)],
)
def test_a_store_that_others_open_at_once_is_asked_for_again_and_no_longer_than_so(code, seconds, tries):
    class Connection:
        def execute(self, text):
            tried.append(text)
            if len(tried) < 3:
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = code
                raise error

    tried = []
    with pytest.MonkeyPatch.context() as patch, suppress(sqlite3.OperationalError):
        patch.setattr(store_module, "SECONDS_TO_WAIT", seconds)
        store_module._write_ahead(Connection())
    assert len(tried) == tries


def test_a_writer_that_is_killed_leaves_a_whole_store(tmp_path):
    file = tmp_path / "runs.sqlite"
    with JobQueue(1) as queue:
        for attempt in range(3):
            writer = queue.submit(write_runs, file, SPEC, range(1000 * attempt, 1000 * (attempt + 1)))
            until(lambda most=5 * (attempt + 1): file.exists() and len(Store(file)) >= most)
            writer.cancel()
            assert writer.wait(60.0)
            assert writer.state is JobState.CANCELLED  # it was at work
            assert is_whole(file)


def test_another_file_is_no_store_and_the_one_of_another_version_is_left_as_it_is(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("hello, this is text that is long enough to be taken for a header of a file" * 9)
    with pytest.raises(StoreError, match=r"a\.txt cannot be used as a store"):
        Store(tmp_path / "a.txt")
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    monkeypatch.delenv(store_module.VARIABLE)
    monkeypatch.setattr(store_module, "data_folder", lambda: tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(store_module, "VERSION", store_module.VERSION - 1)
        older = Store(store_module.default_store()).file
    before = older.read_bytes()
    for file in (tmp_path / "other.sqlite", older):
        with pytest.raises(
            StoreError, match=r"another program's, or another version's; .* \(DSGLAB_STORE or --store\)$"
        ):
            Store(file)
    assert len(Store(store_module.default_store())) == 0
    assert older != store_module.default_store()
    assert older.read_bytes() == before


# --- the command


def study_file(folder, **more):
    file = folder / "study.json"
    file.write_text(json.dumps({"spec": SPEC} | more), encoding="utf-8")
    return file


def sweep_line(folder, name="table.csv", jobs=1):
    store, table = folder / "runs.sqlite", folder / name
    line = ["sweep", folder / "study.json", "--store", store, "--quiet", "--jobs", jobs, "--csv", table]
    return [*map(str, line)]


def test_the_command_makes_the_runs_and_without_any_result_says_why_and_does_not_end_well(tmp_path, capsys):
    study_file(tmp_path)
    assert main([*sweep_line(tmp_path), "--axis", "problem.gamma=0,1", "--seeds", "2"]) == 0
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 1 + 4
    study_file(tmp_path, spec=SPEC | {"data": SPEC["data"] | {"n_labeled": 100_000}})
    assert main(sweep_line(tmp_path)) == 1
    assert "no run has a result: " in capsys.readouterr().err
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 1 + 1


@pytest.fixture
def heard_interrupts():
    """Restore interrupts: a process in a shell's background ignores them, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.ci
@pytest.mark.usefixtures("heard_interrupts")
@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_an_interrupt_keeps_what_is_finished(tmp_path):
    study_file(tmp_path, axes=AXES, seeds=list(range(500)))
    store = tmp_path / "runs.sqlite"
    # It tells its progress, and has as many processes as a person who names none.
    line = [*PYTHON, "-m", "dsgcore", "sweep", str(tmp_path / "study.json"), "--store", str(store)]
    process = subprocess.Popen(line, cwd=Path(__file__).parents[1], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    until(lambda: process.poll() is not None or (store.exists() and len(Store(store)) >= 2), 120)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert b"Run the same command to continue" in said
    assert b"Traceback" not in said
    assert is_whole(store)


def sweeping(folder, name):
    """Begin a sweep in a process of its own, on the store of the folder."""
    line = [*PYTHON, "-m", "dsgcore", *sweep_line(folder, name, jobs=2)]
    return subprocess.Popen(line, cwd=Path(__file__).parents[1], stderr=subprocess.DEVNULL)


def but_for_seconds(file):
    """Return the cells of a table without the times, which differ between repetitions."""
    return pd.read_csv(file, dtype=str).drop(columns="seconds").to_csv()


@pytest.mark.weekly
def test_a_study_that_is_killed_at_any_place_or_made_twice_at_once_has_the_bytes_of_one(tmp_path):
    study_file(tmp_path, axes=AXES, seeds=list(range(20)))
    store = Store(tmp_path / "runs.sqlite")
    for number in (1, 40):  # at its first runs, and among the later ones
        process = sweeping(tmp_path, "killed.csv")
        until(lambda p=process, n=number: p.poll() is not None or len(store) >= n, 300)
        process.kill()
        process.wait(60)
    assert not (tmp_path / "killed.csv").exists()
    assert 1 <= len(store) < 120
    together = [sweeping(tmp_path, f"{name}.csv") for name in "ab"]
    for process in together:
        assert process.wait(300) == 0
    assert len(store) == 120  # each once, though two were making them
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    study, alone = Study.from_json((tmp_path / "study.json").read_text()), tmp_path / "alone.csv"
    alone.write_text(csv_of(table_of(study, carry_out(study, Store(tmp_path / "other.sqlite")))))
    assert but_for_seconds(tmp_path / "a.csv") == but_for_seconds(alone)


# --- axes and seeds on the command line


def test_options_replace_the_axes_and_seeds_of_a_file(tmp_path):
    plain = {"spec": SPEC, "axes": [{"name": "problem.gamma", "values": [0, 1]}], "seeds": [5]}
    file = study_file(tmp_path, **plain)
    assert asked_study(file, [], None) == Study.from_dict(plain)
    changed = asked_study(file, ["solver.n_iter=2,3"], 3)
    assert [axis.name for axis in changed.axes] == ["solver.n_iter"]
    assert (changed.seeds, len(changed)) == ((0, 1, 2), 6)

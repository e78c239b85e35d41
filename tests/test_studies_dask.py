"""Studies on a cluster of processes: a worker that is killed, one that comes late, and the same rows as on one machine."""

import contextlib
import json
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from clusters import cluster_of  # skips where distributed is not installed
from distributed import Client
from opened_pages import bench_of, checked, open_auc
from sklearn.datasets import load_iris
from test_explore import looked_at, opened
from test_studies import SPEC

from dsgcore.__main__ import main
from dsgcore.cli import options as command
from dsgcore.comparing import compare
from dsgcore.experiments import script
from dsgcore.studies import Store, Study, carry_out, csv_of, table_of


@pytest.fixture
def cluster():
    with cluster_of(2) as made:
        yield made


def study_file(folder, n_seeds):
    file = folder / "study.json"
    axes = [{"name": "solver.step_size", "values": [0.1, 0.5]}]
    file.write_text(json.dumps({"spec": SPEC, "axes": axes, "seeds": list(range(n_seeds))}))
    return file


def sweep(folder, file, *options):
    return main(["sweep", str(file), "--store", str(folder / "runs.sqlite"), *map(str, options)])


def rows_but_for_seconds(text):
    return [line.split(",")[:4] + line.split(",")[5:] for line in text.splitlines()]


def when_there_are(store, number, action):
    """Start a thread that acts once the store has so many runs; it polls, because it gets no message."""

    def wait():
        deadline = time.monotonic() + 120
        while len(store) < number and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.filterwarnings("ignore")
@pytest.mark.weekly
def test_a_killed_worker_and_a_late_one_change_no_row(cluster, tmp_path):
    file, store = study_file(tmp_path, 15), Store(tmp_path / "runs.sqlite")
    victim = next(iter(cluster.workers.values())).pid

    def disturb():
        os.kill(victim, signal.SIGKILL)
        cluster.scale(3)

    thread = when_there_are(store, 5, disturb)
    assert sweep(tmp_path, file, "--dask", cluster.scheduler_address, "--csv", tmp_path / "dask.csv") == 0
    thread.join()
    (tmp_path / "local").mkdir()
    assert sweep(tmp_path / "local", file, "--jobs", 2, "--csv", tmp_path / "local.csv") == 0
    texts = [(tmp_path / f"{name}.csv").read_text() for name in ("dask", "local")]
    assert rows_but_for_seconds(texts[0]) == rows_but_for_seconds(texts[1])
    assert len(store) == 30


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_goes_away_is_said_in_one_sentence_and_finished_runs_are_kept(tmp_path, capfd):
    file, store = study_file(tmp_path, 500), Store(tmp_path / "runs.sqlite")
    cluster = cluster_of(1)
    thread = when_there_are(store, 3, cluster.close)
    assert sweep(tmp_path, file, "--dask", cluster.scheduler_address, "--quiet") == 2
    thread.join()
    with contextlib.suppress(Exception):
        cluster.close()
    assert len(store) >= 3
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("dsg-lab:")]
    assert said == ["dsg-lab: the cluster has stopped. Finished runs are kept"]


@pytest.mark.filterwarnings("ignore")
def test_an_address_where_nobody_answers_is_refused_in_one_sentence(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(command, "SECONDS_TO_ANSWER", 1)
    assert sweep(tmp_path, study_file(tmp_path, 1), "--dask", "tcp://127.0.0.1:1") == 2
    assert capfd.readouterr().err == "dsg-lab: Timed out trying to connect to tcp://127.0.0.1:1 after 1 s\n"
    assert sweep(tmp_path, study_file(tmp_path, 1), "--dask", "x") == 2
    assert capfd.readouterr().err.startswith("dsg-lab: --dask must be an address such as tcp://127.0.0.1:8786, got 'x'")


# --- the same rows


SMALL = {
    "solver.n_iter": "16",
    "solver.batch_size": "8",
    "solver.n_features": "8",
    "seeds": "2",
    "solver.step_size.n": "3",
    "kernel.sigma.n": "2",
}
SECONDS = 240


@pytest.fixture(scope="module")
def by_page(tmp_path_factory):
    """The study that the page has made: its store, its table, and its plain data as a file."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSGLAB_STORE", str(folder / "runs.sqlite"))
        app = checked(opened(**SMALL).button(key="study-start").click().run())
        assert looked_at(app).job.wait(SECONDS)
        made = looked_at(checked(app.run())).made
    made.refresh(Store(folder / "runs.sqlite"))
    (folder / "study.json").write_text(json.dumps(made.study.to_dict()))
    return folder, csv_of(table_of(made.study, made.outcomes()))


def swept(by_page, store, csv, *options):
    folder, _ = by_page
    assert (
        main(["sweep", str(folder / "study.json"), "--store", str(store), "--csv", str(csv), "--quiet", *options]) == 0
    )
    return csv.read_bytes()


def but_for_seconds(content):
    """Return the rows as bytes, without the times, which differ between repetitions."""
    place = content.splitlines()[0].split(b",").index(b"seconds")
    return [cells[:place] + cells[place + 1 :] for cells in (line.split(b",") for line in content.splitlines())]


def test_the_page_makes_every_run_and_the_command_on_its_store_writes_the_same_bytes(by_page, tmp_path):
    folder, table = by_page
    assert len(table.splitlines()) == 1 + 3 * 2 * 2
    assert table.count(",finished,") == 12
    before = len(Store(folder / "runs.sqlite"))
    assert swept(by_page, folder / "runs.sqlite", tmp_path / "again.csv") == table.encode()
    assert len(Store(folder / "runs.sqlite")) == before == 12  # none made twice


def test_the_command_makes_the_same_rows_by_itself(by_page, tmp_path):
    rows = swept(by_page, tmp_path / "own.sqlite", tmp_path / "own.csv", "--jobs", "2")
    assert but_for_seconds(rows) == but_for_seconds(by_page[1].encode())


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore")
def test_a_spec_has_the_same_bits_in_the_app_a_command_a_script_a_study_and_on_dask(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    live = bench_of(open_auc(**{"data.n": "150", "solver.n_iter": "12", "solver.n_features": "16"})).live
    live.advance()
    spec = live.run.spec
    assert (spec.solver.n_iter, spec.data.n, live.run.t) == (12, 150, 12)
    (tmp_path / "spec.json").write_text(spec.to_json())
    assert main(["run", "spec.json", "--out", "command", "--quiet"]) == 0
    exec(script(spec, 12), {})
    histories = {"command": pd.read_csv("command/history.csv"), "script": pd.read_csv("history.csv")}
    study, names = Study(spec, seeds=(spec.seed,)), ("t", "objective", "score_test")
    with cluster_of(1) as cluster, Client(cluster.scheduler_address, set_as_default=False) as client:
        for name, options in {"study": {}, "processes": {"jobs": 1}, "dask": {"client": client}}.items():
            store = Store(tmp_path / f"{name}.sqlite")
            (outcome,) = carry_out(study, store, **options)
            assert outcome.stored.score == live.run.result_score, outcome.failed
            histories[name] = store.history(spec.sha256)
    for where, columns in histories.items():
        for name in names:
            assert np.array_equal(columns[name], live.run.history.column(name)), (where, name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.ci
def test_the_fits_of_a_comparison_are_the_same_on_a_cluster_and_a_killed_worker_loses_none(cluster, tmp_path):
    X, y = load_iris(return_X_y=True)
    given = {"n_labeled": 30, "seeds": 4, "methods": ["LogisticRegression", "SVC", "PS3VT"], "curves": False}
    victims = [next(iter(cluster.workers.values())).pid]

    def kill_once(so_far):
        if victims:
            os.kill(victims.pop(), signal.SIGKILL)

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        there = compare(X, y, **given, store=None, client=client, callback=kill_once)
    here = compare(X, y, **given, store=None)
    assert not victims
    assert [(fit.request, fit.scores) for fit in there.fits] == [(fit.request, fit.scores) for fit in here.fits]
    assert there.verdict.sentence == here.verdict.sentence
    file, tables = tmp_path / "iris.csv", []
    pd.DataFrame(X).assign(kind=y).to_csv(file, index=False)
    line = [
        "compare",
        file,
        *["--target", "kind", "--n-labeled", "30", "--seeds", "3", "--no-curves", "--methods", "SVC,PS3VT"],
    ]
    for options in (["--dask", cluster.scheduler_address], ["--jobs", 1]):
        more = ["--store", tmp_path / f"{len(tables)}.sqlite", "--csv", tmp_path / "table.csv", "--quiet"]
        assert main([*map(str, [*line, *options, *more])]) == 0
        tables.append(pd.read_csv(tmp_path / "table.csv").drop(columns=["seconds", "megabytes"]))
    pd.testing.assert_frame_equal(*tables)

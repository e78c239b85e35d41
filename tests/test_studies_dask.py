"""Studies on a cluster of processes: a worker that is killed, one that comes late, and the same rows as on one machine."""

import contextlib
import json
import logging
import multiprocessing
import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from clocks import until
from opened_pages import bench_of, checked, open_auc, open_page
from sklearn.datasets import load_iris
from test_studies import STEPS, but_for_seconds, study_file

pytest.importorskip("distributed", reason="distributed is not installed: pip install dsg-lab[dask]")

import dask
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

from dsgcore.__main__ import main
from dsgcore.cli import options as command
from dsgcore.comparing import compare
from dsgcore.comparing.reproductions import carry_out_reproduction, reproduction
from dsgcore.experiments import script
from dsgcore.studies import Store, Study, carry_out, csv_of, table_of

pytestmark = pytest.mark.filterwarnings("ignore")
# Workers are forks of one that has imported what these do, which takes a process longer than its part of a test.
method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
dask.config.set({"distributed.worker.multiprocessing-method": method})
get_mp_context()  # lists its own imports at its first call, and never again
if method == "forkserver":
    multiprocessing.get_context(method).set_forkserver_preload(["distributed", "dsgcore.studies.preloaded"])


def cluster_of(n_workers):
    """Return a cluster of so many processes, of one thread each, which no limit of memory ends."""
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL, "memory_limit": 0}
    return LocalCluster(n_workers=n_workers, processes=True, **options)


@pytest.fixture
def cluster():
    with cluster_of(2) as made:
        yield made


def sweep(folder, file, *options):
    return main(["sweep", str(file), "--store", str(folder / "runs.sqlite"), *map(str, options)])


def when_there_are(store, number, action):
    """Start a thread that acts once the store has so many runs; it polls, because it gets no message."""

    def wait():
        with contextlib.suppress(AssertionError):
            until(lambda: len(store) >= number, 120, every=0.02)
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.weekly
def test_a_killed_worker_and_a_late_one_change_no_row(cluster, tmp_path):
    file, store = study_file(tmp_path, axes=[STEPS], seeds=list(range(15))), Store(tmp_path / "runs.sqlite")
    victim = next(iter(cluster.workers.values())).pid

    def disturb():
        os.kill(victim, signal.SIGKILL)
        cluster.scale(3)

    thread = when_there_are(store, 5, disturb)
    assert sweep(tmp_path, file, "--dask", cluster.scheduler_address, "--csv", tmp_path / "dask.csv") == 0
    thread.join()
    (tmp_path / "local").mkdir()
    assert sweep(tmp_path / "local", file, "--jobs", 2, "--csv", tmp_path / "local.csv") == 0
    assert but_for_seconds(tmp_path / "dask.csv") == but_for_seconds(tmp_path / "local.csv")
    assert len(store) == 30


def test_a_scheduler_that_goes_away_is_said_in_one_sentence_and_finished_runs_are_kept(tmp_path, capfd):
    file, store = study_file(tmp_path, axes=[STEPS], seeds=list(range(500))), Store(tmp_path / "runs.sqlite")
    cluster = cluster_of(1)
    thread = when_there_are(store, 3, cluster.close)
    assert sweep(tmp_path, file, "--dask", cluster.scheduler_address, "--quiet") == 2
    thread.join()
    with contextlib.suppress(Exception):
        cluster.close()
    assert len(store) >= 3
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("dsg-lab:")]
    assert said == ["dsg-lab: the cluster has stopped. Finished runs are kept"]


def test_an_address_where_nobody_answers_is_refused_in_one_sentence(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(command, "SECONDS_TO_ANSWER", 1)
    assert sweep(tmp_path, study_file(tmp_path), "--dask", "tcp://127.0.0.1:1") == 2
    assert capfd.readouterr().err == "dsg-lab: Timed out trying to connect to tcp://127.0.0.1:1 after 1 s\n"
    assert sweep(tmp_path, study_file(tmp_path), "--dask", "x") == 2
    assert capfd.readouterr().err.startswith("dsg-lab: --dask must be an address such as tcp://127.0.0.1:8786, got 'x'")


# --- the same rows


SMALL = {f"solver.{name}": value for name, value in (("n_iter", "16"), ("batch_size", "8"), ("n_features", "8"))}
SMALL |= {"seeds": "2", "solver.step_size.n": "3", "kernel.sigma.n": "2"}


def test_the_page_makes_every_run_and_the_command_on_its_store_writes_the_same_bytes_and_by_itself_the_same_rows(
    tmp_path, store
):
    app = checked(checked(open_page("explore", **SMALL)).button(key="study-start").click().run())
    assert app.session_state["_exploring_explore"].job.wait(240)
    made = checked(app.run()).session_state["_exploring_explore"].made
    made.refresh(store)
    table, file = csv_of(table_of(made.study, made.outcomes())), tmp_path / "study.json"
    file.write_text(json.dumps(made.study.to_dict()))
    assert len(table.splitlines()) == 1 + 3 * 2 * 2
    assert table.count(",finished,") == len(store) == 12
    assert sweep(tmp_path, file, "--quiet", "--csv", tmp_path / "again.csv") == 0
    assert (tmp_path / "again.csv").read_bytes() == table.encode()
    assert len(store) == 12  # none made twice
    (tmp_path / "own").mkdir()
    assert sweep(tmp_path / "own", file, "--quiet", "--csv", tmp_path / "own.csv", "--jobs", "2") == 0
    assert but_for_seconds(tmp_path / "own.csv") == but_for_seconds(tmp_path / "again.csv")


@pytest.mark.ci
def test_a_spec_has_the_same_bits_in_the_app_a_command_a_script_a_study_and_on_dask(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    live = bench_of(open_auc(**{"data.n": "150", "solver.n_iter": "12", "solver.n_features": "16"})).live
    live.advance()
    spec = live.run.spec
    assert (spec.solver.n_iter, spec.data.n, live.run.t) == (12, 150, 12)
    (tmp_path / "spec.json").write_text(spec.to_json())
    assert main(["run", "spec.json", "--out", "command", "--quiet"]) == 0
    exec(script(live.run), {})
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
    made, known = ({fit.request: fit.scores for fit in found.fits} for found in (there, here))
    assert made == known  # in any order: the fastest method gets more seeds first
    assert there.verdict.sentence == here.verdict.sentence
    file, tables = tmp_path / "iris.csv", []
    pd.DataFrame(X).assign(kind=y).to_csv(file, index=False)
    line = ["compare", file, "--target", "kind", "--n-labeled", "30", "--seeds", "3", "--no-curves", "--quiet"]
    line += ["--methods", "SVC,PS3VT", "--csv", tmp_path / "table.csv", "--store"]
    for options in (["--dask", cluster.scheduler_address], ["--jobs", 1]):
        assert main([*map(str, [*line, tmp_path / f"{len(tables)}.sqlite", *options])]) == 0
        tables.append(pd.read_csv(tmp_path / "table.csv").drop(columns=["seconds", "megabytes"]))
    pd.testing.assert_frame_equal(*tables)


@pytest.mark.ci
def test_a_papers_figure_has_the_same_scores_on_a_cluster_loses_none_with_a_worker_and_goes_on(cluster, tmp_path):
    X = np.random.default_rng(1).normal(size=(150, 2))
    np.savez(tmp_path / "made.npz", X=X, y=(X[:, 0] > 0).astype(int))
    figure = reproduction("auc/fig2")
    small = {
        "sets": ("made",),
        "unlabeled": (40,),
        "seeds": 4,
        "n_labeled": 40,
        "beside": (),
        "grid": {"sigma": [0.5, 2.0]},
    }
    asked, store = replace(figure, rivals=figure.rivals[:1], **small), Store(tmp_path / "fits.sqlite")
    victims = [next(iter(cluster.workers.values())).pid]

    def kill_once(so_far):
        if so_far[0] and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        there = carry_out_reproduction(asked, tmp_path, store, client=client, report=kill_once)
        again = carry_out_reproduction(replace(asked, seeds=5), tmp_path, store, client=client)
    here = carry_out_reproduction(replace(asked, seeds=5), tmp_path)
    assert not victims
    assert (len(there.fits), len(again.fits)) == (8, 10)
    pd.testing.assert_frame_equal(again.fits.drop(columns="seconds"), here.fits.drop(columns="seconds"))
    pd.testing.assert_frame_equal(again.fits[:8], there.fits)
    line = ["reproduce", "auc/fig1", "--data", str(tmp_path), "--quick", "--dask", "x"]
    assert main([*line, "--store", str(tmp_path / "fits.sqlite")]) == 2

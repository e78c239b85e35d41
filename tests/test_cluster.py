"""Long runs on a real cluster of processes: the same bits for any number of workers, also if some die."""

import os
import signal

import numpy as np
import pytest
from clocks import interrupt_after
from clusters import cluster_of, distributed  # skips where distributed is not installed
from four_estimators import same

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.cluster import ClusterError, SharedPoints
from dsgcore.cluster.checkpoint import OnCluster
from dsgcore.solver.carried import training_points
from dsgcore.solver.loop import solve
from dsgcore.solver.model_files import ModelError

pytestmark = [
    pytest.mark.compiled,
    # The cluster's own, as its processes go.
    pytest.mark.filterwarnings("ignore"),
]
N, D, SEED = 12_000, 3, 0
FOUR = (QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU)
SMALL = {"n_iter": 14, "n_features": 16, "batch_size": 200, "random_state": SEED, "tol": None}


@pytest.fixture(scope="module")
def cluster():
    with cluster_of(2) as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    return X, np.where(rng.random(N) < 0.1, (X[:, 0] > 0).astype(int), -1)


def make(cls, **parameters):
    of_classes = {"y_holds": "classes", "prior": 0.7} if cls is TSGSU else {}
    return cls(**{**SMALL, **of_classes, **parameters})


@pytest.mark.parametrize("kernel", ["orthogonal_gaussian", "dot_product"])
def test_so_it_is_with_features_of_other_tiles(client, points, kernel, monkeypatch):
    monkeypatch.setattr("dsgcore.cluster.shared.DEALT_ROWS", 384)
    parameters = {"kernel": kernel, "step_size": 0.01}
    same(
        make(QSGS2AUC, **parameters).fit(*points, client=client).model_,
        make(QSGS2AUC, **parameters).fit(*points).model_,
    )


def task_of(points, **parameters):
    """The task of a fit, as the solver gets it."""
    kept = []

    class Kept(QSGS2AUC):
        def _run(self, task, model, rows, *, part):
            kept.append(task)
            return super()._run(task, model, rows, part=part)

    Kept(**{**SMALL, **parameters}).fit(*points)
    return kept[0]


def trained(task, training=None, at=None):
    """Train from the beginning; `at` is iteration -> what is then done."""
    model = task.new_model()
    for iterate in solve(task, model, training=training(task, model)):
        (at or {}).get(iterate.t, lambda: None)()
    return model


def test_a_worker_gets_a_block_and_gives_its_batch_points_an_iteration(client, points, monkeypatch):
    monkeypatch.setattr("dsgcore.cluster.shared.DEALT_ROWS", 384)
    client.wait_for_workers(2)
    task, shared = task_of(points), []

    def share(task, model):
        shared.append(SharedPoints(task, model, client))
        return shared[0]

    trained(task, share)
    (own,) = shared
    T, batch, m = task.plan.n_iter, task.batch_size * len(task.rows), task.plan.n_features
    assert len(own.workers) == 2
    assert own.bytes_taken == T * 2 * (4 * 2 * m)  # two workers, four bytes a number
    assert own.bytes_given == T * 4 * batch
    assert (own.bytes_taken + own.bytes_given) / T / 2 <= 8 * (batch + 2 * m)
    assert max(len(worker.places) for worker in own.workers) - min(len(worker.places) for worker in own.workers) <= 384


def test_workers_without_rows_and_points_that_are_all_carried(client, points):
    client.wait_for_workers(2)
    dense = {"n_iter": 40, "batch_size": 300}
    some = points[0][:300], np.where(np.arange(300) < 60, np.arange(300) % 2, -1)
    here = make(QSGS2AUC, **dense).fit(*some)
    same(make(QSGS2AUC, **dense).fit(*some, client=client).model_, here.model_)
    parts = [some[0][:7], some[0][7:]]
    same(make(QSGS2AUC, **dense).fit(parts, some[1], client=client).model_, here.model_)


def test_a_stop_comes_at_the_same_iteration_and_a_checkpoint_is_gone_on_from(client, points, tmp_path, monkeypatch):
    client.wait_for_workers(2)
    file, parameters = tmp_path / "run.npz", {"tol": 0.05, "n_iter": 400, "batch_size": 20}
    here, kept = make(QSGS2AUC, **parameters).fit(*points), []
    interrupt_after(monkeypatch, OnCluster, 77)
    with pytest.raises(KeyboardInterrupt):
        make(QSGS2AUC, **parameters).fit(*points, client=client, checkpoint=file, every=25)
    monkeypatch.setattr(OnCluster, "keep", lambda self, model: kept.append(len(model)))
    gone_on = make(QSGS2AUC, **parameters).fit(*points, client=client, checkpoint=file)
    assert kept[0] == 76
    assert 100 < gone_on.n_iter_ < 400
    same(gone_on.iterate_, here.iterate_)
    with pytest.raises(ModelError, match=r"run.npz belongs to another run"):
        make(QSGS2AUC, lam=0.5).fit(*points, client=client, checkpoint=file)
    same(make(QSGS2AUC, **parameters).fit(*points, checkpoint=file).iterate_, here.iterate_)  # on one machine, too


def test_a_scheduler_that_goes_away_is_said_in_one_sentence_and_the_checkpoint_is_kept(
    client, points, tmp_path, monkeypatch
):
    file, keep = tmp_path / "run.npz", OnCluster.keep
    with cluster_of(1) as cluster, distributed.Client(cluster, set_as_default=False, timeout=2) as going:

        def end(self, model):
            keep(self, model)
            if len(model) == 5:
                cluster.close()

        monkeypatch.setattr(OnCluster, "keep", end)
        with pytest.raises(ClusterError, match=r"^the cluster has stopped[^\n]*$"):
            make(QSGS2AUC).fit(*points, client=going, checkpoint=file, every=5)
    monkeypatch.setattr(OnCluster, "keep", keep)
    gone_on = make(QSGS2AUC).fit(*points, client=client, checkpoint=file)
    same(gone_on.model_, make(QSGS2AUC).fit(*points).model_)


def kill_a_worker(cluster, address):
    os.kill(next(w.pid for w in cluster.workers.values() if w.worker_address == address), signal.SIGKILL)


def test_where_the_only_worker_is_killed_the_one_that_comes_in_its_place_is_waited_for(points):
    shared = []
    with cluster_of(1) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        task = task_of(points)

        def share(task, model):
            shared.append(SharedPoints(task, model, client))
            return shared[0]

        first = trained(task, share, {5: lambda: kill_a_worker(cluster, shared[0].workers[0].address)})
    same(first, trained(task, training_points))
    assert shared[0].replaced >= 1


def test_a_cluster_to_which_no_worker_comes_is_waited_for_no_longer_than_said(points, monkeypatch):
    monkeypatch.setattr("dsgcore.cluster.shared.SECONDS_WITHOUT_WORKERS", 0.3)
    with (
        cluster_of(0) as empty,
        distributed.Client(empty, set_as_default=False) as client,
        pytest.raises(ClusterError, match=r"no worker, and none has come for 0\.3 seconds"),
    ):
        make(QSGS2AUC).fit(*points, client=client)


# The last one: its cluster then has a worker that is still coming back.
def test_a_worker_that_is_killed_on_the_way_changes_no_bit(cluster, client, points, monkeypatch):
    monkeypatch.setattr("dsgcore.cluster.shared.DEALT_ROWS", 384)
    client.wait_for_workers(2)
    task, shared, rng = task_of(points), [], np.random.default_rng(1)

    def share(task, model):
        shared.append(SharedPoints(task, model, client))
        return shared[0]

    def kill():
        kill_a_worker(cluster, shared[0].workers[rng.integers(2)].address)

    same(trained(task, share, {int(rng.integers(1, 12)): kill}), trained(task, training_points))
    assert shared[0].replaced >= 1

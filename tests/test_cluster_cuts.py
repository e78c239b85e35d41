"""Runs on one, two and four processes with rows cut in three ways: model and history are bit-for-bit identical."""

import numpy as np
import pytest
from clusters import cluster_of, distributed  # skips where distributed is not installed
from test_rows_anywhere import CUTS, FOUR, as_maps, make

from dsgcore import TSGSU
from dsgcore.cluster import SharedPoints
from dsgcore.solver.loop import solve

pytestmark = [
    pytest.mark.compiled,
    # The cluster's own, as its processes go.
    pytest.mark.filterwarnings("ignore"),
]
N, D = 4000, 3
# Of so few iterations the visited rows are four tiles and more: each of four workers has some.
SMALL = {"n_iter": 6, "batch_size": 256, "verbose": 1}


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    y = np.where(rng.random(N) < 0.1, (X[:, 0] > 0).astype(int), -1)
    y[500:1300] = -1  # one part of the third cut has no label
    return X, y


@pytest.fixture(scope="module")
def cluster():
    with cluster_of(1) as made:
        yield made


@pytest.fixture(scope="module", params=[1, 2, 4], ids=lambda n: f"{n} processes")
def client(request, cluster):
    cluster.scale(request.param)
    with distributed.Client(cluster, set_as_default=False) as made:
        made.wait_for_workers(request.param)
        assert len(made.nthreads()) == request.param
        yield made


@pytest.fixture
def history(monkeypatch):
    """All that the iterations of a fit report on the way; taken by `taken`."""
    told = []

    def remembered(*given, **options):
        for iterate in solve(*given, **options):
            values = {name: dict(getattr(iterate, name)) for name in ("batch", "f", "average", "terms")}
            told.append(
                {**values, "t": iterate.t, "block": iterate.block, "points": iterate.points, "weights": iterate.weights}
            )
            yield iterate

    monkeypatch.setattr("dsgcore.estimators.base.solve", remembered)
    return told


def taken(history):
    """Return the messages since the last call."""
    own = list(history)
    history.clear()
    return own


def same(one, other):
    """Assert that two nested structures are bit-for-bit identical, with real numbers in the same precision."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    else:
        a, b = np.asarray(one).dtype, np.asarray(other).dtype
        assert a == b or a.kind == b.kind == "i"
        assert np.array_equal(one, other)


@pytest.mark.parametrize(("cls", "dtype"), list(zip(FOUR, ["float32", "float64"] * 2, strict=True)))
def test_model_and_history_are_those_of_one_machine_however_rows_and_work_are_cut(
    client, points, history, cls, dtype, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("dsgcore.cluster.shared.DEALT_ROWS", 384)
    shares, n_processes = [], len(client.nthreads())
    made = SharedPoints.__init__
    monkeypatch.setattr(SharedPoints, "__init__", lambda self, *given: (shares.append(self), made(self, *given))[1])
    here = make(cls, dtype=dtype, **SMALL).fit(*points)
    told, printed = taken(history), capsys.readouterr().out
    # The first iteration of these is the exact start.
    assert [one["t"] for one in told] == [1, 2, 3, 4, 5, 6][cls is not TSGSU :]
    for number, edges in enumerate(CUTS):
        (tmp_path / str(number)).mkdir()
        there = make(cls, dtype=dtype, **SMALL).fit(*as_maps(tmp_path / str(number), *points, edges), client=client)
        same(taken(history), told)
        assert capsys.readouterr().out == printed
        for name in ("iterate_", "model_"):
            same(getattr(there, name).blocks, getattr(here, name).blocks)
            same(getattr(there, name).decays, getattr(here, name).decays)
        for name in ("n_iter_", "step_size_", "lam_", "threshold_", "thresholds_", "shift_", "prior_"):
            assert getattr(there, name, None) is getattr(here, name, None) or np.array_equal(
                getattr(there, name), getattr(here, name)
            )
        same(there.decision_function(points[0][:9]), here.decision_function(points[0][:9]))
    assert [len({worker.address for worker in own.workers}) for own in shares] == [n_processes] * len(CUTS)
